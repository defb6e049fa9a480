//! The read cache: random hits by probability, and read-ahead of sequential streams.
//!
//! No block is stored; a read hits with the probability that [`super::hit_rate`] gives. A stream, one per
//! virtual disk, starts where its last request ended. What follows is read before it is requested, in
//! pieces of a stripe, several of which are in flight at the same time; a request that arrives too early
//! waits for its bytes. So a stream costs the disks what it reads, in larger accesses, and waits only if
//! they are slower than it.
//!
//! The distance of read-ahead adapts to the stream: it starts with one piece, and each request that
//! had to wait adds one, up to a limit and to the stream's share of memory. That a read which waits
//! for a prefetch makes the next one start earlier is the rule of AMP (B. S. Gill and L. A. D. Bathen,
//! "AMP: adaptive multi-stream prefetching in a shared cache", FAST 2007, section 5).

use super::Request;
use super::hit_rate::HitShare;
use crate::slab::Slab;

/// A piece is a stripe, but at most this.
const PIECE_BYTES: u64 = 1 << 20;
/// The most pieces that a stream is ahead. An assumption: enough that every disk always knows the
/// next access; manufacturers do not publish theirs.
const MOST_AHEAD: u64 = 8;
/// Pieces that may be in flight or wait for an earlier one: as many as `arrived` has bits.
const IN_ORDER: u32 = 16;
/// Nothing waits.
const NO_REQUEST: u32 = u32::MAX;

/// Streams and hit rates.
#[derive(Debug)]
pub(super) struct ReadCache {
    pub(super) hits: HitShare,
    /// By virtual disk; empty without read-ahead.
    streams: Vec<Stream>,
    piece_bytes: u64,
    /// Memory per stream.
    room_bytes: u64,
    disk_bytes: u64,
    /// Requests that wait for a piece, each with the previous one.
    waiting: Slab<(Request, u32)>,
}

/// Sequential reads of a virtual disk.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Where the last request ended.
    next: u64,
    /// The contiguous range that read-ahead has in memory.
    from: u64,
    to: u64,
    /// The end of what is being read.
    fetching_to: u64,
    /// The end of what should be read.
    wanted_to: u64,
    piece_bytes: u64,
    /// Pieces that it keeps ahead.
    ahead: u64,
    /// Pieces that were requested, and those of them that memory has without gaps.
    asked: u32,
    had: u32,
    /// Of the ones after them, those that arrived out of order.
    arrived: u16,
    in_flight: u32,
    /// The last request that waits.
    waiting: u32,
}

/// What happens to a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It may be in memory: with the probability of random or sequential hits.
    Perhaps { sequential: bool },
    /// It is in memory.
    There,
    /// It is in flight, or will be once [`ReadCache::next_piece`] returns no more.
    Coming,
}

