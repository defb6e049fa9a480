//! iSCSI's messages (RFC 7143 section 11): the header of 48 bytes and what follows it.

use crate::xdr::Garbage;

/// The length of the basic header segment.
pub(super) const HEADER_BYTES: usize = 48;

/// The most data in one message to the target, as declared at login, in bytes.
pub(super) const MAX_SEGMENT_BYTES: usize = 256 << 10;

/// The tag that identifies no task.
pub(super) const NO_TAG: u32 = u32::MAX;

/// The flag of the last message of a sequence.
pub(super) const FINAL: u8 = 0x80;

/// What an initiator sends (section 11.1.1.2).
pub(super) mod request {
    pub(in super::super) const NOP_OUT: u8 = 0x00;
    pub(in super::super) const SCSI_COMMAND: u8 = 0x01;
    pub(in super::super) const TASK_MANAGEMENT: u8 = 0x02;
    pub(in super::super) const LOGIN: u8 = 0x03;
    pub(in super::super) const TEXT: u8 = 0x04;
    pub(in super::super) const DATA_OUT: u8 = 0x05;
    pub(in super::super) const LOGOUT: u8 = 0x06;
}

/// What a target sends.
pub(super) mod response {
    pub(in super::super) const NOP_IN: u8 = 0x20;
    pub(in super::super) const SCSI_RESPONSE: u8 = 0x21;
    pub(in super::super) const TASK_MANAGEMENT: u8 = 0x22;
    pub(in super::super) const LOGIN: u8 = 0x23;
    pub(in super::super) const TEXT: u8 = 0x24;
    pub(in super::super) const DATA_IN: u8 = 0x25;
    pub(in super::super) const LOGOUT: u8 = 0x26;
    pub(in super::super) const READY_TO_TRANSFER: u8 = 0x31;
    pub(in super::super) const REJECT: u8 = 0x3f;
}

/// A received message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) header: &'a [u8; HEADER_BYTES],
    pub(super) data: &'a [u8],
}

impl<'a> Request<'a> {
    /// The first message in `bytes` and what follows it; `None` if it is incomplete.
    ///
    /// # Errors
    /// It is longer than negotiated.
    #[inline]
    pub(super) fn split(bytes: &'a [u8]) -> Result<Option<(Self, &'a [u8])>, Garbage> {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let additional = 4 * usize::from(header[4]);
        let length = u32::from_be_bytes([0, header[5], header[6], header[7]]) as usize;
        if length > MAX_SEGMENT_BYTES {
            return Err(Garbage);
        }
        let padded = length.next_multiple_of(4);
        if rest.len() < additional + padded {
            return Ok(None);
        }
        let (_, rest) = rest.split_at(additional);
        let (data, rest) = rest.split_at(padded);
        Ok(Some((Self { header, data: &data[..length] }, rest)))
    }

    #[inline]
    pub(super) fn opcode(&self) -> u8 {
        self.header[0] & 0x3f
    }

    pub(super) fn is_immediate(&self) -> bool {
        self.header[0] & 0x40 != 0
    }

    #[inline]
    pub(super) fn is_final(&self) -> bool {
        self.header[1] & FINAL != 0
    }

    /// One of the header's words as a number.
    #[inline]
    pub(super) fn word<const WORD: usize>(&self) -> u32 {
        const { assert!(4 * WORD + 4 <= HEADER_BYTES) };
        let at = 4 * WORD;
        let header = self.header;
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    }

    /// The initiator's task tag.
    #[inline]
    pub(super) fn tag(&self) -> u32 {
        self.word::<4>()
    }

    /// The command's sequence number.
    #[inline]
    pub(super) fn command_number(&self) -> u32 {
        self.word::<6>()
    }
}

/// The header of a message to send, as twelve words.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Header {
    words: [u32; 12],
}

impl Header {
    /// `status` is the fourth byte, which only messages about SCSI commands use.
    #[inline]
    pub(super) fn new(opcode: u8, flags: u8, status: u8, data_bytes: u32, tag: u32) -> Self {
        let mut words = [0; 12];
        words[0] = u32::from_be_bytes([opcode, flags, 0, status]);
        words[1] = data_bytes & 0x00ff_ffff;
        words[4] = tag;
        Self { words }
    }

    #[inline]
    pub(super) fn with<const WORD: usize>(mut self, value: u32) -> Self {
        const { assert!(WORD < 12) };
        self.words[WORD] = value;
        self
    }

    #[inline]
    pub(super) fn put(self, to: &mut Vec<u8>) {
        let mut bytes = [0; HEADER_BYTES];
        let (chunks, _) = bytes.as_chunks_mut();
        for (chunk, word) in chunks.iter_mut().zip(self.words) {
            *chunk = word.to_be_bytes();
        }
        to.extend_from_slice(&bytes);
    }
}

/// Appends data and its padding.
pub(super) fn put_data(to: &mut Vec<u8>, data: &[u8]) {
    to.extend_from_slice(data);
    let padding = data.len().next_multiple_of(4) - data.len();
    to.extend_from_slice(&[0; 3][..padding]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_apart() {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[0] = 0x41;
        bytes[4] = 1;
        bytes[7] = 5;
        bytes[19] = 9;
        bytes.extend_from_slice(b"AHS.hello...rest");
        assert!(Request::split(&bytes[..HEADER_BYTES + 8]).unwrap().is_none());
        let (request, rest) = Request::split(&bytes).unwrap().unwrap();
        assert!(request.is_immediate());
        assert_eq!((request.opcode(), request.tag(), request.data), (1, 9, &b"hello"[..]));
        assert_eq!(rest, b"rest");
    }

    #[test]
    fn claimed_lengths_are_bounded() {
        let mut bytes = [0; HEADER_BYTES];
        bytes[5..8].fill(0xff);
        assert!(Request::split(&bytes).is_err());
    }

    #[test]
    fn a_header_has_its_numbers_in_place() {
        let mut bytes = Vec::new();
        Header::new(0x25, 0x81, 2, 4096, 7).with::<11>(3).put(&mut bytes);
        assert_eq!(bytes.len(), HEADER_BYTES);
        assert_eq!(bytes[..8], [0x25, 0x81, 0, 2, 0, 0, 0x10, 0]);
        assert_eq!((bytes[19], bytes[47]), (7, 3));
    }
}
