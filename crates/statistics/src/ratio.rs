//! How many times as much: the ratio of two datastores, paired by block.
//!
//! Within a block both datastores were measured close in time, so what disturbs both cancels in
//! their ratio. Ratios multiply; their logarithms add, are symmetric (A/B and B/A say the same)
//! and are closer to normal. So: one log-ratio a block, a t interval on its mean, and back. The
//! result is the ratio of geometric means.
//!
//! Sources: for geometric means of ratios, Fleming & Wallace, "How not to lie with statistics: the
//! correct way to summarize benchmark results", *Communications of the ACM* 29 (1986) 218-221; for
//! the bootstrap, P. Hall, "Theoretical comparison of bootstrap confidence intervals", *Annals of
//! Statistics* 16 (1988) 927-953, and Efron & Tibshirani, *An Introduction to the Bootstrap*
//! (1993), 12.5. The percentile-t form is used because it corrects for skewness and for a small
//! number of blocks, where percentile intervals are too narrow.

use crate::describe::Summary;
use crate::estimate::Interval;
use crate::quantile::student_t_quantile;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Resamples drawn by [`LogRatios::bootstrap`].
pub const RESAMPLES: usize = 2000;

/// Fewest blocks that can be resampled: of fewer, too many resamples repeat a single block.
pub const MIN_BOOTSTRAP_BLOCKS: usize = 5;

/// The values of one block, in a metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockPair {
    /// The baseline's.
    pub baseline: f64,
    /// The candidate's.
    pub candidate: f64,
}

/// Why blocks cannot be compared as ratios.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum RatioError {
    /// Fewer than two blocks: no spread, so no interval.
    #[error("{0} complete block(s) give no interval: run at least 2, better 5")]
    TooFewBlocks(usize),
    /// A value that has no logarithm.
    #[error(
        "block {block}: {side} is {value}; a ratio needs values above 0, so check that trial for \
         errors or leave this metric out"
    )]
    NotPositive {
        /// Which block, counted from 1.
        block: usize,
        /// Whose value.
        side: Side,
        /// The value: zero, negative, infinite or NaN.
        value: f64,
    },
}

/// One of the two that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What the other is relative to.
    Baseline,
    /// What is judged.
    Candidate,
}

impl std::fmt::Display for Side {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Baseline => "the baseline's value",
            Self::Candidate => "the candidate's value",
        })
    }
}

/// ln(candidate / baseline) of each block, in the order of the blocks. At least two, all finite.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRatios {
    values: Vec<f64>,
    mean: f64,
    sd: f64,
    skewness: Option<f64>,
}

impl LogRatios {
    /// From one pair a block.
    ///
    /// # Errors
    /// Fewer than two blocks, or a value that is not positive and finite.
    pub fn of_blocks(blocks: &[BlockPair]) -> Result<Self, RatioError> {
        let mut values = Vec::with_capacity(blocks.len());
        for (index, &BlockPair { baseline, candidate }) in blocks.iter().enumerate() {
            for (side, value) in [(Side::Baseline, baseline), (Side::Candidate, candidate)] {
                if !(value > 0.0 && value.is_finite()) {
                    return Err(RatioError::NotPositive { block: index + 1, side, value });
                }
            }
            // A difference of logarithms cannot overflow where the quotient would.
            values.push(candidate.ln() - baseline.ln());
        }
        let summary = Summary::of(&values);
        let (Some(summary), Some(sd)) = (summary, summary.and_then(|summary| summary.sd)) else {
            return Err(RatioError::TooFewBlocks(blocks.len()));
        };
        Ok(Self { values, mean: summary.mean, sd, skewness: summary.skewness })
    }

    /// The log-ratios in the order of the blocks.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of blocks, at least 2.
    pub fn blocks(&self) -> usize {
        self.values.len()
    }

    /// Mean log-ratio.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// SD of the log-ratios over the blocks.
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// The ratio candidate / baseline: that of the geometric means.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The t interval of the ratio at `level`, for a given standard error of the mean log-ratio:
    /// SD/√blocks where the number of blocks was fixed beforehand, else that of
    /// [`Looks`](crate::stopping::Looks). `resolution` is that of the same, and widens it at both ends.
    pub fn interval(&self, standard_error: f64, resolution: f64, level: f64) -> Interval {
        let quantile = student_t_quantile(0.5 + 0.5 * level, self.blocks() as f64 - 1.0);
        let reach = quantile * standard_error + resolution;
        Interval { low: (self.mean - reach).exp(), high: (self.mean + reach).exp(), level }
    }

    /// Whether the bootstrap is to be shown next to the t interval: fewer than 10 blocks, or a skewness
    /// beyond ±1.
    pub fn wants_bootstrap(&self) -> bool {
        self.blocks() < 10 || self.skewness.is_some_and(|skewness| skewness.abs() > 1.0)
    }

