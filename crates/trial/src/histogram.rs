//! Latencies counted in buckets whose width grows with the value.
//!
//! Every power of two from 512 ns up is divided into 512 equal buckets; below 512 ns a bucket is one
//! nanosecond. A value read back is the middle of its bucket, so it is off by at most half a bucket:
//! 1/1024 = 0.098 % from 512 ns to 9.7 h, and half a nanosecond below. This is the layout of
//! HdrHistogram; it is implemented here in thirty lines because recording is the inner loop of the tool
//! (a leading-zero count, a shift and an increment) and because merging and storing need the bare counts.
//!
//! The possible error of a value is part of every interval of a percentile
//! ([`Histogram::half_bucket`]): repeated trials do not average it out if all of them fall into one
//! bucket. Interpolating by rank within a bucket would hide it, not remove it: latencies cluster around
//! a few values.
//!
//! Memory is allocated from the first octave in use to the last. Histograms of several disks, threads or
//! trials are merged by adding counts. A percentile is always read from merged counts and never averaged.

use serde::{Deserialize, Serialize};

/// Bits of a value, after its leading one, that select the bucket.
const SUB_BITS: u32 = 9;
/// The same in results from before the buckets were as fine.
const EARLIER_SUB_BITS: u32 = 6;
/// Buckets per octave.
pub(crate) const SUB_BUCKETS: usize = 1 << SUB_BITS;
/// Values of 2^45 ns (9.7 h) and more share the last bucket; their exact maximum is stored separately. An I/O does not take
/// so long, but a desktop or a message may.
const TOP_BIT: u32 = 45;
/// Number of buckets.
pub const BUCKETS: usize = buckets_of(SUB_BITS);

/// Counts of latencies in nanoseconds.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Histogram {
    /// By bucket, starting at `first`.
    counts: Vec<u64>,
    /// The bucket of the first count.
    first: usize,
    /// The resolution of the coarsest buckets that counts came from.
    sub_bits: u32,
}

/// The stored form: `[bucket, count]` of the non-empty buckets, and the number of bits that select them.
#[derive(Serialize, Deserialize)]
struct Stored {
    sub_bits: u32,
    counts: Vec<(u32, u64)>,
}

/// A non-empty bucket, as results files store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyBucket {
    /// Its number at its resolution.
    pub number: u32,
    /// Its lowest value, in nanoseconds.
    pub low_ns: u64,
    /// The lowest value of the next bucket.
    pub high_ns: u64,
    /// Values in it.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: Vec::new(), first: 0, sub_bits: SUB_BITS }
    }
}

impl PartialEq for Histogram {
    /// Whether they contain the same counts, whatever memory they have allocated.
    fn eq(&self, other: &Self) -> bool {
        self.sub_bits == other.sub_bits && self.buckets_in_use().eq(other.buckets_in_use())
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Histogram({} values)", self.count())
    }
}

impl From<Histogram> for Stored {
    fn from(histogram: Histogram) -> Self {
        let counts = histogram.buckets_in_use().map(|(index, count)| (index as u32, count));
        Stored { sub_bits: histogram.sub_bits, counts: counts.collect() }
    }
}

impl From<Stored> for Histogram {
    fn from(stored: Stored) -> Self {
        let mut histogram = Histogram::default();
        for (index, count) in stored.counts {
            // A text from elsewhere may contain any index: what is out of range counts as the
            // slowest.
            histogram.add((index as usize).min(BUCKETS - 1), count);
        }
        histogram.sub_bits = stored.sub_bits.min(SUB_BITS);
        histogram
    }
}

