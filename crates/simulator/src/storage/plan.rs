//! The accesses that a read or write of a stripe needs, with the remaining disks.
//!
//! A write to a stripe with parity has two phases: what the new parity is computed from is read, then
//! data and parity are written. What is read is whatever needs fewer accesses (D. A. Patterson, G.
//! Gibson and R. H. Katz, "A case for redundant arrays of inexpensive disks (RAID)", SIGMOD 1988; P.
//! M. Chen et al., "RAID: high-performance, reliable secondary storage", ACM Computing Surveys 26(2),
//! 1994, section 3.2): the old data and parity (read-modify-write), or the data that is not written
//! (reconstruct-write); nothing for a whole stripe. If disks are lost, only what is still possible
//! counts; reading everything that is left is possible as long as parity suffices.

use stormeter_disk::Kind;

use super::raid::{Area, Geometry, Health};

/// A stream leaves a copy on which this many more accesses wait than on another: about what one
/// stream has there when it is read ahead.
const STAYS: u32 = 8;

/// An access of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) disk: u32,
    pub(crate) kind: Kind,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
}

/// The bytes are lost: more disks are lost than the level tolerates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BytesLost;

/// Makes plans in a reusable list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planner<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) health: &'a Health,
    /// By disk: number of waiting accesses.
    pub(crate) queued: &'a [u32],
    /// By disk: where the last read ended.
    pub(crate) read_to: &'a [u64],
}

