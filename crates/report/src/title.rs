//! What metrics are called in a report, and in which unit their values are shown.
//!
//! An operation of desktops on demand is a user served: few of them come in a second, so they are counted by the hour.

use stormeter_statistics::{Answer, Grounds, NumberClaim, NumberGrounds, TestedLoads};
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

    /// Those of an answer: of the workloads that it is about, where it names them.
    pub(crate) fn of_answer(plan: &StudyPlan, answer: &Answer) -> Self {
        let has_users = |name: &str| {
            let named = plan.workloads.iter().find(|it| it.name == name)?;
            Some(named.kind.desktops().is_some())
        };
        let loads = answer.parts.iter().map(|part| &part.load).chain(match &answer.grounds {
            Grounds::Number(NumberGrounds { loads: TestedLoads::One(load), .. }) => Some(load),
            _ => None,
        });
        let mut names: Vec<&str> = loads.map(|load| load.workload.as_str()).collect();
        // Where workloads are compared, loads have the names of datastores.
        if let Some(NumberClaim::Compared { subject, object, .. }) = answer.claim()
            && has_users(subject).is_some()
            && has_users(object).is_some()
        {
            names = vec![subject, object];
        }
        match names.is_empty() {
            true => Titles::of_study(plan),
            false if names.iter().all(|name| has_users(name) == Some(true)) => Titles::Users,
            false => Titles::of_study(plan),
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
    use stormeter_statistics::{Load, Observations, Reply};
    use stormeter_study::parse_study;
    use stormeter_study::question::Relation;

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

    fn answer(claim: NumberClaim, loads: TestedLoads) -> Answer {
        let grounds = NumberGrounds {
            claim,
            loads,
            observations: Observations::Blocks(3),
            is_negligible: false,
            outlook: None,
        };
        Answer {
            question: String::new(),
            must: false,
            reply: Reply::Yes,
            grounds: Grounds::Number(grounds),
            test: None,
            estimate: None,
            p_value: None,
            p_value_adjusted: None,
            table: None,
            parts: vec![],
            remarks: vec![],
        }
    }

    #[test]
    fn an_answer_is_about_users_where_all_its_workloads_are_desktops() {
        let plan = |others: &str| {
            let portal =
                |name| format!("  - {{name: {name}, desktops: {{class: {{users: 2}}}}}}\n");
            let workloads = [portal("one"), portal("two"), others.into()].concat();
            let text = format!("datastores: {{a: /a, b: /b}}\nworkloads:\n{workloads}");
            parse_study(&text).expect("a study")
        };
        let (pure, mixed) = (plan(""), plan("  - vm-4k\n"));
        let of = |plan: &StudyPlan, subject: &str, object: &str, loads| {
            let (subject, object) = (subject.into(), object.into());
            let (relation, metric) = (Relation::Differs, Metric::LatencyP95);
            let claim = NumberClaim::Compared { subject, object, relation, metric };
            Titles::of_answer(plan, &answer(claim, loads))
        };
        let at = |workload: &str| {
            TestedLoads::One(Load { workload: workload.into(), vms: None, outstanding: None })
        };
        assert_eq!(of(&pure, "b", "a", TestedLoads::Only), Titles::Users);
        assert_eq!(of(&mixed, "b", "a", at("one")), Titles::Users);
        assert_eq!(of(&mixed, "b", "a", at("vm-4k")), Titles::Usual);
        assert_eq!(of(&mixed, "two", "one", at("a")), Titles::Users);
        assert_eq!(of(&mixed, "vm-4k", "one", at("a")), Titles::Usual);
    }
}
