//! Whether a workload can be verified, and in which units.

use crate::workload::{Arrivals, Workload, WorkloadError};

/// The largest block. Most storage moves data in pages of this size.
const LARGEST_UNIT_BYTES: u64 = 4096;
/// The smallest block: a sector.
const SMALLEST_UNIT_BYTES: u64 = 512;

impl Workload {
    /// Size of a verified block in bytes: as large as all offsets and lengths allow, at most 4096.
    ///
    /// # Errors
    /// Requests that are not multiples of 512 bytes.
    pub fn verify_unit_bytes(&self) -> Result<u32, WorkloadError> {
        let granularity_bytes = self.granularity_bytes();
        if granularity_bytes < SMALLEST_UNIT_BYTES {
            return Err(WorkloadError::VerifyGranularity(granularity_bytes));
        }
        Ok(granularity_bytes.min(LARGEST_UNIT_BYTES) as u32)
    }

    /// Checks whether reads can be verified on a disk of `disk_bytes`. The workload has been
    /// checked against it.
    ///
    /// # Errors
    /// Requests in odd units, duplicate contents, no reads, or more outstanding I/Os than
    /// non-overlapping places on the disk.
    pub fn check_verify(&self, disk_bytes: u64) -> Result<(), WorkloadError> {
        self.verify_unit_bytes()?;
        if self.content.duplicate_percent > 0.0 {
            return Err(WorkloadError::VerifyDuplicates);
        }
        if self.read_percent <= 0.0 {
            return Err(WorkloadError::VerifyNoReads);
        }
        match self.arrivals {
            Arrivals::Closed { outstanding } => self.check_verify_room(disk_bytes, outstanding),
            // The trial determines how many I/Os of an open loop may be outstanding.
            _ => Ok(()),
        }
    }

    pub(crate) fn check_verify_room(
        &self,
        disk_bytes: u64,
        outstanding: u32,
    ) -> Result<(), WorkloadError> {
        let most = self.most_outstanding_verified(disk_bytes);
        if outstanding > most {
            return Err(WorkloadError::VerifyRoom { outstanding, disk_bytes, most });
        }
        Ok(())
    }

    /// The most operations on a disk of `disk_bytes` that always leave a non-overlapping place for
    /// one more; at least 1.
    pub fn most_outstanding_verified(&self, disk_bytes: u64) -> u32 {
        if self.read_percent >= 100.0 {
            return u32::MAX;
        }
        let unit_bytes = self.granularity_bytes();
        let largest = u64::from(self.largest_bytes());
        let of_size = |length_bytes: u64| {
            let step_bytes = self.alignment_bytes.unwrap_or(length_bytes).max(1);
            let places = disk_bytes.saturating_sub(length_bytes) / step_bytes + 1;
            // Places that one operation blocks for requests of this size. With a single size all
            // start at multiples of the step; otherwise the operation may start at any unit.
            let taken = match self.sizes.as_slice() {
                [_] => 2 * length_bytes.div_ceil(step_bytes) - 1,
                _ => (largest + length_bytes - unit_bytes).div_ceil(step_bytes),
            };
            (places - 1) / taken.max(1) + 1
        };
        let most = self.sizes.iter().map(|size| of_size(u64::from(size.bytes))).min();
        most.unwrap_or(1).min(u64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::SizeShare;
    use crate::workload::tests::plain;

    fn workload(sizes: &[u32]) -> Workload {
        Workload {
            sizes: sizes.iter().map(|&bytes| SizeShare { bytes, share: 1.0 }).collect(),
            read_percent: 50.0,
            ..plain()
        }
    }

    #[test]
    fn the_unit_divides_all_requests_and_offsets() {
        let unit = |sizes: &[u32], alignment_bytes| {
            Workload { alignment_bytes, ..workload(sizes) }.verify_unit_bytes()
        };
        assert_eq!(unit(&[65_536, 8192], None), Ok(4096));
        assert_eq!(unit(&[4096, 6144], None), Ok(2048));
        assert_eq!(unit(&[4096], Some(512)), Ok(512));
        let error = unit(&[4096, 1000], None).unwrap_err();
        assert_eq!(error, WorkloadError::VerifyGranularity(8));
        assert!(error.to_string().contains("multiples of 512 bytes"), "{error}");
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let mut copies = workload(&[4096]);
        copies.content.duplicate_percent = 1.0;
        let error = copies.check_verify(1 << 20).unwrap_err().to_string();
        assert!(error.contains("dedupable"), "{error}");
        let writes = Workload { read_percent: 0.0, ..workload(&[4096]) };
        assert_eq!(writes.check_verify(1 << 20), Err(WorkloadError::VerifyNoReads));
        assert_eq!(workload(&[4096]).check_verify(4 * 4096), Ok(()));
        let error = workload(&[4096]).check_verify(3 * 4096).unwrap_err().to_string();
        assert!(
            error.contains("at most 3 outstanding") && error.contains("larger disks"),
            "{error}"
        );
        let reads = Workload { read_percent: 100.0, ..workload(&[4096]) };
        assert_eq!(reads.check_verify(4096), Ok(()));
    }

    #[test]
    fn mixed_and_finely_aligned_requests_take_more_room() {
        let most = |workload: Workload| workload.most_outstanding_verified(1 << 20);
        assert_eq!(most(workload(&[4096])), 256);
        assert_eq!(most(workload(&[65_536])), 16);
        // 241 places for 64 KiB, of which one operation blocks 31.
        assert_eq!(most(Workload { alignment_bytes: Some(4096), ..workload(&[65_536]) }), 8);
        assert_eq!(most(workload(&[65_536, 4096])), 8);
    }
}
