//! A claim as a part of a number's line, and whether the data put the number there.
//!
//! Yes when the test rejects "it is not in the region" at α (one less the plan's level), no when it
//! rejects "it is", inconclusive when it rejects neither. For one-sided claims and those about
//! margins both follow from the interval at level 1 − 2α: wholly inside is yes, wholly outside is
//! no (Schuirmann, *Journal of Pharmacokinetics and Biopharmaceutics* 15 (1987) 657-680). Whether
//! there is any difference at all follows from the interval at level 1 − α.

use super::effect::{Basis, Effect};
use super::reply::Reply;
use crate::quantile::{normal_quantile, student_t_quantile};
use crate::rank::SignedRank;
use crate::stopping::first_that;
use crate::verdict::{MAX_PROMISED_BLOCKS, equivalence_level};

/// How often the promised number of blocks should be enough.
const ASSURANCE: f64 = 0.8;

/// Where a claim says that an effect lies; on the scale of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Region {
    /// Above this.
    Above(f64),
    /// Below this.
    Below(f64),
    /// Between these.
    Inside(f64, f64),
    /// Not 0. The contrary is shown by lying within the margin to either side.
    Different {
        /// What is too small to matter.
        margin: f64,
        /// Up to here it is as good as 0.
        least: f64,
    },
    /// Within the margin to either side. The contrary is shown by not being 0.
    Same {
        /// What is too small to matter.
        margin: f64,
    },
}

/// How a claim fares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ruling {
    /// P-value of the test that would show it.
    pub(super) p: f64,
    /// P-value of the test that would show the contrary.
    pub(super) p_contrary: f64,
}

impl Ruling {
    /// The answer at this α, where the contrary is tested at `places` places at once: then it has
    /// to be shown at α/places (Bonferroni), since one of them is enough for a no.
    pub(super) fn reply(&self, alpha: f64, places: usize) -> Reply {
        if self.p < alpha {
            Reply::Yes
        } else if self.p_contrary * (places as f64) < alpha {
            Reply::No
        } else {
            Reply::Inconclusive
        }
    }
}

impl Region {
    /// Tests whether the effect lies here.
    pub(super) fn rule(&self, effect: &Effect) -> Ruling {
        let within = |low: f64, high: f64| effect.p_above(low).max(effect.p_below(high));
        let (p, p_contrary) = match *self {
            Region::Above(bound) => (effect.p_above(bound), effect.p_below(bound)),
            Region::Below(bound) => (effect.p_below(bound), effect.p_above(bound)),
            Region::Inside(low, high) => {
                (within(low, high), effect.p_below(low).min(effect.p_above(high)))
            }
            // Lying beyond one end and lying beyond the other are two chances to be wrong.
            Region::Different { margin, least } => {
                let beyond = effect.p_above(least).min(effect.p_below(-least));
                ((2.0 * beyond).min(1.0), within(-margin, margin))
            }
            Region::Same { margin } => (within(-margin, margin), effect.p_different()),
        };
        Ruling { p, p_contrary }
    }

    /// The p-value of Wilcoxon's signed-rank test that the values' median lies here: a check that
    /// needs no normal distribution. `None` where it cannot be computed.
    pub(super) fn rank_p(&self, values: &[f64]) -> Option<f64> {
        let test = |bound: f64| {
            let moved: Vec<f64> = values.iter().map(|value| value - bound).collect();
            SignedRank::of_differences(&moved).ok()
        };
        let within = |low, high| Some(test(low)?.p_greater.max(test(high)?.p_less));
        match *self {
            Region::Above(bound) => Some(test(bound)?.p_greater),
            Region::Below(bound) => Some(test(bound)?.p_less),
            Region::Inside(low, high) => within(low, high),
            Region::Different { .. } => Some(test(0.0)?.p_two_sided),
            Region::Same { margin } => within(-margin, margin),
        }
    }

    /// The level of the interval that gives the answer.
    pub(super) fn interval_level(&self, level: f64) -> f64 {
        match self {
            Region::Different { .. } => level,
            // 0.9 and not 0.8999999999999999: it is shown.
            _ => (equivalence_level(level) * 1e12).round() / 1e12,
        }
    }

    /// The total number of blocks, more than were measured, after which the claim is probably
    /// settled if mean and SD stay as they are; `None` where that takes more than
    /// [`MAX_PROMISED_BLOCKS`], or where blocks are not the unit.
    pub(super) fn blocks_needed(&self, effect: &Effect, level: f64) -> Option<usize> {
        let Basis::Blocks { values, sd, looks } = &effect.basis else { return None };
        let alpha = 1.0 - level;
        first_that(values.len() + 1, MAX_PROMISED_BLOCKS, |blocks| {
            let (error, _) = looks.standard_error(*sd, blocks, looks.t_quantile(blocks));
            let df = blocks as f64 - 1.0;
            let reach = |tail: f64| {
                let quantiles = student_t_quantile(1.0 - tail, df) + normal_quantile(ASSURANCE);
                quantiles * error + looks.resolution
            };
            let at = effect.estimate();
            match *self {
                Region::Above(bound) | Region::Below(bound) => (at - bound).abs() > reach(alpha),
                Region::Inside(low, high) => (at - low).abs().min((at - high).abs()) > reach(alpha),
                Region::Different { margin, .. } | Region::Same { margin } => {
                    at.abs() > reach(0.5 * alpha) || margin - at.abs() > reach(alpha)
                }
            }
        })
    }
}
