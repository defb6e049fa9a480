//! The buffers of connections: payload is sent from them and received into them.

use std::ops::Range;

use super::{SocketError, SocketSpan};
use crate::EngineError;
use crate::buffer::Buffers;
use crate::operation::{Kind, Refusal};

/// The buffers to which spans refer by index.
///
/// As with files, a buffer is lent only as the kernel's use of it allows: while it is being sent it
/// can be read, while a receive may fill it it cannot be accessed at all.
pub struct Pool {
    buffers: Buffers,
}

impl Pool {
    pub(super) fn new(count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        Ok(Self { buffers: Buffers::new(count, buffer_bytes)? })
    }

    /// The bytes of a span; `None` while a receive may fill its buffer, or if it does not exist.
    #[inline]
    pub fn bytes(&self, span: SocketSpan) -> Option<&[u8]> {
        self.buffers.get(span.buffer)?.get(range(span))
    }

    /// The bytes of a span for writing; `None` while its buffer is in use, or if it does not exist.
    #[inline]
    pub fn bytes_mut(&mut self, span: SocketSpan) -> Option<&mut [u8]> {
        self.buffers.get_mut(span.buffer)?.get_mut(range(span))
    }

    /// The buffer for writing; `None` while it is in use, or if it does not exist.
    #[inline]
    pub fn buffer_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        self.buffers.get_mut(index)
    }

    /// Number of buffers.
    pub fn buffer_count(&self) -> u32 {
        self.buffers.count() as u32
    }

    /// Size of a buffer in bytes.
    pub fn buffer_bytes(&self) -> usize {
        self.buffers.bytes()
    }

    /// Registers a use of the span's buffer ([`Kind::Read`] fills it, [`Kind::Write`] sends it) and
    /// returns the span's address. The caller may access the span's bytes accordingly until
    /// [`release`](Self::release).
    #[inline]
    pub(super) fn claim(&mut self, kind: Kind, span: SocketSpan) -> Result<*mut u8, SocketError> {
        let SocketSpan { buffer, offset, length } = span;
        let outside = SocketError::Span { buffer, offset, length };
        let end = offset.checked_add(length).ok_or(outside)?;
        match self.buffers.claim(kind, buffer, end) {
            // The span ends within the buffer, so its start does too.
            Ok(address) => Ok(address.wrapping_add(offset as usize)),
            Err(Refusal::Busy) => Err(SocketError::Busy { buffer }),
            Err(_) => Err(outside),
        }
    }

    /// Unregisters one use of a buffer.
    #[inline]
    pub(super) fn release(&mut self, buffer: u32) {
        self.buffers.release(buffer);
    }

    /// The memory itself, for code that must keep it alive.
    pub(super) fn mapping(&self) -> &std::sync::Arc<crate::buffer::Mapping> {
        self.buffers.mapping()
    }
}

/// The range of a span within its buffer. The sum of two `u32` fits.
fn range(span: SocketSpan) -> Range<usize> {
    let start = span.offset as usize;
    start..start + span.length as usize
}
