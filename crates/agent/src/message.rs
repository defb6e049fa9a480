//! What a controller and an agent say to each other, as plain values.
//!
//! The controller speaks first: so an agent can wait on a virtual serial port, or in a guest that was
//! frozen and cloned, until somebody comes. Then each side says what it is; a number of the protocol that
//! both know is used, or they part.

use serde::{Deserialize, Serialize};
use stormeter_results::Environment;
use stormeter_runner::{
    OpenOrder, OpenedStores, PrepareOrder, PreparedStore, TrialEnd, TrialOrder,
};
use stormeter_trial::Interval;

/// The protocol of this version. It is raised when a message changes so that an older end would
/// misunderstand it.
pub const PROTOCOL: u32 = 5;

/// What an agent of this version can be asked to do.
pub(crate) const CAPABILITIES: [&str; 5] = ["prepare", "trial", "ceiling", "file", "transfer"];

/// From the controller to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Who speaks. Nothing comes before it.
    Hello {
        /// The protocols that the controller knows.
        protocols: Vec<u32>,
        /// Its version, for messages.
        version: String,
    },
    /// Open these datastores; those of before are removed.
    Open(OpenOrder),
    /// Write the disks of one.
    Prepare(PrepareOrder),
    /// What time is it? Answered at once, whatever else goes on.
    Ping {
        /// When it was sent, by the controller's clock; comes back as it is.
        sent_ns: u64,
    },
    /// Get ready for a trial.
    Trial(Box<TrialOrder>),
    /// Begin it then.
    Start {
        /// By the agent's own clock.
        at_ns: u64,
    },
    /// Give up what is being done, at once; it ends with [`Report::Cancelled`].
    Cancel,
    /// Remove the disks.
    CleanUp,
    /// Clean up if that was not done, and leave.
    Goodbye,
}

/// From an agent to the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// Who answers.
    Hello {
        /// The protocol to be spoken; 0 if it knows none of those that were named.
        protocol: u32,
        /// The agent's version.
        version: String,
        /// What it can be asked to do.
        capabilities: Vec<String>,
        /// Where it runs.
        facts: Box<HostFacts>,
    },
    /// The datastores are open.
    Opened(OpenedStores),
    /// Disks are being written.
    Preparing {
        /// Bytes done.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Disks are written.
    Prepared(PreparedStore),
    /// The answer to a ping.
    Pong {
        /// From the ping.
        sent_ns: u64,
        /// The agent's clock.
        now_ns: u64,
        /// Its time of day, in nanoseconds since 1970-01-01 UTC.
        unix_ns: u64,
    },
    /// The clients of a transfer are let in.
    Listening {
        /// At this port.
        port: u16,
    },
    /// All threads of the trial wait for its start.
    Ready,
    /// The start was heard of.
    Starting {
        /// How long after it; 0: before it, as it should be.
        late_ns: u64,
    },
    /// An interval of the trial ended.
    Interval(Interval),
    /// The trial ended.
    Done(Box<TrialEnd>),
    /// What was asked for last cannot be done.
    Failed {
        /// Why.
        reason: String,
    },
    /// Everything that was asked for before the cancel has ended.
    Cancelled,
    /// The disks are removed.
    CleanedUp {
        /// What stays and why.
        left: Vec<String>,
    },
    /// The last word.
    Goodbye,
}

/// The machine that an agent runs on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// What results files say of a machine.
    pub environment: Environment,
    /// Names the running kernel: agents with the same one see the same CPUs.
    pub boot_id: Option<String>,
}
