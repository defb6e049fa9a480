//! Chooses the next request.
//!
//! The pattern (thresholds and sizes computed once) is shared by all disks of a thread; each disk
//! has a cursor with its own random stream. So the k-th request of a disk is the same whatever the
//! other disks do and however fast the answers come: same seed, same operations.

use crate::direction::Direction;

use crate::random::{Random, below, unit};
use crate::zipf::{Scatter, Zipf};
use stormeter_trial::{Distribution, Start, Workload};

/// The part of a workload that all disks share.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// A 32-bit draw below this is a read; 2^32 means always.
    read_below: u64,
    random_below: u64,
    /// The one size of a workload that has no other and reaches all places equally: the usual case,
    /// which must cost as little as possible.
    plain: Option<Places>,
    sizes: Vec<SizeClass>,
    shares_total: f64,
    disk_bytes: u64,
    alignment_bytes: Option<u64>,
}

#[derive(Debug, Clone)]
struct SizeClass {
    places: Places,
    /// Shares of this and all earlier classes.
    share_until: f64,
    zipf: Option<(Zipf, Scatter)>,
}

/// The places for requests of one size.
#[derive(Debug, Clone, Copy)]
struct Places {
    /// The requests' size.
    bytes: u32,
    step_bytes: u64,
    count: u64,
}

/// The position of one disk in its sequence.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    random: Random,
    next_bytes: u64,
}

/// A request without its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) direction: Direction,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
}

impl Pattern {
    /// For a workload that has been checked against `disk_bytes`.
    pub(crate) fn new(workload: &Workload, disk_bytes: u64) -> Self {
        let threshold = |percent: f64| (percent / 100.0 * 2f64.powi(32)).round() as u64;
        let mut share_until = 0.0;
        let sizes = workload.sizes.iter().map(|size| {
            share_until += size.share;
            let step_bytes = workload.alignment_bytes.unwrap_or(u64::from(size.bytes));
            let count = (disk_bytes - u64::from(size.bytes)) / step_bytes + 1;
            let zipf = match workload.distribution {
                Distribution::Uniform => None,
                Distribution::Zipf { exponent } => {
                    Some((Zipf::new(count, exponent), Scatter::new(count)))
                }
            };
            SizeClass { places: Places { bytes: size.bytes, step_bytes, count }, share_until, zipf }
        });
        let sizes: Vec<_> = sizes.collect();
        let plain = match sizes.as_slice() {
            [SizeClass { places, zipf: None, .. }] => Some(*places),
            _ => None,
        };
        Self {
            read_below: threshold(workload.read_percent),
            random_below: threshold(workload.random_percent),
            plain,
            sizes,
            shares_total: share_until,
            disk_bytes,
            alignment_bytes: workload.alignment_bytes,
        }
    }

    /// The start of a disk's sequential stream. A multiple of the largest request, so that requests are
    /// aligned to the blocks below like those of a stream from the start of the disk.
    fn begin(&self, start: Start, disk: u32) -> u64 {
        let largest = self.sizes.iter().map(|size| u64::from(size.places.bytes)).max().unwrap_or(1);
        let step_bytes = largest.next_multiple_of(self.alignment_bytes.unwrap_or(1).max(1));
        let count = self.disk_bytes.saturating_sub(largest) / step_bytes + 1;
        start.place(disk, count) * step_bytes
    }

    /// The cursor of disk number `disk`, counted over all threads.
    pub(crate) fn cursor(&self, seed: u64, start: Start, disk: u32) -> Cursor {
        Cursor {
            random: Random::stream(seed, u64::from(disk)),
            next_bytes: self.begin(start, disk),
        }
    }

    /// The next request of the disk to which `cursor` belongs.
    #[inline]
    pub(crate) fn next(&self, cursor: &mut Cursor) -> Request {
        let word = cursor.random.next();
        let direction =
            if word & 0xffff_ffff < self.read_below { Direction::Read } else { Direction::Write };
        let is_random = word >> 32 < self.random_below;
        let (offset_bytes, length_bytes) = match &self.plain {
            Some(places) if is_random => {
                (below(cursor.random.next(), places.count) * places.step_bytes, places.bytes)
            }
            _ => self.mixed(cursor, is_random),
        };
        cursor.next_bytes = offset_bytes + u64::from(length_bytes);
        Request { direction, offset_bytes, length_bytes }
    }

