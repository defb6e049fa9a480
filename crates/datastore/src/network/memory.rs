//! The engine's buffers as sessions see them, and the user of each.

use stormeter_uring::{Pool, SocketPiece, SocketSpan};
use stormeter_wire::{Memory, Piece, Span};

/// The engine's pool as a session's memory.
pub(crate) struct PoolMemory<'a>(pub(super) &'a mut Pool);

impl Memory for PoolMemory<'_> {
    #[inline]
    fn bytes(&self, span: Span) -> Option<&[u8]> {
        self.0.bytes(socket_span(span))
    }

    #[inline]
    fn bytes_mut(&mut self, span: Span) -> Option<&mut [u8]> {
        self.0.bytes_mut(socket_span(span))
    }
}

/// The engine knows nothing of sessions, so it has a word of its own for the same thing.
#[inline]
pub(super) fn socket_span(span: Span) -> SocketSpan {
    SocketSpan { buffer: span.buffer, offset: span.offset, length: span.length }
}

/// See [`socket_span`].
#[inline]
pub(super) fn socket_piece(piece: &Piece) -> SocketPiece {
    match *piece {
        Piece::Bytes(length) => SocketPiece::Bytes(length),
        Piece::Payload(span) => SocketPiece::Payload(socket_span(span)),
    }
}

/// Which buffers belong to outstanding operations. The engine only knows of transfers under way;
/// an operation may wait for its turn, or be sent again, long before and after those.
#[derive(Default)]
pub(super) struct BufferUse {
    /// Outstanding operations of each buffer.
    users: Vec<u32>,
    /// The buffer of each slot's operation.
    buffer_of: Vec<u32>,
}

impl BufferUse {
    pub(super) fn new(buffers: u32) -> Self {
        Self { users: vec![0; buffers as usize], buffer_of: Vec::new() }
    }

    #[inline]
    pub(super) fn begin(&mut self, slot: u32, buffer: u32) {
        let slot = slot as usize;
        if slot >= self.buffer_of.len() {
            self.buffer_of.resize(slot + 1, u32::MAX);
        }
        self.buffer_of[slot] = buffer;
        if let Some(users) = self.users.get_mut(buffer as usize) {
            *users += 1;
        }
    }

    #[inline]
    pub(super) fn end(&mut self, slot: u32) {
        let Some(&buffer) = self.buffer_of.get(slot as usize) else { return };
        if let Some(users) = self.users.get_mut(buffer as usize) {
            *users = users.saturating_sub(1);
        }
    }

    #[inline]
    pub(super) fn is_free(&self, buffer: u32) -> bool {
        self.users.get(buffer as usize) == Some(&0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_free_when_its_last_operation_has_ended() {
        let mut buffers = BufferUse::new(2);
        buffers.begin(5, 1);
        buffers.begin(0, 1);
        assert!(buffers.is_free(0) && !buffers.is_free(1));
        buffers.end(5);
        assert!(!buffers.is_free(1));
        buffers.end(0);
        assert!(buffers.is_free(1));
        assert!(!buffers.is_free(2), "there is no such buffer");
    }
}
