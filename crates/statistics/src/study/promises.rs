//! Whether the compared datastores mean the same by a write that they acknowledge, and whether flushes that a workload
//! asks for were seen.
//!
//! A datastore that answers from a cache which a loss of power empties is faster than one that answers from stable
//! storage because it does less. Such a difference is true, but it is one of durability: it is worth a warning, and
//! the verdict stays. A workload whose writes are durable or flushed asks the same of all of them.

use stormeter_study::{StudyPlan, StudyWorkload, WorkloadKind};
use stormeter_trial::Sample;

use super::measured::Measured;
use super::surroundings::Surroundings;
use crate::finding::{Fact, LawFinding, Promised};

/// The warning that the datastores promise different things to a workload that relies on it. A datastore whose promise
/// was not found out says nothing, nor does one that completes at once and stores nothing by design.
pub(super) fn unlike_promises(plan: &StudyPlan, surroundings: &Surroundings) -> Option<LawFinding> {
    let relying: Vec<&StudyWorkload> =
        plan.workloads.iter().filter(|workload| relies(&workload.kind)).collect();
    let is_null = |datastore| surroundings.is_null.get(datastore).copied().unwrap_or(false);
    let known = plan.datastores.iter().zip(&surroundings.promises).enumerate();
    let promised: Vec<Promised> = known
        .filter(|(datastore, _)| !is_null(*datastore))
        .filter_map(|(datastore, (named, promise))| {
            Some(Promised { datastore, name: named.name.clone(), promise: promise.clone()? })
        })
        .collect();
    let first = promised.first()?.promise.acknowledged;
    let is_alike = promised.iter().all(|other| other.promise.acknowledged == first);
    if relying.is_empty() || is_alike {
        return None;
    }
    let workloads = match relying.len() == plan.workloads.len() {
        true => vec![],
        false => relying.iter().map(|workload| workload.name.clone()).collect(),
    };
    Some(LawFinding::warning(Fact::UnlikePromises { promised, workloads }))
}

/// Whether the workload writes and leaves it to the datastore where its bytes then are.
fn relies(workload: &WorkloadKind) -> bool {
    match workload {
        WorkloadKind::Io(io) => io.writes() && !io.asks_for_durability(),
        // The work ends when its files are written, and no setting makes its writes durable.
        _ => false,
    }
}

/// The note that not one flush that the workload asks for ended in the window of a trial of this cell.
pub(super) fn unflushed(measured: &Measured<'_>, cell: usize) -> Option<LawFinding> {
    let WorkloadKind::Io(io) = &measured.plan.workloads[measured.cells[cell].workload].kind else {
        return None;
    };
    let every = io.flush?;
    let trials = measured.trials(cell);
    // One that failed ended too, and is reported as what it is.
    let has_none = |sample: &Sample| sample.flushes.operations == 0 && sample.flushes.errors == 0;
    let is_unseen = !trials.is_empty() && trials.iter().all(|trial| has_none(trial.sample));
    is_unseen.then(|| LawFinding::note(Fact::NoFlush(every)))
}
