//! Disks and flash against what their physics says in closed form.

mod common;

use stormeter_driver::{
    Arrivals, Content, Distribution, Sample, SizeShare, Trial, Workload, drive,
};
use stormeter_simulator::{ComponentUse, Load, Machine, Window};
use stormeter_site::{Device, Hdd, Ssd};

const SECOND: u64 = 1_000_000_000;

/// What is asked of a device.
#[derive(Debug, Clone, Copy)]
struct Ask {
    bytes: u32,
    read_percent: f64,
    random_percent: f64,
    outstanding: u32,
    /// Regions of the device with a stream each.
    disks: u32,
    disk_bytes: u64,
    ramp_s: u64,
    seconds: u64,
}

const RANDOM_READS: Ask = Ask {
    bytes: 4096,
    read_percent: 100.0,
    random_percent: 100.0,
    outstanding: 1,
    disks: 1,
    disk_bytes: 300_000_000_000 / 4096 * 4096,
    ramp_s: 1,
    seconds: 60,
};

fn run(device: &Device, ask: Ask) -> (Sample, ComponentUse) {
    let trial = Trial {
        workload: Workload {
            name: "devices".into(),
            sizes: vec![SizeShare { bytes: ask.bytes, share: 1.0 }],
            read_percent: ask.read_percent,
            random_percent: ask.random_percent,
            distribution: Distribution::Uniform,
            alignment_bytes: None,
            arrivals: Arrivals::Closed { outstanding: ask.outstanding },
            burst: None,
            content: Content::default(),
        },
        first_disk: 0,
        disks: ask.disks,
        disk_bytes: ask.disk_bytes,
        seed: 7,
        ramp_ns: ask.ramp_s * SECOND,
        duration_ns: ask.seconds * SECOND,
        interval_ns: SECOND,
        limits: Default::default(),
        verify: false,
    };
    let load = Load {
        vms: ask.disks,
        disk_bytes: ask.disk_bytes,
        working_set_bytes: ask.disk_bytes,
        random: ask.random_percent / 100.0,
        zipf: None,
    };
    let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
    let site = common::one_device(device.clone());
    let mut machine = Machine::new(&site, 0, load, window, 7).expect("a machine");
    let mut clock = machine.time().clock();
    let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
    let uses = machine.usage();
    let disk = uses.into_iter().find(|usage| usage.name == "disk").expect("the disk");
    (sample, disk)
}

fn iops(device: &Device, ask: Ask) -> f64 {
    run(device, ask).0.iops()
}

fn rate(device: &Device, ask: Ask) -> f64 {
    iops(device, ask) * f64::from(ask.bytes)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
}

/// Seagate Cheetah 15K.5 FC, 300 GB (product manual 100384772, section 4): 15 000 rpm, 3.5 ms average
/// read seek, 4.0 ms write, 0.2 ms track to track, 73 to 125 MB/s sustained, 16 MB.
fn cheetah() -> Hdd {
    Hdd {
        rpm: 15_000.0,
        seek_track_ns: 0.2e6,
        seek_average_ns: 3.5e6,
        seek_full_ns: 7.4e6,
        write_settle_ns: 0.5e6,
        outer_bytes_per_s: 125e6,
        inner_bytes_per_s: 73e6,
        capacity_bytes: 300_000_000_000,
        interface_bytes_per_s: 400e6,
        overhead_ns: 100e3,
        queue_depth: 64,
        buffer_bytes: 16 << 20,
        write_cache: false,
    }
}

/// A SATA disk of 7200 rpm: 8.5 ms average seek.
fn nearline() -> Hdd {
    Hdd {
        rpm: 7200.0,
        seek_track_ns: 0.8e6,
        seek_average_ns: 8.5e6,
        seek_full_ns: 18.0e6,
        write_settle_ns: 1.0e6,
        outer_bytes_per_s: 140e6,
        inner_bytes_per_s: 70e6,
        capacity_bytes: 1_000_000_000_000,
        interface_bytes_per_s: 300e6,
        overhead_ns: 200e3,
        queue_depth: 32,
        buffer_bytes: 32 << 20,
        write_cache: false,
    }
}

