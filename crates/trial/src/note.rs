//! What a reader of a trial should know about how it was measured, as facts.

use serde::{Deserialize, Serialize};
use stormeter_disk::{DatastoreFact, DeviceError, EngineNote};

use crate::model_note::ModelNote;

/// A note about a trial.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrialNote {
    /// The host it is about, by its name in the study; `None` if the trial ran on one host only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// It is about the clients of a transfer, not its servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_clients: bool,
    /// The note itself.
    #[serde(flatten)]
    pub fact: NoteFact,
}

impl From<NoteFact> for TrialNote {
    fn from(fact: NoteFact) -> Self {
        Self { host: None, of_clients: false, fact }
    }
}

/// The content of a note. Messages from elsewhere are text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "note")]
pub enum NoteFact {
    /// The I/O engine did not get all that it asked the kernel for.
    Engine {
        /// What it lacks.
        engine: EngineNote,
    },
    /// Disks were prepared for the trial, and something about their state is unknown.
    Prepared {
        /// What is known of it.
        disks: DatastoreFact,
    },
    /// A driving thread could not be pinned to a CPU.
    NotPinned,
    /// These files, which show the activity of the host, cannot be read.
    HostFilesUnreadable {
        /// Their paths.
        files: Vec<String>,
    },
    /// No thread could be started to watch the activity of the host.
    NoMonitor {
        /// The system's message.
        said: String,
    },
    /// The guests of the rack could not be watched, or not to the end.
    GuestsUnwatched {
        /// What was wrong.
        said: String,
    },
    /// The CPU time of the datastore's server is unknown.
    TargetUnknown {
        /// The reason.
        why: TargetUnknown,
    },
    /// The host learned of the common start after it.
    LateStart {
        /// The delay.
        late_ns: u64,
    },
    /// The start was repeated because a host learned of it too late.
    StartRepeated {
        /// Number of times.
        times: u32,
    },
    /// In a prediction: a remark of the model.
    Model {
        /// The remark.
        model: ModelNote,
    },
    /// Stored by a version that kept only the sentence.
    Early {
        /// The sentence.
        said: String,
    },
}

/// Why the CPU time of a datastore's server is unknown; the server is named by its address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum TargetUnknown {
    /// The storage is local, or the kernel's client connects to it.
    #[error(
        "it is not served over the network by a process; compare host-cpu-per-io, which is all that \
         this machine spends on it"
    )]
    NoServer,
    /// The server is on another machine.
    #[error(
        "its server {0} is on another machine; compare cpu-per-io, which is this machine's part"
    )]
    Elsewhere(String),
    /// Nothing in this network namespace listens on the server's address.
    #[error(
        "nothing in this network namespace listens on {0}, so the CPU time of the target is not \
         known; that of the host contains it"
    )]
    NoListener(String),
    /// The server is in the kernel, or in a container.
    #[error(
        "the server that listens on {0} is in the kernel or in a container and no process of its \
         own can be seen, so the CPU time of the target is not known; that of the host contains it"
    )]
    NoProcess(String),
    /// A program of this name passes the connections on.
    #[error(
        "connections to {0} are accepted by {1}, which passes them on, so the CPU time of the target is \
         not known; give the server's own address"
    )]
    Proxy(String, String),
    /// The connections leave this network namespace, to a container for example.
    #[error(
        "connections to {0} are led out of this network namespace, so whatever listens there serves \
         none of them and the CPU time of the target is not known; that of the host contains it"
    )]
    LedElsewhere(String),
    /// The server's process belongs to another user.
    #[error(
        "the process that listens on {0} belongs to another user, so the CPU time of the target is not \
         known; run as root or as the server's user"
    )]
    Hidden(String),
    /// The server's process ended.
    #[error(
        "the server's process {0} ended during the trial, so the CPU time of the target is not \
         known; see the server's log"
    )]
    Gone(i32),
    /// The CPU time of the server's process cannot be read.
    #[error(
        "the CPU time of the server's process {0} cannot be read ({1}); that of the host contains \
         it"
    )]
    Unreadable(i32, DeviceError),
}

impl TargetUnknown {
    /// Whether a reader might have expected the time to be known.
    pub fn is_worth_a_note(&self) -> bool {
        !matches!(self, TargetUnknown::NoServer | TargetUnknown::Elsewhere(_))
    }
}
