//! Latencies counted in buckets whose width grows with the value.
//!
//! Every power of two from 64 ns up is cut into 64 equal buckets; below 64 ns a bucket is one
//! nanosecond. A value read back is the middle of its bucket, so it is off by at most half a
//! bucket: 1/128 = 0.79 % from 64 ns to 137 s. That is the layout idea of HdrHistogram; it is done here in thirty lines because recording is
//! the inner loop of the tool (a leading-zero count, a shift and an increment) and because merging
//! and storing want the bare counts.
//!
//! Histograms of several disks, threads or trials are merged by adding counts. A percentile is
//! always read from merged counts and never averaged.

use serde::{Deserialize, Serialize};

const SUB_BITS: u32 = 6;
/// Buckets of an octave.
pub(crate) const SUB_BUCKETS: usize = 1 << SUB_BITS;
/// Values of 2^37 ns (137 s) and more share the last bucket; their exact maximum is kept beside.
const TOP_BIT: u32 = 37;
const BUCKETS: usize = (TOP_BIT - SUB_BITS + 1) as usize * SUB_BUCKETS;

/// Counts of latencies in nanoseconds.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Sparse", into = "Sparse")]
pub struct Histogram {
    counts: Vec<u64>,
}

/// The stored form: `[bucket, count]` of the buckets that hold something.
#[derive(Serialize, Deserialize)]
struct Sparse(Vec<(u32, u64)>);

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS] }
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Histogram({} values)", self.count())
    }
}

impl From<Histogram> for Sparse {
    fn from(histogram: Histogram) -> Self {
        Sparse(histogram.buckets_in_use().map(|(index, count)| (index as u32, count)).collect())
    }
}

impl From<Sparse> for Histogram {
    fn from(sparse: Sparse) -> Self {
        let mut histogram = Histogram::default();
        for (index, count) in sparse.0 {
            // A file from elsewhere may hold any index: what lies beyond counts as the slowest.
            histogram.counts[(index as usize).min(BUCKETS - 1)] += count;
        }
        histogram
    }
}

impl Histogram {
    /// A value read back differs from the value recorded by at most this share of it
    /// (from 64 ns to 137 s).
    pub const RELATIVE_ERROR: f64 = 1.0 / (2 * SUB_BUCKETS) as f64;

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        // The index is always below BUCKETS; `get_mut` spares the panic path, not a check.
        if let Some(count) = self.counts.get_mut(bucket_of(value_ns)) {
            *count += 1;
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Adds a count to a bucket, as [`bucket_of`] numbers them.
    pub(crate) fn add(&mut self, bucket: usize, count: u64) {
        self.counts[bucket] += count;
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The value below which `fraction` (0 to 1) of the values lie, in nanoseconds, as the middle
    /// of its bucket: the smallest bucket whose cumulative count reaches `fraction` of all (the
    /// nearest-rank definition). `None` when nothing was recorded.
    pub fn percentile_ns(&self, fraction: f64) -> Option<f64> {
        let total = self.count();
        if total == 0 {
            return None;
        }
        let rank = ((fraction * total as f64).ceil() as u64).clamp(1, total);
        let mut seen = 0;
        for (index, count) in self.buckets_in_use() {
            seen += count;
            if seen >= rank {
                return Some(middle_ns(index));
            }
        }
        None
    }

    /// The buckets that hold something: `(lower bound ns, upper bound ns, count)`, upwards.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.buckets_in_use().map(|(index, count)| {
            let (low, width) = bounds(index);
            (low, low + width, count)
        })
    }

    /// The mean of the recorded values as the buckets know it, in nanoseconds.
    pub fn mean_ns(&self) -> Option<f64> {
        let total = self.count();
        let sum: f64 = self.buckets_in_use().map(|(i, count)| middle_ns(i) * count as f64).sum();
        (total > 0).then(|| sum / total as f64)
    }

    fn buckets_in_use(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|&(_, count)| count > 0)
    }
}

/// The number of a value's bucket.
#[inline]
pub(crate) fn bucket_of(value_ns: u64) -> usize {
    let value = value_ns.min((1 << TOP_BIT) - 1);
    // Setting the bits of the lowest octave gives the small values its shift, which is zero.
    let exponent = (value | (2 * SUB_BUCKETS as u64 - 1)).ilog2();
    let shift = exponent - SUB_BITS;
    // The leading one, left where it is, adds the buckets below the first octave.
    shift as usize * SUB_BUCKETS + (value >> shift) as usize
}

/// Lower bound and width of a bucket.
fn bounds(index: usize) -> (u64, u64) {
    if index < SUB_BUCKETS {
        return (index as u64, 1);
    }
    let shift = index / SUB_BUCKETS - 1;
    let low = ((SUB_BUCKETS + index % SUB_BUCKETS) as u64) << shift;
    (low, 1 << shift)
}

fn middle_ns(index: usize) -> f64 {
    let (low, width) = bounds(index);
    // A bucket of one nanosecond holds exactly that value.
    low as f64 + (width - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_error_holds_from_a_microsecond_to_a_hundred_seconds() {
        let mut value = 1_000u64;
        while value < 100_000_000_000 {
            let mut histogram = Histogram::default();
            histogram.record(value);
            let back = histogram.percentile_ns(0.5).unwrap();
            let error = (back - value as f64).abs() / value as f64;
            assert!(error <= Histogram::RELATIVE_ERROR, "{value} came back as {back}");
            value += value / 97 + 1;
        }
        const { assert!(Histogram::RELATIVE_ERROR <= 0.01) };
    }

    #[test]
    fn buckets_follow_one_another_without_gap() {
        let mut next = 0;
        for index in 0..BUCKETS {
            let (low, width) = bounds(index);
            assert_eq!(low, next, "bucket {index}");
            assert_eq!(bucket_of(low), index);
            assert_eq!(bucket_of(low + width - 1), index);
            next = low + width;
        }
        assert_eq!(next, 1 << TOP_BIT);
    }

    #[test]
    fn values_beyond_the_top_are_counted_as_the_slowest() {
        let mut histogram = Histogram::default();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.percentile_ns(1.0).unwrap() > 130e9);
    }

    #[test]
    fn percentiles_are_nearest_rank() {
        let mut histogram = Histogram::default();
        for value in 1..=50 {
            histogram.record(value);
        }
        assert_eq!(histogram.percentile_ns(0.5), Some(25.0));
        assert_eq!(histogram.percentile_ns(0.98), Some(49.0));
        assert_eq!(histogram.percentile_ns(1.0), Some(50.0));
        assert_eq!(histogram.percentile_ns(0.0), Some(1.0));
        assert_eq!(Histogram::default().percentile_ns(0.5), None);
    }

    #[test]
    fn merging_is_recording_all_in_one() {
        let (mut all, mut odd, mut even) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for value in 0..10_000u64 {
            let latency = value * value;
            all.record(latency);
            if value % 2 == 0 { even.record(latency) } else { odd.record(latency) }
        }
        odd.merge(&even);
        assert_eq!(odd, all);
    }

    #[test]
    fn the_stored_form_reads_back_and_survives_strange_buckets() {
        let mut histogram = Histogram::default();
        for value in [3, 900, 70_000, 5_000_000_000] {
            histogram.record(value);
        }
        let back = Histogram::from(Sparse::from(histogram.clone()));
        assert_eq!(back, histogram);
        assert_eq!(Histogram::from(Sparse(vec![(u32::MAX, 7)])).count(), 7);
    }
}