#[test]
fn look() {
    for depth in [1, 2, 4, 8, 16, 32, 64] {
        let c = Device::Hdd(cheetah());
        let n = Device::Hdd(nearline());
        let ask = Ask { outstanding: depth, ..RANDOM_READS };
        let (s, u) = run(&c, ask);
        println!(
            "depth {depth}: cheetah {:.1} util {:.3} queue {:.2} max {:?}, writes {:.1}, nearline {:.1}",
            s.iops(),
            u.utilisation,
            u.queue_mean,
            s.total().latency_mean_ns(),
            iops(&c, Ask { read_percent: 0.0, ..ask }),
            iops(&n, Ask { disk_bytes: 999_999_995_904, ..ask })
        );
    }
    for (bytes, out) in [(4096, 1), (4096, 4), (65536, 1), (131072, 1), (131072, 4), (1 << 20, 2)] {
        let c = Device::Hdd(cheetah());
        let ask = Ask { bytes, outstanding: out, random_percent: 0.0, ..RANDOM_READS };
        let w = Ask { read_percent: 0.0, ..ask };
        let wc = Device::Hdd(Hdd { write_cache: true, ..cheetah() });
        println!(
            "seq {bytes} x{out}: read {:.1} MB/s, write {:.1} iops {:.1}, cached write {:.1}",
            rate(&c, ask) / 1e6,
            rate(&c, w) / 1e6,
            iops(&c, w),
            rate(&wc, w) / 1e6
        );
        let (s, u) = run(&c, ask);
        println!("   util {:.3} queue {:.2} {}", u.utilisation, u.queue_mean, s.iops());
        let (s, u) = run(&wc, w);
        println!("   wc util {:.3} queue {:.2} {}", u.utilisation, u.queue_mean, s.iops());
    }
}

fn flash() -> Ssd {
    Ssd {
        channels: 16,
        page_bytes: 16384,
        read_ns: 60e3,
        program_ns: 600e3,
        erase_ns: 3e6,
        pages_per_block: 256,
        spare_share: 0.1,
        filled_share: 1.0,
        capacity_bytes: 400_000_000_000,
        interface_bytes_per_s: 2e9,
        overhead_ns: 10e3,
        write_buffer_bytes: 16 << 20,
    }
}

#[test]
fn look_flash() {
    let f = Device::Ssd(flash());
    let nb = Device::Ssd(Ssd { write_buffer_bytes: 0, ..flash() });
    let ask = Ask { seconds: 5, ..RANDOM_READS };
    for outstanding in [1, 8, 16, 64, 256] {
        let r = Ask { outstanding, ..ask };
        let w = Ask { read_percent: 0.0, ..r };
        let m = Ask { read_percent: 70.0, ..r };
        let s = Ask { random_percent: 0.0, bytes: 131072, ..r };
        let sw = Ask { read_percent: 0.0, ..s };
        for (name, a) in [("read", r), ("write", w), ("mix", m), ("seq read", s), ("seq write", sw)]
        {
            let (x, u) = run(&f, a);
            let (y, v) = run(&nb, a);
            println!(
                "{outstanding} {name}: {:.0} iops {:.1} MB/s lat {:.0} util {:.3}/{:.3} q {:.1}; unbuffered {:.0} lat {:.0} util {:.3} q {:.1}",
                x.iops(),
                x.iops() * f64::from(a.bytes) / 1e6,
                x.total().latency_mean_ns().unwrap() / 1e3,
                u.utilisation,
                u.utilisation_most,
                u.queue_mean,
                y.iops(),
                y.total().latency_mean_ns().unwrap() / 1e3,
                v.utilisation,
                v.queue_mean
            );
        }
    }
}
