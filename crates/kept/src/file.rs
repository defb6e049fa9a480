//! One results file of a list: its place, and what is known of its content.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file of a directory of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// Its size with what SQLite keeps next to it, in bytes.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970-01-01 UTC.
    pub modified_unix_ms: u64,
    /// The same of the log that SQLite keeps next to it, which reading may touch, too; 0 without one.
    pub log_modified_unix_ms: u64,
    /// What it holds, or why it cannot be read.
    pub content: Result<Content, String>,
}

/// What a results file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// When the run started, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// When it ended; `None` while it runs or after it was killed.
    pub ended_unix_ms: Option<u64>,
    /// How far it got.
    pub state: State,
    /// Whether it is a prediction.
    pub is_predicted: bool,
    /// The programs that made it, with their versions: `stormeter 0.1.0`, `fio 3.33`.
    pub made_by: String,
    /// What it is of, and what it says.
    pub summary: Summary,
}

/// What is worded and counted elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The title of the study, or the datastores. Equal for runs of the same.
    pub subject: String,
    /// What the result says; empty if that was not asked.
    pub verdict: String,
    /// Trials measured; of results of other tools, runs.
    pub trials: u32,
    /// Trials that failed.
    pub failed_trials: u32,
    /// Time spent on trials, in nanoseconds; virtual time in a prediction.
    pub elapsed_ns: u64,
}

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It ended by itself.
    Complete,
    /// It is running now.
    Running,
    /// The user stopped it.
    Interrupted,
    /// Its process was killed.
    Killed,
    /// It could not continue.
    Failed,
    /// Results of other tools are kept in it.
    Imported,
}

impl State {
    /// The state in a word, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            State::Complete => "complete",
            State::Running => "running",
            State::Interrupted => "interrupted",
            State::Killed => "killed",
            State::Failed => "failed",
            State::Imported => "imported",
        }
    }

    /// Whether the run neither ended by itself nor is running.
    pub fn is_incomplete(self) -> bool {
        matches!(self, State::Interrupted | State::Killed | State::Failed)
    }
}

impl Content {
    /// Whether the command that started the run resumes it.
    pub fn is_resumable(&self) -> bool {
        self.state.is_incomplete() && !self.is_predicted
    }
}

impl Kept {
    /// By which moment the file is sorted and its age counted, in milliseconds since 1970-01-01 UTC: the start of the
    /// run, or the last writing of a file that cannot be read.
    pub fn at_unix_ms(&self) -> u64 {
        self.content.as_ref().map_or(self.modified_unix_ms, |content| content.started_unix_ms)
    }

    /// The last moment at which anything was added, in milliseconds since 1970-01-01 UTC. A file that was copied or
    /// resumed counts as new.
    pub fn last_used_unix_ms(&self) -> u64 {
        let ended = self.content.as_ref().ok().and_then(|content| content.ended_unix_ms);
        let written = self.modified_unix_ms.max(self.log_modified_unix_ms);
        written.max(self.at_unix_ms()).max(ended.unwrap_or(0))
    }
}
