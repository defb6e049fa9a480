//! When to stop adding blocks, and the standard error that makes stopping honest.
//!
//! The rule looks only at the width of the interval, never at whether it excludes "no
//! difference". Even so, an ordinary t interval looked at after every block and kept the first
//! time it is narrow is wrong too often: the run stops just when the SD happens to be
//! underestimated (Chow & Robbins, *Annals of Mathematical Statistics* 36 (1965) 457-462, reach
//! their level only in the limit; Starr, ibid. 37 (1966) 36-50, computed the shortfall). For a
//! 95 % interval, at least 5 blocks and normal noise it excludes the truth in up to 7.7 % of runs
//! instead of 5 %.
//!
//! Simons ("On the cost of not knowing the variance when making a fixed-width confidence interval
//! for the mean", ibid. 39 (1968) 1946-1952) proved that a fixed number of further observations,
//! with any SD, repairs this. We take that number from the blocks already there instead of
//! adding it, which leaves the interval valid wherever the run ends:
//!
//! - up to `min_blocks` nothing was selected and the standard error is the ordinary s/√n;
//! - beyond, [`CONFIRMING_BLOCKS`] (4) do not count when it is asked whether the precision is
//!   reached: s/√(n − 4) must be narrow enough. The same error is then reported;
//! - while the precision is not reached (a time limit may end the run there), one block,
//!   [`RESERVED_BLOCKS`], does not count, but no interval narrower than the precision is claimed
//!   before it is confirmed. A run that ends because time is up was not chosen for a small SD, so
//!   this suffices.
//!
//! The numbers 4 and 1 are the smallest whole ones that held 5 % in simulation, over SDs from 0.4
//! to 5 times the precision, time limits from 5 to 120 blocks, normal noise, t with 3 degrees of
//! freedom, and trials with autocorrelated, drifting noise in random order: at most 5.1 % of
//! 200 000 runs of each (`tests/monte_carlo/false_alarms.rs` repeats it with fewer). The price is
//! about 4 blocks more than stopping uncorrected, and none when the noise is small enough for the
//! first look.
//!
//! Some values are read in steps, a percentile in buckets ([`crate::metrics::resolution_of`]). Where all blocks
//! fall into one step their SD is zero, which says nothing about variation within a step, so the whole
//! step is added to either side of the interval, and the SD counts as no less than that of
//! rounding. A precision finer than the steps is never reached.
//!
//! What it cannot repair: noise of one datastore alone that lasts longer than a block looks like
//! a difference in that datastore, because it is one while it lasts. The lag-1 autocorrelation of
//! the blocks, reported with each comparison, warns of it.

use crate::quantile::student_t_quantile;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Fewest blocks before the first look.
pub const MIN_BLOCKS: usize = 5;

/// Blocks that do not count when it is asked whether the precision is reached.
pub const CONFIRMING_BLOCKS: usize = 4;

/// Blocks that do not count while the precision is not reached.
pub const RESERVED_BLOCKS: usize = 1;

/// What the standard error and the stopping rule must know about how blocks are added.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Looks {
    /// The relative half width at which the run stops, a fraction (0.02 for 2 %). 0 when the
    /// number of blocks was fixed beforehand: the ordinary t interval then holds.
    pub precision: f64,
    /// Blocks before the first look; fewer than [`MIN_BLOCKS`] counts as that.
    pub min_blocks: usize,
    /// Confidence level of the interval that the rule watches, a fraction.
    pub level: f64,
    /// By how much the logarithm of a block's ratio may be off in either direction because its values were
    /// read in steps (percentiles from buckets): a part of every interval
    /// that no number of blocks takes away.
    #[serde(default)]
    pub resolution: f64,
}

impl Looks {
    /// The precision as a half width of the log-ratio's interval.
    ///
    /// An interval symmetric in the logarithm reaches `exp(h) − 1` above its ratio and less
    /// below, so this is ln(1 + precision).
    pub fn log_precision(&self) -> f64 {
        self.precision.ln_1p()
    }

