//! From a claim about one number to the cells that it is about, their weights, and the region of the number.

use std::collections::BTreeMap;

use stormeter_study::question::{Bound, Change, LoadFactor, Relation, Scope};
use stormeter_study::{Cell, Metric};

use super::effect::{Contrast, Weighted, ratio};
use super::load::Load;
use super::measured::Measured;
use super::number_claim::NumberClaim;
use super::region::Region;
use super::unanswered::Unanswered;

/// A claim about one number at each of several loads.
pub(super) struct Asked {
    /// The claim.
    pub(super) claim: NumberClaim,
    /// Where the number lies if the claim is true.
    pub(super) region: Region,
    /// The loads.
    pub(super) loads: Vec<LoadContrast>,
    /// It has to hold at each load, not on average.
    pub(super) everywhere: bool,
    /// On the scale of logarithms, the largest difference that counts as none where the claim is that there is
    /// one; 0: any counts.
    pub(super) least: f64,
}

impl Asked {
    /// The metric.
    pub(super) fn metric(&self) -> Metric {
        self.claim.metric()
    }
}

/// A load with the weights of its cells.
pub(super) struct LoadContrast {
    pub(super) load: Load,
    pub(super) contrast: Contrast,
}

/// What a claim about one number asks of the data.
///
/// # Errors
/// Why it cannot be asked of this study.
pub(super) fn asked(
    measured: &Measured<'_>,
    claim: NumberClaim,
    scope: &Scope,
) -> Result<Asked, Unanswered> {
    let resolution = measured.least_difference();
    let (loads, region, least) = match &claim {
        NumberClaim::Compared { subject, object, relation, metric } => {
            let loads = compared(measured, subject, object, scope)?;
            let margin = measured.plan.design.margin;
            let least = match relation {
                Relation::Differs | Relation::AtLeast { percent: 0.0, .. } => resolution,
                _ => 0.0,
            };
            (loads, region_of(relation, *metric, margin, resolution)?, least)
        }
        NumberClaim::Trend { datastore, grows, along, .. } => {
            let loads = trend(measured, datastore, *along, scope)?;
            let region = match grows {
                true => Region::Above(resolution),
                false => Region::Below(-resolution),
            };
            (loads, region, resolution)
        }
        NumberClaim::Bounded { datastore, bound, limit, .. } => {
            let value = |cell| LoadContrast {
                load: measured.load(&measured.cells[cell]),
                contrast: vec![Weighted { cell, weight: 1.0 }],
            };
            let loads = cells_of(measured, datastore, scope)?.into_iter().map(value).collect();
            let region = match bound {
                Bound::AtLeast => Region::Above(limit.ln()),
                Bound::AtMost => Region::Below(limit.ln()),
            };
            (loads, region, 0.0)
        }
    };
    if loads.is_empty() {
        return Err(Unanswered::NoLoad);
    }
    Ok(Asked { claim, region, loads, everywhere: scope.everywhere, least })
}

/// Whether a question is about a cell.
pub(super) fn in_scope(measured: &Measured<'_>, scope: &Scope, cell: &Cell) -> bool {
    let workload = measured.plan.workloads.get(cell.workload).map(|spec| &spec.name);
    let named = |names: &[String]| workload.is_some_and(|name| names.contains(name));
    let kind = measured.plan.workloads.get(cell.workload).map(|spec| &spec.kind);
    let is_durable = || kind.and_then(|kind| kind.io()).is_some_and(|io| io.asks_for_durability());
    let datastore = measured.plan.datastores.get(cell.datastore).map(|spec| &spec.name);
    (scope.workloads.is_empty() || named(&scope.workloads))
        && (scope.datastores.is_empty()
            || datastore.is_some_and(|name| scope.datastores.contains(name)))
        && (!scope.durably || is_durable())
        && (scope.vms.is_empty() || scope.vms.contains(&cell.vms))
        && (scope.outstanding.is_empty()
            || cell.outstanding.is_some_and(|level| scope.outstanding.contains(&level)))
}

/// The workloads of a question that says `durably`, if none of them is durable or flushed.
pub(super) fn not_durable(measured: &Measured<'_>, scope: &Scope) -> Option<Unanswered> {
    let finds = |scope: &Scope| measured.cells.iter().any(|cell| in_scope(measured, scope, cell));
    let anyway = Scope { durably: false, ..scope.clone() };
    if !scope.durably || finds(scope) || !finds(&anyway) {
        return None;
    }
    let all = measured.plan.workloads.iter().map(|spec| spec.name.clone());
    let named = |name: &String| scope.workloads.is_empty() || scope.workloads.contains(name);
    Some(Unanswered::NotDurable(all.filter(named).collect()))
}

