//! Record marking (RFC 5531 section 11): how messages are separated in a stream.
//!
//! A record is one or more fragments; each starts with four bytes, whose highest bit says whether
//! it is the last; the other bits are its length.

/// The bit of a fragment's mark that marks the record's last fragment.
pub const LAST_FRAGMENT: u32 = 1 << 31;

/// More fragments than this in one record are refused: empty ones could continue forever.
const MAX_FRAGMENTS: u32 = 1 << 16;

/// Marks that no honest peer sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A record longer than any that was requested.
    #[error(
        "the server announces a message of {length_bytes} bytes, at most {limit_bytes} were asked \
         for; is this port that of an NFS server?"
    )]
    TooLong {
        /// The sum of the marks.
        length_bytes: u64,
        /// The largest allowed length.
        limit_bytes: u32,
    },
    /// A record with too many fragments.
    #[error("the server splits one message into more than {MAX_FRAGMENTS} fragments")]
    TooManyFragments,
}

/// Reassembles records from a stream, however it is split.
#[derive(Debug, Clone)]
pub struct Assembler {
    limit_bytes: u32,
    record: Vec<u8>,
    mark: [u8; 4],
    mark_bytes: usize,
    /// Bytes that the current fragment still lacks; meaningful once its mark is complete.
    fragment_bytes: u32,
    last: bool,
    fragments: u32,
}

impl Assembler {
    /// Accepts records of at most `limit_bytes`.
    #[must_use]
    pub fn new(limit_bytes: u32) -> Self {
        Self {
            limit_bytes,
            record: Vec::new(),
            mark: [0; 4],
            mark_bytes: 0,
            fragment_bytes: 0,
            last: false,
            fragments: 0,
        }
    }

    /// Consumes the front of `bytes` until a record is complete, which it returns, or nothing is
    /// left. Memory grows only with bytes that have arrived.
    ///
    /// # Errors
    /// A record above the limit, or with too many fragments. The stream is then unusable.
    pub fn feed(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, RecordError> {
        loop {
            while let Some(slot) = self.mark.get_mut(self.mark_bytes) {
                let Some((first, rest)) = bytes.split_first() else { return Ok(None) };
                *slot = *first;
                *bytes = rest;
                self.mark_bytes += 1;
                if self.mark_bytes == 4 {
                    self.begin_fragment()?;
                }
            }
            let length = bytes.len().min(self.fragment_bytes as usize);
            let (part, rest) = bytes.split_at(length);
            self.record.extend_from_slice(part);
            *bytes = rest;
            self.fragment_bytes -= length as u32;
            if self.fragment_bytes > 0 {
                return Ok(None);
            }
            self.mark_bytes = 0;
            if self.last {
                self.fragments = 0;
                return Ok(Some(std::mem::take(&mut self.record)));
            }
        }
    }

    fn begin_fragment(&mut self) -> Result<(), RecordError> {
        let mark = u32::from_be_bytes(self.mark);
        self.last = mark & LAST_FRAGMENT != 0;
        self.fragment_bytes = mark & !LAST_FRAGMENT;
        let length_bytes = self.record.len() as u64 + u64::from(self.fragment_bytes);
        if length_bytes > u64::from(self.limit_bytes) {
            return Err(RecordError::TooLong { length_bytes, limit_bytes: self.limit_bytes });
        }
        self.fragments += 1;
        if self.fragments > MAX_FRAGMENTS {
            return Err(RecordError::TooManyFragments);
        }
        Ok(())
    }

    /// Discards an incomplete record, for a new connection.
    pub fn reset(&mut self) {
        *self = Self::new(self.limit_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "hello" in three fragments, one of them empty, and "you" in one.
    const STREAM: &[u8] =
        b"\x00\x00\x00\x03hel\x00\x00\x00\x00\x80\x00\x00\x02lo\x80\x00\x00\x03you";

    #[test]
    fn fragments_join_however_the_stream_is_cut() {
        for cut in 0..=STREAM.len() {
            let mut assembler = Assembler::new(5);
            let mut records = Vec::new();
            for mut part in [&STREAM[..cut], &STREAM[cut..]] {
                while let Some(record) = assembler.feed(&mut part).unwrap() {
                    records.push(record);
                }
                assert!(part.is_empty());
            }
            assert_eq!(records, [b"hello".to_vec(), b"you".to_vec()], "cut at {cut}");
        }
    }

    #[test]
    fn long_records_are_refused_before_they_come() {
        let mut assembler = Assembler::new(4);
        assert_eq!(
            assembler.feed(&mut &STREAM[..]),
            Err(RecordError::TooLong { length_bytes: 5, limit_bytes: 4 })
        );
        assembler.reset();
        let mut one = &b"\xff\xff\xff\xff"[..];
        assert!(matches!(assembler.feed(&mut one), Err(RecordError::TooLong { .. })));
    }

    #[test]
    fn empty_fragments_end() {
        let bytes = vec![0; 4 * (MAX_FRAGMENTS as usize + 1)];
        let mut assembler = Assembler::new(4);
        assert_eq!(assembler.feed(&mut &bytes[..]), Err(RecordError::TooManyFragments));
    }
}