    /// Offset and length in the general case.
    #[inline(never)]
    fn mixed(&self, cursor: &mut Cursor, is_random: bool) -> (u64, u32) {
        let class = match self.sizes.as_slice() {
            [only] => only,
            sizes => {
                let share = unit(cursor.random.next()) * self.shares_total;
                sizes.iter().find(|class| share < class.share_until).unwrap_or(&sizes[0])
            }
        };
        let Places { bytes, step_bytes, count } = class.places;
        if !is_random {
            return (self.following(cursor.next_bytes, bytes), bytes);
        }
        let place = match &class.zipf {
            None => below(cursor.random.next(), count),
            Some((zipf, scatter)) => scatter.place(zipf.rank(|| unit(cursor.random.next()))),
        };
        (place * step_bytes, bytes)
    }

    /// The place of a sequential request that follows one that ended at `next_bytes`.
    fn following(&self, next_bytes: u64, length_bytes: u32) -> u64 {
        let aligned = match self.alignment_bytes {
            Some(alignment) => next_bytes.next_multiple_of(alignment),
            None => next_bytes,
        };
        if aligned + u64::from(length_bytes) <= self.disk_bytes { aligned } else { 0 }
    }
}

impl Cursor {
    /// The last request was moved elsewhere and ended here; the next sequential one follows it.
    pub(crate) fn follow(&mut self, request: &Request) {
        self.next_bytes = request.offset_bytes + u64::from(request.length_bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use stormeter_trial::{Arrivals, SizeShare, touched_share};

    use super::*;

    const DISK: u64 = 1 << 20;

    fn workload() -> Workload {
        stormeter_testkit::workload(Arrivals::Closed { outstanding: 1 })
    }

    fn take(workload: &Workload, seed: u64, n: usize) -> Vec<Request> {
        let pattern = Pattern::new(workload, DISK);
        let mut cursor = pattern.cursor(seed, Start::default(), 0);
        (0..n).map(|_| pattern.next(&mut cursor)).collect()
    }

    #[test]
    fn same_seed_same_operations() {
        assert_eq!(take(&workload(), 1, 100), take(&workload(), 1, 100));
        assert_ne!(take(&workload(), 1, 100), take(&workload(), 2, 100));
    }

    #[test]
    fn shares_are_kept() {
        let mut mixed = workload();
        mixed.sizes =
            vec![SizeShare { bytes: 4096, share: 30.0 }, SizeShare { bytes: 16384, share: 70.0 }];
        mixed.random_percent = 40.0;
        let requests = take(&mixed, 3, 100_000);
        let share = |test: &dyn Fn(&Request) -> bool| {
            requests.iter().filter(|r| test(r)).count() as f64 / requests.len() as f64
        };
        // Five standard deviations of a share of 100 000 draws are below 0.8 %.
        assert!((share(&|r| r.direction == Direction::Read) - 0.75).abs() < 0.008);
        assert!((share(&|r| r.length_bytes == 4096) - 0.30).abs() < 0.008);
        let sequential = requests
            .windows(2)
            .filter(|w| w[1].offset_bytes == w[0].offset_bytes + u64::from(w[0].length_bytes))
            .count() as f64
            / requests.len() as f64;
        assert!((sequential - 0.60).abs() < 0.02, "{sequential}");
    }

    #[test]
    fn requests_stay_on_the_disk_and_on_their_alignment() {
        let mut odd = workload();
        odd.sizes.push(SizeShare { bytes: 65536, share: 1.0 });
        odd.random_percent = 50.0;
        for (alignment, step) in [(None, 4096), (Some(512), 512), (Some(8192), 8192)] {
            odd.alignment_bytes = alignment;
            for request in take(&odd, 9, 20_000) {
                assert!(request.offset_bytes + u64::from(request.length_bytes) <= DISK);
                assert_eq!(request.offset_bytes % step, 0);
            }
        }
    }

    #[test]
    fn uniform_requests_reach_every_place_and_zipf_prefers_few() {
        let places = (DISK / 4096) as usize;
        let count = |workload: &Workload| {
            let mut counts = vec![0u32; places];
            for request in take(workload, 4, 100_000) {
                counts[(request.offset_bytes / 4096) as usize] += 1;
            }
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts
        };
        let uniform = count(&workload());
        assert!(uniform[places - 1] > 200 && uniform[0] < 600, "{uniform:?}");
        let mut skewed = workload();
        skewed.distribution = Distribution::Zipf { exponent: 1.2 };
        let zipf = count(&skewed);
        assert!(zipf[0] > 10 * uniform[0], "{}", zipf[0]);
    }

    #[test]
    fn sequential_requests_wrap_at_the_end() {
        let mut sequential = workload();
        sequential.random_percent = 0.0;
        let requests = take(&sequential, 1, 2 * (DISK / 4096) as usize);
        for (index, request) in requests.iter().enumerate() {
            assert_eq!(request.offset_bytes, (index as u64 * 4096) % DISK);
        }
    }

    #[test]
    fn a_sequential_stream_begins_where_it_is_set_to_and_reaches_every_place() {
        let mut sequential = workload();
        sequential.random_percent = 0.0;
        for (bytes, alignment) in
            [(4096, None), (12_288, None), (4096, Some(512)), (512, Some(8192))]
        {
            sequential.sizes[0].bytes = bytes;
            sequential.alignment_bytes = alignment;
            let pattern = Pattern::new(&sequential, DISK);
            let step = u64::from(bytes).next_multiple_of(alignment.unwrap_or(1));
            let mut begins = std::collections::HashSet::new();
            for trial in 0..5 {
                let mut cursor = pattern.cursor(1, Start(9).of_trial(trial), 3);
                let first = pattern.next(&mut cursor).offset_bytes;
                assert_eq!(first % step, 0);
                assert!(begins.insert(first), "{first}");
                let mut offsets: Vec<u64> = std::iter::once(first)
                    .chain((1..DISK / step).map(|_| pattern.next(&mut cursor).offset_bytes))
                    .collect();
                offsets.sort_unstable();
                offsets.dedup();
                assert_eq!(offsets.len() as u64, DISK / step, "one pass is over the whole disk");
            }
        }
    }

    #[test]
    fn disks_have_their_own_streams() {
        let pattern = Pattern::new(&workload(), DISK);
        let first_of = |disk| pattern.next(&mut pattern.cursor(1, Start::default(), disk));
        let others = (1..20).filter(|&disk| first_of(disk) == first_of(0)).count();
        assert!(others < 3);
    }

    /// How much more of a disk of 64 MiB requests touch than expected.
    fn touched(workload: &Workload, requests: u64) -> f64 {
        const LARGE_DISK: u64 = 64 << 20;
        let pattern = Pattern::new(workload, LARGE_DISK);
        let mut cursor = pattern.cursor(3, Start(1 << 62), 0);
        let places: HashSet<u64> =
            (0..requests).map(|_| pattern.next(&mut cursor).offset_bytes).collect();
        let expected = touched_share(workload, LARGE_DISK, requests as f64 * 4096.0);
        places.len() as f64 * 4096.0 / LARGE_DISK as f64 - expected
    }

    #[test]
    fn what_is_expected_to_be_touched_is_touched() {
        let zipf = |exponent| Distribution::Zipf { exponent };
        let cases = [
            (0.0, Distribution::Uniform, 0.001),
            (100.0, Distribution::Uniform, 0.01),
            (30.0, Distribution::Uniform, 0.02),
            (100.0, zipf(0.9), 0.01),
            (100.0, zipf(1.2), 0.01),
        ];
        for (random_percent, distribution, tolerance) in cases {
            let workload =
                Workload { read_percent: 100.0, random_percent, distribution, ..workload() };
            for requests in [100, 5_000, 16_384, 60_000] {
                let off = touched(&workload, requests);
                assert!(off.abs() < tolerance, "{workload:?}, {requests} requests: {off}");
            }
        }
    }
}
