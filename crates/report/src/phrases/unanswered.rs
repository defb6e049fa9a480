//! Why a question is not answered, as a clause.

use stormeter_statistics::Unanswered;

use super::claim::{load, loaded};
use super::number::plural;
use crate::title::Titles;

/// The clause.
pub(super) fn unanswered(why: &Unanswered, titles: Titles) -> String {
    match why {
        Unanswered::NotUnderstood(error) => error.message(),
        Unanswered::NoSuchDatastore(name) => format!("the study has no datastore {name}"),
        Unanswered::NoLoad => "the study has no load that the question names".into(),
        Unanswered::NotDurable(workloads) => format!(
            "it is about durable writes, and no write of {} was durable or flushed; measure again with durable \
             writes or with flushes",
            workloads.join(", ")
        ),
        Unanswered::NoSuchReduction { metric, percent } => {
            format!("no {} can be lower by {percent} %: ask for less than 100 %", titles.of(*metric))
        }
        Unanswered::Invalid { cell, .. } => format!("the result of {} is invalid", loaded(cell)),
        Unanswered::NoTrial(cell) => {
            format!("{} has no measured trial at {}", cell.datastore, load(&cell.load))
        }
        Unanswered::NoValue { cell, metric } => {
            format!("the trials of {} have no {}", loaded(cell), titles.of(*metric))
        }
        Unanswered::FewBlocks { blocks } => {
            let was = if *blocks == 1 { "was" } else { "were" };
            format!(
                "{} {was} measured, and an interval needs at least 2 (better 5)",
                plural(*blocks, "complete block")
            )
        }
        Unanswered::FewCompleteBlocks { blocks, metric } => {
            let has = if *blocks == 1 { "has" } else { "have" };
            format!(
                "{} {has} a value of {} for every combination, and at least 2 are needed (better 5)",
                plural(*blocks, "block"),
                titles.of(*metric)
            )
        }
        Unanswered::FewIntervals(cell) => {
            format!("fewer than two intervals with a value at {}", load(&cell.load))
        }
        Unanswered::OneLevel(factor) => {
            format!("there are no two levels of {} to compare", factor.name())
        }
        Unanswered::MissingCombination => {
            "not every combination of the factors' levels is in the study; name workloads that have them all with \
             `on`"
                .into()
        }
        Unanswered::ExactModel => "the model gives the same in every block, so there is no noise to compare a \
                                   difference with; the tables have the figures"
            .into(),
        Unanswered::Variance(error) => error.to_string(),
    }
}
