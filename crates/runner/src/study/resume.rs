//! Going on with a study that was interrupted or killed.
//!
//! A study goes on only with the plan, the machine and the storage that it was begun with. When to stop
//! may change: to go on with more time is what resuming is for.

use stormeter_results::{DatastoreDescription, Environment, FinishReason, ResultsFile};
use stormeter_statistics::Severity;
use stormeter_study::{Blocks, EqualLoad, StudyPlan};

use crate::error::RunError;
use crate::resume::{check_machine, check_storage};
use crate::study::conclusion::conclude_study;
use crate::study::request::StudyRequest;
use crate::study::rules::Begun;
use crate::study::schedule::Schedule;

/// The results file to go on with, if there is one with this study.
pub(crate) fn begun(request: &StudyRequest) -> Result<Option<ResultsFile>, RunError> {
    // An empty file was made for the results and holds none yet.
    match std::fs::metadata(&request.output) {
        // Nothing is there that could be measured again.
        _ if request.redo_invalid => {}
        Err(_) => return Ok(None),
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let file = ResultsFile::open_for_resume(&request.output)?;
    let header = file.study_header()?;
    match difference(&header.plan, &request.plan) {
        None => {
            let mut file = file;
            // What is asked and when it ends may have changed.
            if header.plan != request.plan {
                file.replace_study_plan(&request.plan)?;
            }
            Ok(Some(file))
        }
        Some(what) => Err(RunError::OtherStudy {
            path: request.output.display().to_string(),
            what: what.into(),
        }),
    }
}

/// The cells that are invalid by all that the file holds.
pub(crate) fn invalid_cells(file: &ResultsFile) -> Result<Vec<usize>, RunError> {
    let findings = conclude_study(file)?.analysis.findings;
    let invalid = findings.into_iter().filter(|(_, found)| found.severity == Severity::Invalid);
    let mut cells: Vec<usize> = invalid.filter_map(|(cell, _)| cell).collect();
    cells.sort_unstable();
    cells.dedup();
    Ok(cells)
}

/// Whether nothing is left to measure. More blocks than the file has may be asked for later, and more time.
pub(crate) fn is_over(file: &ResultsFile, plan: &StudyPlan) -> Result<bool, RunError> {
    Ok(match file.finished()?.map(|finished| finished.reason) {
        Some(FinishReason::PrecisionReached) => matches!(plan.design.blocks, Blocks::Auto { .. }),
        Some(FinishReason::MaxBlocks) => {
            let last = plan.design.blocks.most().saturating_sub(1);
            let cells = plan.cells().len();
            let schedule = Schedule::of(cells, &file.trials()?);
            (0..cells).all(|cell| schedule.is_recorded(last, cell))
        }
        // The time that was spent counts, not the time since.
        Some(FinishReason::TimeLimit) => {
            let cells = plan.cells().len();
            let schedule = Schedule::of(cells, &file.trials()?);
            !schedule.fits(plan, schedule.spent(), 0..cells)
        }
        _ => false,
    })
}

/// What shapes the results and differs between two plans.
fn difference(begun: &StudyPlan, now: &StudyPlan) -> Option<&'static str> {
    let differences = [
        ("list of datastores", begun.datastores != now.datastores),
        ("list of hosts", begun.hosts != now.hosts),
        ("baseline", begun.baseline != now.baseline),
        ("list of workloads", begun.workloads != now.workloads),
        ("load", load(begun) != load(now)),
        ("disk", (begun.disk_bytes, begun.prepare) != (now.disk_bytes, now.prepare)),
        ("ramp, duration or interval", begun.timing != now.timing),
        ("metric", begun.design.metric != now.design.metric),
        ("precision, margin or level", shape(begun) != shape(now)),
        ("order of trials", begun.design.order != now.design.order),
        ("reset", begun.design.reset != now.design.reset),
        ("unit", begun.design.unit != now.design.unit),
        ("number of threads", begun.threads != now.threads),
        ("use of verify", begun.verify != now.verify),
        ("seed", begun.seed != now.seed),
    ];
    differences.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}

fn load(plan: &StudyPlan) -> (&[u32], &[u32], Option<EqualLoad>) {
    (&plan.vms, &plan.outstanding, plan.design.equal_load)
}

fn shape(plan: &StudyPlan) -> (f64, f64, f64) {
    (plan.design.precision, plan.design.margin, plan.design.level)
}

/// Whether machine and datastores are still those that the study was begun with. A server that the
/// study starts itself has another port each time.
pub(crate) fn check_same_place(
    header: &Begun,
    now: (&Environment, &[DatastoreDescription]),
    request: &StudyRequest,
) -> Result<(), RunError> {
    check_machine(&header.environment, now.0, &request.output)?;
    for (then, now) in header.environment.hosts.iter().zip(&now.0.hosts) {
        check_machine(&then.environment, &now.environment, &request.output)?;
    }
    for ((then, now), named) in header.datastores.iter().zip(now.1).zip(&request.plan.datastores) {
        if !request.is_embedded(&named.url) {
            check_storage(then, now, &request.output)?;
        }
    }
    Ok(())
}
