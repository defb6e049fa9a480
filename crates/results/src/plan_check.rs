//! Whether a run could have stored a plan. A file may come from anywhere, and the plan's numbers are used as indices
//! and in formulas.

use std::collections::HashSet;

use stormeter_study::{Blocks, StudyPlan, StudyWorkload, WorkloadKind};

/// What of a plan no run could have stored, as a clause.
pub(crate) fn check_plan(plan: &StudyPlan) -> Result<(), String> {
    check_factors(plan)?;
    let design = &plan.design;
    if !(design.precision > 0.0 && design.precision <= 1.0) {
        return Err(format!("a precision of {}", design.precision));
    }
    if !(design.margin > 0.0 && design.margin < 1.0) {
        return Err(format!("a margin of {}", design.margin));
    }
    // Below a half, an interval on both sides of an estimate is no longer one.
    if !(design.level > 0.5 && design.level < 1.0) {
        return Err(format!("a confidence level of {}", design.level));
    }
    match design.blocks {
        Blocks::Auto { min, max } if min == 0 || max < min => {
            return Err(format!("{min} to {max} blocks"));
        }
        Blocks::Fixed(0) => return Err("0 blocks".into()),
        Blocks::Auto { .. } | Blocks::Fixed(_) => {}
    }
    if plan.timing.duration_ns == 0 || plan.timing.interval_ns == 0 {
        return Err("trials or intervals of 0 ns".into());
    }
    for (number, workload) in plan.workloads.iter().enumerate() {
        check_workload(workload, plan.disk_bytes_of(number))
            .map_err(|what| format!("workload {:?}: {what}", workload.name))?;
    }
    Ok(())
}

/// Whether the levels of the factors make cells, and no more than memory holds: a few kilobytes of
/// levels could stand for more cells than there is room for.
fn check_factors(plan: &StudyPlan) -> Result<(), String> {
    /// Ten times the largest study that can be thought of: a trial takes seconds, and a year has
    /// 30 million of them.
    const MOST_CELLS: usize = 1 << 16;
    if plan.baseline >= plan.datastores.len() {
        let datastores = plan.datastores.len();
        return Err(format!("the baseline is number {} of {datastores} datastores", plan.baseline));
    }
    let loads = plan.vms.len().checked_mul(plan.outstanding.len().max(1));
    let cells = loads
        .and_then(|loads| loads.checked_mul(plan.workloads.len()))
        .and_then(|cells| cells.checked_mul(plan.datastores.len()));
    match cells {
        None | Some(0) => return Err("its factors make no cells".into()),
        Some(cells) if cells > MOST_CELLS => {
            return Err(format!("its factors make {cells} cells"));
        }
        Some(_) => {}
    }
    if plan.vms.contains(&0) {
        return Err("a load of 0 VMs".into());
    }
    if let Some(outstanding) = plan.outstanding.iter().find(|n| !(1..=65_536).contains(*n)) {
        return Err(format!("{outstanding} outstanding I/Os"));
    }
    let datastores = plan.datastores.iter().map(|datastore| &datastore.name);
    if datastores.collect::<HashSet<_>>().len() < plan.datastores.len() {
        return Err("two datastores of one name".into());
    }
    let workloads = plan.workloads.iter().map(|workload| &workload.name);
    if workloads.collect::<HashSet<_>>().len() < plan.workloads.len() {
        return Err("two workloads of one name".into());
    }
    Ok(())
}

fn check_workload(workload: &StudyWorkload, disk_bytes: u64) -> Result<(), String> {
    let zero = match &workload.kind {
        WorkloadKind::Io(io) => {
            return io.check(disk_bytes).map_err(|error| error.to_string());
        }
        WorkloadKind::File(test) => test.record_bytes == 0 || test.outstanding == 0,
        WorkloadKind::Transfer(transfer) => transfer.message_bytes == 0 || transfer.messages == 0,
        WorkloadKind::Deploy(deploy) => {
            (deploy.copy_bytes == 0) != deploy.clone || deploy.outstanding == 0
        }
        WorkloadKind::Ftp(ftp) => ftp.file_bytes == 0 || ftp.files == 0,
        WorkloadKind::Vnc(_) => false,
        WorkloadKind::Desktops(load) => {
            for io in [&load.session.log_on, &load.session.work] {
                io.check(disk_bytes).map_err(|error| error.to_string())?;
            }
            load.deployment.outstanding == 0
        }
    };
    if zero { Err("a trial of fixed work without work".into()) } else { Ok(()) }
}
