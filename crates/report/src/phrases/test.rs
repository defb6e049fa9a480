//! The tests that answers rest on, in words.

use stormeter_statistics::{
    Answer, Observations, TTest, TestSides, TestUsed, TestedNumber, TestedOver, VarianceTest,
};

use super::answer::observations;
use super::claim::term;
use crate::title::Titles;

/// The test of an answer; `none` without one.
pub(crate) fn test(answer: &Answer, titles: Titles) -> String {
    match &answer.test {
        None => "none".into(),
        Some(TestUsed::T(test)) => t_test(test),
        Some(TestUsed::Variance(test)) => variance(test, titles),
    }
}

fn t_test(test: &TTest) -> String {
    let (sides, tests) = match test.sides {
        TestSides::One => ("one-sided ", "t test"),
        TestSides::Two => ("two-sided ", "t test"),
        TestSides::OneEach => ("two one-sided ", "t tests (TOST)"),
    };
    let of = match (test.of, test.over == TestedOver::Mean) {
        (TestedNumber::LogRatio, false) => "the log-ratio",
        (TestedNumber::LogRatio, true) => "the mean log-ratio over the loads",
        (TestedNumber::Slope, false) => "the least-squares slope of log metric on log load",
        (TestedNumber::Slope, true) => "the mean slope of log metric on log load",
        (TestedNumber::LogValue, false) => "the logarithm of the metric",
        (TestedNumber::LogValue, true) => "the mean logarithm of the metric over the loads",
    };
    let (df, size) = (test.df, observations(test.observations));
    let mut name = match test.observations {
        Observations::Blocks(_) => {
            format!("{sides}{tests} of {of} within blocks, df {df:.0}, {size}")
        }
        Observations::Intervals(_) => format!(
            "{sides}Welch {tests} of {of} by the delta method, intervals taken as independent, df {df:.1}, {size}"
        ),
    };
    if test.is_corrected {
        name.push_str(", corrected for stopping by width");
    }
    if let TestedOver::Each(loads) = test.over {
        name.push_str(&format!("; intersection-union over {loads} loads"));
    }
    name
}

fn variance(test: &VarianceTest, titles: Titles) -> String {
    let (title, names) = (titles.of(test.metric), term(&test.factors));
    let (df, size) = (test.residual_df, observations(test.observations));
    let mut name = match test.observations {
        Observations::Blocks(_) => format!(
            "analysis of variance of log {title} by {names} in randomized blocks, residual df {df:.0}, {size}"
        ),
        Observations::Intervals(_) => format!(
            "analysis of variance of {title} by {names} (type III), intervals taken as independent, residual df \
             {df:.0}, {size}"
        ),
    };
    if test.is_corrected {
        name.push_str(", F reduced for stopping by width");
    }
    if test.has_equivalence_tests {
        name.push_str("; two one-sided t tests (TOST) of every difference of levels");
    }
    name
}
