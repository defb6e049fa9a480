//! A histogram that takes memory only for the latencies that there were.
//!
//! It has the buckets of [`Histogram`], from the first octave that was needed to the last, with counts
//! of 16 bits; what overflows goes to a full histogram. A disk's latencies lie within a few octaves, so
//! a hundred thousand simulated disks take two hundred megabytes and not three gigabytes, and a
//! thousand real ones stay in the cache. Counting costs an instruction or two more than there.

use crate::histogram::{Histogram, SUB_BUCKETS, bucket_of};

/// Counts of latencies in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct CompactHistogram {
    /// By bucket, from `first` on.
    counts: Vec<u16>,
    /// The bucket of the first count.
    first: usize,
    /// What does not fit into 16 bits: multiples of 65 536.
    overflow: Option<Box<Histogram>>,
}

impl CompactHistogram {
    /// Counts one value.
    #[inline(always)]
    pub(crate) fn record(&mut self, value_ns: u64) {
        let bucket = bucket_of(value_ns);
        // A bucket below the first is far beyond the last: one comparison finds both.
        let Some(count) = self.counts.get_mut(bucket.wrapping_sub(self.first)) else {
            return self.widen(bucket);
        };
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.overflowed(bucket);
        }
    }

    /// Makes room for the octave of a bucket, and counts it.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, bucket: usize) {
        let octave = bucket / SUB_BUCKETS * SUB_BUCKETS;
        let (mut first, mut end) = (octave, octave + SUB_BUCKETS);
        if !self.counts.is_empty() {
            first = first.min(self.first);
            end = end.max(self.first + self.counts.len());
        }
        let mut counts = vec![0; end - first];
        if !self.counts.is_empty() {
            counts[self.first - first..][..self.counts.len()].copy_from_slice(&self.counts);
        }
        counts[bucket - first] = 1;
        (self.counts, self.first) = (counts, first);
    }

    #[cold]
    #[inline(never)]
    fn overflowed(&mut self, bucket: usize) {
        self.overflow.get_or_insert_default().add(bucket, 1 << u16::BITS);
    }

    /// Adds the counts to a histogram.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        for (place, &count) in self.counts.iter().enumerate() {
            histogram.add(self.first + place, u64::from(count));
        }
        if let Some(overflow) = &self.overflow {
            histogram.merge(overflow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it holds, as a full histogram.
    fn full(compact: &CompactHistogram) -> Histogram {
        let mut full = Histogram::default();
        compact.add_to(&mut full);
        full
    }

    #[test]
    fn it_counts_what_a_full_histogram_counts() {
        let (mut compact, mut expected) = (CompactHistogram::default(), Histogram::default());
        // From the middle to both ends, so that it grows on either side.
        let mut value = 1u64 << 20;
        while value > 0 {
            for value in [value, (1 << 40) / value, u64::MAX / value] {
                compact.record(value);
                expected.record(value);
            }
            value -= value / 50 + 1;
        }
        compact.record(0);
        expected.record(0);
        assert_eq!(full(&compact), expected);
    }

    #[test]
    fn no_count_is_lost_when_sixteen_bits_are_full() {
        let mut compact = CompactHistogram::default();
        for count in 0..200_000u64 {
            compact.record(if count % 4 == 0 { 70_000 } else { 900 });
        }
        let counts: Vec<u64> = full(&compact).buckets().map(|(_, _, count)| count).collect();
        assert_eq!(counts, [150_000, 50_000]);
    }

    #[test]
    fn memory_is_taken_for_octaves_in_use_only() {
        let mut compact = CompactHistogram::default();
        (4096..8192).for_each(|value| compact.record(value));
        assert_eq!(compact.counts.len(), SUB_BUCKETS);
        compact.record(1024);
        assert_eq!(compact.counts.len(), 3 * SUB_BUCKETS);
        assert!(compact.overflow.is_none());
    }
}
