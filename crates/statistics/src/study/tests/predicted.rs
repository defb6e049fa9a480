//! Trials of a model, which repeats itself so exactly that the smallest difference is significant.

use super::*;
use crate::anova::AnovaError;
use crate::moments::SampleError;
use crate::study::{LevelDifference, TermResult};
use crate::study::{Surroundings, analyse};
use crate::verdict::Verdict;

const QUESTIONS: [&str; 8] = [
    "b is faster than a",
    "b is slower than a",
    "b differs from a",
    "b is faster than a everywhere",
    "iops of b grows with vms",
    "b is equal to a",
    "b is at most 10% slower than a",
    "b is at least 10% faster than a",
];

/// Replies, and whether the difference is negligible, where b has this share more IOPS than a, in a study of two
/// loads that differ as much.
fn asked(by: f64, is_predicted: bool) -> (Vec<Reply>, Vec<bool>, Verdict) {
    let plan = StudyPlan {
        site_faults: Vec::new(),
        questions: QUESTIONS.map(String::from).to_vec(),
        ..plan(&["a", "b"], &["w"], &[1, 2])
    };
    let shift = by.ln_1p();
    let trials = noisy(&plan, 6, 1e-6, 5, |cell| shift * (cell % 2 + cell / 2) as f64);
    let around = Surroundings { is_predicted, ..Surroundings::default() };
    let analysis = analyse(&plan, &trials.views(), &around);
    let relative = &analysis.cells[1].relative;
    let verdict = relative.iter().find_map(|own| Some(own.comparison.as_ref()?.verdict)).unwrap();
    let facts = |answer: &Answer| (answer.reply, number(answer).is_negligible);
    let (replies, negligible) = analysis.answers.iter().map(facts).unzip();
    (replies, negligible, verdict)
}

#[test]
fn a_predicted_difference_too_small_to_measure_is_none_in_either_direction() {
    use Reply::{No, Yes};
    for by in [0.0001, -0.0001, 0.004] {
        let (replies, negligible, verdict) = asked(by, true);
        // A published "b is faster" is not reproduced by it, nor is "b is slower".
        assert_eq!(replies, [No, No, No, No, No, Yes, Yes, No], "{by}");
        assert!(negligible[0] && negligible[3], "{by}: {negligible:?}");
        assert_eq!(verdict, Verdict::Equivalent);
    }
    // Measured that exactly, it is a difference.
    let (replies, negligible, verdict) = asked(0.0001, false);
    assert_eq!(replies[..5], [Yes, No, Yes, Yes, Yes]);
    assert!(!negligible.contains(&true), "{negligible:?}");
    assert_eq!(verdict, Verdict::Faster);
}

#[test]
fn a_predicted_difference_of_some_percent_is_one() {
    use Reply::{No, Yes};
    let (replies, negligible, verdict) = asked(0.03, true);
    assert_eq!(replies, [Yes, No, Yes, Yes, Yes, Yes, Yes, No]);
    assert_eq!(verdict, Verdict::Faster);
    assert!(!negligible.contains(&true), "{negligible:?}");
}

/// The model's noise is a millionth here: an interval of no width and an F of millions would only say so.
#[test]
fn a_model_that_repeats_itself_is_put_to_no_test() {
    let questions =
        ["b is faster than a", "b is faster than a everywhere", "iops depends on datastore"];
    let plan = StudyPlan {
        site_faults: Vec::new(),
        questions: questions.map(String::from).to_vec(),
        ..plan(&["a", "b"], &["w"], &[1, 2])
    };
    let shift = 0.2f64.ln_1p();
    let answers = |noise: f64, is_predicted| {
        let trials = noisy(&plan, 3, noise, 5, |cell| shift * (cell % 2) as f64);
        let around = Surroundings { is_predicted, ..Surroundings::default() };
        analyse(&plan, &trials.views(), &around).answers
    };
    for answer in answers(1e-6, true) {
        assert_eq!((answer.reply, answer.p_value), (Reply::Yes, None), "{answer:?}");
        assert_eq!(answer.test, None);
        if let Grounds::Factors(grounds) = &answer.grounds {
            let is_bare = |largest: &LevelDifference| largest.interval.is_none();
            let bare = |term: &TermResult| {
                term.test.is_none() && term.largest.as_ref().is_some_and(is_bare)
            };
            assert!(grounds.terms.iter().all(bare), "{grounds:?}");
        }
        assert!(answer.estimate.is_none_or(|estimate| estimate.interval.is_none()));
        assert!(answer.parts.iter().all(|part| part.interval.is_none()), "{:?}", answer.parts);
        assert!(answer.table.is_none());
        // Nor are its values doubted for being few or not normal.
        let is_allowed = |remark: &AnswerRemark| matches!(remark, AnswerRemark::BelowResolution(_));
        assert!(answer.remarks.iter().all(is_allowed), "{:?}", answer.remarks);
    }
    // A model with noise is judged as a measurement is, and so is a measurement without noise.
    for (noise, is_predicted) in [(0.05, true), (1e-6, false)] {
        for answer in answers(noise, is_predicted) {
            assert!(answer.p_value.is_some() && answer.test.is_some(), "{answer:?}");
            let is_judged = match &answer.grounds {
                Grounds::Number(_) => answer.estimate.is_some_and(|own| own.interval.is_some()),
                Grounds::Factors(grounds) => grounds.terms.iter().all(|term| term.test.is_some()),
                Grounds::Unanswered(_) => false,
            };
            assert!(is_judged, "{answer:?}");
        }
    }
}

#[test]
fn equal_values_of_a_model_are_not_taken_for_copies() {
    let plan = StudyPlan {
        site_faults: Vec::new(),
        questions: vec!["iops depends on datastore".into()],
        ..plan(&["a", "b"], &["w"], &[1, 2])
    };
    let trials = Trials::of(&plan, 3, |_, cell| 1000.0 + 100.0 * cell as f64);
    let why = |is_predicted| {
        let around = Surroundings { is_predicted, ..Surroundings::default() };
        unanswered(&analyse(&plan, &trials.views(), &around).answers[0]).clone()
    };
    let Unanswered::Variance(AnovaError::Sample(SampleError::NoSpread { .. })) = why(false) else {
        panic!("{:?}", why(false));
    };
    assert_eq!(why(true), Unanswered::ExactModel);
}
