//! One request at a time, without a driver: exact times.

use stormeter_disk::{Completion, Disks, Kind, Operation, Wait};
use stormeter_fault::ScheduledFault;
use stormeter_simulator::{Broken, FaultNameError, Load, Machine, SiteFault, Window};
use stormeter_site::*;

/// A load of this many VMs with disks of 1 GiB.
pub fn load(vms: u32) -> Load {
    Load {
        vms,
        disk_bytes: 1 << 30,
        working_set_bytes: 1 << 30,
        random: 1.0,
        zipf: None,
        flushes: false,
    }
}

/// A machine that is read from the start, every quarter of a second.
pub fn machine(site: &Site, vms: u32) -> Machine {
    let window = Window { from_ns: 0, interval_ns: 250_000_000 };
    Machine::new(site, 0, load(vms), window, 1).expect("a machine")
}

/// What a fault breaks of a site, as its first datastore meets it.
pub fn site_fault(text: &str, site: &Site) -> Result<SiteFault, FaultNameError> {
    let ScheduledFault { fault, at_ns, for_ns, .. } = text.parse().expect("a fault with its time");
    let broken = Broken::by(&fault, site, 0)?;
    assert_eq!(broken.len(), 1, "{text}");
    Ok(SiteFault { at_ns, for_ns, broken: broken[0] })
}

/// Submits a request of a disk.
pub fn submit(machine: &mut Machine, disk: u32, kind: Kind, offset_bytes: u64, length_bytes: u32) {
    let operation = Operation { slot: 0, disk, kind, offset_bytes, length_bytes, buffer: 0 };
    machine.submit(&[operation]).expect("submitted");
}

/// Waits this long for the next completions; returns them.
pub fn reap(machine: &mut Machine, wait_ns: u64) -> Vec<Completion> {
    let mut done = Vec::new();
    machine.reap(Wait::AtMost(wait_ns), &mut done).expect("reaped");
    done
}

/// How long one request takes on an idle machine, in nanoseconds.
pub fn latency_ns(site: &Site, kind: Kind, length_bytes: u32) -> u64 {
    let mut machine = machine(site, 1);
    let from_ns = machine.time().now_ns();
    submit(&mut machine, 0, kind, 0, length_bytes);
    assert_eq!(reap(&mut machine, 1 << 40).len(), 1);
    machine.time().now_ns() - from_ns
}

/// Keeps `outstanding` requests of each disk on the machine for this long; returns how many ended and
/// the mean time of each, in nanoseconds. Each goes to the next place of its size on its disk.
pub fn closed(
    machine: &mut Machine,
    (disks, outstanding): (u32, u32),
    kind: Kind,
    length_bytes: u32,
    for_ns: u64,
) -> f64 {
    let until_ns = machine.time().now_ns() + for_ns;
    let mut turns = 0u64;
    let mut ended = 0u64;
    let batch = |turns: &mut u64, slot: u32| {
        let units = (1u64 << 30) / u64::from(length_bytes);
        // A stride that is coprime to the number of units: all places, none in order.
        let offset_bytes = *turns * 7919 % units * u64::from(length_bytes);
        *turns += 1;
        Operation { slot, disk: slot % disks, kind, offset_bytes, length_bytes, buffer: 0 }
    };
    let first: Vec<Operation> =
        (0..disks * outstanding).map(|slot| batch(&mut turns, slot)).collect();
    machine.submit(&first).expect("submitted");
    loop {
        let now_ns = machine.time().now_ns();
        if now_ns >= until_ns {
            return ended as f64 / (for_ns as f64 / 1e9);
        }
        for done in reap(machine, until_ns - now_ns) {
            ended += 1;
            assert!(done.result > 0, "{done:?}");
            machine.submit(&[batch(&mut turns, done.slot)]).expect("submitted");
        }
    }
}
