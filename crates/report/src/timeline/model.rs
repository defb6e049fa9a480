//! A time line of runs, and what each of them says of a cell.

use stormeter_statistics::runs::RunsCompared;
use stormeter_statistics::{Interval, Verdict};
use stormeter_study::Metric;

use crate::sides::{SideRun, Sides};

/// Runs in the order in which they were run.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// At least two.
    pub runs: Vec<TimelineRun>,
    /// The moments that split them, the earliest first.
    pub marks: Vec<Mark>,
    /// The cells that two runs or more have.
    pub cells: Vec<TimelineCell>,
    /// The cells that one run has alone.
    pub lone: Vec<TimelineLone>,
    /// By mark: the runs before it against those after it. Their verdicts hold together.
    pub compared: Vec<Sides>,
    /// Whether every run says when it began; otherwise the order is the one in which they were named.
    pub is_dated: bool,
    /// The metric that decides.
    pub primary: Metric,
    /// Confidence level of the intervals, such as 0.95.
    pub level: f64,
}

/// A run with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineRun {
    /// The name; no other run has it.
    pub name: String,
    /// Where it is from.
    pub run: SideRun,
}

/// Something that happened between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// Whether the time of the day is known; otherwise it is the start of the day.
    pub has_time: bool,
    /// What.
    pub label: String,
}

/// A load on a datastore, over the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineCell {
    /// The load, with the datastore before it where runs have several.
    pub name: String,
    /// In what runs differ from those before them.
    pub changes: Vec<TimelineChange>,
    /// The main metrics that a run has.
    pub metrics: Vec<TimelineMetric>,
}

/// In what a run differs from the one before it that has the cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineChange {
    /// The run's place.
    pub run: usize,
    /// In what: the load, the machine.
    pub aspect: &'static str,
    /// What the earlier run has.
    pub earlier: String,
    /// What this one has.
    pub later: String,
    /// Whether it was allowed.
    pub is_allowed: bool,
}

/// A metric of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineMetric {
    /// Which.
    pub metric: Metric,
    /// By run.
    pub values: Vec<Option<TimelineValue>>,
}

/// What a run says of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineValue {
    /// The value, in the metric's unit.
    pub value: f64,
    /// Its interval by what happened within the run.
    pub within: Option<Interval>,
    /// Against the last run before it that has a value, and whether the two are alike.
    pub previous: Option<(RunsCompared, bool)>,
    /// Against the first run that has a value, and whether the two are alike.
    pub first: Option<(RunsCompared, bool)>,
}

/// A cell that one run has alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineLone {
    /// The run's place.
    pub run: usize,
    /// The cell.
    pub cell: String,
}

impl Timeline {
    /// The verdicts at the marks on the deciding metric.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.compared.iter().flat_map(Sides::verdicts).map(|(.., verdict)| verdict)
    }

    /// How many runs are before a mark, by its place.
    pub(super) fn before(&self, mark: usize) -> usize {
        let at = self.marks[mark].at_unix_ms;
        let is_before = |run: &&TimelineRun| run.run.began_unix_ms.is_some_and(|began| began < at);
        self.runs.iter().filter(is_before).count()
    }
}