impl Histogram {
    /// The largest relative difference between a recorded value and the value read back (from 512
    /// ns to 9.7 h).
    pub const RELATIVE_ERROR: f64 = 1.0 / (2 * SUB_BUCKETS) as f64;

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        let bucket = bucket_of(value_ns);
        // A bucket below the first wraps to far beyond the last: one comparison detects both.
        let Some(count) = self.counts.get_mut(bucket.wrapping_sub(self.first)) else {
            return self.add(bucket, 1);
        };
        *count += 1;
    }

    /// From counts by bucket, starting with the first bucket.
    pub fn of_counts(counts: &[u64]) -> Self {
        let mut histogram = Self::default();
        let in_use = |&count: &u64| count > 0;
        if let (Some(first), Some(last)) =
            (counts.iter().position(in_use), counts.iter().rposition(in_use))
        {
            histogram.make_room(first, last + 1);
            let own = &mut histogram.counts[first - histogram.first..];
            own[..=last - first].copy_from_slice(&counts[first..=last]);
        }
        histogram
    }

    /// Adds a count to a bucket, allocating its octave.
    #[cold]
    #[inline(never)]
    fn add(&mut self, bucket: usize, count: u64) {
        self.make_room(bucket, bucket + 1);
        self.counts[bucket - self.first] += count;
    }

    /// Allocates the octaves of the buckets from `low` to `high` (exclusive).
    fn make_room(&mut self, low: usize, high: usize) {
        let first = low / SUB_BUCKETS * SUB_BUCKETS;
        let end = high.next_multiple_of(SUB_BUCKETS);
        if self.counts.is_empty() {
            (self.counts, self.first) = (vec![0; end - first], first);
            return;
        }
        let (own_first, own_end) = (self.first, self.first + self.counts.len());
        if first < own_first || end > own_end {
            let (first, end) = (first.min(own_first), end.max(own_end));
            let mut counts = vec![0; end - first];
            counts[own_first - first..][..self.counts.len()].copy_from_slice(&self.counts);
            (self.counts, self.first) = (counts, first);
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if !other.counts.is_empty() {
            self.make_room(other.first, other.first + other.counts.len());
            let mine = &mut self.counts[other.first - self.first..];
            for (mine, theirs) in mine.iter_mut().zip(&other.counts) {
                *mine += theirs;
            }
        }
        self.sub_bits = self.sub_bits.min(other.sub_bits);
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The value below which `fraction` (0 to 1) of the values are, in nanoseconds, as the middle
    /// of its bucket: the first bucket whose cumulative count reaches `fraction` of the total (the
    /// nearest-rank definition). `None` if nothing was recorded.
    pub fn percentile_ns(&self, fraction: f64) -> Option<f64> {
        percentile(self.buckets_in_use(), self.count(), fraction).map(middle_ns)
    }

    /// The possible relative error, in either direction, of a percentile that was read as `value_ns`: half
    /// of its bucket. In results from before the buckets were as fine it is 0.78 %.
    pub fn half_bucket(&self, value_ns: f64) -> f64 {
        if value_ns <= 0.0 {
            return 0.0;
        }
        let (low_ns, width_ns) = bounds(bucket_in(value_ns as u64, self.sub_bits), self.sub_bits);
        // Latencies are counted in whole nanoseconds.
        width_ns as f64 / (2.0 * value_ns.max(low_ns as f64))
    }

    /// The non-empty buckets, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = LatencyBucket> + '_ {
        self.buckets_in_use().map(|(index, count)| {
            let (low_ns, width_ns) = bounds(index, SUB_BITS);
            LatencyBucket { number: index as u32, low_ns, high_ns: low_ns + width_ns, count }
        })
    }

    /// Rebuilds a histogram from its buckets; those of earlier versions are recognized by their bounds,
    /// and their counts go to their middle. `None` if a bucket has bounds that no version used.
    pub fn of_buckets(buckets: &[LatencyBucket]) -> Option<Self> {
        let is_of = |sub_bits: u32| {
            move |bucket: &LatencyBucket| {
                let number = bucket.number as usize;
                number < buckets_of(sub_bits) && {
                    let (low_ns, width_ns) = bounds(number, sub_bits);
                    (low_ns, low_ns + width_ns) == (bucket.low_ns, bucket.high_ns)
                }
            }
        };
        let mut histogram = Self::default();
        let mut kinds = [SUB_BITS, EARLIER_SUB_BITS].into_iter();
        histogram.sub_bits = kinds.find(|&sub_bits| buckets.iter().all(is_of(sub_bits)))?;
        for bucket in buckets {
            let middle_ns = bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2;
            histogram.add(bucket_of(middle_ns), bucket.count);
        }
        Some(histogram)
    }

    /// The mean of the recorded values in nanoseconds, from the middles of the buckets.
    pub fn mean_ns(&self) -> Option<f64> {
        let total = self.count();
        let sum: f64 = self.buckets_in_use().map(|(i, count)| middle_ns(i) * count as f64).sum();
        (total > 0).then(|| sum / total as f64)
    }

    fn buckets_in_use(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let counts = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counts.map(|(place, &count)| (self.first + place, count))
    }
}

/// The bucket that contains the value at `fraction` (0 to 1) of `total` values; of buckets with their
/// counts, in ascending order.
pub fn percentile(
    buckets: impl Iterator<Item = (usize, u64)>,
    total: u64,
    fraction: f64,
) -> Option<usize> {
    if total == 0 {
        return None;
    }
    let rank = ((fraction * total as f64).ceil() as u64).clamp(1, total);
    let mut seen = 0;
    for (index, count) in buckets {
        seen += count;
        if seen >= rank {
            return Some(index);
        }
    }
    None
}

/// The number of a value's bucket.
#[inline(always)]
pub fn bucket_of(value_ns: u64) -> usize {
    bucket_in(value_ns, SUB_BITS)
}

#[inline(always)]
fn bucket_in(value_ns: u64, sub_bits: u32) -> usize {
    let value = value_ns.min((1 << TOP_BIT) - 1);
    // Setting the bits of the lowest octave gives small values a shift of zero.
    let exponent = (value | ((2 << sub_bits) - 1)).ilog2();
    let shift = exponent - sub_bits;
    // The leading one, left in place, adds the buckets below the first octave.
    ((shift as usize) << sub_bits) + (value >> shift) as usize
}

