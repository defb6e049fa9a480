//! Why a trial produced no measurement.
//!
//! Whether the storage is to blame decides what is concluded about it, so it is part of the value and not of a
//! sentence: a datastore that fails in some trials and is fast in the others is not fast, while a trial that was
//! spoilt by external causes is only one trial fewer.

use serde::{Deserialize, Serialize};

use crate::model_note::Loss;
use crate::sample::{Ended, IoFailure, Sample};
use crate::verified::Corruption;

/// Why a trial produced no measurement. Messages from elsewhere (a server, an operating system, a
/// command) are text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "cause")]
pub enum TrialFailure {
    /// It ended before its time was up or its work was done.
    EndedEarly {
        /// How it ended.
        ended: Ended,
        /// The first I/O that failed, if one did.
        first: Option<IoFailure>,
        /// The first block that did not hold what was written, if one was found.
        corruption: Option<Corruption>,
    },
    /// The datastore's disks could not be opened or prepared.
    Datastore {
        /// The message from its kind of storage.
        said: String,
    },
    /// A host could not do its share.
    OnHost {
        /// Its name in the study.
        host: String,
        /// Its message.
        said: String,
    },
    /// In a prediction: requests failed because their data was lost.
    BytesLost {
        /// How the trial ended.
        ended: Ended,
        /// The first I/O that failed.
        first: Option<IoFailure>,
        /// The losses.
        losses: Vec<Loss>,
    },
    /// The agent on a host, or the connection to it, failed.
    Agent {
        /// The host's name in the study.
        host: String,
        /// What happened, as the rest of a sentence.
        said: String,
    },
    /// The state from which the trial should have started could not be established.
    Reset {
        /// What happened.
        said: String,
    },
    /// A step that should have disturbed the storage failed.
    Step {
        /// The step, as in the study.
        step: String,
        /// What happened.
        said: String,
    },
    /// The two clocks disagree about the trial's length, so no latency can be trusted.
    ClocksDisagree {
        /// By this fraction of the length.
        share: f64,
    },
    /// The trial cannot be executed as planned.
    Impossible {
        /// The reason.
        said: String,
    },
    /// Stored by a version that kept only the sentence.
    Early {
        /// The sentence.
        said: String,
        /// Whether that version blamed the storage.
        by_storage: bool,
    },
}

impl TrialFailure {
    /// The failure of a trial that left this sample, if it did not finish.
    pub fn of_ended(sample: &Sample) -> Option<Self> {
        (sample.ended != Ended::Completed).then(|| {
            let corruptions = sample.verified.as_ref().map(|found| found.corruptions.as_slice());
            Self::EndedEarly {
                ended: sample.ended.clone(),
                first: sample.io_failures.first().cloned(),
                corruption: corruptions.and_then(<[_]>::first).cloned(),
            }
        })
    }

    /// Whether the storage is to blame, rather than the measurement or its environment.
    pub fn is_by_storage(&self) -> bool {
        match self {
            Self::EndedEarly { .. }
            | Self::Datastore { .. }
            | Self::OnHost { .. }
            | Self::BytesLost { .. } => true,
            Self::Agent { .. }
            | Self::Reset { .. }
            | Self::Step { .. }
            | Self::ClocksDisagree { .. }
            | Self::Impossible { .. } => false,
            Self::Early { by_storage, .. } => *by_storage,
        }
    }
}

impl std::fmt::Display for TrialFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EndedEarly { ended, first, corruption } => {
                write!(f, "{ended}")?;
                if let Some(first) = first {
                    write!(f, "; first: {first}")?;
                }
                match corruption {
                    Some(corruption) => write!(f, "; a block was wrong: {corruption}"),
                    None => Ok(()),
                }
            }
            Self::BytesLost { ended, first, losses } => {
                match ended {
                    Ended::Completed => f.write_str("I/Os failed")?,
                    ended => write!(f, "{ended}")?,
                }
                if let Some(first) = first {
                    write!(f, "; first: {first}")?;
                }
                losses.iter().try_for_each(|loss| write!(f, "; {loss}"))
            }
            Self::OnHost { host, said } => write!(f, "on host {host}: {said}"),
            Self::Agent { host, said } => write!(f, "the agent on host {host} {said}"),
            Self::Step { step, said } => write!(f, "the step `{step}` failed: {said}"),
            Self::ClocksDisagree { share } => write!(
                f,
                "the processor's counter and the system's clock disagree by {:.1} % about the length of the trial, \
                 so no latency can be trusted; was the machine suspended or moved?",
                share * 100.0
            ),
            Self::Datastore { said }
            | Self::Reset { said }
            | Self::Impossible { said }
            | Self::Early { said, .. } => f.write_str(said),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_to_blame_is_no_matter_of_words() {
        let said = || "the agent on host h1 said: the reset command failed".to_string();
        assert!(TrialFailure::Datastore { said: said() }.is_by_storage());
        assert!(!TrialFailure::Reset { said: "no such disk".into() }.is_by_storage());
        let agent = TrialFailure::Agent { host: "h1".into(), said: "does not answer".into() };
        assert_eq!(agent.to_string(), "the agent on host h1 does not answer");
        assert!(!agent.is_by_storage());
    }
}
