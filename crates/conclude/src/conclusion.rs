//! A results file read and concluded from.

use stormeter_results::{
    AssumedEffect, Elasticity, Event, EventKind, Finished, Header, HostShare, OtherValue, Phase,
    ResultsError, ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_statistics::guests::{self, GuestSummary, GuestTrial};
use stormeter_statistics::{
    Analysis, Answer, CeilingKind, CellTrial, Fact, FailedTrials, LawFinding, MeasuredCeiling,
    Surroundings, analyse,
};
use stormeter_study::StudyPlan;

use crate::assumed::with_other_values;
use crate::attempts::Attempts;

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
    /// The ceilings of the generator and of ways to datastores, as far as they were measured.
    pub ceilings: Vec<MeasuredCeiling>,
    /// What each host did in the trials that several hosts carried out, by the trials' numbers.
    pub host_shares: Vec<(u64, HostShare)>,
    /// What the guests of the rack did in the windows of trials, of a study on such guests.
    pub guests: Vec<GuestSummary>,
    /// What more of each component would bring, of a prediction.
    pub elasticities: Vec<Elasticity>,
    /// What other plausible values of what is assumed would change in cells, of a prediction.
    pub assumed: Vec<AssumedEffect>,
    /// The answers with each of these values.
    pub supposed: Vec<(OtherValue, Vec<Answer>)>,
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
    let is_null: Vec<bool> = header.datastores.iter().map(|store| store.kind == "null").collect();
    let attempts = Attempts::of(&header.plan, is_null.clone(), &trials);
    let surroundings = Surroundings {
        is_predicted: header.prediction.is_some(),
        memories: header.datastores.iter().map(|store| store.memories.clone()).collect(),
        promises: header.datastores.iter().map(|store| store.promise.clone()).collect(),
        ..surroundings(&header.plan, is_null, &trials, &attempts)
    };
    let own_trials = views(&trials, &attempts);
    let mut analysis = analyse(&header.plan, &own_trials, &surroundings);
    let assumed = file.assumed_effects()?;
    let supposed = with_other_values(&header.plan, &own_trials, &analysis, &assumed);
    let events = file.events()?;
    let starved = guests::starved(&guest_trials(&header.plan, &trials, &attempts));
    let starved = starved.map(|(cell, finding)| (Some(cell), finding));
    let others = resumed_after_verdict(&events).map(|finding| (None, finding));
    analysis.findings.extend(starved.into_iter().chain(others));
    analysis.findings.sort_by_key(|(_, finding)| finding.severity);
    Ok(Conclusion {
        analysis,
        ceilings: surroundings.ceilings,
        host_shares: file.host_shares()?,
        guests: guests::summaries(&guest_trials(&header.plan, &trials, &attempts)),
        elasticities: file.elasticities()?,
        assumed,
        supposed,
        events,
        finished: file.finished()?,
        header,
        trials,
    })
}

/// What is to be said of a run that was resumed after its verdict could be read.
fn resumed_after_verdict(events: &[Event]) -> Option<LawFinding> {
    let resumed = events.iter().filter(|event| event.kind == EventKind::ResumedAfterVerdict);
    let times = resumed.count();
    (times > 0).then(|| LawFinding::warning(Fact::ResumedAfterVerdict(times)))
}

/// The trials of the blocks that count, failed ones too.
pub fn counted<'a>(
    trials: &'a [TrialRecord],
    attempts: &Attempts,
) -> impl Iterator<Item = &'a TrialRecord> {
    trials.iter().filter(|trial| trial.phase == Phase::Main && attempts.counts(trial))
}

/// The measured ones among them.
pub fn views<'a>(trials: &'a [TrialRecord], attempts: &Attempts) -> Vec<CellTrial<'a>> {
    counted(trials, attempts)
        .filter_map(|trial| match &trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                Some(CellTrial { block: trial.block, cell: trial.cell?, sample, cpu })
            }
            TrialOutcome::Failed { .. } => None,
        })
        .collect()
}

/// The same trials, for what the guests of the rack did.
fn guest_trials<'a>(
    plan: &StudyPlan,
    trials: &'a [TrialRecord],
    attempts: &Attempts,
) -> Vec<GuestTrial<'a>> {
    let counts = |trial: &&TrialRecord| {
        trial.phase == Phase::Main && attempts.counts(trial) && !trial.guests.is_empty()
    };
    let of_guests = trials.iter().filter(counts).filter_map(|trial| match &trial.outcome {
        TrialOutcome::Measured { sample, .. } => {
            // Fixed work starts with its first request.
            let ramp_ns = if sample.steps.is_empty() { plan.timing.ramp_ns } else { 0 };
            Some(GuestTrial { cell: trial.cell?, ramp_ns, guests: &trial.guests })
        }
        TrialOutcome::Failed { .. } => None,
    });
    of_guests.collect()
}

