//! The read cache: hits by their share, and read-ahead of sequential streams.
//!
//! No block is remembered; a read hits with the probability that [`super::hits`] gives. A stream, one
//! for each virtual disk, is what begins where its last request ended: its next segment is read before
//! it is asked for, and a request that comes too early waits for it. So a stream costs the disks what
//! it reads, in larger accesses, and waits only where they are slower than it.

use super::Request;
use super::hits::HitShare;
use crate::slab::Slab;

/// A segment is a stripe, but at most this.
const SEGMENT_BYTES: u64 = 1 << 20;
/// No one waits.
const NOBODY: u32 = u32::MAX;

/// Streams and hits.
#[derive(Debug)]
pub(super) struct ReadCache {
    pub(super) hits: HitShare,
    /// By virtual disk; none where there is no read-ahead.
    streams: Vec<Stream>,
    segment_bytes: u64,
    disk_bytes: u64,
    /// Requests that wait for a segment, each with the next one.
    waiting: Slab<(Request, u32)>,
}

/// What was read of a virtual disk, one request after the other.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Where the last request ended.
    next: u64,
    /// What read-ahead has in memory.
    from: u64,
    to: u64,
    /// Up to where it is on its way; `to`: nothing is.
    fetching_to: u64,
    /// The first that waits for it.
    waiting: u32,
}

/// What becomes of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It is in memory if luck has it: by the share of random or sequential hits.
    Perhaps { sequential: bool },
    /// It is in memory.
    There,
    /// It is on its way.
    Coming,
}

impl ReadCache {
    pub(super) fn new(
        hits: HitShare,
        ahead: bool,
        stripe_bytes: u64,
        disks: u32,
        disk_bytes: u64,
    ) -> Self {
        let stream = Stream { next: u64::MAX, from: 0, to: 0, fetching_to: 0, waiting: NOBODY };
        Self {
            hits,
            streams: vec![stream; if ahead { disks as usize } else { 0 }],
            segment_bytes: stripe_bytes.min(SEGMENT_BYTES),
            disk_bytes,
            waiting: Slab::default(),
        }
    }

    /// A read of the disk at `place`: what becomes of it, and what is to be read ahead (from, to).
    #[inline]
    pub(super) fn arrive(&mut self, place: u32, request: Request) -> (Found, Option<(u64, u64)>) {
        let Some(stream) = self.streams.get_mut(place as usize) else {
            return (Found::Perhaps { sequential: false }, None);
        };
        let from = request.offset_bytes;
        let length = u64::from(request.length_bytes);
        let to = from + length;
        let sequential = from == stream.next;
        stream.next = to;
        let fetching = stream.fetching_to > stream.to;
        let segment_bytes = self.segment_bytes.max(2 * length);
        if from >= stream.from && to <= stream.fetching_to {
            let mut ahead = None;
            if !fetching && stream.to - to < segment_bytes / 2 {
                ahead = stream.fetch(segment_bytes, self.disk_bytes);
            }
            if to <= stream.to {
                return (Found::There, ahead);
            }
            stream.waiting = self.waiting.insert((request, stream.waiting));
            return (Found::Coming, ahead);
        }
        let mut ahead = None;
        if sequential && !fetching {
            // A stream begins, or has overtaken its read-ahead.
            (stream.from, stream.to) = (from, to);
            ahead = stream.fetch(segment_bytes, self.disk_bytes);
        }
        (Found::Perhaps { sequential }, ahead)
    }

    /// A segment is there; requests that waited for it follow from [`Self::next_waiting`].
    pub(super) fn fetched(&mut self, place: u32) -> u32 {
        let stream = &mut self.streams[place as usize];
        stream.to = stream.fetching_to;
        std::mem::replace(&mut stream.waiting, NOBODY)
    }

    /// One that waited, and who is next.
    pub(super) fn next_waiting(&mut self, waiting: u32) -> Option<(Request, u32)> {
        if waiting == NOBODY {
            return None;
        }
        self.waiting.free(waiting);
        Some(self.waiting[waiting])
    }
}

impl Stream {
    /// What comes after what is there; what was read before it is forgotten but for one segment.
    fn fetch(&mut self, segment_bytes: u64, disk_bytes: u64) -> Option<(u64, u64)> {
        self.from = self.from.max(self.to.saturating_sub(2 * segment_bytes));
        self.fetching_to = (self.to + segment_bytes).min(disk_bytes).max(self.to);
        (self.fetching_to > self.to).then_some((self.to, self.fetching_to))
    }
}

#[cfg(test)]
mod tests {
    use stormeter_disk::Kind;

    use super::*;

    fn read(offset_bytes: u64) -> Request {
        Request {
            job: 0,
            kind: Kind::Read,
            disk: 0,
            offset_bytes,
            length_bytes: 65_536,
            background: false,
        }
    }

    #[test]
    fn a_stream_is_read_ahead_and_random_reads_are_not() {
        const UNIT: u64 = 65_536;
        let mut cache = ReadCache::new(HitShare::default(), true, 4 * UNIT, 2, 1 << 30);
        let random = Found::Perhaps { sequential: false };
        assert_eq!(cache.arrive(0, read(10 * UNIT)), (random, None));
        assert_eq!(cache.arrive(0, read(90 * UNIT)), (random, None));
        // The second in a row makes a stream: the next segment is fetched.
        let (found, ahead) = cache.arrive(0, read(91 * UNIT));
        assert_eq!(found, Found::Perhaps { sequential: true });
        assert_eq!(ahead, Some((92 * UNIT, 96 * UNIT)));
        // It is asked for too early, and waits.
        assert_eq!(cache.arrive(0, read(92 * UNIT)), (Found::Coming, None));
        let waiting = cache.fetched(0);
        let (request, rest) = cache.next_waiting(waiting).unwrap();
        assert_eq!((request.offset_bytes, rest), (92 * UNIT, NOBODY));
        assert_eq!(cache.arrive(0, read(93 * UNIT)), (Found::There, None));
        // Less than half a segment is left: the next one is fetched.
        let (found, ahead) = cache.arrive(0, read(94 * UNIT));
        assert_eq!((found, ahead), (Found::There, Some((96 * UNIT, 100 * UNIT))));
        // Another disk has a stream of its own.
        assert_eq!(cache.arrive(1, read(95 * UNIT)), (random, None));
    }

    #[test]
    fn read_ahead_ends_with_the_disk() {
        let mut cache = ReadCache::new(HitShare::default(), true, 1 << 18, 1, 3 * 65_536);
        cache.arrive(0, read(0));
        assert_eq!(cache.arrive(0, read(65_536)).1, Some((131_072, 196_608)));
        cache.fetched(0);
        assert_eq!(cache.arrive(0, read(131_072)), (Found::There, None));
    }
}
