//! What measurements answer to the questions of a finding.

use serde::Serialize;
use stormeter_statistics::{Answer, Reply};

use crate::published::Finding;

/// Something measured (or predicted) that can be asked questions in the grammar of studies.
pub trait AnswerSource {
    /// The answer to a question, or why it cannot be asked of these results.
    fn answer(&self, question: &str) -> Result<Answer, String>;

    /// The findings that the model behind these results was fitted to, by name: what it says of them is
    /// no prediction. Measurements have none.
    fn calibrated_on(&self) -> &[String] {
        &[]
    }
}

/// What results say of a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observed {
    /// In a word.
    pub outcome: ObservedOutcome,
    /// The model was fitted to this finding, so its answers are no prediction.
    pub fitted: bool,
    /// Each question with its answer.
    pub answers: Vec<AskedAnswer>,
}

/// What results say of a finding, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedOutcome {
    /// The results show the same: every question is answered yes.
    Agree,
    /// They show the contrary in at least one question.
    Disagree,
    /// They show neither.
    Inconclusive,
    /// The finding has no question, or these results cannot answer it.
    NotTestable,
    /// They show the direction, by the questions that ask for it alone, and not the figures.
    Direction,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AskedAnswer {
    /// The question.
    pub question: String,
    /// The reply; `None` when it could not be asked.
    pub reply: Option<Reply>,
    /// The answer, or why there is none.
    pub sentence: String,
}

/// Asks a finding's questions: those of the full scale where these results can be asked all of them,
/// for a name such as `nas` may stand for one thing there and for another at the small scale; otherwise
/// those of the small scale, or what of the full one can be asked.
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

/// Where the figures of a finding are not shown, asks for its direction.
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
        // One part shown to be otherwise is enough, whatever the others are.
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
