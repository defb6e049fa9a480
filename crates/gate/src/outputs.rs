//! A gate for other programs: JUnit for test reports, annotations for GitHub, a table for a pull request.

use stormeter_export::{Case, CaseOutcome};
use stormeter_statistics::gate::GateVerdict;

use crate::decide::Gate;
use crate::words::{change, grounds, headline, subject, verdict};

/// A test suite with a case for each figure: a regression is a failure, what is undecided is skipped.
pub fn junit(gate: &Gate) -> String {
    let cases = gate.cells.iter().map(|cell| {
        let message = format!("{}: {}", change(cell, gate.alpha), grounds(cell));
        Case {
            class: "stormeter.gate".to_owned(),
            name: subject(cell),
            outcome: match cell.judgement.verdict {
                GateVerdict::Regression => CaseOutcome::Failed(message),
                GateVerdict::Inconclusive => CaseOutcome::Skipped(message),
                GateVerdict::Fine => CaseOutcome::Passed(message),
            },
        }
    });
    stormeter_export::junit("stormeter gate", &cases.collect::<Vec<_>>())
}

/// Workflow commands of GitHub Actions (docs.github.com, "Workflow commands"): an error for each regression, a warning
/// for what is undecided, a notice otherwise.
pub fn annotations(gate: &Gate) -> String {
    let mut text = String::new();
    for cell in &gate.cells {
        let kind = match cell.judgement.verdict {
            GateVerdict::Regression => "error",
            GateVerdict::Inconclusive => "warning",
            GateVerdict::Fine => "notice",
        };
        let title = property(&subject(cell));
        let message = data(&format!("{}: {}", change(cell, gate.alpha), grounds(cell)));
        text += &format!("::{kind} title={title}::{message}\n");
    }
    text
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A table in GitHub's and GitLab's Markdown.
pub fn markdown(gate: &Gate) -> String {
    let mut text = format!(
        "**{}**\n\n| Datastore | Load | Metric | Change | Verdict | Grounds |\n|---|---|---|---|---|---|\n",
        headline(gate)
    );
    let cell_text = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    for cell in &gate.cells {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            cell_text(&cell.datastore),
            cell_text(&cell.load),
            cell.metric.title(),
            change(cell, gate.alpha),
            verdict(cell.judgement.verdict),
            grounds(cell)
        );
    }
    text
}
