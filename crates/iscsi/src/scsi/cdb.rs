//! Command descriptor blocks (SPC-4 §6, SBC-3 §5), padded with zeros to 16 bytes as iSCSI sends
//! them.

/// A command descriptor block.
pub type Cdb = [u8; 16];

/// Highest logical block address in READ(10) and similar commands.
const MAX_LBA_10: u64 = u32::MAX as u64;

/// Most blocks that READ(10) and similar commands can move.
const MAX_BLOCKS_10: u32 = u16::MAX as u32;

/// Vital product data pages by number.
pub mod page {
    /// Unit serial number.
    pub const SERIAL: u8 = 0x80;
    /// Block limits.
    pub const BLOCK_LIMITS: u8 = 0xb0;
    /// Logical block provisioning.
    pub const PROVISIONING: u8 = 0xb2;
}

/// Mode pages by number.
pub mod mode_page {
    /// The write cache, among others.
    pub const CACHING: u8 = 0x08;
    /// All pages.
    pub const ALL: u8 = 0x3f;
}

fn cdb(bytes: &[(usize, &[u8])]) -> Cdb {
    let mut cdb = [0; 16];
    for (at, part) in bytes {
        cdb[*at..*at + part.len()].copy_from_slice(part);
    }
    cdb
}

/// TEST UNIT READY.
pub fn test_unit_ready() -> Cdb {
    [0; 16]
}

/// INQUIRY: standard data, or a page of vital product data.
pub fn inquiry(page: Option<u8>, allocation_bytes: u16) -> Cdb {
    let vital = u8::from(page.is_some());
    cdb(&[(0, &[0x12, vital, page.unwrap_or(0)]), (3, &allocation_bytes.to_be_bytes())])
}

/// READ CAPACITY (10).
pub fn read_capacity_10() -> Cdb {
    cdb(&[(0, &[0x25])])
}

/// READ CAPACITY (16): SERVICE ACTION IN (16), action 10h.
pub fn read_capacity_16(allocation_bytes: u32) -> Cdb {
    cdb(&[(0, &[0x9e, 0x10]), (10, &allocation_bytes.to_be_bytes())])
}

/// MODE SENSE (6), current values without block descriptors.
pub fn mode_sense_6(page: u8, allocation_bytes: u8) -> Cdb {
    cdb(&[(0, &[0x1a, 0x08, page & 0x3f]), (4, &[allocation_bytes])])
}

/// READ of `blocks` blocks: (10) if the values fit, otherwise (16).
#[inline]
pub fn read(lba: u64, blocks: u32) -> Cdb {
    transfer(0x28, 0x88, lba, blocks)
}

/// WRITE of `blocks` blocks: (10) if the values fit, otherwise (16).
#[inline]
pub fn write(lba: u64, blocks: u32) -> Cdb {
    transfer(0x2a, 0x8a, lba, blocks)
}

/// WRITE with FUA: it completes when the blocks are on the medium, whatever caches there are
/// (SBC-4 §5.46).
pub fn forced_write(lba: u64, blocks: u32) -> Cdb {
    let mut cdb = write(lba, blocks);
    cdb[1] |= 0x08;
    cdb
}

/// SYNCHRONIZE CACHE (10) for the whole unit, which zero blocks mean.
pub fn synchronize_cache() -> Cdb {
    cdb(&[(0, &[0x35])])
}

/// SYNCHRONIZE CACHE for a range: (10) if the values fit, otherwise (16).
pub fn synchronize_cache_range(lba: u64, blocks: u32) -> Cdb {
    transfer(0x35, 0x91, lba, blocks)
}

/// UNMAP, with a parameter list of this length.
pub fn unmap(parameter_bytes: u16) -> Cdb {
    cdb(&[(0, &[0x42]), (7, &parameter_bytes.to_be_bytes())])
}

#[inline]
fn transfer(short: u8, long: u8, lba: u64, blocks: u32) -> Cdb {
    let mut cdb = [0; 16];
    if lba <= MAX_LBA_10 && blocks <= MAX_BLOCKS_10 {
        cdb[0] = short;
        cdb[2..6].copy_from_slice(&(lba as u32).to_be_bytes());
        cdb[7..9].copy_from_slice(&(blocks as u16).to_be_bytes());
    } else {
        cdb[0] = long;
        cdb[2..10].copy_from_slice(&lba.to_be_bytes());
        cdb[10..14].copy_from_slice(&blocks.to_be_bytes());
    }
    cdb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_form_is_taken_only_when_needed() {
        assert_eq!(read(0x0102_0304, 0x0506)[..10], [0x28, 0, 1, 2, 3, 4, 0, 5, 6, 0]);
        assert_eq!(write(u32::MAX.into(), 65_535)[0], 0x2a);
        assert_eq!(write(1 << 32, 8)[..14], [0x8a, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8]);
        assert_eq!(read(0, 65_536)[..14], [0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(synchronize_cache_range(7, 8)[..10], [0x35, 0, 0, 0, 0, 7, 0, 0, 8, 0]);
        assert_eq!(synchronize_cache_range(1 << 40, 1)[0], 0x91);
        assert_eq!(forced_write(7, 8)[..10], [0x2a, 8, 0, 0, 0, 7, 0, 0, 8, 0]);
        assert_eq!(forced_write(1 << 32, 8)[..6], [0x8a, 8, 0, 0, 0, 1]);
    }

    #[test]
    fn the_others_are_as_the_standards_lay_them_out() {
        assert_eq!(inquiry(None, 36)[..6], [0x12, 0, 0, 0, 36, 0]);
        assert_eq!(inquiry(Some(0xb0), 0x0140)[..6], [0x12, 1, 0xb0, 1, 0x40, 0]);
        assert_eq!(read_capacity_16(32), [0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0]);
        assert_eq!(mode_sense_6(8, 192)[..6], [0x1a, 8, 8, 0, 192, 0]);
        assert_eq!(unmap(24)[..10], [0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0]);
    }
}
