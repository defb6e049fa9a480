//! The layout of a volume on the disks of its RAID groups.
//!
//! A volume is a sequence of stripes. A stripe is a *unit* of bytes on each data disk of one group,
//! plus the parity; consecutive stripes go to consecutive groups, so that all disks share every load.
//! Parity rotates left-symmetrically: with each row it moves one disk to the left, and data starts on
//! the disk after it, so that a long read visits all disks in turn (E. K. Lee and R. H. Katz, "The
//! performance of parity placements in disk arrays", IEEE Trans. Computers 42(6), 1993, section 3).
//! RAID 6 and row-diagonal parity are the same to a disk: two more units per stripe.

use stormeter_site::{DiskGroup, StripeUnits};

/// The layout of an array.
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    /// Disks per group.
    pub(crate) disks: u32,
    pub(crate) groups: u32,
    /// Bytes of a stripe on one disk.
    pub(crate) unit_bytes: u64,
    /// Data units per stripe.
    pub(crate) data: u32,
    /// Parity units per stripe.
    pub(crate) parity: u32,
    /// Copies of each unit.
    pub(crate) copies: u32,
    /// Capacity of a disk; `u64::MAX`: unknown.
    pub(crate) disk_bytes: u64,
    capacity_bytes: u64,
}

/// Bytes of one stripe, for which one plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) stripe: u64,
    pub(crate) shape: Shape,
}

/// Which bytes of a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// From one byte to another, through consecutive units.
    Run { from: u64, to: u64 },
    /// Pieces in several units, as a write-back cache collects them: `each` bytes in every unit of
    /// `mask`, all of them somewhere between `low` and `high` of their unit.
    Pieces { mask: u128, low: u64, high: u64, each: u64 },
}

impl Geometry {
    pub(crate) fn new(group: &DiskGroup) -> Self {
        let disks = group.disks.max(1);
        let StripeUnits { data, parity, copies } = group.stripe_units();
        let disk_bytes = group.device.capacity_bytes().unwrap_or(u64::MAX);
        let capacity_bytes = group.usable_bytes().unwrap_or(u64::MAX);
        let groups = group.groups.max(1);
        let unit_bytes = match data * groups {
            // Consecutive stripes on one disk are one run: no controller splits it.
            1 => 1 << 50,
            _ => group.stripe_bytes.clamp(512, 1 << 50),
        };
        Self { disks, groups, unit_bytes, data, parity, copies, disk_bytes, capacity_bytes }
    }

    /// Number of all disks.
    pub(crate) fn device_count(&self) -> u32 {
        self.disks * self.groups
    }

    /// Number of disks' worth of data.
    pub(crate) fn data_disks(&self) -> u32 {
        self.data * self.groups
    }

    /// Disks of a group that may be lost without data loss.
    pub(crate) fn tolerance(&self) -> u32 {
        self.parity + self.copies - 1
    }

    /// Bytes of data in a stripe.
    pub(crate) fn stripe_bytes(&self) -> u64 {
        self.unit_bytes * u64::from(self.data)
    }

    /// Capacity of the array; `u64::MAX`: unknown.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Bytes of each disk that a volume of this size uses.
    pub(crate) fn used_bytes(&self, volume_bytes: u64) -> u64 {
        if self.unit_bytes >= 1 << 50 {
            return volume_bytes;
        }
        let stripes = volume_bytes.div_ceil(self.stripe_bytes());
        stripes.div_ceil(u64::from(self.groups)).saturating_mul(self.unit_bytes)
    }

    /// The part of a request that is in the stripe of its first byte.
    #[inline]
    pub(crate) fn first_area(&self, volume_offset: u64, length: u64) -> (Area, u64) {
        let stripe_bytes = self.stripe_bytes();
        let (stripe, from) = (volume_offset / stripe_bytes, volume_offset % stripe_bytes);
        let length = length.min(stripe_bytes - from);
        (Area { stripe, shape: Shape::Run { from, to: from + length } }, length)
    }

    /// The group of a stripe, as its first disk.
    #[inline]
    pub(crate) fn first_disk(&self, stripe: u64) -> u32 {
        (stripe % u64::from(self.groups)) as u32 * self.disks
    }

