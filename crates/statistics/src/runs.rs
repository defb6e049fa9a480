//! Two sides compared by whole runs.
//!
//! The unit is the run, as in [`crate::gate`]: what differs from run to run moves all trials of a run together. Each run
//! is one value; the logarithms are compared by Student's t with the pooled spread of the runs of both sides. With one
//! run on each side there is no spread between runs, and so no verdict: what the spread within the runs says is then a
//! lower bound of what is not known.

use serde::{Deserialize, Serialize};

use crate::estimate::Interval;
use crate::quantile::{student_t_quantile, student_t_two_sided_p};
use crate::verdict::{Direction, Judgement, Verdict};

/// What a run's value is known to at best: no spread is below this, as a share.
const RESOLUTION: f64 = 0.0005;

/// The runs of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunsOfSide<'a> {
    /// A value of each run; above 0.
    pub values: &'a [f64],
    /// The interval of the value of its only run, by what happened within that run; at `level`.
    pub within: Option<Interval>,
}

/// A comparison of a side with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunsCompared {
    /// This side over the baseline, of geometric means.
    pub ratio: f64,
    /// Its interval by the spread between runs; `None` with one run on each side.
    pub interval: Option<Interval>,
    /// The p-value of "there is no difference"; `None` with one run on each side.
    pub p: Option<f64>,
    /// With one run on each side: the interval by what happened within the runs. What differs from run to run is not
    /// in it.
    pub within: Option<Interval>,
    /// What is said; inconclusive with one run on each side.
    pub verdict: Verdict,
    /// Whether the difference is shown to be within the margin.
    pub within_margin: bool,
}

/// The spread of runs of both sides, pooled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pooled {
    /// Standard deviation of the logarithms, at least [`RESOLUTION`].
    pub(crate) spread: f64,
    /// Degrees of freedom, at least 1.
    pub(crate) df: f64,
}

impl Pooled {
    /// Of logarithms; `None` with one run on each side.
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        let df = (a.len() + b.len()).checked_sub(2).filter(|df| *df > 0)? as f64;
        let spread = ((squares(a) + squares(b)) / df).sqrt().max(RESOLUTION);
        Some(Self { spread, df })
    }
}

/// Compares a side with the baseline; differences within `margin` (0.05: 5 %) are equivalent, `level` is 0.95 for an
/// interval of 95 %. `None` without a value on each side, or with one that is not above 0.
pub fn compare_runs(
    baseline: RunsOfSide<'_>,
    side: RunsOfSide<'_>,
    direction: Direction,
    (level, margin): (f64, f64),
) -> Option<RunsCompared> {
    let (a, b) = (logarithms(baseline.values)?, logarithms(side.values)?);
    let difference = mean(&b) - mean(&a);
    let mut compared = RunsCompared {
        ratio: difference.exp(),
        interval: None,
        p: None,
        within: None,
        verdict: Verdict::Inconclusive,
        within_margin: false,
    };
    let Some(Pooled { spread, df }) = Pooled::of(&a, &b) else {
        compared.within = within(baseline, side, level);
        return Some(compared);
    };
    let error = spread * (1.0 / a.len() as f64 + 1.0 / b.len() as f64).sqrt();
    let interval = |level: f64| {
        let half = student_t_quantile(0.5 + level / 2.0, df) * error;
        Interval { low: (difference - half).exp(), high: (difference + half).exp(), level }
    };
    // Two one-sided tests at the level's error each.
    let judgement =
        Judgement::of(&interval(level), &interval(2.0 * level - 1.0), margin, direction);
    compared.interval = Some(interval(level));
    compared.p = Some(student_t_two_sided_p(difference / error, df));
    compared.verdict = judgement.verdict;
    compared.within_margin = judgement.within_margin;
    Some(compared)
}

/// The ratio's interval from those of both values, as of independent ones: the relative half widths add in squares.
fn within(baseline: RunsOfSide<'_>, side: RunsOfSide<'_>, level: f64) -> Option<Interval> {
    let (&[a], &[b]) = (baseline.values, side.values) else { return None };
    let (of_a, of_b) = (baseline.within?, side.within?);
    let is_usable = |it: Interval| it.low > 0.0 && it.high.is_finite();
    if !is_usable(of_a) || !is_usable(of_b) {
        return None;
    }
    let down = (b / of_b.low).ln().hypot((of_a.high / a).ln());
    let up = (of_b.high / b).ln().hypot((a / of_a.low).ln());
    let ratio = b / a;
    Some(Interval { low: ratio * (-down).exp(), high: ratio * up.exp(), level })
}

