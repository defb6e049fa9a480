//! What differs between a study, a comparison and a prediction while they run: how the results file names their trials,
//! which trials are made, and when they end. Everything else is one.
//!
//! A comparison has one question, so several candidates share its error, it has two blocks at least, and a broken law
//! ends it: no further block can make it valid again. A study has many, and goes on for the others. A prediction is a
//! study on a model: a trial that fails there is no accident that another attempt would not have, and the time that
//! passes there is nobody's.

use std::path::Path;
use std::time::Duration;

use stormeter_results::{
    DatastoreDescription, Environment, FinishReason, Header, HostShare, Phase, Prediction,
    ResultsFile, TrialRecord,
};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{Analysis, Severity, analyse, decide_study};
use stormeter_study::{ComparisonPlan, StudyPlan};

use crate::attempts::Due;
use crate::conclusion::{decision, surroundings, views};
use crate::error::RunError;
use crate::journal::{Beginning, begin_file};
use crate::progress::{BlockEnd, Progress};
use crate::study::clock::RunClock;
use crate::study::conclusion;
use crate::study::prediction::begin_anew;
use crate::study::run::StudyRun;

/// By which rules a run goes.
pub(crate) enum Rules {
    /// Those of a study.
    Study,
    /// Those of this comparison, whose plan is kept in the results file.
    Comparison(Box<ComparisonPlan>),
    /// Those of a study that is predicted, for what the results file says.
    Prediction(Box<Prediction>),
}

/// How a run was begun.
pub(crate) struct Begun {
    pub(crate) created_unix_ms: u64,
    pub(crate) run_id: String,
    pub(crate) environment: Environment,
    pub(crate) datastores: Vec<DatastoreDescription>,
}

impl<P> From<Header<P>> for Begun {
    fn from(header: Header<P>) -> Self {
        let Header { created_unix_ms, run_id, environment, datastores, .. } = header;
        Self { created_unix_ms, run_id, environment, datastores }
    }
}

impl Rules {
    /// What the file was begun with.
    pub(crate) fn begun(&self, file: &ResultsFile) -> Result<Begun, RunError> {
        Ok(match self {
            Rules::Study | Rules::Prediction(_) => file.study_header()?.into(),
            Rules::Comparison(_) => file.header()?.into(),
        })
    }

    /// A new results file.
    pub(crate) fn begin_file(
        &self,
        path: &Path,
        beginning: Beginning<'_, StudyPlan>,
        warning: Option<String>,
    ) -> Result<ResultsFile, RunError> {
        match self {
            Rules::Study => begin_file(path, beginning, warning),
            Rules::Comparison(plan) => begin_file(path, beginning.with_plan(&**plan), warning),
            Rules::Prediction(prediction) => {
                let beginning = Beginning { prediction: Some(prediction.clone()), ..beginning };
                begin_anew(path, &|| begin_file(path, beginning.clone(), warning.clone()))
            }
        }
    }

    /// Whether trials are a model's and not measured.
    pub(crate) fn is_predicted(&self) -> bool {
        matches!(self, Rules::Prediction(_))
    }

    /// By which clock trials are dated in the file.
    pub(crate) fn clock(&self, file: &ResultsFile) -> Result<RunClock, RunError> {
        Ok(match self {
            Rules::Study | Rules::Comparison(_) => RunClock::Real,
            Rules::Prediction(_) => {
                let begin_unix_ms = self.begun(file)?.created_unix_ms;
                RunClock::Virtual { begin_unix_ms, passed_ns: 0 }
            }
        })
    }

    /// The trials so far. Those of a comparison are stored by their datastore, which is their cell.
    pub(crate) fn trials(&self, file: &ResultsFile) -> Result<Vec<TrialRecord>, RunError> {
        let mut trials = file.trials()?;
        if let Rules::Comparison(_) = self {
            for trial in trials.iter_mut().filter(|trial| trial.phase != Phase::Ceiling) {
                trial.cell = trial.datastore;
            }
        }
        Ok(trials)
    }

    /// Puts a trial into the file.
    pub(crate) fn append(
        &self,
        file: &mut ResultsFile,
        record: &mut TrialRecord,
        hosts: &[HostShare],
    ) -> Result<(), RunError> {
        let cell = record.cell;
        if let Rules::Comparison(_) = self {
            record.cell = None;
        }
        let appended = file.append_trial_of_hosts(record, hosts);
        record.cell = cell;
        Ok(appended?)
    }

