//! The boundary to trials that are carried out on other hosts, in plain values that go through a pipe.
//!
//! The runner decides what is done and in which order, and stores what comes of it; whoever
//! implements [`Elsewhere`] has it done. So the runner knows neither how a host is reached nor that there
//! are several: what they yield is one trial, with each host's share beside.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use stormeter_datastore::{DiskReset, DiskSpec};
use stormeter_results::{DatastoreDescription, HostDescription};
use stormeter_study::{Timing, WorkloadKind};
use stormeter_trial::{Limits, Start};

use crate::error::RunError;
use crate::fill_spec::FillSpec;
use crate::fixed_work::{FixedWorkRun, ListenOrder};
use crate::progress::Progress;
use crate::threads::{TrialEnd, TrialRun};

/// Where trials are carried out that this process does not carry out itself.
pub trait Elsewhere {
    /// Reaches the hosts and opens the datastores there. Nothing is written to them yet.
    ///
    /// # Errors
    /// A host cannot be reached, or refuses a datastore.
    fn open(
        &mut self,
        order: &OpenOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<OpenedHosts, RunError>;

    /// Writes the disks of a datastore on all hosts at once.
    ///
    /// # Errors
    /// A host failed, or the run was cancelled; the others were stopped then.
    fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError>;

    /// Carries out a trial on all hosts, begun together.
    ///
    /// # Errors
    /// A host failed within a bounded time; the others were stopped then. What goes wrong within the trial
    /// is in the sample.
    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError>;

    /// Removes the disks on all hosts and takes leave. Gives what stays and why.
    fn remove(&mut self) -> Vec<String>;
}

/// Datastores to be opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenOrder {
    /// The run: 16 hexadecimal digits.
    pub run_id: String,
    /// Datastores, in the order of the plan. A path is one of the host's.
    pub urls: Vec<String>,
    /// The disks that each must have room for, all hosts together.
    pub disks: DiskSpec,
    /// Devices and LUNs whose data may be destroyed.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords by the datastores' URLs.
    pub secrets: Vec<(String, Password)>,
    /// The number of the first datastore: hosts that share storage must not take each other's folder for
    /// their own.
    pub first_number: u32,
}

/// A password on its way to a host. It prints as `***`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(pub String);

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// What opening found on a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenedStores {
    /// The datastores, in the order of the plan.
    pub datastores: Vec<DatastoreDescription>,
    /// Which store each datastore is: one that is named twice (an A/A test) may be open once.
    pub store_of: Vec<usize>,
    /// That two of them share what they should not.
    pub warning: Option<String>,
}

/// What opening found on all hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenedHosts {
    /// The hosts, in the order of the study.
    pub hosts: Vec<HostDescription>,
    /// The datastores as the first host has them, with the others' notes.
    pub stores: OpenedStores,
}

/// Disks to be written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrepareOrder {
    /// Which store.
    pub store: usize,
    /// With what; its disks are those of all hosts together.
    pub filling: FillSpec,
    /// How disks that are there are brought back; `None`: they are new, or used again.
    pub reset: Option<DiskReset>,
}

/// Disks were written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedStore {
    /// They were there already, from an earlier process of the run.
    pub reused: bool,
    /// What could not be shown about them.
    pub notes: Vec<String>,
}

/// A trial to be carried out: everything that it depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialOrder {
    /// Which store; `None`: the generator's ceiling, on nothing.
    pub store: Option<usize>,
    /// What each VM does: the load of a timed trial, or a trial of fixed work. Deployments are not done elsewhere.
    pub work: WorkloadKind,
    /// I/Os outstanding of each worker of a file test, where they are not as `work` says.
    pub outstanding: Option<u32>,
    /// Where the clients of a transfer come in; whoever leads the hosts says so to each.
    pub listener: Option<ListenOrder>,
    /// Virtual disks.
    pub vms: u32,
    /// Size of each.
    pub disk_bytes: u64,
    /// Driving threads; 0: one a CPU.
    pub threads: u32,
    /// The first thread's CPU among those of the process: hosts may turn out to be one machine.
    pub first_cpu: u32,
    /// How it passes in time.
    pub timing: Timing,
    /// Operations follow from it.
    pub seed: u64,
    /// What is written follows from it.
    pub content_seed: u64,
    /// Where sequential streams begin.
    pub start: Start,
    /// The storage is disturbed on purpose: errors and stalls are counted and end nothing.
    #[serde(default)]
    pub disturbed: bool,
}

impl TrialOrder {
    /// The trial, where it is a timed one.
    pub fn timed(&self) -> Option<TrialRun<'_>> {
        let WorkloadKind::Io(workload) = &self.work else { return None };
        Some(TrialRun {
            workload,
            vms: self.vms,
            disk_bytes: self.disk_bytes,
            threads: self.threads,
            timing: self.timing,
            seed: self.seed,
            content_seed: self.content_seed,
            start: self.start,
            disturbed: self.disturbed,
        })
    }

    /// The trial as one of fixed work, where it is no timed one.
    pub fn fixed_work(&self) -> FixedWorkRun<'_> {
        FixedWorkRun {
            kind: &self.work,
            vms: self.vms,
            disk_bytes: self.disk_bytes,
            outstanding: self.outstanding,
            threads: self.threads,
            interval_ns: self.timing.interval_ns,
            seed: self.seed,
            content_seed: self.content_seed,
            start: self.start,
            limits: Limits::default(),
        }
    }
}
