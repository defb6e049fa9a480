//! Single cells of a study on a site, for a calibration, which tries many sites.

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
/// random numbers, so that only the parameters make a difference.
const MOST_RAMP_NS: u64 = 500_000_000;
const MOST_WINDOW_NS: u64 = 2_000_000_000;

/// Predicts cells of a study on a site, with the seed of the study's first block. Returns the sample and the CPU
/// time of each, in the order of `cells`.
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
        // All start like the first one: only the site may make a difference.
        let order = TrialOrder { timing, ..trial_order(plan, &cell, 0, 0) };
        let run = TrialRun {
            order: &order,
            disk_bytes: plan.disks().bytes,
            fixed_work_interval_ns: timing.interval_ns,
            site,
            place: places[cell.datastore],
            // A site is fitted to undisturbed trials.
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