    /// The number of blocks that are measured whatever the time limit.
    pub(crate) fn least_blocks(&self) -> u32 {
        match self {
            Rules::Study | Rules::Prediction(_) => 1,
            Rules::Comparison(_) => 2,
        }
    }

    /// Says that cells of a block are measured again.
    pub(crate) fn again(&self, block: u32, cells: usize, attempt: u32) -> String {
        let (block, attempt) = (block + 1, attempt + 1);
        match (self, cells) {
            (Rules::Comparison(_), _) => {
                format!("a trial of block {block} broke: it is measured again (attempt {attempt})")
            }
            (Rules::Study | Rules::Prediction(_), cells) => {
                let cells = match cells {
                    1 => "1 cell is".into(),
                    count => format!("{count} cells are"),
                };
                format!("trials of block {block} broke: {cells} measured again (attempt {attempt})")
            }
        }
    }
}

impl StudyRun<'_> {
    /// The trials of a block that are still to be made, as far as that is known now.
    pub(crate) fn due(&self, block: u32, order: &[usize]) -> Vec<Due> {
        let mut due = self.book.attempts.due(block, order);
        if self.book.rules.is_predicted() {
            due.retain(|due| !due.begins_again);
        }
        due
    }

    /// Whether there is time for a trial of each of these cells after so much of it.
    pub(crate) fn fits(&self, spent: Duration, cells: impl Iterator<Item = usize>) -> bool {
        self.book.rules.is_predicted() || self.book.schedule.fits(self.plan, spent, cells)
    }

    /// Why no further block is needed, if none is.
    pub(crate) fn is_enough(&self) -> Option<FinishReason> {
        let decision = match &self.book.rules {
            Rules::Study | Rules::Prediction(_) => {
                let views = conclusion::views(&self.book.trials, &self.book.attempts);
                match decide_study(self.plan, &views) {
                    // Cells that fail have fewer; each has its turn all the same.
                    Decision::BlocksExhausted => return None,
                    decision => decision,
                }
            }
            Rules::Comparison(plan) => decision(plan, &self.book.trials, &self.book.attempts),
        };
        match decision {
            Decision::PrecisionReached => Some(FinishReason::PrecisionReached),
            Decision::BlocksExhausted => Some(FinishReason::MaxBlocks),
            Decision::Continue { .. } => None,
        }
    }

    /// Tells that a block has ended; gives the reason if that is the end.
    pub(crate) fn after_block(
        &self,
        block: u32,
        spent: Duration,
        progress: &mut dyn Progress,
    ) -> Option<FinishReason> {
        let Rules::Comparison(plan) = &self.book.rules else {
            progress.block_ended(&BlockEnd {
                blocks: block + 1,
                most: self.plan.design.blocks.most(),
                failed: self.book.schedule.failed(),
            });
            return None;
        };
        let analysis = self.analyse(plan);
        let more = match decision(plan, &self.book.trials, &self.book.attempts) {
            Decision::Continue { expected_more_blocks } => expected_more_blocks as u32,
            _ => 0,
        };
        let pairs = analysis.pairs.iter().filter_map(|pair| pair.comparisons.first());
        let half_width = pairs.map(|(_, comparison)| comparison.half_width).reduce(f64::max);
        // By the blocks that are probably still needed, and never beyond the time limit.
        let left = Duration::from_nanos(plan.time_limit_ns).saturating_sub(spent);
        let rest = self.book.schedule.block(self.plan).saturating_mul(more).min(left);
        progress.block(block + 1, plan.metric, half_width, rest.as_nanos() as u64);
        let is_invalid =
            |finding: &stormeter_statistics::LawFinding| finding.severity == Severity::Invalid;
        let broken = analysis.findings.iter().any(|(_, finding)| is_invalid(finding));
        broken.then_some(FinishReason::Invalid)
    }

    /// What the trials of a comparison amount to so far.
    fn analyse(&self, plan: &ComparisonPlan) -> Analysis {
        let surroundings =
            surroundings(plan, self.is_null.clone(), &self.book.trials, &self.book.attempts);
        analyse(plan, &views(&self.book.trials, &self.book.attempts), &surroundings)
    }
}
