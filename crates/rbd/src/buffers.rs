//! The memory of asynchronous I/O, and which code may access which part of it.
//!
//! Between submission and callback the library's threads read or write memory that the driving thread can reach too. As in
//! the crate `uring`, operations in flight are counted for each buffer, and a slice is lent only where no operation uses
//! the buffer. The memory itself is owned by an `Arc` that each operation holds, too.

use std::cell::UnsafeCell;
use std::sync::Arc;

/// A page of memory: buffers start at its multiples.
const PAGE_BYTES: usize = 4096;
/// The count of a buffer that a read fills.
const READING: u32 = u32::MAX;

#[repr(C, align(4096))]
struct Page(UnsafeCell<[u8; PAGE_BYTES]>);

/// The pages of all buffers.
pub(crate) struct Memory(Box<[Page]>);

// SAFETY: the bytes are reached through `Buffers` alone, which lends them to its owner or to operations, never to both.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Buffers of equal size.
pub(crate) struct Buffers {
    memory: Arc<Memory>,
    bytes: usize,
    /// For each buffer: 0, the number of writes in flight, or [`READING`].
    users: Box<[u32]>,
}

impl Buffers {
    /// `count` buffers of at least `bytes` each, zeroed.
    pub(crate) fn new(count: u32, bytes: u32) -> Self {
        let bytes = (bytes as usize).next_multiple_of(PAGE_BYTES);
        let pages = count as usize * (bytes / PAGE_BYTES);
        let page = || Page(UnsafeCell::new([0; PAGE_BYTES]));
        let memory = Arc::new(Memory(std::iter::repeat_with(page).take(pages).collect()));
        Self { memory, bytes, users: vec![0; count as usize].into() }
    }

    /// What an operation keeps alive.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    fn address(&self, index: u32) -> *mut u8 {
        let first_page = index as usize * (self.bytes / PAGE_BYTES);
        // From the pointer to the whole slice, so that it may reach over the pages that follow.
        let base = self.memory.0.as_ptr().cast::<u8>().cast_mut();
        base.wrapping_add(first_page * PAGE_BYTES)
    }

    /// The bytes of a buffer, unless an operation uses it or there is no such buffer.
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        if *self.users.get(index as usize)? != 0 {
            return None;
        }
        // SAFETY: the index is in range, so the bytes lie in the memory, which lives as long as `self`, is initialised and
        // lies in `UnsafeCell`s. No operation uses the buffer, and `&mut self` excludes new ones and other slices.
        Some(unsafe { std::slice::from_raw_parts_mut(self.address(index), self.bytes) })
    }

    /// Registers a read or write of the first `length` bytes of a buffer and returns its address, valid until
    /// [`Buffers::release`] for as long as [`Buffers::memory`] is held. `None` if there is no such buffer, it is too short,
    /// or its use by others excludes this one.
    pub(crate) fn claim(&mut self, index: u32, length: u32, is_read: bool) -> Option<*mut u8> {
        let users = self.users.get_mut(index as usize)?;
        if length as usize > self.bytes || *users >= READING - 1 || (is_read && *users != 0) {
            return None;
        }
        *users = if is_read { READING } else { *users + 1 };
        Some(self.address(index))
    }

    /// Unregisters one finished operation.
    pub(crate) fn release(&mut self, index: u32) {
        if let Some(users) = self.users.get_mut(index as usize) {
            *users = if *users == READING { 0 } else { users.saturating_sub(1) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_in_use_is_not_lent() {
        let mut buffers = Buffers::new(2, 5000);
        buffers.get_mut(1).unwrap().fill(9);
        assert_eq!(buffers.get_mut(0).unwrap().len(), 8192);
        assert!(buffers.get_mut(0).unwrap().iter().all(|&byte| byte == 0));
        let first = buffers.claim(0, 8192, false).unwrap();
        assert_eq!(buffers.claim(0, 1, false), Some(first));
        assert!(first.addr().is_multiple_of(PAGE_BYTES));
        assert_eq!(buffers.claim(0, 1, true), None);
        assert!(buffers.get_mut(0).is_none() && buffers.get_mut(1).is_some());
        buffers.release(0);
        assert!(buffers.get_mut(0).is_none());
        buffers.release(0);
        assert!(buffers.get_mut(0).is_some());
        assert!(buffers.claim(0, 1, true).is_some());
        assert_eq!(buffers.claim(0, 1, false), None);
        assert_eq!(buffers.claim(1, 8193, false), None);
        assert_eq!(buffers.claim(2, 1, false), None);
    }
}
