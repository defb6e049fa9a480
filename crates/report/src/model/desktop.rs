//! Desktops on demand, in a study's report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_trial::DesktopRow;

/// The users and desktops of a cell: means over its measured trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyDesktopCell {
    /// The cell, by its place in `cells`.
    pub cell: usize,
    /// Users who came.
    pub came: f64,
    /// Users who got a usable desktop.
    pub served: f64,
    /// Users for whom a desktop was ready.
    pub at_once: f64,
    /// Users who were refused.
    pub refused: f64,
    /// Users who went away.
    pub gone: f64,
    /// Users who still waited when the window closed.
    pub waiting: f64,
    /// Users whose desktop died, and who got another.
    pub replaced: f64,
    /// Median wait of those who were served, in nanoseconds, over all trials; `None` if nobody was.
    pub wait_p50_ns: Option<f64>,
    /// 95th percentile.
    pub wait_p95_ns: Option<f64>,
    /// Desktops that were made.
    pub deployed: f64,
    /// Desktops that could not be made.
    pub failed: f64,
    /// Desktops that died after they had been made.
    pub died: f64,
    /// Desktops taken apart because their users were idle for too long.
    pub idled_out: f64,
    /// The most storage that desktops reserved in a trial, in bytes.
    pub storage_most_bytes: u64,
    /// The steps of making a desktop.
    pub steps: Vec<StudyDesktopStep>,
    /// Mean time of all steps together, in nanoseconds; `None` if one was never done.
    pub total_ns: Option<f64>,
    /// That time divided by the one of the baseline's cell at the same load; `None` for the baseline.
    pub total_ratio: Option<f64>,
}

/// A step of making a desktop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyDesktopStep {
    /// `copy`, `setting`, `deployment` or `configure`.
    pub name: String,
    /// Its mean time, in nanoseconds; `None` if it was never done.
    pub mean_ns: Option<f64>,
}

/// The users and desktops of a cell over the window: means over its measured trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesktopTrace {
    /// The cell.
    pub cell: usize,
    /// The rows of the window.
    pub rows: Vec<DesktopRow>,
}
