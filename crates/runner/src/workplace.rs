//! Open datastores on which somebody else orders the work: the far end of [`crate::Elsewhere`].

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_datastore::{Datastore, DatastoreUrl, RealClock, Secret};
use stormeter_study::WorkloadKind;
use stormeter_trial::Interval;

use crate::ceiling::measure_ceiling_from;
use crate::describe::describe;
use crate::elsewhere::{OpenOrder, OpenedStores, PrepareOrder, PreparedStore, TrialOrder};
use crate::error::RunError;
use crate::fixed_work::{Before, TransferListener, before, run_fixed_work_from, run_servers};
use crate::free_space::shared_file_system;
use crate::idle::IdleHost;
use crate::machine::raise_open_files;
use crate::progress::{Progress, Silent};
use crate::stores::{Stores, open_stores, with_secret};
use crate::threads::{Start, TrialEnd, run_trial_from};

/// Open datastores. Dropped, it removes their disks.
pub struct Workplace {
    stores: Vec<Datastore>,
    /// What this machine spends while nothing is driven.
    idle: Option<IdleHost>,
}

/// Shorter than where one machine is on its own: all hosts read theirs while the study waits.
const IDLE_READING: Duration = Duration::from_millis(500);

impl Workplace {
    /// Opens the datastores and says what they are.
    ///
    /// # Errors
    /// One of them cannot be used.
    pub fn open(order: &OpenOrder) -> Result<(Self, OpenedStores), RunError> {
        raise_open_files();
        let secrets: Vec<(String, Secret)> = order
            .secrets
            .iter()
            .map(|(url, password)| (url.clone(), Secret::new(password.0.clone())))
            .collect();
        let urls = order.urls.iter().map(|url| with_secret(url, &secrets));
        let urls = urls.collect::<Result<Vec<_>, _>>()?;
        let Stores { stores, store_of } = open_stores(
            &urls,
            (&order.run_id, order.first_number),
            &order.disks,
            &order.destroy_data,
            // Who waits is elsewhere.
            &mut Silent,
        )?;
        let datastores = store_of.iter().map(|&store| describe(&stores[store])).collect();
        let warning = shared_file_system(&stores);
        let idle = IdleHost::read(IDLE_READING, &AtomicBool::new(false));
        Ok((Self { stores, idle }, OpenedStores { datastores, store_of, warning }))
    }

    /// Writes the disks of a store.
    ///
    /// # Errors
    /// They cannot be written, or it was cancelled.
    pub fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError> {
        let Some(store) = self.stores.get_mut(order.store) else {
            return Err(unknown(order.store));
        };
        let prepared = order.filling.write(store, None, order.reset, cancel, progress)?;
        Ok(PreparedStore { reused: prepared.reused, notes: prepared.notes })
    }

    /// Carries out a trial, led by `leader`.
    ///
    /// # Errors
    /// As [`crate::run_trial`] and [`crate::run_fixed_work`]; the clients of a transfer do not come.
    pub fn trial(
        &mut self,
        order: &TrialOrder,
        clock: (&RealClock, &AtomicBool),
        leader: &mut dyn Leader,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let mut end = self.carry_out(order, clock, leader, progress)?;
        if let Some(idle) = &self.idle {
            idle.apply(&mut end.cpu);
        }
        Ok(end)
    }

    fn carry_out(
        &mut self,
        order: &TrialOrder,
        (clock, cancel): (&RealClock, &AtomicBool),
        leader: &mut dyn Leader,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let Some(run) = order.timed() else {
            return self.fixed_work(order, (clock, cancel), leader, progress);
        };
        run.workload.check(order.disk_bytes).map_err(|error| RunError::Order(error.to_string()))?;
        let start = Start {
            first_cpu: order.first_cpu as usize,
            starter: &mut |clock| leader.start(clock).ok_or(RunError::Interrupted),
        };
        match order.store {
            None => {
                let null = DatastoreUrl::parse("null:")?;
                measure_ceiling_from(&null, &run, None, (clock, cancel), start, progress)
            }
            Some(store) => {
                let datastore = self.stores.get(store).ok_or_else(|| unknown(store))?;
                run_trial_from(&run, datastore, None, (clock, cancel), start, progress)
            }
        }
    }

    fn fixed_work(
        &mut self,
        order: &TrialOrder,
        clock: (&RealClock, &AtomicBool),
        leader: &mut dyn Leader,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let run = order.fixed_work();
        run.check()?;
        let store = order.store.unwrap_or_default();
        let datastore = self.stores.get_mut(store).ok_or_else(|| unknown(store))?;
        if matches!(order.work, WorkloadKind::Deploy(_)) {
            return Err(RunError::Order("deployments are not done on hosts".into()));
        }
        let mut warming = Warming { progress, bytes: 0 };
        let notes = match before(&run, datastore, clock, &mut warming)? {
            Before::Ready(notes) => notes,
            Before::Ended(end) => return Ok(*end),
        };
        let sockets = match (&order.work, &order.listener) {
            (WorkloadKind::Transfer(_), Some(order)) => {
                let listener = TransferListener::open(order)?;
                leader.listens(listener.port()?);
                Some(listener.admit(run.vms, clock.1)?)
            }
            (WorkloadKind::Transfer(_), None) => {
                return Err(RunError::Order("a transfer's clients have no listener here".into()));
            }
            _ => None,
        };
        let start = Start {
            first_cpu: order.first_cpu as usize,
            starter: &mut |clock| leader.start(clock).ok_or(RunError::Interrupted),
        };
        let mut end = match sockets {
            Some(sockets) => run_servers(&run, sockets, datastore, clock, start, progress),
            None => run_fixed_work_from(&run, datastore, clock, start, progress),
        }?;
        end.notes.extend(notes);
        Ok(end)
    }

    /// Removes the disks. Gives what stays and why.
    pub fn remove(self) -> Vec<String> {
        self.stores.into_iter().filter_map(Datastore::remove).collect()
    }
}

/// Whoever ordered a trial, told and asked on its way.
pub trait Leader {
    /// Clients of a transfer are let in at this port.
    fn listens(&mut self, port: u16);

    /// All threads are ready: the moment of the start, by the clock that is given; `None` ends the trial.
    fn start(&mut self, clock: &mut RealClock) -> Option<u64>;
}

/// Tells of what is done before a trial as of disks that are prepared.
struct Warming<'a> {
    progress: &'a mut dyn Progress,
    bytes: u64,
}

impl Progress for Warming<'_> {
    fn interval(&mut self, row: &Interval) {
        self.bytes += row.reads.bytes + row.writes.bytes;
        self.progress.preparing("", self.bytes, u64::MAX);
    }
}

fn unknown(store: usize) -> RunError {
    RunError::Order(format!("datastore number {store} was not opened"))
}
