//! Writes that have been acknowledged and are not on the platters yet.
//!
//! They are written in the order of their addresses, continuing from where the last one ended and
//! wrapping around (C-SCAN); neighbours are combined.

use std::collections::{BTreeMap, VecDeque};

/// Neighbours are combined up to this length, so that a read need not wait for longer than a
/// fraction of a revolution.
const RUN_BYTES: u64 = 64 << 10;

/// The write buffer.
#[derive(Debug, Default)]
pub(crate) struct WriteBuffer {
    room_bytes: u64,
    used_bytes: u64,
    /// What is to be written: start and length.
    dirty: BTreeMap<u64, u32>,
    /// Where the last run ended.
    sweep_byte: u64,
    /// Writes that wait for space, in order of arrival.
    pub(crate) waiting: VecDeque<u32>,
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
        let old = self.dirty.get(&start_byte).copied().unwrap_or(0);
        let more = u64::from(length_bytes.saturating_sub(old));
        if self.used_bytes + more > self.room_bytes {
            return false;
        }
        self.used_bytes += more;
        // Older data for the same place is superseded.
        self.dirty.insert(start_byte, length_bytes.max(old));
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    /// Whether a read finds all its bytes here.
    pub(crate) fn holds(&self, start_byte: u64, end_byte: u64) -> bool {
        let below = self.dirty.range(..=start_byte).next_back();
        below.is_some_and(|(&first, &length)| first + u64::from(length) >= end_byte)
    }

    /// Removes what is to be written next.
    pub(crate) fn next_run(&mut self) -> Option<Run> {
        let next = self.dirty.range(self.sweep_byte..).next().or_else(|| self.dirty.iter().next());
        let (&start_byte, &length) = next?;
        self.dirty.remove(&start_byte);
        let mut held_bytes = u64::from(length);
        let mut end_byte = start_byte + held_bytes;
        while held_bytes < RUN_BYTES
            && let Some(length) = self.dirty.remove(&end_byte)
        {
            held_bytes += u64::from(length);
            end_byte += u64::from(length);
        }
        self.sweep_byte = end_byte;
        Some(Run { start_byte, end_byte, held_bytes })
    }

    /// A run is on the platters.
    pub(crate) fn written(&mut self, run: Run) {
        self.used_bytes -= run.held_bytes;
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
