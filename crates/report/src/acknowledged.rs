//! What an acknowledged write means on each datastore, as a row next to the figures.
//!
//! The row is about what the datastores promise of their own accord. Where every write is durable because the workload
//! asks for it, it says that instead, except of a datastore that cannot keep what is written.

use stormeter_results::{Header, Promise, PromiseEvidence};
use stormeter_study::{StudyPlan, WorkloadKind};
use stormeter_trial::TransferDirection;

use crate::phrases;

/// The name of the row.
pub(crate) const TITLE: &str = "acknowledged writes";

/// The row: words for each datastore in the order of the plan. `None` where nothing is written, and where no promise is
/// known, as in results from before they were found out.
pub(crate) fn row(header: &Header) -> Option<Vec<&'static str>> {
    let plan = &header.plan;
    let is_known = header.datastores.iter().any(|store| store.promise.is_some());
    if !is_known || !plan.workloads.iter().any(|workload| writes(&workload.kind)) {
        return None;
    }
    let is_forced = is_forced(plan);
    let of = |promise: &Option<Promise>| promise.as_ref().map_or("–", |it| words(it, is_forced));
    Some(header.datastores.iter().map(|store| of(&store.promise)).collect())
}

/// The promise of a datastore with all its evidence.
pub(crate) fn sentence(promise: &Promise) -> String {
    format!("Acknowledged writes: {}", phrases::promise(promise))
}

/// Whether every workload that writes asks for durable writes.
fn is_forced(plan: &StudyPlan) -> bool {
    let mut writing = plan.workloads.iter().filter(|workload| writes(&workload.kind));
    writing.all(|workload| matches!(&workload.kind, WorkloadKind::Io(io) if io.durable))
}

fn writes(workload: &WorkloadKind) -> bool {
    match workload {
        WorkloadKind::Io(io) => io.writes(),
        WorkloadKind::File(file) => !file.operation.reads(),
        WorkloadKind::Transfer(transfer) => transfer.direction == TransferDirection::Write,
        WorkloadKind::Deploy(_) | WorkloadKind::Desktops(_) => true,
        // What a server does with a file is not seen by its users.
        WorkloadKind::Ftp(_) | WorkloadKind::Vnc(_) => false,
    }
}

fn words(promise: &Promise, is_forced: bool) -> &'static str {
    let has = |is_it: fn(&PromiseEvidence) -> bool| promise.evidence.iter().any(is_it);
    let keeps_nothing =
        has(|it| matches!(it, PromiseEvidence::NothingStored | PromiseEvidence::KeepsNothing));
    let is_memory = has(|it| {
        matches!(
            it,
            PromiseEvidence::FileSystemInMemory { .. } | PromiseEvidence::DeviceInMemory { .. }
        )
    });
    match (keeps_nothing, is_forced && !is_memory) {
        (true, _) => "not kept",
        (false, true) => "durable, as asked for",
        (false, false) => phrases::acknowledged(promise.acknowledged),
    }
}
