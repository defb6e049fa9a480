//! Whether the residuals are what an analysis of variance supposes them to be, said in words.
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
use crate::normality::{SIZES, ShapiroFrancia};
use crate::quantile::{normal_cdf, student_t_two_sided_p};
use crate::series::lag1_autocorrelation;
use serde::{Deserialize, Serialize};

/// A check is a concern when its p-value is below this.
pub const CONCERN: f64 = 0.01;

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// The shape of their distribution.
    Normality,
    /// Whether groups spread alike.
    Spread,
    /// A single value that stands out.
    Outlier,
    /// Correlation in the order of measurement.
    Order,
}

/// One check, in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    /// What it is about.
    pub kind: RemarkKind,
    /// Whether the reader should worry.
    pub concern: bool,
    /// The p-value of "all is well"; `None` where it could not be tested.
    pub p: Option<f64>,
    /// A sentence or two: what was found and, where it is a concern, what to do.
    pub text: String,
}

impl Remark {
    fn tested(kind: RemarkKind, p: f64, what: String, well: &str, advice: &str) -> Self {
        let concern = p < CONCERN;
        let judged = if concern { advice } else { well };
        let p_text = if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.1e}") };
        Self { kind, concern, p: Some(p), text: format!("{judged} ({what}, p = {p_text}).") }
    }

    fn untested(kind: RemarkKind, text: &str) -> Self {
        Self { kind, concern: false, p: None, text: text.to_owned() }
    }
}

/// Checks `residuals`, given in the order of measurement, with the group of each.
///
/// # Errors
/// Fewer than three residuals, one that is not finite, lists of unequal length, or residuals that
/// are all equal.
pub fn residual_checks(residuals: &[f64], groups: &[usize]) -> Result<Vec<Remark>, SampleError> {
    checked_values(residuals, "the residuals", 3)?;
    if residuals.len() != groups.len() {
        return Err(SampleError::UnequalLengths { a: residuals.len(), b: groups.len() });
    }
    let summary = Summary::of(residuals).filter(|summary| summary.range > 0.0);
    let (Some(summary), Some(r)) = (summary, lag1_autocorrelation(residuals)) else {
        return Err(SampleError::NoSpread { what: "the residuals".into() });
    };
    Ok(vec![
        normality(residuals),
        spread(residuals, groups),
        outlier(residuals, &summary),
        order(residuals.len() as f64, r),
    ])
}

fn normality(residuals: &[f64]) -> Remark {
    let kind = RemarkKind::Normality;
    match ShapiroFrancia::test(residuals) {
        Ok(ShapiroFrancia { w, p }) => Remark::tested(
            kind,
            p,
            format!("Shapiro-Francia W' = {w:.4}"),
            "Nothing speaks against a normal distribution of the residuals",
            "The residuals are not normal: look at their histogram, and compare with a rank test \
             or with the analysis of the logarithms",
        ),
        Err(_) if residuals.len() > *SIZES.end() => Remark::untested(
            kind,
            "More than 5000 residuals: normality was not tested, and with so many it matters \
             little.",
        ),
        Err(_) => Remark::untested(kind, "Too few residuals to test for normality."),
    }
}

fn spread(residuals: &[f64], groups: &[usize]) -> Remark {
    let kind = RemarkKind::Spread;
    let most = groups.iter().max().map_or(0, |most| most + 1);
    let mut lists: Vec<(String, Vec<f64>)> =
        (0..most).map(|group| (format!("group {}", group + 1), Vec::new())).collect();
    for (&residual, &group) in residuals.iter().zip(groups) {
        lists[group].1.push(residual);
    }
    // The distances of two values from their median are always equal and say little.
    lists.retain(|(_, values)| values.len() >= 3);
    let test = equal_spread(&lists, Centre::Median).ok();
    match test.as_ref().and_then(|table| table.rows.first()) {
        Some(row) => Remark::tested(
            kind,
            row.p,
            format!("Brown-Forsythe F = {:.3}", row.f),
            "The groups spread alike as far as can be told",
            "The groups do not spread alike: compare them in pairs by Welch's test, or analyse the \
             logarithms, which often evens the spread out",
        ),
        None => {
            Remark::untested(kind, "Fewer than two groups of three: their spread was not compared.")
        }
    }
}

