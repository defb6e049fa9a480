//! What is to be sent on one connection, in order: bytes that the session made, and spans of the
//! transport's buffers, which are sent from where they are.

use crate::memory::Span;

/// One piece of the data to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// This many of the outbox's own bytes, after those of the previous piece.
    Bytes(u32),
    /// Bytes of one of the transport's buffers.
    Payload(Span),
}

/// Bytes and spans waiting to be sent. Everything that accumulates between two sends goes out
/// together.
#[derive(Debug, Clone, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    /// Own bytes from here on do not belong to a piece yet: runs of headers become one piece.
    covered: usize,
    payload_bytes: usize,
}

impl Outbox {
    /// Appends bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The vector to which encoders append bytes. Its existing contents must stay.
    #[inline]
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends a span of the transport's buffers.
    #[inline]
    pub fn payload(&mut self, span: Span) {
        if span.length == 0 {
            return;
        }
        self.cover();
        self.pieces.push(Piece::Payload(span));
        self.payload_bytes += span.length as usize;
    }

    #[inline]
    fn cover(&mut self) {
        if self.covered < self.bytes.len() {
            self.pieces.push(Piece::Bytes((self.bytes.len() - self.covered) as u32));
            self.covered = self.bytes.len();
        }
    }

    /// Whether nothing is waiting.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.pieces.is_empty()
    }

    /// Waiting bytes that the session made (without payload).
    #[inline]
    pub fn own_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// All waiting bytes, including payload.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.payload_bytes
    }

    /// The outbox's own bytes and the order in which everything will be sent.
    #[inline]
    pub fn contents(&mut self) -> (&mut Vec<u8>, &[Piece]) {
        self.cover();
        (&mut self.bytes, &self.pieces)
    }

    /// Discards everything, keeping the allocated memory.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.pieces.clear();
        self.covered = 0;
        self.payload_bytes = 0;
    }

    /// Everything as one run of bytes, with the payload taken from `memory`; for tests and for
    /// connections where speed does not matter. Spans that are not in the memory are left out.
    pub fn gather(&mut self, memory: &impl crate::Memory) -> Vec<u8> {
        self.cover();
        let mut all = Vec::with_capacity(self.length());
        let mut own = 0;
        for piece in &self.pieces {
            match *piece {
                Piece::Bytes(length) => {
                    all.extend_from_slice(&self.bytes[own..own + length as usize]);
                    own += length as usize;
                }
                Piece::Payload(span) => all.extend_from_slice(memory.bytes(span).unwrap_or(&[])),
            }
        }
        self.clear();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Heap;

    #[test]
    fn order_is_kept_and_headers_join() {
        let mut outbox = Outbox::default();
        assert!(outbox.is_empty());
        outbox.put(b"ab");
        outbox.tail().extend_from_slice(b"cd");
        let span = Span { buffer: 0, offset: 1, length: 2 };
        outbox.payload(span);
        outbox.payload(Span { length: 0, ..span });
        outbox.put(b"e");
        assert_eq!(outbox.length(), 7);
        let (bytes, pieces) = outbox.contents();
        assert_eq!(bytes, b"abcde");
        assert_eq!(pieces, [Piece::Bytes(4), Piece::Payload(span), Piece::Bytes(1)]);
        let heap = Heap { buffers: vec![b"xyz".to_vec()] };
        assert_eq!(outbox.gather(&heap), b"abcdyze");
        assert!(outbox.is_empty());
        assert_eq!(outbox.length(), 0);
    }
}