    /// The row of a stripe within its group.
    #[inline]
    pub(crate) fn row(&self, stripe: u64) -> u64 {
        stripe / u64::from(self.groups)
    }

    /// Where a stripe starts on each of its disks.
    #[inline]
    pub(crate) fn disk_offset(&self, stripe: u64) -> u64 {
        self.row(stripe) * self.unit_bytes
    }

    /// The disk of a data unit; of its first copy if there are more.
    #[inline]
    pub(crate) fn data_disk(&self, stripe: u64, unit: u32) -> u32 {
        let first = self.first_disk(stripe);
        match self.parity {
            0 => first + unit * self.copies,
            parity => first + self.wrapped(self.first_parity(stripe) + parity + unit),
        }
    }

    /// The disk of a parity unit.
    #[inline]
    pub(crate) fn parity_disk(&self, stripe: u64, parity: u32) -> u32 {
        self.first_disk(stripe) + self.wrapped(self.first_parity(stripe) + parity)
    }

    #[inline]
    fn first_parity(&self, stripe: u64) -> u32 {
        self.disks - 1 - (self.row(stripe) % u64::from(self.disks)) as u32
    }

    /// An index within a group; it is too large by less than one round.
    #[inline]
    fn wrapped(&self, place: u32) -> u32 {
        if place >= self.disks { place - self.disks } else { place }
    }
}

impl Area {
    /// The first and last unit that may be touched.
    #[inline]
    pub(crate) fn units(&self, geometry: &Geometry) -> (u32, u32) {
        match self.shape {
            Shape::Run { from, to } => {
                ((from / geometry.unit_bytes) as u32, ((to - 1) / geometry.unit_bytes) as u32)
            }
            Shape::Pieces { mask, .. } => (mask.trailing_zeros(), 127 - mask.leading_zeros()),
        }
    }

    /// The bytes touched in a unit, as offsets in it; an empty run if there are none.
    #[inline]
    pub(crate) fn within(&self, geometry: &Geometry, unit: u32) -> (u64, u64) {
        let bytes = geometry.unit_bytes;
        match self.shape {
            Shape::Run { from, to } => {
                let begin = u64::from(unit) * bytes;
                let low = from.max(begin) - begin;
                (low.min(bytes), to.clamp(begin, begin + bytes) - begin)
            }
            Shape::Pieces { mask, low, .. } if mask >> unit & 1 == 0 => (low, low),
            Shape::Pieces { low, each, .. } => (low, low + each),
        }
    }

    /// The smallest run of a unit that covers what is touched in any: what parity is computed over.
    #[inline]
    pub(crate) fn hull(&self, geometry: &Geometry) -> (u64, u64) {
        match self.shape {
            Shape::Pieces { low, high, .. } => (low, high),
            Shape::Run { .. } => {
                let (first, last) = self.units(geometry);
                if last > first + 1 {
                    return (0, geometry.unit_bytes);
                }
                let (low, high) = self.within(geometry, first);
                let (other_low, other_high) = self.within(geometry, last);
                (low.min(other_low), high.max(other_high))
            }
        }
    }
}

/// Which bytes of which disks can be used.
#[derive(Debug, Clone)]
pub(crate) struct Health {
    /// By disk: bytes before this are valid. All of them on a healthy disk, none on a lost one, the
    /// rebuilt ones on a spare.
    good_bytes: Vec<u64>,
    /// By group: number of disks that are not fully intact.
    ill: Vec<u32>,
}

impl Health {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            good_bytes: vec![u64::MAX; geometry.device_count() as usize],
            ill: vec![0; geometry.groups as usize],
        }
    }

    /// Whether all disks of a group are fully intact.
    #[inline]
    pub(crate) fn is_well(&self, group: u32) -> bool {
        self.ill[group as usize] == 0
    }

    /// Whether the bytes before `end` are valid on a disk.
    #[inline]
    pub(crate) fn has(&self, disk: u32, end: u64) -> bool {
        end <= self.good_bytes[disk as usize]
    }

    /// This many bytes of a disk are valid; `u64::MAX`: it is healthy.
    pub(crate) fn set(&mut self, geometry: &Geometry, disk: u32, good_bytes: u64) {
        self.good_bytes[disk as usize] = good_bytes;
        let group = disk / geometry.disks;
        let disks = group * geometry.disks..(group + 1) * geometry.disks;
        self.ill[group as usize] =
            disks.filter(|&disk| self.good_bytes[disk as usize] != u64::MAX).count() as u32;
    }
}

