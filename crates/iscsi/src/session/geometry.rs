//! Where disks are on the unit, and the granularity of transfers.
//!
//! Everything that a request needs is computed once: the length of a block as a shift, the longest
//! transfer in whole blocks.

use stormeter_disk::Operation;

/// Disks on a unit.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    /// Start of each disk, in bytes.
    extents: Vec<u64>,
    /// Length of each disk, in bytes.
    disk_bytes: u64,
    block_shift: u32,
    /// The longest transfer per task, in bytes.
    pub(super) most_bytes: u32,
}

impl Geometry {
    /// Block lengths are powers of two; any other length is rounded down to one.
    pub(super) fn new(
        extents: Vec<u64>,
        disk_bytes: u64,
        block_bytes: u32,
        max_transfer_bytes: u32,
    ) -> Self {
        let block_shift = block_bytes.max(1).ilog2();
        let most_bytes = (max_transfer_bytes >> block_shift).max(1) << block_shift;
        Self { extents, disk_bytes, block_shift, most_bytes }
    }

    /// An operation's first byte on the unit; `None` unless it covers whole blocks of an existing
    /// disk.
    #[inline]
    pub(super) fn begin_bytes(&self, operation: &Operation) -> Option<u64> {
        let base = *self.extents.get(operation.disk as usize)?;
        let begin = base.checked_add(operation.offset_bytes)?;
        let length = u64::from(operation.length_bytes);
        begin.checked_add(length)?;
        let within = (1 << self.block_shift) - 1;
        ((begin | length) & within == 0).then_some(begin)
    }

    /// The block that starts at byte `at` of the unit, and the number of blocks in `length` bytes.
    #[inline]
    pub(super) fn blocks(&self, at: u64, length: u32) -> (u64, u32) {
        (at >> self.block_shift, length >> self.block_shift)
    }
}

impl Geometry {
    /// The blocks of a disk, if SYNCHRONIZE CACHE can name them: 2^16 - 1 of them, or 2^32 - 1
    /// where the first is too far away for its short form.
    pub(super) fn disk_blocks(&self, disk: u32) -> Option<(u64, u32)> {
        let begin = self.extents.get(disk as usize)? >> self.block_shift;
        let blocks = self.disk_bytes >> self.block_shift;
        let most = if begin <= u64::from(u32::MAX) { u16::MAX.into() } else { u32::MAX };
        let blocks = u32::try_from(blocks).ok().filter(|blocks| (1..=most).contains(blocks))?;
        Some((begin, blocks))
    }

    /// Whether a flush of a disk covers all disks.
    pub(super) fn is_flushed_whole(&self, disk: u32) -> bool {
        self.extents.len() == 1 || self.disk_blocks(disk).is_none()
    }
}

#[cfg(test)]
mod tests {
    use stormeter_disk::Kind;

    use super::*;

    fn operation(disk: u32, offset_bytes: u64, length_bytes: u32) -> Operation {
        Operation { offset_bytes, length_bytes, disk, slot: 0, buffer: 0, kind: Kind::Read }
    }

    #[test]
    fn whole_blocks_of_a_disk_there_is_have_a_place() {
        let geometry = Geometry::new(vec![4096, u64::MAX - 1023], 0, 512, 1300);
        assert_eq!(geometry.most_bytes, 1024);
        assert_eq!(geometry.begin_bytes(&operation(0, 1024, 512)), Some(5120));
        assert_eq!(geometry.blocks(5120, 1024), (10, 2));
        for odd in [operation(0, 100, 512), operation(0, 512, 100), operation(2, 0, 512)] {
            assert_eq!(geometry.begin_bytes(&odd), None);
        }
        // Beyond the largest offset.
        assert_eq!(geometry.begin_bytes(&operation(1, 512, 512)), None);
        assert_eq!(geometry.begin_bytes(&operation(1, u64::MAX, 512)), None);
        assert_eq!(geometry.begin_bytes(&operation(1, 0, 512)), Some(u64::MAX - 1023));
    }

    #[test]
    fn a_flush_names_as_many_blocks_as_its_command_counts() {
        let of = |begin, disk_bytes| {
            let geometry = Geometry::new(vec![begin, 0], disk_bytes, 512, 512);
            assert_eq!(geometry.is_flushed_whole(0), geometry.disk_blocks(0).is_none());
            geometry.disk_blocks(0)
        };
        assert_eq!(of(4096, 65_535 * 512), Some((8, 65_535)));
        assert_eq!(of(4096, 65_536 * 512), None);
        assert_eq!(of(512 << 32, 65_536 * 512), Some((1 << 32, 65_536)));
        assert_eq!(of(512 << 32, 512 << 32), None);
        assert_eq!(of(4096, 0), None);
        assert!(Geometry::new(vec![0], 512, 512, 512).is_flushed_whole(0));
    }

    #[test]
    fn a_transfer_is_one_block_at_least() {
        assert_eq!(Geometry::new(vec![], 0, 4096, 0).most_bytes, 4096);
        assert_eq!(Geometry::new(vec![], 0, 0, 7).most_bytes, 7);
    }
}
