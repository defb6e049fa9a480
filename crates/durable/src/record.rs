//! A record: one block that says itself which run wrote it, which number it has and where it belongs.
//!
//! Storage may lose power in the middle of a block, so each sector of 512 bytes, the smallest unit that disks write,
//! carries the record's whole identity and a checksum of its own: what is left of a torn record still says which
//! records it is made of. Layout of a sector, little-endian: 8 bytes of magic, run (u64), number (u64), offset of
//! the record on the disk (u64), index of the sector in the record (u32), CRC-32C (RFC 3720, appendix B.4) of all the
//! rest (u32), and pseudo-random bytes that follow from run, number and index, which no store can compress or
//! deduplicate.
//!
//! A number of 0 marks a place to which no record was written yet. The pass over the disk needs no field: it follows
//! from the number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Bytes of a sector.
pub(crate) const SECTOR_BYTES: usize = 512;
const MAGIC: &[u8; 8] = b"SMDURABL";
const CHECKSUM: std::ops::Range<usize> = 36..40;

/// A run: 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> Self {
        run.to_string()
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let run = u64::from_str_radix(text, 16).ok().map(RunId);
        run.filter(|run| run.to_string() == text)
            .ok_or_else(|| format!("\"{text}\" is no run id: 16 hexadecimal digits name a run"))
    }
}

impl TryFrom<String> for RunId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A whole record of the run at its own place; 0: none was written there yet.
    Record {
        /// Its number.
        number: u64,
    },
    /// Parts of one or several records of the run that belong here, none of them whole.
    Torn {
        /// The highest number among the parts.
        newest: u64,
    },
    /// A record of the run, or a part of one, that belongs elsewhere.
    Misplaced {
        /// Its number.
        number: u64,
        /// Where it says that it belongs, in bytes.
        offset_bytes: u64,
    },
    /// A record of another run.
    Foreign {
        /// That run.
        run: RunId,
    },
    /// Nothing but zeros.
    Zeros,
    /// Bytes that no run wrote.
    Unrecognised,
}

/// Writes a record into `block`, which goes to `offset_bytes` of the disk. Number 0 marks a place as empty.
pub fn fill(block: &mut [u8], run: RunId, number: u64, offset_bytes: u64) {
    for (index, sector) in block.chunks_exact_mut(SECTOR_BYTES).enumerate() {
        let (head, filler) = sector.split_at_mut(CHECKSUM.end);
        head[..8].copy_from_slice(MAGIC);
        head[8..16].copy_from_slice(&run.0.to_le_bytes());
        head[16..24].copy_from_slice(&number.to_le_bytes());
        head[24..32].copy_from_slice(&offset_bytes.to_le_bytes());
        head[32..36].copy_from_slice(&(index as u32).to_le_bytes());
        // SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
        let mut state = run.0 ^ mixed(number) ^ (index as u64) << 48;
        for bytes in filler.chunks_exact_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            bytes.copy_from_slice(&mixed(state).to_le_bytes());
        }
        let sum = checksum(sector);
        sector[CHECKSUM].copy_from_slice(&sum.to_le_bytes());
    }
}

fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn checksum(sector: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&sector[..CHECKSUM.start]), &sector[CHECKSUM.end..])
}

/// The identity that a sector carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    run: RunId,
    number: u64,
    offset_bytes: u64,
    index: u32,
}

fn identity(sector: &[u8]) -> Option<Identity> {
    let long = |at: usize| Some(u64::from_le_bytes(sector.get(at..at + 8)?.try_into().ok()?));
    let short = |at: usize| Some(u32::from_le_bytes(sector.get(at..at + 4)?.try_into().ok()?));
    let is_whole = sector.starts_with(MAGIC) && short(CHECKSUM.start)? == checksum(sector);
    is_whole.then_some(Identity {
        run: RunId(long(8)?),
        number: long(16)?,
        offset_bytes: long(24)?,
        index: short(32)?,
    })
}

/// Says what a block that was read at `offset_bytes` holds, as seen by a run.
pub fn look(block: &[u8], run: RunId, offset_bytes: u64) -> Content {
    let mut own: Option<(u64, u64)> = None;
    let mut foreign = None;
    let mut is_whole = true;
    for (index, sector) in block.chunks(SECTOR_BYTES).enumerate() {
        let Some(found) = identity(sector) else {
            is_whole = false;
            continue;
        };
        if found.run != run {
            foreign = Some(found.run);
            is_whole = false;
        } else if found.offset_bytes != offset_bytes || found.index != index as u32 {
            let Identity { number, offset_bytes, .. } = found;
            return Content::Misplaced { number, offset_bytes };
        } else {
            let (oldest, newest) = own.unwrap_or((found.number, found.number));
            own = Some((oldest.min(found.number), newest.max(found.number)));
        }
    }
    match (own, foreign) {
        (Some((oldest, newest)), _) if is_whole && oldest == newest => {
            Content::Record { number: newest }
        }
        (Some((_, newest)), _) => Content::Torn { newest },
        (None, Some(run)) => Content::Foreign { run },
        (None, None) if block.iter().all(|&byte| byte == 0) => Content::Zeros,
        (None, None) => Content::Unrecognised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: RunId = RunId(0x0123_4567_89ab_cdef);

    fn record(number: u64) -> Vec<u8> {
        let mut block = vec![0; 4096];
        fill(&mut block, RUN, number, 8192);
        block
    }

    #[test]
    fn a_record_says_what_it_is_and_where_it_belongs() {
        let block = record(7);
        assert_eq!(look(&block, RUN, 8192), Content::Record { number: 7 });
        assert_eq!(look(&block, RUN, 0), Content::Misplaced { number: 7, offset_bytes: 8192 });
        assert_eq!(look(&block, RunId(1), 8192), Content::Foreign { run: RUN });
        assert_eq!(look(&[0; 4096], RUN, 0), Content::Zeros);
        assert_eq!(look(&[9; 4096], RUN, 0), Content::Unrecognised);
        assert_ne!(record(7)[64..512], record(8)[64..512], "contents differ by number");
        assert_ne!(block[64..512], block[576..1024], "sectors of a record differ");
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let block = record(7);
        for at in 0..block.len() {
            let mut damaged = block.clone();
            damaged[at] ^= 0x10;
            assert_eq!(look(&damaged, RUN, 8192), Content::Torn { newest: 7 }, "byte {at}");
        }
    }

    #[test]
    fn what_is_torn_says_what_it_was_made_of() {
        let (old, new) = (record(7), record(107));
        for sectors in 1..8 {
            let torn = [&new[..sectors * 512], &old[sectors * 512..]].concat();
            assert_eq!(look(&torn, RUN, 8192), Content::Torn { newest: 107 }, "{sectors}");
        }
        // Two sectors of one record in the wrong order.
        let swapped = [&old[512..1024], &old[..512], &old[1024..]].concat();
        assert!(matches!(look(&swapped, RUN, 8192), Content::Misplaced { number: 7, .. }));
    }

    #[test]
    fn run_ids_read_back() {
        assert_eq!("0123456789abcdef".parse(), Ok(RUN));
        for text in ["", "123", "0123456789ABCDEF", "+123456789abcdef"] {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }
}
