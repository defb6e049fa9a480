//! The executor that runs trials on threads of this process: for a study on this machine, and in the agents of one on
//! several hosts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stormeter_datastore::{
    Datastore, DatastoreUrl, DiskReset, DiskSpec, Durability, Prepared, RealClock, Secret,
};
use stormeter_driver::{Expectations, PriorContent, Seal};
use stormeter_results::{DatastoreNote, IdleReading};
use stormeter_trial::{Interval, ServiceLoad};

use crate::ceiling::measure_ceiling_from;
use crate::describe::describe;
use crate::desktops::{DesktopRun, run_desktops};
use crate::error::RunError;
use crate::executor::{
    Executor, OpenOrder, Opened, OpenedStores, PrepareOrder, PreparedStore, TrialOrder,
    TrialTarget, Verification,
};
use crate::fill_spec::FillSpec;
use crate::fixed_work::{Before, TransferListener, before, run_fixed_work_from, run_servers};
use crate::free_space::shared_file_system;
use crate::idle::IdleHost;
use crate::machine::raise_open_files;
use crate::progress::Progress;
use crate::sessions::{SessionRun, check_service, run_sessions};
use crate::start_coordinator::{StartCoordinator, StartNow};
use crate::stores::{Stores, open_stores, with_secret};
use crate::target::check_targets;
use crate::threads::{Start, TrialRun, run_trial_from};
use crate::trial_end::TrialEnd;
use crate::turns::write_in_turns;
use crate::verify::{check_room_for, owner_of};

/// Opens datastores and drives them. Their disks are removed when it is dropped.
pub struct LocalExecutor {
    clock: RealClock,
    /// The length of the reading of the idle machine.
    idle_reading: Duration,
    stores: Vec<Datastore>,
    /// The activity of the idle machine.
    idle: Option<IdleHost>,
    verified: Option<Verified>,
    /// What every datastore must be able to do.
    durability: Durability,
    /// Passwords by the URLs of datastores, or by the files that workloads name, in addition to those of an order.
    secrets: Vec<(String, Secret)>,
    /// All passwords that are known since the datastores were opened.
    known: Vec<(String, Secret)>,
}

/// What verification needs to know about the stores.
struct Verified {
    of: Verification,
    run_id: String,
    first_number: usize,
    disks: DiskSpec,
    /// For each store, once its disks are written.
    expectations: Vec<Option<Expectations>>,
}

impl Verified {
    /// How the blocks of a store are sealed.
    fn seal(&self, store: usize) -> Seal {
        let owner = owner_of(&self.run_id, self.first_number + store);
        Seal { owner, unit_bytes: self.of.unit_bytes }
    }

    /// The seal for the load generator's ceiling.
    fn seal_of_ceiling(&self) -> Seal {
        Seal { owner: owner_of("ceiling", 0), unit_bytes: self.of.unit_bytes }
    }

    /// Expects the present content of a store's disks.
    fn expect(&mut self, store: usize, past: PriorContent, resumptions: u32) {
        let DiskSpec { count, size_bytes, .. } = self.disks;
        let seal = self.seal(store);
        self.expectations[store] =
            Some(Expectations::new(seal, past, resumptions, count, size_bytes));
    }

    /// The same after the disks were written for the first time, or were reset.
    fn written(&mut self, store: usize, reset: Option<DiskReset>, reused: bool) {
        match reset {
            Some(_) => self.expect(store, PriorContent::Prepared, 0),
            None => {
                let past = if reused { PriorContent::Unknown } else { PriorContent::Prepared };
                self.expect(store, past, self.of.resumptions);
            }
        }
    }
}

