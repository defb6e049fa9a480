//! What a results file says: its trials, and everything concluded from them.

use stormeter_results::{
    Event, EventKind, Finished, Header, Phase, ResultsError, ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{
    Analysis, Fact, FailedTrials, LawFinding, Surroundings, TrialView, analyse, decide,
};
use stormeter_study::ComparisonPlan;
use stormeter_trial::Verified;

use crate::attempts::{Attempts, what_broke_in_comparison};
use crate::ceiling::best;
use crate::threads::trial_length;

/// A results file read and concluded from.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// What was planned, and where it ran.
    pub header: Header,
    /// Every trial.
    pub trials: Vec<TrialRecord>,
    /// What happened on the way.
    pub events: Vec<Event>,
    /// Why the run ended; `None` while it runs or after it was killed.
    pub finished: Option<Finished>,
    /// The generator's ceiling, in IOPS.
    pub ceiling_iops: Option<f64>,
    /// Per datastore, the ceiling of the way to it, in IOPS: through a server that answers from nothing.
    pub way_ceilings: Vec<Option<f64>>,
    /// The conclusions.
    pub analysis: Analysis,
}

/// Reads a results file and concludes; the same at the end of the run and a year later.
///
/// # Errors
/// The file cannot be read.
pub fn conclude(file: &ResultsFile) -> Result<Conclusion, ResultsError> {
    let header = file.header()?;
    let trials = file.trials()?;
    let is_null = header.datastores.iter().map(|datastore| datastore.kind == "null").collect();
    let attempts = Attempts::of_comparison(&header.plan, &trials);
    let memories = header.datastores.iter().map(|store| store.memories.clone()).collect();
    let surroundings =
        Surroundings { memories, ..surroundings(&header.plan, is_null, &trials, &attempts) };
    let mut analysis = analyse(&header.plan, &views(&trials, &attempts), &surroundings);
    let events = file.events()?;
    if let Some(finding) = resumed_after_verdict(&events) {
        analysis.findings.push((None, finding));
        analysis.findings.sort_by_key(|(_, finding)| finding.severity);
    }
    Ok(Conclusion {
        analysis,
        ceiling_iops: surroundings.ceiling_iops,
        way_ceilings: surroundings.way_ceilings,
        events,
        finished: file.finished()?,
        header,
        trials,
    })
}

/// What is to be said of a run that was resumed after its verdict could be read.
pub(crate) fn resumed_after_verdict(events: &[Event]) -> Option<LawFinding> {
    let resumed = events.iter().filter(|event| event.kind == EventKind::ResumedAfterVerdict);
    let times = resumed.count();
    (times > 0).then(|| LawFinding::warning(Fact::ResumedAfterVerdict(times)))
}

/// The measured trials of the blocks that count.
pub(crate) fn views<'a>(trials: &'a [TrialRecord], attempts: &Attempts) -> Vec<TrialView<'a>> {
    trials
        .iter()
        .filter(|trial| trial.phase == Phase::Main && attempts.counts(trial))
        .filter_map(|trial| match &trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                Some(TrialView { block: trial.block, datastore: trial.datastore?, sample, cpu })
            }
            TrialOutcome::Failed { .. } => None,
        })
        .collect()
}

/// Whether to go on.
pub(crate) fn decision(
    plan: &ComparisonPlan,
    trials: &[TrialRecord],
    attempts: &Attempts,
) -> Decision {
    let views = views(trials, attempts);
    let counts = |trial: &&TrialRecord| trial.phase == Phase::Main && attempts.counts(trial);
    let main = trials.iter().filter(counts).count();
    if main >= plan.datastores.len() * plan.max_blocks as usize {
        // Trials that failed, or had nothing to count, give no ratio, but they were made.
        let measured = decide(plan, &views).unwrap_or(Decision::BlocksExhausted);
        return match measured {
            Decision::Continue { .. } => Decision::BlocksExhausted,
            ended => ended,
        };
    }
    // The plan was checked, so its rule is sound; if it were not, going on until the time is up is
    // what hurts least.
    decide(plan, &views).unwrap_or(Decision::Continue { expected_more_blocks: 1 })
}

/// How long a block takes by the plan.
pub(crate) fn planned_block_ns(plan: &ComparisonPlan) -> u64 {
    trial_length(plan.timing).as_nanos() as u64 * plan.datastores.len() as u64
}

/// What is known beside the measured trials, except for memories; `is_null` says it of each datastore of the
/// plan.
pub(crate) fn surroundings(
    plan: &ComparisonPlan,
    is_null: Vec<bool>,
    trials: &[TrialRecord],
    attempts: &Attempts,
) -> Surroundings {
    let mut failed: Vec<Option<FailedTrials>> = vec![None; is_null.len()];
    // What goes wrong on the way to nothing is not the datastore's.
    let own = trials.iter().filter(|trial| trial.phase != Phase::Ceiling);
    for trial in own.filter(|trial| attempts.counts(trial)) {
        if let (TrialOutcome::Failed { failure, .. }, Some(datastore)) =
            (&trial.outcome, trial.datastore)
            && let Some(place) = failed.get_mut(datastore)
        {
            FailedTrials::add(place, failure);
        }
    }
    let verified = (0..is_null.len()).map(|datastore| verified(datastore, trials)).collect();
    let way_ceilings =
        (0..is_null.len()).map(|datastore| ceiling_iops(Some(datastore), trials)).collect();
    let again = attempts.measured_again(trials, |trial| what_broke_in_comparison(plan, trial));
    Surroundings {
        ceiling_iops: ceiling_iops(None, trials),
        way_ceilings,
        is_null,
        failed,
        verified,
        again,
        memories: Vec::new(),
    }
}

/// What all trials of a datastore found in its blocks, whatever they were for and however they ended.
fn verified(datastore: usize, trials: &[TrialRecord]) -> Option<Verified> {
    let own = trials.iter().filter(|trial| trial.datastore == Some(datastore));
    own.filter_map(|trial| trial.sample()?.verified.clone()).reduce(|mut all, one| {
        all.merge(&one);
        all
    })
}

/// The ceiling of the way to a datastore, or the generator's (`None`).
fn ceiling_iops(datastore: Option<usize>, trials: &[TrialRecord]) -> Option<f64> {
    let is_own =
        |trial: &&TrialRecord| trial.phase == Phase::Ceiling && trial.datastore == datastore;
    let own = trials.iter().filter(is_own);
    best(own.filter_map(|trial| match &trial.outcome {
        TrialOutcome::Measured { sample, .. } => Some(sample.iops()),
        TrialOutcome::Failed { .. } => None,
    }))
}
