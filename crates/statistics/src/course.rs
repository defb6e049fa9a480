//! The course of a run over its blocks: whether the first ones differ from the rest, and whether there is a
//! trend.
//!
//! Random order distributes changes over time among the datastores, but only where there are many blocks. Burst
//! credit that the first trial uses up benefits the one datastore whose turn it was; a drive that slows
//! down from block to block is a different drive at the end of the run. Both affect the verdict, and a
//! reader has to know.
//!
//! - *The first block, two or three* are compared with the prediction interval that the rest gives on the scale
//!   of logarithms: t = (mean of the first − mean of the rest) / (s √(1/k + 1/(n − k))), with the SD s of the
//!   rest alone, since burst credit may end within a block (G. J. Hahn & W. Q. Meeker, *Statistical
//!   Intervals* (1991), 4.8).
//! - *The trend* is that of a line through the logarithms of the blocks that are left, with the
//!   autocorrelation taken into account ([`crate::series::Drift`]).
//!
//! All tests of a run share an error of [`ERROR`], and a change below [`LEAST_CHANGE`] is not mentioned. Equal
//! machines without bursts and trends are therefore flagged in no more than [`ERROR`] of runs; where
//! neighbouring blocks resemble one another, which is a finding of its own, in up to twice as many
//! (`tests/monte_carlo/course.rs`).

use stormeter_study::Metric;

use crate::describe::Summary;
use crate::finding::{Fact, LawFinding};
use crate::quantile::student_t_two_sided_p;
use crate::series::Drift;

/// The share of runs of steady storage in which one of the tests gives a false alarm, at most.
pub const ERROR: f64 = 0.05;
/// A smaller change is not worth reporting, however sure it is.
pub const LEAST_CHANGE: f64 = 0.10;
/// Tests of one series of blocks.
const TESTS: usize = 2;
/// At most this many blocks count as the first ones.
const MOST_FIRST: usize = 3;

/// The first blocks of a run, if they differ from the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Opening {
    /// How many.
    pub blocks: usize,
    /// Their geometric mean.
    pub first: f64,
    /// That of the rest.
    pub rest: f64,
    /// Two-sided p-value of "they are like the rest", for all numbers of first blocks that were tried.
    pub p_value: f64,
}

impl Opening {
    /// The first blocks of `values`, one a block in the order of time, if they differ from the rest at this
    /// error. `None` as well for fewer than three blocks, or a value that is not above 0.
    pub fn of(values: &[f64], error: f64) -> Option<Self> {
        let logs = logarithms(values)?;
        let tried = (logs.len() / 3).min(MOST_FIRST);
        let of = |blocks: usize| {
            let (first, rest) = logs.split_at(blocks);
            if !are_apart(first, rest) {
                return None;
            }
            let rest_count = rest.len() as f64;
            let (first, rest) = (Summary::of(first)?.mean, Summary::of(rest)?);
            let spread = rest.sd? * (1.0 / blocks as f64 + 1.0 / rest_count).sqrt();
            let difference = first - rest.mean;
            let p = student_t_two_sided_p(difference / spread, rest_count - 1.0);
            let p_value = (p * tried as f64).min(1.0);
            Some(Self { blocks, first: first.exp(), rest: rest.mean.exp(), p_value })
        };
        let openings = (1..=tried).filter_map(of);
        let counts = |it: &Self| matters(it.first / it.rest - 1.0) && it.p_value < error;
        openings.filter(counts).min_by(|a, b| a.p_value.total_cmp(&b.p_value))
    }
}

/// Whether each of the first is beyond all of the rest: burst credit lifts every block that it lasts for.
fn are_apart(first: &[f64], rest: &[f64]) -> bool {
    let ends = |values: &[f64]| {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        values.iter().fold((low, high), |(low, high), &value| (low.min(value), high.max(value)))
    };
    let ((first_low, first_high), (low, high)) = (ends(first), ends(rest));
    first_low > high || first_high < low
}

fn matters(change: f64) -> bool {
    // As much down as up: a tenth less is a ninth more.
    change.max(1.0 / (1.0 + change) - 1.0) >= LEAST_CHANGE
}

fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let is_sound = |value: &f64| *value > 0.0 && value.is_finite();
    values.iter().all(is_sound).then(|| values.iter().map(|value| value.ln()).collect())
}

/// A trend over the blocks of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The change of the line through the blocks from the first to the last, as a share.
    pub change: f64,
    /// Its p-value.
    pub p_value: f64,
}

/// The trend over blocks; `None` where there is none at this error.
pub fn trend(values: &[f64], error: f64) -> Option<Trend> {
    let logs = logarithms(values)?;
    // The drift is relative to the mean, and a mean of logarithms may be zero: the first is moved to 1.
    let above: Vec<f64> = logs.iter().map(|log| log - logs[0] + 1.0).collect();
    let mean = above.iter().sum::<f64>() / above.len() as f64;
    let drift = Drift::of(&above)?;
    let change = (drift.relative_change * mean.abs()).exp_m1();
    let p_value = drift.p_value;
    (matters(change) && p_value < error).then_some(Trend { change, p_value })
}

