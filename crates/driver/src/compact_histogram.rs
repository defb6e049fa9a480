//! A histogram that takes memory only for the latencies that there were.
//!
//! It has the buckets of [`Histogram`], in pieces of one octave each that exist from the first value
//! on, with counts of 16 bits; what overflows goes to a full histogram. A disk's latencies lie within
//! a few octaves, so a hundred thousand simulated disks take a hundred megabytes and not three
//! gigabytes, and a thousand real ones stay in the cache. Counting costs what it costs there.

use crate::histogram::{Histogram, OCTAVES, SUB_BUCKETS, place_of};

/// Counts of one octave.
type Octave = [u16; SUB_BUCKETS];

/// Counts of latencies in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct CompactHistogram {
    octaves: [Option<Box<Octave>>; OCTAVES],
    /// What does not fit into 16 bits: multiples of 65 536.
    overflow: Option<Box<Histogram>>,
}

impl CompactHistogram {
    /// Counts one value.
    #[inline]
    pub(crate) fn record(&mut self, value_ns: u64) {
        let (octave, place) = place_of(value_ns);
        // Both are always in range; masking spares the panic path and costs what a check would.
        let Some(counts) = &mut self.octaves[octave % OCTAVES] else {
            return self.first_of_octave(octave, place);
        };
        let count = &mut counts[place % SUB_BUCKETS];
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.overflowed(octave, place);
        }
    }

    #[cold]
    #[inline(never)]
    fn first_of_octave(&mut self, octave: usize, place: usize) {
        let mut counts = Box::new([0; SUB_BUCKETS]);
        counts[place] = 1;
        self.octaves[octave] = Some(counts);
    }

    #[cold]
    #[inline(never)]
    fn overflowed(&mut self, octave: usize, place: usize) {
        self.overflow.get_or_insert_default().add(octave, place, 1 << u16::BITS);
    }

    /// Adds the counts to a histogram.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        for (octave, counts) in self.octaves.iter().enumerate() {
            for (place, &count) in counts.iter().flat_map(|counts| counts.iter()).enumerate() {
                histogram.add(octave, place, u64::from(count));
            }
        }
        if let Some(overflow) = &self.overflow {
            histogram.merge(overflow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_what_a_full_histogram_counts() {
        let (mut compact, mut full) = (CompactHistogram::default(), Histogram::default());
        let mut value = 0u64;
        while value < 1 << 40 {
            compact.record(value);
            full.record(value);
            value += value / 50 + 1;
        }
        compact.record(u64::MAX);
        full.record(u64::MAX);
        let mut back = Histogram::default();
        compact.add_to(&mut back);
        assert_eq!(back, full);
    }

    #[test]
    fn no_count_is_lost_when_sixteen_bits_are_full() {
        let mut compact = CompactHistogram::default();
        for count in 0..200_000u64 {
            compact.record(if count % 4 == 0 { 70_000 } else { 900 });
        }
        let mut back = Histogram::default();
        compact.add_to(&mut back);
        let counts: Vec<u64> = back.buckets().map(|(_, _, count)| count).collect();
        assert_eq!(counts, [150_000, 50_000]);
    }

    #[test]
    fn memory_is_taken_for_octaves_in_use_only() {
        let mut compact = CompactHistogram::default();
        for value in 4096..8192 {
            compact.record(value);
        }
        assert_eq!(compact.octaves.iter().flatten().count(), 1);
        assert!(compact.overflow.is_none());
    }
}
