//! A whole site under the driver's own loop.

mod common;

use stormeter_driver::{
    Arrivals, Content, Distribution, Sample, SizeShare, Trial, Workload, drive,
};
use stormeter_simulator::{Load, Machine, Window};
use stormeter_site::Site;

fn run(site: &Site, vms: u32, outstanding: u32, seconds: u64) -> (Sample, Machine) {
    let trial = Trial {
        workload: Workload {
            name: "vm-4k".into(),
            sizes: vec![SizeShare { bytes: 4096, share: 1.0 }],
            read_percent: 75.0,
            random_percent: 100.0,
            distribution: Distribution::Uniform,
            alignment_bytes: None,
            arrivals: Arrivals::Closed { outstanding },
            burst: None,
            content: Content::default(),
        },
        first_disk: 0,
        disks: vms,
        disk_bytes: 1 << 30,
        seed: 1,
        ramp_ns: 1_000_000_000,
        duration_ns: seconds * 1_000_000_000,
        interval_ns: 1_000_000_000,
        limits: Default::default(),
        verify: false,
    };
    let load =
        Load { vms, disk_bytes: 1 << 30, working_set_bytes: 1 << 30, random: 1.0, zipf: None };
    let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
    let mut machine = Machine::new(site, 0, load, window, 1).expect("a machine");
    let mut clock = machine.time().clock();
    let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
    (sample, machine)
}

#[test]
fn a_site_bears_the_drivers_load() {
    let (sample, machine) = run(&common::fibre_channel(), 160, 4, 5);
    // Little's law: 640 outstanding.
    let latency_s = sample.total().latency_mean_ns().expect("an I/O") / 1e9;
    assert!((sample.iops() * latency_s / 640.0 - 1.0).abs() < 0.01, "{latency_s}");
    let uses = machine.usage();
    let shares: f64 = uses.iter().map(|usage| usage.response_share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let disks = uses.iter().find(|usage| usage.name == "disk").expect("disks");
    // 5 ms of a read, 2 ms of a write: what they do cannot be more than what passes.
    let expected = sample.iops() * (0.75 * 5.041e-3 + 0.25 * 2.041e-3) / 160.0;
    assert!((disks.utilisation / expected - 1.0).abs() < 0.02, "{disks:?} {expected}");
    assert_eq!(disks.series.len(), 5);
}

#[test]
fn the_same_seed_gives_the_same_sample() {
    let site = common::fibre_channel();
    assert_eq!(run(&site, 32, 4, 1).0, run(&site, 32, 4, 1).0);
}
