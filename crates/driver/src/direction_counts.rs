//! The fine-grained histograms of a running trial: latencies of all disks of a thread, by direction.
//!
//! One table with an entry for every bucket of both directions, so that counting is an address and an increment: it
//! is done for every I/O, and instructions per I/O are guaranteed. Memory use is that of the pages in use; when
//! the trial is over, a [`Histogram`] takes over the counts.

use crate::direction::Direction;

use stormeter_trial::histogram::BUCKETS;
use stormeter_trial::{BAND_BUCKETS, BANDS, Histogram};

/// Entries per direction: a power of two, so that no index needs a check.
const PLACES: usize = BUCKETS.next_power_of_two();
const DIRECTIONS: usize = 2;

/// Counts of both directions, by bucket.
#[derive(Debug)]
pub(crate) struct DirectionCounts(Box<[u64; DIRECTIONS * PLACES]>);

impl DirectionCounts {
    pub(crate) fn new() -> Self {
        let counts = vec![0; DIRECTIONS * PLACES].into_boxed_slice();
        match counts.try_into() {
            Ok(counts) => Self(counts),
            Err(_) => unreachable!("it was made with that length"),
        }
    }

    /// Counts one value in this bucket of a histogram.
    #[inline(always)]
    pub(crate) fn record(&mut self, direction: Direction, bucket: usize) {
        self.0[((direction as usize * PLACES) | bucket) % (DIRECTIONS * PLACES)] += 1;
    }

    /// The counts of both directions by band, up to this bucket.
    pub(crate) fn bands(&self, last: usize) -> [u64; BANDS] {
        let mut bands = [0; BANDS];
        for direction in 0..DIRECTIONS {
            let counts = &self.0[direction * PLACES..][..=last.min(BUCKETS - 1)];
            for (band, counts) in bands.iter_mut().zip(counts.chunks(BAND_BUCKETS)) {
                *band += counts.iter().sum::<u64>();
            }
        }
        bands
    }

    /// The counts, by direction.
    pub(crate) fn finish(self) -> [Histogram; DIRECTIONS] {
        let of = |direction: usize| Histogram::of_counts(&self.0[direction * PLACES..][..BUCKETS]);
        [of(0), of(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_trial::histogram::bucket_of;

    #[test]
    fn it_counts_what_histograms_count() {
        let (mut counts, mut expected) =
            (DirectionCounts::new(), [(); DIRECTIONS].map(|()| Histogram::default()));
        for value in
            (0..64).flat_map(|shift| [1u64 << shift, (3u64 << shift) + 1, u64::MAX >> shift])
        {
            for direction in [Direction::Read, Direction::Write, Direction::Write] {
                counts.record(direction, bucket_of(value));
                expected[direction as usize].record(value);
            }
        }
        assert_eq!(counts.finish(), expected);
    }
}
