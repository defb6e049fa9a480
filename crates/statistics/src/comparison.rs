//! One metric of two datastores, from the blocks to the verdict; and several metrics together.
//!
//! One primary metric carries the verdict at the full level. The others are shown next to it with
//! p-values and intervals adjusted by Holm, as a family of their own: they cannot take from the
//! primary metric's certainty, nor lend it any.

use crate::estimate::Interval;
use crate::holm;
use crate::quantile::student_t_two_sided_p;
use crate::ratio::{BlockPair, LogRatios, RatioError};
use crate::series::lag1_autocorrelation;
use crate::stopping::{Looks, Reached};
use crate::verdict::{Direction, Judgement, Outlook, Verdict, equivalence_level};
use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use thiserror::Error;

/// What is compared, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonInput {
    /// Name of the baseline datastore.
    pub baseline: String,
    /// Name of the candidate datastore.
    pub candidate: String,
    /// The metric.
    pub metric: Metric,
    /// Which way the metric is better.
    pub direction: Direction,
    /// The blocks in the order in which they were run.
    pub blocks: Vec<BlockPair>,
    /// The equivalence margin, a fraction (0.05 for 5 %).
    pub margin: f64,
    /// How blocks were added: wanted precision, first look, level (0.95).
    pub looks: Looks,
}

/// Why a comparison cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ComparisonError {
    /// The blocks have no ratio with an interval.
    #[error("{} of {candidate} against {baseline}: {source}", .metric.title())]
    Ratio {
        /// Name of the baseline.
        baseline: String,
        /// Name of the candidate.
        candidate: String,
        /// The metric.
        metric: Metric,
        /// What is wrong.
        source: RatioError,
    },
    /// The margin is negative or not finite.
    #[error("margin {0} is not a fraction of 0 or more: give for example 0.05 for 5 %")]
    Margin(f64),
    /// The precision is negative or not finite.
    #[error("precision {0} is not a fraction of 0 or more: give for example 0.02 for 2 %")]
    Precision(f64),
    /// The level is too low for a test of equivalence, or not below 1.
    #[error("confidence level {0} is not above 0.5 and below 1: give for example 0.95")]
    Level(f64),
}

/// One metric of two datastores, compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the baseline datastore.
    pub baseline: String,
    /// Name of the candidate datastore.
    pub candidate: String,
    /// The metric.
    pub metric: Metric,
    /// Which way the metric is better.
    pub direction: Direction,
    /// Blocks compared.
    pub blocks: usize,
    /// candidate / baseline: the ratio of the geometric means.
    pub ratio: f64,
    /// The ratio's t interval; its level is 0.95, or Holm's for a secondary metric.
    pub interval: Interval,
    /// The percentile-t bootstrap at the same level, in addition when blocks are few or skewed.
    pub bootstrap: Option<Interval>,
    /// What the interval says.
    pub verdict: Verdict,
    /// Whether the ratio is shown to lie inside the margin (TOST), with any verdict.
    pub within_margin: bool,
    /// The larger side of `interval`, relative to `ratio`: 0.02 for ± 2 %.
    pub half_width: f64,
    /// Whether the wanted precision is reached, with the reserve that early stopping needs.
    pub precision_reached: bool,
    /// For an inconclusive verdict, the total number of blocks that would probably settle it;
    /// `None` when it is settled or hopeless.
    pub blocks_needed: Option<usize>,
    /// SD of the log-ratios over the blocks: about the relative SD of a block's ratio.
    pub log_ratio_sd: f64,
    /// Lag-1 autocorrelation of the log-ratios; `None` for two blocks or equal ones. Clearly
    /// above 0 (say 2/√blocks), blocks are not independent and the interval is too narrow.
    pub lag1_autocorrelation_of_blocks: Option<f64>,
    /// Two-sided p-value of "no difference".
    pub p_value: f64,
    /// The same, adjusted by Holm for the family of secondary metrics; equal to `p_value` for
    /// the primary metric.
    pub p_value_adjusted: f64,
}

impl Comparison {
    /// Compares one metric. `seed` draws the bootstrap's resamples.
    ///
    /// # Errors
    /// Fewer than two blocks, a value that has no ratio, or a setting out of its range.
    pub fn of(input: &ComparisonInput, seed: u64) -> Result<Self, ComparisonError> {
        Self::at_level(input, input.looks.level, seed)
    }

