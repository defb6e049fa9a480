//! The messages between a controller and an agent, as plain values.
//!
//! The controller speaks first: an agent can therefore wait on a virtual serial port, or in a guest that
//! was frozen and cloned, until a controller connects. Then each side identifies itself; the newest
//! protocol that both know is used, or they disconnect.

use serde::{Deserialize, Serialize};
use stormeter_results::{DatastoreNote, Environment};
use stormeter_runner::{
    OpenOrder, OpenedStores, PrepareOrder, PreparedStore, Seen, TrialEnd, TrialOrder,
};
use stormeter_trial::Interval;

use crate::errand::{Errand, ErrandEnd};

/// This version's protocol number. It is raised when a message changes in a way that an older end
/// would misunderstand.
pub const PROTOCOL: u32 = 9;

/// What an agent of this version can do.
pub(crate) const CAPABILITIES: [&str; 6] =
    ["prepare", "trial", "ceiling", "file", "transfer", "errand"];

/// From the controller to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Identifies the sender. Nothing precedes it.
    Hello {
        /// The protocols that the controller knows.
        protocols: Vec<u32>,
        /// The controller's version, for messages.
        version: String,
    },
    /// Open these datastores; earlier ones are removed.
    Open(OpenOrder),
    /// Write the disks of a datastore.
    Prepare(PrepareOrder),
    /// Request the time. Answered at once, whatever else is in progress.
    Ping {
        /// When it was sent, by the controller's clock; returned unchanged.
        sent_ns: u64,
    },
    /// Prepare for a trial.
    Trial(Box<TrialOrder>),
    /// Start the trial at this time.
    Start {
        /// By the agent's own clock.
        at_ns: u64,
    },
    /// Run this program with other arguments.
    Errand(Errand),
    /// The answer to a line that an errand printed: its standard input.
    Answer {
        /// With the end of the line.
        text: String,
    },
    /// Cancel the current work, at once; it ends with [`Report::Cancelled`].
    Cancel,
    /// Remove the disks.
    CleanUp,
    /// Clean up, unless that is done already, and exit.
    Goodbye,
}

/// From an agent to the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// Identifies the agent.
    Hello {
        /// The protocol to use; 0 if it knows none of the offered ones.
        protocol: u32,
        /// The agent's version.
        version: String,
        /// What it can do.
        capabilities: Vec<String>,
        /// The machine that it runs on.
        facts: Box<HostFacts>,
    },
    /// The datastores are open.
    Opened(OpenedStores),
    /// Disks are being written.
    Preparing {
        /// Bytes written so far.
        done: u64,
        /// Bytes to write in total.
        total: u64,
    },
    /// Disks are written.
    Prepared(PreparedStore),
    /// The answer to a ping.
    Pong {
        /// Copied from the ping.
        sent_ns: u64,
        /// The agent's clock.
        now_ns: u64,
        /// Its time of day, in nanoseconds since 1970-01-01 UTC.
        unix_ns: u64,
    },
    /// Clients of the transfer are accepted.
    Listening {
        /// On this port.
        port: u16,
    },
    /// All threads of the trial are waiting for its start.
    Ready,
    /// The start was received.
    Starting {
        /// How late it was received, in nanoseconds; 0: in time, as it should be.
        late_ns: u64,
    },
    /// An interval of the trial ended.
    Interval(Interval),
    /// Something was seen of a trial that is watched.
    Seen(Seen),
    /// The trial ended.
    Done(Box<TrialEnd>),
    /// A line that an errand printed.
    Printed {
        /// Without its end.
        line: String,
    },
    /// An errand ended.
    ErrandEnded(ErrandEnd),
    /// The last request cannot be done.
    Failed {
        /// The reason.
        reason: String,
    },
    /// Everything that was requested before the cancel has ended.
    Cancelled,
    /// The disks are removed.
    CleanedUp {
        /// What remains and why.
        left: Vec<DatastoreNote>,
    },
    /// The last message.
    Goodbye,
}

/// The machine that an agent runs on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The machine's description in results files.
    pub environment: Environment,
    /// Identifies the running kernel: agents with the same one see the same CPUs.
    pub boot_id: Option<String>,
}
