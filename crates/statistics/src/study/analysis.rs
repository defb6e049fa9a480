//! Everything that is concluded from a study.

use stormeter_study::StudyPlan;
use stormeter_study::question::{Vocabulary, parse};

use super::answer::{answer_of, not_understood};
use super::answered::Answer;
use super::cells::summarise;
use super::conclusion::{Analysis, CellTrial};
use super::laws::{findings, of_comparison};
use super::measured::Measured;
use super::power::power_of;
use super::supposed::SupposedRatios;
use super::surroundings::Surroundings;
use crate::finding::{LawFinding, Severity};
use crate::holm;

/// Concludes from the trials of a study.
///
/// Each question is answered at the plan's level, by itself: it was asked beforehand and stands for
/// itself. Where there are several, each has in addition to its p-value the one when all are taken together
/// (Holm). A broken law makes its cells invalid, and the questions about them are
/// not answered; the others are.
pub fn analyse(
    plan: &StudyPlan,
    trials: &[CellTrial<'_>],
    surroundings: &Surroundings,
) -> Analysis {
    let mut measured = Measured::new(plan, trials);
    measured.is_predicted = surroundings.is_predicted;
    let mut findings = findings(&measured, surroundings);
    mark_invalid(&mut measured, &findings);
    if measured.is_comparison() {
        spread_invalid(&mut measured, &findings);
    }
    let cells = (0..measured.cells.len())
        .map(|cell| {
            let failed = surroundings.failed.get(cell).and_then(Option::as_ref);
            let verified = surroundings.verified.get(cell).cloned().flatten();
            summarise(&measured, cell, failed, verified)
        })
        .collect::<Vec<_>>();
    if measured.is_comparison() {
        findings.extend(of_comparison(&measured, &cells));
    }
    findings.sort_by_key(|(_, finding)| finding.severity);
    let answers = adjusted_answers(&measured);
    Analysis {
        complete_blocks: measured.complete_blocks(),
        unit: plan.design.unit,
        cells,
        answers,
        findings,
        power: power_of(&measured),
    }
}

/// The answers of a predicted study if the values of its cells were these many times what its trials have. `findings` are
/// those of the study as it is: a cell that is invalid stays so.
pub fn supposed_answers(
    plan: &StudyPlan,
    trials: &[CellTrial<'_>],
    findings: &[(Option<usize>, LawFinding)],
    ratios: &SupposedRatios,
) -> Vec<Answer> {
    let mut measured = Measured::new(plan, trials);
    measured.is_predicted = true;
    measured.supposed = Some(ratios);
    mark_invalid(&mut measured, findings);
    adjusted_answers(&measured)
}

/// Marks the cells of which findings say that nothing may be concluded.
fn mark_invalid(measured: &mut Measured<'_>, findings: &[(Option<usize>, LawFinding)]) {
    for (cell, finding) in findings {
        if let Some(cell) = cell
            && finding.severity == Severity::Invalid
        {
            measured.invalid[*cell].get_or_insert_with(|| finding.clone());
        }
    }
}

/// The answers to all questions of the plan.
fn adjusted_answers(measured: &Measured<'_>) -> Vec<Answer> {
    let vocabulary = Vocabulary::of(measured.plan);
    let questions = measured.plan.questions.iter();
    let mut answers: Vec<Answer> =
        questions.map(|text| answer_one(measured, &vocabulary, text)).collect();
    adjust(&mut answers);
    answers
}

/// An invalid result ends a comparison, so nothing may be concluded from its other cells either.
fn spread_invalid(measured: &mut Measured<'_>, findings: &[(Option<usize>, LawFinding)]) {
    let invalid = findings.iter().find(|(_, finding)| finding.severity == Severity::Invalid);
    if let Some((_, finding)) = invalid {
        for cell in &mut measured.invalid {
            cell.get_or_insert_with(|| finding.clone());
        }
    }
}

/// Answers a question of the plan. It was checked when the plan was made; a plan from another version may still
/// contain one that this version does not understand.
fn answer_one(measured: &Measured<'_>, vocabulary: &Vocabulary, text: &str) -> Answer {
    match parse(text, vocabulary) {
        Ok(question) => answer_of(measured, &question, text.into()),
        Err(error) => not_understood(text, error),
    }
}

/// Adds to each answer its p-value when all questions are one family.
fn adjust(answers: &mut [Answer]) {
    let tested: Vec<usize> =
        (0..answers.len()).filter(|&index| answers[index].p_value.is_some()).collect();
    if tested.len() < 2 {
        return;
    }
    let p_values: Vec<f64> = tested.iter().filter_map(|&index| answers[index].p_value).collect();
    for (&index, p) in tested.iter().zip(holm::adjusted_p_values(&p_values)) {
        answers[index].p_value_adjusted = Some(p);
    }
}
