//! A claim about one number: a ratio of datastores, a trend, a value.

use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use stormeter_study::question::{Bound, LoadFactor, Relation};

/// A claim about one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberClaim {
    /// About the ratio of two datastores.
    Compared {
        /// The datastore that the claim is about.
        subject: String,
        /// The datastore that it is compared with.
        object: String,
        /// The claimed relation.
        relation: Relation,
        /// The metric.
        metric: Metric,
    },
    /// About the change of a metric at each doubling of a load.
    Trend {
        /// The metric.
        metric: Metric,
        /// The datastore.
        datastore: String,
        /// Up (`true`) or down.
        grows: bool,
        /// The load.
        along: LoadFactor,
    },
    /// About a value of a metric.
    Bounded {
        /// The metric.
        metric: Metric,
        /// The datastore.
        datastore: String,
        /// On which side of the limit.
        bound: Bound,
        /// The limit, in the metric's unit.
        limit: f64,
    },
}

impl NumberClaim {
    /// The metric.
    pub fn metric(&self) -> Metric {
        match self {
            Self::Compared { metric, .. }
            | Self::Trend { metric, .. }
            | Self::Bounded { metric, .. } => *metric,
        }
    }

    /// The metric in whose unit the number is; `None` for a ratio.
    pub fn unit(&self) -> Option<Metric> {
        match self {
            Self::Bounded { metric, .. } => Some(*metric),
            Self::Compared { .. } | Self::Trend { .. } => None,
        }
    }
}
