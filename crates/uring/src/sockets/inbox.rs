//! Received bytes until they are consumed.
//!
//! The filled part belongs to the caller for reading, the tail behind it to the kernel for writing
//! while a receive is armed. The two never overlap, and no reference ever covers the tail. Bytes
//! move to the front only if the tail has become short, so that a message is rarely moved and never
//! twice.

use std::{io, ptr, slice};

use crate::buffer::Mapping;

/// Bytes received and not consumed, in order.
pub(super) struct Inbox {
    memory: Mapping,
    capacity: usize,
    /// The filled part.
    start: usize,
    end: usize,
}

impl Inbox {
    pub(super) fn new(capacity: usize) -> io::Result<Self> {
        Ok(Self { memory: Mapping::new(capacity)?, capacity, start: 0, end: 0 })
    }

    /// Bytes that were received and not consumed.
    #[inline]
    pub(super) fn filled(&self) -> &[u8] {
        // SAFETY: start and end lie within the mapping, which is initialised. The kernel writes
        // only behind `end`; moving bytes (`tail`) needs `&mut self`.
        unsafe { slice::from_raw_parts(self.memory.base().add(self.start), self.end - self.start) }
    }

    /// Removes bytes from the front, at most all.
    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        self.start += bytes.min(self.end - self.start);
    }

    /// The space behind the received bytes. Call it only while the kernel uses none of it: it may
    /// move the filled part.
    #[inline]
    pub(super) fn tail(&mut self) -> (*mut u8, usize) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else {
            let short = self.capacity - self.end < self.capacity / 2;
            // A quarter was consumed since the last time: moving costs a bounded amount per byte.
            if (short && self.start >= self.capacity / 4) || self.end == self.capacity {
                self.move_to_front();
            }
        }
        (self.memory.base().wrapping_add(self.end), self.capacity - self.end)
    }

    fn move_to_front(&mut self) {
        let length = self.end - self.start;
        let base = self.memory.base();
        // SAFETY: both runs lie in the mapping and `copy` allows them to overlap; by the contract of
        // `tail` the kernel is not writing, and `&mut self` excludes slices.
        unsafe { ptr::copy(base.add(self.start), base, length) };
        (self.start, self.end) = (0, length);
    }

    /// The kernel has written this many bytes to the tail.
    #[inline]
    pub(super) fn grow(&mut self, bytes: usize) {
        self.end += bytes.min(self.capacity - self.end);
    }

    /// Discards the contents.
    pub(super) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }
}
