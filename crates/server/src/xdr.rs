//! XDR (RFC 4506): numbers are big-endian, opaque data is padded to four bytes.

use thiserror::Error;

/// The arguments end early or exceed what the protocol allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the arguments are cut off or too long; the client is broken")]
pub(crate) struct Garbage;

/// The unread rest of the arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Garbage> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(Garbage)?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*first))
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Result<u64, Garbage> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(Garbage)?;
        self.rest = rest;
        Ok(u64::from_be_bytes(*first))
    }

    /// An optional value's mark, or a boolean.
    pub(crate) fn flag(&mut self) -> Result<bool, Garbage> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Garbage),
        }
    }

    /// Opaque data of variable length, at most `max` bytes.
    #[inline]
    pub(crate) fn opaque(&mut self, max: usize) -> Result<&'a [u8], Garbage> {
        let length = self.u32()? as usize;
        if length > max {
            return Err(Garbage);
        }
        let data = self.rest.get(..length).ok_or(Garbage)?;
        self.rest = self.rest.get(length.next_multiple_of(4)..).ok_or(Garbage)?;
        Ok(data)
    }
}

/// Appends to a reply.
pub(crate) trait Put {
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    fn put_opaque(&mut self, data: &[u8]);
}

impl Put for Vec<u8> {
    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_opaque(&mut self, data: &[u8]) {
        self.put_u32(data.len() as u32);
        self.extend_from_slice(data);
        let padding = data.len().next_multiple_of(4) - data.len();
        self.extend_from_slice(&[0; 3][..padding]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut bytes = Vec::new();
        bytes.put_u32(7);
        bytes.put_opaque(b"abcde");
        bytes.put_u64(1 << 40);
        assert_eq!(bytes, b"\0\0\0\x07\0\0\0\x05abcde\0\0\0\0\0\x01\0\0\0\0\0");
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.u32(), Ok(7));
        assert_eq!(reader.opaque(5), Ok(&b"abcde"[..]));
        assert_eq!(reader.u64(), Ok(1 << 40));
        assert_eq!(reader.u32(), Err(Garbage));
    }

    #[test]
    fn lengths_are_not_believed() {
        let mut long = Vec::new();
        long.put_opaque(b"abcdef");
        assert_eq!(Reader::new(&long).opaque(5), Err(Garbage));
        assert_eq!(Reader::new(&long[..10]).opaque(64), Err(Garbage), "padding is missing");
        assert_eq!(Reader::new(&[0xff; 8]).opaque(usize::MAX), Err(Garbage));
        assert_eq!(Reader::new(&[0, 0, 0, 2]).flag(), Err(Garbage));
    }
}
