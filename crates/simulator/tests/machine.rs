//! A whole site with the driver's own loop.

mod common;

use stormeter_driver::drive;
use stormeter_simulator::{Load, Machine, Window};
use stormeter_site::Site;
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Sample, Trial};

fn run(site: &Site, vms: u32, outstanding: u32, seconds: u64) -> (Sample, Machine) {
    let trial = Trial {
        workload: workload(Arrivals::Closed { outstanding }),
        first_disk: 0,
        disks: vms,
        disk_bytes: 1 << 30,
        seed: 1,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: 1_000_000_000,
        duration_ns: seconds * 1_000_000_000,
        interval_ns: 1_000_000_000,
        limits: Default::default(),
        verify: false,
    };
    let load = Load {
        vms,
        disk_bytes: 1 << 30,
        working_set_bytes: 1 << 30,
        random: 1.0,
        zipf: None,
        flushes: false,
    };
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
    // 5 ms per read, 2 ms per write: the disks cannot do more than what passes through.
    let expected = sample.iops() * (0.75 * 5.041e-3 + 0.25 * 2.041e-3) / 160.0;
    assert!((disks.utilisation / expected - 1.0).abs() < 0.02, "{disks:?} {expected}");
    assert_eq!(disks.series.len(), 5);
}

#[test]
fn the_same_seed_gives_the_same_sample() {
    let site = common::fibre_channel();
    assert_eq!(run(&site, 32, 4, 1).0, run(&site, 32, 4, 1).0);
}

#[test]
fn few_vms_use_all_controllers_and_ports() {
    // Two controllers with two ports each serve eight hosts.
    let uses = |vms| run(&common::fibre_channel(), vms, 4, 2).1.usage();
    for (vms, name, units) in [(2, "filer cpu", 2), (4, "filer cpu", 2), (4, "filer fc", 8)] {
        let uses = uses(vms);
        let found = uses.iter().find(|usage| usage.name == name).expect("a component");
        assert_eq!(found.units, units);
        let most = found.utilisation_most / found.utilisation;
        // The payload of reads goes one way: ports send more than they receive.
        let even = if name == "filer cpu" { 1.1 } else { 2.1 };
        assert!(most < even, "{vms} VMs, {name}: {most}");
    }
    // The filling order does not matter.
    let mut site = common::fibre_channel();
    site.hosts[0].vms_per_host = Some(1);
    site.datastores[0].placement = stormeter_site::Placement::Fill;
    let uses = run(&site, 2, 4, 2).1.usage();
    let found = uses.iter().find(|usage| usage.name == "filer cpu").expect("a component");
    assert!(found.utilisation_most > 1.9 * found.utilisation, "{found:?}");
}
