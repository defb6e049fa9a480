//! Random contents for messages, in chunks: no two messages, and no two blocks of 4 KiB, are alike.
//!
//! As for the writes of the load loop (see [`crate::content`]), several megabytes are filled once, and
//! each chunk is stamped when it is used: generating 100 MB for every message would cost more than sending
//! them.

use crate::content::{ContentSource, stamp};
use stormeter_trial::Content;

/// More than the window of a compressing link or storage.
const BYTES: usize = 4 << 20;

/// The source of the contents of messages.
#[derive(Debug, Clone)]
pub struct Payload {
    bytes: Vec<u8>,
    at: usize,
    generation: u64,
}

impl Payload {
    /// The most bytes in a chunk.
    pub const CHUNK_BYTES: usize = 256 << 10;

    /// Contents that follow from the seed; `stream` distinguishes the ends of a trial.
    pub fn new(seed: u64, stream: u32) -> Self {
        let mut bytes = vec![0; BYTES];
        // The number of a disk that does not exist: the first message is not a copy of a prepared
        // disk.
        ContentSource::new(Content::default(), seed).fill(u32::MAX - stream, 0, &mut bytes);
        Self { bytes, at: 0, generation: seed ^ (u64::from(stream) << 44) }
    }

    /// The next chunk, of at most `most_bytes`, and never more than [`Payload::CHUNK_BYTES`].
    pub fn chunk(&mut self, most_bytes: u64) -> &[u8] {
        let length = most_bytes.min(Self::CHUNK_BYTES as u64) as usize;
        let at = self.at;
        self.at = (at + Self::CHUNK_BYTES) % BYTES;
        self.generation = self.generation.wrapping_add(1);
        let bytes = &mut self.bytes[at..at + length];
        stamp(bytes, self.generation);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_block_comes_twice() {
        let (mut one, mut other) = (Payload::new(5, 0), Payload::new(5, 1));
        let mut seen = HashSet::new();
        for length in [100_000, 1, 1 << 30, 4096].into_iter().cycle().take(400) {
            for payload in [&mut one, &mut other] {
                let chunk = payload.chunk(length);
                assert_eq!(chunk.len() as u64, length.min(Payload::CHUNK_BYTES as u64));
                for block in chunk.chunks(4096).filter(|block| block.len() >= 64) {
                    assert!(seen.insert(block[..64].to_vec()));
                }
            }
        }
    }

    #[test]
    fn it_does_not_compress_and_follows_from_the_seed() {
        let chunk = Payload::new(5, 0).chunk(u64::MAX).to_vec();
        assert_eq!(chunk, Payload::new(5, 0).chunk(u64::MAX));
        assert_ne!(chunk, Payload::new(6, 0).chunk(u64::MAX));
        let mut counts = [0u32; 256];
        chunk.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        // 1024 of each expected; random bytes stay well within six standard deviations (32 each).
        assert!(counts.iter().all(|count| (832..=1216).contains(count)), "{counts:?}");
    }
}