#[cfg(test)]
mod tests {
    use stormeter_site::Raid;

    use super::super::tests::{group, of_size};
    use super::*;

    #[test]
    fn parity_and_data_of_every_row_are_on_disks_of_their_own_and_all_disks_share_evenly() {
        for (raid, disks) in [(Raid::Raid5, 5), (Raid::Raid6, 8), (Raid::Raid6, 4)] {
            let geometry = Geometry::new(&group(raid, disks, 3));
            let mut parities = vec![0; geometry.device_count() as usize];
            for stripe in 0..u64::from(disks * 3) * 4 {
                let data = (0..geometry.data).map(|unit| geometry.data_disk(stripe, unit));
                let parity = (0..geometry.parity).map(|unit| geometry.parity_disk(stripe, unit));
                let mut used: Vec<u32> = data.chain(parity.clone()).collect();
                used.sort_unstable();
                let first = geometry.first_disk(stripe);
                assert_eq!(used, (first..first + disks).collect::<Vec<_>>());
                parity.for_each(|disk| parities[disk as usize] += 1);
            }
            assert!(parities.iter().all(|&count| count == 4 * geometry.parity), "{parities:?}");
        }
    }

    /// The table of Lee and Katz: five disks, the parity of rows 0 to 4 on disks 4 to 0, and unit
    /// after unit on disk after disk.
    #[test]
    fn a_long_read_visits_all_disks_in_turn() {
        let geometry = Geometry::new(&group(Raid::Raid5, 5, 1));
        let disks: Vec<u32> =
            (0..20).map(|unit| geometry.data_disk(unit / 4, (unit % 4) as u32)).collect();
        let expected: Vec<u32> = (0..20).map(|unit| unit % 5).collect();
        assert_eq!(disks, expected);
        assert_eq!([0, 1, 4].map(|row| geometry.parity_disk(row, 0)), [4, 3, 0]);
    }

    #[test]
    fn a_request_is_cut_at_stripes_and_units() {
        let geometry = Geometry::new(&group(Raid::Raid5, 5, 2));
        let unit = geometry.unit_bytes;
        let (area, length) = geometry.first_area(4 * unit - 4096, 3 * unit);
        assert_eq!((area.stripe, length), (0, 4096));
        assert_eq!(area.hull(&geometry), (unit - 4096, unit));
        let (area, length) = geometry.first_area(4 * unit, 3 * unit - 512);
        assert_eq!((area.stripe, length), (1, 3 * unit - 512));
        assert_eq!(area.units(&geometry), (0, 2));
        assert_eq!(area.within(&geometry, 2), (0, unit - 512));
        assert_eq!(area.within(&geometry, 3).1.saturating_sub(area.within(&geometry, 3).0), 0);
        assert_eq!(area.hull(&geometry), (0, unit));
    }

    #[test]
    fn a_volume_of_all_that_is_usable_fills_each_disk_and_no_more() {
        for raid in [Raid::Raid0, Raid::Raid1, Raid::Raid10, Raid::Raid5, Raid::Raid6] {
            for (disks, groups) in [(4, 2), (6, 1), (6, 3)] {
                let flash = of_size(group(raid, disks, groups), 1000 * 65_536);
                let geometry = Geometry::new(&flash);
                let used = geometry.used_bytes(geometry.capacity_bytes());
                assert_eq!(used, 1000 * 65_536, "{raid:?} of {disks}");
            }
            // The size of a queue is unknown.
            assert_eq!(Geometry::new(&group(raid, 6, 2)).capacity_bytes(), u64::MAX);
        }
    }
}
