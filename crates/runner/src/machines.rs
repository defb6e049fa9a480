//! The boundary to what makes desktops as machines, such as a lab; and the executor of studies of them.
//!
//! One thread leads the broker. Machines are made, booted and taken apart by what implements [`Machines`], whose threads and
//! processes run on all CPUs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use stormeter_datastore::{
    CloseSummary, Datastore, DatastoreError, DatastoreUrl, OpenOptions, RealClock,
};
use stormeter_disk::{Desktops, Incident, StorageEvent};
use stormeter_driver::drive_desktops;
use stormeter_results::{DatastoreDescription, DatastoreFact, DatastoreNote};
use stormeter_trial::{CpuUsage, DesktopTrial, Sample};

use crate::error::RunError;
use crate::executor::{
    Executor, OpenOrder, Opened, OpenedStores, PrepareOrder, PreparedStore, TrialOrder,
};
use crate::progress::Progress;
use crate::threads::Start;
use crate::trial_end::TrialEnd;
use crate::watcher::Watcher;
use crate::workers::{Job, Windows, Workers, at_once};

/// Why machines cannot be made; its message says what to do next.
pub type MachinesError = Box<dyn std::error::Error + Send + Sync>;

/// What desktops are made for.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineOrder {
    /// The users and their broker.
    pub trial: DesktopTrial,
    /// Size of each desktop's disk, and of the template.
    pub disk_bytes: u64,
}

/// Places where machines can be made, by the URLs of datastores.
pub trait Machines {
    /// Describes a datastore.
    ///
    /// # Errors
    /// There is no such place, or it has not enough room for `places` machines with disks of `disk_bytes`.
    fn describe(
        &self,
        url: &str,
        places: u32,
        disk_bytes: u64,
    ) -> Result<DatastoreDescription, MachinesError>;

    /// Writes the template, whose contents follow from the seed, unless it is there. Takes apart what a killed run has left.
    ///
    /// # Errors
    /// It cannot be written, or another process uses the place.
    fn prepare(&self, url: &str, seed: u64, cancel: &AtomicBool) -> Result<(), MachinesError>;

    /// Makes ready for a trial.
    ///
    /// # Errors
    /// Machines cannot be made there, or the template is not as it was written.
    fn open(
        &self,
        url: &str,
        order: &MachineOrder,
        cancel: &AtomicBool,
    ) -> Result<Box<dyn OpenMachines>, MachinesError>;
}

/// Machines that can be made now.
pub trait OpenMachines: Desktops + Send {
    /// Takes everything apart.
    fn close(self: Box<Self>) -> ClosedMachines;
}

/// What is left of machines, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosedMachines {
    /// What could not be taken apart, and why.
    pub remains: Vec<String>,
    /// Why machines failed.
    pub said: Vec<String>,
}

/// Runs trials of desktops that are machines.
pub struct MachineExecutor<M> {
    machines: M,
    clock: RealClock,
    urls: Vec<String>,
    /// What trials could not take apart.
    left: Vec<DatastoreNote>,
}

impl<M: Machines> MachineExecutor<M> {
    /// Without open places.
    pub fn new(machines: M, clock: RealClock) -> Self {
        Self { machines, clock, urls: Vec::new(), left: Vec::new() }
    }
}

