//! Tests of ranks: a check where a t test's normality is in doubt.
//!
//! They ask whether one side tends to be larger, with any shape of the distributions, and a
//! wild value counts no more than the largest of the others. P-values are exact for small samples
//! without ties, and from the normal or chi-squared approximation with corrections for ties (and,
//! for two samples, for continuity) otherwise. The Hodges-Lehmann estimate goes with them: the
//! shift that makes the test see no difference, with the shifts it does not reject as interval.
//!
//! Source: Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods* (2014), chapters 3, 4
//! and 6.

mod kruskal_wallis;
mod mann_whitney;
mod shift;
mod signed_rank;

pub use kruskal_wallis::KruskalWallis;
pub use mann_whitney::MannWhitney;
pub use shift::{Shift, paired_shift, two_sample_shift};
pub use signed_rank::SignedRank;

use crate::quantile::normal_cdf;
use serde::{Deserialize, Serialize};

/// Largest sample for which the exact distribution is counted out.
pub const EXACT_SIZE: usize = 50;

/// How p-values were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankMethod {
    /// All orders counted.
    Exact,
    /// The normal approximation, corrected for ties and continuity.
    Normal,
}

/// Average ranks from 1, and Σ (t³ − t) over groups of t equal values.
fn midranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let (mut start, mut ties) = (0, 0.0);
    while start < order.len() {
        let same = order[start..].iter().take_while(|&&i| values[i] == values[order[start]]);
        let end = start + same.count();
        let count = (end - start) as f64;
        for &index in &order[start..end] {
            // Ranks start + 1 to end.
            ranks[index] = 0.5 * (start + 1 + end) as f64;
        }
        ties += count.powi(3) - count;
        start = end;
    }
    (ranks, ties)
}

/// P-values of a statistic with whole values: two-sided, greater, less.
struct Tails {
    two_sided: f64,
    greater: f64,
    less: f64,
}

impl Tails {
    fn new(greater: f64, less: f64) -> Self {
        Self { two_sided: (2.0 * greater.min(less)).min(1.0), greater, less }
    }

    /// From the distribution of a whole statistic: the probability of each value from 0.
    fn exact(probabilities: &[f64], value: f64) -> Self {
        let place = value as usize;
        let greater = crate::sum::sum(probabilities[place..].iter().copied());
        let less = crate::sum::sum(probabilities[..=place].iter().copied());
        Self::new(greater.min(1.0), less.min(1.0))
    }

    /// From mean and SD, with half a step for continuity.
    fn normal(value: f64, mean: f64, sd: f64) -> Self {
        let upper = |excess: f64| normal_cdf(-excess / sd);
        Self::new(upper(value - mean - 0.5), upper(mean - value - 0.5))
    }
}

/// The smallest place at which the running sum of `probabilities` reaches `share`, and the sum
/// below it.
fn lower_quantile(probabilities: &[f64], share: f64) -> (usize, f64) {
    let mut below = 0.0;
    for (place, probability) in probabilities.iter().enumerate() {
        if below + probability >= share {
            return (place, below);
        }
        below += probability;
    }
    (probabilities.len(), below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        let (ranks, ties) = midranks(&[5.0, 1.0, 5.0, 3.0, 5.0, 3.0]);
        assert_eq!(ranks, vec![5.0, 1.0, 5.0, 2.5, 5.0, 2.5]);
        assert_eq!(ties, 24.0 + 6.0);
    }

    #[test]
    fn tails_overlap_in_the_value_itself() {
        let tails = Tails::exact(&[0.25, 0.5, 0.25], 1.0);
        assert_eq!((tails.greater, tails.less, tails.two_sided), (0.75, 0.75, 1.0));
        assert_eq!(lower_quantile(&[0.25, 0.5, 0.25], 0.3), (1, 0.25));
        assert_eq!(lower_quantile(&[0.25, 0.5, 0.25], 0.01), (0, 0.0));
    }
}
