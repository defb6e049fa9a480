//! A report as test cases: its questions, its cells and its findings.
//!
//! Only what someone demanded can fail: a question with `must`. What is invalid is an error, as nothing follows from it.

use stormeter_export::{Case, CaseOutcome};
use stormeter_report::{Finding, Report, Severity, answer_sentence};
use stormeter_statistics::{Answer, CellSummary, Reply};
use stormeter_study::StudyPlan;

pub(super) fn of_report(report: &Report) -> Vec<Case> {
    let plan = &report.header.plan;
    let questions = report.analysis.answers.iter().map(|answer| question(answer, plan));
    let places = 0..report.analysis.cells.len();
    let cells = places.zip(&report.analysis.cells).map(|(at, summary)| cell(plan, at, summary));
    questions.chain(cells).chain(report.findings.iter().map(finding)).collect()
}

fn question(answer: &Answer, plan: &StudyPlan) -> Case {
    let sentence = answer_sentence(answer, plan);
    Case {
        class: "stormeter.questions".to_owned(),
        name: answer.question.clone(),
        outcome: match (answer.must, answer.reply) {
            (true, Reply::No) => CaseOutcome::Failed(sentence),
            (true, Reply::Inconclusive | Reply::NotAnswered) => CaseOutcome::Skipped(sentence),
            (true, Reply::Yes) | (false, _) => CaseOutcome::Passed(sentence),
        },
    }
}

fn cell(plan: &StudyPlan, at: usize, summary: &CellSummary) -> Case {
    let mut name = String::new();
    if let Some(cell) = plan.cells().get(at) {
        let vms = if cell.vms == 1 { "1 VM".to_owned() } else { format!("{} VMs", cell.vms) };
        let (workload, datastore) =
            (&plan.workloads[cell.workload].name, &plan.datastores[cell.datastore].name);
        name = format!("{workload} on {datastore}, {vms}");
        if let Some(outstanding) = cell.outstanding {
            name += &format!(", {outstanding} outstanding");
        }
    }
    let measured = match summary.trials {
        1 => "1 trial".to_owned(),
        trials => format!("{trials} trials"),
    };
    let outcome = match &summary.failed {
        Some(failed) => CaseOutcome::Broken(format!(
            "{measured} measured, {} failed; the first of them: {}",
            failed.count, failed.first
        )),
        None if summary.trials == 0 => CaseOutcome::Skipped("Not measured.".to_owned()),
        None => CaseOutcome::Passed(format!("{measured} measured.")),
    };
    Case { class: "stormeter.cells".to_owned(), name, outcome }
}

fn finding(finding: &Finding) -> Case {
    let said = finding.sentences();
    Case {
        class: "stormeter.findings".to_owned(),
        name: match finding.subject.as_str() {
            "" => finding.what.clone(),
            subject => format!("{subject}: {}", finding.what),
        },
        outcome: match finding.severity {
            Severity::Invalid => CaseOutcome::Broken(said),
            Severity::Warning | Severity::Note => CaseOutcome::Passed(said),
        },
    }
}