    /// The t quantile of the watched interval for `blocks` blocks; NaN for fewer than two.
    pub fn t_quantile(&self, blocks: usize) -> f64 {
        student_t_quantile(0.5 + 0.5 * self.level, blocks as f64 - 1.0)
    }

    /// The standard error of the mean log-ratio of `blocks` blocks with SD `log_ratio_sd`, and whether the
    /// precision is reached. An interval adds [`Looks::resolution`] to it. `t_quantile` is
    /// [`Looks::t_quantile`] of `blocks`, which a caller who asks often keeps in a table.
    pub fn standard_error(
        &self,
        log_ratio_sd: f64,
        blocks: usize,
        t_quantile: f64,
    ) -> (f64, Reached) {
        // Two values, each off by up to half of it with the same chance: SD of their sum.
        let rounding_sd = self.resolution / 6f64.sqrt();
        let log_ratio_sd = log_ratio_sd.max(rounding_sd);
        // Below 0 where the steps alone are too coarse: no number of blocks reaches that.
        let wanted = (self.log_precision() - self.resolution) / t_quantile;
        let selected = self.precision > 0.0 && blocks > self.min_blocks.max(MIN_BLOCKS);
        let error = |uncounted: usize| {
            let counted = if selected { blocks - uncounted } else { blocks };
            log_ratio_sd / (counted as f64).sqrt()
        };
        let confirmed = error(CONFIRMING_BLOCKS);
        if confirmed <= wanted {
            (confirmed, Reached::Yes)
        } else {
            (error(RESERVED_BLOCKS).max(wanted.min(confirmed)), Reached::NotYet)
        }
    }
}

/// Whether the wanted precision is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// The interval is narrow enough, with the reserve that early stopping needs.
    Yes,
    /// It is not, or not confirmed.
    NotYet,
}

/// Why a stopping rule cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum StopRuleError {
    /// The precision is not between 0 (excluded) and 1.
    #[error("precision {0} is not a fraction above 0 and up to 1: give for example 0.02 for 2 %")]
    Precision(f64),
    /// The level is not between 0 and 1.
    #[error("confidence level {0} is not a fraction between 0 and 1: give for example 0.95")]
    Level(f64),
    /// Fewer than [`MIN_BLOCKS`] blocks as minimum.
    #[error("at least {MIN_BLOCKS} blocks are needed before the first look, not {0}")]
    MinBlocks(usize),
    /// The most blocks are fewer than the least.
    #[error("at most {max_blocks} blocks contradicts at least {min_blocks}: raise the maximum")]
    MaxBlocks {
        /// The minimum asked for.
        min_blocks: usize,
        /// The maximum asked for.
        max_blocks: usize,
    },
}

/// The sequential rule of one comparison.
///
/// Where several pairs are compared in the same blocks, the run continues until each of them says
/// stop: waiting longer than one's own rule asks is harmless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    looks: Looks,
    max_blocks: usize,
}

/// What to do after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run another block.
    Continue {
        /// Blocks still to come if the SD stays as it is (at least 1, at most up to the maximum).
        expected_more_blocks: usize,
    },
    /// The interval is as narrow as was asked for.
    PrecisionReached,
    /// The maximum number of blocks was run without reaching the precision.
    BlocksExhausted,
}

impl StopRule {
    /// A rule that stops when the interval at `looks.level` is narrow enough, not before
    /// `looks.min_blocks` and not after `max_blocks` blocks.
    ///
    /// # Errors
    /// A value out of its range, named.
    pub fn new(looks: Looks, max_blocks: usize) -> Result<Self, StopRuleError> {
        let min_blocks = looks.min_blocks;
        if !(looks.precision > 0.0 && looks.precision <= 1.0) {
            Err(StopRuleError::Precision(looks.precision))
        } else if !(looks.level > 0.0 && looks.level < 1.0) {
            Err(StopRuleError::Level(looks.level))
        } else if min_blocks < MIN_BLOCKS {
            Err(StopRuleError::MinBlocks(min_blocks))
        } else if max_blocks < min_blocks {
            Err(StopRuleError::MaxBlocks { min_blocks, max_blocks })
        } else {
            Ok(Self { looks, max_blocks })
        }
    }

