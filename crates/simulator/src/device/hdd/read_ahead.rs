//! What a disk has read unasked: segments of its buffer, each with a run of addresses, the newest
//! of which grows while the heads have nothing else to do.
//!
//! Growth needs no events: its extent follows from the time. It stops a segment's length beyond what
//! was requested, and restarts when half of that has been used up, so that a reader that is slower
//! than the platters does not lose a revolution on each request. A read of data that is about to
//! pass waits for that instead of a seek. A read that continues where an earlier one ended is a
//! stream, for which the heads read on for a revolution before they do anything else.

use super::geometry::{Geometry, Place};

/// Segments into which the buffer is divided: this many sequential readers benefit from read-ahead.
/// One data sheet says 27 (Quantum Atlas 10K II, product manual, 5.16.4, "cache table size"); most do
/// not say, and drives adapt it.
const SEGMENTS: usize = 27;

#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    start_byte: u64,
    end_byte: u64,
    /// Where the last read from it ended.
    asked_byte: u64,
    /// When it was last read from or grew, as a count of uses: the least recently used one is
    /// replaced.
    used: u32,
}

/// Heads that read on.
#[derive(Debug, Clone, Copy)]
struct Growth {
    segment: usize,
    from_byte: u64,
    from: Place,
    at_ns: f64,
    limit_byte: u64,
    bytes_per_ns: f64,
}

/// The relation of a read to the buffered data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ahead {
    /// All of it is in the buffer.
    Here,
    /// The heads, reading on, will have passed its last byte at that time.
    At(f64),
    /// It is elsewhere.
    Elsewhere,
}

/// Read-ahead at work.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    segments: [Segment; SEGMENTS],
    segment_bytes: u64,
    uses: u32,
    growth: Option<Growth>,
    /// Bytes from growth before the current one, and how many of them were requested.
    grown: u64,
    used: u64,
}

