//! A confidence interval, as cells and answers print it.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_schema::Number;
use stormeter_statistics::Interval;

/// A confidence interval; an unbounded end is null.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Interval")]
pub(super) struct Ends {
    /// The lower end.
    low: Number,
    /// The upper end.
    high: Number,
    /// Confidence level, 0.95 for 95 %.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    level: f64,
}

impl From<Interval> for Ends {
    fn from(interval: Interval) -> Self {
        Self { low: interval.low.into(), high: interval.high.into(), level: interval.level }
    }
}
