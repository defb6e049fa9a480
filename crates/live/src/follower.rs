//! Follows a run's progress, for its course.
//!
//! Called on the thread that coordinates the run, which no driving thread waits for.

use std::time::Instant;

use stormeter_report::live::Doing;
use stormeter_report::{event_sentence, incident_sentence, left_sentence, opened_sentence};
use stormeter_results::{DatastoreNote, EventKind, Phase, TrialRecord};
use stormeter_runner::{BlockEnd, Place, Progress, Seen, SoFar, TrialStart};
use stormeter_trial::{Interval, LatencyBands, Sample, TrialFailure};

use crate::course::{Course, Current, Progressed, State};
use crate::heat::Column;
use crate::judge::Judge;

/// The length of a column, before columns are merged.
const COLUMN_NS: u64 = 500_000_000;

/// See above.
pub struct Follower {
    course: Course,
    judge: Judge,
}

impl Follower {
    /// A follower that writes this course and tells the judge when there is more to judge.
    pub fn new(course: Course, judge: Judge) -> Self {
        Self { course, judge }
    }

    fn do_(&self, doing: Doing) {
        let mut state = self.course.state();
        state.close_column();
        state.current = None;
        state.doing = doing;
    }

    fn happened(&self, what: String) {
        let now_ns = self.course.now_ns();
        self.course.state().happened(now_ns, what);
    }
}

impl Progress for Follower {
    fn watches(&self) -> bool {
        true
    }

    fn started(&mut self, _run_id: &str, so_far: &SoFar<'_>) {
        if !so_far.trials.is_empty() {
            self.judge.look();
        }
    }

    fn opening(&mut self, datastore: &str) {
        let label = self.course.state().label(datastore);
        self.do_(Doing::Opening(label));
    }

    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        let mut state = self.course.state();
        // Resets write as well.
        if !matches!(state.doing, Doing::Resetting(_)) {
            state.doing = Doing::Writing(state.label(datastore), done, total);
        }
    }

    fn resetting(&mut self, datastore: &str) {
        let label = self.course.state().label(datastore);
        self.do_(Doing::Resetting(label));
    }

    fn sensitivity(&mut self, done: u64, of: u64) {
        self.do_(Doing::Sensitivity(done, of));
    }

    fn trial(&mut self, start: &TrialStart<'_>) {
        let now_ns = self.course.now_ns();
        let mut state = self.course.state();
        state.close_column();
        state.doing = if start.cell.is_some() { Doing::Between } else { Doing::Ceiling };
        if start.block.is_some() {
            state.since_ns.get_or_insert(now_ns);
        }
        if let Some(place) = &start.place {
            state.progressed = Some(Progressed { number: place.number, of: place.of });
            state.rest = Some((now_ns, place.rest_ns));
        }
        state.current = Some(Current {
            cell: start.cell,
            block: start.block.map(|block| block + 1),
            started_ns: now_ns,
            length_ns: start.length_ns,
            has_bands: false,
        });
    }

    fn load_starts(&mut self, at: Instant) {
        let ahead_ns = at.saturating_duration_since(Instant::now()).as_nanos() as u64;
        let at_ns = self.course.now_ns() + ahead_ns;
        if let Some(current) = &mut self.course.state().current {
            current.started_ns = at_ns;
        }
    }

    fn interval(&mut self, row: &Interval) {
        let now_ns = self.course.now_ns();
        let mut state = self.course.state();
        if !state.hosts.iter().any(|host| host.name.is_some()) {
            state.host(None).did(row);
        }
        let span_ns = state.column.as_ref().map(|column| column.end_ns - column.start_ns);
        if span_ns.is_some_and(|span_ns| span_ns >= COLUMN_NS) {
            state.close_column();
        }
        let column = open_column(&mut state, now_ns.saturating_sub(row.length_ns));
        column.end_ns = column.end_ns.max(now_ns);
        column.count(row);
    }

    fn seen(&mut self, host: Option<&str>, seen: &Seen) {
        let now_ns = self.course.now_ns();
        let mut state = self.course.state();
        match seen {
            Seen::Activity(row) => state.host(host).read(now_ns, row),
            Seen::Interval(row) => state.host(host).did(row),
            Seen::Latencies(bands) => {
                if let Some(current) = &mut state.current {
                    current.has_bands = true;
                }
                open_column(&mut state, now_ns).bands.merge(bands);
            }
        }
    }

    fn trial_ended(&mut self, place: Option<&Place<'_>>, outcome: Result<&Sample, &TrialFailure>) {
        if let Some(place) = place {
            // Trials that run together have no start of their own.
            let progressed = Progressed { number: place.number, of: place.of };
            self.course.state().progressed = Some(progressed);
        }
        let Err(reason) = outcome else { return };
        let trial = match place {
            Some(place) => format!("trial {} of {}: {}", place.number, place.of, place.cell),
            None => "a trial".into(),
        };
        self.happened(format!("{trial} failed: {reason}"));
    }

    fn recorded(&mut self, so_far: &SoFar<'_>) {
        self.judge.look();
        let now_ns = self.course.now_ns();
        let mut state = self.course.state();
        if let Some(last) = so_far.trials.last() {
            tell(&mut state, now_ns, last);
            complete(&mut state, now_ns, last);
        }
        state.close_column();
        state.current = None;
        state.doing = Doing::Between;
        state.last_end_ns = now_ns;
        state.hosts.iter_mut().for_each(|host| host.iops = None);
    }

    fn block_ended(&mut self, end: &BlockEnd) {
        let now_ns = self.course.now_ns();
        if let Some(estimate) = &end.estimate {
            self.course.state().rest = Some((now_ns, estimate.rest_ns));
        }
    }

    fn event(&mut self, event: &EventKind) {
        self.happened(event_sentence(event));
    }

    fn opened(&mut self, datastore: &str, note: &DatastoreNote) {
        self.happened(opened_sentence(datastore, note));
    }

    fn left_behind(&mut self, left: &DatastoreNote) {
        self.happened(left_sentence(left));
    }

    fn note(&mut self, text: &str) {
        self.happened(text.to_owned());
    }
}

