//! When a run ends, and what is reported after each block.
//!
//! A comparison has one verdict for each candidate, so it ends when it is invalid: no further block can make it valid
//! again. A study of several loads continues for the others.

use std::time::Duration;

use stormeter_conclude::{Due, surroundings, views};
use stormeter_results::FinishReason;
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{Analysis, analyse, decide};

use crate::progress::{BlockEnd, Estimate, Progress};
use crate::study::run::StudyRun;

impl StudyRun<'_> {
    /// The trials of a block that are still due, as far as is known now. A trial that fails on a model would fail again in
    /// another attempt.
    pub(crate) fn due(&self, block: u32, order: &[usize]) -> Vec<Due> {
        let mut due = self.book.attempts.due(block, order);
        if self.book.is_predicted {
            due.retain(|due| !due.begins_again);
        }
        due
    }

    /// Whether the time limit has room for a trial of each of these cells after `spent`. Trials on a model cost no time.
    pub(crate) fn fits(&self, spent: Duration, cells: impl Iterator<Item = usize>) -> bool {
        self.book.is_predicted || self.book.schedule.fits(self.plan, spent, cells)
    }

    /// The number of blocks that are measured regardless of the time limit.
    pub(crate) fn least_blocks(&self) -> u32 {
        if self.book.is_predicted { 1 } else { self.plan.least_blocks() }
    }

    /// Why no further block is needed, if none is.
    pub(crate) fn is_enough(&self) -> Option<FinishReason> {
        match self.decision() {
            Decision::PrecisionReached => Some(FinishReason::PrecisionReached),
            // Cells that fail have fewer trials; each has its turn nevertheless.
            Decision::BlocksExhausted | Decision::Continue { .. } => None,
        }
    }

    fn decision(&self) -> Decision {
        decide(self.plan, &views(&self.book.trials, &self.book.attempts))
    }

    /// The note that cells of a block are measured again.
    pub(crate) fn again(&self, block: u32, cells: usize, attempt: u32) -> String {
        let (block, attempt) = (block + 1, attempt + 1);
        if self.book.is_comparison() {
            return format!(
                "a trial of block {block} broke: it is measured again (attempt {attempt})"
            );
        }
        let cells = match cells {
            1 => "1 cell is".into(),
            count => format!("{count} cells are"),
        };
        format!("trials of block {block} broke: {cells} measured again (attempt {attempt})")
    }

    /// Reports the end of a block; returns the reason if the run ends with it.
    pub(crate) fn after_block(
        &self,
        block: u32,
        spent: Duration,
        progress: &mut dyn Progress,
    ) -> Option<FinishReason> {
        let end =
            BlockEnd { blocks: block + 1, most: self.plan.design.blocks.most(), estimate: None };
        if !self.book.is_comparison() {
            progress.block_ended(&end);
            return None;
        }
        let analysis = self.analyse();
        let more = match self.decision() {
            Decision::Continue { expected_more_blocks } => expected_more_blocks as u32,
            _ => 0,
        };
        let metric = self.plan.design.metric;
        let ratios = analysis.cells.iter().flat_map(|cell| &cell.relative);
        let compared = ratios.filter(|ratio| ratio.metric == metric);
        let half_widths = compared.filter_map(|ratio| Some(ratio.comparison.as_ref()?.half_width));
        let half_width = half_widths.reduce(f64::max);
        // From the number of blocks that are probably still needed, within the time limit.
        let limit = self.plan.design.time_limit_ns.map_or(Duration::MAX, Duration::from_nanos);
        let rest = self.book.schedule.block(self.plan).saturating_mul(more);
        let rest = rest.min(limit.saturating_sub(spent));
        let estimate = Estimate { metric, half_width, rest_ns: rest.as_nanos() as u64 };
        progress.block_ended(&BlockEnd { estimate: Some(estimate), ..end });
        analysis.is_invalid().then_some(FinishReason::Invalid)
    }

    /// The analysis of the trials so far.
    fn analyse(&self) -> Analysis {
        let surroundings =
            surroundings(self.plan, self.is_null.clone(), &self.book.trials, &self.book.attempts);
        analyse(self.plan, &views(&self.book.trials, &self.book.attempts), &surroundings)
    }
}
