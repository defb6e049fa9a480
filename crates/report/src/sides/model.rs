//! Sides, and what their runs say of each load.

use stormeter_statistics::Verdict;
use stormeter_statistics::runs::RunsCompared;
use stormeter_study::Metric;

/// Runs of several sides; the first side is the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// At least one.
    pub sides: Vec<Side>,
    /// The loads that the baseline and another side have, or all of a single side.
    pub loads: Vec<SidesLoad>,
    /// Loads that only one side has.
    pub only_in: Vec<OnlyIn>,
    /// The metric that decides.
    pub primary: Metric,
    /// Confidence level of the intervals, such as 0.95.
    pub level: f64,
    /// Differences within this share are equivalent.
    pub margin: f64,
}

/// A side.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// Its runs, in the order in which they were named.
    pub runs: Vec<SideRun>,
}

/// A run of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct SideRun {
    /// The file that it is from.
    pub file: String,
    /// The program that made it, with its version where that is known.
    pub made_by: String,
    /// When it began, in milliseconds since 1970-01-01 UTC, if that is known.
    pub began_unix_ms: Option<u64>,
    /// Why its figures are not used.
    pub invalid: Option<String>,
}

/// A load, and what each side did under it.
#[derive(Debug, Clone, PartialEq)]
pub struct SidesLoad {
    /// The load, with the datastore before it where sides have several.
    pub name: String,
    /// What keeps runs from being compared.
    pub unlike: Vec<Unlike>,
    /// Metrics that at least one side has.
    pub metrics: Vec<SideMetric>,
}

/// In what runs differ that should not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// The side; the baseline's place if its own runs differ.
    pub side: usize,
    /// In what: the load, the machine.
    pub aspect: &'static str,
    /// What the baseline's runs have.
    pub baseline: String,
    /// What the side's runs have.
    pub other: String,
    /// Whether it was allowed.
    pub is_allowed: bool,
}

/// A metric of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct SideMetric {
    /// Which.
    pub metric: Metric,
    /// By side.
    pub values: Vec<Option<SideValue>>,
}

/// What a side's runs say of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct SideValue {
    /// Geometric mean of the runs, in the metric's unit.
    pub value: f64,
    /// How many runs have it.
    pub runs: usize,
    /// Standard deviation between the runs, as a share; `None` for a single run.
    pub between_runs: Option<f64>,
    /// Against the baseline; `None` for the baseline, and where that has no value.
    pub compared: Option<RunsCompared>,
}

/// A load that one side has alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnlyIn {
    /// The side's place.
    pub side: usize,
    /// The load.
    pub load: String,
}

impl Sides {
    /// The verdict of a comparison of a load: invalid where its runs are not alike.
    pub fn verdict(&self, load: &SidesLoad, side: usize, compared: &RunsCompared) -> Verdict {
        match load.keeps_apart(side) {
            true => Verdict::Invalid,
            false => compared.verdict,
        }
    }

    /// The verdicts on the deciding metric: the load's place, the side's, the verdict.
    pub fn verdicts(&self) -> Vec<(usize, usize, Verdict)> {
        let mut found = Vec::new();
        for (place, load) in self.loads.iter().enumerate() {
            let primary = load.metrics.iter().find(|it| it.metric == self.primary);
            let Some(primary) = primary.or(load.metrics.first()) else { continue };
            for (side, value) in primary.values.iter().enumerate() {
                if let Some(compared) = value.as_ref().and_then(|it| it.compared.as_ref()) {
                    found.push((place, side, self.verdict(load, side, compared)));
                }
            }
        }
        found
    }
}

impl SidesLoad {
    /// Whether a side's runs differ from the baseline's in a way that was not allowed, or the baseline's among
    /// themselves.
    pub(crate) fn keeps_apart(&self, side: usize) -> bool {
        self.unlike.iter().any(|it| !it.is_allowed && (it.side == side || it.side == 0))
    }
}
