//! The buffers of connections: payload is sent from them and received into them.

use std::ops::Range;

use super::{SocketError, SocketSpan};
use crate::EngineError;
use crate::buffer::Buffers;
use crate::operation::{Kind, Refusal};

/// The buffers that spans name by index.
///
/// As with files, a buffer is lent out only as the kernel's use of it allows: while it is sent from
/// it can be read, while a receive may fill it it cannot be seen at all.
pub struct Pool {
    buffers: Buffers,
}

impl Pool {
    pub(super) fn new(count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        Ok(Self { buffers: Buffers::new(count, buffer_bytes)? })
    }

    /// The bytes of a span; `None` while a receive may fill its buffer, or if there are none such.
    #[inline]
    pub fn bytes(&self, span: SocketSpan) -> Option<&[u8]> {
        self.buffers.get(span.buffer)?.get(range(span))
    }

    /// The bytes of a span for writing; `None` while its buffer is in use, or if there are none
    /// such.
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

    /// Bytes of one buffer.
    pub fn buffer_bytes(&self) -> usize {
        self.buffers.bytes()
    }

    /// Counts a use of the span's buffer in ([`Kind::Read`] fills it, [`Kind::Write`] sends it) and
    /// gives the span's address. Whoever gets it may access the span's bytes accordingly until
    /// [`release`](Self::release).
    #[inline]
    pub(super) fn claim(&mut self, kind: Kind, span: SocketSpan) -> Result<*mut u8, SocketError> {
        let SocketSpan { buffer, offset, length } = span;
        let outside = SocketError::Span { buffer, offset, length };
        let end = offset.checked_add(length).ok_or(outside)?;
        match self.buffers.claim(kind, buffer, end) {
            // The span ends within the buffer, so its begin does.
            Ok(address) => Ok(address.wrapping_add(offset as usize)),
            Err(Refusal::Busy) => Err(SocketError::Busy { buffer }),
            Err(_) => Err(outside),
        }
    }

    /// Counts one use of a buffer out.
    #[inline]
    pub(super) fn release(&mut self, buffer: u32) {
        self.buffers.release(buffer);
    }

    /// The memory itself, for those who must keep it alive.
    pub(super) fn mapping(&self) -> &std::sync::Arc<crate::buffer::Mapping> {
        self.buffers.mapping()
    }
}

/// Where a span lies in its buffer. The sum of two `u32` fits.
fn range(span: SocketSpan) -> Range<usize> {
    let start = span.offset as usize;
    start..start + span.length as usize
}
