//! What a results file says: its trials, and everything concluded from them.

use stormeter_results::{
    Event, Finished, Header, Phase, ResultsError, ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_statistics::{Analysis, Surroundings, TrialView, analyse};

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
    let surroundings = surroundings(&header, &trials);
    let analysis = analyse(&header.plan, &views(&trials), &surroundings);
    Ok(Conclusion {
        analysis,
        ceiling_iops: surroundings.ceiling_iops,
        events: file.events()?,
        finished: file.finished()?,
        header,
        trials,
    })
}

/// The measured trials of the blocks.
pub(crate) fn views(trials: &[TrialRecord]) -> Vec<TrialView<'_>> {
    trials
        .iter()
        .filter(|trial| trial.phase == Phase::Main)
        .filter_map(|trial| match &trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                Some(TrialView { block: trial.block, datastore: trial.datastore?, sample, cpu })
            }
            TrialOutcome::Failed { .. } => None,
        })
        .collect()
}

fn surroundings(header: &Header, trials: &[TrialRecord]) -> Surroundings {
    let mut failed: Vec<Option<(u32, String)>> = vec![None; header.plan.datastores.len()];
    for trial in trials {
        if let (TrialOutcome::Failed { reason, .. }, Some(datastore)) =
            (&trial.outcome, trial.datastore)
            && let Some(place) = failed.get_mut(datastore)
        {
            let (count, _) = place.get_or_insert_with(|| (0, reason.clone()));
            *count += 1;
        }
    }
    Surroundings {
        ceiling_iops: ceiling_iops(trials),
        is_null: header.datastores.iter().map(|datastore| datastore.kind == "null").collect(),
        failed,
    }
}

fn ceiling_iops(trials: &[TrialRecord]) -> Option<f64> {
    trials
        .iter()
        .rfind(|trial| trial.phase == Phase::Ceiling)
        .and_then(TrialRecord::sample)
        .map(|sample| sample.iops())
}
