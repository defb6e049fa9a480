//! What the tool spends on showing how far it is belongs to no I/O.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use nix::time::ClockId;
use stormeter_datastore::{DatastoreUrl, RealClock};
use stormeter_runner::{Progress, TrialRun, measure_ceiling};
use stormeter_study::{Timing, profile};
use stormeter_trial::Interval;

const MS: u64 = 1_000_000;

fn own_ns() -> u64 {
    let now = ClockId::CLOCK_THREAD_CPUTIME_ID.now().unwrap();
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// Works for every row that it is shown.
struct Laborious;

impl Progress for Laborious {
    fn interval(&mut self, _row: &Interval) {
        let until_ns = own_ns() + 30 * MS;
        while own_ns() < until_ns {
            std::hint::spin_loop();
        }
    }
}

/// All by CPU clocks, so it holds on a busy machine too: only how late process and threads were read apart
/// comes into it, and that is known.
#[test]
fn showing_progress_is_no_cost_of_an_io() {
    let workload = profile("vm-4k").unwrap().workload;
    let run = TrialRun {
        workload: &workload,
        vms: 1,
        disk_bytes: 1 << 20,
        threads: 1,
        timing: Timing { ramp_ns: 20 * MS, duration_ns: 1_000 * MS, interval_ns: 100 * MS },
        seed: 1,
        content_seed: 1,
        start: Default::default(),
        disturbed: false,
    };
    let null = DatastoreUrl::parse("null:").unwrap();
    let (clock, cancel) = (RealClock::new(), AtomicBool::new(false));
    let cpu = measure_ceiling(&null, &run, None, &clock, &cancel, &mut Laborious).unwrap().cpu;
    let threads_ns = cpu.threads_user_ns + cpu.threads_system_ns;
    assert!(cpu.tool_ns >= Some(30 * MS), "{cpu:?}");
    assert!(threads_ns > 0 && cpu.process_ns > cpu.tool_ns.unwrap(), "{cpu:?}");
    assert!(cpu.initiator_ns() <= threads_ns + cpu.late_ns + 20 * MS, "{cpu:?}");
}
