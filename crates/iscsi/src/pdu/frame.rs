//! A PDU on the wire (RFC 7143 §11.1): header, additional headers, header digest, data, padding to
//! four bytes, data digest. Digests are CRC32C, sent least significant byte first, as in the
//! examples of RFC 7143 Appendix B.4.

use stormeter_wire::{Outbox, Span};

use super::bhs::{BHS_BYTES, Bhs};

/// Which digests protect a connection's PDUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digests {
    /// CRC32C over the headers.
    pub header: bool,
    /// CRC32C over data and padding.
    pub data: bool,
}

/// Why bytes are not a valid PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The header digest differs.
    #[error(
        "header digest {found:#010x} where {computed:#010x} belongs: the bytes were changed on the \
         way; check the network cards, cables and offloads between here and the target"
    )]
    HeaderDigest {
        /// The digest in the PDU.
        found: u32,
        /// The digest of the received bytes.
        computed: u32,
    },
    /// The data digest differs.
    #[error(
        "data digest {found:#010x} where {computed:#010x} belongs: the bytes were changed on the \
         way; check the network cards, cables and offloads between here and the target"
    )]
    DataDigest {
        /// The digest in the PDU.
        found: u32,
        /// The digest of the received bytes.
        computed: u32,
    },
    /// The data segment is longer than declared.
    #[error(
        "a PDU of {claimed_bytes} bytes where at most {declared_bytes} were declared: the target \
         breaks MaxRecvDataSegmentLength; look for an update of it"
    )]
    TooLong {
        /// DataSegmentLength.
        claimed_bytes: u32,
        /// MaxRecvDataSegmentLength.
        declared_bytes: u32,
    },
}

/// The data segment of a PDU to send.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Bytes to copy.
    Bytes(&'a [u8]),
    /// A span of the transport's buffers, sent in place; its bytes are read only for a data digest.
    Span(Span, &'a [u8]),
}

/// Number of zeros that pad `length` bytes to a multiple of four.
#[inline]
pub const fn padding_bytes(length: u32) -> u32 {
    length.wrapping_neg() & 3
}

/// Bytes before the data segment.
#[inline]
pub fn header_bytes(bhs: &Bhs, digests: Digests) -> usize {
    BHS_BYTES + bhs.additional_bytes() as usize + if digests.header { 4 } else { 0 }
}

/// CRC32C of two runs of bytes.
pub fn crc(first: &[u8], second: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(first), second)
}

/// Appends a PDU that consists of a header only, with data length 0.
#[inline]
pub(crate) fn put_header(out: &mut Outbox, bhs: &Bhs, digests: Digests) {
    out.put(&bhs.0);
    if digests.header {
        out.put(&crc32c::crc32c(&bhs.0).to_le_bytes());
    }
}

/// Appends a PDU without additional headers, and writes the data length into the header.
#[inline]
pub fn put(out: &mut Outbox, bhs: &mut Bhs, data: Data<'_>, digests: Digests) {
    let length = match data {
        Data::Bytes(bytes) => bytes.len() as u32,
        Data::Span(span, _) => span.length,
    };
    bhs.set_data_bytes(length);
    put_header(out, bhs, digests);
    if length == 0 {
        return;
    }
    let bytes = match data {
        Data::Bytes(bytes) => {
            out.put(bytes);
            bytes
        }
        Data::Span(span, bytes) => {
            out.payload(span);
            bytes
        }
    };
    let padding = &[0; 3][..padding_bytes(length) as usize];
    out.put(padding);
    if digests.data {
        out.put(&crc(bytes, padding).to_le_bytes());
    }
}

/// A complete PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole<'a> {
    /// Its header.
    pub bhs: Bhs,
    /// Its data segment.
    pub data: &'a [u8],
    /// Its total length in bytes.
    pub total_bytes: usize,
}

