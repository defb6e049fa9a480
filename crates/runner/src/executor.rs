//! Executors run the trials of a study: threads of this process, agents on hosts, or a model in virtual time.
//!
//! The runner decides what is done and in which order, and stores the outcome; an executor does it. They exchange plain
//! values that can go through a pipe. So the runner knows neither how a host is reached nor that there are several: they
//! yield one trial, with the share of each host.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use stormeter_datastore::{DiskReset, DiskSpec, Durability};
use stormeter_results::{
    AssumedEffect, DatastoreDescription, DatastoreNote, Elasticity, HostDescription, IdleReading,
    SharedFileSystem,
};
use stormeter_study::{Timing, WorkloadKind, fill_order};
use stormeter_trial::{Limits, ServiceLoad, Start};

use crate::desktops::DesktopRun;
use crate::error::RunError;
use crate::fill_spec::FillSpec;
use crate::fixed_work::{FixedWorkRun, ListenOrder};
use crate::password::Password;
use crate::progress::Progress;
use crate::threads::TrialRun;
use crate::trial_end::TrialEnd;

/// Called with the number and the outcome of a trial; an error ends the run.
pub type OnTrialEnd<'a> =
    dyn FnMut(usize, Result<TrialEnd, RunError>, &mut dyn Progress) -> Result<(), RunError> + 'a;

/// Runs trials.
pub trait Executor {
    /// Opens the datastores. Nothing is written to them yet.
    ///
    /// # Errors
    /// A datastore is refused, or a host cannot be reached.
    fn open(
        &mut self,
        order: &OpenOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Opened, RunError>;

    /// Reads the activity of this machine while it is idle; hosts keep theirs. That takes a while, so it is done once the
    /// results file exists: a run that is killed meanwhile can be resumed.
    fn read_idle(&mut self, _cancel: &AtomicBool) -> Option<IdleReading> {
        None
    }

    /// Writes the disks of a datastore, on all hosts at once.
    ///
    /// # Errors
    /// They cannot be written, or the run was cancelled.
    fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError>;

    /// Writes the disks of all datastores; `orders` has one for each, in the order of the stores. By default one datastore
    /// after another, in an order that follows from the seed.
    ///
    /// # Errors
    /// As [`Executor::prepare`].
    fn prepare_all(
        &mut self,
        orders: &[PrepareOrder],
        seed: u64,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PreparedStore>, RunError> {
        let mut all = vec![PreparedStore::default(); orders.len()];
        for store in fill_order(seed, 0, orders.len()) {
            all[store] = self.prepare(&orders[store], cancel, progress)?;
        }
        Ok(all)
    }

    /// Runs a trial; hosts start it together.
    ///
    /// # Errors
    /// The trial could not run, or a host failed. Failures within the trial are in the sample.
    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError>;

    /// The largest number of trials at a time: more than one only if they share nothing, not even time.
    fn width(&self) -> usize {
        1
    }

    /// Runs trials and passes the outcome of each to `on_end`, in their order, before it returns. By default one after
    /// another. It ends early when `cancel` is set, and calls `on_end` no more from then on.
    ///
    /// # Errors
    /// The error of `on_end`.
    fn trials(
        &mut self,
        orders: &[TrialOrder],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
        on_end: &mut OnTrialEnd<'_>,
    ) -> Result<(), RunError> {
        for (number, order) in orders.iter().enumerate() {
            let end = self.trial(order, cancel, progress);
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            on_end(number, end, progress)?;
        }
        Ok(())
    }

    /// What trials depend on; the number of a trial is that of its cell. Only a model can be changed to find out.
    fn sensitivity(
        &mut self,
        _orders: &[TrialOrder],
        _cancel: &AtomicBool,
        _progress: &mut dyn Progress,
    ) -> Sensitivity {
        Sensitivity::default()
    }

    /// The storage was rolled back: all disks are as they were after they had been written.
    fn rolled_back(&mut self) {}

    /// Removes the disks and closes everything. Returns what could not be removed, and why.
    fn remove(&mut self) -> Vec<DatastoreNote>;
}

/// What the cells of a prediction depend on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sensitivity {
    /// The gain from speeding up each part of the storage.
    pub elasticities: Vec<Elasticity>,
    /// What other plausible values of what is assumed would change.
    pub assumed: Vec<AssumedEffect>,
}

/// A request to open datastores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenOrder {
    /// The run's id: 16 hexadecimal digits.
    pub run_id: String,
    /// The datastores, in the order of the plan. Paths are those of the host.
    pub urls: Vec<String>,
    /// The disks that each must have room for, all hosts together.
    pub disks: DiskSpec,
    /// How many of them are templates, which each host needs and no VM has.
    #[serde(default)]
    pub templates: u32,
    /// Devices and LUNs whose data may be destroyed.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords by the datastores' URLs, or by the files that workloads name.
    pub secrets: Vec<(String, Password)>,
    /// The number of the first datastore: hosts that share storage must not mistake each other's directories for their
    /// own.
    pub first_number: u32,
    /// How reads are verified, if they are.
    pub verification: Option<Verification>,
    /// The CPU time of each datastore's server must be known.
    pub needs_target: bool,
    /// What the workloads ask for in addition to reads and writes: storage that cannot do it is refused once its disks
    /// are written, before the first trial.
    #[serde(default)]
    pub durability: Durability,
    /// Workloads make disks as clones: storage that cannot do it is refused at once.
    #[serde(default)]
    pub clones: bool,
    /// What sessions with servers do: each server must offer all of it.
    #[serde(default)]
    pub services: Vec<ServiceLoad>,
    /// The hosts that drive each datastore, by number and in order; an empty list, or none: all.
    #[serde(default)]
    pub drivers: Vec<Vec<u32>>,
}

