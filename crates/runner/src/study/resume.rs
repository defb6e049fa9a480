//! Resumes a study that was interrupted or killed.
//!
//! A study is resumed only with the plan, the machine and the storage that it started with. Only when to stop may change:
//! more time is the purpose of resuming.

use stormeter_conclude::conclude;
use stormeter_results::{DatastoreDescription, Environment, FinishReason, Header, ResultsFile};
use stormeter_statistics::Severity;
use stormeter_study::{Blocks, StudyPlan};

use crate::error::RunError;
use crate::resume::{check_machine, check_storage};
use crate::study::request::{Request, Resume};
use crate::study::schedule::Schedule;

/// The results file to resume, if there is one with this study.
pub(crate) fn resumable(request: &Request) -> Result<Option<ResultsFile>, RunError> {
    // An empty file was made for the results and holds none yet.
    match std::fs::metadata(&request.output) {
        _ if request.resume == Resume::Never => return Ok(None),
        _ if request.resume == Resume::Always => {}
        // There is nothing to measure again.
        _ if request.redo_invalid => {}
        Err(_) => return Ok(None),
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let file = ResultsFile::open_for_resume(&request.output)?;
    let header = file.header()?;
    match difference(&header.plan, &request.plan) {
        None => {
            let mut file = file;
            // Questions and the time to stop may have changed.
            if header.plan != request.plan {
                file.replace_plan(&request.plan)?;
            }
            Ok(Some(file))
        }
        Some(what) => Err(RunError::OtherPlan {
            path: request.output.display().to_string(),
            what: what.into(),
        }),
    }
}

/// The cells that are invalid according to the file.
pub(crate) fn invalid_cells(file: &ResultsFile) -> Result<Vec<usize>, RunError> {
    let findings = conclude(file)?.analysis.findings;
    let invalid = findings.into_iter().filter(|(_, found)| found.severity == Severity::Invalid);
    let mut cells: Vec<usize> = invalid.filter_map(|(cell, _)| cell).collect();
    cells.sort_unstable();
    cells.dedup();
    Ok(cells)
}

/// Whether nothing is left to measure. More blocks than the file has may be requested later, and more time.
pub(crate) fn is_over(file: &ResultsFile, plan: &StudyPlan) -> Result<bool, RunError> {
    Ok(match file.finished()?.map(|finished| finished.reason) {
        Some(FinishReason::PrecisionReached) => matches!(plan.design.blocks, Blocks::Auto { .. }),
        Some(FinishReason::MaxBlocks) => {
            let last = plan.design.blocks.most().saturating_sub(1);
            let cells = plan.cells().len();
            let schedule = Schedule::of(cells, &file.trials()?);
            (0..cells).all(|cell| schedule.is_recorded(last, cell))
        }
        // The time spent on trials counts, not the time since.
        Some(FinishReason::TimeLimit) => {
            let cells = plan.cells().len();
            let schedule = Schedule::of(cells, &file.trials()?);
            !schedule.fits(plan, schedule.spent(), 0..cells)
        }
        _ => false,
    })
}

/// The first difference between two plans that affects results.
fn difference(then: &StudyPlan, now: &StudyPlan) -> Option<&'static str> {
    let (design, wanted) = (&then.design, &now.design);
    let disk = |plan: &StudyPlan| (plan.disk_bytes, plan.prepare);
    let differences = [
        ("list of datastores", then.datastores != now.datastores),
        ("list of hosts", then.hosts != now.hosts),
        ("baseline", then.baseline != now.baseline),
        ("list of workloads", then.workloads != now.workloads),
        ("load (number of VMs)", then.vms != now.vms),
        ("load (outstanding I/Os)", then.outstanding != now.outstanding),
        ("load (equal load)", design.equal_load != wanted.equal_load),
        ("disk size or preparation", disk(then) != disk(now)),
        ("ramp, duration or interval", then.timing != now.timing),
        ("metric", design.metric != wanted.metric),
        // The width at which a run stops is part of the meaning of its interval.
        ("precision", design.precision != wanted.precision),
        ("margin", design.margin != wanted.margin),
        ("confidence level", design.level != wanted.level),
        ("order of trials", design.order != wanted.order),
        ("reset", design.reset != wanted.reset),
        ("unit", design.unit != wanted.unit),
        ("number of threads", then.threads != now.threads),
        ("verification", then.verify != now.verify),
        ("seed", then.seed != now.seed),
    ];
    differences.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}

/// Checks that machine and datastores are still those that the study started with. A server that the study starts itself
/// has another port each time.
pub(crate) fn check_same_place(
    header: &Header,
    now: (&Environment, &[DatastoreDescription]),
    request: &Request,
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

#[cfg(test)]
mod tests {
    use stormeter_study::{WorkloadKind, parse_study};

    use super::*;

    #[test]
    fn every_part_of_the_plan_that_shapes_the_result_must_stay() {
        let then = parse_study("datastores: {a: /a, b: /b}").unwrap();
        type Change = fn(&mut StudyPlan);
        let changes: [(Change, &str); 7] = [
            (|plan| plan.verify = true, "verification"),
            (|plan| plan.design.precision = 0.5, "precision"),
            (|plan| plan.design.margin = 0.5, "margin"),
            (|plan| plan.vms = vec![9], "VMs"),
            (
                |plan| {
                    let WorkloadKind::Io(io) = &mut plan.workloads[0].kind else { unreachable!() };
                    io.read_percent = 1.0;
                },
                "workload",
            ),
            (|plan| plan.timing.duration_ns += 1, "duration"),
            (|plan| plan.datastores.reverse(), "datastores"),
        ];
        for (change, word) in changes {
            let mut now = then.clone();
            change(&mut now);
            let what = difference(&then, &now).unwrap();
            assert!(what.contains(word), "{what}");
        }
        // More time is the purpose of resuming.
        let mut now = then.clone();
        now.design.blocks = Blocks::Auto { min: 5, max: 7 };
        now.design.time_limit_ns = Some(1);
        assert_eq!(difference(&then, &now), None);
    }
}