/// The findings about the blocks of a datastore or cell; `values` are those of a metric, one a block in the
/// order of time, and `series` is the number of datastores or cells that the run tests.
pub(crate) fn check_course(metric: Metric, values: &[f64], series: usize) -> Vec<LawFinding> {
    let error = ERROR / (TESTS * series.max(1)) as f64;
    let opening = Opening::of(values, error);
    let left = &values[opening.map_or(0, |opening| opening.blocks)..];
    let trend = trend(left, error);
    let opening = opening.map(|opening| Fact::UnlikeFirstBlocks {
        metric,
        first: opening.blocks,
        others: values.len() - opening.blocks,
        first_value: opening.first,
        other_value: opening.rest,
    });
    let trend = trend.map(|Trend { change, p_value }| {
        let mean = left.iter().map(|value| value.ln()).sum::<f64>() / left.len() as f64;
        let end = |half: f64| (mean + half * change.ln_1p()).exp();
        let blocks = left.len();
        Fact::Trend { metric, from: end(-0.5), to: end(0.5), change, blocks, p_value }
    });
    [opening, trend].into_iter().flatten().map(LawFinding::warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    /// Blocks of `level` each, within two per cent.
    fn blocks(levels: &[f64]) -> Vec<f64> {
        let noise = [0.4, -1.0, 0.8, -0.6, 1.2, -0.8, -0.1];
        let noisy = levels.iter().zip(noise.iter().cycle());
        noisy.map(|(level, noise)| level * (1.0 + 0.02 * noise)).collect()
    }

    fn found(levels: &[f64]) -> Vec<Fact> {
        let findings = check_course(Metric::Iops, &blocks(levels), 2);
        assert!(findings.iter().all(|finding| finding.severity == Severity::Warning));
        findings.into_iter().map(|finding| finding.fact).collect()
    }

    #[test]
    fn burst_credit_that_the_first_trials_used_up_is_named_with_its_figures() {
        let mut levels = [1200.0; 12];
        levels[0] = 4778.0;
        let burst = found(&levels);
        let [Fact::UnlikeFirstBlocks { first: 1, others: 11, first_value, other_value, .. }] =
            burst[..]
        else {
            panic!("{burst:?}")
        };
        assert!((first_value / 4778.0 - 1.0).abs() < 0.03, "{burst:?}");
        assert!((other_value / 1200.0 - 1.0).abs() < 0.03, "{burst:?}");
        // The credit ends within the second block.
        levels[1] = 2900.0;
        let longer = found(&levels);
        assert!(matches!(longer[..], [Fact::UnlikeFirstBlocks { first: 2, .. }, ..]), "{longer:?}");
        // Of four blocks so large a difference stands out, of two none does.
        assert_eq!(found(&[4778.0, 1200.0, 1200.0, 1200.0]).len(), 1);
        assert_eq!(found(&[4778.0, 1200.0]), []);
    }

    #[test]
    fn a_trend_is_named_with_where_it_began_and_ended() {
        let levels: Vec<f64> =
            (0..12).map(|n| 1500.0 * 0.74f64.powf(f64::from(n) / 11.0)).collect();
        let falls = found(&levels);
        let [Fact::Trend { from, to, change, blocks: 12, .. }] = falls[..] else {
            panic!("{falls:?}")
        };
        assert!((from / 1500.0 - 1.0).abs() < 0.03 && from > to, "{falls:?}");
        assert!((change - (0.74 - 1.0)).abs() < 0.03, "{falls:?}");
        let rises: Vec<f64> = levels.iter().rev().copied().collect();
        let rises = found(&rises);
        let [Fact::Trend { change, .. }] = rises[..] else { panic!("{rises:?}") };
        assert!((change - (1.0 / 0.74 - 1.0)).abs() < 0.04, "{rises:?}");
    }

    #[test]
    fn small_changes_and_single_blocks_in_the_middle_are_not_mentioned() {
        assert_eq!(found(&[1000.0; 12]), []);
        let mut small = [1000.0; 12];
        small[0] = 1060.0;
        assert_eq!(found(&small), []);
        let mut disturbed = [1000.0; 12];
        disturbed[6] = 400.0;
        assert_eq!(found(&disturbed), []);
        assert_eq!(Opening::of(&[1.0, 0.0, 1.0, 1.0], 0.05), None);
        // All equal except the first: no spread, no doubt.
        assert!(Opening::of(&[3.0, 1.0, 1.0, 1.0], 0.01).is_some());
        assert_eq!(Opening::of(&[1.0; 4], 0.01), None);
    }
}
