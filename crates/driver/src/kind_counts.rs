//! The fine-grained histograms of a running trial: latencies of all disks of a thread, by kind.
//!
//! One table with an entry for every bucket of both kinds, so that counting is an address and an increment: it
//! is done for every I/O, and instructions per I/O are guaranteed. Memory use is that of the pages in use; when
//! the trial is over, a [`Histogram`] takes over the counts.

use stormeter_disk::Kind;

use stormeter_trial::Histogram;
use stormeter_trial::histogram::BUCKETS;

/// Entries per kind: a power of two, so that no index needs a check.
const PLACES: usize = BUCKETS.next_power_of_two();
const KINDS: usize = 2;

/// Counts of both kinds, by bucket.
#[derive(Debug)]
pub(crate) struct KindCounts(Box<[u64; KINDS * PLACES]>);

impl KindCounts {
    pub(crate) fn new() -> Self {
        let counts = vec![0; KINDS * PLACES].into_boxed_slice();
        match counts.try_into() {
            Ok(counts) => Self(counts),
            Err(_) => unreachable!("it was made with that length"),
        }
    }

    /// Counts one value in this bucket of a histogram.
    #[inline(always)]
    pub(crate) fn record(&mut self, kind: Kind, bucket: usize) {
        self.0[((kind as usize * PLACES) | bucket) % (KINDS * PLACES)] += 1;
    }

    /// The counts, by kind.
    pub(crate) fn finish(self) -> [Histogram; KINDS] {
        let of = |kind: usize| Histogram::of_counts(&self.0[kind * PLACES..][..BUCKETS]);
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
            (KindCounts::new(), [(); KINDS].map(|()| Histogram::default()));
        for value in
            (0..64).flat_map(|shift| [1u64 << shift, (3u64 << shift) + 1, u64::MAX >> shift])
        {
            for kind in [Kind::Read, Kind::Write, Kind::Write] {
                counts.record(kind, bucket_of(value));
                expected[kind as usize].record(value);
            }
        }
        assert_eq!(counts.finish(), expected);
    }
}
