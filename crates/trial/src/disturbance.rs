//! What was done to the storage during the measurement, and whether throughput recovered from it.

use serde::{Deserialize, Serialize};

/// A step that was taken during a trial. Times are nanoseconds since the window opened, negative during
/// the ramp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// The step, as in the study.
    pub what: String,
    /// The planned time.
    pub planned_ns: i64,
    /// When it was started.
    pub begun_ns: i64,
    /// How long it took.
    pub took_ns: u64,
    /// The reason if it failed.
    #[serde(default)]
    pub failure: Option<String>,
}

impl Disturbance {
    /// When it was finished.
    pub fn done_ns(&self) -> i64 {
        self.begun_ns.saturating_add_unsigned(self.took_ns)
    }
}

/// How long until throughput had recovered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// After this many nanoseconds, or up to one interval less.
    After(u64),
    /// Not within the trial, which continued for this many nanoseconds.
    NotWithin(u64),
    /// The next step came first.
    Overtaken,
}
