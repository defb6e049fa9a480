//! Why a comparison could not be carried out.

use stormeter_datastore::{DatastoreError, UrlError};
use stormeter_results::ResultsError;
use stormeter_study::PlanError;
use stormeter_trial::{FixedWorkError, TargetUnknown, TrialFailure};

use crate::study::ResetError;

/// What stopped a comparison before or between its trials. What goes wrong within a trial is that
/// trial's outcome, not an error.
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
        /// Which.
        url: String,
        /// Why.
        #[source]
        source: DatastoreError,
    },
    /// The metric needs a server on this machine.
    #[error("{url} has no target CPU time to compare: {source}")]
    NoTarget {
        /// Which datastore.
        url: String,
        /// Why.
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
        /// Where it is.
        path: String,
    },
    /// The results file of an earlier prediction is in the way.
    #[error("the earlier prediction {path} cannot be replaced: {source}")]
    Replace {
        /// Where it is.
        path: String,
        /// Why.
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
    /// A step of the study's trials that cannot be taken.
    #[error("the step `{step}` at {at} cannot be taken: {reason}")]
    Step {
        /// What was to be done.
        step: String,
        /// When, with its unit.
        at: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// What the steps of a trial changed stays changed.
    #[error(
        "what the steps of a trial broke is not whole again, so no other trial is begun: {0}; mend it \
         by hand, then run the same command again to go on"
    )]
    NotRestored(String),
    /// The time is too short for the least that gives a verdict.
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
        /// Bytes, written out.
        needed: String,
        /// Bytes, written out.
        available: String,
    },
    /// Nothing can be verified where nothing is kept.
    #[error("{0} keeps nothing that could be read back; leave out verify, or that datastore")]
    VerifyNull(String),
    /// What is known of each block does not fit into memory.
    #[error(
        "verify needs {needed} to know the last write of every block, but {available} of memory \
         are available; use fewer VMs or smaller disks, or leave out verify"
    )]
    VerifyMemory {
        /// Bytes, written out.
        needed: String,
        /// Bytes, written out.
        available: String,
    },
    /// A trial of fixed work that cannot be done.
    #[error(transparent)]
    FixedWork(#[from] FixedWorkError),
    /// A model cannot carry out the trial.
    #[error("{0}")]
    Model(String),
    /// A client and its server could not be joined on this machine.
    #[error(
        "no connection could be made over this machine's loopback address ({0}); is 127.0.0.1 up, \
         and does a firewall leave it alone?"
    )]
    Loopback(String),
    /// The servers of a transfer and its clients on another machine did not come together.
    #[error("the clients of the transfer could not be let in: {0}")]
    TransferListener(String),
    /// A host refuses or fails what it was asked to do.
    #[error("on host {host}: {reason}")]
    OnHost {
        /// Which, by its name in the study.
        host: String,
        /// What it says.
        reason: String,
    },
    /// The agent on a host cannot be reached, or no longer.
    #[error("the agent on host {host} {reason}")]
    Agent {
        /// Which, by its name in the study.
        host: String,
        /// What happened, as the rest of a sentence.
        reason: String,
    },
    /// The study names hosts that this process has no way to.
    #[error("{0}")]
    Hosts(String),
    /// An order that makes no sense.
    #[error("the order cannot be carried out: {0}")]
    Order(String),
    /// A driving thread did not come up.
    #[error(
        "a driving thread could not be started ({0}); raise the limit of processes (ulimit -u)"
    )]
    Thread(String),
    /// The same datastore failed again and again.
    #[error("{url} failed in {trials} trials and gave no result: {failure}")]
    KeepsFailing {
        /// Which.
        url: String,
        /// How often.
        trials: u32,
        /// Why the last one did.
        failure: Box<TrialFailure>,
    },
    /// The ceiling of a way to storage needs a server that answers from nothing.
    #[error("the server that answers from nothing did not start: {0}")]
    NullServer(String),
    /// Asked to stop before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

impl RunError {
    /// The failure of the trial that ended with this error, if it is that trial's alone: what cannot be opened or
    /// reset any more may work in the next one, or on another datastore.
    ///
    /// # Errors
    /// The error, if no other trial would fare better.
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

/// The reason with the datastore's name before it, unless it names the place itself.
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
