//! A question as a value: the claim and its scope.

use serde::{Deserialize, Serialize};

use crate::plan::Metric;

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// It says `must`: if answered no, the run exits with 3.
    pub must: bool,
    /// The claim.
    pub claim: Claim,
    /// The loads to which the claim applies.
    pub scope: Scope,
}

/// A claim. Datastores and workloads are named as in the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Claim {
    /// One datastore compared with another, or one workload with another on the same datastore. A name of both is the
    /// datastore's.
    Compared {
        /// What the claim is about.
        subject: String,
        /// What it is compared with.
        object: String,
        /// The claimed relation.
        relation: Relation,
        /// The metric; `None`: the study's.
        metric: Option<Metric>,
    },
    /// Whether factors affect a metric.
    Depends {
        /// The metric.
        metric: Metric,
        /// `false`: that it does not.
        depends: bool,
        /// The factors, each once.
        factors: Vec<Factor>,
        /// And on their interactions: each pair of the factors.
        interaction: bool,
    },
    /// A metric that goes up or down with the load.
    Trend {
        /// The metric.
        metric: Metric,
        /// The datastore.
        datastore: String,
        /// Up (`true`) or down.
        grows: bool,
        /// The load factor.
        along: LoadFactor,
    },
    /// A metric compared with a number.
    Bounded {
        /// The metric.
        metric: Metric,
        /// The datastore.
        datastore: String,
        /// On which side of the number.
        bound: Bound,
        /// The number, in the metric's unit: I/Os per second, bytes per second, nanoseconds, or a
        /// fraction.
        limit: f64,
    },
}

impl Claim {
    /// The metric of the claim; `None`: the study's.
    pub fn metric(&self) -> Option<Metric> {
        match self {
            Claim::Compared { metric, .. } => *metric,
            Claim::Depends { metric, .. }
            | Claim::Trend { metric, .. }
            | Claim::Bounded { metric, .. } => Some(*metric),
        }
    }
}

/// How two datastores or workloads compare. Percentages are those of the object's value, as written: 20 for
/// 20 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "relation")]
pub enum Relation {
    /// Different, in either direction.
    Differs,
    /// Equal to within the study's margin.
    Equal,
    /// Their ratio is between 1/(1 + P) and 1 + P.
    Within {
        /// P.
        percent: f64,
    },
    /// Changed in this direction by more than P.
    AtLeast {
        /// The direction.
        change: Change,
        /// P; 0: at all.
        percent: f64,
    },
    /// Changed in this direction by less than P, or in the other direction.
    AtMost {
        /// The direction.
        change: Change,
        /// P.
        percent: f64,
    },
}

/// The direction of a difference.
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
    /// The datastore.
    Datastore,
    /// The workload.
    Workload,
    /// The number of virtual disks at once.
    Vms,
    /// Outstanding I/Os per VM.
    Outstanding,
}

impl Factor {
    /// All factors, in the order of a study file.
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
    /// The number of virtual disks at once.
    Vms,
    /// Outstanding I/Os per VM.
    Outstanding,
}

impl LoadFactor {
    /// As a [`Factor`].
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

/// The loads to which a claim applies. An empty list means all levels of the study.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Workloads by name.
    pub workloads: Vec<String>,
    /// Where workloads are compared, datastores by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datastores: Vec<String>,
    /// Levels of `vms`.
    pub vms: Vec<u32>,
    /// Levels of `outstanding`.
    pub outstanding: Vec<u32>,
    /// It has to hold at each load, not on average over them.
    pub everywhere: bool,
    /// Only loads count whose writes are durable or flushed.
    #[serde(default)]
    pub durably: bool,
}
