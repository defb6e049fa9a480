//! Whether the residuals are what an analysis of variance supposes them to be.
//!
//! Four questions: are they normal, do the groups spread alike, does one of them stand out, and do
//! neighbours in time resemble each other? Each is tested at 1 %, so that a sound study is warned
//! of nothing in 96 of 100 cases.
//!
//! Sources: normality, [`crate::normality`]; spread, Brown and Forsythe's test
//! ([`equal_spread`]); outliers, F. E. Grubbs, *Annals of Mathematical Statistics* 21 (1950)
//! 27-58; order, the exact mean and variance of the lag-1 autocorrelation of independent normal
//! values, Dufour & Roy, *Journal of the Royal Statistical Society* B 47 (1985) 503-512.

use super::spread::{Centre, equal_spread};
use crate::describe::Summary;
use crate::moments::{SampleError, checked_values};
use crate::normality::ShapiroFrancia;
use crate::quantile::{normal_cdf, student_t_two_sided_p};
use crate::series::lag1_autocorrelation;
use serde::{Deserialize, Serialize};

/// A check is a concern when its p-value is below this.
pub const CONCERN: f64 = 0.01;

/// A check of the residuals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidualCheck {
    /// What was checked, with its statistic.
    pub statistic: ResidualStatistic,
    /// The p-value of "all is well".
    pub p: f64,
}

/// The statistic of a check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResidualStatistic {
    /// Of the shape of their distribution: Shapiro and Francia's W′.
    Normality {
        /// W′.
        w: f64,
    },
    /// Of whether the groups spread alike: Brown and Forsythe's F.
    Spread {
        /// F.
        f: f64,
    },
    /// Of the value that stands out most: Grubbs's G.
    Outlier {
        /// G.
        g: f64,
        /// Which residual, counted from 1 in the order of measurement.
        place: usize,
    },
    /// Of the order of measurement: the autocorrelation at lag 1.
    Order {
        /// The autocorrelation.
        lag1: f64,
    },
}

impl ResidualCheck {
    /// Whether the reader should worry.
    pub fn is_concern(&self) -> bool {
        self.p < CONCERN
    }

    /// Whether it is about the order of measurement.
    pub fn is_of_order(&self) -> bool {
        matches!(self.statistic, ResidualStatistic::Order { .. })
    }
}

/// Checks `residuals`, given in the order of measurement, with the group of each. A check for which there are too
/// few of them, or too many, is left out.
///
/// # Errors
/// Fewer than three residuals, one that is not finite, lists of unequal length, or residuals that
/// are all equal.
pub fn residual_checks(
    residuals: &[f64],
    groups: &[usize],
) -> Result<Vec<ResidualCheck>, SampleError> {
    checked_values(residuals, "the residuals", 3)?;
    if residuals.len() != groups.len() {
        return Err(SampleError::UnequalLengths { a: residuals.len(), b: groups.len() });
    }
    let summary = Summary::of(residuals).filter(|summary| summary.range > 0.0);
    let (Some(summary), Some(r)) = (summary, lag1_autocorrelation(residuals)) else {
        return Err(SampleError::NoSpread { what: "the residuals".into() });
    };
    let checks = [
        normality(residuals),
        spread(residuals, groups),
        outlier(residuals, &summary),
        Some(order(residuals.len() as f64, r)),
    ];
    Ok(checks.into_iter().flatten().collect())
}

fn normality(residuals: &[f64]) -> Option<ResidualCheck> {
    let ShapiroFrancia { w, p } = ShapiroFrancia::test(residuals).ok()?;
    Some(ResidualCheck { statistic: ResidualStatistic::Normality { w }, p })
}

fn spread(residuals: &[f64], groups: &[usize]) -> Option<ResidualCheck> {
    let most = groups.iter().max().map_or(0, |most| most + 1);
    let mut lists: Vec<(String, Vec<f64>)> =
        (0..most).map(|group| (format!("group {}", group + 1), Vec::new())).collect();
    for (&residual, &group) in residuals.iter().zip(groups) {
        lists[group].1.push(residual);
    }
    // The distances of two values from their median are always equal and say little.
    lists.retain(|(_, values)| values.len() >= 3);
    let table = equal_spread(&lists, Centre::Median).ok()?;
    let row = table.rows.first()?;
    Some(ResidualCheck { statistic: ResidualStatistic::Spread { f: row.f }, p: row.p })
}

/// Grubbs's two-sided test of the residual farthest from the mean.
fn outlier(residuals: &[f64], summary: &Summary) -> Option<ResidualCheck> {
    let n = summary.n as f64;
    let farthest = residuals
        .iter()
        .map(|residual| (residual - summary.mean).abs())
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (index, distance) = farthest?;
    let g = distance / summary.sd?;
    // G cannot exceed (n − 1)/√n, where the t statistic is infinite.
    let rest = ((n - 1.0).powi(2) - n * g * g).max(0.0);
    let t = (n * (n - 2.0) * g * g / rest).sqrt();
    let p = (n * student_t_two_sided_p(t, n - 2.0)).min(1.0);
    Some(ResidualCheck { statistic: ResidualStatistic::Outlier { g, place: index + 1 }, p })
}

