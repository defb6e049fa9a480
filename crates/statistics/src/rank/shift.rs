//! Hodges and Lehmann's estimate: by how much one side is larger, in the unit of the samples.
//!
//! The interval holds all shifts that the rank test does not reject. Since the test's statistic
//! is whole, the actual level is a little higher than the one asked for; the interval has the actual one.
//!
//! Source: Hodges & Lehmann, *Annals of Mathematical Statistics* 34 (1963) 598-611; the intervals,
//! Hollander, Wolfe & Chicken (2014), 3.3 and 4.3.

use super::{EXACT_SIZE, lower_quantile, mann_whitney, signed_rank};
use crate::describe::quantile_of_sorted;
use crate::estimate::Interval;
use crate::moments::{SampleError, checked_level, checked_values};
use crate::quantile::normal_quantile;
use serde::{Deserialize, Serialize};

/// An estimated shift.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// By how much the first side is larger, in the unit of the samples.
    pub estimate: f64,
    /// All shifts that the rank test does not reject. Its level is the actual one: at least the
    /// level asked for, unless the samples are too small for that.
    pub interval: Interval,
}

/// The median of all differences between a value of `a` and one of `b`. Takes memory for
/// n_a × n_b numbers.
///
/// # Errors
/// An empty sample, a value that is not finite, or a level outside 0 to 1.
pub fn two_sample_shift(a: &[f64], b: &[f64], level: f64) -> Result<Shift, SampleError> {
    checked_values(a, "the first sample", 1)?;
    checked_values(b, "the second sample", 1)?;
    let differences = a.iter().flat_map(|a| b.iter().map(move |b| a - b)).collect();
    let exact = a.len().max(b.len()) <= EXACT_SIZE;
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let sd = (n_a * n_b * (n_a + n_b + 1.0) / 12.0).sqrt();
    let counted = exact.then(|| mann_whitney::distribution(a.len(), b.len()));
    of_candidates(differences, counted, sd, level)
}

/// The median of all means of two differences (each with itself as well): the shift of pairs.
/// Takes memory for n² / 2 numbers.
///
/// # Errors
/// No difference, one that is not finite, or a level outside 0 to 1.
pub fn paired_shift(differences: &[f64], level: f64) -> Result<Shift, SampleError> {
    checked_values(differences, "the differences of the pairs", 1)?;
    let means = differences
        .iter()
        .enumerate()
        .flat_map(|(index, a)| differences[index..].iter().map(move |b| 0.5 * (a + b)))
        .collect();
    let n = differences.len() as f64;
    let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let exact = differences.len() <= EXACT_SIZE;
    let counted = exact.then(|| signed_rank::distribution(differences.len()));
    of_candidates(means, counted, sd, level)
}

/// The median of the candidates, and an interval from the order statistics that the test's
/// distribution names.
fn of_candidates(
    mut candidates: Vec<f64>,
    counted: Option<Vec<f64>>,
    sd: f64,
    level: f64,
) -> Result<Shift, SampleError> {
    let level = checked_level(level)?;
    candidates.sort_by(f64::total_cmp);
    let count = candidates.len();
    let (place, level) = match counted {
        Some(probabilities) => {
            let (place, below) = lower_quantile(&probabilities, 0.5 - 0.5 * level);
            // At 0 even the whole range has less than the level: it has all but both ends.
            if place == 0 { (1, 1.0 - 2.0 * probabilities[0]) } else { (place, 1.0 - 2.0 * below) }
        }
        None => {
            let place = 0.5 * count as f64 - normal_quantile(0.5 + 0.5 * level) * sd;
            (place.floor().max(1.0) as usize, level)
        }
    };
    let place = place.min(count.div_ceil(2));
    let interval = Interval { low: candidates[place - 1], high: candidates[count - place], level };
    Ok(Shift { estimate: quantile_of_sorted(&candidates, 0.5), interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_found_and_a_wild_value_does_not_move_it() {
        let b: Vec<f64> = (0..20).map(f64::from).collect();
        let mut a: Vec<f64> = b.iter().map(|b| b + 3.0).collect();
        let clean = two_sample_shift(&a, &b, 0.95).unwrap();
        assert_eq!(clean.estimate, 3.0);
        a[19] = 1e9;
        let wild = two_sample_shift(&a, &b, 0.95).unwrap();
        assert_eq!(wild.estimate, 3.0);
        assert!(wild.interval.level >= 0.95 && wild.interval.level < 0.96);
    }

    #[test]
    fn few_values_say_which_level_they_reach() {
        let shift = paired_shift(&[1.0, 2.0, 4.0], 0.95).unwrap();
        assert_eq!((shift.interval.low, shift.interval.high), (1.0, 4.0));
        assert_eq!(shift.interval.level, 0.75);
        assert!(paired_shift(&[], 0.95).is_err() && paired_shift(&[1.0], 0.0).is_err());
    }

    /// Beyond the counted sizes the normal approximation takes over without a jump.
    #[test]
    fn both_ways_to_the_interval_agree() {
        let differences: Vec<f64> = (0..50).map(|i| f64::from(i * 19 % 50) - 20.0).collect();
        let counted = paired_shift(&differences, 0.95).unwrap();
        let n = 50.0f64;
        let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let means: Vec<f64> = (0..50)
            .flat_map(|i| (i..50).map(move |j| (i, j)))
            .map(|(i, j)| 0.5 * (differences[i] + differences[j]))
            .collect();
        let normal = of_candidates(means, None, sd, 0.95).unwrap();
        assert!((counted.interval.low - normal.interval.low).abs() <= 0.5);
        assert_eq!(counted.estimate, normal.estimate);
    }
}
