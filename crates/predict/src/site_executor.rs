//! Executes trials on a site in virtual time: each on a machine of its own, in parallel.

use std::sync::atomic::AtomicBool;

use stormeter_results::{DatastoreDescription, DatastoreNote};
use stormeter_runner::{
    Executor, OnTrialEnd, OpenOrder, Opened, OpenedStores, PrepareOrder, PreparedStore, Progress,
    RunError, Sensitivity, TrialEnd, TrialOrder,
};
use stormeter_study::Metric;

use crate::assumed::assumed_effects;
use crate::elasticity::elasticities;
use crate::parallel::{in_order, threads};
use crate::promise::promise;
use crate::request::PredictRequest;
use crate::rerun::{Rerun, short};
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

    /// What a cell's trial depends on; `None` if it cannot be predicted in a short window.
    fn sensitivity_of(
        &self,
        cell: usize,
        order: &TrialOrder,
        metrics: &[Metric],
        cancel: &AtomicBool,
    ) -> Option<Sensitivity> {
        // Users take their time: in a short window nobody would have come.
        if order.work.desktops().is_some() {
            return None;
        }
        let order = short(order);
        let run = self.run(&order, cancel).ok()?;
        let alternatives = self.request.alternatives.iter();
        let alternatives = alternatives.filter(|one| one.of == run.place.site);
        let rerun = Rerun::of(run)?;
        Some(Sensitivity {
            elasticities: elasticities(&rerun, cell),
            assumed: assumed_effects(&rerun, cell, metrics, alternatives),
        })
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

    fn sensitivity(
        &mut self,
        orders: &[TrialOrder],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Sensitivity {
        let mut all = Sensitivity::default();
        // Disturbances in the short window of a rerun would not be those of the trial.
        if !self.request.sensitivity || !self.request.disturbances().is_empty() {
            return all;
        }
        let metrics = self.request.plan.asked_metrics();
        let task = |cell: usize| self.sensitivity_of(cell, &orders[cell], &metrics, cancel);
        let done = in_order(self.threads, orders.len(), cancel, task, |cell, found| {
            let found = found.unwrap_or_default();
            all.elasticities.extend(found.elasticities);
            all.assumed.extend(found.assumed);
            progress.sensitivity(cell as u64 + 1, orders.len() as u64);
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