    /// The percentile-t bootstrap interval of the ratio at `level`, from [`RESAMPLES`] resamples
    /// drawn from `seed`. It takes the blocks as they are, without a correction for early stopping.
    ///
    /// `None` with fewer than [`MIN_BOOTSTRAP_BLOCKS`] blocks, when all are equal, or when an
    /// end is not finite because too many resamples repeat a single block.
    pub fn bootstrap(&self, level: f64, seed: u64) -> Option<Interval> {
        if self.blocks() < MIN_BOOTSTRAP_BLOCKS || self.sd == 0.0 {
            return None;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut statistics: Vec<f64> = (0..RESAMPLES).map(|_| self.resample(&mut random)).collect();
        statistics.sort_by(f64::total_cmp);
        // The k-th smallest of B is the k/(B + 1) quantile.
        let rank = ((RESAMPLES + 1) as f64 * 0.5 * (1.0 - level)).floor() as usize;
        let lower = statistics.get(rank.checked_sub(1)?)?;
        let upper = statistics.get(RESAMPLES.checked_sub(rank)?)?;
        let error = self.sd / (self.blocks() as f64).sqrt();
        let low = (self.mean - upper * error).exp();
        let high = (self.mean - lower * error).exp();
        (lower.is_finite() && upper.is_finite()).then_some(Interval { low, high, level })
    }

    /// The t statistic of one resample about the sample's mean.
    fn resample(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let n = self.blocks();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            // High half of the product: uniform over 0..n up to 2⁻⁶⁰.
            let index = (u128::from(random.next_u64()) * n as u128) >> 64;
            let deviation = self.values[index as usize] - self.mean;
            sum += deviation;
            squares += deviation * deviation;
        }
        let count = n as f64;
        let mean = sum / count;
        let variance = (squares / count - mean * mean) * count / (count - 1.0);
        // One block n times over: the statistic is as extreme as its sign says. Rounding leaves
        // such a variance near 10⁻¹⁶ of the squares.
        if variance <= 1e-14 * squares {
            f64::INFINITY.copysign(mean)
        } else {
            mean / (variance / count).sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [BlockPair; 6] = [
        pair(100.0, 110.0),
        pair(98.0, 109.0),
        pair(103.0, 111.5),
        pair(101.0, 112.0),
        pair(99.5, 107.0),
        pair(102.0, 113.0),
    ];

    const fn pair(baseline: f64, candidate: f64) -> BlockPair {
        BlockPair { baseline, candidate }
    }

    fn plain(ratios: &LogRatios) -> f64 {
        ratios.sd() / (ratios.blocks() as f64).sqrt()
    }

    /// Reference: scipy 1.17.1, `exp(stats.t.interval(0.95, 5, mean(d), sem(d)))` with
    /// d = log(candidate) − log(baseline), by `tests/quantiles/values.py`.
    #[test]
    fn ratio_and_t_interval_agree_with_scipy() {
        let ratios = LogRatios::of_blocks(&BLOCKS).unwrap();
        let interval = ratios.interval(plain(&ratios), 0.0, 0.95);
        assert!((ratios.ratio() - 1.0977271219308598).abs() < 1e-12, "{}", ratios.ratio());
        assert!((interval.low - 1.0817053928833278).abs() < 1e-12, "{}", interval.low);
        assert!((interval.high - 1.1139861575531405).abs() < 1e-12, "{}", interval.high);
    }

    #[test]
    fn exchanging_the_two_inverts_the_ratio_and_its_interval() {
        let there = LogRatios::of_blocks(&BLOCKS).unwrap();
        let back =
            LogRatios::of_blocks(&BLOCKS.map(|own| pair(own.candidate, own.baseline))).unwrap();
        let (there_ci, back_ci) =
            (there.interval(plain(&there), 0.01, 0.95), back.interval(plain(&back), 0.01, 0.95));
        assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-14);
        assert!((there_ci.low * back_ci.high - 1.0).abs() < 1e-14);
        assert!((there_ci.high * back_ci.low - 1.0).abs() < 1e-14);
    }

    #[test]
    fn values_without_a_logarithm_are_named() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = LogRatios::of_blocks(&[pair(1.0, 1.0), pair(2.0, value)]).unwrap_err();
            assert!(
                matches!(error, RatioError::NotPositive { block: 2, side: Side::Candidate, .. }),
                "{error}"
            );
        }
        assert_eq!(LogRatios::of_blocks(&[]), Err(RatioError::TooFewBlocks(0)));
        assert_eq!(LogRatios::of_blocks(&[pair(1.0, 2.0)]), Err(RatioError::TooFewBlocks(1)));
    }

    #[test]
    fn extreme_values_do_not_overflow() {
        let ratios = LogRatios::of_blocks(&[pair(1e-300, 1e300); 2]).unwrap();
        assert!((ratios.mean() - 600.0 * 10f64.ln()).abs() < 1e-9);
        assert_eq!(ratios.sd(), 0.0);
    }

    #[test]
    fn the_bootstrap_repeats_with_its_seed_and_moves_with_another() {
        let ratios = LogRatios::of_blocks(&BLOCKS).unwrap();
        let first = ratios.bootstrap(0.95, 1).unwrap();
        assert_eq!(ratios.bootstrap(0.95, 1), Some(first));
        assert_ne!(ratios.bootstrap(0.95, 2), Some(first));
        assert!(first.contains(ratios.ratio()));
        let narrower = ratios.bootstrap(0.8, 1).unwrap();
        assert!(narrower.lies_inside(first.low, first.high));
    }

    #[test]
    fn too_few_or_equal_blocks_are_not_resampled() {
        assert_eq!(LogRatios::of_blocks(&BLOCKS[..4]).unwrap().bootstrap(0.95, 1), None);
        assert_eq!(LogRatios::of_blocks(&[pair(1.0, 2.0); 8]).unwrap().bootstrap(0.95, 1), None);
    }

    #[test]
    fn few_or_skewed_blocks_want_a_bootstrap() {
        let even: Vec<BlockPair> = (0..12).map(|i| pair(1.0, 1.0 + 0.01 * f64::from(i))).collect();
        assert!(!LogRatios::of_blocks(&even).unwrap().wants_bootstrap());
        assert!(LogRatios::of_blocks(&even[..9]).unwrap().wants_bootstrap());
        let mut skewed = even;
        skewed[11].candidate = 3.0;
        assert!(LogRatios::of_blocks(&skewed).unwrap().wants_bootstrap());
    }
}
