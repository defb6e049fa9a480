//! A question answered from the trials of a study.

use stormeter_study::StudyPlan;
use stormeter_study::question::{Claim, Question, QuestionError, Vocabulary, parse};

use super::claims::asked;
use super::conclusion::{Answer, AnswerEstimate, AnswerPart, AnswerTable, CellTrial, Reply};
use super::laws::invalid_cells;
use super::measured::Measured;
use super::{contrasts, factors};
use crate::finding::LawFinding;

/// An answer without its question.
pub(super) struct Draft {
    pub(super) reply: Reply,
    pub(super) sentence: String,
    pub(super) test: String,
    pub(super) estimate: Option<AnswerEstimate>,
    pub(super) p_value: Option<f64>,
    pub(super) table: Option<AnswerTable>,
    pub(super) parts: Vec<AnswerPart>,
    pub(super) remarks: Vec<String>,
}

impl Draft {
    /// A reply with its sentence and the name of its test.
    pub(super) fn new(reply: Reply, sentence: String, test: String) -> Self {
        Self {
            reply,
            sentence,
            test,
            estimate: None,
            p_value: None,
            table: None,
            parts: Vec::new(),
            remarks: Vec::new(),
        }
    }
}

/// Why a question cannot be answered.
pub(super) struct Unanswered {
    /// As a clause.
    pub(super) why: String,
    /// What makes the results invalid that it is about, where that is why.
    pub(super) invalid_by: Option<Box<LawFinding>>,
}

impl From<String> for Unanswered {
    fn from(why: String) -> Self {
        Self { why, invalid_by: None }
    }
}

impl From<&str> for Unanswered {
    fn from(why: &str) -> Self {
        why.to_string().into()
    }
}

/// Whether the results of a cell can answer anything.
///
/// # Errors
/// They are invalid.
pub(super) fn sound(measured: &Measured<'_>, cell: usize) -> Result<(), Unanswered> {
    measured.invalid[cell].clone().map_or(Ok(()), |finding| {
        let why = format!("the result of {} is invalid", measured.cell_name(cell));
        Err(Unanswered { why, invalid_by: Some(Box::new(finding)) })
    })
}

/// Answers one question from the trials of a study. Trials that break a law are not used: a question
/// about their cell is not answered.
pub fn answer(plan: &StudyPlan, trials: &[CellTrial<'_>], question: &Question) -> Answer {
    let mut measured = Measured::new(plan, trials);
    measured.invalid = invalid_cells(&measured);
    answer_of(&measured, question, question.to_string())
}

/// The same for a question as text, such as one that was thought of after the study.
///
/// # Errors
/// The text is no question about this study.
pub fn answer_text(
    plan: &StudyPlan,
    trials: &[CellTrial<'_>],
    text: &str,
) -> Result<Answer, QuestionError> {
    let question = parse(text, &Vocabulary::of(plan))?;
    let answer = answer(plan, trials, &question);
    Ok(Answer { question: text.into(), ..answer })
}

/// Answers from trials that are sorted and checked.
pub(super) fn answer_of(measured: &Measured<'_>, question: &Question, text: String) -> Answer {
    let draft = match &question.claim {
        Claim::Depends { metric, depends, factors, interaction } => {
            let (metric, depends, interaction) = (*metric, *depends, *interaction);
            let scope = &question.scope;
            let asked = factors::Asked { metric, depends, factors, interaction, scope };
            factors::draft(measured, &asked)
        }
        _ => asked(measured, question)
            .map_err(Unanswered::from)
            .and_then(|asked| contrasts::draft(measured, &asked)),
    };
    let mut invalid_by = None;
    let draft = draft.unwrap_or_else(|unanswered| {
        invalid_by = unanswered.invalid_by.map(|finding| *finding);
        let sentence = format!("Not answered: {}.", unanswered.why);
        Draft::new(Reply::NotAnswered, sentence, "none".into())
    });
    Answer {
        question: text,
        must: question.must,
        reply: draft.reply,
        sentence: draft.sentence,
        invalid_by,
        test: draft.test,
        estimate: draft.estimate,
        p_value: draft.p_value,
        p_value_adjusted: None,
        table: draft.table,
        parts: draft.parts,
        remarks: draft.remarks,
    }
}
