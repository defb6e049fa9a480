//! The parameter list of UNMAP (SBC-3 §5.28): frees blocks of a thin unit.

/// Blocks that are no longer needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First logical block.
    pub lba: u64,
    /// Number of blocks.
    pub blocks: u32,
}

/// The most ranges that the list's length field can express.
const MAX_RANGES: usize = (u16::MAX as usize - 8) / 16;

/// The parameter list for UNMAP; only the first 4095 ranges are used.
pub fn unmap_parameters(ranges: &[Range]) -> Vec<u8> {
    let ranges = ranges.get(..MAX_RANGES).unwrap_or(ranges);
    let descriptors = ranges.len() as u16 * 16;
    let mut list = Vec::with_capacity(8 + usize::from(descriptors));
    list.extend_from_slice(&(descriptors + 6).to_be_bytes());
    list.extend_from_slice(&descriptors.to_be_bytes());
    list.extend_from_slice(&[0; 4]);
    for range in ranges {
        list.extend_from_slice(&range.lba.to_be_bytes());
        list.extend_from_slice(&range.blocks.to_be_bytes());
        list.extend_from_slice(&[0; 4]);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_as_the_standard_lays_it_out() {
        let list = unmap_parameters(&[Range { lba: 0x0102, blocks: 3 }]);
        assert_eq!(
            list,
            [0, 22, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 3, 0, 0, 0, 0]
        );
        let many = vec![Range { lba: 0, blocks: 1 }; 5000];
        assert_eq!(unmap_parameters(&many).len(), 8 + 4095 * 16);
    }
}
