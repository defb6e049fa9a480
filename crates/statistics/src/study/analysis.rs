//! Everything that is concluded from a study.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_study::StudyPlan;
use stormeter_study::question::{Vocabulary, parse};
use stormeter_trial::{Memory, Verified};

use super::answer::{answer_of, not_understood};
use super::answered::Answer;
use super::cells::summarise;
use super::conclusion::{Analysis, CellTrial};
use super::laws::{findings, of_comparison};
use super::measured::Measured;
use super::power::power_of;
use crate::broken::{FailedTrials, MeasuredAgain};
use crate::finding::{LawFinding, Severity};
use crate::holm;

/// What a ceiling is measured of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeilingKind {
    /// The load generator alone, on nothing.
    Generator,
    /// The generator and the client of a protocol, with a server on this machine that answers without storage.
    NullServer,
    /// The path to a datastore, measured as the study says.
    NamedWay,
}

/// A ceiling as it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredCeiling {
    /// What it is measured of.
    pub kind: CeilingKind,
    /// The datastore of the plan to which the path leads; `None`: the load generator's own, without storage.
    pub datastore: Option<usize>,
    /// The workload of the plan that it was measured with, at its highest load.
    pub workload: usize,
    /// I/Os a second.
    pub iops: f64,
}

/// What is known about a study in addition to its trials. A list may be shorter than the study: nothing is known
/// about the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// The ceilings of what lies before the storage.
    pub ceilings: Vec<MeasuredCeiling>,
    /// Per datastore: whether it completes at once (`null:`).
    pub is_null: Vec<bool>,
    /// Per cell: its trials that failed.
    pub failed: Vec<Option<FailedTrials>>,
    /// Per cell: what its reads returned, over all trials.
    pub verified: Vec<Option<Verified>>,
    /// Per cell: its trials that broke and were measured again.
    pub again: Vec<Option<MeasuredAgain>>,
    /// Per datastore: the memories on its path.
    pub memories: Vec<Vec<Memory>>,
    /// Whether the trials come from a model. A model repeats itself so exactly that even its smallest
    /// difference is significant; differences too small to be measured then count as none.
    pub is_predicted: bool,
}

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
    for (cell, finding) in &findings {
        if let Some(cell) = cell
            && finding.severity == Severity::Invalid
        {
            measured.invalid[*cell].get_or_insert_with(|| finding.clone());
        }
    }
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
    let vocabulary = Vocabulary::of(plan);
    let mut answers: Vec<Answer> =
        plan.questions.iter().map(|text| answer_one(&measured, &vocabulary, text)).collect();
    adjust(&mut answers);
    Analysis {
        complete_blocks: measured.complete_blocks(),
        unit: plan.design.unit,
        cells,
        answers,
        findings,
        power: power_of(&measured),
    }
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