/// The cells of a datastore that the question is about, in the plan's order.
fn cells_of(measured: &Measured<'_>, name: &str, scope: &Scope) -> Result<Vec<usize>, Unanswered> {
    let datastore =
        measured.datastore(name).ok_or_else(|| Unanswered::NoSuchDatastore(name.into()))?;
    Ok((0..measured.cells.len())
        .filter(|&cell| measured.cells[cell].datastore == datastore)
        .filter(|&cell| in_scope(measured, scope, &measured.cells[cell]))
        .collect())
}

/// What both have: for datastores the same load, for workloads the same datastore.
fn compared(
    measured: &Measured<'_>,
    subject: &str,
    object: &str,
    scope: &Scope,
) -> Result<Vec<LoadContrast>, Unanswered> {
    if let (None, Some(subject), Some(object)) =
        (measured.datastore(subject), measured.workload(subject), measured.workload(object))
    {
        return Ok(compared_workloads(measured, subject, object, scope));
    }
    let others = cells_of(measured, object, scope)?;
    let mut loads = Vec::new();
    for cell in cells_of(measured, subject, scope)? {
        let own = &measured.cells[cell];
        let other = others.iter().find(|&&other| measured.cells[other].same_load(own));
        if let Some(&other) = other {
            loads.push(LoadContrast { load: measured.load(own), contrast: ratio(cell, other) });
        }
    }
    Ok(loads)
}

fn compared_workloads(
    measured: &Measured<'_>,
    subject: usize,
    object: usize,
    scope: &Scope,
) -> Vec<LoadContrast> {
    let cells = || measured.cells.iter().enumerate();
    let of = |own: &Cell| (own.datastore, own.vms, own.outstanding);
    let asked =
        cells().filter(|(_, own)| own.workload == subject && in_scope(measured, scope, own));
    let loads = asked.filter_map(|(cell, own)| {
        let is_other = |other: &Cell| other.workload == object && of(other) == of(own);
        let (other, _) = cells().find(|(_, other)| is_other(other))?;
        Some(LoadContrast { load: measured.place(own), contrast: ratio(cell, other) })
    });
    loads.collect()
}

/// The region of the log-ratio that a relation means. Percentages are changes of the object's
/// value; `within` is symmetric in the logarithm, as the margin of a comparison is. A difference by any
/// percentage is one of more than `least`.
fn region_of(
    relation: &Relation,
    metric: Metric,
    margin: f64,
    least: f64,
) -> Result<Region, Unanswered> {
    let margin = margin.ln_1p();
    let edge = |change: Change, percent: f64| {
        let up = change.is_up(metric);
        let share = if up { percent / 100.0 } else { -percent / 100.0 };
        match share <= -1.0 {
            true => Err(Unanswered::NoSuchReduction { metric, percent }),
            false => Ok((up, share.ln_1p())),
        }
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

/// Cells of a datastore that differ in nothing but the level of a load factor.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    workload: usize,
    /// The level of the other load factor, if it has one.
    other: Option<u32>,
}

/// A cell at a level of a load factor.
struct AtLevel {
    cell: usize,
    log_level: f64,
}

/// The slope of the logarithm over the logarithm of the load, by least squares within each block,
/// as a change at each doubling.
fn trend(
    measured: &Measured<'_>,
    datastore: &str,
    along: LoadFactor,
    scope: &Scope,
) -> Result<Vec<LoadContrast>, Unanswered> {
    let mut all: BTreeMap<Series, Vec<AtLevel>> = BTreeMap::new();
    for cell in cells_of(measured, datastore, scope)? {
        let own = &measured.cells[cell];
        let (level, other) = match along {
            LoadFactor::Vms => (Some(own.vms), own.outstanding),
            LoadFactor::Outstanding => (own.outstanding, Some(own.vms)),
        };
        let Some(level) = level.filter(|level| *level > 0) else { continue };
        let series = Series { workload: own.workload, other };
        let at_level = AtLevel { cell, log_level: f64::from(level).ln() };
        all.entry(series).or_default().push(at_level);
    }
    let series = all.into_iter().filter(|(_, cells)| cells.len() >= 2);
    Ok(series
        .map(|(Series { workload, other }, cells)| {
            let (vms, outstanding) = match along {
                LoadFactor::Vms => (None, other),
                LoadFactor::Outstanding => (other, None),
            };
            let workload = measured.plan.workloads[workload].name.clone();
            LoadContrast { load: Load { workload, vms, outstanding }, contrast: slope(&cells) }
        })
        .collect())
}

/// The weights of the slope.
fn slope(cells: &[AtLevel]) -> Contrast {
    let mean = cells.iter().map(|own| own.log_level).sum::<f64>() / cells.len() as f64;
    let squares: f64 = cells.iter().map(|own| (own.log_level - mean).powi(2)).sum();
    let doubling = std::f64::consts::LN_2 / squares;
    let weighted =
        |own: &AtLevel| Weighted { cell: own.cell, weight: (own.log_level - mean) * doubling };
    cells.iter().map(weighted).collect()
}