/// Something to read ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) number: u32,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl ReadCache {
    /// Read-ahead, if any, in this much memory, for this many virtual disks of this size.
    pub(super) fn new(
        hits: HitShare,
        ahead_in_bytes: Option<u64>,
        stripe_bytes: u64,
        disks: u32,
        disk_bytes: u64,
    ) -> Self {
        let stream = Stream {
            next: u64::MAX,
            from: 0,
            to: 0,
            fetching_to: 0,
            wanted_to: 0,
            piece_bytes: 1,
            ahead: 1,
            asked: 0,
            had: 0,
            arrived: 0,
            in_flight: 0,
            waiting: NO_REQUEST,
        };
        Self {
            hits,
            streams: vec![stream; if ahead_in_bytes.is_some() { disks as usize } else { 0 }],
            piece_bytes: stripe_bytes.min(PIECE_BYTES),
            room_bytes: ahead_in_bytes.unwrap_or(0) / u64::from(disks.max(1)),
            disk_bytes,
            waiting: Slab::default(),
        }
    }

    /// A read of the disk at `place`: what happens to it, and whether there is something to read
    /// ahead.
    #[inline]
    pub(super) fn arrive(&mut self, place: u32, request: Request) -> (Found, bool) {
        let Some(stream) = self.streams.get_mut(place as usize) else {
            return (Found::Perhaps { sequential: false }, false);
        };
        let from = request.offset_bytes;
        let length = u64::from(request.length_bytes);
        let to = from + length;
        let sequential = from == stream.next;
        stream.next = to;
        if from >= stream.from && from <= stream.fetching_to && stream.reaches(to) {
            let there = to <= stream.to;
            let most = (self.room_bytes / stream.piece_bytes).clamp(1, MOST_AHEAD);
            if !there && stream.ahead < most {
                stream.ahead += 1;
            }
            let ahead_bytes = (stream.ahead * stream.piece_bytes).max(2 * length);
            stream.wanted_to = stream.wanted_to.max(to + ahead_bytes).min(self.disk_bytes);
            let more = stream.wants_more();
            if there {
                return (Found::There, more);
            }
            stream.waiting = self.waiting.insert((request, stream.waiting));
            return (Found::Coming, more);
        }
        if sequential && stream.in_flight == 0 && stream.waiting == NO_REQUEST {
            // A stream starts, or has overtaken its read-ahead.
            (stream.from, stream.to, stream.fetching_to) = (from, to, to);
            stream.piece_bytes = self.piece_bytes.max(length.next_multiple_of(self.piece_bytes));
            (stream.ahead, stream.arrived, stream.had) = (1, 0, stream.asked);
            stream.wanted_to = (to + stream.piece_bytes).min(self.disk_bytes);
            return (Found::Perhaps { sequential }, stream.wants_more());
        }
        (Found::Perhaps { sequential }, false)
    }

    /// The next piece to read ahead for the stream of the disk at `place`.
    pub(super) fn next_piece(&mut self, place: u32) -> Option<Piece> {
        let stream = &mut self.streams[place as usize];
        if !stream.wants_more() {
            return None;
        }
        // What was read before is dropped except for as much as the stream is ahead.
        let kept = (stream.ahead + 1) * stream.piece_bytes;
        stream.from = stream.from.max(stream.to.saturating_sub(kept));
        let from = stream.fetching_to;
        let to = (from + stream.piece_bytes).min(self.disk_bytes);
        let number = stream.asked;
        stream.fetching_to = to;
        stream.asked = number.wrapping_add(1);
        stream.in_flight += 1;
        Some(Piece { number, from, to })
    }

    /// A piece has arrived, or cannot be read; [`Self::next_waiting`] returns the requests that
    /// need not wait any longer.
    pub(super) fn fetched(&mut self, place: u32, number: u32, failed: bool) {
        let stream = &mut self.streams[place as usize];
        stream.in_flight -= 1;
        if failed {
            // None of it is worth keeping.
            (stream.from, stream.to) = (stream.fetching_to, stream.fetching_to);
            (stream.arrived, stream.had) = (0, stream.asked);
            return;
        }
        let turn = number.wrapping_sub(stream.had);
        if turn >= IN_ORDER {
            // Given up before it arrived.
            return;
        }
        stream.arrived |= 1 << turn;
        while stream.arrived & 1 == 1 {
            stream.arrived >>= 1;
            stream.had = stream.had.wrapping_add(1);
            stream.to = (stream.to + stream.piece_bytes).min(stream.fetching_to);
        }
    }

    /// The first waiting request that need not wait any longer.
    pub(super) fn next_waiting(&mut self, place: u32) -> Option<Request> {
        let stream = &mut self.streams[place as usize];
        let (mut at, mut before, mut found) = (stream.waiting, NO_REQUEST, None);
        while at != NO_REQUEST {
            let (request, next) = self.waiting[at];
            if request.offset_bytes + u64::from(request.length_bytes) <= stream.to {
                found = Some((at, before));
            }
            (before, at) = (at, next);
        }
        let (at, before) = found?;
        let (request, next) = self.waiting[at];
        match before {
            NO_REQUEST => stream.waiting = next,
            _ => self.waiting[before].1 = next,
        }
        self.waiting.free(at);
        Some(request)
    }
}

impl Stream {
    fn wants_more(&self) -> bool {
        self.fetching_to < self.wanted_to && self.asked.wrapping_sub(self.had) < IN_ORDER
    }

    /// Whether reading ahead this far would leave no more pieces out of order than can be
    /// distinguished.
    fn reaches(&self, to: u64) -> bool {
        let pieces = u64::from(IN_ORDER - self.asked.wrapping_sub(self.had).min(IN_ORDER));
        to <= self.fetching_to + pieces * self.piece_bytes
    }
}

#[cfg(test)]
mod tests {
    use stormeter_disk::Kind;

    use super::*;

    const UNIT: u64 = 65_536;
    const RANDOM: Found = Found::Perhaps { sequential: false };

    fn read(offset_bytes: u64) -> Request {
        Request {
            job: 0,
            kind: Kind::Read,
            disk: 0,
            offset_bytes,
            length_bytes: UNIT as u32,
            background: false,
        }
    }

    fn cache(room_bytes: u64, stripe_bytes: u64, disk_bytes: u64) -> ReadCache {
        ReadCache::new(HitShare::default(), Some(room_bytes), stripe_bytes, 2, disk_bytes)
    }