impl LocalExecutor {
    /// An executor without open datastores; `idle_reading` is the length of the reading of the idle machine.
    pub fn new(clock: RealClock, idle_reading: Duration) -> Self {
        Self {
            clock,
            idle_reading,
            stores: Vec::new(),
            idle: None,
            verified: None,
            durability: Durability::default(),
            secrets: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Passwords that must not leave this process, by the URLs of datastores.
    pub(crate) fn know_secrets(&mut self, secrets: Vec<(String, Secret)>) {
        self.secrets = secrets;
    }

    /// Runs a trial that `coordinator` starts.
    ///
    /// # Errors
    /// As [`Executor::trial`]; also if the clients of a transfer do not connect.
    pub fn trial_started_by(
        &mut self,
        coordinator: &mut dyn StartCoordinator,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let mut end = match (order.timed(), order.work.service(), order.desktops()) {
            (Some(run), ..) => self.timed(&run, order, coordinator, cancel, progress),
            (_, Some(load), _) => self.sessions(load, order, coordinator, cancel, progress),
            (.., Some(run)) => self.desktops(&run, order, coordinator, cancel, progress),
            _ => self.fixed_work(order, coordinator, cancel, progress),
        }?;
        if let Some(idle) = &self.idle {
            idle.apply(&mut end.cpu);
        }
        Ok(end)
    }

    fn timed(
        &mut self,
        run: &TrialRun<'_>,
        order: &TrialOrder,
        coordinator: &mut dyn StartCoordinator,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        run.workload.check(order.disk_bytes).map_err(|error| RunError::Order(error.to_string()))?;
        let mut starter = starter(coordinator);
        let start = Start { first_cpu: order.first_cpu as usize, starter: &mut starter };
        let clock = (&self.clock, cancel);
        match &order.target {
            TrialTarget::Nothing => {
                let null = DatastoreUrl::parse("null:")?;
                let seal = self.verified.as_ref().map(Verified::seal_of_ceiling);
                measure_ceiling_from(&null, run, seal, clock, start, progress)
            }
            // Without verification: a server that stores nothing returns nothing to verify.
            TrialTarget::NullServer(url) => {
                let url = DatastoreUrl::parse(url)?;
                measure_ceiling_from(&url, run, None, clock, start, progress)
            }
            &TrialTarget::Store(store) => {
                let datastore = self.stores.get(store).ok_or_else(|| unknown(store))?;
                let verified = self.verified.as_mut();
                let expectations = verified.and_then(|it| it.expectations[store].as_mut());
                run_trial_from(run, datastore, expectations, clock, start, progress)
            }
        }
    }

    fn sessions(
        &mut self,
        load: ServiceLoad,
        order: &TrialOrder,
        coordinator: &mut dyn StartCoordinator,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let store = order.store().unwrap_or_default();
        let datastore = self.stores.get(store).ok_or_else(|| unknown(store))?;
        let run = SessionRun {
            password: password_of(&self.known, &load)?,
            load,
            first_session: order.first_vm,
            sessions: order.vms,
            threads: order.threads,
            timing: order.timing,
            seed: order.seed,
            content_seed: order.content_seed,
            disturbed: order.disturbed,
        };
        let mut starter = starter(coordinator);
        let start = Start { first_cpu: order.first_cpu as usize, starter: &mut starter };
        run_sessions(&run, datastore, (&self.clock, cancel), start, progress)
    }

    fn desktops(
        &mut self,
        run: &DesktopRun<'_>,
        order: &TrialOrder,
        coordinator: &mut dyn StartCoordinator,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let store = order.store().unwrap_or_default();
        let datastore = self.stores.get(store).ok_or_else(|| unknown(store))?;
        let mut starter = starter(coordinator);
        let start = Start { first_cpu: order.first_cpu as usize, starter: &mut starter };
        run_desktops(run, datastore, (&self.clock, cancel), start, progress)
    }

    fn fixed_work(
        &mut self,
        order: &TrialOrder,
        coordinator: &mut dyn StartCoordinator,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let run = order.fixed_work();
        run.check()?;
        let store = order.store().unwrap_or_default();
        let datastore = self.stores.get_mut(store).ok_or_else(|| unknown(store))?;
        let clock = (&self.clock, cancel);
        let mut warming = WarmUp { coordinator, bytes: 0 };
        let notes = match before(&run, datastore, clock, &mut warming)? {
            Before::Ready(notes) => notes,
            Before::Ended(end) => return Ok(*end),
        };
        let sockets = match &order.listener {
            Some(order) => {
                let listener = TransferListener::open(order)?;
                coordinator.listens(listener.port()?);
                Some(listener.admit(run.vms, cancel)?)
            }
            None => None,
        };
        let mut starter = starter(coordinator);
        let start = Start { first_cpu: order.first_cpu as usize, starter: &mut starter };
        let mut end = match sockets {
            Some(sockets) => run_servers(&run, sockets, datastore, clock, start, progress),
            None => run_fixed_work_from(&run, datastore, clock, start, progress),
        }?;
        end.notes.extend(notes);
        Ok(end)
    }
}

impl Executor for LocalExecutor {
    fn open(
        &mut self,
        order: &OpenOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Opened, RunError> {
        raise_open_files();
        let sent = order.secrets.iter();
        let sent = sent.map(|(url, password)| (url.clone(), Secret::new(password.0.clone())));
        let secrets: Vec<(String, Secret)> = self.secrets.iter().cloned().chain(sent).collect();
        let urls = order.urls.iter().map(|url| with_secret(url, &secrets));
        let urls = urls.collect::<Result<Vec<_>, _>>()?;
        let run = (order.run_id.as_str(), order.first_number);
        let Stores { stores, store_of } =
            open_stores(&urls, run, &order.disks, &order.destroy_data, progress)?;
        if let Some(of) = order.verification {
            let DiskSpec { count, size_bytes, .. } = order.disks;
            check_room_for(of.unit_bytes, (count, size_bytes), stores.len())?;
            self.verified = Some(Verified {
                of,
                run_id: order.run_id.clone(),
                first_number: order.first_number as usize,
                disks: order.disks,
                expectations: stores.iter().map(|_| None).collect(),
            });
        }
        self.durability = order.durability;
        if order.clones {
            for datastore in &stores {
                let can = datastore.check_clones();
                can.map_err(|source| RunError::Datastore {
                    url: datastore.description().url.to_string(),
                    source,
                })?;
            }
        }
        if order.needs_target {
            check_targets(&stores)?;
        }
        for (datastore, load) in pairs(&stores, &order.services) {
            check_service(datastore, load, password_of(&secrets, load)?, cancel)?;
        }
        self.known = secrets;
        let datastores = store_of.iter().map(|&store| describe(&stores[store])).collect();
        let shared = shared_file_system(&stores).map(Box::new);
        self.stores = stores;
        Ok(Opened { hosts: Vec::new(), stores: OpenedStores { datastores, store_of, shared } })
    }

    fn read_idle(&mut self, cancel: &AtomicBool) -> Option<IdleReading> {
        self.idle = IdleHost::read(self.idle_reading, cancel);
        self.idle.as_ref().map(IdleHost::reading)
    }

    fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError> {
        let &PrepareOrder { store, filling, reset, .. } = order;
        let seal = self.verified.as_ref().map(|verified| verified.seal(store));
        let datastore = self.stores.get_mut(store).ok_or_else(|| unknown(store))?;
        let prepared = filling.write(datastore, seal, reset, cancel, progress)?;
        // What was possible once is possible after a reset.
        if reset.is_none() {
            check_durability(datastore, self.durability, cancel)?;
        }
        if let Some(verified) = &mut self.verified {
            verified.written(store, reset, prepared.reused);
        }
        Ok(prepared_store(prepared))
    }

    /// The datastores take turns, each writing a small part of its disks, so that a cache that they share favours none.
    fn prepare_all(
        &mut self,
        orders: &[PrepareOrder],
        seed: u64,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PreparedStore>, RunError> {
        let seal = |store| self.verified.as_ref().map(|verified| verified.seal(store));
        let fillings: Vec<(FillSpec, Option<Seal>)> =
            orders.iter().map(|order| (order.filling, seal(order.store))).collect();
        let all = write_in_turns(&mut self.stores, &fillings, seed, cancel, progress)?;
        for datastore in &self.stores {
            check_durability(datastore, self.durability, cancel)?;
        }
        if let Some(verified) = &mut self.verified {
            for (store, prepared) in all.iter().enumerate() {
                verified.written(store, None, prepared.reused);
            }
        }
        let all = all.into_iter();
        Ok(all.map(prepared_store).collect())
    }

    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        self.trial_started_by(&mut StartNow, order, cancel, progress)
    }

    fn rolled_back(&mut self) {
        if let Some(verified) = &mut self.verified {
            for store in 0..verified.expectations.len() {
                verified.expect(store, PriorContent::Prepared, 0);
            }
        }
    }

    fn remove(&mut self) -> Vec<DatastoreNote> {
        self.verified = None;
        let left = self.stores.drain(..).filter_map(Datastore::remove);
        left.map(DatastoreNote::from).collect()
    }
}

/// Refuses a datastore that cannot do what the workloads ask for.
fn check_durability(
    datastore: &Datastore,
    asked: Durability,
    cancel: &AtomicBool,
) -> Result<(), RunError> {
    datastore.check_flush(asked, &|| cancel.load(Ordering::Relaxed)).map_err(|source| {
        RunError::Datastore { url: datastore.description().url.to_string(), source }
    })
}

fn prepared_store(prepared: Prepared) -> PreparedStore {
    let notes = prepared.notes.into_iter().map(DatastoreNote::from).collect();
    PreparedStore { reused: prepared.reused, notes }
}

/// Reports the progress of reads before a trial, so that the controller waiting for its start knows that it is alive.
struct WarmUp<'a> {
    coordinator: &'a mut dyn StartCoordinator,
    bytes: u64,
}

impl Progress for WarmUp<'_> {
    fn interval(&mut self, row: &Interval) {
        self.bytes += row.reads.bytes + row.writes.bytes;
        self.coordinator.warmed_up(self.bytes);
    }
}

/// Each server with each of the services that are used.
fn pairs<'a>(
    stores: &'a [Datastore],
    services: &'a [ServiceLoad],
) -> impl Iterator<Item = (&'a Datastore, &'a ServiceLoad)> {
    stores.iter().flat_map(|store| services.iter().map(move |load| (store, load)))
}

/// The password for a service.
fn password_of(known: &[(String, Secret)], load: &ServiceLoad) -> Result<Secret, RunError> {
    let file = load.password_file();
    let found = known.iter().find(|(name, _)| name == file);
    found
        .map(|(_, secret)| secret.clone())
        .ok_or_else(|| RunError::Order(format!("the password of {file} was not passed on")))
}

fn unknown(store: usize) -> RunError {
    RunError::Order(format!("datastore number {store} was not opened"))
}

/// Starts a trial when the coordinator says so.
fn starter(
    coordinator: &mut dyn StartCoordinator,
) -> impl FnMut(&mut RealClock) -> Result<u64, RunError> {
    |clock: &mut RealClock| coordinator.start(clock).ok_or(RunError::Interrupted)
}
