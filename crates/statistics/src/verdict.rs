//! What an interval says: faster, slower, equivalent, or not enough is known.
//!
//! - *faster* or *slower*: the interval of the ratio at level 1 − α (95 %) excludes 1. The words
//!   mean better and worse: for a latency, a ratio below 1 is faster.
//! - *equivalent*: the interval at level 1 − 2α (90 %) lies inside the margin, from 1/(1 + m) to
//!   1 + m. This is Schuirmann's pair of one-sided tests, TOST, each at α: *Journal of
//!   Pharmacokinetics and Biopharmaceutics* 15 (1987) 657-680. The shown 95 % interval may
//!   therefore reach a little past the margin. The margin is symmetric in the logarithm, so
//!   exchanging the two datastores exchanges faster and slower and keeps equivalent.
//! - A difference can be certain and yet inside the margin: the verdict then is faster or slower,
//!   and `within_margin` says that it is too small to matter.
//! - *inconclusive*: none of these; [`Outlook::blocks_needed`] says what it would take.
//! - *invalid*: a law is broken; given by the caller, never found here.

use crate::estimate::Interval;
use crate::quantile::{normal_quantile, student_t_quantile};
use crate::stopping::{Looks, Reached, first_that};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison says about the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better than the baseline.
    Faster,
    /// Worse than the baseline.
    Slower,
    /// Different by less than the margin.
    Equivalent,
    /// Not enough is known.
    Inconclusive,
    /// The measurement itself is wrong; no conclusion may be drawn.
    Invalid,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// IOPS, throughput.
    HigherIsBetter,
    /// Latency, CPU time per I/O.
    LowerIsBetter,
}

/// A verdict and whether the difference is too small to matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the ratio is shown to lie inside the margin, with any verdict.
    pub within_margin: bool,
}

impl Judgement {
    /// Judges a ratio (candidate / baseline) by its `interval` (level 1 − α) and its
    /// `equivalence_interval` (level 1 − 2α). `margin` is a fraction: 0.05 for 5 %.
    ///
    /// An interval whose ends are not finite is inconclusive.
    pub fn of(
        interval: &Interval,
        equivalence_interval: &Interval,
        margin: f64,
        direction: Direction,
    ) -> Self {
        let finite = [interval, equivalence_interval]
            .iter()
            .all(|interval| interval.low.is_finite() && interval.high.is_finite());
        let within_margin =
            finite && equivalence_interval.lies_inside(1.0 / (1.0 + margin), 1.0 + margin);
        let verdict = if finite && !interval.contains(1.0) {
            match (interval.low > 1.0, direction) {
                (true, Direction::HigherIsBetter) | (false, Direction::LowerIsBetter) => {
                    Verdict::Faster
                }
                _ => Verdict::Slower,
            }
        } else if within_margin {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        };
        Self { verdict, within_margin }
    }
}

/// The level of the interval that TOST needs next to an interval at `level`: 0.90 for 0.95.
pub fn equivalence_level(level: f64) -> f64 {
    1.0 - 2.0 * (1.0 - level)
}

/// Most blocks that [`Outlook::blocks_needed`] will promise; beyond, it is hopeless.
pub const MAX_PROMISED_BLOCKS: usize = 1000;

/// How often the promised number of blocks should be enough.
const ASSURANCE: f64 = 0.8;

/// What is known so far, from which to foresee how many blocks settle the question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Blocks run so far, at least 2.
    pub blocks: usize,
    /// Mean log-ratio so far.
    pub mean_log_ratio: f64,
    /// SD of the log-ratios so far.
    pub log_ratio_sd: f64,
    /// The equivalence margin, a fraction.
    pub margin: f64,
    /// How blocks are added and which precision is wanted.
    pub looks: Looks,
}

impl Outlook {
    /// The total number of blocks, more than were run, after which the question is probably
    /// settled if mean and SD stay as they are: the interval excludes 1 or lies inside the margin
    /// (with a chance of 80 %), or, where it was not reached yet, the precision is. `None` when
    /// that takes more than [`MAX_PROMISED_BLOCKS`].
    pub fn blocks_needed(&self) -> Option<usize> {
        let precise_already = self.at(self.blocks).1 == Reached::Yes;
        first_that(self.blocks + 1, MAX_PROMISED_BLOCKS, |blocks| {
            let (error, reached) = self.at(blocks);
            self.is_decided(error, blocks) || (!precise_already && reached == Reached::Yes)
        })
    }

    fn at(&self, blocks: usize) -> (f64, Reached) {
        self.looks.standard_error(self.log_ratio_sd, blocks, self.looks.t_quantile(blocks))
    }

