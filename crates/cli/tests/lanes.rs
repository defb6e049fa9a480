//! A study is the same study, measured or predicted: both executors are asked for the same trials in the same order,
//! with the same operations at the same offsets. This is the only package that knows both.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_datastore::RealClock;
use stormeter_predict::{PredictRequest, SiteExecutor, prepare};
use stormeter_results::{
    Attempt, DatastoreNote, Environment, Phase, Prediction, ResultsFile, TrialRecord,
};
use stormeter_runner::{
    Collaborators, Executor, LocalExecutor, OnTrialEnd, OpenOrder, Opened, PrepareOrder,
    PreparedStore, Progress, Request, RunError, Silent, TrialEnd, TrialOrder, TrialTarget,
    run_prediction, run_with,
};
use stormeter_site::parse_site;
use stormeter_study::{StudyPlan, parse_study};

const SITE: &str = "\
site: Two disks
hosts:
  pc: {count: 1, cores: 4, clock: 2GHz}
stacks:
  disk: {protocol: local, per-read: 20000 cycles, per-write: 20000 cycles}
disk-groups:
  own: {device: {kind: queue, servers: 2, read: 100us, write: 100us, spread: exponential}}
datastores:
  a: {hosts: pc, stack: disk, disks: own}
  b: {hosts: pc, stack: disk, disks: own}
";

/// Two loads on two datastores, which measured are nothing and predicted a site's.
fn plan(design: &str, load: &str) -> StudyPlan {
    let text = format!(
        "datastores: {{a: \"null:\", b: \"null:\"}}\n\
         workloads: [vm-4k, {{profile: vm-4k, name: large, request-size: 64KiB, random: 0%}}]\n\
         load: {{vms: 2, outstanding: [1, 2]{load}}}\n\
         disk: {{size: 4MiB}}\n\
         measure: {{ramp: 5ms, duration: 100ms, interval: 20ms}}\n\
         seed: 7\n\
         design: {{{design}}}\n"
    );
    parse_study(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Keeps what is asked for and passes it on.
struct Asked<'a> {
    inner: &'a mut dyn Executor,
    orders: Vec<TrialOrder>,
}

impl<'a> Asked<'a> {
    fn of(inner: &'a mut dyn Executor) -> Self {
        Self { inner, orders: Vec::new() }
    }

    /// Of the datastores, without what is the storage's: which store one is, and the rate that it was found to bear.
    fn orders(self) -> Vec<TrialOrder> {
        let of_stores = self.orders.into_iter().filter(|order| order.store().is_some());
        of_stores.map(|order| TrialOrder { target: TrialTarget::Nothing, ..order }).collect()
    }
}

impl Executor for Asked<'_> {
    fn open(
        &mut self,
        order: &OpenOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Opened, RunError> {
        self.inner.open(order, cancel, progress)
    }

    fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError> {
        self.inner.prepare(order, cancel, progress)
    }

    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        self.orders.push(order.clone());
        self.inner.trial(order, cancel, progress)
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    fn trials(
        &mut self,
        orders: &[TrialOrder],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
        on_end: &mut OnTrialEnd<'_>,
    ) -> Result<(), RunError> {
        self.orders.extend_from_slice(orders);
        self.inner.trials(orders, cancel, progress, on_end)
    }

    fn remove(&mut self) -> Vec<DatastoreNote> {
        self.inner.remove()
    }
}

fn measured(plan: &StudyPlan, output: &Path) -> Vec<TrialOrder> {
    let request = Request::new(plan.clone(), output.into());
    let clock = RealClock::new();
    let mut local = LocalExecutor::new(clock.clone(), Duration::ZERO);
    let mut asked = Asked::of(&mut local);
    let by = Collaborators { executor: Some(&mut asked), ..Collaborators::default() };
    run_with(by, &request, &clock, &AtomicBool::new(false), &mut Silent).unwrap();
    asked.orders()
}

fn predicted(plan: &StudyPlan, output: &Path) -> Vec<TrialOrder> {
    let read = |_: &[String]| parse_site(SITE).map_err(|errors| errors.to_string());
    let prepared = prepare(plan.clone(), "site.yaml", &[], &read).unwrap();
    let prediction = Prediction {
        site: "Two disks".into(),
        file: "site.yaml".into(),
        text: SITE.into(),
        what_if: Vec::new(),
        faults: Vec::new(),
        shortened_from: None,
        model_errors: Vec::new(),
    };
    let request = PredictRequest {
        faults: vec![],
        plan: prepared.plan,
        sites: prepared.sites,
        alternatives: prepared.alternatives,
        places: prepared.places,
        prediction: prediction.clone(),
        output: output.into(),
        sensitivity: false,
        threads: 2,
        environment: Environment::default(),
        command_line: Vec::new(),
        version: "0".into(),
    };
    let mut site = SiteExecutor::new(&request);
    let mut asked = Asked::of(&mut site);
    let (study, of) = (request.study(), (prediction, Environment::default()));
    run_prediction(&study, of, &mut asked, &AtomicBool::new(false), &mut Silent).unwrap();
    asked.orders()
}

/// What was stored of the trials on datastores, apart from what came of them.
type Place = (Phase, u32, u32, Option<usize>, Option<usize>, u64, Attempt);

fn places(path: &Path) -> Vec<Place> {
    let place = |it: TrialRecord| {
        (it.phase, it.block, it.position, it.datastore, it.cell, it.seed, it.attempt)
    };
    let trials = ResultsFile::open(path).unwrap().trials().unwrap();
    trials.into_iter().filter(|it| it.phase != Phase::Ceiling).map(place).collect()
}

#[test]
fn what_is_predicted_is_what_would_be_measured() {
    let directory = tempfile::tempdir().unwrap();
    for (number, design) in
        ["blocks: 3", "blocks: 4, order: abba", "blocks: 2, order: as-written"].iter().enumerate()
    {
        let plan = plan(design, "");
        let path = |lane: &str| directory.path().join(format!("{lane}{number}.db"));
        let (real, model) = (path("measured"), path("predicted"));
        let orders = measured(&plan, &real);
        assert_eq!(orders.len(), plan.cells().len() * plan.design.blocks.most() as usize);
        assert_eq!(predicted(&plan, &model), orders, "{design}");
        assert_eq!(places(&model), places(&real), "{design}");
    }
}

#[test]
fn an_equal_load_is_found_by_the_same_trials() {
    let directory = tempfile::tempdir().unwrap();
    let plan = plan("blocks: 1", ", equal: auto");
    let (real, model) = (directory.path().join("m.db"), directory.path().join("p.db"));
    let (measured, predicted) = (measured(&plan, &real), predicted(&plan, &model));
    // What each of them bears is its own.
    let without_work = |orders: &[TrialOrder]| -> Vec<_> {
        orders.iter().map(|it| (it.seed, it.start, it.content_seed, it.vms, it.timing)).collect()
    };
    assert_eq!(without_work(&predicted), without_work(&measured));
    assert_eq!(places(&model), places(&real));
    assert_eq!(predicted.len(), 2 * plan.cells().len(), "once to find it, once by it");
}
