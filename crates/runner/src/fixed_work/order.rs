//! A trial of fixed work as it is requested: its work, its disks, and whether it is possible.

use stormeter_study::WorkloadKind;
use stormeter_trial::{
    Deployment, FileOperation, FileTest, FixedWork, FixedWorkError, FixedWorkTrial, Limits,
    Transfer, TransferSink,
};

/// A trial of fixed work over all its threads.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedWorkRun<'a> {
    /// The kind of work.
    pub kind: &'a WorkloadKind,
    /// Workers: files written or read at once, VMs deployed at once, pairs of client and server.
    pub vms: u32,
    /// Size of each disk.
    pub disk_bytes: u64,
    /// Outstanding I/Os of each worker, if they differ from `kind`. A transfer has none.
    pub outstanding: Option<u32>,
    /// Driving threads for fixed work on disks; 0: one per CPU, but at most one per VM. Each client and each server of a
    /// transfer has a thread of its own.
    pub threads: u32,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// The seed of orders and offsets.
    pub seed: u64,
    /// The seed of written or sent content.
    pub content_seed: u64,
    /// Where on their disks the servers of a transfer start. File tests and deployments cover the whole disk each time.
    pub start: stormeter_trial::Start,
    /// When to give up.
    pub limits: Limits,
}

impl FixedWorkRun<'_> {
    /// The number of disks that the datastore must have prepared: one per VM, and for a deployment the template after
    /// them. 0 if no disk takes part.
    pub fn disks(&self) -> u32 {
        match self.kind {
            kind if kind.has_template() => self.vms.saturating_add(1),
            WorkloadKind::Transfer(transfer) if transfer.sink == TransferSink::Memory => 0,
            _ => self.vms,
        }
    }

    /// Offsets and lengths of all I/Os are multiples of this, on disks whose size is a multiple, too.
    pub fn granularity_bytes(&self) -> u32 {
        match self.disk_fixed_work() {
            Some(fixed_work) => self.trial(fixed_work, 0, self.vms).granularity_bytes().max(1),
            None => Transfer::BLOCK_BYTES,
        }
    }

    /// Whether the disks of the workers must be recreated before each trial
    /// ([`stormeter_datastore::Datastore::make_fresh`]), because a new file is written.
    pub fn wants_fresh_files(&self) -> bool {
        matches!(self.kind, WorkloadKind::File(test) if test.operation == FileOperation::Write)
    }

    /// Checks whether the work is possible.
    ///
    /// # Errors
    /// See [`FixedWorkError`].
    pub fn check(&self) -> Result<(), FixedWorkError> {
        match self.kind {
            WorkloadKind::Transfer(transfer) => {
                transfer.check(self.vms, self.disk_bytes, self.interval_ns)
            }
            kind if kind.is_timed() => Err(FixedWorkError::OtherWork {
                given: "timed workload",
                done: "trial of fixed work",
            }),
            _ => self
                .disk_fixed_work()
                .map_or(Ok(()), |fixed_work| self.trial(fixed_work, 0, self.vms).check()),
        }
    }

    pub(super) fn transfer(&self) -> Result<&Transfer, FixedWorkError> {
        match self.kind {
            WorkloadKind::Transfer(transfer) => Ok(transfer),
            _ => Err(FixedWorkError::OtherWork { given: "trial of other work", done: "transfer" }),
        }
    }

    pub(super) fn disk_fixed_work(&self) -> Option<FixedWork> {
        match self.kind.clone() {
            WorkloadKind::File(test) => Some(FixedWork::File(FileTest {
                outstanding: self.outstanding.unwrap_or(test.outstanding),
                ..test
            })),
            WorkloadKind::Deploy(deployment) => Some(FixedWork::Deploy(Deployment {
                outstanding: self.outstanding.unwrap_or(deployment.outstanding),
                ..deployment
            })),
            _ => None,
        }
    }

    pub(super) fn trial(
        &self,
        fixed_work: FixedWork,
        first_disk: u32,
        disks: u32,
    ) -> FixedWorkTrial {
        FixedWorkTrial {
            fixed_work,
            first_disk,
            disks,
            disk_bytes: self.disk_bytes,
            seed: self.seed,
            content_seed: self.content_seed,
            interval_ns: self.interval_ns,
            limits: self.limits,
        }
    }
}