    /// What the standard error of this rule's comparison must know.
    pub fn looks(&self) -> Looks {
        self.looks
    }

    /// The decision after `blocks` blocks whose log-ratios have the SD `log_ratio_sd` (`None`
    /// while there are fewer than two).
    pub fn decide(&self, blocks: usize, log_ratio_sd: Option<f64>) -> Decision {
        let min_blocks = self.looks.min_blocks;
        let Some(sd) = log_ratio_sd else {
            let floor = min_blocks.saturating_sub(blocks).max(1);
            return Decision::Continue { expected_more_blocks: floor };
        };
        // A look before the first planned one would be one more chance to stop too early; but how
        // long it will take may be said.
        if blocks >= min_blocks && self.reached(blocks, sd) {
            Decision::PrecisionReached
        } else if blocks >= self.max_blocks {
            Decision::BlocksExhausted
        } else if blocks < min_blocks && self.reached(min_blocks, sd) {
            Decision::Continue { expected_more_blocks: min_blocks - blocks }
        } else {
            // From the second look on more blocks are always better; the first needs no reserve.
            let next = blocks.max(min_blocks) + 1;
            let total = first_that(next, self.max_blocks, |n| self.reached(n, sd));
            Decision::Continue { expected_more_blocks: total.unwrap_or(self.max_blocks) - blocks }
        }
    }

    fn reached(&self, blocks: usize, sd: f64) -> bool {
        self.looks.standard_error(sd, blocks, self.looks.t_quantile(blocks)).1 == Reached::Yes
    }
}

