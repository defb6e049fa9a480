//! Open datastores on which somebody else orders the work: the far end of [`crate::Elsewhere`].

use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Datastore, DatastoreUrl, RealClock, Secret};

use crate::ceiling::measure_ceiling_from;
use crate::describe::describe;
use crate::elsewhere::{OpenOrder, OpenedStores, PrepareOrder, PreparedStore, TrialOrder};
use crate::error::RunError;
use crate::machine::raise_open_files;
use crate::progress::Progress;
use crate::room::shared_file_system;
use crate::stores::{Stores, open_stores, with_secret};
use crate::threads::{Start, TrialEnd, TrialRun, run_trial_from};

/// Open datastores. Dropped, it removes their disks.
pub struct Workplace {
    stores: Vec<Datastore>,
}

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
        )?;
        let datastores = store_of.iter().map(|&store| describe(&stores[store])).collect();
        let warning = shared_file_system(&stores);
        Ok((Self { stores }, OpenedStores { datastores, store_of, warning }))
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

    /// Carries out a trial. When all threads are ready `starter` is asked once for the moment of the
    /// start, by the clock that it is given; `None` ends the trial.
    ///
    /// # Errors
    /// As [`crate::run_trial`].
    pub fn trial(
        &self,
        order: &TrialOrder,
        (clock, cancel): (&RealClock, &AtomicBool),
        starter: &mut dyn FnMut(&mut RealClock) -> Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        order
            .workload
            .check(order.disk_bytes)
            .map_err(|error| RunError::Order(error.to_string()))?;
        let run = TrialRun {
            workload: &order.workload,
            vms: order.vms,
            disk_bytes: order.disk_bytes,
            threads: order.threads,
            timing: order.timing,
            seed: order.seed,
            disturbed: order.disturbed,
        };
        let start = Start {
            first_cpu: order.first_cpu as usize,
            starter: &mut |clock| starter(clock).ok_or(RunError::Interrupted),
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

    /// Removes the disks. Gives what stays and why.
    pub fn remove(self) -> Vec<String> {
        self.stores.into_iter().filter_map(Datastore::remove).collect()
    }
}

fn unknown(store: usize) -> RunError {
    RunError::Order(format!("datastore number {store} was not opened"))
}