/// `None` without values, or with one that is not above 0.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let good = values.iter().all(|value| *value > 0.0 && value.is_finite());
    (good && !values.is_empty()).then(|| values.iter().map(|value| value.ln()).collect())
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squared deviations from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &[f64], b: &[f64], direction: Direction) -> RunsCompared {
        let side = |values| RunsOfSide { values, within: None };
        compare_runs(side(a), side(b), direction, (0.95, 0.05)).unwrap()
    }

    /// Two samples of two: t = (ln 2 - 0) / (s·1) with the pooled s of logarithms, df 2. Computed by hand.
    #[test]
    fn runs_are_compared_by_their_logarithms() {
        let e = std::f64::consts::E;
        let found = compare(&[1.0, e.powf(0.2)], &[e, e.powf(1.2)], Direction::HigherIsBetter);
        // Means 0.1 and 1.1, squares 0.02 each, s = sqrt(0.04 / 2) = 0.1414, error 0.1414, t = 7.071, df 2.
        assert!((found.ratio - e).abs() < 1e-12);
        let interval = found.interval.unwrap();
        assert!((interval.low - (1.0f64 - 4.302_653 * 0.141_421_4).exp()).abs() < 1e-5);
        // P(|t| > 7.0711) with 2 degrees: 1 - t / sqrt(t^2 + 2) = 0.019419.
        assert!((found.p.unwrap() - 0.019_419).abs() < 1e-5, "{found:?}");
        assert_eq!(found.verdict, Verdict::Faster);
        let other = compare(&[1.0, e.powf(0.2)], &[e, e.powf(1.2)], Direction::LowerIsBetter);
        assert_eq!(other.verdict, Verdict::Slower);
    }

    #[test]
    fn one_side_may_have_one_run_and_two_are_equivalent_within_the_margin() {
        let known = [1000.0, 1002.0, 998.0, 1001.0, 999.0];
        let found = compare(&known, &[1001.0], Direction::HigherIsBetter);
        assert_eq!((found.verdict, found.within_margin), (Verdict::Equivalent, true));
        assert_eq!(compare(&known, &[900.0], Direction::HigherIsBetter).verdict, Verdict::Slower);
        let noisy = compare(&[1000.0, 1100.0], &[1050.0, 990.0], Direction::HigherIsBetter);
        assert_eq!(noisy.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn one_run_each_gives_no_verdict_but_what_happened_within() {
        let within = |low, high| Some(Interval { low, high, level: 0.95 });
        let side = |value, within| RunsOfSide { values: value, within };
        let compare = |a, b| {
            let level = (0.95, 0.05);
            compare_runs(a, b, Direction::HigherIsBetter, level).unwrap()
        };
        let a = side(&[100.0], within(99.0, 101.0));
        let found = compare(a, side(&[200.0], within(198.0, 202.0)));
        assert_eq!((found.verdict, found.interval, found.p), (Verdict::Inconclusive, None, None));
        let interval = found.within.unwrap();
        // Twice one per cent, in squares: 1.4 %.
        assert!(
            (interval.high / 2.0 - 1.014).abs() < 5e-4 && (interval.low / 2.0 - 0.986).abs() < 5e-4
        );
        assert_eq!(compare(a, side(&[200.0], None)).within, None);
    }

    #[test]
    fn equal_values_are_known_to_the_resolution_only() {
        let found = compare(&[100.0, 100.0], &[100.02, 100.02], Direction::HigherIsBetter);
        let interval = found.interval.unwrap();
        assert!(interval.contains(1.0) && interval.high > 1.001, "{interval:?}");
    }

    #[test]
    fn what_is_not_above_zero_has_no_ratio() {
        let side = |values| RunsOfSide { values, within: None };
        let none = |a, b| {
            compare_runs(side(a), side(b), Direction::HigherIsBetter, (0.95, 0.05)).is_none()
        };
        assert!(none(&[], &[1.0]) && none(&[1.0], &[0.0]) && none(&[1.0], &[f64::NAN]));
    }
}
