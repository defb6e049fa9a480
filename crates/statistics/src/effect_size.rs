//! How large a difference is, measured in standard deviations.
//!
//! A p-value mixes how large a difference is with how often it was measured; a standardised
//! difference does not, and is what studies of different size can be compared by.
//!
//! Sources: J. Cohen, *Statistical Power Analysis for the Behavioral Sciences* (1988), 2.2; L. V.
//! Hedges, *Journal of Educational Statistics* 6 (1981) 107-128, formula 6e for the exact
//! correction; Hedges & Olkin, *Statistical Methods for Meta-Analysis* (1985), 5.E formula 15 for
//! the large-sample standard error.

use crate::estimate::Interval;
use crate::quantile::normal_quantile;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

/// A standardised difference, without unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectSize {
    /// Cohen's d: the difference over the pooled SD (for pairs: over the SD of the differences).
    pub cohen_d: f64,
    /// Hedges's g: d without its bias in small samples, d × `correction`.
    pub hedges_g: f64,
    /// The exact correction Γ(m/2) / (√(m/2) Γ((m − 1)/2)) for m degrees of freedom, and not the
    /// usual approximation 1 − 3/(4m − 1). 0 for one degree of freedom.
    pub correction: f64,
    /// A large-sample normal interval about `hedges_g`: g ± z √(1/ñ + g²/(2N)), with ñ = n₁n₂/N
    /// for two samples and ñ = N for pairs. Rough below 10 values a sample.
    pub interval: Interval,
}

impl EffectSize {
    /// From Cohen's d, the degrees of freedom of its SD, ñ (`weight`) and N (`values`).
    pub(crate) fn new(cohen_d: f64, df: f64, weight: f64, values: f64, level: f64) -> Self {
        let correction = correction(df);
        let hedges_g = cohen_d * correction;
        let error = (1.0 / weight + hedges_g * hedges_g / (2.0 * values)).sqrt();
        let reach = normal_quantile(0.5 + 0.5 * level) * error;
        let interval = Interval { low: hedges_g - reach, high: hedges_g + reach, level };
        Self { cohen_d, hedges_g, correction, interval }
    }
}

/// The factor that takes the bias out of Cohen's d with `df` degrees of freedom.
fn correction(df: f64) -> f64 {
    if df <= 1.0 {
        return 0.0;
    }
    (ln_gamma(0.5 * df) - ln_gamma(0.5 * (df - 1.0))).exp() / (0.5 * df).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correction_is_exact_and_not_the_approximation() {
        // Γ(1)/(√1 Γ(1/2)) = 1/√π for two degrees of freedom; the approximation says 4/7.
        assert!((correction(2.0) - std::f64::consts::PI.sqrt().recip()).abs() < 1e-14);
        assert!((correction(998.0) / (1.0 - 3.0 / (4.0 * 998.0 - 1.0)) - 1.0).abs() < 1e-6);
        assert_eq!(correction(1.0), 0.0);
    }
}
