//! Two independent samples: Mann and Whitney's U (Wilcoxon's rank sum).
//!
//! Source: Mann & Whitney, *Annals of Mathematical Statistics* 18 (1947) 50-60, formula 2 for the
//! exact distribution; the correction for ties, Hollander, Wolfe & Chicken (2014), 4.13.

use super::{EXACT_SIZE, RankMethod, Tails, midranks};
use crate::moments::{SampleError, checked_values};
use serde::{Deserialize, Serialize};

/// Two samples compared by their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// U: how many pairs (one value of each sample) the first sample wins; a tie is half a win.
    pub u: f64,
    /// Share of the pairs that the first sample wins, without unit; 0.5 for no difference.
    pub superiority: f64,
    /// How the p-values were found.
    pub method: RankMethod,
    /// P-value of "neither tends to be larger" against any.
    pub p_two_sided: f64,
    /// P-value against "the first tends to be larger".
    pub p_greater: f64,
    /// P-value against "the first tends to be smaller".
    pub p_less: f64,
}

impl MannWhitney {
    /// Compares two samples.
    ///
    /// # Errors
    /// An empty sample, a value that is not finite, or all values equal.
    pub fn test(a: &[f64], b: &[f64]) -> Result<Self, SampleError> {
        checked_values(a, "the first sample", 1)?;
        checked_values(b, "the second sample", 1)?;
        let (ranks, ties) = midranks(&[a, b].concat());
        let (n_a, n_b) = (a.len() as f64, b.len() as f64);
        let u = ranks[..a.len()].iter().sum::<f64>() - 0.5 * n_a * (n_a + 1.0);
        let exact = ties == 0.0 && a.len().max(b.len()) <= EXACT_SIZE;
        let (method, tails) = if exact {
            (RankMethod::Exact, Tails::exact(&distribution(a.len(), b.len()), u))
        } else {
            let n = n_a + n_b;
            let variance = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
            if variance <= 0.0 {
                return Err(SampleError::NoSpread { what: "both samples".into() });
            }
            (RankMethod::Normal, Tails::normal(u, 0.5 * n_a * n_b, variance.sqrt()))
        };
        Ok(Self {
            u,
            superiority: u / (n_a * n_b),
            method,
            p_two_sided: tails.two_sided,
            p_greater: tails.greater,
            p_less: tails.less,
        })
    }
}

/// The probability of each value of U, from 0 to n_a n_b, where nothing differs.
///
/// The largest of all values belongs to the first sample with probability n_a / (n_a + n_b), and
/// then wins over all n_b; else nothing is won by it.
pub(super) fn distribution(n_a: usize, n_b: usize) -> Vec<f64> {
    // Row by row of n_b; within, all sizes of the first sample up to n_a.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n_a + 1];
    for b in 1..=n_b {
        let mut next = vec![vec![1.0]];
        for a in 1..=n_a {
            let share = a as f64 / (a + b) as f64;
            let mut values = vec![0.0; a * b + 1];
            for (value, probability) in next[a - 1].iter().enumerate() {
                values[value + b] += share * probability;
            }
            for (value, probability) in row[a].iter().enumerate() {
                values[value] += (1.0 - share) * probability;
            }
            next.push(values);
        }
        row = next;
    }
    row.swap_remove(n_a)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the six orders of two and two values, U is 0, 1, 2, 2, 3, 4.
    #[test]
    fn orders_are_counted() {
        let counts: Vec<f64> = distribution(2, 2).iter().map(|p| (p * 6.0).round()).collect();
        assert_eq!(counts, vec![1.0, 1.0, 2.0, 1.0, 1.0]);
        let all: f64 = distribution(50, 50).iter().sum();
        assert!((all - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_normal_approximation_is_close_to_the_count() {
        let a: Vec<f64> = (0..40).map(|i| f64::from(i * 17 % 40)).collect();
        let b: Vec<f64> = (0..45).map(|i| f64::from(i * 13 % 45) - 0.5).collect();
        let exact = MannWhitney::test(&a, &b).unwrap();
        assert_eq!(exact.method, RankMethod::Exact);
        let normal = Tails::normal(exact.u, 900.0, (1800.0f64 / 12.0 * 86.0).sqrt());
        assert!((normal.two_sided / exact.p_two_sided - 1.0).abs() < 0.02);
        let back = MannWhitney::test(&b, &a).unwrap();
        assert_eq!(exact.u + back.u, 1800.0);
        assert!((exact.p_greater / back.p_less - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_are_no_test() {
        assert!(MannWhitney::test(&[1.0, 1.0], &[1.0]).is_err());
        assert!(MannWhitney::test(&[], &[1.0]).is_err());
    }
}
