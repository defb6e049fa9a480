//! The results of READ CAPACITY (SBC-3 §5.15, §5.16).

use crate::bytes::{be32, be64, byte};

/// The size of a logical unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Number of logical blocks.
    pub blocks: u64,
    /// Size of a logical block in bytes.
    pub block_bytes: u32,
    /// Logical blocks per physical block, as a power of two.
    pub physical_exponent: u8,
    /// LBPME: whether blocks may be unmapped.
    pub thin: bool,
    /// LBPRZ: whether unmapped blocks read as zeros.
    pub unmapped_zero: bool,
}

/// Parses the result of READ CAPACITY (10). `Some(None)` if the unit is too large for it and READ
/// CAPACITY (16) is needed.
pub fn capacity_10(data: &[u8]) -> Option<Option<Capacity>> {
    let (last, block_bytes) = (be32(data, 0)?, be32(data, 4)?);
    if last == u32::MAX {
        return Some(None);
    }
    let blocks = u64::from(last) + 1;
    let capacity =
        Capacity { blocks, block_bytes, physical_exponent: 0, thin: false, unmapped_zero: false };
    capacity.sane().map(Some)
}

/// Parses the result of READ CAPACITY (16).
pub fn capacity_16(data: &[u8]) -> Option<Capacity> {
    let provisioning = byte(data, 14).unwrap_or(0);
    Capacity {
        blocks: be64(data, 0)?.checked_add(1)?,
        block_bytes: be32(data, 8)?,
        physical_exponent: byte(data, 13).unwrap_or(0) & 0x0f,
        thin: provisioning & 0x80 != 0,
        unmapped_zero: provisioning & 0x40 != 0,
    }
    .sane()
}

impl Capacity {
    /// Checks that the block size is plausible and the total size fits into 64 bits.
    fn sane(self) -> Option<Self> {
        let known =
            self.block_bytes.is_power_of_two() && (512..=1 << 20).contains(&self.block_bytes);
        (known && self.blocks.checked_mul(self.block_bytes.into()).is_some()).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let short = [0, 0, 0x0f, 0xff, 0, 0, 2, 0];
        let read = capacity_10(&short).unwrap().unwrap();
        assert_eq!((read.blocks, read.block_bytes), (4096, 512));
        assert_eq!(capacity_10(&[0xff, 0xff, 0xff, 0xff, 0, 0, 2, 0]), Some(None));
        let mut long = [0; 32];
        long[3] = 1;
        long[10] = 0x10;
        long[13] = 0x13;
        long[14] = 0xc0;
        let capacity = capacity_16(&long).unwrap();
        assert_eq!((capacity.blocks, capacity.block_bytes), ((1 << 32) + 1, 4096));
        assert_eq!(capacity.physical_exponent, 3);
        assert!(capacity.thin && capacity.unmapped_zero);
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        assert_eq!(capacity_10(&[0, 0, 0, 1, 0, 0, 2]), None);
        assert_eq!(capacity_10(&[0, 0, 0, 1, 0, 0, 2, 8]), None);
        assert_eq!(capacity_16(&[0xff; 32]), None);
        let mut huge = [0xff; 12];
        huge[7] = 0xfe;
        huge[8..].copy_from_slice(&[0, 0, 2, 0]);
        assert_eq!(capacity_16(&huge), None);
    }
}
