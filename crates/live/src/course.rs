//! What happened in a run, in bounded memory, shared between the run and those who show it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stormeter_report::live::{Doing, Happened, RunWord};
use stormeter_report::{datastore_labels, subject_of};
use stormeter_study::StudyPlan;

use crate::heat::{Column, Map, maps};
use crate::hosts::Host;

/// Events that are kept.
const MOST_EVENTS: usize = 100;

/// The trial that runs.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    /// Its cell; `None` for ceilings.
    pub(crate) cell: Option<usize>,
    /// From 1.
    pub(crate) block: Option<u32>,
    /// When its load started, or it did.
    pub(crate) started_ns: u64,
    pub(crate) length_ns: Option<u64>,
    /// Whether latencies were told while it ran.
    pub(crate) has_bands: bool,
}

/// How much is done of a study.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progressed {
    /// The number of the trial, from 1.
    pub(crate) number: u64,
    /// The most trials.
    pub(crate) of: u64,
}

/// See above.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) title: String,
    pub(crate) word: RunWord,
    /// By cell.
    pub(crate) names: Vec<String>,
    /// By cell: its datastore.
    pub(crate) places: Vec<usize>,
    /// Datastores by name and URL, with their labels.
    labels: Vec<(String, String)>,
    /// Other than a trial.
    pub(crate) doing: Doing,
    pub(crate) current: Option<Current>,
    pub(crate) progressed: Option<Progressed>,
    /// When the first trial started.
    pub(crate) since_ns: Option<u64>,
    /// The probable rest, as of a time.
    pub(crate) rest: Option<(u64, u64)>,
    /// The end of the last trial.
    pub(crate) last_end_ns: u64,
    pub(crate) column: Option<Column>,
    pub(crate) maps: Vec<Map>,
    pub(crate) hosts: Vec<Host>,
    /// The latest first.
    pub(crate) events: VecDeque<Happened>,
    pub(crate) earlier_events: u64,
    /// When it ended.
    pub(crate) ended_ns: Option<u64>,
}

/// Time since the run started, in nanoseconds.
pub(crate) type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// See above. Clones share it.
#[derive(Clone)]
pub struct Course {
    state: Arc<Mutex<State>>,
    now: Now,
}

impl Course {
    /// The course of a run of this plan that has not started; `now` is the time since it started, in nanoseconds.
    pub fn new(
        plan: &StudyPlan,
        word: RunWord,
        now: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        let labels = datastore_labels(plan);
        let cells = plan.cells();
        let name = |cell: &stormeter_study::Cell| {
            let datastore = labels.get(cell.datastore).cloned().unwrap_or_default();
            match (plan.is_comparison(), plan.workloads.get(cell.workload)) {
                (true, _) | (_, None) => datastore,
                (false, Some(workload)) => {
                    format!("{datastore}, {}, {}", workload.name, plan.load_label(cell))
                }
            }
        };
        let named = plan.datastores.iter().zip(&labels);
        let state = State {
            title: subject_of(plan),
            word,
            names: cells.iter().map(name).collect(),
            places: cells.iter().map(|cell| cell.datastore).collect(),
            labels: named
                .flat_map(|(it, label)| {
                    [(it.name.clone(), label.clone()), (it.url.clone(), label.clone())]
                })
                .collect(),
            doing: Doing::Opening(String::new()),
            current: None,
            progressed: None,
            since_ns: None,
            rest: None,
            last_end_ns: 0,
            column: None,
            maps: maps(labels.clone()),
            hosts: hosts(plan, word),
            events: VecDeque::new(),
            earlier_events: 0,
            ended_ns: None,
        };
        Self { state: Arc::new(Mutex::new(state)), now: Arc::new(now) }
    }

    /// What it is now. Held for microseconds: the run waits for it.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time since the run started, in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        (self.now)()
    }

    /// The run has ended.
    pub fn ended(&self) {
        let now_ns = self.now_ns();
        let mut state = self.state();
        state.close_column();
        state.current = None;
        state.ended_ns.get_or_insert(now_ns);
    }
}

/// Those of the plan, in its order, before the first of them says anything. Hosts of a prediction exist in its model only.
fn hosts(plan: &StudyPlan, word: RunWord) -> Vec<Host> {
    let hosts = if word == RunWord::Prediction { &[][..] } else { &plan.hosts };
    hosts.iter().map(|host| Host::new(Some(&host.name))).collect()
}

impl State {
    /// A datastore's label.
    pub(crate) fn label(&self, datastore: &str) -> String {
        let known = self.labels.iter().find(|(name, _)| name == datastore);
        known.map_or(datastore, |(_, label)| label).to_owned()
    }

    /// The host of this name; `None`: this machine.
    pub(crate) fn host(&mut self, name: Option<&str>) -> &mut Host {
        let known = self.hosts.iter().position(|host| host.name.as_deref() == name);
        let place = known.unwrap_or_else(|| {
            self.hosts.push(Host::new(name));
            self.hosts.len() - 1
        });
        &mut self.hosts[place]
    }

    /// Puts the column that is being filled into the map of the trial's datastore.
    pub(crate) fn close_column(&mut self) {
        let Some(column) = self.column.take() else { return };
        let cell = self.current.as_ref().and_then(|current| current.cell);
        let place = cell.and_then(|cell| self.places.get(cell).copied());
        if let Some(map) = place.and_then(|place| self.maps.get_mut(place)) {
            map.columns.push(column);
        }
    }

    /// Something happened.
    pub(crate) fn happened(&mut self, at_ns: u64, what: String) {
        if self.events.len() == MOST_EVENTS {
            self.events.pop_back();
            self.earlier_events += 1;
        }
        self.events.push_front(Happened { at_ns, what });
    }
}
