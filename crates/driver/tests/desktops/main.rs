//! Desktops on demand in virtual time: the broker's laws over any course of events, and whole trials on simulated disks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broker;
mod faults;
mod scripted;
mod trials;

use stormeter_trial::{
    Arrivals, BrokerRules, DesktopCopy, DesktopDeployment, DesktopLoad, DesktopSession,
    DesktopTrial, Limits, Resources, Sample, Workload,
};

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// Room for `desktops`, each of which reserves one CPU.
fn rules(desktops: u64) -> BrokerRules {
    BrokerRules {
        pool: 0,
        deploying_most: u32::MAX,
        waiting_most: None,
        patience_ns: None,
        deploy_most_ns: 100 * S,
        idle_ns: 5 * S,
        capacity: Resources { cpus: desktops, memory_bytes: u64::MAX, storage_bytes: u64::MAX },
        desktop: Resources { cpus: 1, memory_bytes: 1 << 30, storage_bytes: 1 << 20 },
    }
}

fn io(arrivals: Arrivals) -> Workload {
    Workload { read_percent: 30.0, ..stormeter_testkit::workload(arrivals) }
}

/// Four desktops, of 1 MiB each, and no users.
fn trial() -> DesktopTrial {
    DesktopTrial {
        load: DesktopLoad {
            arrivals_per_s: 0.0,
            users: None,
            class: None,
            broker: rules(4),
            deployment: DesktopDeployment {
                copy: DesktopCopy::Full,
                copy_bytes: 64 << 10,
                outstanding: 2,
                setting_ns: 100 * MS,
                boot_reads: 20,
                configure_writes: 10,
            },
            session: DesktopSession {
                log_on_requests: 10,
                log_on: io(Arrivals::Closed { outstanding: 2 }),
                work: io(Arrivals::Poisson { rate_per_s: 20.0 }),
                length_ns: 2 * S,
                idle_percent: 0.0,
            },
        },
        desktops: 4,
        seed: 1,
        ramp_ns: S,
        duration_ns: 20 * S,
        interval_ns: S,
        limits: Limits::default(),
    }
}

/// What every trial obeys: conservation of users, Little's law, and tallies that agree.
fn assert_sound(sample: &Sample) {
    let totals = sample.desktops.as_ref().unwrap();
    assert!(totals.is_conserved(), "{totals:?}");
    let total = sample.total();
    assert_eq!(total.operations, totals.usable);
    let unserved = &totals.unserved;
    assert_eq!(unserved.operations, totals.gone + totals.waiting);
    assert_eq!(unserved.histogram.count(), unserved.operations);
    assert!(unserved.latency_max_ns <= sample.window_ns, "{unserved:?}");
    let waited_ns = u128::from(total.latency_sum_ns + unserved.latency_sum_ns);
    assert!(waited_ns as f64 <= sample.outstanding_mean * sample.window_ns as f64 + 1000.0);
    let busy_ns = total.latency_sum_ns as f64 + sample.carried_ns as f64;
    let outstanding_ns = sample.outstanding_mean * sample.window_ns as f64;
    assert!((busy_ns - outstanding_ns).abs() <= 1000.0, "{busy_ns} {outstanding_ns}");
    let rows = || sample.intervals.iter().flat_map(|row| [row.reads, row.writes]);
    assert_eq!(rows().map(|row| row.operations).sum::<u64>(), total.operations);
    assert_eq!(rows().map(|row| row.bytes).sum::<u64>(), total.bytes);
    assert_eq!(sample.disks.iter().map(|disk| disk.operations).sum::<u64>(), total.operations);
    assert_eq!(sample.disks.iter().map(|disk| disk.bytes).sum::<u64>(), total.bytes);
    assert_eq!(totals.rows.len(), sample.intervals.len());
    let length_ns: u64 = totals.rows.iter().map(|row| row.length_ns).sum();
    assert_eq!(length_ns, sample.window_ns);
    for kind in &totals.work {
        assert_eq!(kind.histogram.count(), kind.operations);
    }
}
