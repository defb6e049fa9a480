//! Going on with a run that was interrupted or killed.
//!
//! Half a comparison is worth nothing beside another half of something else: a run goes on only
//! with the plan, the machine and the storage that it was begun with.

use std::path::Path;

use stormeter_results::{
    DatastoreDescription, Environment, Event, EventKind, FinishReason, Finished, ResultsFile,
};
use stormeter_statistics::stopping::Decision;
use stormeter_study::ComparisonPlan;

use crate::attempts::Attempts;
use crate::comparison::Request;
use crate::conclusion::{decision, planned_block_ns};
use crate::error::RunError;
use crate::journal::event_of;
use crate::spent::{longest_block_ns, spent_ns};

/// The results file to go on with, if that is wanted; the plan takes its seed.
///
/// # Errors
/// There is none: a mistyped name must not begin a run.
pub(crate) fn begun(
    request: &Request,
    plan: &mut ComparisonPlan,
) -> Result<Option<ResultsFile>, RunError> {
    if !request.resume {
        return Ok(None);
    }
    let file = ResultsFile::open_for_resume(&request.output)?;
    let header = file.header()?;
    plan.seed = header.plan.seed;
    check_same_plan(&header.plan, plan, request)?;
    Ok(Some(file))
}

/// How the run ended, if nothing is left to measure: then no datastore is touched. A run that was
/// killed after its last block is not over, for its disks are still there.
pub(crate) fn over(
    plan: &ComparisonPlan,
    file: &ResultsFile,
) -> Result<Option<Finished>, RunError> {
    let Some(finished) = file.finished()? else { return Ok(None) };
    let trials = file.trials()?;
    let attempts = Attempts::of_comparison(plan, &trials);
    let has_more = || matches!(decision(plan, &trials, &attempts), Decision::Continue { .. });
    let is_over = match finished.reason {
        FinishReason::PrecisionReached | FinishReason::MaxBlocks => !has_more(),
        // The time that was spent counts, not the time since: without more of it there is nothing to do.
        FinishReason::TimeLimit => {
            let block_ns = longest_block_ns(&trials).max(planned_block_ns(plan));
            spent_ns(&trials).saturating_add(block_ns) > plan.time_limit_ns
        }
        FinishReason::Interrupted | FinishReason::Invalid | FinishReason::Failed { .. } => false,
    };
    Ok(is_over.then_some(finished))
}

/// From so many blocks on there is a verdict.
const READABLE: usize = 2;

/// What to note about going on with a file that holds these trials.
pub(crate) fn resumption(attempts: &Attempts) -> Event {
    // However it ended: one that was interrupted says what it has found, and of one that was killed the file
    // can be reported. Going on from there is a choice, and may have been made on it.
    if attempts.readable_blocks() >= READABLE {
        let what = "resumed after its verdict could be read";
        return event_of(EventKind::ResumedAfterVerdict, what.into());
    }
    event_of(EventKind::Resumed, "resumed".into())
}

fn check_same_plan(
    begun: &ComparisonPlan,
    now: &ComparisonPlan,
    request: &Request,
) -> Result<(), RunError> {
    // When to stop may change: to go on with more time is what resuming is for.
    let differences = [
        ("list of datastores", begun.datastores != now.datastores),
        ("baseline", begun.baseline != now.baseline),
        ("workload", begun.workload != now.workload),
        ("number of VMs", begun.vms != now.vms),
        ("size", begun.disk_bytes != now.disk_bytes),
        ("duration, ramp or interval", begun.timing != now.timing),
        ("metric", begun.metric != now.metric),
        ("load", begun.equal_load != now.equal_load),
        ("number of threads", begun.threads != now.threads),
        // The width at which a run stops is part of what its interval means.
        ("precision", begun.precision != now.precision),
        ("margin", begun.margin != now.margin),
        ("verification", begun.verify != now.verify),
    ];
    match differences.into_iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((what, _)) => Err(RunError::OtherPlan {
            path: request.output.display().to_string(),
            what: what.into(),
        }),
    }
}

