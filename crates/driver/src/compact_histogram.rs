//! A disk's histogram, which uses memory only for the range of latencies that occurred.
//!
//! Each of its buckets covers eight neighbouring ones of [`Histogram`](stormeter_trial::Histogram), from the first
//! octave in use to the last, with 16-bit counts. A disk's latencies span a few octaves, so a hundred thousand
//! simulated disks take two hundred megabytes and not gigabytes, and a thousand real ones stay in the cache. That is
//! fine enough for what is shown about a single disk; comparisons use the histogram of all disks of the thread.

use stormeter_trial::histogram::{BUCKETS, middle_of, percentile};

/// Buckets of a full histogram per bucket here.
const GATHERED: usize = 8;
/// Number of buckets allocated at once: those of an octave.
const CHUNK: usize = 64;
/// Total number of buckets.
const COARSE: usize = BUCKETS / GATHERED;

/// Counts of latencies in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct CompactHistogram {
    /// By bucket, starting at `first`.
    counts: Vec<u16>,
    /// The bucket of the first count.
    first: usize,
    /// The part of counts that does not fit into 16 bits, by bucket: multiples of 65 536. Empty if
    /// there is none.
    overflow: Vec<u64>,
}

impl CompactHistogram {
    /// Counts one value in this bucket of a full histogram.
    #[inline(always)]
    pub(crate) fn record(&mut self, full_bucket: usize) {
        let bucket = full_bucket / GATHERED;
        // A bucket below the first wraps to far beyond the last: one comparison detects both.
        let Some(count) = self.counts.get_mut(bucket.wrapping_sub(self.first)) else {
            return self.widen(bucket);
        };
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.overflowed(bucket);
        }
    }

    /// Allocates the octave of a bucket, and counts the value.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, bucket: usize) {
        let octave = bucket / CHUNK * CHUNK;
        let (mut first, mut end) = (octave, octave + CHUNK);
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
        if self.overflow.is_empty() {
            self.overflow = vec![0; COARSE];
        }
        self.overflow[bucket] += 1 << u16::BITS;
    }

    /// Adds the counts to those of the whole disk.
    pub(crate) fn add_to(&self, disk: &mut DiskCounts) {
        for (place, &count) in self.counts.iter().enumerate() {
            disk.0[self.first + place] += u64::from(count);
        }
        for (sum, overflow) in disk.0.iter_mut().zip(&self.overflow) {
            *sum += overflow;
        }
    }
}

/// The counts of both kinds of a disk together, by bucket.
#[derive(Debug)]
pub(crate) struct DiskCounts(Vec<u64>);

impl DiskCounts {
    pub(crate) fn new() -> Self {
        Self(vec![0; COARSE])
    }

    /// Resets all counts.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Like [`Histogram::percentile_ns`](stormeter_trial::Histogram::percentile_ns); 0 if nothing was recorded.
    pub(crate) fn percentile_ns(&self, fraction: f64) -> f64 {
        let total = self.0.iter().sum();
        let buckets = self.0.iter().copied().enumerate().filter(|&(_, count)| count > 0);
        let bucket = percentile(buckets, total, fraction);
        bucket.map_or(0.0, |bucket| middle_of(bucket * GATHERED, GATHERED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_trial::Histogram;
    use stormeter_trial::histogram::bucket_of;

    fn counts(compact: &CompactHistogram) -> DiskCounts {
        let mut disk = DiskCounts::new();
        compact.add_to(&mut disk);
        disk
    }

    #[test]
    fn it_counts_what_a_full_histogram_counts() {
        let (mut compact, mut full) = (CompactHistogram::default(), Histogram::default());
        // From the middle towards both ends, so that it grows on either side.
        let mut value = 1u64 << 20;
        while value > 0 {
            for value in [value, (1 << 40) / value, u64::MAX / value] {
                compact.record(bucket_of(value));
                full.record(value);
            }
            value -= value / 50 + 1;
        }
        let mut expected = vec![0; COARSE];
        full.buckets().for_each(|it| expected[it.number as usize / GATHERED] += it.count);
        let disk = counts(&compact);
        assert_eq!(disk.0, expected);
        for fraction in [0.0, 0.5, 0.9, 0.99, 1.0] {
            let (coarse, fine) = (disk.percentile_ns(fraction), full.percentile_ns(fraction));
            // Half a bucket: 4 ns below a microsecond, else 1/128 of it.
            let fine = fine.unwrap();
            assert!((coarse - fine).abs() <= 4.0 + fine / 128.0, "{fraction}: {coarse} {fine}");
        }
        assert_eq!(DiskCounts::new().percentile_ns(0.5), 0.0);
    }

    #[test]
    fn no_count_is_lost_when_sixteen_bits_are_full() {
        let mut compact = CompactHistogram::default();
        for count in 0..200_000u64 {
            compact.record(bucket_of(if count % 4 == 0 { 70_000 } else { 900 }));
        }
        let counts = counts(&compact).0;
        let counts: Vec<u64> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(counts, [150_000, 50_000]);
    }

    #[test]
    fn memory_is_taken_for_octaves_in_use_only() {
        let mut compact = CompactHistogram::default();
        (4096..8192).for_each(|value| compact.record(bucket_of(value)));
        assert_eq!(compact.counts.len(), CHUNK);
        compact.record(bucket_of(1024));
        assert_eq!(compact.counts.len(), 3 * CHUNK);
        assert!(compact.overflow.is_empty());
    }
}
