//! From a claim in words to numbers: which cells, with which weights, in which region.

use std::collections::BTreeMap;

use stormeter_study::question::{
    Bound, Change, Claim, LoadFactor, Question, Relation, Scope, limit_text,
};
use stormeter_study::{Cell, Metric};

use super::effect::Contrast;
use super::measured::Measured;
use super::region::Region;
use super::words::{self, Phrase};

/// A claim about one number at each of several loads.
pub(super) struct Asked {
    /// Which metric.
    pub(super) metric: Metric,
    /// The claim and its contrary in words.
    pub(super) phrase: Phrase,
    /// Where the number lies, if it is true.
    pub(super) region: Region,
    /// What the number is.
    pub(super) shown: Shown,
    /// The loads by name, each with the weights of its cells.
    pub(super) loads: Vec<(String, Contrast)>,
    /// It has to hold at each load, not on average.
    pub(super) everywhere: bool,
    /// The claim is that there is a difference, and up to this, on the scale of logarithms, there is none
    /// worth the name; 0: any is.
    pub(super) least: f64,
}

/// What the estimated number is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shown {
    /// A ratio of two datastores: `nas / local, IOPS`.
    Ratio(String),
    /// A ratio at each doubling of a load.
    PerDoubling(String, &'static str),
    /// A value of the metric.
    Value(String),
}

/// What a claim about one number asks of the data.
///
/// # Errors
/// Why it cannot be asked of this study.
pub(super) fn asked(measured: &Measured<'_>, question: &Question) -> Result<Asked, String> {
    let scope = &question.scope;
    let asked = match &question.claim {
        Claim::Compared { subject, object, relation, metric } => {
            compared(measured, (subject, object), relation, *metric, scope)?
        }
        Claim::Trend { metric, datastore, grows, along } => {
            trend(measured, *metric, datastore, *grows, *along, scope)?
        }
        Claim::Bounded { metric, datastore, bound, limit } => {
            bounded(measured, *metric, datastore, *bound, *limit, scope)?
        }
        Claim::Depends { .. } => return Err("this is no claim about one number".into()),
    };
    if asked.loads.is_empty() {
        return Err("the study has no load that the question names".into());
    }
    Ok(asked)
}

/// Whether a cell is one that the question speaks of.
pub(super) fn in_scope(measured: &Measured<'_>, scope: &Scope, cell: &Cell) -> bool {
    let workload = measured.plan.workloads.get(cell.workload).map(|spec| &spec.name);
    let named = |names: &[String]| workload.is_some_and(|name| names.contains(name));
    (scope.workloads.is_empty() || named(&scope.workloads))
        && (scope.vms.is_empty() || scope.vms.contains(&cell.vms))
        && (scope.outstanding.is_empty()
            || cell.outstanding.is_some_and(|level| scope.outstanding.contains(&level)))
}

/// The cells of a datastore that the question speaks of, in the plan's order.
fn cells_of(measured: &Measured<'_>, name: &str, scope: &Scope) -> Result<Vec<usize>, String> {
    let datastore =
        measured.datastore(name).ok_or_else(|| format!("the study has no datastore {name}"))?;
    Ok((0..measured.cells.len())
        .filter(|&cell| measured.cells[cell].datastore == datastore)
        .filter(|&cell| in_scope(measured, scope, &measured.cells[cell]))
        .collect())
}

fn compared(
    measured: &Measured<'_>,
    (subject, object): (&str, &str),
    relation: &Relation,
    metric: Option<Metric>,
    scope: &Scope,
) -> Result<Asked, String> {
    let design = &measured.plan.design;
    let metric = metric.unwrap_or(design.metric);
    let others = cells_of(measured, object, scope)?;
    let mut loads = Vec::new();
    for cell in cells_of(measured, subject, scope)? {
        let own = &measured.cells[cell];
        let other = others.iter().find(|&&other| measured.cells[other].same_load(own));
        if let Some(&other) = other {
            loads.push((measured.load_name(own), vec![(cell, 1.0), (other, -1.0)]));
        }
    }
    Ok(Asked {
        metric,
        phrase: words::comparison(subject, object, relation, metric),
        region: region_of(relation, metric, design.margin, measured.least_difference())?,
        least: match relation {
            Relation::Differs => measured.least_difference(),
            Relation::AtLeast { percent: 0.0, .. } => measured.least_difference(),
            _ => 0.0,
        },
        shown: Shown::Ratio(format!("{subject} / {object}, {}", metric.title())),
        loads,
        everywhere: scope.everywhere,
    })
}

