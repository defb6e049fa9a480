//! Writes that have been acknowledged and are not on the platters yet.
//!
//! They are written in the order of their addresses, continuing from where the last one ended and
//! wrapping around (C-SCAN); neighbours are combined. What a flush waits for goes first, in the same order, so
//! that later writes ahead of the heads do not hold it up.

use std::collections::{BTreeMap, VecDeque};

/// Neighbours are combined up to this length, so that a read need not wait for longer than a
/// fraction of a revolution.
const RUN_BYTES: u64 = 64 << 10;

/// The write buffer.
#[derive(Debug, Default)]
pub(crate) struct WriteBuffer {
    room_bytes: u64,
    used_bytes: u64,
    /// What is to be written, by its start.
    dirty: BTreeMap<u64, Dirty>,
    /// Where the last run ended.
    sweep_byte: u64,
    /// Writes that wait for space, in order of arrival.
    pub(crate) waiting: VecDeque<u32>,
    /// Flushes that wait, in order of arrival, and how many there have been.
    flushes: VecDeque<Flush>,
    flush_count: u64,
    /// Of the writes in the run that is being written: [`Dirty::after_flushes`].
    leaving: Vec<u64>,
}

/// A write that is not on the platters.
#[derive(Debug, Clone, Copy)]
struct Dirty {
    length_bytes: u32,
    /// How many flushes had arrived before it: those do not cover it.
    after_flushes: u64,
}

/// A flush that waits.
#[derive(Debug, Clone, Copy)]
struct Flush {
    access: u32,
    /// How many had arrived before it.
    number: u64,
    /// Number of writes that it covers and that are not on the platters.
    left: usize,
}

/// What is written next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start_byte: u64,
    pub(crate) end_byte: u64,
    /// Space that becomes free when it is written.
    pub(crate) held_bytes: u64,
}

impl WriteBuffer {
    pub(crate) fn new(room_bytes: u64) -> Self {
        Self { room_bytes, ..Self::default() }
    }

    /// Whether a write of this length can ever fit.
    pub(crate) fn takes(&self, length_bytes: u32) -> bool {
        u64::from(length_bytes) <= self.room_bytes
    }

    /// Accepts a write if there is space now.
    pub(crate) fn admit(&mut self, start_byte: u64, length_bytes: u32) -> bool {
        let new = Dirty { length_bytes: 0, after_flushes: self.flush_count };
        let old = self.dirty.get(&start_byte).copied().unwrap_or(new);
        let more = u64::from(length_bytes.saturating_sub(old.length_bytes));
        if self.used_bytes + more > self.room_bytes {
            return false;
        }
        self.used_bytes += more;
        // Older data for the same place is superseded; a flush that waits for it waits for the newer.
        let length_bytes = length_bytes.max(old.length_bytes);
        self.dirty.insert(start_byte, Dirty { length_bytes, ..old });
        true
    }

    /// A flush arrives; `false`: there is nothing to wait for.
    pub(crate) fn flush(&mut self, access: u32) -> bool {
        let left = self.dirty.len() + self.leaving.len();
        if left == 0 {
            return false;
        }
        self.flushes.push_back(Flush { access, number: self.flush_count, left });
        self.flush_count += 1;
        true
    }

