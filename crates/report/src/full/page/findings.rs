//! The findings of laws and checks: those that affect every figure near the top, the others in a section.

use stormeter_statistics::{Fact, FailedTrials, LawFinding, Severity};

use crate::full::grid::Grid;
use crate::markup::Markup;
use crate::model::Finding;
use crate::page::findings::{finding, groups, show};
use crate::page::tables;
use crate::phrases;

/// Groups shown at the top; the others are in their section.
const MOST_AT_TOP: usize = 4;
/// Groups shown before the rest is folded away.
const MOST_UNFOLDED: usize = 12;

/// The findings to know before the answers: broken laws, and other programs on this machine's CPUs.
pub(super) fn at_top(page: &mut Markup, grid: &Grid<'_>) {
    let findings = &grid.report.findings;
    let invalid: Vec<Finding> =
        findings.iter().filter(|f| f.severity == Severity::Invalid).cloned().collect();
    let machine = disturbed(grid);
    if invalid.is_empty() && machine.is_none() {
        return;
    }
    page.tag("div").at("class", "findings").open();
    groups(&invalid).iter().take(MOST_AT_TOP).for_each(|group| show(page, group));
    if let Some(machine) = machine {
        finding(page, &machine);
    }
    page.close();
}

/// Whether other programs, or other guests of the hypervisor, had the CPUs: that affects every figure, so it
/// is shown at the top.
fn disturbed(grid: &Grid<'_>) -> Option<Finding> {
    let is_of_machine = |finding: &LawFinding| {
        let fact = &finding.fact;
        matches!(fact, Fact::OtherPrograms { .. } | Fact::Starved { .. } | Fact::Stolen(_))
    };
    let all = grid.report.analysis.findings.iter();
    let found: Vec<_> = all.filter(|(_, finding)| is_of_machine(finding)).collect();
    // Other programs are the cause; that the generator waited is the effect.
    let is_cause = |finding: &LawFinding| matches!(finding.fact, Fact::OtherPrograms { .. });
    let cause = found.iter().find(|(_, finding)| is_cause(finding));
    let (cell, first) = cause.or(found.first())?;
    let mut cells: Vec<usize> = found.iter().filter_map(|(cell, _)| *cell).collect();
    cells.sort_unstable();
    cells.dedup();
    let titles = cell.map_or(grid.titles(), |cell| grid.titles_of(cell));
    let example = cell.map(|cell| format!("{}: ", grid.name(cell))).unwrap_or_default();
    Some(Finding {
        severity: Severity::Warning,
        subject: format!("CPUs of this machine, {} of {} cells", cells.len(), grid.cells.len()),
        what: format!("{example}{}", phrases::finding(first, titles)),
        advice: String::new(),
    })
}

pub(super) fn findings(grid: &Grid<'_>) -> Option<Markup> {
    let all = groups(&grid.report.findings);
    let failed: Vec<_> = grid.failed().collect();
    if all.is_empty() && failed.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    let (shown, folded) = all.split_at(all.len().min(MOST_UNFOLDED));
    page.tag("div").at("class", "findings").open();
    shown.iter().for_each(|group| show(&mut page, group));
    page.close();
    if !folded.is_empty() {
        page.tag("details").open();
        page.leaf("summary", &format!("{} more", folded.len()));
        page.tag("div").at("class", "findings").open();
        folded.iter().for_each(|group| show(&mut page, group));
        page.close();
        page.close();
    }
    if !failed.is_empty() {
        page.leaf("h3", "Failed trials");
        let head = ["cell", "failed", "measured", "why the first failed"].map(String::from);
        let rows = failed.into_iter().map(|(cell, failed)| {
            let measured = grid.summary(cell).map_or(0, |summary| summary.trials);
            let FailedTrials { count, first, .. } = failed;
            vec![grid.name(cell), count.to_string(), measured.to_string(), first.to_string()]
        });
        tables::plain(&mut page, &head, rows.collect());
    }
    Some(page)
}
