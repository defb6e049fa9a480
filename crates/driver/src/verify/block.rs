//! The format of a verified block.
//!
//! A block with only a checksum could be the right bytes in the wrong place or from the wrong time.
//! So each block identifies itself: the datastore of a run, the disk, the offset, and the write
//! that made it (its generation).
//!
//! Layout, little-endian: magic (8 bytes), CRC32C of all other bytes (4), disk (4), owner (8),
//! offset in bytes (8), generation (8); then contents. The last word of every 512 bytes follows
//! from the generation, so that a sector of one write in place of another's is detected.

use stormeter_trial::{BlockName, FoundBlock};

/// Size of the header in bytes.
const HEADER_BYTES: usize = 40;
/// The smallest unit that storage writes as a whole.
const SECTOR_BYTES: usize = 512;
/// High bits and zeros distinguish it from text and from the magic numbers of most file systems.
const MAGIC: [u8; 8] = *b"\xf6stormB\x00";

/// The identity of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    /// Identifies the datastore of the run.
    pub(crate) owner: u64,
    pub(crate) name: BlockName,
}

/// Turns `block` into the one identified by `label`, keeping its contents except for header and
/// sector marks.
pub(crate) fn seal(block: &mut [u8], label: &Label) {
    let BlockName { disk, offset_bytes, generation } = label.name;
    // Mixed so that the marks of neighbouring generations, offsets and disks differ in all their
    // bits.
    let mixed = generation ^ offset_bytes.rotate_left(21) ^ u64::from(disk).rotate_left(43);
    let mut mark = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for sector in block.chunks_exact_mut(SECTOR_BYTES) {
        if let Some(last) = sector.last_chunk_mut::<8>() {
            *last = mark.to_le_bytes();
        }
        mark = mark.wrapping_add(0xd1b5_4a32_d192_ed03);
    }
    let Some(header) = block.first_chunk_mut::<HEADER_BYTES>() else { return };
    header[..8].copy_from_slice(&MAGIC);
    header[12..16].copy_from_slice(&disk.to_le_bytes());
    header[16..24].copy_from_slice(&label.owner.to_le_bytes());
    header[24..32].copy_from_slice(&offset_bytes.to_le_bytes());
    header[32..40].copy_from_slice(&generation.to_le_bytes());
    let checksum = checksum_of(block);
    if let Some(place) = block.get_mut(8..12) {
        place.copy_from_slice(&checksum.to_le_bytes());
    }
}

/// Reads the identity of a block; the error says what it is instead.
pub(crate) fn open(block: &[u8]) -> Result<Label, FoundBlock> {
    let Some(header) = block.first_chunk::<HEADER_BYTES>().filter(|h| h[..8] == MAGIC) else {
        let is_zero = block.iter().all(|&byte| byte == 0);
        return Err(if is_zero { FoundBlock::Zeros } else { FoundBlock::OtherData });
    };
    let stored = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    let checksum = checksum_of(block);
    if stored != checksum {
        return Err(FoundBlock::Damaged { stored_checksum: stored, checksum });
    }
    Ok(Label {
        owner: word(header, 16),
        name: BlockName {
            disk: u32::from_le_bytes([header[12], header[13], header[14], header[15]]),
            offset_bytes: word(header, 24),
            generation: word(header, 32),
        },
    })
}

/// CRC32C (Castagnoli; RFC 3720 section 12.1) of everything but the checksum itself.
fn checksum_of(block: &[u8]) -> u32 {
    let (head, rest) = block.split_at(8.min(block.len()));
    crc32c::crc32c_append(crc32c::crc32c(head), rest.get(4..).unwrap_or_default())
}

fn word(header: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(generation: u64) -> Label {
        Label { owner: 7, name: BlockName { disk: 3, offset_bytes: 8192, generation } }
    }

    fn sealed(bytes: usize, generation: u64) -> Vec<u8> {
        let mut block = vec![0x5a; bytes];
        seal(&mut block, &label(generation));
        block
    }

    #[test]
    fn a_sealed_block_says_whose_it_is() {
        for bytes in [512, 1024, 2048, 4096] {
            assert_eq!(open(&sealed(bytes, 9)), Ok(label(9)));
        }
    }

    #[test]
    fn a_change_of_any_bit_is_seen() {
        let block = sealed(512, 9);
        for bit in 0..block.len() * 8 {
            let mut damaged = block.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_sector_of_another_write_is_seen_even_where_the_content_is_the_same() {
        let (old, new) = (sealed(4096, 9), sealed(4096, 10));
        for sector in 0..8 {
            let mut torn = new.clone();
            let place = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
            torn[place.clone()].copy_from_slice(&old[place]);
            assert!(matches!(open(&torn), Err(FoundBlock::Damaged { .. })), "sector {sector}");
        }
    }

    #[test]
    fn what_was_never_ours_is_told_from_nothing() {
        assert_eq!(open(&[0; 4096]), Err(FoundBlock::Zeros));
        assert_eq!(open(&[1; 4096]), Err(FoundBlock::OtherData));
        assert_eq!(open(&[1; 3]), Err(FoundBlock::OtherData));
    }

    #[test]
    fn the_checksum_is_crc32c() {
        // The digits 1 to 9 around a checksum field: the check value of CRC-32C in the catalogue of
        // parametrised CRC algorithms.
        assert_eq!(checksum_of(b"12345678....9"), 0xe306_9283);
    }
}
