//! Intervals for any statistic, from resamples: the bootstrap, bias-corrected and accelerated
//! (BCa).
//!
//! For what has no formula (a ratio of medians, a percentile of blocks). The plain percentile
//! interval is off where the statistic is biased or its spread depends on its value; BCa measures
//! both, the one from the resamples and the other by leaving out one value at a time, and shifts
//! the percentiles to suit.
//!
//! Sources: B. Efron, *JASA* 82 (1987) 171-185, formulas 2.3, 3.1 and 7.3; several samples, Efron &
//! Tibshirani, *An Introduction to the Bootstrap* (1993), 14.3.

use crate::describe::quantile_of_sorted;
use crate::estimate::Interval;
use crate::moments::{SampleError, checked_level, checked_values};
use crate::quantile::{normal_cdf, normal_quantile};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Resamples that are enough for an interval at 95 %.
pub const RESAMPLES: usize = 5000;

/// A statistic with its bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// The statistic of the samples themselves.
    pub estimate: f64,
    /// Its BCa interval.
    pub interval: Interval,
    /// SD of the statistic over the resamples: a standard error.
    pub standard_error: f64,
    /// The bias correction z₀: 0 when half of the resamples lie below the estimate.
    pub bias_correction: f64,
    /// The acceleration a: how fast the spread changes with the value; 0 for a mean of symmetric
    /// values.
    pub acceleration: f64,
}