impl ReadAhead {
    /// With this much memory.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            segments: [Segment::default(); SEGMENTS],
            segment_bytes: bytes / SEGMENTS as u64 / 512 * 512,
            uses: 0,
            growth: None,
            grown: 0,
            used: 0,
        }
    }

    /// A read was served from the buffer: how many of its bytes had been read ahead for it and not
    /// for an earlier read, as far as counts can tell.
    #[inline]
    pub(crate) fn used(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let grown = self.grown + self.growth.as_ref().map_or(0, |growth| growth.brought(now_ns));
        // What the buffer has no space for was never requested.
        let room = self.segment_bytes * SEGMENTS as u64;
        self.used = self.used.max(grown.saturating_sub(room));
        let bytes = bytes.min(grown - self.used);
        self.used += bytes;
        bytes
    }

    /// Whether a read is served from the buffer. If so, the heads may read on further.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        now_ns: u64,
        start_byte: u64,
        end_byte: u64,
        geometry: &Geometry,
    ) -> Ahead {
        if let Some(at_ns) = self.continues_at(now_ns, start_byte, end_byte, geometry) {
            return Ahead::At(at_ns);
        }
        if let Some(growth) = &mut self.growth {
            let reached = growth.reached(now_ns);
            let segment = &mut self.segments[growth.segment];
            if start_byte >= segment.start_byte && end_byte <= reached {
                self.uses += 1;
                segment.used = self.uses;
                segment.asked_byte = end_byte;
                let limit_byte = growth.limit_byte.max(end_byte + self.segment_bytes);
                if reached < growth.limit_byte {
                    growth.limit_byte = limit_byte;
                } else if growth.limit_byte - end_byte <= self.segment_bytes / 2 {
                    // They had stopped, and there is space again.
                    segment.end_byte = reached;
                    self.grown += growth.brought(now_ns);
                    let from = geometry.place(reached);
                    let angle = geometry.angle(&from);
                    let wait_ns = geometry
                        .positioning_ns(now_ns, from.track, from.track, angle, false)
                        .max(0.0);
                    *growth = Growth {
                        from_byte: reached,
                        from,
                        at_ns: now_ns as f64 + wait_ns,
                        limit_byte,
                        bytes_per_ns: geometry.bytes_per_ns(&from),
                        ..*growth
                    };
                }
                return Ahead::Here;
            }
        }
        let holds =
            |segment: &Segment| start_byte >= segment.start_byte && end_byte <= segment.end_byte;
        let Some(number) = self.segments.iter().position(holds) else { return Ahead::Elsewhere };
        self.uses += 1;
        self.segments[number].used = self.uses;
        self.segments[number].asked_byte = end_byte;
        Ahead::Here
    }

    /// When the heads, reading on, have passed the last byte of a read that starts in what they read,
    /// or so little beyond that they reach it within a revolution, and ends after their position;
    /// `None`: it does not, or they have stopped.
    #[inline]
    pub(crate) fn continues_at(
        &self,
        now_ns: u64,
        start_byte: u64,
        end_byte: u64,
        geometry: &Geometry,
    ) -> Option<f64> {
        let growth = self.growth.as_ref()?;
        if start_byte < self.segments[growth.segment].start_byte || end_byte <= growth.from_byte {
            return None;
        }
        let reached = growth.reached(now_ns);
        let near_byte = growth.near_byte(reached);
        if start_byte > near_byte || end_byte <= reached || reached >= growth.limit_byte {
            return None;
        }
        let last = geometry.place(end_byte - 1);
        Some(growth.at_ns + geometry.passing_ns(&growth.from, &last))
    }

    /// The heads have read a run and read on from its end. Returns how long they should do so, even
    /// if other accesses wait: zero, unless the request (the last `asked_bytes` of the run) continues
    /// approximately where an earlier read ended.
    ///
    /// Drives read on when they detect that what follows will be requested (Seagate Cheetah 15K.5 FC
    /// product manual, rev. D, 4.5.2), and a command for something else need not end it at once: how
    /// much is read on regardless is an entry of the caching mode page ("minimum prefetch", Seagate
    /// SCSI Commands Reference Manual, rev. J, 5.3.9) and otherwise up to the manufacturer. One
    /// revolution is an assumption: it is about the cost of coming back, so that two alternating
    /// streams lose at most half.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        now_ns: u64,
        start_byte: u64,
        end_byte: u64,
        asked_bytes: u64,
        geometry: &Geometry,
    ) -> u64 {
        if self.segment_bytes == 0 {
            return 0;
        }
        let holds_some = |segment: &Segment| segment.end_byte > segment.start_byte;
        let joins =
            |segment: &Segment| segment.start_byte <= start_byte && start_byte <= segment.end_byte;
        // Requests of a stream with several outstanding may arrive out of order or skip one.
        let asked_byte = end_byte - asked_bytes;
        let follows =
            |segment: &Segment| asked_byte.abs_diff(segment.asked_byte) <= 2 * asked_bytes;
        let of_run =
            |segment: &Segment| holds_some(segment) && (joins(segment) || follows(segment));
        let found = self.segments.iter().position(of_run);
        let is_stream = found.is_some_and(|number| follows(&self.segments[number]));
        let number = found.unwrap_or_else(|| self.oldest());
        let segment = &mut self.segments[number];
        if found.is_none() || !joins(segment) {
            segment.start_byte = start_byte;
        }
        segment.asked_byte = end_byte;
        self.uses += 1;
        segment.used = self.uses;
        self.segments[number].end_byte = end_byte;
        self.trim(number);
        // After its last byte, so that the track change is still to come.
        let from = geometry.place(end_byte - 1);
        let from = Place { share: from.share + 1.0 / f64::from(from.track_bytes), ..from };
        self.growth = Some(Growth {
            segment: number,
            from_byte: end_byte,
            from,
            at_ns: now_ns as f64,
            limit_byte: end_byte + self.segment_bytes,
            bytes_per_ns: geometry.bytes_per_ns(&from),
        });
        if !is_stream {
            return 0;
        }
        let full_ns = self.segment_bytes as f64 / geometry.bytes_per_ns(&from);
        geometry.revolution_ns().min(full_ns) as u64
    }

    /// The least recently used segment.
    fn oldest(&self) -> usize {
        let by_use = |number: &usize| self.segments[*number].used;
        (0..SEGMENTS).min_by_key(by_use).unwrap_or(0)
    }

    /// The byte above which the heads are, if they read on.
    #[inline]
    pub(crate) fn above(&self, now_ns: u64) -> Option<u64> {
        self.growth.as_ref().map(|growth| growth.reached(now_ns))
    }

    /// For heads that read on: up to which byte a read may start that they reach without moving.
    #[inline]
    pub(crate) fn near_byte(&self, now_ns: u64) -> Option<u64> {
        let growth = self.growth.as_ref()?;
        let reached = growth.reached(now_ns);
        (reached < growth.limit_byte).then(|| growth.near_byte(reached))
    }

    /// The heads do something else from now on. Returns the byte that they had reached.
    #[inline]
    pub(crate) fn stop(&mut self, now_ns: u64) -> Option<u64> {
        let growth = self.growth.take()?;
        let reached = growth.reached(now_ns);
        self.segments[growth.segment].end_byte = reached;
        self.grown += growth.brought(now_ns);
        self.trim(growth.segment);
        Some(reached)
    }

    fn trim(&mut self, number: usize) {
        let segment = &mut self.segments[number];
        let oldest = segment.end_byte.saturating_sub(self.segment_bytes);
        segment.start_byte = segment.start_byte.max(oldest);
    }
}

