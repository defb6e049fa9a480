//! A study's results in the forms that are asked for.

use stormeter_report::{
    StudyParts, StudyReport, StudyTrial, TerminalOptions, assemble_study, study_html, study_json,
    study_terminal,
};
use stormeter_results::{Phase, TrialRecord};
use stormeter_runner::StudyConclusion;

use crate::arguments::ShowOptions;
use crate::exit::Failure;
use crate::output::present;
use crate::{repeat, settings};

/// The report of a study's conclusion.
pub(crate) fn study_report_of(conclusion: StudyConclusion) -> StudyReport {
    let StudyConclusion {
        header,
        trials,
        events,
        finished,
        ceilings,
        host_shares,
        elasticities,
        analysis,
    } = conclusion;
    let of_cells: Vec<StudyTrial<'_>> = trials.iter().filter_map(of_cell).collect();
    let records: Vec<&TrialRecord> = trials.iter().collect();
    assemble_study(StudyParts {
        repeat_command: repeat::of_study(&header.command_line),
        names: settings::study_setting,
        header,
        trials: &of_cells,
        events: &events,
        finished: finished.map(|finished| finished.reason),
        analysis,
        ceilings: &ceilings,
        host_shares: (&records, &host_shares),
        elasticities: &elasticities,
    })
}

fn of_cell(trial: &TrialRecord) -> Option<StudyTrial<'_>> {
    let cell = trial.cell.filter(|_| trial.phase == Phase::Main)?;
    Some(StudyTrial::of(trial, cell, &trial.monitor))
}

/// Shows a study's report as asked for.
pub(crate) fn show_study(
    report: &StudyReport,
    options: &ShowOptions,
    layout: TerminalOptions,
) -> Result<(), Failure> {
    present(
        options,
        || study_json(report),
        || study_terminal(report, layout),
        || study_html(report),
    )
}
