//! What a file test finds: a file that does not exist yet, or one that was read just before.

use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Datastore, RealClock};
use stormeter_study::WorkloadKind;
use stormeter_trial::{FileOperation, FileTest, NoteFact, TrialNote};

use super::{FixedWorkRun, run_fixed_work};
use crate::error::RunError;
use crate::progress::Progress;
use crate::threads::TrialEnd;

/// How the disks are for a trial of fixed work.
pub(crate) enum Before {
    /// As it needs them, with what is worth knowing about them.
    Ready(Vec<TrialNote>),
    /// What should have made them so went wrong or was cancelled, and is what the trial comes to.
    Ended(Box<TrialEnd>),
}

/// Makes the disks ready for a trial of fixed work; nothing of it is measured.
pub(crate) fn before(
    run: &FixedWorkRun<'_>,
    datastore: &mut Datastore,
    (clock, cancel): (&RealClock, &AtomicBool),
    progress: &mut dyn Progress,
) -> Result<Before, RunError> {
    if run.wants_fresh_files() {
        let fresh = datastore.make_fresh(0..run.vms);
        let said = fresh.map_err(|source| RunError::Datastore {
            url: datastore.description().url.to_string(),
            source,
        })?;
        let notes = said.into_iter().map(|said| NoteFact::Prepared { said }.into());
        return Ok(Before::Ready(notes.collect()));
    }
    if let WorkloadKind::File(test @ FileTest { operation: FileOperation::Reread, .. }) = run.kind {
        // What is read again was read before, at once before and by nobody else since.
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
