//! What goes wrong: storage that is full, stands still or fails.

use stormeter_simulator::{FaultPlan, Stall};
use stormeter_trial::{DeviceError, Ended, IoFailureOutcome, Limits, UserClass};

use crate::trials::run_on;
use crate::{S, trial};

#[test]
fn storage_that_is_full_fails_copies_until_the_limit_and_users_keep_waiting() {
    let mut trial = trial();
    trial.load.class = Some(UserClass { users: 2, at_ns: 0 });
    trial.limits = Limits { max_io_failures: 5, ..Limits::default() };
    let full = FaultPlan { full_from: Some(40), ..FaultPlan::default() };
    let sample = run_on(&trial, full);
    assert_eq!(sample.ended, Ended::TooManyErrors);
    let totals = sample.desktops.as_ref().unwrap();
    assert_eq!((totals.usable, totals.waiting, totals.deployed), (0, 2, 0));
    assert!(totals.failed >= 5);
    let no_space = IoFailureOutcome::Failed(DeviceError::NO_SPACE);
    assert!(sample.io_failures.iter().all(|failure| failure.outcome == no_space));
    // A second passes between attempts, so it took a while.
    assert!(sample.window_ns > S);
}

#[test]
fn storage_that_never_answers_ends_the_trial_after_the_limit() {
    let mut trial = trial();
    trial.load.class = Some(UserClass { users: 2, at_ns: 0 });
    trial.load.broker.deploy_most_ns = 5 * S;
    trial.limits.stall_ns = 5 * S;
    let stall = Some(Stall { at_ns: S + S / 10, for_ns: u64::MAX });
    let sample = run_on(&trial, FaultPlan { stall, ..FaultPlan::default() });
    // Both were given up, and so were two more; all wait for I/Os that never return.
    assert_eq!(sample.ended, Ended::Stalled { outstanding: 4 });
    let totals = sample.desktops.as_ref().unwrap();
    assert_eq!((totals.failed, totals.waiting), (4, 2));
}

/// Nothing has happened for longer than the limit when the first user comes.
#[test]
fn a_quiet_hour_is_no_stall() {
    let mut trial = trial();
    trial.load.class = Some(UserClass { users: 1, at_ns: 3600 * S });
    trial.duration_ns = 3700 * S;
    trial.interval_ns = 100 * S;
    // Its storage takes longer than the loop looks away.
    let stall = Some(Stall { at_ns: 3601 * S, for_ns: S });
    let sample = run_on(&trial, FaultPlan { stall, ..FaultPlan::default() });
    assert_eq!(sample.ended, Ended::Completed);
    assert_eq!(sample.desktops.unwrap().usable, 1);
}
