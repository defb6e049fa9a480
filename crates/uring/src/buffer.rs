//! The engine's memory, and which code may access which part of it.
//!
//! io_uring is asynchronous: between submission and completion the kernel reads or writes memory
//! that the process can also access. The pool keeps that sound by counting, for each buffer, the
//! operations that use it, and by lending slices only where the count allows it:
//!
//! | in flight | `get` | `get_mut` | a write may start | a read may start |
//! |---|---|---|---|---|
//! | nothing | yes | yes | yes | yes |
//! | writes (the kernel reads) | yes | no | yes | no |
//! | a read (the kernel writes) | no | no | no | no |
//!
//! One anonymous mapping holds all buffers: the kernel zeroes pages when they are first touched, so
//! unused buffers cost nothing (until they are registered, which touches all of them).

use std::io;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use crate::EngineError;
use crate::operation::{Kind, Refusal};

/// Alignment and size granularity of buffers in bytes: enough for `O_DIRECT` on every block size
/// that Linux file systems use, and the page size of most machines.
pub const BUFFER_ALIGNMENT: usize = 4096;

/// The count of a buffer that a read is filling.
const READING: u32 = u32::MAX;

/// An anonymous private mapping, unmapped when its last owner drops it.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread; this type itself never dereferences
// its pointer, and the code that does (`Buffers`, the positional workers) follows the counts above.
unsafe impl Send for Mapping {}
// SAFETY: as above; a shared reference exposes nothing but the address.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.max(BUFFER_ALIGNMENT);
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that
        // exists.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at zero"))?;
        Ok(Self { base, bytes })
    }

    /// The start address.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` made exactly this mapping; all code that may still access it holds an `Arc`
        // of it (or has leaked one), so no access can follow.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// The pool of buffers of one engine.
pub(crate) struct Buffers {
    base: *mut u8,
    /// Bytes of one buffer, a multiple of [`BUFFER_ALIGNMENT`].
    bytes: usize,
    /// For each buffer: 0, the number of writes in flight, or [`READING`].
    users: Box<[u32]>,
    mapping: Arc<Mapping>,
}

impl Buffers {
    /// Maps `count` buffers of at least `buffer_bytes` each.
    pub(crate) fn new(count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        let bytes = (buffer_bytes as usize).next_multiple_of(BUFFER_ALIGNMENT);
        let total = bytes as u64 * u64::from(count);
        let failed = |source| EngineError::Memory { bytes: total, source };
        let mapped = usize::try_from(total)
            .map_err(|_| failed(io::Error::from_raw_os_error(libc::ENOMEM)))?;
        let mapping = Arc::new(Mapping::new(mapped).map_err(failed)?);
        Ok(Self {
            base: mapping.base(),
            bytes,
            users: vec![0; count as usize].into_boxed_slice(),
            mapping,
        })
    }

    /// The number of buffers.
    pub(crate) fn count(&self) -> usize {
        self.users.len()
    }

    /// Bytes of one buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory itself, for code that must keep it alive.
    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// The address of buffer `index`, which must be below [`count`](Self::count).
    #[inline]
    pub(crate) fn address(&self, index: usize) -> *mut u8 {
        debug_assert!(index < self.users.len());
        self.base.wrapping_add(index * self.bytes)
    }

    /// The buffer's contents, unless a read is filling it or it does not exist.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&[u8]> {
        let users = *self.users.get(index as usize)?;
        if users == READING {
            return None;
        }
        // SAFETY: the index is in range, so the region lies in the mapping, which lives as long as
        // `self` and is initialised (zeroed by the kernel). No read is in flight, hence nothing
        // writes to it; `&self` excludes `claim` (a new read) and `get_mut` meanwhile.
        Some(unsafe { slice::from_raw_parts(self.address(index as usize), self.bytes) })
    }

    /// The buffer for writing, unless it is in use or does not exist.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        let users = *self.users.get(index as usize)?;
        if users != 0 {
            return None;
        }
        // SAFETY: as in `get`; no operation at all is in flight on the buffer, and `&mut self`
        // excludes every other slice and every new operation while the slice lives.
        Some(unsafe { slice::from_raw_parts_mut(self.address(index as usize), self.bytes) })
    }

    /// Registers a read or write of the first `length` bytes of buffer `index`, and returns the
    /// buffer's address. The caller may access those bytes, exclusively for a read, until
    /// [`release`](Self::release).
    #[inline]
    pub(crate) fn claim(
        &mut self,
        kind: Kind,
        index: u32,
        length: u32,
    ) -> Result<*mut u8, Refusal> {
        let Some(users) = self.users.get_mut(index as usize) else {
            return Err(Refusal::Buffer);
        };
        if length as usize > self.bytes {
            return Err(Refusal::Length);
        }
        if kind == Kind::Read {
            if *users != 0 {
                return Err(Refusal::Busy);
            }
            *users = READING;
        } else {
            // One below, so that the count never reaches READING.
            if *users >= READING - 1 {
                return Err(Refusal::Busy);
            }
            *users += 1;
        }
        Ok(self.address(index as usize))
    }

    /// Unregisters one finished operation. An index out of range (a flush's) is ignored.
    #[inline]
    pub(crate) fn release(&mut self, index: u32) {
        if let Some(users) = self.users.get_mut(index as usize) {
            *users = if *users == READING { 0 } else { users.saturating_sub(1) };
        }
    }
}