impl Growth {
    /// One track further.
    #[inline]
    fn near_byte(&self, reached: u64) -> u64 {
        (reached + u64::from(self.from.track_bytes)).min(self.limit_byte)
    }

    #[inline]
    fn brought(&self, now_ns: u64) -> u64 {
        self.reached(now_ns) - self.from_byte
    }

    #[inline]
    fn reached(&self, now_ns: u64) -> u64 {
        let bytes = (now_ns as f64 - self.at_ns).max(0.0) * self.bytes_per_ns;
        (self.from_byte + bytes as u64).min(self.limit_byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::hdd::tests::cheetah;

    #[test]
    fn reading_on_stops_a_segment_ahead_and_begins_again_when_half_is_used() {
        let geometry = Geometry::new(&cheetah(), 1.0);
        let segment = 1 << 20;
        let mut ahead = ReadAhead::new(SEGMENTS as u64 * segment);
        ahead.begin(1_000_000, 0, 4096, 4096, &geometry);
        let rate = geometry.bytes_per_ns(&geometry.place(0));
        // A read of data that is not there yet completes when the heads have passed it.
        let Ahead::At(at_ns) = ahead.ask(1_000_000, 4096, 65_536, &geometry) else {
            panic!("they read on");
        };
        assert!((at_ns - 1e6 - 61_440.0 / 125e6 * 1e9).abs() < 0.1e6, "{at_ns}");
        // Long after, as much as there is space for is there, and no more.
        let end_ns = 100_000_000;
        assert_eq!(ahead.above(end_ns), Some(4096 + segment));
        assert_eq!(ahead.ask(end_ns, 4096, 4096 + segment / 4, &geometry), Ahead::Here);
        assert_eq!(ahead.above(2 * end_ns), Some(4096 + segment));
        let half = 4096 + segment / 2;
        assert_eq!(ahead.ask(2 * end_ns, 4096, half, &geometry), Ahead::Here);
        let later_ns = 2 * end_ns + 4_000_000;
        let above = ahead.above(later_ns).expect("they read on");
        assert!(above > 4096 + segment, "{above}");
        assert!(above <= 4096 + segment + (4e6 * rate) as u64, "{above}");
        assert_eq!(ahead.above(3 * end_ns), Some(half + segment));
        // What they leave stays, up to a segment.
        ahead.stop(3 * end_ns);
        assert_eq!(ahead.ask(3 * end_ns, half, half + segment, &geometry), Ahead::Here);
        assert_eq!(ahead.ask(3 * end_ns, half - 512, half, &geometry), Ahead::Elsewhere);
        assert_eq!(ahead.above(3 * end_ns), None);
    }

    #[test]
    fn a_disk_without_memory_reads_nothing_ahead() {
        let geometry = Geometry::new(&cheetah(), 1.0);
        let mut ahead = ReadAhead::new(0);
        ahead.begin(0, 0, 4096, 4096, &geometry);
        assert_eq!(ahead.ask(1_000_000, 4096, 8192, &geometry), Ahead::Elsewhere);
        assert_eq!(ahead.ask(1_000_000, 0, 4096, &geometry), Ahead::Elsewhere);
    }
}
