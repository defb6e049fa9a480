//! A question answered from the trials of a study.

use stormeter_study::question::{Claim, Question, QuestionError};

use super::answered::Answer;
use super::claims::{asked, not_durable};
use super::draft::Draft;
use super::measured::Measured;
use super::number_claim::NumberClaim;
use super::unanswered::Unanswered;
use super::{contrasts, factors};

/// Answers from trials that are sorted and checked.
pub(super) fn answer_of(measured: &Measured<'_>, question: &Question, text: String) -> Answer {
    let scope = &question.scope;
    if let Some(why) = not_durable(measured, scope) {
        return Draft::from(why).answer(text, question.must);
    }
    let number = |claim: NumberClaim| {
        asked(measured, claim, scope).and_then(|asked| contrasts::draft(measured, &asked))
    };
    let draft = match &question.claim {
        Claim::Depends { metric, depends, factors, interaction } => {
            let (metric, depends, interaction) = (*metric, *depends, *interaction);
            let asked = factors::Asked { metric, depends, factors, interaction, scope };
            factors::draft(measured, &asked)
        }
        Claim::Compared { subject, object, relation, metric } => number(NumberClaim::Compared {
            subject: subject.clone(),
            object: object.clone(),
            relation: *relation,
            metric: metric.unwrap_or(measured.plan.design.metric),
        }),
        Claim::Trend { metric, datastore, grows, along } => number(NumberClaim::Trend {
            metric: *metric,
            datastore: datastore.clone(),
            grows: *grows,
            along: *along,
        }),
        Claim::Bounded { metric, datastore, bound, limit } => number(NumberClaim::Bounded {
            metric: *metric,
            datastore: datastore.clone(),
            bound: *bound,
            limit: *limit,
        }),
    };
    draft.unwrap_or_else(Draft::from).answer(text, question.must)
}

/// The answer to a question that is not understood.
pub(super) fn not_understood(text: &str, error: QuestionError) -> Answer {
    Draft::from(Unanswered::NotUnderstood(error)).answer(text.into(), false)
}
