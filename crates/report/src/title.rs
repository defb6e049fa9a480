//! What metrics are called in a report, and in which unit their values are shown.
//!
//! An operation of desktops on demand is a user served: few of them come in a second, so they are counted by the hour.

use stormeter_study::{Cell, Metric, StudyPlan};

use crate::quantity::{Quantity, quantity};
use crate::svg::metric_tick;

const SECONDS_OF_AN_HOUR: f64 = 3600.0;

/// What the operations are that metrics are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Titles {
    /// I/Os, or whatever else has the usual titles.
    Usual,
    /// Users of desktops, served.
    Users,
}

impl Titles {
    /// Those of a study.
    pub(crate) fn of_study(plan: &StudyPlan) -> Self {
        if plan.is_of_desktops() { Titles::Users } else { Titles::Usual }
    }

    /// Those of a cell; of the study where there is none.
    pub(crate) fn of_cell(plan: &StudyPlan, cell: Option<&Cell>) -> Self {
        match cell.and_then(|cell| plan.workloads.get(cell.workload)) {
            Some(workload) if workload.kind.desktops().is_some() => Titles::Users,
            Some(_) => Titles::Usual,
            None => Titles::of_study(plan),
        }
    }

    /// The title of a metric.
    pub(crate) fn of(self, metric: Metric) -> &'static str {
        match self {
            Titles::Usual => metric.title(),
            Titles::Users => metric.title_of_users(),
        }
    }

    /// A value as the title has it: users an hour instead of operations a second.
    pub(crate) fn value(self, metric: Metric, value: f64) -> f64 {
        match (self, metric) {
            (Titles::Users, Metric::Iops) => value * SECONDS_OF_AN_HOUR,
            _ => value,
        }
    }

    /// A value for people, next to the title.
    pub(crate) fn quantity(self, metric: Metric, value: f64) -> Quantity {
        quantity(metric, self.value(metric, value))
    }

    /// A value for people that stands without the title.
    pub(crate) fn alone(self, metric: Metric, value: f64) -> Quantity {
        let quantity = self.quantity(metric, value);
        match (self, metric) {
            (Titles::Users, Metric::Iops) => Quantity { unit: "/h".into(), ..quantity },
            _ => quantity,
        }
    }

    /// A value at an axis.
    pub(crate) fn tick(self, metric: Metric, value: f64) -> String {
        metric_tick(metric, self.value(metric, value))
    }

    /// An operation: `I/O`, `user`.
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Titles::Usual => "I/O",
            Titles::Users => "user",
        }
    }

    /// What is counted in a time: `I/Os a second`, `users an hour`.
    pub(crate) fn counted(self) -> &'static str {
        match self {
            Titles::Usual => "I/Os a second",
            Titles::Users => "users an hour",
        }
    }

    /// An operation that has come to its end.
    pub(crate) fn completed(self) -> &'static str {
        match self {
            Titles::Usual => "a completed I/O",
            Titles::Users => "a user served",
        }
    }

    /// What the latency of an operation is.
    pub(crate) fn latency(self) -> &'static str {
        match self {
            Titles::Usual => "latency",
            Titles::Users => "wait until usable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_counted_by_the_hour() {
        let shown = |titles: Titles| titles.quantity(Metric::Iops, 0.01).to_string();
        assert_eq!((shown(Titles::Users), shown(Titles::Usual)), ("36.0".into(), "0.0".into()));
        assert_eq!(Titles::Users.alone(Metric::Iops, 0.01).to_string(), "36.0/h");
        assert_eq!(Titles::Users.tick(Metric::Iops, 0.01), "36.0");
        assert_eq!(Titles::Users.quantity(Metric::LatencyP95, 2e9).to_string(), "2.00s");
        assert_eq!(Titles::Users.of(Metric::Iops), "users served an hour");
    }
}
