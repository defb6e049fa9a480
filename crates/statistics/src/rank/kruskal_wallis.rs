//! Several independent samples: Kruskal and Wallis's analysis of variance of ranks.
//!
//! Source: Kruskal & Wallis, *JASA* 47 (1952) 583-621, formula 1.2 with the correction for ties
//! of 1.3.

use super::midranks;
use crate::moments::{SampleError, checked_values};
use crate::quantile::chi_squared_upper;
use serde::{Deserialize, Serialize};

/// Several samples compared by their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KruskalWallis {
    /// H, corrected for ties.
    pub h: f64,
    /// Degrees of freedom: samples − 1.
    pub df: f64,
    /// P-value of "none tends to be larger", by the chi-squared approximation (good from about
    /// five values a sample).
    pub p: f64,
    /// ε² = H / (N − 1): the share of the ranks' variance between the samples, without unit.
    pub epsilon_squared: f64,
}

impl KruskalWallis {
    /// Compares the samples.
    ///
    /// # Errors
    /// Fewer than two samples, an empty one, a value that is not finite, or all values equal.
    pub fn test<V: AsRef<[f64]>>(samples: &[V]) -> Result<Self, SampleError> {
        if samples.len() < 2 {
            let (n, needed) = (samples.len(), 2);
            return Err(SampleError::TooFew { what: "the list of samples".into(), n, needed });
        }
        let mut all = Vec::new();
        for (index, sample) in samples.iter().enumerate() {
            let what = format!("sample {}", index + 1);
            all.extend_from_slice(checked_values(sample.as_ref(), &what, 1)?);
        }
        let (ranks, ties) = midranks(&all);
        let n = all.len() as f64;
        let correction = 1.0 - ties / (n.powi(3) - n);
        // A single group of ties holds everything.
        if correction <= 0.0 || all.iter().all(|value| *value == all[0]) {
            return Err(SampleError::NoSpread { what: "all samples".into() });
        }
        let centre = 0.5 * (n + 1.0);
        let mut start = 0;
        let mut squares = 0.0;
        for sample in samples {
            let count = sample.as_ref().len();
            // Deviations of ranks from their mean do not cancel as sums of squares would.
            let sum: f64 = ranks[start..start + count].iter().map(|rank| rank - centre).sum();
            squares += sum * sum / count as f64;
            start += count;
        }
        let h = 12.0 / (n * (n + 1.0)) * squares / correction;
        let df = samples.len() as f64 - 1.0;
        Ok(Self { h, df, p: chi_squared_upper(h, df), epsilon_squared: h / (n - 1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_cannot_be_compared_are_refused() {
        assert!(KruskalWallis::test(&[[1.0, 2.0]]).is_err());
        assert!(KruskalWallis::test(&[vec![1.0, 2.0], vec![]]).is_err());
        assert!(KruskalWallis::test(&[[1.0, 1.0], [1.0, 1.0]]).is_err());
    }

    /// Of two samples, H is the square of the rank sum's z without continuity correction.
    #[test]
    fn of_two_samples_it_is_the_rank_sum() {
        let test = KruskalWallis::test(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
        assert!((test.h - 4.5f64.powi(2) / (9.0 * 7.0 / 12.0)).abs() < 1e-12);
    }
}
