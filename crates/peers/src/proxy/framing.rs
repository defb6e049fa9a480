//! Message boundaries, for the two protocols that the proxy knows.
//!
//! What cannot be a message is passed on unchanged: the proxy does not judge its servers.

use super::digests::Digests;
use super::{iscsi, rpc};

/// The proxy does not wait for longer messages.
const MESSAGE_MAX_BYTES: usize = 20 << 20;

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Just bytes.
    None,
    /// ONC RPC over TCP: record marking (RFC 5531 section 11).
    Rpc,
    /// iSCSI: protocol data units with their digests (RFC 7143 section 11.2).
    Iscsi,
}

/// Assembles one direction's bytes into messages.
#[derive(Debug)]
pub(crate) struct Assembler {
    framing: Framing,
    bytes: Vec<u8>,
}

impl Assembler {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, bytes: Vec::new() }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if it is complete.
    pub(crate) fn next(&mut self, digests: Digests) -> Option<Vec<u8>> {
        if self.bytes.is_empty() {
            return None;
        }
        let length = match self.framing {
            Framing::None => self.bytes.len(),
            Framing::Rpc => rpc::record_bytes(&self.bytes)?,
            Framing::Iscsi => iscsi::pdu_bytes(&self.bytes, digests)?,
        };
        if length > MESSAGE_MAX_BYTES {
            self.framing = Framing::None;
            return Some(self.rest());
        }
        if self.bytes.len() < length {
            return None;
        }
        let rest = self.bytes.split_off(length);
        Some(std::mem::replace(&mut self.bytes, rest))
    }

    /// What is left at the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(framing: Framing, digests: Digests, stream: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut assembler = Assembler::new(framing);
        let mut messages = Vec::new();
        for bytes in stream.chunks(piece) {
            assembler.feed(bytes);
            messages.extend(std::iter::from_fn(|| assembler.next(digests)));
        }
        assert!(assembler.rest().is_empty());
        messages
    }

    #[test]
    fn records_are_found_however_they_are_cut_or_fragmented() {
        let one = [&[0x80, 0, 0, 3][..], b"abc"].concat();
        let two = [&[0, 0, 0, 1][..], b"d", &[0x80, 0, 0, 2], b"ef"].concat();
        let stream = [one.clone(), two.clone(), one.clone()].concat();
        for piece in 1..=stream.len() {
            let found = messages(Framing::Rpc, Digests::default(), &stream, piece);
            assert_eq!(found, [one.clone(), two.clone(), one.clone()], "in pieces of {piece}");
        }
    }

    #[test]
    fn data_units_are_found_with_padding_header_segments_and_digests() {
        let mut short = vec![0; 48];
        short[7] = 5;
        short.extend(*b"12345\0\0\0");
        let mut long = vec![1; 48];
        long[4..8].copy_from_slice(&[1, 0, 0, 0]);
        long.extend([2; 4]);
        let stream = [short.clone(), long.clone()].concat();
        for piece in 1..=stream.len() {
            let found = messages(Framing::Iscsi, Digests::default(), &stream, piece);
            assert_eq!(found, [short.clone(), long.clone()], "in pieces of {piece}");
        }
        let digests = Digests { header: true, data: true };
        short.extend([9; 8]);
        // Without data there is no data digest.
        long.extend([9; 4]);
        let found = messages(Framing::Iscsi, digests, &[short.clone(), long.clone()].concat(), 7);
        assert_eq!(found, [short, long]);
    }

    #[test]
    fn what_is_too_long_to_be_a_message_passes_as_bytes() {
        let stream = b"GET / HTTP/1.1\r\n";
        assert_eq!(messages(Framing::Rpc, Digests::default(), stream, 4).concat(), stream);
    }
}
