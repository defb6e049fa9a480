//! Single cells of a study on a site, for whoever tries many sites: a calibration.

use std::sync::atomic::AtomicBool;

use stormeter_runner::{TrialOrder, trial_order};
use stormeter_site::Site;
use stormeter_study::{Cell, StudyPlan, Timing};
use stormeter_trial::{CpuUsage, Sample};

use crate::error::PredictError;
use crate::parallel::{in_order, threads};
use crate::place::site_datastore;
use crate::request::SitePlace;
use crate::steps::Disturbances;
use crate::trial::TrialRun;

/// Windows are short: a search for parameters runs each cell a hundred times, always with the same
/// random numbers, so that what changes is what the parameters change.
const MOST_RAMP_NS: u64 = 500_000_000;
const MOST_WINDOW_NS: u64 = 2_000_000_000;

/// What cells of a study give on a site, with the seed of the study's first block: of each its sample
/// and its CPU time, in the order of `cells`.
///
/// # Errors
/// The site has no such datastore, or a cell cannot be predicted.
pub fn predict_cells(
    plan: &StudyPlan,
    site: &Site,
    cells: &[Cell],
    cancel: &AtomicBool,
) -> Result<Vec<(Sample, CpuUsage)>, PredictError> {
    let places = plan
        .datastores
        .iter()
        .map(|named| Ok(SitePlace { site: 0, datastore: site_datastore(site, named)? }))
        .collect::<Result<Vec<_>, PredictError>>()?;
    let timing = Timing {
        ramp_ns: plan.timing.ramp_ns.min(MOST_RAMP_NS),
        duration_ns: plan.timing.duration_ns.min(MOST_WINDOW_NS),
        interval_ns: plan.timing.interval_ns.min(MOST_WINDOW_NS),
    };
    let task = |number: usize| {
        let cell = cells[number];
        // All begin where the first one does: what changes is to be what the site changes.
        let order = TrialOrder { timing, ..trial_order(plan, &cell, 0, 0) };
        let run = TrialRun {
            order: &order,
            disk_bytes: plan.disks().1,
            fixed_work_interval_ns: timing.interval_ns,
            site,
            place: places[cell.datastore],
            // Only trials that nothing disturbs tell what a site is like.
            disturbances: Disturbances { steps: &[], faults: &[] },
            cancel,
        };
        run.carry_out()
    };
    let mut outcomes = Vec::with_capacity(cells.len());
    in_order(threads(0), cells.len(), cancel, task, |number, end| {
        let failed = |reason| PredictError::Cell {
            cell: plan.datastores[cells[number].datastore].name.clone(),
            reason,
        };
        let end = end.map_err(failed)?.end;
        if let Some(failure) = end.failure() {
            return Err(failed(failure.to_string()));
        }
        outcomes.push((end.sample, end.cpu));
        Ok(())
    })?;
    Ok(outcomes)
}
