//! Trials of a model, which repeats itself so exactly that the smallest difference is no chance.

use super::*;
use crate::study::conclusion::Reply;
use crate::study::{StudySurroundings, analyse_study};
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

/// Replies and sentences where b has so many more IOPS than a, in a study of two loads that differ as much.
fn asked(by: f64, is_predicted: bool) -> (Vec<Reply>, Vec<String>, Verdict) {
    let plan = StudyPlan {
        site_faults: Vec::new(),
        questions: QUESTIONS.map(String::from).to_vec(),
        ..plan(&["a", "b"], &["w"], &[1, 2])
    };
    let shift = by.ln_1p();
    let trials = noisy(&plan, 6, 1e-6, 5, |cell| shift * (cell % 2 + cell / 2) as f64);
    let around = StudySurroundings { is_predicted, ..StudySurroundings::default() };
    let analysis = analyse_study(&plan, &trials.views(), &around);
    let relative = &analysis.cells[1].relative;
    let verdict = relative.iter().find_map(|own| Some(own.comparison.as_ref()?.verdict)).unwrap();
    let (replies, sentences) =
        analysis.answers.into_iter().map(|answer| (answer.reply, answer.sentence)).unzip();
    (replies, sentences, verdict)
}

#[test]
fn a_predicted_difference_that_nobody_would_measure_is_none_in_either_direction() {
    use Reply::{No, Yes};
    for by in [0.0001, -0.0001, 0.004] {
        let (replies, sentences, verdict) = asked(by, true);
        // A published "b is faster" is not reproduced by it, nor is "b is slower".
        assert_eq!(replies, [No, No, No, No, No, Yes, Yes, No], "{by}: {sentences:#?}");
        assert!(sentences[0].contains("no difference worth the name: "), "{}", sentences[0]);
        assert!(sentences[3].contains("no difference worth the name: "), "{}", sentences[3]);
        assert_eq!(verdict, Verdict::Equivalent);
    }
    // What was measured so exactly is a difference.
    let (replies, sentences, verdict) = asked(0.0001, false);
    assert_eq!(replies[..5], [Yes, No, Yes, Yes, Yes], "{sentences:#?}");
    assert_eq!(verdict, Verdict::Faster);
}

#[test]
fn a_predicted_difference_of_some_percent_is_one() {
    use Reply::{No, Yes};
    let (replies, sentences, verdict) = asked(0.03, true);
    assert_eq!(replies, [Yes, No, Yes, Yes, Yes, Yes, Yes, No], "{sentences:#?}");
    assert_eq!(verdict, Verdict::Faster);
    assert!(!sentences.iter().any(|text| text.contains("worth the name")), "{sentences:#?}");
}

#[test]
fn of_values_that_are_all_alike_a_model_is_not_accused_of_copying() {
    let plan = StudyPlan {
        site_faults: Vec::new(),
        questions: vec!["iops depends on datastore".into()],
        ..plan(&["a", "b"], &["w"], &[1, 2])
    };
    let trials = Trials::of(&plan, 3, |_, cell| 1000.0 + 100.0 * cell as f64);
    let sentence = |is_predicted| {
        let around = StudySurroundings { is_predicted, ..StudySurroundings::default() };
        analyse_study(&plan, &trials.views(), &around).answers.remove(0).sentence
    };
    assert!(sentence(false).contains("not copied"), "{}", sentence(false));
    let predicted = sentence(true);
    assert!(predicted.contains("the model gives the same in every block"), "{predicted}");
}
