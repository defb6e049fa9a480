//! t tests and equivalence.

use super::{agree, field};
use stormeter_statistics::two_sample::Rule;
use stormeter_statistics::{Equivalence, Margin, MeanDifference, Moments, Paired, TwoSample};

#[test]
fn welch_and_pooled() {
    for (name, rule) in [("welch", Rule::Welch), ("pooled", Rule::Pooled)] {
        let samples = TwoSample::compare(field::FIRST, field::SECOND, rule, 0.99).unwrap();
        let summaries = (Moments::from(field::FIRST), Moments::from(field::SECOND));
        let published = TwoSample::compare(summaries.0, summaries.1, rule, 0.99).unwrap();
        for test in [samples, published] {
            agree(&format!("{name}.t"), test.t);
            agree(&format!("{name}.df"), test.df);
            agree(&format!("{name}.p"), test.p_two_sided);
            agree(&format!("{name}.greater"), test.p_greater);
            agree(&format!("{name}.less"), test.p_less);
            agree(&format!("{name}.low"), test.interval.low);
            agree(&format!("{name}.high"), test.interval.high);
            agree("effect.d", test.effect.cohen_d);
            agree("effect.g", test.effect.hedges_g);
            agree("effect.low", test.effect.interval.low);
            agree("effect.high", test.effect.interval.high);
        }
    }
}

#[test]
fn far_tails() {
    let a = Moments::new(500, 875.65, 18.34);
    let b = Moments::new(500, 1059.7, 32.1);
    agree("published.t", TwoSample::compare(a, b, Rule::Pooled, 0.99).unwrap().t);
    let b = Moments::new(500, 930.0, 32.1);
    let test = TwoSample::compare(a, b, Rule::Welch, 0.99).unwrap();
    agree("tail.t", test.t);
    agree("tail.df", test.df);
    agree("tail.p", test.p_two_sided);
}

#[test]
fn pairs() {
    let test = Paired::compare(field::FIRST, field::PAIRED, 0.9).unwrap();
    agree("paired.t", test.t);
    agree("paired.p", test.p_two_sided);
    agree("paired.low", test.interval.low);
    agree("paired.high", test.interval.high);
}

#[test]
fn two_one_sided_tests() {
    let margin = Margin::Difference { low: -1.0, high: 9.0 };
    for (name, rule) in [("tost.welch", Rule::Welch), ("tost.pooled", Rule::Pooled)] {
        let difference = MeanDifference::of_samples(field::FIRST, field::SECOND, rule).unwrap();
        let test = Equivalence::test(&difference, margin, 0.05).unwrap();
        agree(&format!("{name}.p"), test.p_value);
        agree(&format!("{name}.lower"), test.p_lower);
        agree(&format!("{name}.upper"), test.p_upper);
    }
    let differences: Vec<f64> =
        field::FIRST.iter().zip(field::PAIRED).map(|(a, b)| a - b).collect();
    let difference = MeanDifference::of_differences(&differences).unwrap();
    let margin = Margin::Difference { low: -5.0, high: 6.0 };
    agree("tost.paired.p", Equivalence::test(&difference, margin, 0.05).unwrap().p_value);
    let ratio =
        MeanDifference::log_ratio_of_samples(field::FIRST, field::SECOND, Rule::Welch).unwrap();
    let test = Equivalence::test(&ratio, Margin::within_share(0.1), 0.05).unwrap();
    agree("tost.ratio.p", test.p_value);
}
