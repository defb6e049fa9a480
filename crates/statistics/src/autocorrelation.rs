//! How much the values of one run depend on one another, and what they are worth.
//!
//! A run of 500 samples of five seconds each is no 500 observations: caches fill, disks age, and
//! neighbours resemble each other. Wherever samples come from one run, these figures belong next to
//! what is computed from them: the autocorrelation function, the number of independent values they
//! are worth (by two ways, since the first supposes a memory that fades evenly), and the mean's
//! standard error from batches long enough to be nearly independent.
//!
//! Sources: Box, Jenkins & Reinsel, *Time Series Analysis* (1994), 2.1.5; the initial monotone
//! sequence, C. J. Geyer, *Statistical Science* 7 (1992) 473-483, section 3.3; batch means, Schmeiser,
//! *Operations Research* 30 (1982) 556-568, whose 10 to 30 batches are kept to.

use crate::describe::Summary;
use crate::estimate::{Estimate, Interval};
use crate::moments::{SampleError, checked_level, checked_values};
use crate::series::{effective_sample_size, lag1_autocorrelation};
use crate::sum::{deviations, sum};
use serde::{Deserialize, Serialize};

/// The autocorrelations at lags 0 to `most` (less when there are fewer values), without unit:
/// Σ(xₜ − x̄)(xₜ₊ₖ − x̄) / Σ(xₜ − x̄)².
///
/// `None` for fewer than three values, for equal values, or when one is not finite.
pub fn autocorrelations(values: &[f64], most: usize) -> Option<Vec<f64>> {
    Summary::of(values).filter(|summary| summary.n >= 3 && summary.range > 0.0)?;
    let deviations = deviations(values);
    let squares = sum(deviations.iter().map(|d| d * d));
    let lags = 0..=most.min(values.len() - 1);
    Some(lags.map(|lag| products(&deviations, lag) / squares).collect())
}

fn products(deviations: &[f64], lag: usize) -> f64 {
    sum(deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b))
}

/// How many independent values a series is worth for its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectiveSize {
    /// Values in the series.
    pub n: usize,
    /// Lag-1 autocorrelation, without unit.
    pub lag1: f64,
    /// What they are worth if the memory fades evenly (an AR(1) process), between 1 and `n`.
    pub ar1: f64,
    /// What they are worth by the autocorrelations themselves, summed until they are noise
    /// (Geyer's initial monotone sequence), between 1 and `n`.
    pub geyer: f64,
    /// Autocorrelations of independent values lie within ± this in 95 of 100 cases: 1.96 / √n.
    pub band: f64,
}

impl EffectiveSize {
    /// Of a series in the order of time; `None` for fewer than three values, for equal values, or
    /// when one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let lag1 = lag1_autocorrelation(values)?;
        let n = values.len();
        let deviations = deviations(values);
        let squares = sum(deviations.iter().map(|d| d * d));
        // Sums of two neighbours are positive and fall for any reversible chain; where they do
        // not, the rest is noise.
        let (mut time, mut last) = (-1.0, f64::INFINITY);
        for even in (0..n - 1).step_by(2) {
            let pair = (products(&deviations, even) + products(&deviations, even + 1)) / squares;
            if pair <= 0.0 {
                break;
            }
            last = pair.min(last);
            time += 2.0 * last;
        }
        Some(Self {
            n,
            lag1,
            ar1: effective_sample_size(n, lag1),
            // A series is not worth more than it holds, however its values alternate.
            geyer: n as f64 / time.clamp(1.0, n as f64),
            band: 1.959_963_984_540_054 / (n as f64).sqrt(),
        })
    }
}

/// The mean of a series with the uncertainty that its batches show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchMeans {
    /// Batches.
    pub batches: usize,
    /// Values a batch.
    pub batch_size: usize,
    /// Values at the beginning that fill no batch and are left out.
    pub left_out: usize,
    /// Mean of the batches, in the unit of the series.
    pub mean: f64,
    /// Its standard error, from the batches.
    pub standard_error: f64,
    /// The t interval of the mean, from the batches.
    pub interval: Interval,
    /// Lag-1 autocorrelation of the batches; far from 0 the batches are too short. `None` when
    /// they are all equal.
    pub lag1: Option<f64>,
}

/// How many batches suit `n` values: √n, but from 10 to 30.
pub fn suitable_batches(n: usize) -> usize {
    ((n as f64).sqrt() as usize).clamp(10, 30)
}

