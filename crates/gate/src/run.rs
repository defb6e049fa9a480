//! A run as a gate needs it: a value of each metric of each cell, and what has to be alike.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_statistics::Interval;
use stormeter_study::Metric;

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRun {
    /// Where it is from, such as a file's name.
    pub source: String,
    /// When it began, in seconds since 1970, if that is known.
    pub began_s: Option<f64>,
    /// What has to be alike, as far as it is known, part by part.
    pub made_with: Vec<(Aspect, Vec<String>)>,
    /// Its cells.
    pub cells: Vec<GateCell>,
    /// Why its figures cannot be used.
    pub invalid: Option<String>,
}

/// What has to be alike for two runs to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The program that made the load.
    Generator,
    /// Its version.
    Version,
    /// The machine that made the load.
    Machine,
    /// Size, duration and rate of the load.
    Load,
    /// What an acknowledged write means.
    Durability,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Generator, Self::Version, Self::Machine, Self::Load, Self::Durability];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Version => "version",
            Self::Machine => "machine",
            Self::Load => "load",
            Self::Durability => "durability",
        }
    }
}

/// One load on one datastore.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCell {
    /// Where.
    pub datastore: String,
    /// What.
    pub load: String,
    /// What has to be alike in this cell, part by part.
    pub made_with: Vec<(Aspect, Vec<String>)>,
    /// One value a metric.
    pub values: Vec<(Metric, f64)>,
    /// The intervals of values by what happened within the run, for those that have one.
    pub within: Vec<(Metric, Interval)>,
}

impl GateCell {
    /// Whether two cells are of one thing.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.datastore, &self.load) == (&other.datastore, &other.load)
    }

    /// Its value of a metric.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.values.iter().find(|(found, _)| *found == metric).map(|(_, value)| *value)
    }

    /// The interval of its value of a metric, by what happened within the run.
    pub fn within(&self, metric: Metric) -> Option<Interval> {
        self.within.iter().find(|(found, _)| *found == metric).map(|(_, interval)| *interval)
    }
}
