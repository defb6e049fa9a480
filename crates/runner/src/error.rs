//! Why a run failed.

use stormeter_datastore::{DatastoreError, UrlError};
use stormeter_results::ResultsError;
use stormeter_study::PlanError;
use stormeter_trial::{FixedWorkError, TargetUnknown, TrialFailure};

use crate::study::ResetError;

/// What stopped a run before or between its trials. A failure within a trial is the outcome of that trial, not an
/// error.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A datastore's name.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// A datastore that cannot be used.
    #[error("{}", named(url, source))]
    Datastore {
        /// The datastore's URL.
        url: String,
        /// The reason.
        #[source]
        source: DatastoreError,
    },
    /// The metric needs a server on this machine.
    #[error("{url} has no target CPU time to compare: {source}")]
    NoTarget {
        /// The datastore's URL.
        url: String,
        /// The reason.
        #[source]
        source: TargetUnknown,
    },
    /// The results file.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The results file is that of a measurement.
    #[error(
        "{path} holds measured results, which a prediction does not replace; choose another results file"
    )]
    Measured {
        /// Its path.
        path: String,
    },
    /// The results file of an earlier prediction is in the way.
    #[error("the earlier prediction {path} cannot be replaced: {source}")]
    Replace {
        /// Its path.
        path: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The results file belongs to another plan.
    #[error(
        "{path} holds a run with another {what}; resume it as it was started, or choose another results file"
    )]
    OtherPlan {
        /// The file.
        path: String,
        /// What differs.
        what: String,
    },
    /// The state before a trial.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// A step of the study's trials that cannot be executed.
    #[error("the step `{step}` at {at} cannot be executed: {reason}")]
    Step {
        /// The step.
        step: String,
        /// Its time, with the unit.
        at: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// The effects of a trial's steps were not undone.
    #[error(
        "the effects of the steps of a trial were not undone, so no other trial is started: {0}; undo them by \
         hand, then run the same command again to resume"
    )]
    NotRestored(String),
    /// The time limit is too short for the fewest blocks that yield a verdict.
    #[error(
        "a time limit of {limit} leaves no room for two blocks of {trials} trials of {trial} each; use a longer \
         time limit or shorter trials"
    )]
    TimeLimit {
        /// The limit.
        limit: String,
        /// Trials in a block.
        trials: usize,
        /// Ramp and window of a trial.
        trial: String,
    },
    /// The buffers do not fit into memory.
    #[error(
        "the buffers of {outstanding} outstanding I/Os need {needed}, but {available} of memory \
         are available; use fewer VMs, fewer outstanding I/Os or smaller requests"
    )]
    Memory {
        /// I/Os outstanding at once.
        outstanding: u64,
        /// A size with its unit.
        needed: String,
        /// A size with its unit.
        available: String,
    },
    /// A datastore that stores nothing cannot be verified.
    #[error("{0} stores nothing that could be read back; leave out verify, or that datastore")]
    VerifyNull(String),
    /// The expectations of all blocks do not fit into memory.
    #[error(
        "verify needs {needed} to know the last write of every block, but {available} of memory \
         are available; use fewer VMs or smaller disks, or leave out verify"
    )]
    VerifyMemory {
        /// A size with its unit.
        needed: String,
        /// A size with its unit.
        available: String,
    },
    /// A trial of fixed work that is impossible.
    #[error(transparent)]
    FixedWork(#[from] FixedWorkError),
    /// A model cannot run the trial.
    #[error("{0}")]
    Model(String),
    /// A client and its server could not be connected on this machine.
    #[error(
        "no connection could be made over this machine's loopback address ({0}); is 127.0.0.1 up, \
         and does a firewall leave it alone?"
    )]
    Loopback(String),
    /// The clients of a transfer, on another machine, did not connect to its servers.
    #[error("the clients of the transfer could not connect: {0}")]
    TransferListener(String),
    /// A host refused its share, or failed.
    #[error("on host {host}: {reason}")]
    OnHost {
        /// Its name in the study.
        host: String,
        /// Its message.
        reason: String,
    },
    /// The agent on a host cannot be reached, or was lost.
    #[error("the agent on host {host} {reason}")]
    Agent {
        /// Its name in the study.
        host: String,
        /// What happened, as the rest of a sentence.
        reason: String,
    },
    /// The study names hosts that this process cannot reach.
    #[error("{0}")]
    Hosts(String),
    /// An invalid request.
    #[error("invalid request: {0}")]
    Order(String),
    /// A driving thread did not start.
    #[error(
        "a driving thread could not be started ({0}); raise the limit of processes (ulimit -u)"
    )]
    Thread(String),
    /// The same datastore failed again and again.
    #[error("{url} failed in {trials} trials and has no result: {failure}")]
    KeepsFailing {
        /// The datastore's URL.
        url: String,
        /// The number of failed trials.
        trials: u32,
        /// The reason of the last failure.
        failure: Box<TrialFailure>,
    },
    /// Machines cannot be made there.
    #[error("{url}: {reason}")]
    Machines {
        /// The datastore's URL.
        url: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// The ceiling of a path to storage needs a null server, which did not start.
    #[error("the null server did not start: {0}")]
    NullServer(String),
    /// Cancelled before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

impl RunError {
    /// The failure of the trial that ended with this error, if it concerns only that trial: opening or resetting may work
    /// in the next one, or on another datastore.
    ///
    /// # Errors
    /// The error itself, if every other trial would fail, too.
    pub(crate) fn of_trial(self) -> Result<TrialFailure, RunError> {
        match self {
            RunError::Datastore { .. } => Ok(TrialFailure::Datastore { said: self.to_string() }),
            RunError::OnHost { host, reason } => Ok(TrialFailure::OnHost { host, said: reason }),
            RunError::Agent { host, reason } => Ok(TrialFailure::Agent { host, said: reason }),
            RunError::Reset(error) => Ok(TrialFailure::Reset { said: error.to_string() }),
            RunError::FixedWork(error) => Ok(TrialFailure::Impossible { said: error.to_string() }),
            RunError::Model(said) => Ok(TrialFailure::Impossible { said }),
            error => Err(error),
        }
    }
}

/// The reason, prefixed with the datastore's URL unless it contains it.
fn named(url: &str, source: &DatastoreError) -> String {
    let reason = source.to_string();
    let place = url.split('?').next().unwrap_or(url);
    let is_place = |word: &str| word.trim_end_matches(':').split('?').next() == Some(place);
    if reason.split(' ').any(is_place) { reason } else { format!("{url}: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datastore_is_named_once() {
        let error = |url: &str, source| RunError::Datastore { url: url.into(), source }.to_string();
        let missing = || DatastoreError::Missing { path: "/srv/vm".into() };
        assert!(error("/srv/vm", missing()).starts_with("/srv/vm does not exist"));
        assert!(error("/srv/vm?direct=0", missing()).starts_with("/srv/vm does not exist"));
        assert!(error("/srv/vm", DatastoreError::EmptyBlock).starts_with("/srv/vm: the block"));
        let url = "iscsi://nas1:3260/iqn.2026-01.example:vm/1?sessions=2";
        let silent =
            || DatastoreError::NoSession { name: url.into(), reason: "nas1: no answer".into() };
        assert_eq!(error(url, silent()), format!("{url} opens no session: nas1: no answer"));
    }
}