impl BatchMeans {
    /// Divides `values`, in the order of time, into `batches` of equal length; the interval is at
    /// `level`.
    ///
    /// # Errors
    /// Fewer than three batches, fewer values than batches, a value that is not finite, or a
    /// level outside 0 to 1.
    pub fn of(values: &[f64], batches: usize, level: f64) -> Result<Self, SampleError> {
        let level = checked_level(level)?;
        if batches < 3 {
            let (name, value) = ("the number of batches", batches as f64);
            return Err(SampleError::bad_parameter(name, value, "3 or more, better 10"));
        }
        checked_values(values, "the series", batches)?;
        let batch_size = values.len() / batches;
        let left_out = values.len() - batch_size * batches;
        let means: Vec<f64> = values[left_out..]
            .chunks_exact(batch_size)
            .map(|batch| crate::sum::mean(batch).value())
            .collect();
        let too_few = || SampleError::TooFew { what: "the series".into(), n: batches, needed: 3 };
        let estimate = Estimate::of_mean(&means, level).ok_or_else(too_few)?;
        let standard_error = Summary::of(&means).and_then(|s| s.se).ok_or_else(too_few)?;
        Ok(Self {
            batches,
            batch_size,
            left_out,
            mean: estimate.value,
            standard_error,
            interval: estimate.interval,
            lag1: lag1_autocorrelation(&means),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::normal_quantile;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// An AR(1) series with SD 1.
    fn ar1(n: usize, correlation: f64, seed: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut noise =
            || normal_quantile(((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64);
        let mut value = noise();
        (0..n)
            .map(|_| {
                value = correlation * value + (1.0 - correlation * correlation).sqrt() * noise();
                value
            })
            .collect()
    }

    #[test]
    fn correlations_start_at_one_and_agree_at_lag_one() {
        let values = ar1(100, 0.5, 1);
        let function = autocorrelations(&values, 500).unwrap();
        assert_eq!((function.len(), function[0]), (100, 1.0));
        assert_eq!(Some(function[1]), lag1_autocorrelation(&values));
        assert_eq!(autocorrelations(&[2.0; 9], 3), None);
    }

    /// What a series is worth is known for AR(1): n (1 − ρ)/(1 + ρ).
    #[test]
    fn both_sizes_find_what_correlation_costs() {
        for correlation in [0.0, 0.5, 0.8] {
            let size = EffectiveSize::of(&ar1(20_000, correlation, 2)).unwrap();
            let expected = 20_000.0 * (1.0 - correlation) / (1.0 + correlation);
            for value in [size.ar1, size.geyer] {
                assert!((value / expected - 1.0).abs() < 0.12, "{correlation}: {size:?}");
            }
        }
    }

    /// A memory of two kinds, which AR(1) underrates: slow waves under noise.
    #[test]
    fn slow_waves_under_noise_are_seen_by_geyer_only() {
        let (slow, fast) = (ar1(20_000, 0.99, 3), ar1(20_000, 0.0, 4));
        let values: Vec<f64> = slow.iter().zip(&fast).map(|(slow, fast)| slow + fast).collect();
        let size = EffectiveSize::of(&values).unwrap();
        assert!(size.geyer < 500.0 && size.ar1 > 3000.0, "{size:?}");
        assert_eq!(EffectiveSize::of(&[1.0, -1.0, 1.0, -1.0]).unwrap().geyer, 4.0);
    }

    /// The interval from batches holds the true mean about as often as it says; that of single
    /// values does not.
    #[test]
    fn batches_keep_the_level_that_single_values_break() {
        let (mut batched, mut single) = (0, 0);
        for seed in 0..400 {
            let values = ar1(600, 0.8, 1000 + seed);
            let means = BatchMeans::of(&values, 10, 0.95).unwrap();
            batched += u32::from(means.interval.contains(0.0));
            single += u32::from(Estimate::of_mean(&values, 0.95).unwrap().interval.contains(0.0));
        }
        assert!(batched >= 364 && single < 260, "{batched} {single}");
    }

    #[test]
    fn what_fills_no_batch_is_left_out_at_the_beginning() {
        let values: Vec<f64> = (0..32).map(f64::from).collect();
        let means = BatchMeans::of(&values, 10, 0.95).unwrap();
        assert_eq!((means.batch_size, means.left_out, means.mean), (3, 2, 16.5));
        assert_eq!(
            (suitable_batches(20), suitable_batches(500), suitable_batches(9999)),
            (10, 22, 30)
        );
        assert!(BatchMeans::of(&values, 2, 0.95).is_err());
        assert!(BatchMeans::of(&values, 33, 0.95).is_err());
    }
}
