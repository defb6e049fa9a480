//! Executes trials on a site in virtual time: each on a machine of its own, in parallel.

use std::sync::atomic::AtomicBool;

use stormeter_results::{DatastoreDescription, DatastoreNote, Elasticity};
use stormeter_runner::{
    Executor, OnTrialEnd, OpenOrder, Opened, OpenedStores, PrepareOrder, PreparedStore, Progress,
    RunError, TrialEnd, TrialOrder,
};

use crate::elasticity::elasticities;
use crate::parallel::{in_order, threads};
use crate::promise::promise;
use crate::request::PredictRequest;
use crate::trial::TrialRun;

/// Executes trials on the sites of a request. Its stores are the datastores of the plan.
#[derive(Debug)]
pub struct SiteExecutor<'a> {
    request: &'a PredictRequest,
    threads: usize,
}

impl<'a> SiteExecutor<'a> {
    /// An executor for the sites of this request.
    pub fn new(request: &'a PredictRequest) -> Self {
        Self { request, threads: threads(request.threads) }
    }

    /// The inputs of a trial on the site of its datastore.
    pub(crate) fn run<'r>(
        &'r self,
        order: &'r TrialOrder,
        cancel: &'r AtomicBool,
    ) -> Result<TrialRun<'r>, RunError> {
        let PredictRequest { plan, sites, places, prediction, .. } = self.request;
        let store = order.store();
        let unknown = || RunError::Order("a site only has its datastores".into());
        let place = *store.and_then(|store| places.get(store)).ok_or_else(unknown)?;
        let planned = prediction.shortened_from.map_or(plan.timing, |(planned, _)| planned);
        Ok(TrialRun {
            order,
            disk_bytes: plan.disks().bytes,
            fixed_work_interval_ns: planned.interval_ns,
            site: &sites[place.site],
            place,
            disturbances: self.request.disturbances(),
            cancel,
        })
    }

    fn carry_out(&self, order: &TrialOrder, cancel: &AtomicBool) -> Result<TrialEnd, RunError> {
        let end = self.run(order, cancel)?.carry_out().map_err(RunError::Model)?;
        Ok(end.end)
    }
}

impl Executor for SiteExecutor<'_> {
    fn open(
        &mut self,
        order: &OpenOrder,
        _cancel: &AtomicBool,
        _progress: &mut dyn Progress,
    ) -> Result<Opened, RunError> {
        let PredictRequest { sites, places, .. } = self.request;
        let datastores = order.urls.iter().zip(places).map(|(url, place)| DatastoreDescription {
            url: url.clone(),
            kind: "simulated".into(),
            source: Some(sites[place.site].datastores[place.datastore].name.clone()),
            engine: "simulator".into(),
            promise: Some(promise(&sites[place.site], place.datastore)),
            ..DatastoreDescription::default()
        });
        let datastores: Vec<DatastoreDescription> = datastores.collect();
        let store_of = (0..datastores.len()).collect();
        let stores = OpenedStores { datastores, store_of, shared: None };
        Ok(Opened { hosts: Vec::new(), stores })
    }

    /// A model's disks need no content.
    fn prepare(
        &mut self,
        _order: &PrepareOrder,
        _cancel: &AtomicBool,
        _progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError> {
        Ok(PreparedStore::default())
    }

    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        _progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        self.carry_out(order, cancel)
    }

    /// Machines are independent.
    fn width(&self) -> usize {
        usize::MAX
    }

    fn trials(
        &mut self,
        orders: &[TrialOrder],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
        on_end: &mut OnTrialEnd<'_>,
    ) -> Result<(), RunError> {
        let task = |number: usize| self.carry_out(&orders[number], cancel);
        in_order(self.threads, orders.len(), cancel, task, |number, end| {
            on_end(number, end, progress)
        })
    }

    fn elasticities(
        &mut self,
        orders: &[TrialOrder],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Vec<Elasticity> {
        let mut all = Vec::new();
        // Disturbances in the short window of a rerun would not be those of the trial.
        if !self.request.elasticity || !self.request.disturbances().is_empty() {
            return all;
        }
        let task = |cell: usize| match self.run(&orders[cell], cancel) {
            Ok(run) => elasticities(&run, cell),
            Err(_) => Vec::new(),
        };
        let done = in_order(self.threads, orders.len(), cancel, task, |cell, found| {
            all.extend(found);
            progress.elasticity(cell as u64 + 1, orders.len() as u64);
            Ok::<(), std::convert::Infallible>(())
        });
        match done {
            Ok(()) => all,
        }
    }

    fn remove(&mut self) -> Vec<DatastoreNote> {
        Vec::new()
    }
}
