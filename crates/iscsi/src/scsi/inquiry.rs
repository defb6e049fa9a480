//! The results of INQUIRY (SPC-4 §6.6 and §7.8, SBC-3 §6.6): the identity and capabilities of a
//! logical unit.

use crate::bytes::{be16, be32, byte, printable};

/// Standard INQUIRY data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    /// Peripheral qualifier: 0 if there is a unit.
    pub qualifier: u8,
    /// Peripheral device type: 0 for a disk, 0x1f for none.
    pub device_type: u8,
    /// Vendor.
    pub vendor: String,
    /// Product.
    pub product: String,
    /// Revision.
    pub revision: String,
}

impl Inquiry {
    /// Whether there is a disk under this number.
    pub fn is_disk(&self) -> bool {
        self.qualifier == 0 && self.device_type == 0
    }
}

/// Parses standard INQUIRY data.
pub fn inquiry(data: &[u8]) -> Option<Inquiry> {
    let first = byte(data, 0)?;
    Some(Inquiry {
        qualifier: first >> 5,
        device_type: first & 0x1f,
        vendor: printable(data.get(8..16)?),
        product: printable(data.get(16..32)?),
        revision: printable(data.get(32..36)?),
    })
}

/// The body of a vital product data page, as far as it was returned.
fn body(data: &[u8], page: u8) -> Option<&[u8]> {
    if byte(data, 1)? != page {
        return None;
    }
    let end = 4 + usize::from(be16(data, 2)?);
    data.get(4..end.min(data.len()))
}

/// Parses page 80h: the serial number.
pub fn serial_number(data: &[u8]) -> Option<String> {
    body(data, 0x80).map(printable)
}

/// Page B0h: limits on commands. Zero in the page means "not reported" and is `None` here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockLimits {
    /// Most blocks per command.
    pub max_transfer_blocks: Option<u32>,
    /// Optimal number of blocks per command.
    pub optimal_transfer_blocks: Option<u32>,
    /// Most blocks per UNMAP.
    pub max_unmap_blocks: Option<u32>,
    /// Most ranges per UNMAP.
    pub max_unmap_ranges: Option<u32>,
}

/// Parses page B0h.
pub fn block_limits(data: &[u8]) -> Option<BlockLimits> {
    body(data, 0xb0)?;
    let said = |at| be32(data, at).filter(|&value| value != 0);
    Some(BlockLimits {
        max_transfer_blocks: said(8),
        optimal_transfer_blocks: said(12),
        max_unmap_blocks: said(20),
        max_unmap_ranges: said(24),
    })
}

/// Page B2h: whether and how blocks are provisioned on writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalProvisioning {
    /// LBPU: UNMAP is supported.
    pub unmap: bool,
    /// LBPWS: WRITE SAME (16) with UNMAP is supported.
    pub write_same: bool,
    /// LBPRZ: unmapped blocks read as zeros.
    pub unmapped_zero: bool,
    /// 0 not reported, 1 resource provisioned, 2 thin.
    pub kind: u8,
}

/// Parses page B2h.
pub fn logical_provisioning(data: &[u8]) -> Option<LogicalProvisioning> {
    let body = body(data, 0xb2)?;
    let bits = byte(body, 1)?;
    Some(LogicalProvisioning {
        unmap: bits & 0x80 != 0,
        write_same: bits & 0x40 != 0,
        unmapped_zero: bits & 0x1c != 0,
        kind: byte(body, 2).unwrap_or(0) & 7,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_data_is_read() {
        let mut data = vec![0, 0, 5, 2, 31, 0, 0, 2];
        data.extend_from_slice(b"IET     VIRTUAL-DISK    0001");
        let read = inquiry(&data).unwrap();
        assert_eq!(
            (read.vendor.as_str(), read.product.as_str(), read.revision.as_str()),
            ("IET", "VIRTUAL-DISK", "0001")
        );
        assert!(read.is_disk());
        data[0] = 0x7f;
        assert!(!inquiry(&data).unwrap().is_disk());
        assert_eq!(inquiry(&data[..35]), None);
    }

    #[test]
    fn pages_are_read_as_far_as_they_go() {
        assert_eq!(serial_number(&[0, 0xb0, 0, 0]), None);
        assert_eq!(serial_number(b"\0\x80\0\x08  beaf11").unwrap(), "beaf11");
        // Truncated by the allocation length.
        assert_eq!(serial_number(b"\0\x80\0\x20beaf").unwrap(), "beaf");
        let mut limits = [0; 64];
        limits[1] = 0xb0;
        limits[3] = 60;
        limits[10] = 0x20;
        limits[23] = 7;
        let read = block_limits(&limits).unwrap();
        assert_eq!(read.max_transfer_blocks, Some(0x2000));
        assert_eq!(read.optimal_transfer_blocks, None);
        assert_eq!(read.max_unmap_blocks, Some(7));
        assert_eq!(block_limits(&limits[..16]).unwrap().max_unmap_blocks, None);
        let thin = logical_provisioning(&[0, 0xb2, 0, 4, 0, 0xe4, 2, 0]).unwrap();
        assert!(thin.unmap && thin.write_same && thin.unmapped_zero);
        assert_eq!(thin.kind, 2);
    }
}
