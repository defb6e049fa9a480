//! The request for a cell's trial.

use stormeter_study::{Cell, StudyPlan, WorkloadKind, trial_seed};

use crate::executor::{TrialOrder, TrialTarget};
use crate::study::setting::loaded;

/// The request for a trial of a cell. `draw` is the number from which its randomness is derived: the block's, for trials
/// of a block. `number` is the cell's place in the plan. Its store has the number of its datastore.
pub fn trial_order(plan: &StudyPlan, cell: &Cell, number: usize, draw: u32) -> TrialOrder {
    let work = match &plan.workloads[cell.workload].kind {
        WorkloadKind::Io(io) => WorkloadKind::Io(loaded(io, cell)),
        fixed_work => fixed_work.clone(),
    };
    TrialOrder {
        target: TrialTarget::Store(cell.datastore),
        work,
        outstanding: cell.outstanding,
        listener: None,
        vms: cell.vms,
        first_vm: 0,
        disk_bytes: plan.disk_bytes_of(cell.workload),
        threads: plan.threads,
        first_cpu: 0,
        timing: plan.timing,
        seed: trial_seed(plan.seed, draw),
        start: plan.start_of(draw, number),
        content_seed: plan.content_seed_of(draw, number),
        disturbed: false,
        watched: false,
    }
}