/// How reads are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The size of a block that carries its owner and its generation.
    pub unit_bytes: u32,
    /// How often the run was resumed: blocks written by earlier processes are expected.
    pub resumptions: u32,
}

/// The opened datastores of a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenedStores {
    /// The datastores, in the order of the plan.
    pub datastores: Vec<DatastoreDescription>,
    /// The store of each datastore: one that is named twice (an A/A test) may be opened only once.
    pub store_of: Vec<usize>,
    /// Two of them that share what they should not.
    pub shared: Option<Box<SharedFileSystem>>,
}

/// The opened hosts and datastores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Opened {
    /// The hosts, in the order of the study; none if this machine is the only one.
    pub hosts: Vec<HostDescription>,
    /// The datastores; for several hosts as the first one sees them, with the notes of the others.
    pub stores: OpenedStores,
}

/// A request to write disks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrepareOrder {
    /// The store.
    pub store: usize,
    /// Their content; the disks are those of all hosts together.
    pub filling: FillSpec,
    /// How many of them are templates ([`OpenOrder::templates`]).
    #[serde(default)]
    pub templates: u32,
    /// How existing disks are reset; `None`: they are new, or reused.
    pub reset: Option<DiskReset>,
}

/// The written disks of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedStore {
    /// They existed already, written by an earlier process of the run.
    pub reused: bool,
    /// What is unknown about their state.
    pub notes: Vec<DatastoreNote>,
}

/// What a trial runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialTarget {
    /// An open store, by its number.
    Store(usize),
    /// Nothing, which answers at once: the load generator's ceiling.
    Nothing,
    /// A null server, by its URL: the ceiling of the path to a datastore.
    NullServer(String),
}

/// A request to run a trial: everything that it depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialOrder {
    /// What it runs on.
    pub target: TrialTarget,
    /// The work of each VM: the load of a timed trial, or fixed work.
    pub work: WorkloadKind,
    /// Outstanding I/Os of each worker of a file test, if they differ from `work`.
    pub outstanding: Option<u32>,
    /// Where the clients of a transfer connect; set by the controller of the hosts.
    pub listener: Option<ListenOrder>,
    /// Virtual disks, or sessions.
    pub vms: u32,
    /// The number of the first of them over all hosts: sessions of different hosts must not be taken for each other.
    #[serde(default)]
    pub first_vm: u32,
    /// Size of each disk.
    pub disk_bytes: u64,
    /// Driving threads; 0: one per CPU.
    pub threads: u32,
    /// The first thread's CPU among those of the process: several hosts may be one machine.
    pub first_cpu: u32,
    /// Its ramp, window and intervals.
    pub timing: Timing,
    /// The seed of operations.
    pub seed: u64,
    /// The seed of written content.
    pub content_seed: u64,
    /// Where sequential streams start.
    pub start: Start,
    /// The storage is disturbed on purpose: errors and stalls are counted and do not end the trial.
    #[serde(default)]
    pub disturbed: bool,
    /// What is seen of it is passed on while it runs ([`crate::Progress::watches`]).
    #[serde(default)]
    pub watched: bool,
}

impl TrialOrder {
    /// The trial, if it is a timed one.
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

    /// The trial, if it is one of desktops on demand.
    pub fn desktops(&self) -> Option<DesktopRun<'_>> {
        Some(DesktopRun {
            load: self.work.desktops()?,
            desktops: self.vms,
            disk_bytes: self.disk_bytes,
            timing: self.timing,
            seed: self.seed,
            content_seed: self.content_seed,
            disturbed: self.disturbed,
        })
    }

    /// The store, if it runs on one.
    pub fn store(&self) -> Option<usize> {
        match self.target {
            TrialTarget::Store(store) => Some(store),
            TrialTarget::Nothing | TrialTarget::NullServer(_) => None,
        }
    }

    /// The trial as one of fixed work, if it is not a timed one.
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
