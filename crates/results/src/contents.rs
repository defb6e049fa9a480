//! What a results file contains: a comparison or a study. Both keep their trials in the same tables;
//! they differ in the plan.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stormeter_study::{Blocks, ComparisonPlan, StudyPlan, StudyWorkload, WorkloadKind};

/// What a results file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// A comparison, from `compare`. All files of forms 1 and 2 are comparisons.
    Comparison,
    /// A study, from `run`.
    Study,
}

impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Contents::Comparison => "a comparison",
            Contents::Study => "a study",
        })
    }
}

/// A plan that a results file can have: a comparison's or a study's, and no other.
pub trait Planned: Serialize + DeserializeOwned + sealed::Sealed {
    /// The contents of a file with such a plan.
    const CONTENTS: Contents;

    /// Number of datastores.
    fn datastore_count(&self) -> usize;

    /// Index of the baseline, to which the others are relative.
    fn baseline(&self) -> usize;

    /// Confidence level of the intervals.
    fn confidence_level(&self) -> f64;

    /// Checks that a run could have stored it. A file from elsewhere may contain anything, and the
    /// plan's numbers are used as indices and in formulas.
    ///
    /// # Errors
    /// What is wrong, as a clause.
    fn check_stored(&self) -> Result<(), String>;

    /// The plan, if it is a study's.
    fn as_study(&self) -> Option<&StudyPlan> {
        None
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for stormeter_study::ComparisonPlan {}
    impl Sealed for stormeter_study::StudyPlan {}
}

impl Planned for ComparisonPlan {
    const CONTENTS: Contents = Contents::Comparison;

    fn datastore_count(&self) -> usize {
        self.datastores.len()
    }

    fn baseline(&self) -> usize {
        self.baseline
    }

    fn confidence_level(&self) -> f64 {
        self.level
    }

    fn check_stored(&self) -> Result<(), String> {
        self.check().map_err(|error| error.to_string())
    }
}

impl Planned for StudyPlan {
    const CONTENTS: Contents = Contents::Study;

    fn datastore_count(&self) -> usize {
        self.datastores.len()
    }

    fn baseline(&self) -> usize {
        self.baseline
    }

    fn confidence_level(&self) -> f64 {
        self.design.level
    }

    fn check_stored(&self) -> Result<(), String> {
        check_factors(self)?;
        let design = &self.design;
        if !(design.precision > 0.0 && design.precision <= 1.0) {
            return Err(format!("a precision of {}", design.precision));
        }
        if !(design.margin > 0.0 && design.margin < 1.0) {
            return Err(format!("a margin of {}", design.margin));
        }
        match design.blocks {
            Blocks::Auto { min, max } if min == 0 || max < min => {
                return Err(format!("{min} to {max} blocks"));
            }
            Blocks::Fixed(0) => return Err("0 blocks".into()),
            Blocks::Auto { .. } | Blocks::Fixed(_) => {}
        }
        if self.timing.duration_ns == 0 || self.timing.interval_ns == 0 {
            return Err("trials or intervals of 0 ns".into());
        }
        for (number, workload) in self.workloads.iter().enumerate() {
            check_workload(workload, self.disk_bytes_of(number))
                .map_err(|what| format!("workload {:?}: {what}", workload.name))?;
        }
        Ok(())
    }

    fn as_study(&self) -> Option<&StudyPlan> {
        Some(self)
    }
}

/// Checks that the levels of the factors make cells, and no more than fit into memory: a few
/// kilobytes of levels could stand for more cells than there is space for.
fn check_factors(plan: &StudyPlan) -> Result<(), String> {
    /// Ten times the largest conceivable study: a trial takes seconds, and a year has 30 million of
    /// them.
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
        WorkloadKind::Deploy(deploy) => deploy.copy_bytes == 0 || deploy.outstanding == 0,
    };
    if zero { Err("a trial of fixed work without work".into()) } else { Ok(()) }
}
