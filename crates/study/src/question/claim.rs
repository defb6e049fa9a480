//! A question as a value: who is claimed to be what, where.

use serde::{Deserialize, Serialize};

use crate::plan::Metric;

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// It says `must`: answered no, the run exits with 3.
    pub must: bool,
    /// What is claimed.
    pub claim: Claim,
    /// Of which loads it is claimed.
    pub scope: Scope,
}

/// What is claimed. Datastores are named as in the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Claim {
    /// One datastore against another.
    Compared {
        /// The datastore of which it is claimed.
        subject: String,
        /// The datastore that it is held against.
        object: String,
        /// How they compare.
        relation: Relation,
        /// In which metric; `None`: the study's.
        metric: Option<Metric>,
    },
    /// Whether factors change a metric at all.
    Depends {
        /// Which metric.
        metric: Metric,
        /// `false`: that it does not.
        depends: bool,
        /// On which factors, each once.
        factors: Vec<Factor>,
        /// And on how they act together: each pair of the factors.
        interaction: bool,
    },
    /// A metric that goes up or down with the load.
    Trend {
        /// Which metric.
        metric: Metric,
        /// Of which datastore.
        datastore: String,
        /// Up (`true`) or down.
        grows: bool,
        /// With which load.
        along: LoadFactor,
    },
    /// A metric held against a number.
    Bounded {
        /// Which metric.
        metric: Metric,
        /// Of which datastore.
        datastore: String,
        /// On which side of the number.
        bound: Bound,
        /// The number, in the metric's unit: I/Os a second, bytes a second, nanoseconds, or a
        /// fraction.
        limit: f64,
    },
}

impl Claim {
    /// The metric that is claimed something of; `None`: the study's.
    pub fn metric(&self) -> Option<Metric> {
        match self {
            Claim::Compared { metric, .. } => *metric,
            Claim::Depends { metric, .. }
            | Claim::Trend { metric, .. }
            | Claim::Bounded { metric, .. } => Some(*metric),
        }
    }
}

/// How two datastores compare. Percentages are those of the object's value, as written: 20 for
/// 20 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "relation")]
pub enum Relation {
    /// Different, whichever way.
    Differs,
    /// The same but for less than the study's margin.
    Equal,
    /// Their ratio lies between 1/(1 + P) and 1 + P.
    Within {
        /// P.
        percent: f64,
    },
    /// Changed this way by more than P.
    AtLeast {
        /// Which way.
        change: Change,
        /// P; 0: at all.
        percent: f64,
    },
    /// Changed this way by less than P, or the other way.
    AtMost {
        /// Which way.
        change: Change,
        /// P.
        percent: f64,
    },
}

/// Which way a value differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Better: more IOPS, less latency.
    Faster,
    /// Worse.
    Slower,
    /// A smaller value.
    Lower,
    /// A larger value.
    Higher,
}

impl Change {
    /// Whether the value of this metric is then larger.
    pub fn is_up(self, metric: Metric) -> bool {
        match self {
            Change::Faster => metric.higher_is_better(),
            Change::Slower => !metric.higher_is_better(),
            Change::Lower => false,
            Change::Higher => true,
        }
    }
}

/// A factor of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// Which datastore.
    Datastore,
    /// Which workload.
    Workload,
    /// How many virtual disks at once.
    Vms,
    /// How many outstanding I/Os a VM.
    Outstanding,
}

impl Factor {
    /// All, in the order of a study file.
    pub const ALL: [Factor; 4] =
        [Factor::Datastore, Factor::Workload, Factor::Vms, Factor::Outstanding];

    /// Its name in questions and tables.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Datastore => "datastore",
            Factor::Workload => "workload",
            Factor::Vms => "vms",
            Factor::Outstanding => "outstanding",
        }
    }
}

/// A factor whose levels are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadFactor {
    /// How many virtual disks at once.
    Vms,
    /// How many outstanding I/Os a VM.
    Outstanding,
}

impl LoadFactor {
    /// As a factor like the others.
    pub fn factor(self) -> Factor {
        match self {
            LoadFactor::Vms => Factor::Vms,
            LoadFactor::Outstanding => Factor::Outstanding,
        }
    }
}

/// On which side of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Above it.
    AtLeast,
    /// Below it.
    AtMost,
}

/// Of which loads a claim is made. An empty list is all levels of the study.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Workloads by name.
    pub workloads: Vec<String>,
    /// Levels of `vms`.
    pub vms: Vec<u32>,
    /// Levels of `outstanding`.
    pub outstanding: Vec<u32>,
    /// It has to hold at each load, not on average over them.
    pub everywhere: bool,
}
