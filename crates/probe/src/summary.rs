//! Descriptive statistics of times: number, mean, spread and order statistics.

use serde::{Deserialize, Serialize};

/// The statistics of a set of times, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of times.
    pub n: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Sample standard deviation (divided by n − 1); `None` for a single time.
    pub sd_ns: Option<f64>,
    /// The shortest time.
    pub min_ns: u64,
    /// The median; for an even number the mean of the middle two.
    pub median_ns: f64,
    /// The 99th percentile: the shortest time that at least 99 % do not exceed (nearest rank).
    pub p99_ns: u64,
    /// The longest time.
    pub max_ns: u64,
}

impl Summary {
    /// Computes them; `None` if there are no times.
    pub fn of(samples_ns: &[u64]) -> Option<Self> {
        let mut sorted = samples_ns.to_vec();
        sorted.sort_unstable();
        let n = sorted.len();
        let mean_ns = mean(sorted.iter().map(|&ns| ns as f64))?;
        let squares: f64 = sorted.iter().map(|&ns| (ns as f64 - mean_ns).powi(2)).sum();
        let rank = (n * 99).div_ceil(100);
        Some(Self {
            n: n as u64,
            mean_ns,
            sd_ns: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
            min_ns: *sorted.first()?,
            median_ns: f64::midpoint(*sorted.get((n - 1) / 2)? as f64, *sorted.get(n / 2)? as f64),
            p99_ns: *sorted.get(rank - 1)?,
            max_ns: *sorted.last()?,
        })
    }
}

/// Arithmetic mean; `None` of an empty sequence.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook sample 2 4 4 4 5 5 7 9: mean 5, sum of squares 32.
    #[test]
    fn of_a_known_sample() {
        let summary = Summary::of(&[9, 4, 2, 4, 5, 7, 5, 4]).unwrap();
        assert_eq!((summary.n, summary.mean_ns, summary.median_ns), (8, 5.0, 4.5));
        assert_eq!((summary.min_ns, summary.max_ns), (2, 9));
        assert!((summary.sd_ns.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_99th_percentile_is_a_time_that_was_measured() {
        let of = |n: u64| Summary::of(&(1..=n).rev().collect::<Vec<_>>()).unwrap().p99_ns;
        assert_eq!((of(1), of(2), of(99), of(100), of(101), of(1000)), (1, 2, 99, 99, 100, 990));
    }

    #[test]
    fn of_one_there_is_no_spread_and_of_none_nothing() {
        let one = Summary::of(&[7]).unwrap();
        assert_eq!((one.sd_ns, one.median_ns, one.p99_ns), (None, 7.0, 7));
        assert_eq!(Summary::of(&[]), None);
    }
}
