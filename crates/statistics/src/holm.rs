//! Holm's step-down correction for looking at several metrics at once.
//!
//! Sources: S. Holm, "A simple sequentially rejective multiple test procedure", *Scandinavian
//! Journal of Statistics* 6 (1979) 65-70. Holm's procedure has no intervals of its own that are
//! both simultaneous and as short as its tests (Strassburger & Bretz, *Statistics in Medicine* 27
//! (2008) 4914-4927), so a convention is needed. Ours: of m metrics, the one with the k-th
//! smallest p-value gets the ordinary interval at level 1 − α/(m − k + 1), and once one is not
//! significant, all that follow keep that one's level. An interval then excludes "no difference"
//! exactly when Holm's test rejects, and the table never contradicts itself.

/// Holm-adjusted p-values, in the order given.
///
/// Each is compared with α itself. A NaN counts as a p-value of 1.
pub fn adjusted_p_values(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        let scaled = known(p_values[index]) * (p_values.len() - rank) as f64;
        largest = largest.max(scaled.min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

/// The confidence level of each metric's interval, in the order given, for a family-wise error
/// of `alpha` (0.05 for 5 %).
pub fn interval_levels(p_values: &[f64], alpha: f64) -> Vec<f64> {
    let mut levels = vec![1.0 - alpha; p_values.len()];
    let mut stopped: Option<f64> = None;
    for (rank, index) in ascending(p_values).into_iter().enumerate() {
        let share = stopped.unwrap_or(alpha / (p_values.len() - rank) as f64);
        levels[index] = 1.0 - share;
        if known(p_values[index]) > share {
            stopped = Some(share);
        }
    }
    levels
}

/// Indices of `p_values` from the smallest up; ties keep their order.
fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| known(p_values[a]).total_cmp(&known(p_values[b])));
    order
}

fn known(p_value: f64) -> f64 {
    if p_value.is_nan() { 1.0 } else { p_value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: R's `p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")` is, by the definition,
    /// 5 × 0.01, 4 × 0.02, 3 × 0.03 and then their running maximum.
    #[test]
    fn p_values_are_scaled_and_kept_in_order() {
        let adjusted = adjusted_p_values(&[0.04, 0.01, 0.05, 0.02, 0.03]);
        for (value, expected) in adjusted.iter().zip([0.09, 0.05, 0.09, 0.08, 0.09]) {
            assert!((value - expected).abs() < 1e-15, "{value} is not {expected}");
        }
        assert_eq!(adjusted_p_values(&[0.9, 0.8]), vec![1.0, 1.0]);
        assert_eq!(adjusted_p_values(&[]), Vec::<f64>::new());
        assert_eq!(adjusted_p_values(&[f64::NAN, 0.01]), vec![1.0, 0.02]);
    }

    #[test]
    fn levels_step_down_and_stop_at_the_first_that_is_not_significant() {
        let levels = interval_levels(&[0.001, 0.5, 0.015, 0.04], 0.05);
        let shares: Vec<f64> = levels.iter().map(|level| 1.0 - level).collect();
        // Ranks 1 and 2 are significant; rank 3 (0.04 > 0.05/2) is not, so rank 4 keeps 0.05/2.
        for (share, expected) in shares.iter().zip([0.05 / 4.0, 0.025, 0.05 / 3.0, 0.025]) {
            assert!((share - expected).abs() < 1e-12, "{share} is not {expected}");
        }
    }

    /// The point of the convention: interval and test agree for every pattern of p-values.
    #[test]
    fn a_level_excludes_no_difference_exactly_when_holm_rejects() {
        let grid = [0.0001, 0.009, 0.012, 0.016, 0.02, 0.024, 0.03, 0.049, 0.06, 0.7];
        for a in grid {
            for b in grid {
                for c in grid {
                    let p_values = [a, b, c];
                    let adjusted = adjusted_p_values(&p_values);
                    let levels = interval_levels(&p_values, 0.05);
                    for index in 0..3 {
                        let excluded = p_values[index] <= 1.0 - levels[index];
                        assert_eq!(excluded, adjusted[index] <= 0.05, "{p_values:?} at {index}");
                    }
                }
            }
        }
    }
}
