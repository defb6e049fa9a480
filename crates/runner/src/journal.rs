//! What a run writes into its results file in addition to trials: its header, events, and why it ended.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use stormeter_datastore::DatastoreError;
use stormeter_results::{
    DatastoreDescription, Environment, Event, EventKind, FinishReason, Header, Prediction,
    ResultsFile, SharedFileSystem, TrialOutcome,
};
use stormeter_study::StudyPlan;

use crate::error::RunError;
use crate::trial_end::TrialEnd;

/// The header's content, written before the first trial.
#[derive(Clone)]
pub(crate) struct Beginning<'a> {
    pub(crate) run_id: &'a str,
    pub(crate) version: &'a str,
    pub(crate) command_line: &'a [String],
    pub(crate) plan: &'a StudyPlan,
    pub(crate) environment: Environment,
    pub(crate) datastores: Vec<DatastoreDescription>,
    /// The site, for a prediction.
    pub(crate) prediction: Option<Box<Prediction>>,
}

/// Creates the results file, with a warning if datastores share what they should not.
pub(crate) fn begin_file(
    path: &Path,
    beginning: Beginning<'_>,
    shared: Option<Box<SharedFileSystem>>,
) -> Result<ResultsFile, RunError> {
    let header = Header {
        created_unix_ms: unix_ms(),
        run_id: beginning.run_id.to_owned(),
        stormeter_version: beginning.version.to_owned(),
        command_line: beginning.command_line.to_vec(),
        plan: beginning.plan.clone(),
        environment: beginning.environment,
        datastores: beginning.datastores,
        prediction: beginning.prediction,
    };
    let mut file = ResultsFile::create(path, &header)?;
    if let Some(shared) = shared {
        file.append_event(&event(EventKind::Shared(*shared)))?;
    }
    Ok(file)
}

/// Why a run with this result ended.
pub(crate) fn finish_reason(
    result: &Result<FinishReason, RunError>,
    is_cancelled: bool,
) -> FinishReason {
    match result {
        Ok(reason) => reason.clone(),
        Err(
            RunError::Interrupted | RunError::Datastore { source: DatastoreError::Cancelled, .. },
        ) => FinishReason::Interrupted,
        Err(_) if is_cancelled => FinishReason::Interrupted,
        Err(error) => FinishReason::Failed { reason: error.to_string() },
    }
}

/// The outcome of a trial, as it is stored.
pub(crate) fn outcome_of(end: TrialEnd) -> TrialOutcome {
    match end.failure() {
        Some(failure) => TrialOutcome::Failed { failure, sample: Some(end.sample) },
        None => TrialOutcome::Measured { sample: end.sample, cpu: end.cpu, notes: end.notes },
    }
}

/// Sixteen hexadecimal digits that no other run has, from the time, the process and the seed.
pub(crate) fn new_run_id(seed: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let mixed = (now ^ seed.rotate_left(32) ^ (u64::from(std::process::id()) << 40))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:016x}", mixed ^ (mixed >> 29))
}

pub(crate) fn event(kind: EventKind) -> Event {
    Event { at_unix_ms: unix_ms(), kind }
}

pub(crate) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_an_id_of_its_own() {
        let id = new_run_id(1);
        assert_eq!(id.len(), 16);
        assert!(id.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()));
    }

    #[test]
    fn an_error_after_a_request_to_stop_is_the_interruption() {
        let failed = || Err(RunError::VerifyNull("null:".into()));
        assert_eq!(finish_reason(&failed(), true), FinishReason::Interrupted);
        assert!(matches!(finish_reason(&failed(), false), FinishReason::Failed { .. }));
        let enough = Ok(FinishReason::MaxBlocks);
        assert_eq!(finish_reason(&enough, true), FinishReason::MaxBlocks);
    }
}
