//! How measurements answer the questions of a finding.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_statistics::Reply;

use crate::published::Finding;

/// Measured (or predicted) results that can be asked questions in the grammar of studies.
pub trait AnswerSource {
    /// The answer to a question, or why it cannot be asked of these results.
    fn answer(&self, question: &str) -> Result<SourceAnswer, String>;

    /// Names of the findings that the model behind these results was fitted to: its answers about them
    /// are not predictions. Empty for measurements.
    fn calibrated_on(&self) -> &[String] {
        &[]
    }
}

/// An answer, in a word and in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceAnswer {
    /// The reply.
    pub reply: Reply,
    /// The sentence that a report has for it.
    pub sentence: String,
}

/// What the results say about a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Observed {
    /// The outcome in a word.
    pub outcome: ObservedOutcome,
    /// The model was fitted to this finding, so its answers are not predictions.
    pub fitted: bool,
    /// Each question with its answer.
    pub answers: Vec<AskedAnswer>,
}

/// What results say about a finding, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedOutcome {
    /// The results show the same: every question is answered yes.
    Agree,
    /// They show the contrary for at least one question.
    Disagree,
    /// They show neither.
    Inconclusive,
    /// The finding has no question, or these results cannot answer it.
    NotTestable,
    /// They confirm the direction (by the questions that ask only for it) but not the figures.
    Direction,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AskedAnswer {
    /// The question.
    pub question: String,
    /// The reply; `None` when it could not be asked.
    pub reply: Option<Reply>,
    /// The answer, or why there is none.
    pub sentence: String,
}

/// Asks a finding's questions: those of the full scale if these results can answer all of them, because
/// a name such as `nas` may mean one thing there and another at the small scale; otherwise those of the
/// small scale, or as many of the full scale as can be asked.
pub(crate) fn observe(finding: &Finding, source: &dyn AnswerSource) -> Observed {
    let mut observed = asked_of(finding, source);
    observed.fitted = source.calibrated_on().contains(&finding.id);
    observed
}

fn asked_of(finding: &Finding, source: &dyn AnswerSource) -> Observed {
    let asked = |observed: &Observed| {
        observed.answers.iter().filter(|answer| answer.reply.is_some()).count()
    };
    let full = observe_all(&finding.ask_full, source);
    if !full.answers.is_empty() && asked(&full) == full.answers.len() {
        return in_direction(full, &finding.ask_direction, source);
    }
    let own = observe_all(&finding.ask, source);
    if asked(&own) == 0 && asked(&full) > 0 { full } else { own }
}

/// If the figures of a finding are not confirmed, asks for its direction.
fn in_direction(
    mut observed: Observed,
    questions: &[String],
    source: &dyn AnswerSource,
) -> Observed {
    if matches!(observed.outcome, ObservedOutcome::Disagree | ObservedOutcome::Inconclusive) {
        let direction = observe_all(questions, source);
        if direction.outcome == ObservedOutcome::Agree {
            observed.outcome = ObservedOutcome::Direction;
        }
        observed.answers.extend(direction.answers);
    }
    observed
}

/// Asks all of these questions.
fn observe_all(questions: &[String], source: &dyn AnswerSource) -> Observed {
    let answers: Vec<AskedAnswer> = questions
        .iter()
        .map(|question| match source.answer(question) {
            Ok(answer) => AskedAnswer {
                question: question.clone(),
                reply: Some(answer.reply),
                sentence: answer.sentence,
            },
            Err(reason) => {
                AskedAnswer { question: question.clone(), reply: None, sentence: reason }
            }
        })
        .collect();
    let replied = |reply: Reply| answers.iter().any(|answer| answer.reply == Some(reply));
    let outcome = if replied(Reply::No) {
        // One refuted part is enough, whatever the others are.
        ObservedOutcome::Disagree
    } else if answers.is_empty()
        || replied(Reply::NotAnswered)
        || answers.iter().any(|answer| answer.reply.is_none())
    {
        ObservedOutcome::NotTestable
    } else if replied(Reply::Inconclusive) {
        ObservedOutcome::Inconclusive
    } else {
        ObservedOutcome::Agree
    };
    Observed { outcome, fitted: false, answers }
}