    /// The same, marked invalid: a law is broken and nothing may be concluded.
    pub fn invalidated(self) -> Self {
        Self { verdict: Verdict::Invalid, within_margin: false, blocks_needed: None, ..self }
    }

    /// Compares with intervals at `level` instead of the level that the stopping rule watches.
    fn at_level(input: &ComparisonInput, level: f64, seed: u64) -> Result<Self, ComparisonError> {
        let looks = input.looks;
        check(input)?;
        let ratios =
            LogRatios::of_blocks(&input.blocks).map_err(|source| ComparisonError::Ratio {
                baseline: input.baseline.clone(),
                candidate: input.candidate.clone(),
                metric: input.metric,
                source,
            })?;
        let blocks = ratios.blocks();
        let (error, reached) = looks.standard_error(ratios.sd(), blocks, looks.t_quantile(blocks));
        let Looks { resolution, .. } = looks;
        let interval = ratios.interval(error, resolution, level);
        let equivalence = ratios.interval(error, resolution, equivalence_level(level));
        let judgement = Judgement::of(&interval, &equivalence, input.margin, input.direction);
        let outlook = Outlook {
            blocks,
            mean_log_ratio: ratios.mean(),
            log_ratio_sd: ratios.sd(),
            margin: input.margin,
            looks: Looks { level, ..looks },
        };
        let p_value = p_value(ratios.mean(), error, resolution, blocks);
        Ok(Self {
            baseline: input.baseline.clone(),
            candidate: input.candidate.clone(),
            metric: input.metric,
            direction: input.direction,
            blocks,
            ratio: ratios.ratio(),
            interval,
            bootstrap: ratios
                .wants_bootstrap()
                .then(|| ratios.bootstrap(level, seed))
                .flatten()
                .map(|own| widened(own, resolution)),
            verdict: judgement.verdict,
            within_margin: judgement.within_margin,
            half_width: interval.relative_half_width(ratios.ratio()),
            precision_reached: reached == Reached::Yes,
            blocks_needed: (judgement.verdict == Verdict::Inconclusive)
                .then(|| outlook.blocks_needed())
                .flatten(),
            log_ratio_sd: ratios.sd(),
            lag1_autocorrelation_of_blocks: lag1_autocorrelation(ratios.values()),
            p_value,
            p_value_adjusted: p_value,
        })
    }
}

/// The primary metric of a pair and the metrics that are shown next to it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparisons {
    /// The metric that carries the verdict.
    pub primary: Comparison,
    /// The others in the order given, intervals and p-values adjusted by Holm. One that cannot
    /// be compared (a CPU time of zero, say) is an error of its own and not of the family.
    pub secondaries: Vec<Result<Comparison, ComparisonError>>,
}

/// Compares the `primary` metric of a pair at its level, and its `secondaries` adjusted by Holm.
/// `seed` draws the bootstraps' resamples.
///
/// # Errors
/// The primary metric cannot be compared.
pub fn compare_metrics(
    primary: &ComparisonInput,
    secondaries: &[ComparisonInput],
    seed: u64,
) -> Result<MetricComparisons, ComparisonError> {
    let primary = Comparison::of(primary, seed)?;
    let mut compared: Vec<_> =
        secondaries.iter().map(|input| Comparison::of(input, seed)).collect();
    let family: Vec<f64> = compared.iter().flatten().map(|comparison| comparison.p_value).collect();
    let adjusted = holm::adjusted_p_values(&family);
    let levels = holm::interval_levels(&family, 1.0 - primary.interval.level);
    let usable = secondaries.iter().zip(&mut compared).filter(|(_, compared)| compared.is_ok());
    for (((input, place), p_value_adjusted), level) in usable.zip(adjusted).zip(levels) {
        *place = Comparison::at_level(input, level, seed)
            .map(|comparison| Comparison { p_value_adjusted, ..comparison });
    }
    Ok(MetricComparisons { primary, secondaries: compared })
}

fn check(input: &ComparisonInput) -> Result<(), ComparisonError> {
    let Looks { precision, level, .. } = input.looks;
    if !(input.margin >= 0.0 && input.margin.is_finite()) {
        Err(ComparisonError::Margin(input.margin))
    } else if !(precision >= 0.0 && precision.is_finite()) {
        Err(ComparisonError::Precision(precision))
    } else if !(level > 0.5 && level < 1.0) {
        Err(ComparisonError::Level(level))
    } else {
        Ok(())
    }
}

