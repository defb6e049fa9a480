//! Checks whether a study can be predicted, before anything is written.

use std::sync::atomic::AtomicBool;

use stormeter_runner::{TrialOrder, cell_label, trial_order};
use stormeter_study::WorkloadKind;
use stormeter_units::{format_bytes, format_duration_ns};

use crate::error::PredictError;
use crate::request::PredictRequest;
use crate::site_executor::SiteExecutor;
use crate::steps::Planned;
use crate::trial::TrialRun;

/// Checks that every cell has a machine, and that every fault has an effect.
pub(crate) fn check(request: &PredictRequest, cancel: &AtomicBool) -> Result<(), PredictError> {
    let (plan, sites) = (&request.plan, SiteExecutor::new(request));
    let mut planned: Vec<Planned> = Vec::new();
    let mut noticed: Vec<bool> = Vec::new();
    for (number, cell) in plan.cells().iter().enumerate() {
        let order = trial_order(plan, cell, number, 0);
        let run = sites.run(&order, cancel)?;
        let label = || cell_label(plan, cell);
        planned = run.disturbances.planned(run.site, run.place.datastore)?;
        noticed.resize(planned.len(), false);
        if let (WorkloadKind::Transfer(_), None) = (&order.work, &run.site.client) {
            return Err(PredictError::NoClient { cell: label() });
        }
        if order.work.service().is_some() {
            return Err(PredictError::NoServices { cell: label() });
        }
        if let WorkloadKind::File(test) = &order.work
            && test.client_cache
        {
            page_cache(&run, label)?;
        }
        if order.work.clones() {
            return Err(PredictError::NoClones { cell: label() });
        }
        let machine =
            run.machine().map_err(|source| PredictError::Machine { cell: label(), source })?;
        for (noticed, fault) in noticed.iter_mut().zip(&planned) {
            *noticed |= fault.is_an_end() || fault.concerns(&machine)?;
        }
        late_fault(&run, &planned)?;
    }
    match planned.iter().zip(noticed).find(|(_, noticed)| !noticed) {
        None => Ok(()),
        Some((fault, _)) => Err(PredictError::IdleFault { fault: fault.what.to_string() }),
    }
}

/// Refuses a file test through a page cache that is unknown or too small.
fn page_cache(run: &TrialRun<'_>, label: impl Fn() -> String) -> Result<(), PredictError> {
    let hosts = &run.site.hosts[run.site.datastores[run.place.datastore].hosts];
    let Some(cache) = &hosts.page_cache else {
        return Err(PredictError::NoPageCache { cell: label(), hosts: hosts.name.clone() });
    };
    let files = u64::from(run.order.vms.div_ceil(hosts.count.max(1)));
    let bytes = files.saturating_mul(run.order.disk_bytes);
    match bytes > cache.memory_bytes {
        false => Ok(()),
        true => Err(PredictError::FilesAboveMemory {
            cell: label(),
            files: format_bytes(bytes),
            memory: format_bytes(cache.memory_bytes),
        }),
    }
}

/// Refuses a fault after the end of a trial, which would silently have no effect. The length of trials of fixed work is
/// not known in advance.
fn late_fault(run: &TrialRun<'_>, planned: &[Planned]) -> Result<(), PredictError> {
    let TrialOrder { work, timing, .. } = run.order;
    let end_ns = timing.ramp_ns.saturating_add(timing.duration_ns);
    let is_timed = work.is_timed();
    match planned.iter().find(|fault| is_timed && fault.what.at_ns >= end_ns) {
        None => Ok(()),
        Some(fault) => Err(PredictError::LateFault {
            fault: fault.what.to_string(),
            end: format_duration_ns(end_ns as f64),
        }),
    }
}
