//! Follows a run's progress on a board.
//!
//! Called on the thread that coordinates the run, which no driving thread waits for. What it does is short: it changes a
//! few numbers, and after a trial sums up the trials of one cell.

use stormeter_conclude::views;
use stormeter_export::Cell;
use stormeter_results::{EventKind, Phase, TrialOutcome, TrialRecord};
use stormeter_runner::{BlockEnd, Progress, SoFar, TrialStart};
use stormeter_statistics::{CellTrial, cell_values};
use stormeter_study::StudyPlan;
use stormeter_trial::Interval;

use crate::board::Board;
use crate::snapshot::{Current, RunKind, Snapshot, Stage};

/// See above.
pub struct Reporter {
    plan: StudyPlan,
    is_predicted: bool,
    board: Board,
}

impl Reporter {
    /// A reporter of a run of this plan, and the board that it writes on.
    pub fn new(plan: &StudyPlan, kind: RunKind, version: &str) -> (Self, Board) {
        let board = Board::new(Snapshot::new(plan, kind, version));
        let is_predicted = kind == RunKind::Prediction;
        (Self { plan: plan.clone(), is_predicted, board: board.clone() }, board)
    }

    /// The run has ended, with these values.
    pub fn ended(&self, cells: Vec<Cell>) {
        self.board.change(|now| {
            now.cells = cells;
            now.stage = Stage::Ended;
            now.current = None;
            now.rest_ns = Some(0);
        });
    }

    /// Shows the trials of a cell that count.
    fn sum_up(&self, so_far: &SoFar<'_>, cell: usize) {
        let own: Vec<CellTrial<'_>> = views(so_far.trials, so_far.attempts)
            .into_iter()
            .filter(|trial| trial.cell == cell)
            .collect();
        let values = cell_values(&self.plan, &own, cell, self.is_predicted);
        self.board.change(|now| {
            if let Some(shown) = now.cells.get_mut(cell) {
                shown.values = values.iter().map(|value| (value.metric, value.value)).collect();
                now.trials[cell] = own.len() as u32;
            }
        });
    }

    /// Counts what a trial says of itself.
    fn count(&self, record: &TrialRecord) {
        let datastore = record.datastore.and_then(|index| self.plan.datastores.get(index));
        let datastore = datastore.map_or_else(String::new, |datastore| datastore.name.clone());
        self.board.change(|now| {
            if record.phase == Phase::Main {
                let has_failed = matches!(record.outcome, TrialOutcome::Failed { .. });
                now.ended_trials[usize::from(has_failed)] += 1;
            }
            for incident in &record.incidents {
                let key = (datastore.clone(), tag(&incident.event, "event"));
                *now.incidents.entry(key).or_default() += u64::from(incident.times);
            }
            let Some(sample) = record.sample() else { return };
            *now.io_errors.entry(datastore).or_default() += sample.failed_operations();
            for step in &sample.disturbances {
                now.steps[usize::from(step.failure.is_some())] += 1;
            }
        });
    }
}

/// The name of a variant, as results files have it.
fn tag(value: &impl serde::Serialize, key: &str) -> String {
    let tagged = serde_json::to_value(value).ok();
    let name = tagged.as_ref().and_then(|value| value.get(key)?.as_str());
    name.unwrap_or("other").to_owned()
}

impl Progress for Reporter {
    fn started(&mut self, run_id: &str, so_far: &SoFar<'_>) {
        self.board.change(|now| now.run_id = Some(run_id.to_owned()));
        so_far.trials.iter().for_each(|record| self.count(record));
        let mut cells: Vec<usize> = so_far.trials.iter().filter_map(|trial| trial.cell).collect();
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().for_each(|cell| self.sum_up(so_far, cell));
    }

    fn opening(&mut self, _datastore: &str) {
        self.board.change(|now| now.stage = Stage::Opening);
    }

    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        self.board.change(|now| {
            // Resets write as well.
            if now.stage != Stage::Resetting {
                now.stage = Stage::Writing;
            }
            now.written.insert(datastore.to_owned(), (done, total));
        });
    }

    fn trial(&mut self, start: &TrialStart<'_>) {
        let current = start.cell.map(|cell| Current { cell, block: start.block, interval: None });
        self.board.change(|now| {
            now.stage = if current.is_some() { Stage::Trial } else { Stage::Ceiling };
            now.current = current;
            if let Some(place) = &start.place {
                now.rest_ns = Some(place.rest_ns);
            }
        });
    }

    fn interval(&mut self, row: &Interval) {
        self.board.change(|now| {
            let Some(current) = &mut now.current else { return };
            current.interval = Some(*row);
            let Some(counts) = now.counts.get_mut(current.cell) else { return };
            for (index, kind) in [&row.reads, &row.writes].into_iter().enumerate() {
                counts.operations[index] += kind.operations;
                counts.bytes[index] += kind.bytes;
                counts.latency_ns[index] += kind.latency_sum_ns;
            }
        });
    }

    fn recorded(&mut self, so_far: &SoFar<'_>) {
        self.board.change(|now| {
            now.current = None;
            now.stage = Stage::Between;
        });
        let Some(last) = so_far.trials.last() else { return };
        self.count(last);
        if let Some(cell) = last.cell {
            self.sum_up(so_far, cell);
        }
    }

    fn block_ended(&mut self, end: &BlockEnd) {
        self.board.change(|now| {
            (now.blocks, now.most_blocks) = (end.blocks, end.most);
            if let Some(estimate) = &end.estimate {
                now.precision.0 = estimate.half_width.filter(|half| half.is_finite());
                now.rest_ns = Some(estimate.rest_ns);
            }
        });
    }

    fn resetting(&mut self, _datastore: &str) {
        self.board.change(|now| now.stage = Stage::Resetting);
    }

    fn sensitivity(&mut self, _done: u64, _of: u64) {
        self.board.change(|now| now.stage = Stage::Sensitivity);
    }

    fn event(&mut self, event: &EventKind) {
        let kind = tag(event, "kind");
        self.board.change(|now| *now.events.entry(kind).or_default() += 1);
    }
}