/// Of what is left of a difference after the steps in which values were read; 1 where nothing is.
fn p_value(mean: f64, error: f64, resolution: f64, blocks: usize) -> f64 {
    let beyond = (mean.abs() - resolution).max(0.0);
    // Without any spread there is no doubt left.
    if beyond == 0.0 { 1.0 } else { student_t_two_sided_p(beyond / error, blocks as f64 - 1.0) }
}

fn widened(interval: Interval, resolution: f64) -> Interval {
    let Interval { low, high, level } = interval;
    Interval { low: low * (-resolution).exp(), high: high * resolution.exp(), level }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(metric: Metric, direction: Direction, blocks: &[BlockPair]) -> ComparisonInput {
        ComparisonInput {
            baseline: "a".into(),
            candidate: "b".into(),
            metric,
            direction,
            blocks: blocks.to_vec(),
            margin: 0.05,
            looks: Looks { precision: 0.02, min_blocks: 5, level: 0.95, resolution: 0.0 },
        }
    }

    fn pair(baseline: f64, candidate: f64) -> BlockPair {
        BlockPair { baseline, candidate }
    }

    /// Pairs whose ratio is `ratio` with this `noise`, without trend.
    fn pairs(ratio: f64, noise: f64, count: usize) -> Vec<BlockPair> {
        let pattern = [0.4, -1.0, 0.8, -0.6, 1.2, -0.8];
        (0..count)
            .map(|index| (noise * pattern[index % pattern.len()]).exp())
            .map(|noise| pair(200.0, 200.0 * ratio * noise))
            .collect()
    }

    #[test]
    fn a_clear_difference_is_called_and_settled() {
        let comparison = Comparison::of(
            &input(Metric::Iops, Direction::HigherIsBetter, &pairs(1.2, 0.01, 6)),
            7,
        )
        .unwrap();
        assert_eq!(comparison.verdict, Verdict::Faster);
        assert_eq!((comparison.blocks, comparison.blocks_needed), (6, None));
        assert!((comparison.ratio / 1.2 - 1.0).abs() < 1e-12);
        assert!(comparison.interval.contains(1.2) && comparison.p_value < 1e-4);
        assert!(comparison.bootstrap.is_some(), "six blocks are few");
        let slower = Comparison::of(
            &input(Metric::LatencyP99, Direction::LowerIsBetter, &pairs(1.2, 0.01, 6)),
            7,
        );
        assert_eq!(slower.unwrap().verdict, Verdict::Slower);
    }

    #[test]
    fn interval_and_p_value_tell_the_same() {
        for step in 0..60 {
            let ratio = 1.0 + 0.001 * f64::from(step);
            for (blocks, resolution) in [(2, 0.0), (5, 0.0), (6, 0.01), (12, 0.02), (40, 0.0)] {
                let mut made =
                    input(Metric::Iops, Direction::HigherIsBetter, &pairs(ratio, 0.04, blocks));
                made.looks.resolution = resolution;
                let comparison = Comparison::of(&made, 7).unwrap();
                assert_eq!(
                    comparison.p_value < 0.05,
                    !comparison.interval.contains(1.0),
                    "{comparison:?}"
                );
            }
        }
    }

    /// Two percentiles in neighbouring buckets in every block may differ by one nanosecond.
    #[test]
    fn blocks_that_differ_by_one_step_of_reading_are_no_difference() {
        let step = 1.0 + 1.0 / 512.0;
        let of = |ratio: f64, count: usize| {
            let mut made = input(
                Metric::LatencyP50,
                Direction::LowerIsBetter,
                &vec![pair(3.0, 3.0 * ratio); count],
            );
            made.looks.resolution = 1.0 / 512.0;
            Comparison::of(&made, 7).unwrap()
        };
        for count in [2, 5, 100] {
            let (same, next) = (of(1.0, count), of(step, count));
            assert!(same.interval.low < 0.9981 && same.interval.high > 1.0019, "{same:?}");
            assert_eq!((same.p_value, next.p_value), (1.0, 1.0));
            assert!(next.interval.contains(1.0), "{next:?}");
            assert_eq!(next.verdict, Verdict::Equivalent);
        }
        // Two steps are a difference; how sure it is depends on the number of blocks.
        let (few, many) = (of(step * step, 5), of(step * step, 20));
        assert!(few.p_value > many.p_value && many.p_value > 0.0, "{few:?} {many:?}");
        assert_eq!(many.verdict, Verdict::Slower);
        assert!(many.interval.high - many.interval.low > 2.0 / 512.0);
    }

    #[test]
    fn identical_blocks_leave_no_doubt() {
        let same = Comparison::of(
            &input(Metric::Iops, Direction::HigherIsBetter, &[pair(3.0, 3.0); 5]),
            7,
        );
        let same = same.unwrap();
        assert_eq!((same.verdict, same.p_value, same.half_width), (Verdict::Equivalent, 1.0, 0.0));
        assert!(same.precision_reached && same.within_margin && same.bootstrap.is_none());
        let other = Comparison::of(
            &input(Metric::Iops, Direction::HigherIsBetter, &[pair(3.0, 4.0); 5]),
            7,
        );
        let other = other.unwrap();
        assert_eq!((other.verdict, other.p_value), (Verdict::Faster, 0.0));
    }

    #[test]
    fn an_open_question_says_what_would_settle_it() {
        let made = input(Metric::Iops, Direction::HigherIsBetter, &pairs(1.01, 0.1, 5));
        let comparison = Comparison::of(&made, 7).unwrap();
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        assert!(!comparison.precision_reached);
        assert!(comparison.blocks_needed.is_some_and(|blocks| blocks > 5), "{comparison:?}");
        let invalid = comparison.invalidated();
        assert_eq!((invalid.verdict, invalid.blocks_needed), (Verdict::Invalid, None));
    }

    #[test]
    fn secondaries_are_adjusted_and_the_primary_is_not() {
        let lower = Direction::LowerIsBetter;
        let primary = input(Metric::Iops, Direction::HigherIsBetter, &pairs(1.2, 0.05, 12));
        let secondaries = [
            input(Metric::LatencyP50, lower, &pairs(0.8, 0.05, 12)),
            input(Metric::CpuPerIo, lower, &[pair(0.0, 1.0); 12]),
            input(Metric::LatencyP99, lower, &pairs(1.01, 0.05, 12)),
            input(Metric::LatencyMax, lower, &pairs(0.99, 0.05, 12)),
        ];
        let all = compare_metrics(&primary, &secondaries, 7).unwrap();
        assert_eq!(all.primary, Comparison::of(&primary, 7).unwrap());
        assert!(all.secondaries[1].is_err(), "zero has no ratio");
        let alone: Vec<_> = secondaries.iter().flat_map(|input| Comparison::of(input, 7)).collect();
        let family: Vec<_> = all.secondaries.iter().flatten().collect();
        assert_eq!(family.len(), 3);
        let smallest = family[0];
        assert!((smallest.interval.level - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
        assert!((smallest.p_value_adjusted / alone[0].p_value - 3.0).abs() < 1e-9);
        for (adjusted, alone) in family.iter().zip(&alone) {
            assert!(adjusted.interval.low < alone.interval.low);
            assert!(adjusted.interval.high > alone.interval.high);
            assert_eq!(adjusted.p_value, alone.p_value);
            assert_eq!(adjusted.p_value_adjusted <= 0.05, !adjusted.interval.contains(1.0));
        }
    }

    #[test]
    fn senseless_settings_are_refused() {
        let good = input(Metric::Iops, Direction::HigherIsBetter, &pairs(1.0, 0.1, 5));
        let margin = ComparisonInput { margin: -0.1, ..good.clone() };
        assert_eq!(Comparison::of(&margin, 7), Err(ComparisonError::Margin(-0.1)));
        let looks = Looks { precision: f64::INFINITY, ..good.looks };
        let precision = ComparisonInput { looks, ..good.clone() };
        assert!(matches!(Comparison::of(&precision, 7), Err(ComparisonError::Precision(_))));
        let looks = Looks { level: 0.4, ..good.looks };
        let level = ComparisonInput { looks, ..good.clone() };
        assert_eq!(Comparison::of(&level, 7), Err(ComparisonError::Level(0.4)));
        let one = ComparisonInput { blocks: good.blocks[..1].to_vec(), ..good };
        let message = Comparison::of(&one, 7).unwrap_err().to_string();
        assert!(message.contains("IOPS of b against a") && message.contains("run at least 2"));
    }
}
