//! External data representation (RFC 4506), as far as NFS needs it.
//!
//! Nothing is allocated by a length that the other end claims: a decoder returns slices of the
//! bytes that really arrived, and each item of variable length has its own limit.

/// Bytes that violate the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum XdrError {
    /// The bytes ended within an item.
    #[error(
        "the message ends within {what}: {needed} bytes belong there, {left} are left; the peer \
         sent a broken message"
    )]
    Truncated {
        /// The item, in words.
        what: &'static str,
        /// Bytes that the item takes.
        needed: usize,
        /// Bytes that were left.
        left: usize,
    },
    /// A length above what the protocol, or this client, allows.
    #[error(
        "{what} claims {length}, at most {limit} are allowed; the peer sent a broken message or \
         speaks another protocol"
    )]
    TooLong {
        /// The item, in words.
        what: &'static str,
        /// The claimed length.
        length: usize,
        /// The largest allowed length.
        limit: usize,
    },
    /// A value that the protocol does not define.
    #[error("{what} cannot be {value}; the peer sent a broken message or speaks another protocol")]
    Undefined {
        /// The item, in words.
        what: &'static str,
        /// What was found.
        value: u32,
    },
}

/// Reads items from the front of a byte slice.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Reads from the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not yet read.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// An unsigned integer of 32 bits.
    ///
    /// # Errors
    /// Too few bytes are left.
    #[inline(always)]
    pub fn u32(&mut self, what: &'static str) -> Result<u32, XdrError> {
        match self.rest.split_first_chunk::<4>() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(u32::from_be_bytes(*bytes))
            }
            None => Err(XdrError::Truncated { what, needed: 4, left: self.rest.len() }),
        }
    }

    /// An unsigned integer of 64 bits.
    ///
    /// # Errors
    /// Too few bytes are left.
    #[inline]
    pub fn u64(&mut self, what: &'static str) -> Result<u64, XdrError> {
        Ok(u64::from_be_bytes(self.array(what)?))
    }

    /// A boolean; anything but 0 and 1 is undefined.
    ///
    /// # Errors
    /// Too few bytes are left, or another number.
    #[inline(always)]
    pub fn bool(&mut self, what: &'static str) -> Result<bool, XdrError> {
        match self.u32(what)? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(XdrError::Undefined { what, value }),
        }
    }

    /// Opaque bytes of fixed length `N`, a multiple of four (nothing here is padded).
    ///
    /// # Errors
    /// Too few bytes are left.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], XdrError> {
        match self.rest.split_first_chunk::<N>() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(XdrError::Truncated { what, needed: N, left: self.rest.len() }),
        }
    }

    /// Skips `length` bytes.
    ///
    /// # Errors
    /// Too few bytes are left.
    #[inline]
    pub fn skip(&mut self, length: usize, what: &'static str) -> Result<(), XdrError> {
        self.take(length, what).map(|_| ())
    }

    #[inline]
    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], XdrError> {
        match self.rest.split_at_checked(length) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(XdrError::Truncated { what, needed: length, left: self.rest.len() }),
        }
    }

    /// Opaque bytes of variable length, at most `limit`, and their padding.
    ///
    /// # Errors
    /// The claimed length is above the limit, or too few bytes are left.
    pub fn opaque(&mut self, limit: usize, what: &'static str) -> Result<&'a [u8], XdrError> {
        let length = self.u32(what)? as usize;
        if length > limit {
            return Err(XdrError::TooLong { what, length, limit });
        }
        let bytes = self.take(length, what)?;
        self.skip(padding(length), what)?;
        Ok(bytes)
    }

    /// An optional item: a boolean and, if true, the item.
    ///
    /// # Errors
    /// Those of its parts.
    pub fn optional<T>(
        &mut self,
        what: &'static str,
        item: impl FnOnce(&mut Self) -> Result<T, XdrError>,
    ) -> Result<Option<T>, XdrError> {
        if self.bool(what)? { item(self).map(Some) } else { Ok(None) }
    }

    /// A list whose every item is preceded by `true` and whose end is `false`; at most `limit`
    /// items.
    ///
    /// # Errors
    /// Those of the items, or more items than the limit.
    pub fn list<T>(
        &mut self,
        limit: usize,
        what: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<T, XdrError>,
    ) -> Result<Vec<T>, XdrError> {
        let mut items = Vec::new();
        while self.bool(what)? {
            if items.len() == limit {
                return Err(XdrError::TooLong { what, length: limit + 1, limit });
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// Number of zero bytes after opaque data of this length, so that the next item starts at a
/// multiple of four.
#[inline]
#[must_use]
pub fn padding(length: usize) -> usize {
    length.wrapping_neg() & 3
}

/// Appends an unsigned integer of 32 bits.
#[inline]
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends an unsigned integer of 64 bits.
#[inline]
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends opaque bytes of variable length: length, bytes, padding. Data whose length does not fit
/// (4 GiB and more) is left out.
pub fn put_opaque(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let bytes = bytes.get(..length as usize).unwrap_or(bytes);
    put_u32(out, length);
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0; 3][..padding(bytes.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_in_their_order() {
        let bytes = [
            0, 0, 0, 7, // u32
            0, 0, 0, 1, 0, 0, 0, 2, // u64
            0, 0, 0, 1, // true
            0, 0, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0, // opaque and padding
            0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, // list 9, 8
        ];
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(decoder.u32("a"), Ok(7));
        assert_eq!(decoder.u64("b"), Ok((1 << 32) + 2));
        assert_eq!(decoder.bool("c"), Ok(true));
        assert_eq!(decoder.opaque(5, "d"), Ok(&b"hello"[..]));
        assert_eq!(decoder.list(2, "e", |one| one.u32("f")), Ok(vec![9, 8]));
        assert_eq!(decoder.left(), 0);
        assert!(matches!(decoder.u32("g"), Err(XdrError::Truncated { needed: 4, left: 0, .. })));
    }

    #[test]
    fn a_claimed_length_is_not_believed() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4];
        assert!(matches!(
            Decoder::new(&bytes).opaque(64, "handle"),
            Err(XdrError::TooLong { length: 0xffff_ffff, limit: 64, .. })
        ));
        assert!(matches!(
            Decoder::new(&bytes).opaque(usize::MAX, "data"),
            Err(XdrError::Truncated { left: 4, .. })
        ));
        let endless = [0, 0, 0, 1].repeat(9);
        assert!(matches!(
            Decoder::new(&endless).list(3, "list", |_| Ok(())),
            Err(XdrError::TooLong { length: 4, .. })
        ));
        assert!(matches!(
            Decoder::new(&[0, 0, 0, 2]).bool("flag"),
            Err(XdrError::Undefined { value: 2, .. })
        ));
    }

    #[test]
    fn what_is_put_is_padded() {
        let mut out = Vec::new();
        put_opaque(&mut out, b"abcde");
        assert_eq!(out, [0, 0, 0, 5, b'a', b'b', b'c', b'd', b'e', 0, 0, 0]);
        out.clear();
        put_opaque(&mut out, b"abcd");
        assert_eq!(out, [0, 0, 0, 4, b'a', b'b', b'c', b'd']);
    }
}
