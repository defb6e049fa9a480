//! A question as text, in words that parse back to it.

use std::fmt;

use super::claim::{Bound, Change, Claim, Factor, LoadFactor, Question, Relation, Scope};
use super::metric_name::{all_names, name_of};
use super::quantity::text_of;
use crate::plan::Metric;

impl fmt::Display for Question {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let must = self.must;
        match &self.claim {
            Claim::Compared { subject, object, relation, metric } => {
                write!(out, "{} ", in_quotes(subject))?;
                comparison(out, must, relation, *metric)?;
                write!(out, " {}", in_quotes(object))?;
                if let (Some(metric), false) = (metric, names_metric(relation)) {
                    write!(out, " in {}", name_of(*metric))?;
                }
            }
            Claim::Depends { metric, depends, factors, interaction } => {
                let verb = match (must, depends) {
                    (false, true) => "depends on",
                    (false, false) => "does not depend on",
                    (true, true) => "must depend on",
                    (true, false) => "must not depend on",
                };
                write!(out, "{} {verb} ", name_of(*metric))?;
                let mut items: Vec<&str> = factors.iter().map(|factor| factor.name()).collect();
                if *interaction {
                    items.push("their interaction");
                }
                out.write_str(&list(&items, "and"))?;
            }
            Claim::Trend { metric, datastore, grows, along } => {
                let verb = match (must, grows) {
                    (false, true) => "grows",
                    (false, false) => "falls",
                    (true, true) => "must grow",
                    (true, false) => "must fall",
                };
                let (metric, datastore) = (name_of(*metric), in_quotes(datastore));
                write!(out, "{metric} of {datastore} {verb} with {}", along.factor().name())?;
            }
            Claim::Bounded { metric, datastore, bound, limit } => {
                let side = match bound {
                    Bound::AtLeast => "at least",
                    Bound::AtMost => "at most",
                };
                let (verb, limit) = (if must { "must be" } else { "is" }, text_of(*metric, *limit));
                let (metric, datastore) = (name_of(*metric), in_quotes(datastore));
                write!(out, "{metric} of {datastore} {verb} {side} {limit}")?;
            }
        }
        scope(out, &self.scope)
    }
}

/// Whether the metric is part of the phrase: `costs less cpu per io than`.
fn names_metric(relation: &Relation) -> bool {
    matches!(
        relation,
        Relation::AtLeast { change: Change::Lower | Change::Higher, .. }
            | Relation::AtMost { change: Change::Lower | Change::Higher, .. }
    )
}

fn comparison(
    out: &mut fmt::Formatter<'_>,
    must: bool,
    relation: &Relation,
    metric: Option<Metric>,
) -> fmt::Result {
    let is = if must { "must be" } else { "is" };
    let (bound, change, percent) = match relation {
        Relation::Differs if must => return out.write_str("must differ from"),
        Relation::Differs => return out.write_str("differs from"),
        Relation::Equal => return write!(out, "{is} equal to"),
        Relation::Within { percent } => return write!(out, "{is} within {percent}% of"),
        Relation::AtLeast { change, percent: 0.0 } => (String::new(), change, None),
        Relation::AtLeast { change, percent } => ("at least ".to_string(), change, Some(percent)),
        Relation::AtMost { change, percent } => ("at most ".to_string(), change, Some(percent)),
    };
    let bound = match percent {
        Some(percent) => format!("{bound}{percent}% "),
        None => bound,
    };
    let has = if must { "must have" } else { "has" };
    // A claim about a lower or higher value names its metric.
    let metric = metric.map_or("iops", name_of);
    match change {
        Change::Faster => write!(out, "{is} {bound}faster than"),
        Change::Slower => write!(out, "{is} {bound}slower than"),
        Change::Lower => write!(out, "{has} {bound}lower {metric} than"),
        Change::Higher => write!(out, "{has} {bound}higher {metric} than"),
    }
}

fn scope(out: &mut fmt::Formatter<'_>, scope: &Scope) -> fmt::Result {
    // Either is empty.
    let named = || scope.workloads.iter().chain(&scope.datastores);
    if named().next().is_some() {
        let names: Vec<String> = named().map(|name| in_quotes(name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        write!(out, " on {}", list(&names, "or"))?;
    }
    let levels = |levels: &[u32]| {
        let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
        list(&levels.iter().map(String::as_str).collect::<Vec<_>>(), "or")
    };
    if !scope.vms.is_empty() {
        write!(out, " at {} vms", levels(&scope.vms))?;
    }
    if !scope.outstanding.is_empty() {
        write!(out, " with {} outstanding", levels(&scope.outstanding))?;
    }
    if scope.everywhere {
        out.write_str(" everywhere")?;
    }
    if scope.durably {
        out.write_str(", durably")?;
    }
    Ok(())
}

/// `a`, `a or b`, `a, b or c`.
fn list(items: &[&str], word: &str) -> String {
    match items.split_last() {
        Some((last, [])) => (*last).to_string(),
        Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Keywords: a name that is one of them needs quotes.
const KEYWORDS: [&str; 13] = [
    ",",
    "and",
    "or",
    "their",
    "in",
    "on",
    "at",
    "with",
    "everywhere",
    "durably",
    "must",
    "vms",
    "than",
];

/// A name as written in a question: quoted if it could be taken for something else.
pub(super) fn in_quotes(name: &str) -> String {
    let lower = name.to_lowercase();
    let first = lower.split(['-', '_']).next().unwrap_or_default();
    let is_plain = !name.is_empty()
        && !name.contains(|c: char| c.is_whitespace() || matches!(c, ',' | '"' | '\'' | '%' | '?'))
        && !KEYWORDS.contains(&lower.as_str())
        && !all_names().any(|metric| metric.split(' ').next() == Some(first));
    if is_plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

impl fmt::Display for Factor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for LoadFactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.factor().name())
    }
}
