//! Controllers with caches and RAID groups in a whole site.

mod common;

use stormeter_driver::drive;
use stormeter_simulator::{ComponentUse, Load, Machine, MachineError, Window};
use stormeter_site::{Device, Hdd, Layout, Raid, Site, WriteCache};
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Sample, Start, Trial, Workload};

const DISK_BYTES: u64 = 1 << 30;

fn load(vms: u32) -> Load {
    Load {
        vms,
        disk_bytes: DISK_BYTES,
        working_set_bytes: DISK_BYTES,
        random: 1.0,
        zipf: None,
        flushes: false,
    }
}

fn trial(vms: u32, outstanding: u32, read_percent: f64, seconds: u64) -> Trial {
    Trial {
        workload: Workload { read_percent, ..workload(Arrivals::Closed { outstanding }) },
        first_disk: 0,
        disks: vms,
        disk_bytes: DISK_BYTES,
        seed: 1,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: 2_000_000_000,
        duration_ns: seconds * 1_000_000_000,
        interval_ns: 1_000_000_000,
        limits: Default::default(),
        verify: false,
    }
}

fn run(site: &Site, trial: &Trial) -> (Sample, Vec<ComponentUse>) {
    let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
    let mut machine = Machine::new(site, 0, load(trial.disks), window, 1).expect("a machine");
    let mut clock = machine.time().clock();
    let sample = drive(trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
    (sample, machine.usage())
}

/// The Fibre Channel site with parity and a write cache.
fn with_cache(raid: Raid, layout: Layout) -> Site {
    let mut site = common::fibre_channel();
    site.groups[0].raid = raid;
    let cache = &mut site.controllers[0].cache;
    cache.write = WriteCache::Back { battery: true, bytes: 64 << 20, start_share: 0.5, depth: 4 };
    cache.layout = layout;
    site
}

#[test]
fn what_waits_for_memory_is_told_apart_from_what_waits_for_disks() {
    // Writes only: all of them wait for space as soon as memory is full.
    let (sample, uses) = run(&with_cache(Raid::Raid6, Layout::InPlace), &trial(64, 16, 0.0, 4));
    let of = |name: &str| uses.iter().find(|usage| usage.name == name).expect("a component");
    let (cache, disks) = (of("filer cache"), of("disk"));
    assert!(cache.utilisation > 0.95, "{cache:?}");
    assert!(cache.response_share > 0.9 && disks.response_share < 1e-9, "{cache:?} {disks:?}");
    assert!(disks.utilisation > 0.7, "{disks:?}");
    assert!((cache.visits as f64 / (sample.iops() * 4.0) - 1.0).abs() < 0.01);
    // Reads only: the cache is not needed.
    let (_, uses) = run(&with_cache(Raid::Raid6, Layout::InPlace), &trial(64, 16, 100.0, 2));
    let cache = uses.iter().find(|usage| usage.name == "filer cache").expect("a component");
    assert_eq!((cache.utilisation, cache.response_share, cache.visits), (0.0, 0.0, 0));
    let shares: f64 = uses.iter().map(|usage| usage.response_share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn levels_and_layouts_are_in_the_order_of_their_cost() {
    let through = |raid| {
        let mut site = common::fibre_channel();
        site.groups[0].raid = raid;
        run(&site, &trial(64, 16, 50.0, 3)).0.iops()
    };
    let levels = [Raid::Raid0, Raid::Raid10, Raid::Raid5, Raid::Raid6].map(through);
    assert!(levels.windows(2).all(|pair| pair[0] > 1.1 * pair[1]), "{levels:?}");
    let back = |layout| run(&with_cache(Raid::Raid6, layout), &trial(64, 16, 50.0, 3)).0.iops();
    let (place, anywhere) = (back(Layout::InPlace), back(Layout::WriteAnywhere));
    assert!(anywhere > 3.0 * place && anywhere > levels[0], "{levels:?} {place} {anywhere}");
    // At a low queue depth a write does not wait for the disks: half of the requests take no time.
    let light = |site: &Site| run(site, &trial(32, 1, 50.0, 2)).0.iops();
    let mut site = with_cache(Raid::Raid6, Layout::InPlace);
    let place = light(&site);
    site.controllers[0].cache.write = WriteCache::Through;
    let through = light(&site);
    // A read takes 5 ms, a write 15 ms for the slowest of three and 4 for the next three at least.
    assert!(place > 1.8 * through, "{place} {through}");
}

#[test]
fn the_same_seed_gives_the_same_sample_with_caches_too() {
    for layout in [Layout::InPlace, Layout::WriteAnywhere] {
        let site = with_cache(Raid::Raid6, layout);
        assert_eq!(run(&site, &trial(32, 8, 50.0, 2)), run(&site, &trial(32, 8, 50.0, 2)));
    }
}

/// A disk of 15 000 rpm of that size.
fn small_disk(capacity_bytes: u64) -> Device {
    Device::Hdd(Hdd {
        rpm: 15_000.0,
        seek_track_ns: 2e5,
        seek_average_ns: 3.5e6,
        seek_full_ns: 8e6,
        write_settle_ns: 5e5,
        outer_bytes_per_s: 125e6,
        inner_bytes_per_s: 73e6,
        capacity_bytes,
        interface_bytes_per_s: 4e8,
        overhead_ns: 1e5,
        queue_depth: 16,
        buffer_bytes: 16 << 20,
        write_cache: false,
    })
}

#[test]
fn a_file_system_that_writes_anywhere_has_its_data_all_over_the_disks() {
    // Reads of a volume that is small compared with its disks: at their outer edge, or everywhere.
    let iops = |layout, disk_bytes| {
        let mut site = with_cache(Raid::Raid6, layout);
        site.groups[0].device = small_disk(disk_bytes);
        run(&site, &trial(32, 8, 100.0, 2)).0.iops()
    };
    let large = 1 << 40;
    let (place, anywhere) = (iops(Layout::InPlace, large), iops(Layout::WriteAnywhere, large));
    assert!(anywhere < 0.8 * place, "{anywhere} {place}");
}

/// This many streams of 64 KiB with queue depth two each, in MB/s: a controller with a read cache in
/// front of this many disks of 15 000 rpm. The mean over the starting places of the streams: which
/// disks two of them share is chance.
fn streams(raid: Raid, disks: u32, count: u32, latency_ns: f64) -> f64 {
    const PLACES: u64 = 2;
    let found = (0..PLACES).map(|place| {
        streams_from(Start::default().of_trial(place), raid, disks, count, latency_ns)
    });
    found.sum::<f64>() / PLACES as f64
}

fn streams_from(start: Start, raid: Raid, disks: u32, streams: u32, latency_ns: f64) -> f64 {
    let mut site = common::fibre_channel();
    let group = &mut site.groups[0];
    (group.raid, group.disks, group.groups) = (raid, disks, 1);
    group.device = small_disk(146_000_000_000);
    site.controllers[0].count = 1;
    site.controllers[0].ports[0].rate_bytes_per_s = 2e9;
    site.hosts[0].adapters[0].rate_bytes_per_s = 2e9;
    site.controllers[0].cache.read_bytes = 1 << 28;
    site.networks[0].latency_ns = latency_ns;
    let mut trial = trial(streams, 2, 100.0, [2, 4, 6][(streams.min(3) - 1) as usize]);
    trial.start = start;
    trial.ramp_ns = 1_000_000_000;
    trial.workload.sizes[0].bytes = 65_536;
    trial.workload.random_percent = 0.0;
    trial.disk_bytes = 5 << 30;
    let load = Load {
        vms: streams,
        disk_bytes: trial.disk_bytes,
        working_set_bytes: trial.disk_bytes,
        random: 0.0,
        zipf: None,
        flushes: false,
    };
    let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
    let mut machine = Machine::new(&site, 0, load, window, 1).expect("a machine");
    let mut clock = machine.time().clock();
    let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
    sample.iops() * 65_536.0 / 1e6
}

#[test]
fn streams_do_not_lock_to_the_turning_of_the_platters() {
    for raid in [Raid::Raid0, Raid::Raid10] {
        for count in [1, 2, 8] {
            let found: Vec<f64> =
                (0..20).map(|step| streams(raid, 8, count, 5e3 * 1.05_f64.powi(step))).collect();
            for pair in found.windows(2) {
                let change = pair[1] / pair[0];
                assert!((0.9..1.1).contains(&change), "{raid:?}, {count} streams: {found:.0?}");
            }
        }
    }
}

#[test]
fn more_disks_are_not_slower_for_streams() {
    for raid in [Raid::Raid0, Raid::Raid10] {
        for count in [1, 2, 8] {
            let found = [2, 4, 8, 16].map(|disks| streams(raid, disks, count, 10e3));
            let grows = found.windows(2).all(|pair| pair[1] > 0.95 * pair[0]);
            assert!(grows && found[3] > 1.5 * found[0], "{raid:?}, {count} streams: {found:.0?}");
        }
    }
}

#[test]
fn a_short_trial_of_a_mixed_load_gives_what_a_long_one_does() {
    // A cache that takes minutes to fill, in front of disks that are the bottleneck.
    for (raid, layout) in [(Raid::Raid5, Layout::InPlace), (Raid::Raid6, Layout::WriteAnywhere)] {
        let mut site = with_cache(raid, layout);
        let group = &mut site.groups[0];
        (group.disks, group.groups, group.device) = (8, 1, small_disk(146_000_000_000));
        site.controllers[0].count = 1;
        site.controllers[0].cache.write =
            WriteCache::Back { battery: true, bytes: 256 << 20, start_share: 0.5, depth: 2 };
        let iops = |ramp_s: u64, seconds| {
            let mut trial = trial(4, 8, 70.0, seconds);
            trial.ramp_ns = ramp_s * 1_000_000_000;
            run(&site, &trial).0.iops()
        };
        let (short, long) = (iops(2, 6), iops(100, 20));
        assert!((short / long - 1.0).abs() < 0.1, "{raid:?}: {short} {long}");
    }
}

#[test]
fn disks_that_do_not_fit_are_refused_with_what_there_is() {
    let mut site = with_cache(Raid::Raid6, Layout::InPlace);
    site.groups[0].device = small_disk(1 << 30);
    let window = Window { from_ns: 0, interval_ns: 1_000_000_000 };
    // 70 data disks of 1 GiB on each of two controllers.
    let error = Machine::new(&site, 0, load(144), window, 1).expect_err("no room");
    assert!(matches!(error, MachineError::NoRoom { vms: 72, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "72 virtual disks of 1GiB do not fit on disk, which has 70GiB; make them smaller or add \
         disks"
    );
}
