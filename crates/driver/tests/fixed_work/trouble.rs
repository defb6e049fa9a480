//! Errors, short I/Os, stalls, stops, and trials that cannot be driven.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_disk::{Clock, Completion, Disks, DisksError, Operation, Wait};
use stormeter_driver::{Observer, drive_deployment, drive_file_test};
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, SimulatedDisks, Stall, VirtualTime,
};
use stormeter_trial::{
    Ended, FileOperation, FixedWork, FixedWorkError, FixedWorkTrial, Interval, IoFailureOutcome,
};

use crate::setting::*;

fn faulty(faults: FaultPlan) -> Model {
    Model { faults, ..constant(100 * US, 8) }
}

#[test]
fn faults_are_counted_with_place_and_outcome_and_the_work_continues() {
    for seed in 0..50 {
        let faults = FaultPlan { errors: 0.05, shorts: 0.05, ..FaultPlan::default() };
        let trial = FixedWorkTrial { seed, ..file_test(FileOperation::RandomWrite, 4, 2) };
        let (sample, submitted) = run(&trial, faulty(faults));
        assert_eq!(sample.ended, Ended::Completed);
        assert_eq!(submitted.len() as u64, 2 * RECORDS);
        assert_eq!(sample.operations() + sample.failed_operations(), 2 * RECORDS);
        assert_eq!(sample.steps[0].times, 2);
        for failure in &sample.io_failures {
            assert!((3..5).contains(&failure.disk) && failure.length_bytes == RECORD);
            let asked = |one: &Operation| {
                (one.disk + 3, one.offset_bytes) == (failure.disk, failure.offset_bytes)
            };
            assert!(submitted.iter().any(asked));
            assert!(match failure.outcome {
                IoFailureOutcome::Short(bytes) => bytes == RECORD / 2,
                IoFailureOutcome::Failed(error) => error.0 == 5,
            });
        }
    }
}

#[test]
fn a_vm_that_met_a_fault_is_not_counted_as_deployed() {
    let (mut deployed, mut failed) = (0, 0);
    for seed in 0..50 {
        let faults = FaultPlan { errors: 0.004, ..FaultPlan::default() };
        let trial = FixedWorkTrial { seed, ..deployment(4, 3) };
        let (sample, _) = run(&trial, faulty(faults));
        assert_eq!(sample.ended, Ended::Completed);
        assert_eq!(sample.operations() < 3, sample.failed_operations() > 0);
        assert_eq!(sample.steps[2].times, 3);
        deployed += sample.operations();
        failed += 3 - sample.operations();
    }
    assert!(deployed > 20 && failed > 20, "{deployed} {failed}");
}

#[test]
fn too_many_faults_end_it() {
    for trial in [file_test(FileOperation::Write, 2, 1), deployment(2, 2)] {
        let mut trial = trial;
        trial.limits.max_io_failures = 10;
        let faults = FaultPlan { full_from: Some(20), ..FaultPlan::default() };
        let (sample, submitted) = run(&trial, faulty(faults));
        assert_eq!(sample.ended, Ended::TooManyErrors);
        assert!((10..16).contains(&sample.failed_operations()));
        assert!(submitted.len() < 50);
    }
}

#[test]
fn a_stall_that_ends_is_waited_for_and_one_without_end_is_not() {
    let stall =
        |for_ns| FaultPlan { stall: Some(Stall { at_ns: 6 * MS, for_ns }), ..FaultPlan::default() };
    for trial in [file_test(FileOperation::Read, 2, 2), deployment(2, 2)] {
        let (calm, _) = run(&trial, faulty(FaultPlan::default()));
        let (late, _) = run(&trial, faulty(stall(900 * MS)));
        assert_eq!(late.ended, Ended::Completed);
        let longer_ns = late.window_ns - calm.window_ns;
        assert!((899 * MS..=901 * MS).contains(&longer_ns), "{longer_ns}");

        let (stalled, _) = run(&trial, faulty(stall(u64::MAX)));
        assert_eq!(stalled.ended, Ended::Stalled { outstanding: 4 });
        let limit_ns = trial.limits.stall_ns;
        assert!((limit_ns..limit_ns + 200 * MS).contains(&stalled.window_ns));
        assert!(stalled.carried_ns as u64 >= 2 * limit_ns);
        assert!(stalled.operations() < calm.operations());
    }
}

/// Asks to stop at the n-th check, and records the calls.
#[derive(Default)]
struct Witness {
    stop_at: Option<u32>,
    asked: u32,
    opened: u32,
    closed: u32,
    rows: Vec<Interval>,
}

impl Observer for Witness {
    fn window_opened(&mut self) {
        self.opened += 1;
    }

