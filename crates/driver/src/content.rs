//! The contents of written data.
//!
//! Datastores compress and deduplicate; a generator that writes zeros or one repeated buffer
//! measures that and not the disk. So contents are random, every 4 KiB differs from every other,
//! and compressible or duplicate data is written only if the workload asks for it.
//!
//! Filling 4 KiB with new data for every write would cost more than the write's own path through the
//! driver. Write buffers are therefore filled once, and each write stamps one word into every 4 KiB:
//! for deduplicating storage that is a new block. Writes take the buffers in turn, several megabytes
//! of them, so that compressing storage finds no repetition within its window either.

use crate::random::Random;
use crate::verify::Seal;
use stormeter_trial::Content;

/// Compressing and deduplicating storage works on blocks of at least this size.
const BLOCK: usize = 4096;

/// Generates contents for prepared disks and for writes.
#[derive(Debug, Clone)]
pub struct ContentSource {
    random_bytes_per_block: usize,
    /// A 32-bit draw below this is a duplicate.
    duplicate_below: u64,
    seed: u64,
    seal: Option<Seal>,
}

impl ContentSource {
    /// Contents with the given shares; everything follows from the seed.
    pub fn new(content: Content, seed: u64) -> Self {
        let random_share = 1.0 - content.compressible_percent / 100.0;
        Self {
            // The eight bytes of a stamp are always there: a block of zeros would be a hole.
            random_bytes_per_block: ((random_share * BLOCK as f64) as usize).clamp(8, BLOCK) & !7,
            duplicate_below: (content.duplicate_percent / 100.0 * 2f64.powi(32)) as u64,
            seed,
            seal: None,
        }
    }

    /// The same as verifiable blocks of generation 0.
    pub fn sealed(self, seal: Seal) -> Self {
        Self { seal: Some(seal), ..self }
    }

    /// Fills the bytes at `offset_bytes` of a disk with the contents of a prepared disk.
    /// `offset_bytes` is a multiple of 4096.
    pub fn fill(&self, disk: u32, offset_bytes: u64, bytes: &mut [u8]) {
        for (index, block) in bytes.chunks_mut(BLOCK).enumerate() {
            let number = offset_bytes / BLOCK as u64 + index as u64;
            let mut random = Random::stream(self.seed ^ (u64::from(disk) << 40), number);
            if random.next() & 0xffff_ffff < self.duplicate_below {
                self.fill_duplicate(block);
            } else {
                self.fill_block(random, block);
            }
        }
        if let Some(seal) = self.seal {
            seal.seal(disk, offset_bytes, 0, bytes);
        }
    }

    /// Fills the source buffer of duplicate writes: the same block repeated.
    pub(crate) fn fill_duplicate(&self, bytes: &mut [u8]) {
        for block in bytes.chunks_mut(BLOCK) {
            self.fill_block(Random::new(self.seed ^ 0xd0b1), block);
        }
    }

    /// Whether the write that drew `word` is a duplicate.
    #[inline]
    pub(crate) fn is_duplicate(&self, word: u64) -> bool {
        word >> 32 < self.duplicate_below
    }

    /// Whether any write is.
    pub(crate) fn has_duplicates(&self) -> bool {
        self.duplicate_below > 0
    }

    fn fill_block(&self, mut random: Random, block: &mut [u8]) {
        let end = self.random_bytes_per_block.min(block.len());
        let (noise, zeros) = block.split_at_mut(end);
        let mut words = noise.chunks_exact_mut(8);
        for word in &mut words {
            word.copy_from_slice(&random.next().to_le_bytes());
        }
        let rest = words.into_remainder();
        rest.copy_from_slice(&random.next().to_le_bytes()[..rest.len()]);
        zeros.fill(0);
    }
}

/// Makes every 4 KiB of a buffer different from all blocks written with another `generation`.
#[inline]
pub(crate) fn stamp(bytes: &mut [u8], generation: u64) {
    // An odd factor maps different generations to different words and spreads them over all bits.
    let mut word = generation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for block in bytes.chunks_mut(BLOCK) {
        if let Some(first) = block.first_chunk_mut::<8>() {
            *first = word.to_le_bytes();
        }
        word = word.wrapping_add(0xd1b5_4a32_d192_ed03);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn filled(content: Content, disk: u32, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0xaa; bytes];
        ContentSource::new(content, 11).fill(disk, 0, &mut buffer);
        buffer
    }

    fn distinct_blocks(bytes: &[u8]) -> usize {
        bytes.chunks(BLOCK).collect::<HashSet<_>>().len()
    }

    #[test]
    fn plain_content_neither_repeats_nor_compresses() {
        let bytes = filled(Content::default(), 0, 1 << 20);
        assert_eq!(distinct_blocks(&bytes), 256);
        let mut counts = [0u32; 256];
        bytes.iter().for_each(|&b| counts[b as usize] += 1);
        // 4096 of each expected; random bytes stay well within six standard deviations (64 each).
        assert!(counts.iter().all(|&n| (3712..=4480).contains(&n)), "{counts:?}");
    }

    #[test]
    fn content_follows_from_seed_disk_and_offset_however_it_is_cut() {
        let whole = filled(Content::default(), 3, 64 << 10);
        let source = ContentSource::new(Content::default(), 11);
        let mut part = vec![0; 8 << 10];
        source.fill(3, 16 << 10, &mut part);
        assert_eq!(part, whole[16 << 10..24 << 10]);
        assert_ne!(whole, filled(Content::default(), 4, 64 << 10));
    }

    #[test]
    fn shares_of_zeros_and_duplicates_are_as_asked() {
        let half = Content { compressible_percent: 50.0, duplicate_percent: 0.0 };
        let bytes = filled(half, 0, 1 << 20);
        let zeros = bytes.iter().filter(|&&b| b == 0).count() as f64 / bytes.len() as f64;
        assert!((zeros - 0.5).abs() < 0.01, "{zeros}");
        assert_eq!(distinct_blocks(&bytes), 256);

        let third = Content { compressible_percent: 0.0, duplicate_percent: 30.0 };
        let bytes = filled(third, 0, 16 << 20);
        let unique = distinct_blocks(&bytes) as f64 / 4096.0;
        assert!((unique - 0.7).abs() < 0.04, "{unique}");
    }

    #[test]
    fn a_fully_compressible_block_is_still_no_hole() {
        let all = Content { compressible_percent: 100.0, duplicate_percent: 0.0 };
        let bytes = filled(all, 0, 64 << 10);
        assert!(bytes.chunks(BLOCK).all(|block| block.iter().any(|&b| b != 0)));
    }

    #[test]
    fn stamped_blocks_differ_within_a_write_and_between_writes() {
        let mut seen = HashSet::new();
        let mut buffer = filled(Content::default(), 0, 16 << 10);
        for generation in 0..1000 {
            stamp(&mut buffer, generation);
            for block in buffer.chunks(BLOCK) {
                assert!(seen.insert(block[..8].to_vec()));
            }
        }
    }
}