/// Whether the run goes on where it was begun.
pub(crate) fn check_machine(
    begun: &Environment,
    now: &Environment,
    output: &Path,
) -> Result<(), RunError> {
    let machine = |environment: &Environment| {
        format!(
            "{} with kernel {} and {} CPUs",
            environment.hostname.as_deref().unwrap_or("a machine"),
            environment.kernel,
            environment.cpus
        )
    };
    if machine(begun) == machine(now) {
        return Ok(());
    }
    let what = format!("machine ({}; this is {})", machine(begun), machine(now));
    Err(RunError::OtherPlan { path: output.display().to_string(), what })
}

/// Whether a datastore is still what it was: a mount that is missing after a reboot would otherwise lend its name to the
/// disk below it.
pub(crate) fn check_storage(
    then: &DatastoreDescription,
    now: &DatastoreDescription,
    output: &Path,
) -> Result<(), RunError> {
    if place(then) == place(now) {
        return Ok(());
    }
    let what = format!("storage behind {} ({}; now {})", now.url, place(then), place(now));
    Err(RunError::OtherPlan { path: output.display().to_string(), what })
}

/// What a datastore is, apart from its name.
fn place(datastore: &DatastoreDescription) -> String {
    format!(
        "{} on {}, {}, {}",
        datastore.file_system.as_deref().unwrap_or(&datastore.kind),
        datastore.source.as_deref().unwrap_or("nothing"),
        if datastore.direct { "direct" } else { "buffered" },
        datastore.engine
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datastore(file_system: &str) -> DatastoreDescription {
        DatastoreDescription {
            url: "/mnt/nas".into(),
            kind: "directory".into(),
            file_system: Some(file_system.into()),
            source: Some("nas:/vm".into()),
            direct: true,
            engine: "io_uring".into(),
            ..Default::default()
        }
    }

    fn request() -> Request {
        Request {
            plan: crate::comparison::tests::plan(),
            output: "x.db".into(),
            resume: true,
            destroy_data: vec![],
            secrets: vec![],
            command_line: vec![],
            version: String::new(),
        }
    }

    #[test]
    fn a_mount_that_is_missing_is_noticed() {
        let here = Environment { kernel: "6.1".into(), cpus: 2, ..Default::default() };
        let nas = [datastore("nfs4")];
        let check = |environment: &Environment, now: &[DatastoreDescription]| {
            let output = Path::new("x.db");
            check_machine(&here, environment, output)?;
            check_storage(&nas[0], &now[0], output)
        };
        assert!(check(&here, &nas).is_ok());
        let message = check(&here, &[datastore("ext4")]).unwrap_err().to_string();
        assert!(message.contains("nfs4 on nas:/vm") && message.contains("now ext4"), "{message}");
        let rebooted = Environment { kernel: "6.2".into(), ..here.clone() };
        let message = check(&rebooted, &nas).unwrap_err().to_string();
        assert!(message.contains("kernel 6.2"), "{message}");
    }

    #[test]
    fn every_part_of_the_plan_that_shapes_the_result_must_stay() {
        let begun = request().plan;
        type Change = fn(&mut ComparisonPlan);
        let changes: [(Change, &str); 7] = [
            (|plan| plan.verify = true, "verification"),
            (|plan| plan.precision = 0.5, "precision"),
            (|plan| plan.margin = 0.5, "margin"),
            (|plan| plan.vms = 9, "VMs"),
            (|plan| plan.workload.read_percent = 1.0, "workload"),
            (|plan| plan.timing.duration_ns += 1, "duration"),
            (|plan| plan.datastores.reverse(), "datastores"),
        ];
        for (change, word) in changes {
            let mut now = begun.clone();
            change(&mut now);
            let message = check_same_plan(&begun, &now, &request()).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        // More time is what resuming is for.
        let now = ComparisonPlan { time_limit_ns: 1, max_blocks: 7, ..begun.clone() };
        assert!(check_same_plan(&begun, &now, &request()).is_ok());
    }
}
