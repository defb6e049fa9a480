//! The published findings that a site file lists for its calibration, as observations of a study's cells.

use stormeter_site::{CalibrationPoint, Site};
use stormeter_study::{Cell, Metric, StudyPlan};

use super::observation::{Observation, Observed};

/// Why a finding cannot be an observation of a study.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("calibration {finding}: {what}")]
pub struct PointError {
    /// The finding.
    pub finding: String,
    /// The error, and what to write instead.
    pub what: String,
}

/// Separates the points that this study has cells for from those that name a datastore, workload or load of another
/// study of the same site.
///
/// # Errors
/// A metric is unknown, or a level is missing although the study has several.
pub fn published(
    plan: &StudyPlan,
    site: &Site,
    points: &[CalibrationPoint],
) -> Result<(Vec<Observation>, Vec<CalibrationPoint>), PointError> {
    let mut found = Vec::new();
    let mut elsewhere = Vec::new();
    for point in points {
        let wrong = |what: String| PointError { finding: point.finding.clone(), what };
        let Some(metric) = Metric::from_name(&point.metric) else {
            return Err(wrong(format!(
                "{} is not a metric; docs/questions.md lists them",
                point.metric
            )));
        };
        let cell = |datastore: &str| cell_of(plan, site, point, datastore).map_err(wrong);
        let (of, base) = (cell(&point.of)?, point.relative_to.as_deref().map(cell).transpose()?);
        let observed = match (of, base) {
            (Some(cell), None) => Some(Observed::Figure { cell, metric }),
            (Some(cell), Some(Some(base))) => Some(Observed::Ratio { cell, base, metric }),
            _ => None,
        };
        let Some(of) = observed else {
            elsewhere.push(point.clone());
            continue;
        };
        let (value, relative) = match &point.relative_to {
            Some(base) => (1.0 + point.value.value, format!(" over that of {base}")),
            None => (point.value.value, String::new()),
        };
        let workload = point.workload.as_deref().map(|name| format!(", {name}"));
        found.push(Observation {
            label: format!(
                "{}: {} of {}{}{relative}",
                point.finding,
                metric.name(),
                point.of,
                workload.unwrap_or_default(),
            ),
            of,
            value,
        });
    }
    Ok((found, elsewhere))
}

/// The cell of a point at a datastore; `None` if the study does not have its levels.
fn cell_of(
    plan: &StudyPlan,
    site: &Site,
    point: &CalibrationPoint,
    datastore: &str,
) -> Result<Option<Cell>, String> {
    let own = site.datastores.iter().find(|own| own.name == datastore);
    let is_it = |name: &str| {
        name == datastore || own.is_some_and(|own| own.also.iter().any(|also| also == name))
    };
    let Some(store) = plan.datastores.iter().position(|named| is_it(&named.name)) else {
        return Ok(None);
    };
    let workload = match &point.workload {
        Some(name) => plan.workloads.iter().position(|workload| workload.name == *name),
        None if plan.workloads.len() == 1 => Some(0),
        None => return Err("the study has several workloads; write which".into()),
    };
    let vms = match point.vms {
        Some(vms) => Some(vms).filter(|vms| plan.vms.contains(vms)),
        None if plan.vms.len() == 1 => plan.vms.first().copied(),
        None => return Err("the study has several levels of vms; write which".into()),
    };
    let outstanding = match (point.outstanding, plan.outstanding.as_slice()) {
        (Some(outstanding), levels) if levels.contains(&outstanding) => Some(Some(outstanding)),
        (Some(_), _) => None,
        (None, []) => Some(None),
        (None, [only]) => Some(Some(*only)),
        (None, _) => return Err("the study has several levels of outstanding; write which".into()),
    };
    Ok(match (workload, vms, outstanding) {
        (Some(workload), Some(vms), Some(outstanding)) => {
            Some(Cell { datastore: store, workload, vms, outstanding })
        }
        _ => None,
    })
}
