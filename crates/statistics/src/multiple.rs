//! Several tests at once: Bonferroni's correction next to Holm's.
//!
//! Holm's rejects all that Bonferroni's does and more; Bonferroni's is here because published
//! studies use it and because its intervals are simple and hold together.
//!
//! Sources: O. J. Dunn, *JASA* 56 (1961) 52-64; for Holm's see [`crate::holm`].

use crate::holm;
use serde::{Deserialize, Serialize};

/// How p-values of one family are corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// Not at all.
    None,
    /// Each times their number.
    Bonferroni,
    /// Holm's step-down procedure.
    Holm,
}

impl Correction {
    /// Corrected p-values in the order given; each is compared with α itself. A NaN counts as 1.
    pub fn adjusted_p_values(self, p_values: &[f64]) -> Vec<f64> {
        let known = |p: f64| if p.is_nan() { 1.0 } else { p };
        match self {
            Self::None => p_values.iter().map(|&p| known(p)).collect(),
            Self::Bonferroni => bonferroni_p_values(p_values),
            Self::Holm => holm::adjusted_p_values(p_values),
        }
    }

    /// The confidence level of each interval, in the order given, for a family-wise error of
    /// `alpha`: an interval excludes "no difference" when the corrected p-value is below α.
    pub fn interval_levels(self, p_values: &[f64], alpha: f64) -> Vec<f64> {
        match self {
            Self::None => vec![1.0 - alpha; p_values.len()],
            Self::Bonferroni => vec![bonferroni_level(p_values.len(), alpha); p_values.len()],
            Self::Holm => holm::interval_levels(p_values, alpha),
        }
    }
}

/// Bonferroni-adjusted p-values: each times their number, at most 1. A NaN counts as 1.
pub fn bonferroni_p_values(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len() as f64;
    // `min` takes the number where the other is NaN.
    p_values.iter().map(|p| (p * count).min(1.0)).collect()
}

/// The confidence level of each of `count` intervals that hold together with an error of at most
/// `alpha`: 1 − α / count.
pub fn bonferroni_level(count: usize, alpha: f64) -> f64 {
    1.0 - alpha / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_scaled_by_their_number() {
        let p_values = [0.01, 0.4, f64::NAN];
        assert_eq!(Correction::Bonferroni.adjusted_p_values(&p_values), vec![0.03, 1.0, 1.0]);
        assert_eq!(Correction::None.adjusted_p_values(&p_values), vec![0.01, 0.4, 1.0]);
        assert_eq!(bonferroni_level(2, 0.05), 0.975);
    }

    #[test]
    fn holm_rejects_whatever_bonferroni_rejects() {
        let p_values = [0.001, 0.012, 0.02, 0.04, 0.9];
        let bonferroni = Correction::Bonferroni.adjusted_p_values(&p_values);
        let holm = Correction::Holm.adjusted_p_values(&p_values);
        assert!(holm.iter().zip(&bonferroni).all(|(holm, bonferroni)| holm <= bonferroni));
        assert!(holm[1] < 0.05 && bonferroni[1] > 0.05);
    }
}
