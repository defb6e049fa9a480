//! Where the warm-up ends: MSER, the marginal standard error rule.
//!
//! Of all ways to cut leading observations off, MSER takes the one that makes the standard error
//! of the mean of the rest smallest: cutting too little keeps the transient's spread, cutting too
//! much leaves too few. It has no parameter to tune. MSER-5 applies it to means of batches of 5,
//! which smooths the noise that would otherwise fool it near the end.
//!
//! Sources: K. P. White, "An effective truncation heuristic for bias reduction in simulation
//! output", *Simulation* 69 (1997) 323-334; S. C. Spratt, *Heuristics for the startup problem*,
//! M.S. thesis, University of Virginia (1998), for the batches of 5; K. P. White, M. J. Cobb,
//! S. C. Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC
//! 2000, for refusing a point in the second half.
//!
//! With ten batches the plain rule refuses a quarter of all steady series: three batches at the end
//! that happen to agree look better than ten that do not. So a point in the second half only
//! refuses the series when the level before it differs from the level after it by more than
//! [`LEVEL_CHANGE`] standard errors, as it does after a ramp; else the best point of the first
//! half is taken.
//!
//! Short series: MSER needs some ten batches. With fewer than 50 intervals the batch shrinks to
//! the largest size (4, 3, 2, 1) that leaves ten, and below 10 intervals it is 1. Below
//! [`MIN_INTERVALS`] nothing is judged.

use crate::describe::Summary;
use serde::{Deserialize, Serialize};

/// Fewer intervals than this say nothing about a warm-up.
pub const MIN_INTERVALS: usize = 4;

/// Standard errors by which the levels before and after a late truncation point must differ.
pub const LEVEL_CHANGE: f64 = 3.0;

const PREFERRED_BATCH: usize = 5;
const WANTED_BATCHES: usize = 10;

/// What MSER says about a series of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warmup {
    /// Leading intervals to drop: 0 when the series is steady from its start.
    pub drop_intervals: usize,
    /// Whether a steady part was found: the truncation point lies in the first half. When false,
    /// `drop_intervals` is not to be used: lengthen the ramp or the trial and measure again.
    pub settled: bool,
    /// Intervals a batch: 5 for MSER-5, fewer for a short series.
    pub batch_intervals: usize,
    /// Whole batches that were judged; a rest shorter than a batch at the end is left out.
    pub batches: usize,
}

impl Warmup {
    /// Finds the end of the warm-up in one value an interval, oldest first.
    ///
    /// `None` when there are fewer than [`MIN_INTERVALS`] values or one is not finite.
    pub fn find(intervals: &[f64]) -> Option<Self> {
        if intervals.len() < MIN_INTERVALS || intervals.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let batch_intervals = (intervals.len() / WANTED_BATCHES).clamp(1, PREFERRED_BATCH);
        let means: Vec<f64> = intervals
            .chunks_exact(batch_intervals)
            .map(|batch| batch.iter().sum::<f64>() / batch_intervals as f64)
            .collect();
        // The last few points have a small error by chance alone; Spratt leaves 5 batches out.
        let last = means.len() - (means.len() / 3).clamp(2, 5);
        let anywhere = truncation_point(&means, last);
        let half = means.len() / 2;
        let settled = anywhere <= half || !level_changes(&means, anywhere);
        let cut = if settled { truncation_point(&means, half.min(last)) } else { anywhere };
        Some(Self {
            drop_intervals: cut * batch_intervals,
            settled,
            batch_intervals,
            batches: means.len(),
        })
    }
}

/// The number of leading batches, at most `last`, whose removal makes the marginal standard error
/// smallest; the smallest such number.
fn truncation_point(means: &[f64], last: usize) -> usize {
    let mut best = (0, f64::INFINITY);
    for cut in 0..=last {
        let rest = &means[cut..];
        let count = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / count;
        let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
        let error = squares / (count * count);
        // A difference within rounding is none: a constant series needs no cut.
        let rounding = (f64::EPSILON * mean).powi(2);
        if error + rounding < best.1 {
            best = (cut, error);
        }
    }
    best.0
}

/// Whether the batches before `cut` differ in level from those after it (Welch's statistic).
fn level_changes(means: &[f64], cut: usize) -> bool {
    let (before, after) = means.split_at(cut);
    match (Summary::of(before), Summary::of(after)) {
        (Some(before), Some(after)) => {
            let error = before.se.unwrap_or(0.0).hypot(after.se.unwrap_or(0.0));
            (after.mean - before.mean).abs() > LEVEL_CHANGE * error
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that alternate about a level: the noise of these tests, without a generator.
    fn steady(level: f64, count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(move |index| level + [0.5, -0.3, 0.1, -0.6, 0.4, 0.2, -0.3][index % 7])
    }

    #[test]
    fn a_steady_series_loses_little_or_nothing() {
        let warmup = Warmup::find(&steady(100.0, 60).collect::<Vec<_>>()).unwrap();
        assert_eq!((warmup.drop_intervals, warmup.settled), (0, true));
        assert_eq!((warmup.batch_intervals, warmup.batches), (5, 12));
        let constant = Warmup::find(&[0.1; 37]).unwrap();
        assert_eq!((constant.drop_intervals, constant.settled), (0, true));
    }

    #[test]
    fn a_ramp_at_the_start_is_cut_off_whole() {
        let series: Vec<f64> =
            (0..10).map(|i| 50.0 + 5.0 * i as f64).chain(steady(100.0, 140)).collect();
        let warmup = Warmup::find(&series).unwrap();
        assert_eq!((warmup.drop_intervals, warmup.settled), (10, true));
        // 12 intervals of ramp reach into the third batch.
        let series: Vec<f64> = (0..12).map(|_| 50.0).chain(steady(100.0, 138)).collect();
        assert_eq!(Warmup::find(&series).unwrap().drop_intervals, 15);
    }

    #[test]
    fn a_series_that_settles_in_its_second_half_is_refused() {
        let series: Vec<f64> = (0..40).map(|_| 50.0).chain(steady(100.0, 20)).collect();
        let warmup = Warmup::find(&series).unwrap();
        assert!(!warmup.settled, "{warmup:?}");
        let rising: Vec<f64> = (0..60).map(|i| 100.0 + i as f64).collect();
        assert!(!Warmup::find(&rising).unwrap().settled);
    }

    #[test]
    fn a_short_series_is_judged_in_smaller_batches() {
        let cases = [(49, 4), (30, 3), (29, 2), (10, 1), (4, 1)];
        for (count, batch) in cases {
            let series: Vec<f64> = steady(100.0, count).collect();
            assert_eq!(Warmup::find(&series).unwrap().batch_intervals, batch, "{count}");
        }
        let series: Vec<f64> = [50.0, 80.0].into_iter().chain(steady(100.0, 8)).collect();
        let warmup = Warmup::find(&series).unwrap();
        assert_eq!((warmup.drop_intervals, warmup.settled), (2, true));
    }

    #[test]
    fn too_few_or_senseless_values_are_not_judged() {
        assert_eq!(Warmup::find(&[1.0, 2.0, 3.0]), None);
        assert_eq!(Warmup::find(&[1.0, 2.0, 3.0, f64::NAN]), None);
    }
}