/// The smallest number from `low` to `high` for which `holds`, which is false up to some number
/// and true from there on; `None` when it is false throughout.
pub(crate) fn first_that(
    mut low: usize,
    mut high: usize,
    holds: impl Fn(usize) -> bool,
) -> Option<usize> {
    if low > high || !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOKS: Looks = Looks { precision: 0.02, min_blocks: 5, level: 0.95, resolution: 0.0 };

    fn error(looks: Looks, sd: f64, blocks: usize) -> (f64, Reached) {
        looks.standard_error(sd, blocks, looks.t_quantile(blocks))
    }

    #[test]
    fn the_first_look_is_an_ordinary_t_interval() {
        let (se, reached) = error(LOOKS, 0.01, 5);
        assert_eq!((se, reached), (0.01 / 5f64.sqrt(), Reached::Yes));
        assert_eq!(error(LOOKS, 0.05, 5), (0.05 / 5f64.sqrt(), Reached::NotYet));
    }

    #[test]
    fn later_looks_hold_four_blocks_back_before_they_claim_the_precision() {
        // 2 % needs s·t/√(n − 4) ≤ ln 1.02; at 20 blocks t = 2.093, so s ≤ 0.03784.
        assert_eq!(error(LOOKS, 0.0378, 20), (0.0378 / 16f64.sqrt(), Reached::Yes));
        assert_eq!(error(LOOKS, 0.0379, 20).1, Reached::NotYet);
        // Narrow enough except for the reserve: the precision itself is reported, nothing narrower.
        let (se, _) = error(LOOKS, 0.0379, 20);
        assert!((se * LOOKS.t_quantile(20) - 1.02f64.ln()).abs() < 1e-15);
        // Far from narrow: one block is held back.
        assert_eq!(error(LOOKS, 0.2, 20).0, 0.2 / 19f64.sqrt());
    }

    #[test]
    fn a_number_of_blocks_fixed_beforehand_needs_no_reserve() {
        let fixed = Looks { precision: 0.0, ..LOOKS };
        assert_eq!(error(fixed, 0.2, 20), (0.2 / 20f64.sqrt(), Reached::NotYet));
    }

    #[test]
    fn a_claimed_precision_is_never_wider_than_asked() {
        for blocks in 5..200 {
            for step in 1..200 {
                let (se, reached) = error(LOOKS, 0.001 * step as f64, blocks);
                let relative = (se * LOOKS.t_quantile(blocks)).exp_m1();
                match reached {
                    Reached::Yes => assert!(relative <= 0.02 * (1.0 + 1e-12)),
                    Reached::NotYet => assert!(relative >= 0.02 * (1.0 - 1e-12)),
                }
            }
        }
    }

    #[test]
    fn a_precision_that_the_steps_of_reading_cannot_tell_is_never_reached() {
        let coarse = Looks { resolution: 0.02, ..LOOKS };
        for blocks in 5..200 {
            assert_eq!(error(coarse, 0.0, blocks).1, Reached::NotYet);
        }
        // In finer steps it takes as many blocks as make the rounding small compared with the precision.
        let fine = Looks { resolution: 0.01, ..LOOKS };
        let (se, reached) = error(fine, 0.0, 5);
        assert!(reached == Reached::Yes && (se - 0.01 / 30f64.sqrt()).abs() < 1e-15, "{se}");
        assert_eq!(error(Looks { precision: 0.0102, ..fine }, 0.0, 20).1, Reached::NotYet);
        let rule = StopRule::new(coarse, 40).unwrap();
        assert_eq!(rule.decide(5, Some(0.0)), Decision::Continue { expected_more_blocks: 35 });
        assert_eq!(rule.decide(40, Some(0.0)), Decision::BlocksExhausted);
    }

    #[test]
    fn the_rule_goes_on_until_precise_or_out_of_blocks() {
        let rule = StopRule::new(LOOKS, 40).unwrap();
        assert_eq!(rule.decide(0, None), Decision::Continue { expected_more_blocks: 5 });
        assert_eq!(rule.decide(4, Some(0.0)), Decision::Continue { expected_more_blocks: 1 });
        assert_eq!(rule.decide(5, Some(0.01)), Decision::PrecisionReached);
        assert_eq!(rule.decide(40, Some(0.5)), Decision::BlocksExhausted);
        assert_eq!(rule.decide(30, Some(0.5)), Decision::Continue { expected_more_blocks: 10 });
        // With s = 0.0378 the precision comes at 20 blocks (see above).
        assert_eq!(rule.decide(7, Some(0.0378)), Decision::Continue { expected_more_blocks: 13 });
    }

    #[test]
    fn before_the_first_look_the_outlook_is_that_of_the_spread_so_far() {
        let rule = StopRule::new(LOOKS, 40).unwrap();
        // With s = 0.0378 the precision comes at 20 blocks (see above), with 0.01 at the first look.
        assert_eq!(rule.decide(3, Some(0.0378)), Decision::Continue { expected_more_blocks: 17 });
        assert_eq!(rule.decide(3, Some(0.01)), Decision::Continue { expected_more_blocks: 2 });
        assert_eq!(rule.decide(2, Some(0.5)), Decision::Continue { expected_more_blocks: 38 });
        let only = StopRule::new(LOOKS, 5).unwrap();
        assert_eq!(only.decide(4, Some(0.5)), Decision::Continue { expected_more_blocks: 1 });
    }

    #[test]
    fn senseless_rules_are_refused() {
        let make = |precision, min_blocks, level, max_blocks| {
            StopRule::new(Looks { precision, min_blocks, level, resolution: 0.0 }, max_blocks)
        };
        assert_eq!(make(0.0, 5, 0.95, 9), Err(StopRuleError::Precision(0.0)));
        assert!(matches!(make(f64::NAN, 5, 0.95, 9), Err(StopRuleError::Precision(_))));
        assert_eq!(make(1.5, 5, 0.95, 9), Err(StopRuleError::Precision(1.5)));
        assert_eq!(make(0.1, 5, 1.0, 9), Err(StopRuleError::Level(1.0)));
        assert_eq!(make(0.1, 4, 0.95, 9), Err(StopRuleError::MinBlocks(4)));
        assert!(matches!(make(0.1, 9, 0.95, 8), Err(StopRuleError::MaxBlocks { .. })));
    }
}
