//! The requested disks, and whether such disks are possible at all.

use serde::{Deserialize, Serialize};
use stormeter_units::format_bytes;

use crate::DatastoreError;

/// The largest number of disks of one datastore: five digits name them.
pub(crate) const MAX_DISKS: u32 = 100_000;

/// Virtual disks to create, all alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpec {
    /// Number of disks.
    pub count: u32,
    /// Bytes of each.
    pub size_bytes: u64,
    /// The unit of every request: lengths and offsets are multiples of it.
    pub granularity_bytes: u32,
}

impl DiskSpec {
    /// Bytes of all disks together, saturated.
    pub fn total_bytes(&self) -> u64 {
        self.size_bytes.saturating_mul(u64::from(self.count))
    }

    /// Checks the numbers against each other and against the datastore's logical block.
    pub(crate) fn check(
        &self,
        logical_block_bytes: u32,
        datastore: &str,
    ) -> Result<(), DatastoreError> {
        let granularity = u64::from(self.granularity_bytes);
        let logical = u64::from(logical_block_bytes.max(1));
        if self.count == 0 || self.count > MAX_DISKS {
            return Err(DatastoreError::Count { count: self.count, most: MAX_DISKS });
        }
        if granularity == 0 {
            return Err(DatastoreError::EmptyBlock);
        }
        if !granularity.is_multiple_of(logical) {
            return Err(DatastoreError::BlockSize {
                block: format_bytes(granularity),
                logical_block_bytes,
                datastore: datastore.into(),
            });
        }
        if self.size_bytes < granularity {
            return Err(DatastoreError::SizeBelowBlock {
                size: format_bytes(self.size_bytes),
                block: format_bytes(granularity),
            });
        }
        // Offsets are signed in the kernel's interfaces.
        if self.total_bytes() > i64::MAX as u64 / 2 {
            return Err(DatastoreError::TooLarge { size: format_bytes(self.size_bytes) });
        }
        if !self.size_bytes.is_multiple_of(logical) {
            return Err(DatastoreError::DiskSize {
                size_bytes: self.size_bytes,
                logical_block_bytes,
                datastore: datastore.into(),
                suggestion_bytes: self.size_bytes / logical * logical,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(count: u32, size_bytes: u64, granularity_bytes: u32) -> String {
        let spec = DiskSpec { count, size_bytes, granularity_bytes };
        spec.check(4096, "/srv").unwrap_err().to_string()
    }

    #[test]
    fn a_sensible_request_passes() {
        let spec = DiskSpec { count: 2, size_bytes: 1 << 20, granularity_bytes: 8192 };
        assert!(spec.check(4096, "/srv").is_ok());
        assert_eq!(spec.total_bytes(), 2 << 20);
    }

    #[test]
    fn a_block_that_splits_logical_blocks_names_both() {
        let text = message(1, 1 << 20, 512);
        assert!(text.contains("block size (in units of 512B) is not a multiple"), "{text}");
        assert!(text.contains("logical block 4096 of /srv"), "{text}");
        assert!(text.contains("direct=0"), "{text}");
    }

    #[test]
    fn a_size_below_one_block_names_both() {
        let text = message(1, 4096, 8192);
        assert!(
            text.contains("4KiB") && text.contains("8KiB") && text.contains("larger disks"),
            "{text}"
        );
    }

    #[test]
    fn other_nonsense_is_refused() {
        assert!(message(0, 1 << 20, 4096).contains("VMs"));
        assert!(message(100_001, 1 << 20, 4096).contains("100000"));
        assert!(message(1, 1 << 20, 0).contains("at least 1 byte"));
        assert!(message(1, 4096 * 3 + 512, 4096).contains("12288"));
        assert!(message(100_000, u64::MAX / 4096 * 4096, 4096).contains("disks"));
    }
}