impl<M: Machines> Executor for MachineExecutor<M> {
    fn open(
        &mut self,
        order: &OpenOrder,
        _: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Opened, RunError> {
        let places = order.disks.count.saturating_sub(order.templates);
        let mut datastores = Vec::new();
        for url in &order.urls {
            progress.opening(url);
            let described = self.machines.describe(url, places, order.disks.size_bytes);
            datastores.push(described.map_err(|source| failed(url, source))?);
        }
        self.urls.clone_from(&order.urls);
        let store_of = (0..self.urls.len()).collect();
        let stores = OpenedStores { datastores, store_of, shared: None };
        Ok(Opened { hosts: Vec::new(), stores })
    }

    /// Machines make their own template.
    fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError> {
        let Some(url) = self.urls.get(order.store) else {
            return Err(RunError::Order(format!(
                "datastore number {} was not opened",
                order.store
            )));
        };
        let bytes = order.filling.disks.size_bytes;
        progress.preparing(url, 0, bytes);
        let prepared = self.machines.prepare(url, order.filling.seed, cancel);
        prepared.map_err(|source| interrupted(url, source, cancel))?;
        progress.preparing(url, bytes, bytes);
        Ok(PreparedStore::default())
    }

    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let store = order.store().unwrap_or_default();
        let (Some(run), Some(url)) = (order.desktops(), self.urls.get(store)) else {
            return Err(RunError::Order("machines have no other load than their users".into()));
        };
        let machines = MachineOrder { trial: run.trial(), disk_bytes: order.disk_bytes };
        let open = self.machines.open(url, &machines, cancel);
        let open = open.map_err(|source| interrupted(url, source, cancel))?;
        // The trial is timed and accounted for like any other; its disks are those of the machines.
        let nowhere = DatastoreUrl::parse("null:")?;
        let options = OpenOptions { run_id: "0".repeat(16), ..OpenOptions::default() };
        let nothing = Datastore::open(&nowhere, options)
            .map_err(|source| RunError::Datastore { url: nowhere.to_string(), source })?;
        let start = Start { first_cpu: 0, starter: &mut at_once };
        let workers = Workers {
            datastore: &nothing,
            clock: &self.clock,
            cancel,
            windows: Windows::Together,
            interval_ns: order.timing.interval_ns,
            first_cpu: start.first_cpu,
        };
        let left = Mutex::new(Vec::new());
        let job = OnMachines { trial: &machines.trial, open: Some(open), left: &left };
        let mut end = workers.carry_out(vec![job], start.starter, progress)?;
        let left = left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let note = |said| DatastoreFact::NotRemoved { path: url.clone(), said }.into();
        self.left.extend(left.into_iter().map(note));
        // What this machine used is what running the machines cost; the activity of a rack's guests shows that.
        end.cpu = CpuUsage::default();
        Ok(end)
    }

    fn remove(&mut self) -> Vec<DatastoreNote> {
        std::mem::take(&mut self.left)
    }
}

/// The one thread that leads the broker.
struct OnMachines<'a> {
    trial: &'a DesktopTrial,
    /// Until the thread has them.
    open: Option<Box<dyn OpenMachines>>,
    left: &'a Mutex<Vec<String>>,
}

/// Machines, and where to say what remains of them.
struct InUse<'a> {
    open: Option<Box<dyn OpenMachines>>,
    left: &'a Mutex<Vec<String>>,
}

impl<'a> Job for OnMachines<'a> {
    type Tools = InUse<'a>;

    /// Nothing is left of what was written.
    const SETTLES: bool = false;

    /// What it starts runs on any CPU.
    const PINS: bool = false;

    fn open(&mut self) -> Result<InUse<'a>, DatastoreError> {
        Ok(InUse { open: self.open.take(), left: self.left })
    }

    fn work(
        self,
        tools: &mut InUse<'a>,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample> {
        let machines = tools.open.as_mut()?;
        Some(drive_desktops(self.trial, start, machines, clock, watcher))
    }

    fn leave(tools: InUse<'a>, _: &dyn Fn() -> bool) -> CloseSummary {
        let Some(open) = tools.open else { return CloseSummary::default() };
        let ClosedMachines { remains, said } = open.close();
        tools.left.lock().unwrap_or_else(PoisonError::into_inner).extend(remains);
        let incident = |said: String| Incident::new(StorageEvent::Other { said: said.into() });
        CloseSummary { incidents: said.into_iter().map(incident).collect(), lost: None }
    }
}

fn interrupted(url: &str, source: MachinesError, cancel: &AtomicBool) -> RunError {
    if cancel.load(Ordering::Relaxed) { RunError::Interrupted } else { failed(url, source) }
}

fn failed(url: &str, source: MachinesError) -> RunError {
    RunError::Machines { url: url.into(), reason: source.to_string() }
}