    fn is_decided(&self, error: f64, blocks: usize) -> bool {
        let df = blocks as f64 - 1.0;
        let quantile = |level: f64| student_t_quantile(0.5 + 0.5 * level, df);
        let slack = normal_quantile(ASSURANCE);
        let effect = self.mean_log_ratio.abs();
        let Looks { level, resolution, .. } = self.looks;
        effect > (quantile(level) + slack) * error + resolution
            || effect + (quantile(equivalence_level(level)) + slack) * error + resolution
                < self.margin.ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(low: f64, high: f64, direction: Direction) -> (Verdict, bool) {
        // An equivalence interval a sixth shorter, as with many blocks.
        let shrink = |end: f64| ((low * high).sqrt().ln() * 0.16 + end.ln() * 0.84).exp();
        let wide = Interval { low, high, level: 0.95 };
        let narrow = Interval { low: shrink(low), high: shrink(high), level: 0.90 };
        let judgement = Judgement::of(&wide, &narrow, 0.05, direction);
        (judgement.verdict, judgement.within_margin)
    }

    #[test]
    fn faster_means_better() {
        use Direction::{HigherIsBetter, LowerIsBetter};
        assert_eq!(judge(1.1, 1.3, HigherIsBetter), (Verdict::Faster, false));
        assert_eq!(judge(1.1, 1.3, LowerIsBetter), (Verdict::Slower, false));
        assert_eq!(judge(0.7, 0.9, HigherIsBetter), (Verdict::Slower, false));
        assert_eq!(judge(0.7, 0.9, LowerIsBetter), (Verdict::Faster, false));
    }

    #[test]
    fn small_differences_are_equivalent_or_said_to_be_small() {
        let direction = Direction::HigherIsBetter;
        assert_eq!(judge(0.98, 1.03, direction), (Verdict::Equivalent, true));
        assert_eq!(judge(1.01, 1.03, direction), (Verdict::Faster, true));
        assert_eq!(judge(1.01, 1.09, direction), (Verdict::Faster, false));
        assert_eq!(judge(0.98, 1.08, direction), (Verdict::Inconclusive, false));
        // The 95 % interval reaches past the margin, the 90 % one does not.
        assert_eq!(judge(0.99, 1.052, direction), (Verdict::Equivalent, true));
    }

    #[test]
    fn the_margin_is_symmetric_in_the_logarithm() {
        let exact = |low: f64, high: f64| {
            let interval = Interval { low, high, level: 0.9 };
            let wide = Interval { low: 0.5, high: 2.0, level: 0.95 };
            Judgement::of(&wide, &interval, 0.25, Direction::HigherIsBetter).within_margin
        };
        assert!(exact(0.8, 1.25));
        assert!(!exact(0.799, 1.25));
        assert!(!exact(0.8, 1.251));
    }

    #[test]
    fn an_endless_interval_is_inconclusive() {
        assert_eq!(
            judge(2.0, f64::INFINITY, Direction::HigherIsBetter),
            (Verdict::Inconclusive, false)
        );
        assert_eq!(
            judge(f64::NAN, f64::NAN, Direction::HigherIsBetter),
            (Verdict::Inconclusive, false)
        );
    }

    fn outlook(mean: f64, sd: f64, precision: f64) -> Outlook {
        Outlook {
            blocks: 5,
            mean_log_ratio: mean,
            log_ratio_sd: sd,
            margin: 0.05,
            looks: Looks { precision, min_blocks: 5, level: 0.95, resolution: 0.0 },
        }
    }

    /// The textbook formula n ≈ ((z₀.₉₇₅ + z₀.₈)·σ/δ)² = 7.85 (σ/δ)² gives 31.4 for σ = 2δ; t in
    /// place of z adds about z²/2 = 2.
    #[test]
    fn blocks_needed_agree_with_the_textbook() {
        let needed = outlook(0.1, 0.2, 0.0).blocks_needed().unwrap();
        assert!((32..=35).contains(&needed), "{needed}");
    }

    #[test]
    fn a_small_difference_is_settled_as_equivalent() {
        // TOST at δ = 0: n ≈ ((1.645 + 0.842)·0.05/ln 1.05)² = 6.5, and about 2 for t.
        let needed = outlook(0.0, 0.05, 0.0).blocks_needed().unwrap();
        assert!((7..=10).contains(&needed), "{needed}");
    }

    #[test]
    fn precision_settles_what_nothing_else_does_and_the_hopeless_is_said() {
        // On the very edge of the margin neither test decides soon; the precision does.
        let edge = 1.05f64.ln();
        let needed = outlook(edge, 0.5, 0.5).blocks_needed().unwrap();
        assert!((6..=12).contains(&needed), "{needed}");
        assert_eq!(outlook(0.02, 5.0, 0.01).blocks_needed(), None);
    }
}