/// Parses the PDU at the start of `bytes`; `None` while it is incomplete.
///
/// # Errors
/// A digest mismatch, or a data segment longer than `max_data_bytes`.
pub fn parse(
    bytes: &[u8],
    digests: Digests,
    max_data_bytes: u32,
) -> Result<Option<Whole<'_>>, FrameError> {
    let Some(bhs) = bytes.first_chunk::<BHS_BYTES>().map(|raw| Bhs(*raw)) else {
        return Ok(None);
    };
    let begin = header_bytes(&bhs, digests);
    let Some(header) = bytes.get(..begin) else { return Ok(None) };
    check_header(header, digests)?;
    let length = bhs.data_bytes();
    if length > max_data_bytes {
        return Err(FrameError::TooLong { claimed_bytes: length, declared_bytes: max_data_bytes });
    }
    let padded = begin + (length + padding_bytes(length)) as usize;
    let digest_bytes = if digests.data && length > 0 { 4 } else { 0 };
    let Some(whole) = bytes.get(begin..padded + digest_bytes) else { return Ok(None) };
    if let Some((guarded, digest)) = whole.split_last_chunk::<4>()
        && digest_bytes > 0
    {
        check_data(*digest, crc32c::crc32c(guarded))?;
    }
    let data = whole.get(..length as usize).unwrap_or_default();
    Ok(Some(Whole { bhs, data, total_bytes: padded + digest_bytes }))
}

/// Checks the digest at the end of the headers, if there is one.
pub(crate) fn check_header(header: &[u8], digests: Digests) -> Result<(), FrameError> {
    if !digests.header {
        return Ok(());
    }
    let Some((guarded, digest)) = header.split_last_chunk::<4>() else { return Ok(()) };
    let (found, computed) = (u32::from_le_bytes(*digest), crc32c::crc32c(guarded));
    if found == computed { Ok(()) } else { Err(FrameError::HeaderDigest { found, computed }) }
}

/// Compares a received data digest with the computed one.
pub(crate) fn check_data(digest: [u8; 4], computed: u32) -> Result<(), FrameError> {
    let found = u32::from_le_bytes(digest);
    if found == computed { Ok(()) } else { Err(FrameError::DataDigest { found, computed }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7143 Appendix B.4 (RFC 3720 B.4): the bytes of each digest as sent on the wire.
    #[test]
    fn digests_are_those_of_the_rfc() {
        let up: Vec<u8> = (0..32).collect();
        let down: Vec<u8> = (0..32).rev().collect();
        let mut read = [0; 48];
        for (at, byte) in [
            (0, 0x01),
            (1, 0xc0),
            (16, 0x14),
            (22, 0x04),
            (27, 0x14),
            (31, 0x18),
            (32, 0x28),
            (40, 0x02),
        ] {
            read[at] = byte;
        }
        for (bytes, wire) in [
            (&[0; 32][..], [0xaa, 0x36, 0x91, 0x8a]),
            (&[0xff; 32], [0x43, 0xab, 0xa8, 0x62]),
            (&up, [0x4e, 0x79, 0xdd, 0x46]),
            (&down, [0x5c, 0xdb, 0x3f, 0x11]),
            (&read, [0x56, 0x3a, 0x96, 0xd9]),
        ] {
            assert_eq!(crc32c::crc32c(bytes).to_le_bytes(), wire);
            let (first, second) = bytes.split_at(7);
            assert_eq!(crc(first, second).to_le_bytes(), wire);
        }
    }

    #[test]
    fn a_frame_reads_back_and_every_flipped_bit_is_found() {
        let digests = Digests { header: true, data: true };
        let mut bhs = Bhs([0; 48]);
        bhs.0[0] = 0x24;
        let mut out = Outbox::default();
        put(&mut out, &mut bhs, Data::Bytes(b"hello"), digests);
        let mut bytes = out.gather(&stormeter_wire::Heap::default());
        assert_eq!(bytes.len(), 48 + 4 + 8 + 4);
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut], digests, 5), Ok(None), "cut at {cut}");
        }
        let whole = parse(&bytes, digests, 5).unwrap().unwrap();
        assert_eq!((whole.data, whole.total_bytes), (&b"hello"[..], bytes.len()));
        assert!(matches!(
            parse(&bytes, digests, 4),
            Err(FrameError::TooLong { claimed_bytes: 5, declared_bytes: 4 })
        ));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            // Changing the length of additional headers makes the PDU longer than the available
            // bytes.
            assert!(!matches!(parse(&bytes, digests, 5), Ok(Some(_))), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn additional_headers_are_passed_over() {
        let mut bytes = vec![0; 48];
        bytes[4] = 2;
        bytes[7] = 1;
        bytes.extend_from_slice(b"ignored!");
        bytes.extend_from_slice(b"x\0\0\0");
        let whole = parse(&bytes, Digests::default(), 8192).unwrap().unwrap();
        assert_eq!((whole.data, whole.total_bytes), (&b"x"[..], 60));
    }

    #[test]
    fn padding_fills_up_to_four() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(padding_bytes), [0, 3, 2, 1, 0, 3]);
    }
}
