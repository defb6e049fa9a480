//! The places of the disks with an operation in flight, and where another one may go.
//!
//! The result of a read concurrent with a write to the same place is undefined, and of two
//! concurrent writes either may win. To know exactly what a block must be, operations of which one
//! is a write must not overlap. A request that would overlap is moved to the next free place of its
//! kind; its size and direction stay, so that the mix remains the requested one (drawing again
//! would favour reads, which never conflict with each other).

use std::collections::BTreeSet;

use crate::direction::Direction;

use crate::generator::Request;

/// The places in flight on all disks of a thread.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// By slot.
    places: Vec<Option<Place>>,
    /// Disk, offset and slot of each.
    order: BTreeSet<(u32, u64, u32)>,
    /// The longest request: an operation that starts this far before a place may still reach it.
    reach_bytes: u64,
    disk_bytes: u64,
    alignment_bytes: Option<u64>,
}

/// The place of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) disk: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
    pub(crate) direction: Direction,
    /// Of a write.
    pub(crate) generation: u64,
}

impl Place {
    fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.length_bytes)
    }
}

impl UnderWay {
    pub(crate) fn new(
        slots: u32,
        reach_bytes: u32,
        disk_bytes: u64,
        alignment_bytes: Option<u64>,
    ) -> Self {
        Self {
            places: vec![None; slots as usize],
            order: BTreeSet::new(),
            reach_bytes: u64::from(reach_bytes),
            disk_bytes,
            alignment_bytes,
        }
    }

    /// A place on the disk for the request: its own offset, or the next free one, wrapping at the
    /// end of the disk. `None` if there is none, which the check of the workload excludes.
    pub(crate) fn free_offset_bytes(&self, disk: u32, request: &Request) -> Option<u64> {
        let length_bytes = u64::from(request.length_bytes);
        let step_bytes = self.alignment_bytes.unwrap_or(length_bytes);
        let mut offset_bytes = request.offset_bytes;
        // Each step moves past a conflicting operation, and each of them is met at most once before
        // the end of the disk and once after it.
        for _ in 0..2 * self.order.len() + 3 {
            match self.in_the_way(disk, offset_bytes, length_bytes, request.direction) {
                None => return Some(offset_bytes),
                Some(end_bytes) => offset_bytes = end_bytes.next_multiple_of(step_bytes),
            }
            if offset_bytes + length_bytes > self.disk_bytes {
                offset_bytes = 0;
            }
        }
        None
    }

    /// The end of an operation with which this one must not overlap.
    fn in_the_way(
        &self,
        disk: u32,
        at: u64,
        length_bytes: u64,
        direction: Direction,
    ) -> Option<u64> {
        let first = (disk, at.saturating_sub(self.reach_bytes), 0);
        let near = self.order.range(first..(disk, at + length_bytes, 0));
        let mut places =
            near.filter_map(|&(_, _, slot)| self.places.get(slot as usize).copied().flatten());
        let other = places.find(|other| {
            other.end_bytes() > at
                && (direction == Direction::Write || other.direction == Direction::Write)
        })?;
        Some(other.end_bytes())
    }

    pub(crate) fn begin(&mut self, slot: u32, place: Place) {
        if let Some(entry) = self.places.get_mut(slot as usize) {
            self.order.insert((place.disk, place.offset_bytes, slot));
            *entry = Some(place);
        }
    }

    pub(crate) fn place(&self, slot: u32) -> Option<Place> {
        self.places.get(slot as usize).copied().flatten()
    }

    pub(crate) fn end(&mut self, slot: u32) -> Option<Place> {
        let place = self.places.get_mut(slot as usize)?.take()?;
        self.order.remove(&(place.disk, place.offset_bytes, slot));
        Some(place)
    }

    /// Removes everything that is left, for a trial that is given up.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Place> + '_ {
        self.order.clear();
        self.places.iter_mut().filter_map(Option::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u32 = 4096;

    fn under_way(places: &[(u64, u32, Direction)], alignment_bytes: Option<u64>) -> UnderWay {
        let mut all = UnderWay::new(16, 4 * UNIT, 10 * u64::from(UNIT), alignment_bytes);
        for (slot, &(unit, units, direction)) in (0..).zip(places) {
            let offset_bytes = unit * u64::from(UNIT);
            let length_bytes = units * UNIT;
            all.begin(
                slot,
                Place { disk: 0, offset_bytes, length_bytes, direction, generation: 0 },
            );
        }
        all
    }

    /// The unit to which a request for `units` at `unit` is moved.
    fn goes_to(
        all: &UnderWay,
        disk: u32,
        unit: u64,
        units: u32,
        direction: Direction,
    ) -> Option<u64> {
        let offset_bytes = unit * u64::from(UNIT);
        let request = Request { direction, offset_bytes, length_bytes: units * UNIT };
        all.free_offset_bytes(disk, &request).map(|offset| offset / u64::from(UNIT))
    }

    #[test]
    fn only_what_a_write_takes_part_in_is_kept_apart() {
        let all = under_way(&[(2, 1, Direction::Read), (5, 1, Direction::Write)], None);
        assert_eq!(goes_to(&all, 0, 2, 1, Direction::Read), Some(2));
        assert_eq!(goes_to(&all, 0, 2, 1, Direction::Write), Some(3));
        assert_eq!(goes_to(&all, 0, 5, 1, Direction::Read), Some(6));
        assert_eq!(goes_to(&all, 1, 5, 1, Direction::Write), Some(5), "another disk");
    }

    #[test]
    fn a_long_operation_is_seen_from_its_end_and_its_begin() {
        let all = under_way(&[(2, 4, Direction::Write)], None);
        assert_eq!(goes_to(&all, 0, 5, 1, Direction::Read), Some(6));
        assert_eq!(goes_to(&all, 0, 6, 1, Direction::Read), Some(6));
        assert_eq!(goes_to(&all, 0, 1, 2, Direction::Read), Some(6));
        assert_eq!(goes_to(&all, 0, 0, 2, Direction::Read), Some(0));
        let aligned = under_way(&[(2, 4, Direction::Write)], Some(4 * u64::from(UNIT)));
        assert_eq!(goes_to(&aligned, 0, 4, 1, Direction::Read), Some(8));
    }

    #[test]
    fn the_search_goes_round_the_end_and_finds_the_last_free_place() {
        let mut places: Vec<_> = (0..10).map(|unit| (unit, 1, Direction::Write)).collect();
        places.remove(4);
        let all = under_way(&places, None);
        for unit in 0..10 {
            assert_eq!(goes_to(&all, 0, unit, 1, Direction::Write), Some(4), "{unit}");
        }
        let full: Vec<_> = (0..10).map(|unit| (unit, 1, Direction::Write)).collect();
        assert_eq!(goes_to(&under_way(&full, None), 0, 0, 1, Direction::Read), None);
    }

    #[test]
    fn what_has_ended_blocks_no_other_operation() {
        let mut all = under_way(&[(2, 1, Direction::Write), (3, 1, Direction::Write)], None);
        assert_eq!(all.end(0).map(|place| place.offset_bytes), Some(2 * u64::from(UNIT)));
        assert_eq!(all.end(0), None);
        assert_eq!(goes_to(&all, 0, 2, 1, Direction::Write), Some(2));
        assert_eq!(all.drain().count(), 1);
        assert_eq!(goes_to(&all, 0, 3, 1, Direction::Write), Some(3));
    }
}
