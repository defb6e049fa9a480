//! The disks of a study, of which every cell uses a part.

use stormeter_datastore::DiskSpec;
use stormeter_study::{Cell, PlanError, Prepare, StudyPlan, WorkloadKind, fill_seed};
use stormeter_trial::Workload;

use crate::ceiling::granularity;
use crate::fill_spec::FillSpec;

/// The granularity of deployments: a page.
const PAGE_BYTES: u32 = 4096;

/// The disks that suit every cell: the most VMs, the largest disk, the finest alignment.
pub(crate) fn disk_spec(plan: &StudyPlan) -> DiskSpec {
    let disks = plan.disks();
    let kinds = plan.workloads.iter().map(|workload| &workload.kind);
    DiskSpec {
        count: disks.count,
        size_bytes: disks.bytes,
        granularity_bytes: kinds.map(granularity_of).min().unwrap_or(PAGE_BYTES),
    }
}

fn granularity_of(kind: &WorkloadKind) -> u32 {
    match kind {
        WorkloadKind::Io(workload) => granularity(workload),
        WorkloadKind::File(test) => 1 << test.record_bytes.trailing_zeros().min(30),
        _ => PAGE_BYTES,
    }
}

/// The content of the disks before the first trial: that of the first workload that writes, so that overwritten and
/// untouched places are alike.
pub(crate) fn filling(plan: &StudyPlan, store: usize) -> FillSpec {
    let content = plan.workloads.iter().find_map(|workload| match &workload.kind {
        WorkloadKind::Io(io) if io.read_percent < 100.0 => Some(io.content),
        _ => None,
    });
    // If no workload writes, the workloads that read define the content.
    let content = content.or_else(|| {
        plan.workloads.iter().find_map(|workload| match &workload.kind {
            WorkloadKind::Io(io) => Some(io.content),
            _ => None,
        })
    });
    FillSpec {
        disks: disk_spec(plan),
        content: content.unwrap_or_default(),
        seed: fill_seed(plan.seed, store),
        zero: plan.prepare == Prepare::Zero,
    }
}

/// The smallest block that any workload needs for verification; `None` without verification.
pub(crate) fn unit_bytes(plan: &StudyPlan) -> Result<Option<u32>, PlanError> {
    if !plan.verify {
        return Ok(None);
    }
    let mut least: Option<u32> = None;
    for workload in &plan.workloads {
        if let WorkloadKind::Io(io) = &workload.kind {
            let unit = io.verify_unit_bytes()?;
            least = Some(least.map_or(unit, |least| least.min(unit)));
        }
    }
    Ok(least)
}

/// The workload of a cell with the cell's load.
pub(crate) fn loaded(workload: &Workload, cell: &Cell) -> Workload {
    let mut workload = workload.clone();
    if let (Some(outstanding), stormeter_trial::Arrivals::Closed { .. }) =
        (cell.outstanding, workload.arrivals)
    {
        workload.arrivals = stormeter_trial::Arrivals::Closed { outstanding };
    }
    workload
}

/// The label of a cell: `nas, vm-4k, 4 VMs × 8`.
pub fn cell_label(plan: &StudyPlan, cell: &Cell) -> String {
    let datastore = plan.datastores.get(cell.datastore).map_or("", |store| store.name.as_str());
    let workload = plan.workloads.get(cell.workload).map_or("", |it| it.name.as_str());
    format!("{datastore}, {workload}, {}", plan.load_label(cell))
}
