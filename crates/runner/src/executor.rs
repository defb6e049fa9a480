//! Who carries out the trials of a study: this process, agents on hosts, a model in virtual time, or whoever else
//! implements [`Executor`].
//!
//! The runner decides what is done and in which order, and stores the outcome; an executor does it. What they
//! exchange are plain values that can go through a pipe. So the runner knows neither how a host is reached nor that
//! there are several: they yield one trial, with each host's share beside it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use stormeter_datastore::{DiskReset, DiskSpec};
use stormeter_results::{DatastoreDescription, Elasticity, HostDescription, IdleReading};
use stormeter_study::{Timing, WorkloadKind, fill_order};
use stormeter_trial::{Limits, Start};

use crate::error::RunError;
use crate::fill_spec::FillSpec;
use crate::fixed_work::{FixedWorkRun, ListenOrder};
use crate::progress::Progress;
use crate::threads::{TrialEnd, TrialRun};

/// Hears of the outcome of the trial of that number, and says whether to go on.
pub type OnTrialEnd<'a> =
    dyn FnMut(usize, Result<TrialEnd, RunError>, &mut dyn Progress) -> Result<(), RunError> + 'a;

/// Carries out trials.
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

    /// Writes the disks of all datastores; `orders` has one for each, in the order of the stores. By default one
    /// datastore follows the other, in an order that follows from the seed.
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

    /// Carries out a trial; hosts begin it together.
    ///
    /// # Errors
    /// The trial could not be carried out, or a host failed. What goes wrong within the trial is in the sample.
    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError>;

    /// How many trials it may be asked for at a time. More than one are for those that share nothing, not even time.
    fn width(&self) -> usize {
        1
    }

    /// Carries out trials and tells the outcome of each, in their order, before it returns. By default one follows the
    /// other. It ends early when `cancel` is set, and tells nothing more from then on.
    ///
    /// # Errors
    /// What `on_end` returned.
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

    /// What more of each part of the storage would bring trials, each of the cell of its number. Only a model can be
    /// changed to find out.
    fn elasticities(
        &mut self,
        _orders: &[TrialOrder],
        _cancel: &AtomicBool,
        _progress: &mut dyn Progress,
    ) -> Vec<Elasticity> {
        Vec::new()
    }

    /// All disks are as they were after they had been written: the storage was rolled back.
    fn rolled_back(&mut self) {}

    /// Removes the disks and closes everything. Gives what stays and why.
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
    /// What is read is verified.
    pub verification: Option<Verification>,
    /// The CPU time of each datastore's server must be known.
    pub needs_target: bool,
}

/// How what is read is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Each block of this size says whose it is and how often it was written.
    pub unit_bytes: u32,
    /// How often the run was resumed: blocks that an earlier process wrote are no surprise.
    pub resumptions: u32,
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

/// What opening found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Opened {
    /// The hosts, in the order of the study; none where this machine is the only one.
    pub hosts: Vec<HostDescription>,
    /// The datastores; of several hosts as the first has them, with the others' notes.
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
    /// What is unknown about their state.
    pub notes: Vec<PreparedNote>,
}

/// Something that is unknown about the state of prepared disks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedNote {
    /// The host, where the study has several.
    pub host: Option<String>,
    /// The message from their kind of storage.
    pub said: String,
}

impl From<String> for PreparedNote {
    fn from(said: String) -> Self {
        Self { host: None, said }
    }
}

/// What a trial is carried out on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialTarget {
    /// A store that is open, by its number.
    Store(usize),
    /// Nothing, which answers at once: the load generator's ceiling.
    Nothing,
    /// A server that answers from nothing, by its URL: the ceiling of the way to a datastore.
    NullServer(String),
}

/// A trial to be carried out: everything that it depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialOrder {
    /// On what.
    pub target: TrialTarget,
    /// What each VM does: the load of a timed trial, or a trial of fixed work. Hosts do no deployments.
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

    /// The store, where it is on one.
    pub fn store(&self) -> Option<usize> {
        match self.target {
            TrialTarget::Store(store) => Some(store),
            TrialTarget::Nothing | TrialTarget::NullServer(_) => None,
        }
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
