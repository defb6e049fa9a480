//! Whether a sample may come from a normal law: Shapiro and Francia's test.
//!
//! W′ is the squared correlation of the ordered values with the normal quantiles that they should
//! follow: 1 for a straight normal plot. It needs no table and holds from 5 to 5000 values.
//!
//! Sources: Shapiro & Francia, *JASA* 67 (1972) 215-216; the p-value, P. Royston, *Statistics in
//! Medicine* 12 (1993) 181-184.

use crate::moments::{SampleError, checked_values};
use crate::quantile::{normal_cdf, normal_quantile};
use crate::sum;
use serde::{Deserialize, Serialize};

/// Fewest and most values for which the p-value holds.
pub const SIZES: std::ops::RangeInclusive<usize> = 5..=5000;

/// The outcome of a test of normality.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapiroFrancia {
    /// W′, between 0 and 1, without unit.
    pub w: f64,
    /// P-value of "the sample comes from a normal law".
    pub p: f64,
}

impl ShapiroFrancia {
    /// Tests `values`.
    ///
    /// # Errors
    /// Fewer than 5 or more than 5000 values, one that is not finite, or all equal.
    pub fn test(values: &[f64]) -> Result<Self, SampleError> {
        let what = "the sample tested for normality";
        let values = checked_values(values, what, *SIZES.start())?;
        if values.len() > *SIZES.end() {
            let (name, value) = ("the number of values tested for normality", values.len() as f64);
            return Err(SampleError::bad_parameter(name, value, "at most 5000"));
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        if sorted[0] == sorted[sorted.len() - 1] {
            return Err(SampleError::NoSpread { what: what.into() });
        }
        let scores: Vec<f64> = (1..=sorted.len())
            .map(|rank| normal_quantile((rank as f64 - 0.375) / (n + 0.25)))
            .collect();
        let deviations = sum::deviations(&sorted);
        let squares = |values: &[f64]| sum::sum(values.iter().map(|value| value * value));
        // 1 − W′ from the residuals of the normal plot, which keeps its digits where W′ is near 1.
        let slope = sum::sum(deviations.iter().zip(&scores).map(|(d, s)| d * s)) / squares(&scores);
        let left = sum::sum(deviations.iter().zip(&scores).map(|(d, s)| (d - slope * s).powi(2)));
        let lack = left / squares(&deviations);
        let (u, v) = (n.ln(), n.ln().ln());
        let mean = -1.2725 + 1.0521 * (v - u);
        let sd = 1.0308 - 0.26758 * (v + 2.0 / u);
        Ok(Self { w: 1.0 - lack, p: normal_cdf(-(lack.ln() - mean) / sd) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// The test keeps its promise: 5 % of normal samples are called not normal, and nearly all
    /// exponential ones.
    #[test]
    fn normal_samples_pass_and_skewed_ones_do_not() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 + 1e-17;
        for n in [8, 20, 100] {
            let (mut normal, mut skewed) = (0, 0);
            for _ in 0..2000 {
                let u: Vec<f64> = (0..n).map(|_| uniform()).collect();
                let sample: Vec<f64> = u.iter().map(|&u| normal_quantile(u)).collect();
                normal += u32::from(ShapiroFrancia::test(&sample).unwrap().p < 0.05);
                let sample: Vec<f64> = u.iter().map(|u| -u.ln()).collect();
                skewed += u32::from(ShapiroFrancia::test(&sample).unwrap().p < 0.05);
            }
            // 100 expected, with an SD of 10.
            assert!((60..=140).contains(&normal), "{n}: {normal}");
            assert!(skewed > if n == 8 { 400 } else { 1500 }, "{n}: {skewed}");
        }
    }

    #[test]
    fn samples_that_cannot_be_tested_say_why() {
        assert!(ShapiroFrancia::test(&[1.0; 4]).is_err());
        assert!(ShapiroFrancia::test(&[1.0; 40]).unwrap_err().to_string().contains("equal"));
        assert!(ShapiroFrancia::test(&vec![1.0; 5001]).unwrap_err().to_string().contains("5000"));
    }
}
