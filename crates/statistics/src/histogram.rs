//! A histogram of equal bins, and the normal curve that the same sample would follow.
//!
//! The curve is scaled to counts (n × bin width × density), so that it lies over the bars and the
//! eye can judge whether a sample is anything like normal.
//!
//! Sources: Freedman & Diaconis, *Zeitschrift für Wahrscheinlichkeitstheorie* 57 (1981) 453-476;
//! where half the values are equal, H. A. Sturges, *JASA* 21 (1926) 65-66.

use crate::describe::Summary;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How many bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// Freedman and Diaconis's width 2 IQR / ∛n, but no more than this many bins; Sturges's
    /// number where the IQR is 0.
    Automatic {
        /// Most bins, for a drawing of limited width.
        most: usize,
    },
    /// This many.
    Count(usize),
}

/// Counts in bins of equal width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Lower edge of the first bin, in the unit of the sample.
    pub low: f64,
    /// Width of a bin, in the unit of the sample; above 0.
    pub width: f64,
    /// Values in each bin; a bin holds its lower edge and not its upper one, the last one both.
    pub counts: Vec<u64>,
    /// Values in all.
    pub n: usize,
    /// Mean of the sample.
    pub mean: f64,
    /// SD of the sample; `None` for a single value.
    pub sd: Option<f64>,
}

impl Histogram {
    /// Counts `values`; `None` when there are none or one is not finite.
    ///
    /// Equal values fill one bin, one unit wide or as wide as the resolution of doubles of their size.
    pub fn of(values: &[f64], bins: Bins) -> Option<Self> {
        let summary = Summary::of(values)?;
        let Summary { n, mean, sd, min, max, range, .. } = summary;
        if range == 0.0 {
            let width = 1f64.max(4.0 * f64::EPSILON * min.abs());
            let counts = vec![n as u64];
            return Some(Self { low: min - 0.5 * width, width, counts, n, mean, sd });
        }
        let count = match bins {
            Bins::Count(count) => count.max(1),
            Bins::Automatic { most } => {
                let spacing = 2.0 * (summary.q3 - summary.q1) / (n as f64).cbrt();
                let wanted = if spacing > 0.0 {
                    (range / spacing).ceil()
                } else {
                    (n as f64).log2().ceil() + 1.0
                };
                // From a float to an integer saturates, so a huge quotient is only a cap away.
                (wanted as usize).clamp(1, most.max(1))
            }
        };
        let width = range / count as f64;
        let mut counts = vec![0u64; count];
        for value in values {
            let bin = ((value - min) / range * count as f64) as usize;
            counts[bin.min(count - 1)] += 1;
        }
        debug_assert!(max >= min);
        Some(Self { low: min, width, counts, n, mean, sd })
    }

    /// The edges of the bins, one more than bins.
    pub fn edges(&self) -> Vec<f64> {
        (0..=self.counts.len()).map(|edge| self.low + edge as f64 * self.width).collect()
    }

    /// How many values a bin about `x` would hold if the sample followed a normal law of its own
    /// mean and SD: n × width × density. `None` where the SD is unknown or 0.
    pub fn expected_count(&self, x: f64) -> Option<f64> {
        let sd = self.sd.filter(|&sd| sd > 0.0)?;
        let z = (x - self.mean) / sd;
        Some(self.n as f64 * self.width * (-0.5 * z * z).exp() / (sd * (2.0 * PI).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1000)).collect();
        for bins in [Bins::Automatic { most: 50 }, Bins::Count(7), Bins::Count(0)] {
            let histogram = Histogram::of(&values, bins).unwrap();
            assert_eq!(histogram.counts.iter().sum::<u64>(), 1000);
            assert!((histogram.edges().last().unwrap() - 999.0).abs() < 1e-9);
        }
        // IQR 499.5, width 2 × 499.5 / 10: ten bins.
        let histogram = Histogram::of(&values, Bins::Automatic { most: 50 }).unwrap();
        assert_eq!(histogram.counts, vec![100; 10]);
        assert_eq!(Histogram::of(&values, Bins::Automatic { most: 4 }).unwrap().counts.len(), 4);
    }

    #[test]
    fn a_bin_holds_its_lower_edge() {
        let histogram = Histogram::of(&[0.0, 1.0, 1.0, 2.0, 3.0, 4.0], Bins::Count(4)).unwrap();
        assert_eq!(histogram.counts, vec![1, 2, 1, 2]);
    }

    #[test]
    fn the_curve_encloses_as_many_values_as_there_are() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 20)).collect();
        let mut histogram = Histogram::of(&values, Bins::Count(10)).unwrap();
        // Over ±10 SD nearly all of the curve lies inside; its sum over bins is n.
        histogram.low = histogram.mean - 60.0;
        histogram.counts = vec![0; (120.0 / histogram.width) as usize];
        let centres = histogram.edges().into_iter().map(|edge| edge + 0.5 * histogram.width);
        let sum: f64 = centres.filter_map(|x| histogram.expected_count(x)).sum();
        assert!((sum - 200.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn few_or_equal_values_are_no_trouble() {
        assert_eq!(Histogram::of(&[], Bins::Count(3)), None);
        assert_eq!(Histogram::of(&[1.0, f64::NAN], Bins::Count(3)), None);
        let equal = Histogram::of(&[1e17; 5], Bins::Automatic { most: 30 }).unwrap();
        assert_eq!(equal.counts, vec![5]);
        assert!(equal.low < 1e17 && equal.edges()[1] > 1e17);
        assert!(equal.expected_count(1e17).is_none());
        // Half the values equal: Sturges.
        let mut values = vec![5.0; 14];
        values.extend([1.0, 9.0]);
        let histogram = Histogram::of(&values, Bins::Automatic { most: 30 }).unwrap();
        assert_eq!(histogram.counts.len(), 5);
    }
}
