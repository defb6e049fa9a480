//! Latencies of a moment, counted in bands of a quarter of an octave: as fine as an eye tells shades apart, and small
//! enough to be passed on while a trial runs. Results are never computed from them.

use serde::{Deserialize, Serialize};

use crate::histogram::{BUCKETS, Histogram, SUB_BUCKETS, bucket_of, low_ns};

/// Bands per octave.
const PER_OCTAVE: usize = 4;
/// Buckets of a histogram per band.
pub const BAND_BUCKETS: usize = SUB_BUCKETS / PER_OCTAVE;
/// Number of bands.
pub const BANDS: usize = BUCKETS / BAND_BUCKETS;

/// Counts of latencies by band.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyBands {
    first: usize,
    counts: Vec<u64>,
}

impl LatencyBands {
    /// From counts by band, starting with band 0.
    pub fn of_counts(counts: &[u64; BANDS]) -> Self {
        let in_use = |count: &u64| *count > 0;
        let first = counts.iter().position(in_use).unwrap_or(0);
        let end = counts.iter().rposition(in_use).map_or(first, |last| last + 1);
        Self { first, counts: counts[first..end].to_vec() }
    }

    /// What a histogram contains.
    pub fn of_histogram(histogram: &Histogram) -> Self {
        let mut counts = [0; BANDS];
        for bucket in histogram.buckets() {
            counts[bucket_of(bucket.low_ns) / BAND_BUCKETS] += bucket.count;
        }
        Self::of_counts(&counts)
    }

    /// Adds the counts of others. Those of a text from elsewhere may be of any band: what is out of range counts as the
    /// slowest.
    pub fn merge(&mut self, other: &LatencyBands) {
        if other.counts.is_empty() {
            return;
        }
        let mut counts = [0u64; BANDS];
        for (band, count) in self.iter().chain(other.iter()) {
            let count_here = &mut counts[band.min(BANDS - 1)];
            *count_here = count_here.saturating_add(count);
        }
        *self = Self::of_counts(&counts);
    }

    /// The bands from the first to the last that is in use: number and count.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let counts = self.counts.iter().copied().enumerate();
        counts.map(|(index, count)| (self.first.saturating_add(index), count))
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// The lowest latency of a band, in nanoseconds.
pub fn band_low_ns(band: usize) -> u64 {
    low_ns(band * BAND_BUCKETS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_a_quarter_of_an_octave() {
        let band = |ns: u64| {
            let mut histogram = Histogram::default();
            histogram.record(ns);
            let bands = LatencyBands::of_histogram(&histogram);
            let found: Vec<(usize, u64)> = bands.iter().collect();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].1, 1);
            found[0].0
        };
        assert_eq!(band(1024), band(1279));
        assert_eq!(band(1280), band(1024) + 1);
        assert_eq!(band(2048), band(1024) + 4);
        assert_eq!(band(u64::MAX), BANDS - 1);
        for ns in [1024, 1280, 1 << 20, 3 << 30] {
            assert_eq!(band_low_ns(band(ns)), ns);
        }
    }

    #[test]
    fn what_is_merged_is_the_sum() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.record(*value));
            LatencyBands::of_histogram(&histogram)
        };
        let mut both = of(&[100, 5000, 5000]);
        both.merge(&of(&[5000, 1 << 40]));
        assert_eq!(both, of(&[100, 5000, 5000, 5000, 1 << 40]));
        let mut none = LatencyBands::default();
        none.merge(&of(&[7]));
        none.merge(&LatencyBands::default());
        assert_eq!(none, of(&[7]));
        // As a damaged message may have it.
        both.merge(&LatencyBands { first: usize::MAX - 1, counts: vec![u64::MAX] });
        assert_eq!(both.iter().last(), Some((BANDS - 1, u64::MAX)));
    }
}
