//! Whether an open loop issued its requests when they were due.
//!
//! Latency counts from the moment when a request is due, so a late generator adds to every latency as if the storage
//! were slow. Where the storage made it late (no more I/Os could be outstanding) that is right, and the backlog is a
//! finding of its own; otherwise the latencies contain delays of this machine's scheduler and timers.

use crate::finding::{Fact, LawFinding};
use crate::trial_facts::TrialFacts;

/// A delay of this at the 99th percentile is too much for any storage.
const LATE_NS: f64 = 1_000_000.0;
/// A delay of less than this at the 99th percentile is how precisely timers wake up, and not worth a finding.
const IN_TIME_NS: f64 = 50_000.0;
/// The mean lateness may be this share of the mean service time.
const SHARE_OF_SERVICE: f64 = 0.10;
/// From this share of requests that had to wait for another one to end, the storage is the cause of the delay.
const HELD: f64 = 0.005;

pub(crate) fn lateness(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    let issue = facts.sample.issue.as_ref()?;
    let operations = facts.sample.operations() as f64;
    if facts.is_null || issue.held_operations as f64 > HELD * operations {
        return None;
    }
    let p99_ns = issue.lateness.histogram.percentile_ns(0.99)?;
    let (mean_ns, service_ns) = (issue.lateness.mean_ns()?, issue.service.mean_ns()?);
    let is_large = p99_ns >= IN_TIME_NS && mean_ns > SHARE_OF_SERVICE * service_ns;
    if p99_ns < LATE_NS && !is_large {
        return None;
    }
    Some(LawFinding::warning(Fact::IssuedLate { mean_ns, p99_ns, service_ns }))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};
    use stormeter_driver::drive;
    use stormeter_simulator::{
        FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
    };
    use stormeter_trial::{Arrivals, Limits, Sample, Trial};

    use super::*;
    use crate::finding::Severity;

    /// A queue whose waits end late.
    struct Late {
        disks: SimulatedDisks,
        time: VirtualTime,
        late_ns: u64,
    }

    impl Disks for Late {
        fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
            self.disks.submit(operations)
        }

        fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), DisksError> {
            self.disks.reap(wait, done)?;
            if done.is_empty() {
                self.time.advance_to(self.time.now_ns() + self.late_ns);
            }
            Ok(())
        }

        fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
            None
        }
    }

    fn sample(late_ns: u64, rate_per_s: f64, most_outstanding: u32) -> (Trial, Sample) {
        let mut workload = stormeter_study::profile("vm-4k").unwrap().workload;
        workload.arrivals = Arrivals::Constant { rate_per_s };
        let trial = Trial {
            workload,
            first_disk: 0,
            disks: 1,
            disk_bytes: 1 << 30,
            seed: 1,
            start: Default::default(),
            content_seed: 0,
            ramp_ns: 10_000_000,
            duration_ns: 1_000_000_000,
            interval_ns: 100_000_000,
            limits: Limits { open_loop_outstanding: most_outstanding, ..Limits::default() },
            verify: false,
        };
        let time = VirtualTime::new();
        let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
        let service = Service::Constant { ns: 200_000 };
        let model = Model { servers: 2, service, faults: FaultPlan::default() };
        let disks = SimulatedDisks::new(time.clone(), model, noise, 1);
        let mut late = Late { disks, time: time.clone(), late_ns };
        let sample = drive(&trial, || Some(0), &mut late, &mut time.clock(), &mut ()).unwrap();
        (trial, sample)
    }

    fn found(late_ns: u64, rate_per_s: f64, most_outstanding: u32) -> Option<LawFinding> {
        let (trial, sample) = sample(late_ns, rate_per_s, most_outstanding);
        let facts = |is_null| TrialFacts {
            workload: &trial.workload,
            sample: &sample,
            is_null,
            ceiling_iops: None,
            cpu: None,
        };
        assert_eq!(lateness(&facts(true)), None);
        lateness(&facts(false))
    }

    #[test]
    fn a_generator_that_is_late_is_told_of_with_its_figures() {
        // 200 µs each: 15 µs are a timer's, 60 µs a share of the latency that must not go unseen.
        assert_eq!(found(15_000, 1_000.0, 64), None);
        let finding = found(60_000, 1_000.0, 64).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        let Fact::IssuedLate { mean_ns, service_ns, .. } = finding.fact else { panic!() };
        assert!((mean_ns - 60_000.0).abs() < 1_000.0, "{mean_ns}");
        assert!((service_ns - 200_000.0).abs() < 1_000.0, "{service_ns}");
        assert!(found(2_000_000, 1_000.0, 64).is_some());
    }

    /// Two at a time take 10 000 a second, and 12 000 are due: the storage makes them wait, not the generator.
    #[test]
    fn requests_that_wait_for_a_full_storage_are_not_the_generator_s_lateness() {
        let (_, sample) = sample(0, 12_000.0, 2);
        let issue = sample.issue.unwrap();
        assert!(issue.lateness.histogram.percentile_ns(0.99).unwrap() > LATE_NS);
        assert_eq!(found(0, 12_000.0, 2), None);
    }
}
