//! How much of its time a run has spent, over all the processes that carried it out.
//!
//! A pause before a resumption is no time spent: what counts are the trials.

use std::collections::HashMap;

use stormeter_results::{Attempt, Phase, TrialRecord};

fn main_trials(trials: &[TrialRecord]) -> impl Iterator<Item = &TrialRecord> {
    trials.iter().filter(|trial| trial.phase == Phase::Main)
}

/// Time spent on the trials of blocks.
pub(crate) fn spent_ns(trials: &[TrialRecord]) -> u64 {
    main_trials(trials).fold(0, |sum, trial| sum.saturating_add(trial.elapsed_ns))
}

/// The longest time that a block took, each attempt by itself; 0 without any.
pub(crate) fn longest_block_ns(trials: &[TrialRecord]) -> u64 {
    let mut blocks: HashMap<(u32, Attempt), u64> = HashMap::new();
    for trial in main_trials(trials) {
        let sum = blocks.entry((trial.block, trial.attempt)).or_default();
        *sum = sum.saturating_add(trial.elapsed_ns);
    }
    blocks.into_values().max().unwrap_or(0)
}