impl Planner<'_> {
    /// Plans a read of an area.
    #[inline]
    pub(crate) fn read(&self, area: Area, plan: &mut Vec<Planned>) -> Result<(), BytesLost> {
        let (first, last) = area.units(self.geometry);
        for unit in first..=last {
            let (low, high) = area.within(self.geometry, unit);
            if low < high {
                self.read_unit(area.stripe, unit, low, high, plan)?;
            }
        }
        Ok(())
    }

    /// Reads a part of a unit: from the copy with the shorter queue, or from the remaining disks.
    #[inline]
    fn read_unit(
        &self,
        stripe: u64,
        unit: u32,
        low: u64,
        high: u64,
        plan: &mut Vec<Planned>,
    ) -> Result<(), BytesLost> {
        let disk = self.geometry.data_disk(stripe, unit);
        if self.geometry.copies > 1 {
            let copy = self.best_copy(disk, stripe, low, high).ok_or(BytesLost)?;
            self.push(plan, copy, Kind::Read, stripe, low, high);
            return Ok(());
        }
        if self.has(disk, stripe, high) {
            self.push(plan, disk, Kind::Read, stripe, low, high);
            return Ok(());
        }
        self.read_rest(stripe, disk, low, high, plan)
    }

    /// The copy with the shortest queue; among equals, another one in each row, so that none is
    /// preferred when all are idle. A read that continues where the last read of a disk ended stays
    /// there, as in Linux's `read_balance` (drivers/md/raid1.c), so that each stream has its own heads;
    /// unless many more accesses wait there.
    fn best_copy(&self, first: u32, stripe: u64, low: u64, high: u64) -> Option<u32> {
        let copies = self.geometry.copies;
        let from = self.geometry.disk_offset(stripe) + low;
        let turn = (self.geometry.row(stripe) % u64::from(copies)) as u32;
        (0..copies)
            .map(|copy| first + (copy + turn) % copies)
            .filter(|&disk| self.has(disk, stripe, high))
            .min_by_key(|&disk| {
                let is_sequential = self.read_to[disk as usize] == from;
                let free = if is_sequential { STAYS } else { 0 };
                (self.queued[disk as usize].saturating_sub(free), !is_sequential)
            })
    }

    /// Reads from the other disks what reconstructs the content of `disk`: as many of them as there
    /// are data units, data before parity; or another copy.
    pub(crate) fn read_rest(
        &self,
        stripe: u64,
        disk: u32,
        low: u64,
        high: u64,
        plan: &mut Vec<Planned>,
    ) -> Result<(), BytesLost> {
        let geometry = self.geometry;
        if geometry.copies > 1 {
            let first = disk - disk % geometry.disks % geometry.copies;
            let copy = self.best_copy(first, stripe, low, high).ok_or(BytesLost)?;
            self.push(plan, copy, Kind::Read, stripe, low, high);
            return Ok(());
        }
        let data = (0..geometry.data).map(|unit| geometry.data_disk(stripe, unit));
        let parity = (0..geometry.parity).map(|parity| geometry.parity_disk(stripe, parity));
        let mut missing = geometry.data;
        for other in data.chain(parity) {
            if missing > 0 && other != disk && self.has(other, stripe, high) {
                self.push(plan, other, Kind::Read, stripe, low, high);
                missing -= 1;
            }
        }
        if missing > 0 { Err(BytesLost) } else { Ok(()) }
    }

    /// The first phase of a write: what has to be read. Empty: it can be written at once.
    #[inline]
    pub(crate) fn before_write(
        &self,
        area: Area,
        plan: &mut Vec<Planned>,
    ) -> Result<(), BytesLost> {
        if self.geometry.parity == 0 {
            return Ok(());
        }
        let geometry = self.geometry;
        let stripe = area.stripe;
        let (low, high) = area.hull(geometry);
        let (first, last) = area.units(geometry);
        let mut parities = 0;
        for parity in 0..geometry.parity {
            let disk = geometry.parity_disk(stripe, parity);
            parities += u32::from(self.has(disk, stripe, high));
        }
        // Old data and parity.
        let mut modify = Some(parities);
        // Data that stays as it is.
        let mut reconstruct = Some(0);
        let well = self.health.is_well(geometry.first_disk(stripe) / geometry.disks);
        if well {
            // The units outside the request need no check.
            reconstruct = Some(geometry.data - (last + 1 - first));
        }
        let looked_at = if well { (first, last + 1) } else { (0, geometry.data) };
        for unit in looked_at.0..looked_at.1 {
            let (begin, end) = area.within(geometry, unit);
            let there = well || self.has(geometry.data_disk(stripe, unit), stripe, high);
            if begin < end {
                modify = modify.filter(|_| there).map(|count| count + 1);
            }
            if (begin, end) != (low, high) {
                reconstruct = reconstruct.filter(|_| there).map(|count| count + 1);
            }
        }
        if parities == 0 {
            // Nothing preserves the bytes of a lost disk any more.
            return if modify.is_some() { Ok(()) } else { Err(BytesLost) };
        }
        match (modify, reconstruct) {
            (_, Some(0)) => {}
            (modify, Some(count)) if modify.is_none_or(|modify| count <= modify) => {
                for unit in 0..geometry.data {
                    let within = area.within(geometry, unit);
                    if within != (low, high) {
                        let disk = geometry.data_disk(stripe, unit);
                        let (low, high) = outside(within, (low, high));
                        self.push(plan, disk, Kind::Read, stripe, low, high);
                    }
                }
            }
            (Some(_), _) => {
                for unit in first..=last {
                    let (begin, end) = area.within(geometry, unit);
                    if begin < end {
                        let disk = geometry.data_disk(stripe, unit);
                        self.push(plan, disk, Kind::Read, stripe, begin, end);
                    }
                }
                for parity in 0..geometry.parity {
                    let disk = geometry.parity_disk(stripe, parity);
                    if self.has(disk, stripe, high) {
                        self.push(plan, disk, Kind::Read, stripe, low, high);
                    }
                }
            }
            // Both need a lost disk: its content is reconstructed from all remaining ones.
            (None, _) => self.read_rest(stripe, u32::MAX, low, high, plan)?,
        }
        Ok(())
    }

    /// The second phase of a write: data to all existing copies, and parity.
    #[inline]
    pub(crate) fn write(&self, area: Area, plan: &mut Vec<Planned>) -> Result<(), BytesLost> {
        let geometry = self.geometry;
        let stripe = area.stripe;
        let (first, last) = area.units(geometry);
        let mut lost = 0;
        for unit in first..=last {
            let (low, high) = area.within(geometry, unit);
            if low >= high {
                continue;
            }
            let disk = geometry.data_disk(stripe, unit);
            let before = plan.len();
            for copy in disk..disk + geometry.copies {
                if self.has(copy, stripe, high) {
                    self.push(plan, copy, Kind::Write, stripe, low, high);
                }
            }
            lost += u32::from(plan.len() == before);
        }
        let (low, high) = area.hull(geometry);
        let mut parities = 0;
        for parity in 0..geometry.parity {
            let disk = geometry.parity_disk(stripe, parity);
            if self.has(disk, stripe, high) {
                self.push(plan, disk, Kind::Write, stripe, low, high);
                parities += 1;
            }
        }
        if lost > parities { Err(BytesLost) } else { Ok(()) }
    }

    #[inline]
    fn has(&self, disk: u32, stripe: u64, high: u64) -> bool {
        self.health.has(disk, self.geometry.disk_offset(stripe) + high)
    }

    #[inline]
    fn push(
        &self,
        plan: &mut Vec<Planned>,
        disk: u32,
        kind: Kind,
        stripe: u64,
        low: u64,
        high: u64,
    ) {
        plan.push(Planned {
            disk,
            kind,
            offset_bytes: self.geometry.disk_offset(stripe) + low,
            length_bytes: (high - low).min(u64::from(u32::MAX)) as u32,
        });
    }
}

