//! The bytes to send, which no link, file system or storage can compress.
//!
//! A window of random bytes is sent repeatedly, and every 4 KiB of it gets a unique number before
//! it is sent, so that deduplicating storage never finds a block that it already has. That costs
//! one store instruction per block, little enough to be done while the time is measured.

use crate::memory::{CHUNK_BYTES, WINDOW_BYTES};

const BLOCK_BYTES: usize = 4096;

/// An endless source of bytes.
pub(crate) struct Content {
    window: Vec<u8>,
    at: usize,
    stamp: u64,
}

impl Content {
    /// The same seed gives the same bytes.
    pub(crate) fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut window = Vec::with_capacity(WINDOW_BYTES);
        while window.len() < WINDOW_BYTES {
            window.extend_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Self { window, at: 0, stamp: seed }
    }

    /// The next bytes: as many as requested, but no more than a chunk.
    pub(crate) fn next(&mut self, wanted_bytes: u64) -> &[u8] {
        let length = usize::try_from(wanted_bytes).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        if self.at + length > self.window.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += length;
        let chunk = self.window.get_mut(start..start + length).unwrap_or_default();
        for block in chunk.chunks_mut(BLOCK_BYTES) {
            self.stamp = self.stamp.wrapping_add(1);
            if let Some(word) = block.first_chunk_mut() {
                *word = self.stamp.to_le_bytes();
            }
        }
        chunk
    }
}

/// Sebastiano Vigna's SplitMix64, public domain algorithm: fills a window in a few milliseconds.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn it_gives_what_is_wanted_but_no_more_than_a_chunk() {
        let mut content = Content::new(1);
        for wanted in [1, 4096, 100_000, CHUNK_BYTES as u64] {
            for _ in 0..40 {
                assert_eq!(content.next(wanted).len() as u64, wanted);
            }
        }
        assert_eq!(content.next(u64::MAX).len(), CHUNK_BYTES);
    }

    #[test]
    fn no_block_comes_twice_not_even_when_the_window_has_gone_round() {
        let mut content = Content::new(1);
        let mut seen = HashSet::new();
        for _ in 0..3 * WINDOW_BYTES / CHUNK_BYTES {
            for block in content.next(CHUNK_BYTES as u64).chunks(BLOCK_BYTES) {
                assert!(seen.insert(block.to_vec()));
            }
        }
        assert_eq!(seen.len(), 3 * WINDOW_BYTES / BLOCK_BYTES);
    }
}
