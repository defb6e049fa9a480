//! Prepares the disks of fixed work: a file that does not exist yet, or one that was just read; a template to be cloned.

use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Datastore, RealClock};
use stormeter_study::WorkloadKind;
use stormeter_trial::{FileOperation, FileTest, NoteFact, TrialNote};

use super::order::FixedWorkRun;
use super::run::run_fixed_work;
use crate::error::RunError;
use crate::progress::Progress;
use crate::trial_end::TrialEnd;

/// The state of the disks before a trial of fixed work.
pub(crate) enum Before {
    /// Ready, with notes about them.
    Ready(Vec<TrialNote>),
    /// The preparation failed or was cancelled, which is the outcome of the trial.
    Ended(Box<TrialEnd>),
}

/// Makes the disks ready for a trial of fixed work; nothing of it is measured.
pub(crate) fn before(
    run: &FixedWorkRun<'_>,
    datastore: &mut Datastore,
    (clock, cancel): (&RealClock, &AtomicBool),
    progress: &mut dyn Progress,
) -> Result<Before, RunError> {
    let url = datastore.description().url.to_string();
    let failed = |source| RunError::Datastore { url, source };
    if run.kind.clones() {
        datastore.ready_to_clone(run.vms, 0..run.vms).map_err(failed)?;
        return Ok(Before::Ready(Vec::new()));
    }
    if run.wants_fresh_files() {
        let fresh = datastore.make_fresh(0..run.vms).map_err(failed)?;
        let notes = fresh.into_iter().map(|disks| NoteFact::Prepared { disks }.into());
        return Ok(Before::Ready(notes.collect()));
    }
    if let WorkloadKind::File(test @ FileTest { operation: FileOperation::Reread, .. }) = run.kind {
        // A reread follows immediately on a read.
        let first = FileTest { operation: FileOperation::Read, ..*test };
        let kind = WorkloadKind::File(first);
        let run = FixedWorkRun { kind: &kind, ..run.clone() };
        let first = run_fixed_work(&run, datastore, clock, cancel, progress)?;
        if first.failure().is_some() {
            return Ok(Before::Ended(Box::new(first)));
        }
    }
    Ok(Before::Ready(Vec::new()))
}