/// The region of the log-ratio that a relation means. Percentages are changes of the object's
/// value; `within` is symmetric in the logarithm, as the margin of a comparison is. A difference by any
/// percentage is one of more than `least`.
fn region_of(
    relation: &Relation,
    metric: Metric,
    margin: f64,
    least: f64,
) -> Result<Region, String> {
    let margin = margin.ln_1p();
    let edge = |change: Change, percent: f64| {
        let up = change.is_up(metric);
        let share = if up { percent / 100.0 } else { -percent / 100.0 };
        if share <= -1.0 {
            let title = metric.title();
            return Err(format!("no {title} can be lower by {percent} %: ask for less than 100 %"));
        }
        Ok((up, share.ln_1p()))
    };
    Ok(match *relation {
        Relation::Differs => Region::Different { margin, least },
        Relation::Equal => Region::Same { margin },
        Relation::Within { percent } => {
            let reach = (percent / 100.0).ln_1p();
            Region::Inside(-reach, reach)
        }
        Relation::AtLeast { change, percent } => match (edge(change, percent)?, percent) {
            ((true, _), 0.0) => Region::Above(least),
            ((false, _), 0.0) => Region::Below(-least),
            ((true, edge), _) => Region::Above(edge),
            ((false, edge), _) => Region::Below(edge),
        },
        Relation::AtMost { change, percent } => match edge(change, percent)? {
            (true, edge) => Region::Below(edge),
            (false, edge) => Region::Above(edge),
        },
    })
}

/// The slope of the logarithm over the logarithm of the load, by least squares within each block,
/// as a change at each doubling.
fn trend(
    measured: &Measured<'_>,
    metric: Metric,
    datastore: &str,
    grows: bool,
    along: LoadFactor,
    scope: &Scope,
) -> Result<Asked, String> {
    let level = |cell: &Cell| match along {
        LoadFactor::Vms => Some(cell.vms),
        LoadFactor::Outstanding => cell.outstanding,
    };
    // Cells that differ in nothing but the level, by the rest of their load.
    let mut groups: BTreeMap<(usize, u32), Vec<(usize, f64)>> = BTreeMap::new();
    for cell in cells_of(measured, datastore, scope)? {
        let own = &measured.cells[cell];
        let Some(level) = level(own).filter(|level| *level > 0) else { continue };
        let rest = match along {
            LoadFactor::Vms => own.outstanding.unwrap_or(0),
            LoadFactor::Outstanding => own.vms,
        };
        groups.entry((own.workload, rest)).or_default().push((cell, f64::from(level).ln()));
    }
    let mut loads = Vec::new();
    for ((workload, rest), cells) in groups.into_iter().filter(|(_, cells)| cells.len() >= 2) {
        let mean = cells.iter().map(|(_, x)| x).sum::<f64>() / cells.len() as f64;
        let squares: f64 = cells.iter().map(|(_, x)| (x - mean).powi(2)).sum();
        let doubling = std::f64::consts::LN_2 / squares;
        let contrast = cells.iter().map(|(cell, x)| (*cell, (x - mean) * doubling)).collect();
        let workload = &measured.plan.workloads[workload].name;
        let name = match along {
            LoadFactor::Vms if rest == 0 => workload.clone(),
            LoadFactor::Vms => format!("{workload}, {rest} outstanding"),
            LoadFactor::Outstanding => {
                format!("{workload}, {}", words::plural(rest as usize, "VM"))
            }
        };
        loads.push((name, contrast));
    }
    let title = metric.title();
    let factor = along.factor().name();
    let least = measured.least_difference();
    let (verb, base) = if grows { ("grows", "grow") } else { ("falls", "fall") };
    Ok(Asked {
        metric,
        phrase: Phrase {
            yes: format!("{title} of {datastore} {verb} with {factor}"),
            no: format!("{title} of {datastore} does not {base} with {factor}"),
        },
        region: if grows { Region::Above(least) } else { Region::Below(-least) },
        least,
        shown: Shown::PerDoubling(format!("{title} of {datastore}, each doubling"), factor),
        loads,
        everywhere: scope.everywhere,
    })
}

fn bounded(
    measured: &Measured<'_>,
    metric: Metric,
    datastore: &str,
    bound: Bound,
    limit: f64,
    scope: &Scope,
) -> Result<Asked, String> {
    let loads = cells_of(measured, datastore, scope)?
        .into_iter()
        .map(|cell| (measured.load_name(&measured.cells[cell]), vec![(cell, 1.0)]))
        .collect();
    let title = metric.title();
    let (side, region) = match bound {
        Bound::AtLeast => ("at least", Region::Above(limit.ln())),
        Bound::AtMost => ("at most", Region::Below(limit.ln())),
    };
    let limit = limit_text(metric, limit);
    Ok(Asked {
        metric,
        phrase: Phrase {
            yes: format!("{title} of {datastore} is {side} {limit}"),
            no: format!("{title} of {datastore} is not {side} {limit}"),
        },
        region,
        shown: Shown::Value(format!("{title} of {datastore}")),
        loads,
        everywhere: scope.everywhere,
        least: 0.0,
    })
}