/// What is known in addition to the measured trials, except for caches and promises; `is_null` says for each datastore of the plan
/// whether it answers from nothing.
pub fn surroundings(
    plan: &StudyPlan,
    is_null: Vec<bool>,
    trials: &[TrialRecord],
    attempts: &Attempts,
) -> Surroundings {
    let cells = plan.cells();
    let mut failed: Vec<Option<FailedTrials>> = vec![None; cells.len()];
    let mut verified = vec![None; cells.len()];
    let mut ceilings = Vec::new();
    for trial in trials {
        let Some(cell) = trial.cell.filter(|&cell| cell < cells.len()) else { continue };
        if trial.phase == Phase::Ceiling {
            if let TrialOutcome::Measured { sample, .. } = &trial.outcome {
                let (workload, iops) = (cells[cell].workload, sample.iops());
                let kind = kind_of(plan, trial.datastore);
                for datastore in bounded_by(plan, trial.datastore) {
                    let ceiling = MeasuredCeiling { kind, datastore, workload, iops };
                    add_ceiling(&mut ceilings, ceiling);
                }
            }
            continue;
        }
        if let TrialOutcome::Failed { failure, .. } = &trial.outcome
            && attempts.counts(trial)
        {
            FailedTrials::add(&mut failed[cell], failure);
        }
        if let Some(found) = trial.sample().and_then(|sample| sample.verified.as_ref()) {
            match &mut verified[cell] {
                None => verified[cell] = Some(found.clone()),
                Some(all) => stormeter_trial::Verified::merge(all, found),
            }
        }
    }
    let again = attempts.measured_again(trials);
    let is_predicted = false;
    let (memories, promises) = (Vec::new(), Vec::new());
    Surroundings { ceilings, is_null, failed, verified, again, memories, promises, is_predicted }
}

fn kind_of(plan: &StudyPlan, datastore: Option<usize>) -> CeilingKind {
    match datastore.map(|datastore| plan.datastores.get(datastore)) {
        None => CeilingKind::Generator,
        Some(Some(named)) if named.ceiling.is_some() => CeilingKind::NamedWay,
        Some(_) => CeilingKind::NullServer,
    }
}

/// The datastores that share the ceiling measured for one of them: all that name the same one. `None` stands for the
/// generator's ceiling.
fn bounded_by(plan: &StudyPlan, datastore: Option<usize>) -> Vec<Option<usize>> {
    let Some(datastore) = datastore else { return vec![None] };
    let ceiling_of =
        |datastore: usize| plan.datastores.get(datastore).and_then(|it| it.ceiling.as_ref());
    if ceiling_of(datastore).is_none() {
        // Through a null server: recorded for each datastore by itself.
        return vec![Some(datastore)];
    }
    let same = (0..plan.datastores.len()).filter(|&it| ceiling_of(it) == ceiling_of(datastore));
    same.map(Some).collect()
}

/// Adds a ceiling: the best of several attempts counts, and none without I/O.
fn add_ceiling(ceilings: &mut Vec<MeasuredCeiling>, one: MeasuredCeiling) {
    let is_same =
        |it: &&mut MeasuredCeiling| (it.datastore, it.workload) == (one.datastore, one.workload);
    match ceilings.iter_mut().find(is_same) {
        Some(known) => known.iops = known.iops.max(one.iops),
        None if one.iops > 0.0 => ceilings.push(one),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_attempt_at_a_ceiling_counts_and_none_without_io() {
        let of = |datastore, workload, iops| MeasuredCeiling {
            kind: CeilingKind::NullServer,
            datastore,
            workload,
            iops,
        };
        let mut ceilings = Vec::new();
        for iops in [0.0, 300.0, 500.0, 400.0, 0.0] {
            add_ceiling(&mut ceilings, of(Some(0), 1, iops));
        }
        assert_eq!(ceilings, [of(Some(0), 1, 500.0)]);
        for other in [of(Some(1), 1, 200.0), of(Some(0), 0, 100.0), of(None, 1, 900.0)] {
            add_ceiling(&mut ceilings, other);
        }
        add_ceiling(&mut ceilings, of(Some(2), 1, 0.0));
        let found: Vec<f64> = ceilings.iter().map(|ceiling| ceiling.iops).collect();
        assert_eq!(found, [500.0, 200.0, 100.0, 900.0], "each datastore and workload by itself");
    }
}
