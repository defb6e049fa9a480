//! Pairs: Wilcoxon's signed ranks.
//!
//! Source: F. Wilcoxon, *Biometrics Bulletin* 1 (1945) 80-83, who leaves pairs without a
//! difference out; the correction for ties, Hollander, Wolfe & Chicken (2014), 3.13.

use super::{EXACT_SIZE, RankMethod, Tails, midranks};
use crate::moments::{SampleError, checked_values};
use crate::two_sample::differences;
use serde::{Deserialize, Serialize};

/// Pairs compared by the ranks of their differences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignedRank {
    /// W⁺: the sum of the ranks of the differences above 0.
    pub w_plus: f64,
    /// W⁻: the sum of the ranks of those below 0.
    pub w_minus: f64,
    /// Pairs that differ; the others are left out.
    pub n: usize,
    /// How the p-values were found.
    pub method: RankMethod,
    /// P-value of "differences are symmetric about 0" against any.
    pub p_two_sided: f64,
    /// P-value against "the first tends to be larger".
    pub p_greater: f64,
    /// P-value against "the first tends to be smaller".
    pub p_less: f64,
}

impl SignedRank {
    /// Compares `a` and `b`, which belong together value by value.
    ///
    /// # Errors
    /// Unequal lengths, a value that is not finite, or no pair that differs.
    pub fn test(a: &[f64], b: &[f64]) -> Result<Self, SampleError> {
        Self::of_differences(&differences(a, b)?)
    }

    /// From the differences of pairs.
    ///
    /// # Errors
    /// As [`SignedRank::test`].
    pub fn of_differences(differences: &[f64]) -> Result<Self, SampleError> {
        checked_values(differences, "the differences of the pairs", 1)?;
        let differing: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
        if differing.is_empty() {
            return Err(SampleError::NoSpread { what: "each pair".into() });
        }
        let magnitudes: Vec<f64> = differing.iter().map(|d| d.abs()).collect();
        let (ranks, ties) = midranks(&magnitudes);
        let w_plus =
            ranks.iter().zip(&differing).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
        let size = differing.len();
        let n = size as f64;
        let all = 0.5 * n * (n + 1.0);
        let exact = ties == 0.0 && size <= EXACT_SIZE && size == differences.len();
        let (method, tails) = if exact {
            (RankMethod::Exact, Tails::exact(&distribution(size), w_plus))
        } else {
            let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
            (RankMethod::Normal, Tails::normal(w_plus, 0.5 * all, variance.sqrt()))
        };
        Ok(Self {
            w_plus,
            w_minus: all - w_plus,
            n: size,
            method,
            p_two_sided: tails.two_sided,
            p_greater: tails.greater,
            p_less: tails.less,
        })
    }
}

/// The probability of each value of W⁺ of `n` pairs, from 0 to n(n + 1)/2: each rank is in the
/// sum or not, like a thrown coin.
pub(super) fn distribution(n: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; n * (n + 1) / 2 + 1];
    probabilities[0] = 1.0;
    for rank in 1..=n {
        for value in (0..probabilities.len()).rev() {
            let with = if value >= rank { probabilities[value - rank] } else { 0.0 };
            probabilities[value] = 0.5 * (probabilities[value] + with);
        }
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the eight sign patterns of three pairs: 0, 1, 2, 3, 3, 4, 5, 6.
    #[test]
    fn signs_are_counted() {
        let counts: Vec<f64> = distribution(3).iter().map(|p| p * 8.0).collect();
        assert_eq!(counts, vec![1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn all_pairs_one_way_has_the_smallest_p() {
        let test = SignedRank::of_differences(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((test.w_plus, test.w_minus), (15.0, 0.0));
        assert_eq!((test.p_greater, test.p_two_sided, test.p_less), (1.0 / 32.0, 1.0 / 16.0, 1.0));
        assert!(SignedRank::of_differences(&[0.0, 0.0]).is_err());
    }
}
