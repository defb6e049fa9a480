//! Which record belongs where, and which records can be judged after a cut.
//!
//! Records are numbered from 1. Record n is written at place (n - 1) mod R of the R places of the disk, so the disk
//! holds the last R records. They are written in groups of k: all of a group, then one flush, then one line of the
//! journal, and only then the next group. If the last line says that the records up to A are acknowledged, writes
//! were therefore under way at most to the records A + 1 to A + k. These go over the places of the records
//! A + 1 - R to A + k - R: a cut may leave there the older record, the newer one or a mixture of both, and storage
//! that is honest may do so. The records A + k - R + 1 to A must all be there, whole.

use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::record::SECTOR_BYTES;

/// The fewest groups on a disk. With fewer, the group under way covers too much of what is to be judged.
const FEWEST_GROUPS: u64 = 4;
/// The largest block: a disk is filled in parts of this size, which hold whole blocks.
const MOST_BLOCK_BYTES: u32 = 1 << 20;

/// The places of a run's records on its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    /// The run whose records they are.
    pub run: RunId,
    /// Bytes of the disk.
    pub disk_bytes: u64,
    /// Bytes of a record.
    pub block_bytes: u32,
    /// Records that one flush covers (k).
    pub group: u32,
}

/// Records that a disk cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// A block that is no power of two, or too small or large.
    #[error("a block of {block_bytes} bytes is not possible: use a power of two from 512B to 1MiB")]
    Block {
        /// What was asked for.
        block_bytes: u32,
    },
    /// A flush after no record.
    #[error("a flush after every 0 records flushes nothing: flush after every 1 or more")]
    EmptyGroup,
    /// Too few places.
    #[error(
        "a disk of {disk_bytes} bytes holds {places} records of {block_bytes} bytes, and a check needs at least \
         {needed} ({FEWEST_GROUPS} flushes of {group} records): use a larger disk, smaller blocks, or flush more often"
    )]
    TooSmall {
        /// The disk.
        disk_bytes: u64,
        /// The records that it holds.
        places: u64,
        /// Bytes of one.
        block_bytes: u32,
        /// Records that are needed.
        needed: u64,
        /// Records a flush.
        group: u32,
    },
}

impl Ring {
    /// Checks the numbers against each other.
    ///
    /// # Errors
    /// A block or group that is not possible, or a disk that is too small for them.
    pub fn check(&self) -> Result<(), RingError> {
        let Self { disk_bytes, block_bytes, group, .. } = *self;
        let sizes = SECTOR_BYTES as u32..=MOST_BLOCK_BYTES;
        if !block_bytes.is_power_of_two() || !sizes.contains(&block_bytes) {
            return Err(RingError::Block { block_bytes });
        }
        if group == 0 {
            return Err(RingError::EmptyGroup);
        }
        let (places, needed) = (self.places(), FEWEST_GROUPS * u64::from(group));
        if places < needed {
            return Err(RingError::TooSmall { disk_bytes, places, block_bytes, needed, group });
        }
        Ok(())
    }

    /// The records that the disk holds (R).
    pub fn places(&self) -> u64 {
        self.disk_bytes / u64::from(self.block_bytes)
    }

    /// The place of a record, counted from 0.
    pub fn place_of(&self, number: u64) -> u64 {
        (number - 1) % self.places()
    }

    /// Where a place starts on the disk, in bytes.
    pub fn offset_bytes(&self, place: u64) -> u64 {
        place * u64::from(self.block_bytes)
    }

    /// The last record of the group of a record.
    pub fn group_end(&self, number: u64) -> u64 {
        number.next_multiple_of(u64::from(self.group))
    }

    /// The newest of the records up to `last` that belongs at a place.
    pub(crate) fn newest_at(&self, place: u64, last: u64) -> Option<u64> {
        let places = self.places();
        let behind = (self.place_of(last.checked_sub(1)? + 1) + places - place) % places;
        last.checked_sub(behind).filter(|&number| number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: Ring = Ring { run: RunId(1), disk_bytes: 10 * 512 + 7, block_bytes: 512, group: 2 };

    #[test]
    fn records_go_round() {
        assert_eq!(RING.places(), 10);
        assert_eq!([1, 10, 11, 25].map(|number| RING.place_of(number)), [0, 9, 0, 4]);
        assert_eq!(RING.group_end(3), 4);
        assert_eq!(RING.group_end(4), 4);
    }

    #[test]
    fn the_newest_record_of_a_place_is_found_by_counting() {
        for last in 0..45 {
            for place in 0..RING.places() {
                let counted = (1..=last).rev().find(|&number| RING.place_of(number) == place);
                assert_eq!(RING.newest_at(place, last), counted, "{place} {last}");
            }
        }
    }

    #[test]
    fn a_disk_that_is_too_small_is_refused_with_what_it_needs() {
        assert_eq!(RING.check(), Ok(()));
        let error = Ring { group: 3, ..RING }.check().unwrap_err();
        assert!(error.to_string().contains("holds 10 records"), "{error}");
        assert!(error.to_string().contains("at least 12"), "{error}");
        assert_eq!(Ring { group: 0, ..RING }.check(), Err(RingError::EmptyGroup));
        for block_bytes in [0, 256, 1000, 2 << 20] {
            let error = Ring { block_bytes, ..RING }.check();
            assert_eq!(error, Err(RingError::Block { block_bytes }));
        }
    }
}
