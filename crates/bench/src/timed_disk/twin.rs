//! What must be measured: the same loop with the same seed on the same schedule in virtual time. All
//! random choices are the same, so the difference between the two is the overhead of the path and the
//! generator's error.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_simulator::VirtualTime;
use stormeter_trial::{Limits, Sample, Trial};

use super::schedule::{Schedule, Service};
use crate::drive::Drive;
use crate::failure::Failure;

/// Where the disks of a run start on a device: after the first MiB, which has the owner's mark.
const BASE_BYTES: u64 = 1 << 20;

/// The sample of `drive` on the disk, if everything except the service took no time.
pub(crate) fn expected(drive: &Drive, service: Service) -> Result<Sample, Failure> {
    let timing = drive.timing();
    let trial = Trial {
        workload: drive.workload(),
        first_disk: 0,
        disks: 1,
        disk_bytes: drive.disk_bytes,
        seed: drive.seed,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: timing.ramp_ns,
        duration_ns: timing.duration_ns,
        interval_ns: timing.interval_ns,
        limits: Limits::default(),
        verify: false,
    };
    let time = VirtualTime::new();
    let mut clock = time.clock();
    let mut disk =
        Twin { time, schedule: Schedule::new(service), served: 0, due: BinaryHeap::new() };
    stormeter_driver::drive(&trial, || Some(0), &mut disk, &mut clock, &mut ())
        .map_err(|error| error.to_string())
}

struct Twin {
    time: VirtualTime,
    schedule: Schedule,
    served: u64,
    /// The end of each, with its sequence number, slot and length.
    due: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
}

impl Disks for Twin {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for operation in operations {
            let now_ns = self.time.now_ns();
            let place = BASE_BYTES + operation.offset_bytes;
            let due_ns = match operation.kind {
                Kind::Read | Kind::Write | Kind::DurableWrite => self.schedule.admit(now_ns, place),
                Kind::Flush => self.schedule.flush(now_ns),
            };
            self.due.push(Reverse((due_ns, self.served, operation.slot, operation.length_bytes)));
            self.served += 1;
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let now_ns = self.time.now_ns();
        let until_ns = match wait {
            Wait::No => now_ns,
            Wait::AtMost(wait_ns) => now_ns.saturating_add(wait_ns),
        };
        let next_ns = self.due.peek().map_or(u64::MAX, |Reverse((due_ns, ..))| *due_ns);
        self.time.advance_to(next_ns.min(until_ns));
        let now_ns = self.time.now_ns();
        while let Some(&Reverse((due_ns, _, slot, bytes))) = self.due.peek()
            && due_ns <= now_ns
        {
            self.due.pop();
            completions.push(Completion::moved(slot, bytes));
        }
        Ok(())
    }

    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{ConstantService, ExponentialService, ResponseTimes};
    use crate::timed_disk::schedule::Spread;

    fn follows(service: Service, load: f64, theory: &dyn ResponseTimes) {
        let rate_per_s = load * f64::from(service.servers) * 1e9 / service.mean_ns as f64;
        let drive = Drive {
            disk_bytes: 256 << 20,
            rate_per_s: Some(rate_per_s as u64),
            is_poisson: true,
            read_percent: 100,
            ramp_ms: 1000,
            duration_ms: 6_000_000,
            ..Drive::default()
        };
        let total = expected(&drive, service).unwrap().total();
        let near = |what: &str, measured_ns: f64, expected_s: f64| {
            let ratio = measured_ns / (expected_s * 1e9);
            assert!((ratio - 1.0).abs() < 0.015, "{service:?} {load} {what}: {ratio}");
        };
        near("mean", total.latency_mean_ns().unwrap(), theory.mean_s());
        for share in [0.5, 0.95, 0.99] {
            let measured = total.histogram.percentile_ns(share).unwrap();
            near(&share.to_string(), measured, theory.percentile_s(share));
        }
    }

    /// The loop, the schedule and the formulas are independent of each other, and have to agree: millions
    /// of requests come as close as the histogram's buckets allow.
    #[test]
    fn open_loops_are_as_theory_says() {
        for load in [0.5, 0.7] {
            let rate_per_s = 1000.0 * load;
            let spread = Spread::Constant;
            let service = Service { servers: 1, mean_ns: 1_000_000, spread, flush_ns: 0 };
            follows(service, load, &ConstantService { rate_per_s, service_s: 1e-3 });
            let spread = Spread::Exponential;
            let service = Service { servers: 4, mean_ns: 1_000_000, spread, flush_ns: 0 };
            let rate_per_s = 4.0 * rate_per_s;
            follows(service, load, &ExponentialService { rate_per_s, service_s: 1e-3, servers: 4 });
        }
    }

    /// Each write waits for the flush of the one before it, and no latency contains another.
    #[test]
    fn a_log_is_flushed_after_each_write() {
        let spread = Spread::Constant;
        let service = Service { servers: 1, mean_ns: 500_000, spread, flush_ns: 3_000_000 };
        let drive =
            Drive { disk_bytes: 1 << 20, is_log: true, duration_ms: 10_000, ..Drive::default() };
        let sample = expected(&drive, service).unwrap();
        let (writes, flushes) = (&sample.writes, &sample.flushes);
        assert_eq!((sample.reads.operations, writes.latency_max_ns), (0, 500_000));
        assert!(flushes.operations > 2500 && writes.operations.abs_diff(flushes.operations) <= 1);
        for (share, expected_ns) in [(0.5, 3.0e6), (0.99, 4.47e6)] {
            let ratio = flushes.histogram.percentile_ns(share).unwrap() / expected_ns;
            assert!((ratio - 1.0).abs() < 0.01, "{share}: {ratio}");
        }
    }
}
