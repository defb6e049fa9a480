//! The findings of verification: plain values with their wording.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of wrong blocks kept in full; the rest are only counted.
const MAX_KEPT: usize = 10;
/// The generations of a process start beyond those of its predecessor: the number of the resumption
/// is above this bit.
pub const RESUMPTION_SHIFT: u32 = 40;

/// The results of verifying the reads of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Blocks that were read back and checked, at any time of the trial.
    pub blocks: u64,
    /// Those of them whose last write is unknown (an earlier process made it), so that only disk,
    /// offset and checksum could be checked.
    pub unknown_blocks: u64,
    /// Blocks that were not what was written.
    pub wrong_blocks: u64,
    /// Writes that were durable, or that a flush covered which was submitted after they had completed and which
    /// succeeded.
    #[serde(default)]
    pub covered_writes: u64,
    /// The first of them.
    pub corruptions: Vec<Corruption>,
}

/// A block that was not what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corruption {
    /// What had been written.
    pub expected: ExpectedBlock,
    /// What was read.
    pub found: FoundBlock,
    /// When the read ended, in nanoseconds since the load started (ramp included).
    pub at_ns: u64,
    /// Whether what had been written is known to have been durable or covered by a completed flush.
    #[serde(default)]
    pub covered: bool,
}

/// The expected identity of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedBlock {
    /// Number of the disk, counted from 0 over all threads.
    pub disk: u32,
    /// Offset on the disk, in bytes.
    pub offset_bytes: u64,
    /// The write that made it; after a failed write one of several; empty: unknown. 0 is the
    /// contents with which the disk was prepared.
    pub generations: Vec<u64>,
}

/// The identity that a block contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BlockName {
    /// Number of the disk, counted from 0 over all threads.
    pub disk: u32,
    /// Offset on the disk, in bytes.
    pub offset_bytes: u64,
    /// Which of the disk's writes made it; 0: it was prepared.
    pub generation: u64,
}

/// What was found instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum FoundBlock {
    /// Nothing but zeros.
    Zeros,
    /// Something that was never a block of this program, or has lost its header.
    OtherData,
    /// A block whose bytes do not match its checksum.
    Damaged {
        /// The stored checksum (CRC32C).
        stored_checksum: u32,
        /// The computed checksum.
        checksum: u32,
    },
    /// An intact block of this datastore and run, but from another place or another write.
    Block(BlockName),
    /// An intact block of another run or another datastore.
    Foreign(BlockName),
}

impl Verified {
    /// Counts a wrong block, and keeps it if it is one of the first.
    pub fn wrong(&mut self, corruption: Corruption) {
        self.wrong_blocks += 1;
        if self.corruptions.len() < MAX_KEPT {
            self.corruptions.push(corruption);
        }
    }

    /// Adds the findings of another thread or trial.
    pub fn merge(&mut self, other: &Verified) {
        self.blocks += other.blocks;
        self.unknown_blocks += other.unknown_blocks;
        self.wrong_blocks += other.wrong_blocks;
        self.covered_writes += other.covered_writes;
        self.corruptions.extend_from_slice(&other.corruptions);
        self.corruptions.truncate(MAX_KEPT);
    }
}

/// A generation in words: small numbers, whichever process it is from.
struct Generation(u64);

impl std::fmt::Display for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let resumption = self.0 >> RESUMPTION_SHIFT;
        let number = self.0 & ((1 << RESUMPTION_SHIFT) - 1);
        match (resumption, number) {
            (0, _) => write!(f, "generation {number}"),
            _ => write!(f, "generation {number} of resumption {resumption}"),
        }
    }
}

impl std::fmt::Display for BlockName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BlockName { disk, offset_bytes, generation } = *self;
        write!(f, "the block of disk {disk} at {offset_bytes}, {}", Generation(generation))
    }
}

