//! Claims and what they are about, in words.

use stormeter_statistics::{Load, LoadedDatastore, NumberClaim, RowTerm};
use stormeter_study::Metric;
use stormeter_study::question::{Bound, Change, Factor, Relation, limit_text};

use super::number::plural;
use crate::title::Titles;

/// A claim about one number, and its contrary.
pub(super) struct Phrase {
    /// `nas is faster than local in IOPS`.
    pub(super) yes: String,
    /// `nas is not faster than local in IOPS`.
    pub(super) no: String,
}

/// A claim about one number as a phrase.
pub(super) fn phrase(claim: &NumberClaim, titles: Titles) -> Phrase {
    match claim {
        NumberClaim::Compared { subject, object, relation, metric } => {
            comparison(subject, object, relation, titles.of(*metric))
        }
        NumberClaim::Trend { metric, datastore, grows, along } => {
            let (title, factor) = (titles.of(*metric), along.factor().name());
            let (verb, base) = if *grows { ("grows", "grow") } else { ("falls", "fall") };
            Phrase {
                yes: format!("{title} of {datastore} {verb} with {factor}"),
                no: format!("{title} of {datastore} does not {base} with {factor}"),
            }
        }
        NumberClaim::Bounded { metric, datastore, bound, limit } => {
            let (title, limit) = (titles.of(*metric), self::limit(*metric, *limit, titles));
            let side = match bound {
                Bound::AtLeast => "at least",
                Bound::AtMost => "at most",
            };
            Phrase {
                yes: format!("{title} of {datastore} is {side} {limit}"),
                no: format!("{title} of {datastore} is not {side} {limit}"),
            }
        }
    }
}

/// A limit as it was asked for, in the unit of the title.
fn limit(metric: Metric, limit: f64, titles: Titles) -> String {
    match titles.value(metric, limit) {
        same if same == limit => limit_text(metric, limit),
        _ => titles.quantity(metric, limit).to_string(),
    }
}

/// The phrase of a comparison. The metric's title stands where a phrase needs it.
fn comparison(subject: &str, object: &str, relation: &Relation, title: &str) -> Phrase {
    let bound = |least: &str, percent: f64| match percent {
        0.0 if least == "at least" => String::new(),
        percent => format!("{least} {percent} % "),
    };
    let changed = |change: &Change, bound: String| match change {
        Change::Faster => ("is", "is not", format!("{bound}faster than {object} in {title}")),
        Change::Slower => ("is", "is not", format!("{bound}slower than {object} in {title}")),
        Change::Lower => ("has", "does not have", format!("{bound}lower {title} than {object}")),
        Change::Higher => ("has", "does not have", format!("{bound}higher {title} than {object}")),
    };
    let (is, is_not, rest) = match relation {
        Relation::Differs => {
            return Phrase {
                yes: format!("{subject} differs from {object} in {title}"),
                no: format!("{subject} does not differ from {object} in {title}"),
            };
        }
        Relation::Equal => ("is", "is not", format!("equal to {object} in {title}")),
        Relation::Within { percent } => {
            ("is", "is not", format!("within {percent} % of {object} in {title}"))
        }
        Relation::AtLeast { change, percent } => changed(change, bound("at least", *percent)),
        Relation::AtMost { change, percent } => changed(change, bound("at most", *percent)),
    };
    Phrase { yes: format!("{subject} {is} {rest}"), no: format!("{subject} {is_not} {rest}") }
}

/// The number that a claim is about: `nas / local, IOPS`, `mean latency of nas`.
pub(super) fn number(claim: &NumberClaim, titles: Titles) -> String {
    match claim {
        NumberClaim::Compared { subject, object, metric, .. } => {
            format!("{subject} / {object}, {}", titles.of(*metric))
        }
        NumberClaim::Trend { metric, datastore, along, .. } => {
            let factor = along.factor().name();
            format!("{} of {datastore}, each doubling of {factor}", titles.of(*metric))
        }
        NumberClaim::Bounded { metric, datastore, .. } => {
            format!("{} of {datastore}", titles.of(*metric))
        }
    }
}

/// A load: `vm-4k, 16 VMs × 4`; without what all loads of the study have in common.
pub(crate) fn load(load: &Load) -> String {
    let workload = &load.workload;
    let vms = load.vms.map(|vms| plural(vms as usize, "VM"));
    match (vms, load.outstanding) {
        (Some(vms), Some(outstanding)) => format!("{workload}, {vms} × {outstanding}"),
        (Some(vms), None) => format!("{workload}, {vms}"),
        (None, Some(outstanding)) => format!("{workload}, {outstanding} outstanding"),
        (None, None) => workload.clone(),
    }
}

/// A datastore under a load: `nas at vm-4k, 16 VMs × 4`.
pub(super) fn loaded(cell: &LoadedDatastore) -> String {
    format!("{} at {}", cell.datastore, load(&cell.load))
}

/// Factors together: `datastore × workload`.
pub(super) fn term(factors: &[Factor]) -> String {
    let names: Vec<&str> = factors.iter().map(|factor| factor.name()).collect();
    names.join(" × ")
}

/// The term of a row in a table.
pub(crate) fn row_term(of: &RowTerm) -> String {
    match of {
        RowTerm::Factors(factors) => term(factors),
        RowTerm::Block => "block".into(),
        RowTerm::Residual => "residual".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_have_a_contrary() {
        let relation = Relation::AtMost { change: Change::Higher, percent: 10.0 };
        let phrase = comparison("a", "b", &relation, Metric::CpuPerIo.title());
        assert_eq!(phrase.yes, "a has at most 10 % higher initiator CPU per I/O than b");
        assert_eq!(phrase.no, "a does not have at most 10 % higher initiator CPU per I/O than b");
    }

    #[test]
    fn users_are_asked_for_by_the_hour_and_waits_as_they_were() {
        let asked = |metric, limit, titles| {
            let (datastore, bound) = ("nas".into(), Bound::AtLeast);
            phrase(&NumberClaim::Bounded { metric, datastore, bound, limit }, titles).yes
        };
        let (users, usual) = (Titles::Users, Titles::Usual);
        assert_eq!(
            asked(Metric::Iops, 0.01, users),
            "users served an hour of nas is at least 36.0"
        );
        assert_eq!(asked(Metric::Iops, 0.01, usual), "IOPS of nas is at least 0.01");
        assert_eq!(
            asked(Metric::LatencyP95, 1e10, users),
            "p95 wait until usable of nas is at least 10s"
        );
    }
}
