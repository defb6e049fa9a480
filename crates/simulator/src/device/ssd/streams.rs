//! Detects sequential writes: they fill flash blocks whose pages become invalid together, so garbage
//! collection has nothing to move.
//!
//! A write is sequential if an earlier one ended where it starts. Ends are kept in a small hash table;
//! a later end in the same slot replaces an earlier one, so with more streams than slots, or among
//! very many random writes, some sequential writes count as random.

const PLACES_LOG2: u32 = 8;

/// Ends of earlier writes.
#[derive(Debug)]
pub(crate) struct Streams {
    ends: Box<[u64; 1 << PLACES_LOG2]>,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self { ends: Box::new([u64::MAX; 1 << PLACES_LOG2]) }
    }

    /// A write arrives; returns whether it is sequential.
    #[inline]
    pub(crate) fn follows(&mut self, start_byte: u64, end_byte: u64) -> bool {
        let follows = self.ends[place(start_byte)] == start_byte;
        self.ends[place(end_byte)] = end_byte;
        follows
    }
}

/// Multiplicative hashing (Knuth, The Art of Computer Programming 3, section 6.4).
#[inline]
fn place(byte: u64) -> usize {
    (byte.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PLACES_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_follows_the_one_that_ended_where_it_begins() {
        let mut streams = Streams::new();
        assert!(!streams.follows(0, 4096));
        assert!(!streams.follows(1 << 30, (1 << 30) + 8192));
        assert!(streams.follows(4096, 8192));
        assert!(streams.follows((1 << 30) + 8192, (1 << 30) + 16384));
        assert!(!streams.follows(12288, 16384));
    }
}