/// The interval of `statistic` of one sample at `level`, from `resamples` resamples drawn from
/// `seed`. A statistic that is the same in every resample has an interval without width.
///
/// # Errors
/// Fewer than two values, one that is not finite, a level outside 0 to 1, fewer than 100
/// resamples, or a statistic that is not finite for a resample.
pub fn one_sample(
    sample: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, SampleError> {
    bootstrap(&[sample], |samples| statistic(&samples[0]), level, resamples, seed)
}

/// The interval of `statistic` of two independent samples; as [`one_sample`].
///
/// # Errors
/// As [`one_sample`].
pub fn two_samples(
    a: &[f64],
    b: &[f64],
    statistic: impl Fn(&[f64], &[f64]) -> f64,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, SampleError> {
    bootstrap(&[a, b], |samples| statistic(&samples[0], &samples[1]), level, resamples, seed)
}

fn bootstrap(
    samples: &[&[f64]],
    statistic: impl Fn(&[Vec<f64>]) -> f64,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, SampleError> {
    let level = checked_level(level)?;
    for sample in samples {
        checked_values(sample, "a sample to resample", 2)?;
    }
    if resamples < 100 {
        let (name, value) = ("the number of resamples", resamples as f64);
        return Err(SampleError::bad_parameter(name, value, "at least 100"));
    }
    let finite = |value: f64| {
        let what = "the statistic of a resample".to_owned();
        if value.is_finite() { Ok(value) } else { Err(SampleError::NotFinite { what }) }
    };
    let mut drawn: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
    let estimate = finite(statistic(&drawn))?;

    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut statistics = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        for (drawn, sample) in drawn.iter_mut().zip(samples) {
            for value in drawn {
                // High half of the product: uniform over the places up to 2⁻⁶⁰.
                let place = (u128::from(random.next_u64()) * sample.len() as u128) >> 64;
                *value = sample[place as usize];
            }
        }
        statistics.push(finite(statistic(&drawn))?);
    }
    statistics.sort_by(f64::total_cmp);

    let count = resamples as f64;
    // The same values summed in another order differ in their last digits, and are ties.
    let spread = statistics[resamples - 1] - statistics[0];
    let rounding = 1e-12 * (estimate.abs() + spread);
    let below = statistics.partition_point(|&value| value < estimate - rounding);
    let up_to = statistics.partition_point(|&value| value <= estimate + rounding);
    // Ties count half; an estimate beyond all resamples counts as far out as their number allows.
    let share = (0.5 * (below + up_to) as f64 / count).clamp(0.5 / count, 1.0 - 0.5 / count);
    let bias_correction = normal_quantile(share);
    let acceleration = acceleration(samples, &statistic, finite)?;
    let end = |p: f64| {
        let z = bias_correction + normal_quantile(p);
        // Past the pole of the formula the end is the outermost resample.
        let stretch = 1.0 - acceleration * z;
        let moved = if stretch > 0.0 {
            normal_cdf(bias_correction + z / stretch)
        } else {
            f64::from(u8::from(z > 0.0))
        };
        quantile_of_sorted(&statistics, moved)
    };
    let (low, high) = (end(0.5 - 0.5 * level), end(0.5 + 0.5 * level));
    let squares = crate::sum::squares_about(&statistics, crate::sum::mean(&statistics));
    Ok(Bootstrap {
        estimate,
        interval: Interval { low, high, level },
        standard_error: (squares / (count - 1.0)).sqrt(),
        bias_correction,
        acceleration,
    })
}

/// The acceleration, from the statistics with one value left out at a time; 0 where none of them
/// changes anything.
fn acceleration(
    samples: &[&[f64]],
    statistic: impl Fn(&[Vec<f64>]) -> f64,
    finite: impl Fn(f64) -> Result<f64, SampleError>,
) -> Result<f64, SampleError> {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for (which, sample) in samples.iter().enumerate() {
        let n = sample.len() as f64;
        let mut without = Vec::with_capacity(sample.len());
        for left_out in 0..sample.len() {
            let mut kept: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
            kept[which].remove(left_out);
            without.push(finite(statistic(&kept))?);
        }
        for deviation in crate::sum::deviations(&without) {
            let influence = -deviation * (n - 1.0) / n;
            cubes += influence.powi(3);
            squares += influence.powi(2);
        }
    }
    Ok(if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    const SKEWED: [f64; 12] = [1.0, 1.2, 1.3, 1.5, 1.6, 1.9, 2.2, 2.8, 3.1, 4.4, 7.9, 12.0];

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let run = |seed| one_sample(&SKEWED, mean, 0.95, 1000, seed).unwrap();
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }

    /// The acceleration of a mean is a sixth of its skewness over √n, by hand.
    #[test]
    fn the_acceleration_of_a_mean_is_its_skewness() {
        let run = one_sample(&SKEWED, mean, 0.95, 20_000, 1).unwrap();
        let skewness = Summary::of(&SKEWED).unwrap().population_skewness.unwrap();
        let expected = skewness / (6.0 * 12f64.sqrt());
        assert!((run.acceleration / expected - 1.0).abs() < 1e-12);
        // Skewed to the right: the interval reaches farther up than down.
        let interval = run.interval;
        assert!(interval.high - run.estimate > 1.3 * (run.estimate - interval.low));
        let plain = Summary::of(&SKEWED).unwrap().variance.unwrap() * 11.0 / 12.0 / 12.0;
        assert!((run.standard_error / plain.sqrt() - 1.0).abs() < 0.03);
    }

    #[test]
    fn degenerate_cases_are_defined() {
        let same = one_sample(&[2.0; 5], mean, 0.95, 200, 1).unwrap();
        assert_eq!((same.interval.low, same.interval.high, same.acceleration), (2.0, 2.0, 0.0));
        let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
        let extreme = one_sample(&SKEWED, largest, 0.95, 500, 1).unwrap();
        assert_eq!(extreme.interval.high, 12.0);
        assert!(one_sample(&[1.0], mean, 0.95, 500, 1).is_err());
        assert!(one_sample(&SKEWED, mean, 0.95, 10, 1).is_err());
        assert!(one_sample(&SKEWED, |_| f64::NAN, 0.95, 500, 1).is_err());
    }

    #[test]
    fn two_samples_are_resampled_apart() {
        let other: Vec<f64> = SKEWED.iter().map(|value| value * 2.0).collect();
        let ratio = |a: &[f64], b: &[f64]| mean(b) / mean(a);
        let run = two_samples(&SKEWED, &other, ratio, 0.95, 2000, 3).unwrap();
        assert!((run.estimate - 2.0).abs() < 1e-14);
        assert!(run.interval.low < 1.2 && run.interval.high > 3.0);
    }
}