impl std::fmt::Display for ExpectedBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.generations.as_slice() {
            [] => f.write_str("any generation"),
            [only] => Generation(*only).fmt(f),
            [first, rest @ ..] => {
                Generation(*first).fmt(f)?;
                rest.iter().try_for_each(|generation| write!(f, " or {}", Generation(*generation)))
            }
        }
    }
}

impl std::fmt::Display for Corruption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Corruption { expected, found, covered, .. } = self;
        let ExpectedBlock { disk, offset_bytes, .. } = expected;
        write!(f, "disk {disk} at {offset_bytes}: ")?;
        match found {
            FoundBlock::Zeros => write!(f, "no stormeter block but zeros instead of {expected}"),
            FoundBlock::OtherData => {
                write!(f, "no stormeter block but other data instead of {expected}")
            }
            FoundBlock::Damaged { stored_checksum, checksum } => write!(
                f,
                "damaged, checksum {checksum:#010x} instead of {stored_checksum:#010x} \
                 (expected {expected})"
            ),
            FoundBlock::Block(name) if (name.disk, name.offset_bytes) == (*disk, *offset_bytes) => {
                // A lost write, or a stale copy: the right place and the wrong time.
                write!(f, "{} instead of {expected}", Generation(name.generation))
            }
            FoundBlock::Block(name) => {
                write!(f, "{name}, instead of its own, {expected}")
            }
            FoundBlock::Foreign(name) => {
                write!(f, "{name} of another run or datastore, instead of its own, {expected}")
            }
        }?;
        match covered {
            true => f.write_str("; it was durable, or a completed flush covered it"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(generations: &[u64], found: FoundBlock) -> String {
        let expected =
            ExpectedBlock { disk: 2, offset_bytes: 4096, generations: generations.to_vec() };
        Corruption { expected, found, at_ns: 0, covered: false }.to_string()
    }

    fn block(offset_bytes: u64, generation: u64) -> BlockName {
        BlockName { disk: 2, offset_bytes, generation }
    }

    #[test]
    fn each_fault_has_its_words() {
        assert_eq!(
            words(&[5], FoundBlock::Block(block(4096, 3))),
            "disk 2 at 4096: generation 3 instead of generation 5"
        );
        assert_eq!(
            words(&[5], FoundBlock::Block(block(8192, 7))),
            "disk 2 at 4096: the block of disk 2 at 8192, generation 7, instead of its own, \
             generation 5"
        );
        let damaged = FoundBlock::Damaged { stored_checksum: 0xabc, checksum: 0x1234_5678 };
        assert_eq!(
            words(&[5, 6], damaged),
            "disk 2 at 4096: damaged, checksum 0x12345678 instead of 0x00000abc (expected \
             generation 5 or generation 6)"
        );
        assert_eq!(
            words(&[0], FoundBlock::Zeros),
            "disk 2 at 4096: no stormeter block but zeros instead of generation 0"
        );
        assert!(words(&[], FoundBlock::Foreign(block(4096, 0))).contains("another run"));
        let later = (2 << RESUMPTION_SHIFT) + 9;
        assert!(words(&[later], FoundBlock::OtherData).ends_with("generation 9 of resumption 2"));
    }

    #[test]
    fn the_first_are_kept_and_all_are_counted() {
        let corruption = |at_ns| Corruption {
            expected: ExpectedBlock { disk: 0, offset_bytes: 0, generations: vec![] },
            found: FoundBlock::Zeros,
            at_ns,
            covered: true,
        };
        assert!(corruption(0).to_string().ends_with("a completed flush covered it"));
        let mut one = Verified::default();
        (0..7).for_each(|at_ns| one.wrong(corruption(at_ns)));
        let mut all = one.clone();
        all.merge(&one);
        assert_eq!((all.wrong_blocks, all.corruptions.len()), (14, MAX_KEPT));
        (0..7).for_each(|at_ns| one.wrong(corruption(at_ns)));
        assert_eq!((one.wrong_blocks, one.corruptions.len()), (14, MAX_KEPT));
    }
}