/// The column that is being filled; a new one starts at this time.
fn open_column(state: &mut State, start_ns: u64) -> &mut Column {
    let new = || Column { start_ns, end_ns: start_ns, ..Column::default() };
    state.column.get_or_insert_with(new)
}

/// What was done and happened in a trial.
fn tell(state: &mut State, now_ns: u64, record: &TrialRecord) {
    let name = record.cell.and_then(|cell| state.names.get(cell)).cloned().unwrap_or_default();
    for incident in &record.incidents {
        state.happened(now_ns, format!("{name}: {}", incident_sentence(incident)));
    }
    for step in record.sample().map_or(&[][..], |sample| &sample.disturbances) {
        let failed = step.failure.as_ref().map(|said| format!(", which failed: {said}"));
        state.happened(now_ns, format!("{name}: {}{}", step.what, failed.unwrap_or_default()));
    }
}

/// The latencies of a trial that told none while it ran, of fixed work or on a model, are a column when it has ended.
fn complete(state: &mut State, now_ns: u64, record: &TrialRecord) {
    let (Some(cell), Some(sample)) = (record.cell, record.sample()) else { return };
    let own = state.current.as_ref().filter(|current| current.cell == Some(cell));
    if own.is_some_and(|current| current.has_bands) || record.phase != Phase::Main {
        return;
    }
    let mut column = Column {
        start_ns: own.map_or(state.last_end_ns, |current| current.started_ns),
        end_ns: now_ns,
        ..state.column.take().unwrap_or_default()
    };
    for kind in [&sample.reads, &sample.writes] {
        column.bands.merge(&LatencyBands::of_histogram(&kind.histogram));
        if own.is_none() {
            column.operations += kind.operations;
            column.latency_sum_ns += kind.latency_sum_ns;
        }
    }
    if own.is_none() {
        column.counted_ns = sample.window_ns;
    }
    if let Some(map) = state.places.get(cell).and_then(|place| state.maps.get_mut(*place)) {
        map.columns.push(column);
    }
}
