//! Where a study's results go: tables or JSON to stdout, the page to its file.

use stormeter_report::{
    StudyParts, StudyReport, StudyTrial, assemble_study, study_html, study_json, study_terminal,
};
use stormeter_results::{Phase, TrialRecord};
use stormeter_runner::StudyConclusion;

use crate::arguments::ShowOptions;
use crate::exit::Failure;
use crate::output::{print, terminal_options};

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
pub(crate) fn show_study(report: &StudyReport, options: &ShowOptions) -> Result<(), Failure> {
    if options.json {
        let text = serde_json::to_string_pretty(&study_json(report))
            .map_err(|error| Failure::File(error.to_string()))?;
        print(&format!("{text}\n"))?;
    } else {
        print(&study_terminal(report, terminal_options()))?;
    }
    // Last, so that a page that cannot be written takes nothing else away.
    let Some(path) = &options.html else { return Ok(()) };
    std::fs::write(path, study_html(report)).map_err(|error| {
        Failure::File(format!("the page cannot be written to {}: {error}", path.display()))
    })
}