/// Grubbs's two-sided test of the residual farthest from the mean.
fn outlier(residuals: &[f64], summary: &Summary) -> Remark {
    let n = summary.n as f64;
    let farthest = residuals
        .iter()
        .map(|residual| (residual - summary.mean).abs())
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((index, distance)), Some(sd)) = (farthest, summary.sd) else {
        return Remark::untested(RemarkKind::Outlier, "Too few residuals to look for outliers.");
    };
    let g = distance / sd;
    // G cannot exceed (n − 1)/√n, where the t statistic is infinite.
    let rest = ((n - 1.0).powi(2) - n * g * g).max(0.0);
    let t = (n * (n - 2.0) * g * g / rest).sqrt();
    let p = (n * student_t_two_sided_p(t, n - 2.0)).min(1.0);
    let place = index + 1;
    Remark::tested(
        RemarkKind::Outlier,
        p,
        format!("Grubbs G = {g:.3}"),
        "No residual stands out",
        &format!(
            "Residual number {place} in the order of measurement stands out: look at that trial, \
             and see whether the conclusion holds without it"
        ),
    )
}

fn order(n: f64, r: f64) -> Remark {
    // Exact for independent normal values: E r₁ = −1/n, and the variance below (k = 1).
    let variance = (n.powi(4) - 4.0 * n.powi(3) + 3.0 * n * n + 4.0 * n - 4.0)
        / ((n + 1.0) * n * n * (n - 1.0).powi(2));
    let z = (r + 1.0 / n) / variance.sqrt();
    Remark::tested(
        RemarkKind::Order,
        2.0 * normal_cdf(-z.abs()),
        format!("lag-1 autocorrelation {r:.3}"),
        "Residuals next to each other in time do not resemble each other",
        "Residuals next to each other in time resemble each other: the trials are not independent, \
         so the p-values are too small; randomise the order and take the block as a factor",
    )
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

    fn concerns(residuals: &[f64], groups: &[usize]) -> Vec<RemarkKind> {
        let remarks = residual_checks(residuals, groups).unwrap();
        assert_eq!(remarks.len(), 4);
        remarks.iter().filter(|remark| remark.concern).map(|remark| remark.kind).collect()
    }

    #[test]
    fn calm_residuals_raise_no_concern_and_each_fault_its_own() {
        let groups: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let calm = calm(60);
        assert_eq!(concerns(&calm, &groups), vec![]);

        let mut one_out = calm.clone();
        one_out[17] = 30.0;
        assert!(concerns(&one_out, &groups).contains(&RemarkKind::Outlier));
        let text = residual_checks(&one_out, &groups).unwrap()[2].text.clone();
        assert!(text.contains("number 18"), "{text}");

        let skewed: Vec<f64> = calm.iter().map(|value| (1.5 * value).exp()).collect();
        assert!(concerns(&skewed, &groups).contains(&RemarkKind::Normality));

        let uneven: Vec<f64> =
            calm.iter().zip(&groups).map(|(value, &group)| value * (group + 1) as f64).collect();
        assert!(concerns(&uneven, &groups).contains(&RemarkKind::Spread));

        let mut sorted = calm;
        sorted.sort_by(f64::total_cmp);
        assert!(concerns(&sorted, &groups).contains(&RemarkKind::Order));
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
            let remarks = residual_checks(&residuals, &[0; 12]).unwrap();
            outliers += u32::from(remarks[2].p.unwrap() < 0.05);
            orders += u32::from(remarks[3].p.unwrap() < 0.05);
        }
        // 200 expected, with an SD of 14.
        assert!((150..=250).contains(&outliers), "{outliers}");
        assert!((150..=250).contains(&orders), "{orders}");
    }

    #[test]
    fn what_cannot_be_tested_is_said_and_not_a_concern() {
        let remarks = residual_checks(&[1.0, -1.0, 0.5, -0.5], &[0, 0, 1, 1]).unwrap();
        assert!(remarks[0].text.contains("Too few") && remarks[1].text.contains("Fewer than two"));
        assert_eq!((remarks[0].p, remarks[1].p), (None, None));
        assert!(residual_checks(&[0.0; 5], &[0; 5]).is_err());
        assert!(residual_checks(&[1.0, 2.0, 3.0], &[0, 1]).is_err());
    }
}
