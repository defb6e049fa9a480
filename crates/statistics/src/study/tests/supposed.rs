//! Answers with other values of cells than those of the trials.

use super::*;
use crate::study::{SupposedRatios, Surroundings, analyse, supposed_answers};

fn study(questions: &[&str]) -> StudyPlan {
    StudyPlan {
        questions: questions.iter().map(|text| String::from(*text)).collect(),
        ..plan(&["a", "b"], &["w"], &[1, 2])
    }
}

#[test]
fn answers_are_those_of_trials_that_have_these_values() {
    let plan = study(&[
        "b is faster than a",
        "b is at least 10% faster than a at 2 vms",
        "iops of b grows with vms",
        "iops of b is at most 1500 at 1 vms",
        "iops depends on datastore",
    ]);
    // By cell: a at 1 and 2, b at 1 and 2, as the plan has them.
    let base = |cell: usize| (1.0 + 0.1 * cell as f64).ln();
    let factors = [1.0, 2.5, 0.4, 3.0];
    let trials = noisy(&plan, 4, 0.02, 5, base);
    let really = noisy(&plan, 4, 0.02, 5, |cell| base(cell) + f64::ln(factors[cell]));
    let around = Surroundings { is_predicted: true, ..Surroundings::default() };
    let expected = analyse(&plan, &really.views(), &around).answers;
    let mut ratios = SupposedRatios::default();
    for (cell, factor) in factors.into_iter().enumerate() {
        ratios.set(cell, Metric::Iops, factor);
    }
    let found = supposed_answers(&plan, &trials.views(), &[], &ratios);
    let plain = analyse(&plan, &trials.views(), &around).answers;
    assert_ne!(
        plain.iter().map(|one| one.reply).collect::<Vec<_>>(),
        expected.iter().map(|one| one.reply).collect::<Vec<_>>()
    );
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.reply, expected.reply, "{found:?}");
        let value = |answer: &Answer| answer.estimate.map(|estimate| estimate.value);
        match (value(found), value(expected)) {
            (Some(found), Some(expected)) => {
                assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
            }
            both => assert_eq!(both, (None, None)),
        }
    }
}

#[test]
fn other_metrics_keep_their_values() {
    let plan = study(&["b is faster than a in iops"]);
    let trials = noisy(&plan, 4, 0.02, 5, |_| 0.0);
    let mut ratios = SupposedRatios::default();
    (0..4).for_each(|cell| ratios.set(cell, Metric::LatencyMean, 7.0));
    let around = Surroundings { is_predicted: true, ..Surroundings::default() };
    let plain = analyse(&plan, &trials.views(), &around).answers;
    assert_eq!(supposed_answers(&plan, &trials.views(), &[], &ratios), plain);
}