    /// Whether a flush waits.
    pub(crate) fn is_flushing(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// The next flush whose writes are all on the platters. A later one covers what earlier ones do, so none
    /// overtakes.
    pub(crate) fn flushed(&mut self) -> Option<u32> {
        let first = self.flushes.front()?;
        if first.left > 0 {
            return None;
        }
        self.flushes.pop_front().map(|flush| flush.access)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    /// Whether a read finds all its bytes here.
    pub(crate) fn holds(&self, start_byte: u64, end_byte: u64) -> bool {
        let below = self.dirty.range(..=start_byte).next_back();
        below.is_some_and(|(&first, dirty)| first + u64::from(dirty.length_bytes) >= end_byte)
    }

    /// Removes what is to be written next.
    pub(crate) fn next_run(&mut self) -> Option<Run> {
        let is_next =
            |dirty: &Dirty| self.flushes.is_empty() || dirty.after_flushes < self.flush_count;
        let mut ahead = self.dirty.range(self.sweep_byte..).chain(self.dirty.iter());
        let (&start_byte, &first) = ahead.find(|(_, dirty)| is_next(dirty))?;
        self.dirty.remove(&start_byte);
        self.leaving.push(first.after_flushes);
        let mut held_bytes = u64::from(first.length_bytes);
        let mut end_byte = start_byte + held_bytes;
        while held_bytes < RUN_BYTES
            && let Some(next) = self.dirty.remove(&end_byte)
        {
            self.leaving.push(next.after_flushes);
            held_bytes += u64::from(next.length_bytes);
            end_byte += u64::from(next.length_bytes);
        }
        self.sweep_byte = end_byte;
        Some(Run { start_byte, end_byte, held_bytes })
    }

    /// A run is on the platters.
    pub(crate) fn written(&mut self, run: Run) {
        self.used_bytes -= run.held_bytes;
        for after_flushes in self.leaving.drain(..) {
            let covering = self.flushes.iter_mut().filter(|flush| after_flushes <= flush.number);
            covering.for_each(|flush| flush.left -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_leave_by_address_and_neighbours_together() {
        let mut buffer = WriteBuffer::new(32 << 10);
        for start in [40960, 8192, 4096, 90112, 45056] {
            assert!(buffer.admit(start, 4096));
        }
        // The same again: no further space is used.
        assert!(buffer.admit(4096, 4096));
        assert_eq!(buffer.used_bytes, 5 * 4096);
        assert!(buffer.holds(8192, 10000) && !buffer.holds(8192, 12289) && !buffer.holds(0, 512));
        let run = |start_byte, held_bytes| Run {
            start_byte,
            end_byte: start_byte + held_bytes,
            held_bytes,
        };
        assert_eq!(buffer.next_run(), Some(run(4096, 8192)));
        assert!(buffer.admit(0, 4096));
        assert_eq!(buffer.next_run(), Some(run(40960, 8192)));
        assert_eq!(buffer.next_run(), Some(run(90112, 4096)));
        assert_eq!(buffer.next_run(), Some(run(0, 4096)));
        assert_eq!(buffer.next_run(), None);
    }

    #[test]
    fn a_flush_waits_for_what_was_there_and_for_nothing_later() {
        let mut buffer = WriteBuffer::new(1 << 20);
        assert!(!buffer.flush(0), "there is nothing");
        let write_next = |buffer: &mut WriteBuffer| {
            let run = buffer.next_run().expect("a run");
            (run.start_byte, buffer.written(run)).0
        };
        for start in [8192, 40960] {
            assert!(buffer.admit(start, 4096));
        }
        let run = buffer.next_run().expect("a run");
        // One write is on its way to the platters, one waits.
        assert!(buffer.flush(1));
        assert!(buffer.admit(16384, 4096) && buffer.admit(65536, 4096));
        assert!(buffer.flush(2));
        assert!(buffer.admit(20480 + 4096, 4096));
        buffer.written(run);
        assert_eq!(buffer.flushed(), None);
        // By address, but what came after both flushes is left for later.
        assert_eq!(write_next(&mut buffer), 16384);
        assert_eq!(buffer.flushed(), None);
        assert_eq!(write_next(&mut buffer), 40960);
        assert_eq!(buffer.flushed(), Some(1));
        assert_eq!(buffer.flushed(), None);
        assert_eq!(write_next(&mut buffer), 65536);
        assert_eq!(buffer.flushed(), Some(2));
        assert!(!buffer.is_flushing() && !buffer.is_empty());
        assert_eq!(write_next(&mut buffer), 24576);
    }

    #[test]
    fn room_comes_back_when_a_run_is_written() {
        let mut buffer = WriteBuffer::new(8192);
        assert!(buffer.admit(0, 8192) && !buffer.admit(8192, 512));
        let run = buffer.next_run().expect("a run");
        assert!(!buffer.admit(8192, 512));
        buffer.written(run);
        assert!(buffer.admit(8192, 512));
        assert!(buffer.takes(8192) && !buffer.takes(8193));
    }
}