/// The part of `all` outside `part`: what is before or after it, or all if there is some on both
/// sides.
fn outside(part: (u64, u64), all: (u64, u64)) -> (u64, u64) {
    match part {
        (low, high) if low >= high => all,
        (low, high) if low == all.0 => (high, all.1),
        (low, high) if high == all.1 => (all.0, low),
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use stormeter_site::Raid;

    use super::super::raid::Shape;
    use super::super::tests::group;
    use super::*;

    const KIB: u64 = 1024;

    /// Number of accesses in both phases of a write, and in a read, with these disks lost.
    fn counts(raid: Raid, disks: u32, from: u64, length: u64, lost: &[u32]) -> Option<[usize; 3]> {
        let geometry = Geometry::new(&group(raid, disks, 1));
        let mut health = Health::new(&geometry);
        lost.iter().for_each(|&disk| health.set(&geometry, disk, 0));
        let queued = vec![0; disks as usize];
        let read_to = vec![u64::MAX; disks as usize];
        let planner =
            Planner { geometry: &geometry, health: &health, queued: &queued, read_to: &read_to };
        let (area, whole) = geometry.first_area(from, length);
        assert_eq!(whole, length);
        let mut plans = [Vec::new(), Vec::new(), Vec::new()];
        planner.read(area, &mut plans[0]).ok()?;
        planner.before_write(area, &mut plans[1]).ok()?;
        planner.write(area, &mut plans[2]).ok()?;
        for planned in plans.iter().flatten() {
            assert!(!lost.contains(&planned.disk), "{planned:?}");
            assert!(planned.length_bytes > 0);
        }
        let writes = plans[1].iter().filter(|planned| planned.kind == Kind::Write).count();
        assert_eq!(writes, 0);
        Some(plans.map(|plan| plan.len()))
    }

    /// Reads of a read, then reads and writes of a write: by level and size; units of 64 KiB.
    #[test]
    fn accesses_by_level_and_size() {
        let table: [(Raid, u32, u64, [usize; 3]); 19] = [
            (Raid::Raid0, 4, 4, [1, 0, 1]),
            (Raid::Raid0, 4, 256, [4, 0, 4]),
            (Raid::Raid1, 2, 4, [1, 0, 2]),
            (Raid::Raid1, 3, 4, [1, 0, 3]),
            (Raid::Raid10, 8, 4, [1, 0, 2]),
            (Raid::Raid10, 8, 128, [2, 0, 4]),
            // Old data and parity: four accesses; but with three disks reading the other one is
            // enough.
            (Raid::Raid5, 8, 4, [1, 2, 2]),
            (Raid::Raid5, 5, 4, [1, 2, 2]),
            (Raid::Raid5, 3, 4, [1, 1, 2]),
            // Two of seven units are modified, with four the rest is read, all of them need
            // nothing.
            (Raid::Raid5, 8, 128, [2, 3, 3]),
            (Raid::Raid5, 8, 192, [3, 4, 4]),
            (Raid::Raid5, 8, 256, [4, 3, 5]),
            (Raid::Raid5, 8, 384, [6, 1, 7]),
            (Raid::Raid5, 8, 448, [7, 0, 8]),
            // Six accesses of RAID 6.
            (Raid::Raid6, 10, 4, [1, 3, 3]),
            (Raid::Raid6, 16, 4, [1, 3, 3]),
            (Raid::Raid6, 4, 4, [1, 1, 3]),
            (Raid::Raid6, 10, 384, [6, 2, 8]),
            (Raid::Raid6, 10, 512, [8, 0, 10]),
        ];
        for (raid, disks, kib, expected) in table {
            let found = counts(raid, disks, 0, kib * KIB, &[]);
            assert_eq!(found, Some(expected), "{raid:?} of {disks}, {kib} KiB");
        }
    }

    #[test]
    fn accesses_with_disks_lost() {
        // In row 0 the parity of RAID 5 is on the last disk and data on the others in order; that of
        // RAID 6 on the last and the first.
        type Case<'a> = (Raid, u32, u64, &'a [u32], Option<[usize; 3]>);
        let table: [Case<'_>; 15] = [
            (Raid::Raid0, 4, 4, &[0], None),
            (Raid::Raid0, 4, 4, &[1], Some([1, 0, 1])),
            (Raid::Raid1, 2, 4, &[0], Some([1, 0, 1])),
            (Raid::Raid1, 2, 4, &[0, 1], None),
            (Raid::Raid10, 8, 4, &[1], Some([1, 0, 1])),
            (Raid::Raid10, 8, 4, &[0, 1], None),
            // The unit is lost: read all others, and write parity alone.
            (Raid::Raid5, 8, 4, &[0], Some([7, 6, 1])),
            // Another unit is lost: old data and parity, as usual.
            (Raid::Raid5, 8, 4, &[3], Some([1, 2, 2])),
            (Raid::Raid5, 8, 384, &[6], Some([6, 7, 7])),
            // Parity is lost: nothing to update.
            (Raid::Raid5, 8, 4, &[7], Some([1, 0, 1])),
            (Raid::Raid5, 8, 4, &[0, 3], None),
            // Data units are on disks 1 to 8 of ten.
            (Raid::Raid6, 10, 4, &[1], Some([8, 7, 2])),
            (Raid::Raid6, 10, 4, &[1, 5], Some([8, 8, 2])),
            (Raid::Raid6, 10, 4, &[0, 9], Some([1, 0, 1])),
            (Raid::Raid6, 10, 4, &[1, 2, 3], None),
        ];
        for (raid, disks, kib, lost, expected) in table {
            let found = counts(raid, disks, 0, kib * KIB, lost);
            assert_eq!(found, expected, "{raid:?} of {disks}, {kib} KiB, lost {lost:?}");
        }
    }

    #[test]
    fn a_write_over_the_edge_of_a_unit_changes_parity_once() {
        assert_eq!(counts(Raid::Raid5, 8, 60 * KIB, 8 * KIB, &[]), Some([2, 3, 3]));
        let geometry = Geometry::new(&group(Raid::Raid5, 8, 1));
        let health = Health::new(&geometry);
        let planner = Planner {
            geometry: &geometry,
            health: &health,
            queued: &[0; 8],
            read_to: &[u64::MAX; 8],
        };
        let mut plan = Vec::new();
        // 96 KiB: one unit and a half; parity over all of a unit.
        let (area, _) = geometry.first_area(0, 96 * KIB);
        planner.before_write(area, &mut plan).unwrap();
        let lengths: Vec<u32> = plan.iter().map(|planned| planned.length_bytes / 1024).collect();
        assert_eq!(lengths, [64, 32, 64]);
    }

    #[test]
    fn gathered_pieces_share_their_parity() {
        let geometry = Geometry::new(&group(Raid::Raid6, 10, 1));
        let health = Health::new(&geometry);
        let planner = Planner {
            geometry: &geometry,
            health: &health,
            queued: &[0; 10],
            read_to: &[u64::MAX; 10],
        };
        let shape = Shape::Pieces { mask: 0b101, low: 4096, high: 40_960, each: 4096 };
        let area = Area { stripe: 0, shape };
        let (mut before, mut write) = (Vec::new(), Vec::new());
        planner.before_write(area, &mut before).unwrap();
        planner.write(area, &mut write).unwrap();
        assert_eq!((before.len(), write.len()), (4, 4));
        let bytes: u32 = write.iter().map(|planned| planned.length_bytes).sum();
        assert_eq!(bytes, 2 * 4096 + 2 * 36_864);
    }

    #[test]
    fn the_copy_with_the_shorter_queue_is_read() {
        let geometry = Geometry::new(&group(Raid::Raid10, 4, 1));
        let health = Health::new(&geometry);
        let planner = Planner {
            geometry: &geometry,
            health: &health,
            queued: &[3, 2, 0, 0],
            read_to: &[u64::MAX; 4],
        };
        let mut plan = Vec::new();
        planner.read(geometry.first_area(0, 4096).0, &mut plan).unwrap();
        assert_eq!(plan[0].disk, 1);
    }

    #[test]
    fn a_stream_stays_with_its_copy_until_much_more_waits_there() {
        let geometry = Geometry::new(&group(Raid::Raid1, 2, 1));
        let health = Health::new(&geometry);
        for (queued, expected) in [([0, 0], 1), ([0, STAYS], 1), ([0, STAYS + 1], 0), ([1, 1], 1)] {
            // It is the other one's turn in this row.
            let planner = Planner {
                geometry: &geometry,
                health: &health,
                queued: &queued,
                read_to: &[1 << 30, 8192],
            };
            let mut plan = Vec::new();
            planner.read(geometry.first_area(8192, 4096).0, &mut plan).unwrap();
            assert_eq!(plan[0].disk, expected, "{queued:?}");
        }
    }
}