const fn buckets_of(sub_bits: u32) -> usize {
    ((TOP_BIT - sub_bits + 1) as usize) << sub_bits
}

/// Lower bound and width of a bucket.
fn bounds(index: usize, sub_bits: u32) -> (u64, u64) {
    let buckets = 1usize << sub_bits;
    if index < buckets {
        return (index as u64, 1);
    }
    let shift = index / buckets - 1;
    let low = ((buckets + index % buckets) as u64) << shift;
    (low, 1 << shift)
}

/// The lowest value of a bucket.
pub(crate) fn low_ns(index: usize) -> u64 {
    bounds(index, SUB_BITS).0
}

fn middle_ns(index: usize) -> f64 {
    middle_of(index, 1)
}

/// The middle of `buckets` neighbouring buckets of one octave, in nanoseconds.
pub fn middle_of(first: usize, buckets: usize) -> f64 {
    let (low, width) = bounds(first, SUB_BITS);
    // A bucket of one nanosecond contains exactly that value.
    low as f64 + (width * buckets as u64 - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_error_holds_from_a_microsecond_to_nine_hours() {
        let mut value = 1_000u64;
        while value < 9 * 3600 * 1_000_000_000 {
            let mut histogram = Histogram::default();
            histogram.record(value);
            let back = histogram.percentile_ns(0.5).unwrap();
            let error = (back - value as f64).abs() / value as f64;
            assert!(error <= Histogram::RELATIVE_ERROR, "{value} came back as {back}");
            value += value / 97 + 1;
        }
        const { assert!(Histogram::RELATIVE_ERROR <= 0.001) };
    }

    #[test]
    fn buckets_follow_one_another_without_gap() {
        let mut next = 0;
        for index in 0..BUCKETS {
            let (low, width) = bounds(index, SUB_BITS);
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
        assert!(histogram.percentile_ns(1.0).unwrap() > 9.7 * 3600e9);
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
    fn the_stored_forms_read_back_and_strange_buckets_are_survived_or_refused() {
        let mut histogram = Histogram::default();
        for value in [3, 900, 70_000, 70_020, 5_000_000_000] {
            histogram.record(value);
        }
        assert_eq!(Histogram::from(Stored::from(histogram.clone())), histogram);
        let strange = Stored { sub_bits: SUB_BITS, counts: vec![(u32::MAX, 7)] };
        assert_eq!(Histogram::from(strange).count(), 7);
        let mut buckets: Vec<LatencyBucket> = histogram.buckets().collect();
        assert_eq!(Histogram::of_buckets(&buckets), Some(histogram));
        buckets[2].high_ns += 1;
        assert_eq!(Histogram::of_buckets(&buckets), None);
        assert_eq!(Histogram::of_buckets(&[]), Some(Histogram::default()));
    }

    #[test]
    fn buckets_of_earlier_files_keep_their_values_and_their_error() {
        let value_ns = 123_456;
        let number = bucket_in(value_ns, EARLIER_SUB_BITS);
        let (low_ns, width_ns) = bounds(number, EARLIER_SUB_BITS);
        let bucket =
            LatencyBucket { number: number as u32, low_ns, high_ns: low_ns + width_ns, count: 9 };
        let mut histogram = Histogram::of_buckets(&[bucket]).unwrap();
        let read_ns = histogram.percentile_ns(0.5).unwrap();
        let off = (read_ns / value_ns as f64 - 1.0).abs();
        assert!(off < histogram.half_bucket(read_ns), "{read_ns}");
        assert!(histogram.half_bucket(read_ns) > 0.0039);
        // Merging with others does not improve its resolution, and it is read back accordingly.
        histogram.merge(&Histogram::default());
        let back = Histogram::from(Stored::from(histogram.clone()));
        assert_eq!(back.half_bucket(read_ns), histogram.half_bucket(read_ns));
    }

    #[test]
    fn a_percentile_is_off_by_half_its_bucket_at_most() {
        let mut value = 1u64;
        while value < 100_000_000_000 {
            let mut histogram = Histogram::default();
            histogram.record(value);
            let back = histogram.percentile_ns(0.5).unwrap();
            let half = histogram.half_bucket(back);
            assert!((value as f64 / back - 1.0).abs() <= half, "{value} came back as {back}");
            assert!(half > 0.0 && (value < 512 || half <= 1.001 * Histogram::RELATIVE_ERROR));
            value += value / 97 + 1;
        }
    }

    #[test]
    fn memory_is_taken_for_octaves_in_use_only() {
        let mut histogram = Histogram::default();
        (4096..8192).for_each(|value| histogram.record(value));
        assert_eq!(histogram.counts.len(), SUB_BUCKETS);
        histogram.record(1024);
        assert_eq!(histogram.counts.len(), 3 * SUB_BUCKETS);
    }
}
