//! The record of a run: its plan, and its trials so far.
//!
//! It runs nothing. Trials may run one after another or many at a time; each outcome is recorded in its turn: reported,
//! and in the results file, before the next one.

use stormeter_conclude::Attempts;
use stormeter_results::{EventKind, HostShare, Phase, ResultsFile, TrialOutcome, TrialRecord};
use stormeter_study::{Cell, StudyPlan, trial_seed};
use stormeter_trial::TrialFailure;

use crate::error::RunError;
use crate::journal::{event, outcome_of};
use crate::progress::{Place, Progress, SoFar};
use crate::study::clock::{Began, RunClock};
use crate::study::schedule::Schedule;
use crate::study::setting::cell_label;
use crate::study::turn::Turn;
use crate::trial_end::TrialEnd;

/// The plan, and its trials so far.
pub(crate) struct Book<'a> {
    pub(crate) plan: &'a StudyPlan,
    pub(crate) cells: Vec<Cell>,
    /// Whether trials are predicted and not measured.
    pub(crate) is_predicted: bool,
    pub(crate) clock: RunClock,
    pub(crate) file: ResultsFile,
    pub(crate) trials: Vec<TrialRecord>,
    pub(crate) schedule: Schedule,
    pub(crate) attempts: Attempts,
}

impl Book<'_> {
    /// Whether it is a measured comparison, which ends when it is invalid, and is shown by its verdicts.
    pub(crate) fn is_comparison(&self) -> bool {
        !self.is_predicted && self.plan.is_comparison()
    }

    /// Stores an event, and passes it on.
    pub(crate) fn happened(
        &mut self,
        kind: EventKind,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        progress.event(&kind);
        Ok(self.file.append_event(&event(kind))?)
    }

    /// The label of a cell.
    pub(crate) fn label(&self, cell: usize) -> String {
        cell_label(self.plan, &self.cells[cell])
    }

    /// The place of the next trial, of the cell of this name, among those of the study; `None` for trials before the
    /// first block and in a comparison, which shows blocks.
    pub(crate) fn place<'b>(&self, phase: Phase, cell: &'b str) -> Option<Place<'b>> {
        if phase != Phase::Main || self.is_comparison() {
            return None;
        }
        let of = u64::from(self.plan.design.blocks.most()) * self.cells.len() as u64;
        Some(Place {
            cell,
            number: (self.schedule.trials() + 1).min(of),
            of,
            failed: self.schedule.failed(),
            rest_ns: self.schedule.rest_ns(self.plan),
        })
    }

    /// Reports and stores a trial that has ended, or could not run.
    ///
    /// # Errors
    /// The failure would affect all other trials, too, or the results file cannot be written.
    pub(crate) fn ended(
        &mut self,
        turn: Turn,
        began: Began,
        end: Result<TrialEnd, RunError>,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let end = match end {
            Ok(end) => Ok(end),
            Err(error) => Err(error.of_trial()?),
        };
        let outcome = match &end {
            Ok(end) => end.failure().map_or(Ok(&end.sample), Err),
            Err(failure) => Err(failure.clone()),
        };
        let outcome = outcome.as_ref().copied();
        let label = self.label(turn.cell);
        progress.trial_ended(self.place(turn.phase, &label).as_ref(), outcome);
        let datastore = self.cells[turn.cell].datastore;
        self.record(turn, Some(datastore), began, end)?;
        progress.recorded(&self.so_far());
        Ok(())
    }

    /// The trials that are recorded.
    pub(crate) fn so_far(&self) -> SoFar<'_> {
        SoFar { trials: &self.trials, attempts: &self.attempts }
    }

    /// Stores the outcome of a trial; a ceiling may be of no datastore.
    pub(crate) fn record(
        &mut self,
        turn: Turn,
        datastore: Option<usize>,
        began: Began,
        end: Result<TrialEnd, TrialFailure>,
    ) -> Result<(), RunError> {
        let Turn { phase, block, attempt, position, cell } = turn;
        let virtual_ns = end.as_ref().map_or(0, TrialEnd::virtual_ns);
        let (started_unix_ms, elapsed_ns) = self.clock.date(began, virtual_ns);
        let mut record = TrialRecord {
            id: self.file.next_trial_id()?,
            block,
            position,
            datastore,
            cell: Some(cell),
            phase,
            started_unix_ms,
            elapsed_ns,
            seed: trial_seed(self.plan.seed, turn.draw()),
            outcome: TrialOutcome::Failed {
                failure: TrialFailure::Impossible { said: String::new() },
                sample: None,
            },
            incidents: Vec::new(),
            monitor: Vec::new(),
            guests: Vec::new(),
            components: Vec::new(),
            attempt,
        };
        let mut hosts = Vec::new();
        match end {
            Err(failure) => record.outcome = TrialOutcome::Failed { failure, sample: None },
            Ok(mut end) => {
                record.incidents = std::mem::take(&mut end.incidents);
                record.monitor = std::mem::take(&mut end.monitor);
                record.guests = std::mem::take(&mut end.guests);
                record.components = end.take_components();
                hosts = std::mem::take(&mut end.hosts);
                record.outcome = outcome_of(end);
            }
        }
        self.store(record, &hosts)
    }

    /// Appends a trial to the results file, with the share of each host if there are hosts.
    fn store(&mut self, record: TrialRecord, hosts: &[HostShare]) -> Result<(), RunError> {
        self.file.append_trial(&record, hosts)?;
        self.schedule.add(&record);
        self.attempts.add(&record);
        self.trials.push(record);
        Ok(())
    }
}