    fn interval(&mut self, row: &Interval) {
        self.rows.push(*row);
    }

    fn window_closed(&mut self) {
        self.closed += 1;
    }

    fn cancelled(&mut self) -> bool {
        self.asked += 1;
        self.stop_at.is_some_and(|at| self.asked >= at)
    }
}

#[test]
fn it_tells_its_rows_and_stops_when_asked_to() {
    let mut trial = file_test(FileOperation::Read, 1, 1);
    trial.disk_bytes *= 16;
    let mut witness = Witness::default();
    let (sample, _) = run_watched(&trial, constant(MS, 1), &mut witness);
    assert_eq!((witness.opened, witness.closed), (1, 1));
    assert_eq!(witness.rows, sample.intervals);

    let mut witness = Witness { stop_at: Some(5), ..Witness::default() };
    let (stopped, _) = run_watched(&trial, constant(MS, 1), &mut witness);
    assert_eq!(stopped.ended, Ended::Cancelled);
    assert!(stopped.operations() > 0 && stopped.operations() < sample.operations());
    assert!(stopped.window_ns <= 400 * MS, "{}", stopped.window_ns);
    assert_eq!(stopped.steps[0].times, 0);
    assert_eq!(witness.rows, stopped.intervals);
}

#[test]
fn what_is_not_begun_has_no_window() {
    let trial = deployment(1, 1);
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let mut disks = SimulatedDisks::new(time.clone(), constant(MS, 1), noise, 1);
    let mut witness = Witness::default();
    let sample =
        drive_deployment(&trial, || None, &mut disks, &mut time.clock(), &mut witness).unwrap();
    assert_eq!(sample.ended, Ended::Cancelled);
    assert_eq!((sample.window_ns, sample.intervals.len()), (0, 0));
    assert_eq!((witness.opened, witness.closed), (0, 0));
}

/// Disks that fail, or whose clock does not advance.
struct Odd {
    breaks: bool,
}

impl Disks for Odd {
    fn submit(&mut self, _: &[Operation]) -> Result<(), DisksError> {
        Ok(())
    }

    fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        if self.breaks {
            completions.push(Completion::moved(7, 1));
        }
        Ok(())
    }

    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

struct StoppedClock;

impl Clock for StoppedClock {
    fn now_ns(&mut self) -> u64 {
        9
    }
}

#[test]
fn disks_and_clocks_that_cannot_be_trusted_end_it() {
    let trial = file_test(FileOperation::Read, 1, 1);
    let ended = |breaks| {
        let disks = &mut Odd { breaks };
        drive_file_test(&trial, || Some(0), disks, &mut StoppedClock, &mut ()).unwrap().ended
    };
    assert_eq!(ended(false), Ended::ClockStopped);
    let Ended::QueueBroken { reason } = ended(true) else { panic!() };
    assert!(reason.contains("slot 7"), "{reason}");
}

#[test]
fn senseless_trials_are_refused_with_advice() {
    let good = file_test(FileOperation::Read, 1, 1);
    let refused = |change: &dyn Fn(&mut FixedWorkTrial)| {
        let mut trial = good;
        change(&mut trial);
        let error = drive_file_test(
            &trial,
            || panic!(),
            &mut Odd { breaks: false },
            &mut StoppedClock,
            &mut (),
        );
        error.unwrap_err()
    };
    assert_eq!(refused(&|trial| trial.disks = 0), FixedWorkError::NoWorkers);
    assert_eq!(refused(&|trial| trial.interval_ns = 0), FixedWorkError::Interval);
    assert!(matches!(refused(&|trial| trial.disk_bytes = 4096), FixedWorkError::TooLarge { .. }));
    let other = deployment(1, 1).fixed_work;
    assert!(matches!(refused(&|trial| trial.fixed_work = other), FixedWorkError::OtherWork { .. }));
    for (record_bytes, outstanding, part) in [(0, 1, "0 bytes"), (4096, 0, "outstanding")] {
        let error = refused(&|trial| {
            let FixedWork::File(test) = &mut trial.fixed_work else { panic!() };
            (test.record_bytes, test.outstanding) = (record_bytes, outstanding);
        });
        assert!(error.to_string().contains(part), "{error}");
        assert!(error.to_string().contains("give"), "{error}");
    }
}

#[test]
fn a_trial_is_a_plain_value() {
    for trial in [file_test(FileOperation::RandomRead, 2, 3), deployment(4, 2)] {
        let text = serde_json::to_string(&trial).unwrap();
        assert_eq!(serde_json::from_str::<FixedWorkTrial>(&text).unwrap(), trial);
    }
}