fn order(n: f64, r: f64) -> ResidualCheck {
    // Exact for independent normal values: E r₁ = −1/n, and the variance below (k = 1).
    let variance = (n.powi(4) - 4.0 * n.powi(3) + 3.0 * n * n + 4.0 * n - 4.0)
        / ((n + 1.0) * n * n * (n - 1.0).powi(2));
    let z = (r + 1.0 / n) / variance.sqrt();
    let p = 2.0 * normal_cdf(-z.abs());
    ResidualCheck { statistic: ResidualStatistic::Order { lag1: r }, p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::normal_quantile;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Normal quantiles in an order without memory.
    fn calm(n: usize) -> Vec<f64> {
        (0..n).map(|i| normal_quantile(((i * 37 % n) as f64 + 0.5) / n as f64)).collect()
    }

    /// The check that is about this.
    fn check(
        residuals: &[f64],
        groups: &[usize],
        is_it: fn(&ResidualStatistic) -> bool,
    ) -> Option<ResidualCheck> {
        let checks = residual_checks(residuals, groups).unwrap();
        checks.into_iter().find(|check| is_it(&check.statistic))
    }

    fn is_normality(statistic: &ResidualStatistic) -> bool {
        matches!(statistic, ResidualStatistic::Normality { .. })
    }

    fn is_spread(statistic: &ResidualStatistic) -> bool {
        matches!(statistic, ResidualStatistic::Spread { .. })
    }

    fn is_outlier(statistic: &ResidualStatistic) -> bool {
        matches!(statistic, ResidualStatistic::Outlier { .. })
    }

    fn is_order(statistic: &ResidualStatistic) -> bool {
        matches!(statistic, ResidualStatistic::Order { .. })
    }

    fn is_concern(
        residuals: &[f64],
        groups: &[usize],
        is_it: fn(&ResidualStatistic) -> bool,
    ) -> bool {
        check(residuals, groups, is_it).unwrap().is_concern()
    }

    #[test]
    fn calm_residuals_raise_no_concern_and_each_fault_its_own() {
        let groups: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let calm = calm(60);
        let checks = residual_checks(&calm, &groups).unwrap();
        assert_eq!(checks.len(), 4);
        assert!(!checks.iter().any(ResidualCheck::is_concern), "{checks:?}");

        let mut one_out = calm.clone();
        one_out[17] = 30.0;
        let found = check(&one_out, &groups, is_outlier).unwrap();
        assert!(found.is_concern(), "{found:?}");
        let is_place_18 = matches!(found.statistic, ResidualStatistic::Outlier { place: 18, .. });
        assert!(is_place_18, "{found:?}");

        let skewed: Vec<f64> = calm.iter().map(|value| (1.5 * value).exp()).collect();
        assert!(is_concern(&skewed, &groups, is_normality));

        let uneven: Vec<f64> =
            calm.iter().zip(&groups).map(|(value, &group)| value * (group + 1) as f64).collect();
        assert!(is_concern(&uneven, &groups, is_spread));

        let mut sorted = calm;
        sorted.sort_by(f64::total_cmp);
        assert!(is_concern(&sorted, &groups, is_order));
    }

    /// Outlier and order are tested at the level they say: of normal residuals without memory,
    /// 5 % have a p-value below 5 %, even when there are few.
    #[test]
    fn sound_residuals_are_seldom_suspected() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut normal =
            || normal_quantile(((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64);
        let (mut outliers, mut orders) = (0, 0);
        for _ in 0..4000 {
            let residuals: Vec<f64> = (0..12).map(|_| normal()).collect();
            let below = |is_it| check(&residuals, &[0; 12], is_it).unwrap().p < 0.05;
            outliers += u32::from(below(is_outlier));
            orders += u32::from(below(is_order));
        }
        // 200 expected, with an SD of 14.
        assert!((150..=250).contains(&outliers), "{outliers}");
        assert!((150..=250).contains(&orders), "{orders}");
    }

    #[test]
    fn checks_that_need_more_residuals_are_left_out() {
        let checks = residual_checks(&[1.0, -1.0, 0.5, -0.5], &[0, 0, 1, 1]).unwrap();
        assert!(!checks.iter().any(|check| is_normality(&check.statistic)), "{checks:?}");
        assert!(!checks.iter().any(|check| is_spread(&check.statistic)), "{checks:?}");
        assert_eq!(checks.len(), 2, "{checks:?}");
        assert!(residual_checks(&[0.0; 5], &[0; 5]).is_err());
        assert!(residual_checks(&[1.0, 2.0, 3.0], &[0, 1]).is_err());
    }
}
