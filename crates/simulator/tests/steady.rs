//! Write memories that a load fills: full by the end of the ramp, as after hours of the same load.

mod common;

use common::device::device;
use stormeter_driver::drive;
use stormeter_simulator::{Load, Machine, Window};
use stormeter_site::*;
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, ModelNote, Sample, Trial, Workload};

const SECOND: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

/// Random writes of 4 KiB from 24 VMs with 16 outstanding each, after a ramp, on disks of 1 GiB.
fn writes(site: &Site, (ramp_s, seconds): (u64, u64)) -> (Sample, Machine) {
    let trial = Trial {
        workload: Workload { read_percent: 0.0, ..workload(Arrivals::Closed { outstanding: 16 }) },
        first_disk: 0,
        disks: 24,
        disk_bytes: GIB,
        seed: 1,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: ramp_s * SECOND,
        duration_ns: seconds * SECOND,
        interval_ns: SECOND,
        limits: Default::default(),
        verify: false,
    };
    let load = Load {
        vms: 24,
        disk_bytes: GIB,
        working_set_bytes: GIB,
        random: 1.0,
        zipf: None,
        flushes: false,
    };
    let window = Window { from_ns: trial.ramp_ns, interval_ns: SECOND };
    let mut machine = Machine::new(site, 0, load, window, 1).expect("a machine");
    machine.settle_in(trial.ramp_ns);
    let mut clock = machine.time().clock();
    let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
    machine.end_window();
    (sample, machine)
}

/// Two nodes with a capacity device of 10 ms behind flash of 100 us.
fn cluster(write_buffer_bytes: u64) -> Site {
    let mut site = common::fibre_channel();
    let cost = Cost { per_read_cycles: 25_000.0, per_write_cycles: 25_000.0, ..Cost::default() };
    site.hosts[0].count = 2;
    site.hosts[0].adapters = vec![Adapter {
        name: "nic".into(),
        kind: PortKind::Ethernet { mtu_bytes: 1500 },
        rate_bytes_per_s: 125e6,
        count: 4,
        aggregation: Aggregation::RoundRobin,
        latency_ns: 10_000.0,
        coalescing: Coalescing::default(),
    }];
    site.stacks[0] = Stack { protocol: Protocol::Local, cost, ..site.stacks[0].clone() };
    site.clusters = vec![Cluster {
        cache: device(1, 100_000.0, 0.0),
        capacity: device(1, 10_000_000.0, 0.0),
        write_buffer_bytes,
        ..common::cluster::bare_cluster(cost)
    }];
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes: 1, replicas: 1 };
    site
}

#[test]
fn a_buffer_that_takes_minutes_to_fill_is_full_after_the_ramp() {
    // Two devices of 100 a second. 24 GiB are written to, of which 2.4 GiB are in the buffers: a tenth of the
    // writes replace what the devices have not taken yet.
    let site = cluster(12 * GIB / 10);
    let (sample, machine) = writes(&site, (4, 20));
    let expected = 200.0 / 0.9;
    assert!((sample.iops() / expected - 1.0).abs() < 0.1, "{} {expected}", sample.iops());
    let notes = machine.notes();
    let [ModelNote::Steady { fresh_for_ns, fresh_bytes_per_s, steady_bytes_per_s, .. }] =
        notes.as_slice()
    else {
        panic!("{notes:?}")
    };
    // What the buffers took while they were fresh, and how long 2.4 GiB of room last then.
    let mut fresh = site.clone();
    fresh.fresh = true;
    let (sample, machine) = writes(&fresh, (1, 2));
    let of_memory = sample.iops() * 4096.0;
    assert!((*fresh_bytes_per_s as f64 / of_memory - 1.0).abs() < 0.05, "{notes:?} {of_memory}");
    assert!((*steady_bytes_per_s as f64 / (expected * 4096.0) - 1.0).abs() < 0.1, "{notes:?}");
    let lasts_s = 2.4 * GIB as f64 / (of_memory - 200.0 * 4096.0);
    assert!((*fresh_for_ns as f64 / 1e9 / lasts_s - 1.0).abs() < 0.05, "{notes:?} {lasts_s}");
    let notes = machine.notes();
    assert!(matches!(notes.as_slice(), [ModelNote::StillFilling { .. }]), "{notes:?}");
}

#[test]
fn a_buffer_that_holds_all_that_is_written_never_fills() {
    let (roomy, machine) = writes(&cluster(48 * GIB), (4, 2));
    assert!(roomy.iops() > 5_000.0, "{}", roomy.iops());
    let notes = machine.notes();
    assert!(notes.iter().all(|note| !matches!(note, ModelNote::StillFilling { .. })), "{notes:?}");
}

#[test]
fn the_memory_of_a_controller_settles_where_a_long_ramp_takes_it() {
    // Whole stripes at new places keep up with what comes, and parity in place does not.
    for (raid, layout, fills) in
        [(Raid::Raid6, Layout::InPlace, true), (Raid::Raid5, Layout::WriteAnywhere, false)]
    {
        let mut site = common::fibre_channel();
        site.groups[0].raid = raid;
        let cache = &mut site.controllers[0].cache;
        cache.layout = layout;
        cache.write =
            WriteCache::Back { battery: true, bytes: 2 * GIB, start_share: 0.5, depth: 4 };
        let (soon, machine) = writes(&site, (4, 10));
        let notes = machine.notes();
        let is_steady = matches!(notes.as_slice(), [ModelNote::Steady { .. }]);
        assert_eq!(is_steady, fills, "{layout:?} {notes:?}");
        // A load that lasts until it is full.
        let mut fresh = site.clone();
        fresh.fresh = true;
        let (late, machine) = writes(&fresh, (if fills { 60 } else { 10 }, 10));
        let (soon, late) = (soon.iops(), late.iops());
        assert!((soon / late - 1.0).abs() < 0.1, "{layout:?} {soon} {late} {:?}", machine.notes());
    }
}
