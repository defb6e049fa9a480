//! What a prediction would answer if values of its site that are assumed were other ones.

use stormeter_results::{AssumedEffect, OtherValue};
use stormeter_statistics::{Analysis, Answer, CellTrial, SupposedRatios, supposed_answers};
use stormeter_study::StudyPlan;

/// The answers with each other value that changes cells, in the order of the site file.
pub(crate) fn with_other_values(
    plan: &StudyPlan,
    trials: &[CellTrial<'_>],
    analysis: &Analysis,
    effects: &[AssumedEffect],
) -> Vec<(OtherValue, Vec<Answer>)> {
    let mut all: Vec<(&OtherValue, SupposedRatios)> = Vec::new();
    for AssumedEffect { cell, of, metric, ratio } in effects {
        let at = match all.iter().position(|(known, _)| *known == of) {
            Some(at) => at,
            None => {
                all.push((of, SupposedRatios::default()));
                all.len() - 1
            }
        };
        all[at].1.set(*cell, *metric, *ratio);
    }
    let answers = |ratios| supposed_answers(plan, trials, &analysis.findings, ratios);
    all.iter().map(|(of, ratios)| ((*of).clone(), answers(ratios))).collect()
}