    /// In units.
    fn pieces(cache: &mut ReadCache) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| cache.next_piece(0))
            .map(|piece| (piece.from / UNIT, piece.to / UNIT))
            .collect()
    }

    #[test]
    fn a_stream_is_read_ahead_and_random_reads_are_not() {
        let mut cache = cache(1 << 30, 4 * UNIT, 1 << 30);
        assert_eq!(cache.arrive(0, read(10 * UNIT)), (RANDOM, false));
        assert_eq!(cache.arrive(0, read(90 * UNIT)), (RANDOM, false));
        // The second in a row makes a stream: what follows is fetched.
        let sequential = Found::Perhaps { sequential: true };
        assert_eq!(cache.arrive(0, read(91 * UNIT)), (sequential, true));
        assert_eq!(pieces(&mut cache), [(92, 96)]);
        // It is requested too early, and waits: the stream should be further ahead.
        assert_eq!(cache.arrive(0, read(92 * UNIT)), (Found::Coming, true));
        assert_eq!(pieces(&mut cache), [(96, 100), (100, 104)]);
        assert!(cache.next_waiting(0).is_none());
        cache.fetched(0, 0, false);
        assert_eq!(cache.next_waiting(0).map(|request| request.offset_bytes), Some(92 * UNIT));
        assert!(cache.next_waiting(0).is_none());
        // This far ahead from then on, and no further.
        for unit in 93..96 {
            assert_eq!(cache.arrive(0, read(unit * UNIT)).0, Found::There);
        }
        assert_eq!(pieces(&mut cache), []);
        // Another disk has its own stream.
        assert_eq!(cache.arrive(1, read(96 * UNIT)), (RANDOM, false));
    }

    #[test]
    fn pieces_that_come_out_of_order_wake_who_has_all_bytes() {
        let mut cache = cache(1 << 30, UNIT, 1 << 30);
        cache.arrive(0, read(0));
        for unit in 1..4 {
            cache.arrive(0, read(unit * UNIT));
            while cache.next_piece(0).is_some() {}
        }
        cache.fetched(0, 1, false);
        assert!(cache.next_waiting(0).is_none());
        cache.fetched(0, 0, false);
        let woken: Vec<u64> = std::iter::from_fn(|| cache.next_waiting(0))
            .map(|request| request.offset_bytes / UNIT)
            .collect();
        assert_eq!(woken, [2, 3]);
    }

    #[test]
    fn who_always_waits_is_read_further_ahead_as_far_as_memory_allows() {
        for (room, most) in [(1 << 30, MOST_AHEAD), (2 * 3 * UNIT, 3), (0, 2)] {
            let mut cache = cache(room, UNIT, 1 << 30);
            let (mut asked, mut ahead) = (0, 0);
            for unit in 0..40 {
                cache.arrive(0, read(unit * UNIT));
                while let Some(piece) = cache.next_piece(0) {
                    (asked, ahead) = (piece.number, piece.to / UNIT - unit - 1);
                }
                if unit > 1 {
                    // The piece of this request arrives only now.
                    let had = cache.streams[0].had;
                    cache.fetched(0, had, false);
                    assert_eq!(cache.next_waiting(0).map(|r| r.offset_bytes), Some(unit * UNIT));
                }
            }
            assert_eq!(ahead, most, "room for {room} bytes, piece {asked}");
        }
    }

    #[test]
    fn what_cannot_be_had_is_not_taken_for_read() {
        let mut cache = cache(1 << 30, UNIT, 1 << 30);
        cache.arrive(0, read(0));
        cache.arrive(0, read(UNIT));
        assert_eq!(pieces(&mut cache), [(2, 3)]);
        assert_eq!(cache.arrive(0, read(2 * UNIT)).0, Found::Coming);
        let late = cache.next_piece(0).expect("more is read ahead");
        cache.fetched(0, 0, true);
        assert!(cache.next_waiting(0).is_some());
        // The other one that was in flight is of no use either.
        cache.fetched(0, late.number, false);
        assert_ne!(cache.arrive(0, read(late.from)).0, Found::There);
    }

    #[test]
    fn read_ahead_ends_with_the_disk() {
        let mut cache = cache(1 << 30, 4 * UNIT, 3 * UNIT);
        cache.arrive(0, read(0));
        cache.arrive(0, read(UNIT));
        assert_eq!(pieces(&mut cache), [(2, 3)]);
        cache.fetched(0, 0, false);
        assert_eq!(cache.arrive(0, read(2 * UNIT)), (Found::There, false));
    }
}
