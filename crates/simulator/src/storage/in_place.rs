//! Dirty bytes that go to the disks in place: one sweep over the array after the other, without a pause.
//!
//! Bytes that are written again before they leave are dirty once. With parity, bytes of several units are
//! written together if they lie in the same rows of their stripe, because those share their parity, and a disk
//! takes each run of them as an access of its own (Linux md: a stripe of its cache is a page of each disk,
//! drivers/md/raid5.c). So how many writes share parity follows from how densely the memory is filled, and not from
//! how large a stripe is. The sweep continues behind the last bytes that it took, as in B. S. Gill and D. S. Modha,
//! "WOW: wise ordering for writes", FAST 2005, section III; in a stripe it goes from row to row.
//!
//! Memory is bounded: of a large one, places are stored for every n-th region only. What is true there is taken to
//! be true of the regions up to the next one, its twins: their bytes are counted, a write to them is new where it
//! would be new there, and what the sweep takes there it takes in each of them, too.

use std::collections::BTreeMap;

use super::raid::{Area, Geometry, Shape};

/// Number of runs whose places are stored, about.
const PLACES: u64 = 1 << 16;
/// What is written at least, usually.
const PAGE_BYTES: u64 = 4096;
/// Without parity, neighbours are combined up to this size: one transfer of a SCSI disk.
const TOGETHER_BYTES: u64 = 1 << 20;
/// The most units of a stripe that a shape can name.
const MOST_UNITS: u32 = 128;

/// Dirty bytes with their places.
#[derive(Debug)]
pub(super) struct InPlace {
    /// Runs of the volume, from their first byte to the one after their last: each within one unit (with parity)
    /// or one region, no two with a byte in common.
    dirty: BTreeMap<u64, u64>,
    /// Where the sweep continues: the start of a stripe and a row in its units (with parity), or a byte of the volume.
    cursor: (u64, u64),
    volume_bytes: u64,
    /// A stripe (with parity), or what is combined at most.
    region_bytes: u64,
    /// One region of this many has its places stored.
    one_of: u64,
    /// Bytes in these, and in the other ones.
    listed_bytes: u64,
    unlisted_bytes: u64,
    /// What the sweep took last, and in how many twins it has taken it since.
    taken: Option<(Area, u64)>,
    twins: u64,
}

impl InPlace {
    /// Of a memory of this size.
    pub(super) fn new(volume_bytes: u64, memory_bytes: u64, geometry: &Geometry) -> Self {
        let stripe_bytes = geometry.stripe_bytes();
        let whole = has_rows(geometry) || stripe_bytes <= TOGETHER_BYTES;
        let region_bytes = if whole { stripe_bytes } else { TOGETHER_BYTES };
        let runs = memory_bytes / PAGE_BYTES;
        Self {
            dirty: BTreeMap::new(),
            cursor: (0, 0),
            volume_bytes: volume_bytes.max(1),
            region_bytes,
            one_of: (runs / PLACES).clamp(1, volume_bytes.div_ceil(region_bytes).max(1)),
            listed_bytes: 0,
            unlisted_bytes: 0,
            taken: None,
            twins: 0,
        }
    }

    /// One region of this many stands for all of them.
    pub(super) fn one_of(&self) -> u64 {
        self.one_of
    }

    /// The same place in the region that stands for a byte's region.
    pub(super) fn twin(&self, volume_offset: u64) -> u64 {
        volume_offset - volume_offset / self.region_bytes % self.one_of * self.region_bytes
    }

    /// Adds written bytes; returns how many of them were not dirty before.
    #[inline]
    pub(super) fn keep(&mut self, mut from: u64, length: u64, geometry: &Geometry) -> u64 {
        let to = from + length;
        let mut new = 0;
        while from < to {
            let (start, end) = self.segment(from, geometry);
            let until = to.min(end);
            let twin = self.twin(from);
            new += match twin == from {
                true => self.keep_run((from, until), (start, end)),
                false => {
                    let clean = self.clean(twin, twin + (until - from));
                    self.unlisted_bytes += clean;
                    clean
                }
            };
            from = until;
        }
        new
    }

    /// What a run around a byte may extend to: its unit (with parity), or its region or the rest of its stripe.
    #[inline]
    fn segment(&self, at: u64, geometry: &Geometry) -> (u64, u64) {
        if has_rows(geometry) {
            let start = at / geometry.unit_bytes * geometry.unit_bytes;
            return (start, start + geometry.unit_bytes);
        }
        let stripe_bytes = geometry.stripe_bytes();
        let (stripe, region) = (at / stripe_bytes * stripe_bytes, at / self.region_bytes);
        let start = stripe.max(region * self.region_bytes);
        let end = stripe.saturating_add(stripe_bytes).min((region + 1) * self.region_bytes);
        (start, end)
    }

    /// How many of these bytes of stored places are not dirty.
    fn clean(&self, from: u64, to: u64) -> u64 {
        let before = self.dirty.range(..from).next_back().map(|(_, &end)| end.min(to));
        let mut dirty = before.map_or(0, |end| end.saturating_sub(from));
        for (&other, &end) in self.dirty.range(from..to) {
            dirty += end.min(to) - other;
        }
        to - from - dirty
    }

    /// Whether all of these bytes are dirty.
    #[inline]
    pub(super) fn has_all(&self, from: u64, length: u64) -> bool {
        let twin = self.twin(from);
        self.clean(twin, twin + length) == 0
    }

    /// A run within a segment: combined with what it overlaps or touches.
    fn keep_run(&mut self, (from, to): (u64, u64), (start, end): (u64, u64)) -> u64 {
        let (mut low, mut high, mut new) = (from, to, to - from);
        while let Some((&other, &other_end)) = self.dirty.range(start..to).next_back() {
            if other_end < from {
                break;
            }
            new -= other_end.min(to) - other.max(from).min(other_end);
            (low, high) = (low.min(other), high.max(other_end));
            self.dirty.remove(&other);
        }
        if high < end
            && let Some(other_end) = self.dirty.remove(&high)
        {
            high = other_end;
        }
        self.dirty.insert(low, high);
        self.listed_bytes += new;
        new
    }

    /// Nothing is dirty any more; the sweep is where it was.
    pub(super) fn forget(&mut self) {
        self.dirty.clear();
        (self.listed_bytes, self.unlisted_bytes, self.taken) = (0, 0, None);
    }

    /// There are this many more bytes in regions whose places are not stored.
    pub(super) fn keep_unlisted(&mut self, bytes: u64) {
        self.unlisted_bytes += bytes;
    }

    /// The byte of the volume at which the sweep continues, about.
    pub(super) fn cursor(&self) -> u64 {
        self.cursor.0 % self.volume_bytes
    }

    /// What to write next, and how many bytes that is.
    pub(super) fn next(&mut self, geometry: &Geometry) -> (Option<Area>, u64) {
        if self.taken.is_none() || self.twins_are_done() {
            let next = match has_rows(geometry) {
                true => self.next_rows(geometry),
                false => self.next_run(geometry),
            };
            if let Some((area, bytes)) = next {
                self.listed_bytes -= bytes;
                self.taken = next;
                self.twins = 0;
                return (Some(area), bytes);
            }
        }
        self.next_unlisted(geometry)
    }

    /// Whether the sweep continues after what it took last: it has taken that in every twin; but there are as many
    /// bytes in each region on average, with a place or without, which chance alone would not ensure.
    fn twins_are_done(&self) -> bool {
        let even = self.listed_bytes * (self.one_of - 1);
        let off = even / 64;
        self.unlisted_bytes + off < even
            || self.twins + 1 >= self.one_of && self.unlisted_bytes <= even + off
    }

    /// What the sweep took last, in the next twin.
    fn next_unlisted(&mut self, geometry: &Geometry) -> (Option<Area>, u64) {
        if self.unlisted_bytes == 0 {
            return (None, 0);
        }
        self.twins += 1;
        // Without any example: all that is left is in one piece.
        let (area, bytes) = self
            .taken
            .unwrap_or_else(|| geometry.first_area(0, self.unlisted_bytes.min(self.region_bytes)));
        let bytes = bytes.min(self.unlisted_bytes);
        self.unlisted_bytes -= bytes;
        let area = match area.shape {
            Shape::Run { from, to } if !has_rows(geometry) => {
                let at = area.stripe * geometry.stripe_bytes() + from;
                let there = (at + self.twins * self.region_bytes) % self.volume_bytes;
                geometry.first_area(there, to - from).0
            }
            _ => {
                let stripes = self.volume_bytes.div_ceil(self.region_bytes);
                Area { stripe: (area.stripe + self.twins) % stripes, ..area }
            }
        };
        (Some(area), bytes)
    }

    /// Without parity: the next run.
    fn next_run(&mut self, geometry: &Geometry) -> Option<(Area, u64)> {
        let ahead = self.dirty.range(self.cursor.0..).next();
        let (&from, &to) = ahead.or_else(|| self.dirty.first_key_value())?;
        self.dirty.remove(&from);
        self.cursor.0 = to;
        let (area, bytes) = geometry.first_area(from, to - from);
        debug_assert_eq!(bytes, to - from, "a run is within a stripe");
        Some((area, bytes))
    }

    /// With parity: the next run of a stripe, and what lies in the same rows of its other units.
    fn next_rows(&mut self, geometry: &Geometry) -> Option<(Area, u64)> {
        let (unit_bytes, stripe_bytes) = (geometry.unit_bytes, geometry.stripe_bytes());
        let (begin, row) =
            self.first_row(geometry, self.cursor).or_else(|| self.first_row(geometry, (0, 0)))?;
        let (mut mask, mut low, mut high, mut bytes) = (0u128, u64::MAX, 0, 0);
        let mut rows = (row, row + 1);
        // The longest of the runs that start in this row decides how many rows are taken.
        for unit in 0..geometry.data {
            let at = begin + u64::from(unit) * unit_bytes;
            if let Some(&to) = self.dirty.get(&(at + row)) {
                rows.1 = rows.1.max(to - at);
            }
        }
        for unit in 0..geometry.data {
            let at = begin + u64::from(unit) * unit_bytes;
            while let Some((&from, &to)) = self.dirty.range(at + rows.0..at + rows.1).next() {
                self.dirty.remove(&from);
                mask |= 1 << unit;
                (low, high) = (low.min(from - at), high.max(to - at));
                bytes += to - from;
            }
        }
        self.cursor = (begin, rows.1);
        // Each unit gets its share of the bytes; disks work in sectors.
        let each = (bytes / u64::from(mask.count_ones().max(1))).next_multiple_of(512);
        let each = each.min(high - low);
        let (first, units) = (u64::from(mask.trailing_zeros()), u64::from(mask.count_ones()));
        let adjoining =
            units == 1 || each == unit_bytes && mask >> first == u128::MAX >> (128 - units);
        let shape = match adjoining {
            true => {
                let from = first * unit_bytes + low;
                Shape::Run { from, to: from + bytes }
            }
            false => Shape::Pieces { mask, low, high, each },
        };
        Some((Area { stripe: begin / stripe_bytes, shape }, bytes))
    }

    /// The first row with dirty bytes from this one on, in this stripe or a later one: the start of its stripe, and the row.
    fn first_row(&self, geometry: &Geometry, (begin, row): (u64, u64)) -> Option<(u64, u64)> {
        let (unit_bytes, stripe_bytes) = (geometry.unit_bytes, geometry.stripe_bytes());
        let within = |begin: u64, row: u64| {
            (0..geometry.data)
                .filter_map(|unit| {
                    let at = begin + u64::from(unit) * unit_bytes;
                    let (&from, _) = self
                        .dirty
                        .range((at + row).min(at + unit_bytes)..at + unit_bytes)
                        .next()?;
                    Some(from - at)
                })
                .min()
        };
        if let Some(row) = within(begin, row) {
            return Some((begin, row));
        }
        let (&from, _) = self.dirty.range(begin + stripe_bytes..).next()?;
        let begin = from / stripe_bytes * stripe_bytes;
        within(begin, 0).map(|row| (begin, row))
    }
}

/// Whether units of a stripe share parity, row by row.
fn has_rows(geometry: &Geometry) -> bool {
    geometry.parity > 0 && geometry.data <= MOST_UNITS
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use stormeter_site::Raid;

    use super::super::tests::group;
    use super::*;

    const UNIT: u64 = 65_536;

    #[test]
    fn what_shares_parity_is_put_together_and_written_once() {
        let geometry = Geometry::new(&group(Raid::Raid5, 5, 1));
        let mut dirty = InPlace::new(1 << 30, 1, &geometry);
        let stripe = 4 * UNIT;
        // A later stripe first; in the first stripe a page, the same page again, one in the same row of another unit,
        // and one in another row; the second stripe completely, in pieces and out of order.
        assert_eq!(dirty.keep(5 * stripe, 4096, &geometry), 4096);
        assert_eq!(dirty.keep(8192, 4096, &geometry), 4096);
        assert_eq!(dirty.keep(8192, 4096, &geometry), 0);
        assert_eq!(dirty.keep(2 * UNIT + 8192, 4096, &geometry), 4096);
        assert_eq!(dirty.keep(UNIT + 16_384, 4096, &geometry), 4096);
        for piece in [3, 1, 0, 2] {
            assert_eq!(dirty.keep(stripe + piece * UNIT, UNIT, &geometry), UNIT);
        }
        let mut next = || dirty.next(&geometry);
        let shape = Shape::Pieces { mask: 0b101, low: 8192, high: 12_288, each: 4096 };
        assert_eq!(next(), (Some(Area { stripe: 0, shape }), 8192));
        let shape = Shape::Run { from: UNIT + 16_384, to: UNIT + 20_480 };
        assert_eq!(next(), (Some(Area { stripe: 0, shape }), 4096));
        let shape = Shape::Run { from: 0, to: stripe };
        assert_eq!(next(), (Some(Area { stripe: 1, shape }), stripe));
        let shape = Shape::Run { from: 0, to: 4096 };
        assert_eq!(next(), (Some(Area { stripe: 5, shape }), 4096));
        assert_eq!(next(), (None, 0));
    }

    #[test]
    fn the_sweep_continues_behind_what_it_took_and_starts_again_at_the_end() {
        for raid in [Raid::Raid0, Raid::Raid5] {
            let geometry = Geometry::new(&group(raid, 5, 1));
            let whole = geometry.stripe_bytes();
            let mut dirty = InPlace::new(1 << 30, 1, &geometry);
            for stripe in [2, 7] {
                dirty.keep(stripe * whole, 4096, &geometry);
            }
            let mut stripe = || dirty.next(&geometry).0.map(|area| area.stripe);
            assert_eq!(stripe(), Some(2), "{raid:?}");
            // One before and one behind, and the same place again.
            for stripe in [1, 2, 5] {
                dirty.keep(stripe * whole, 4096, &geometry);
            }
            let mut stripes = std::iter::from_fn(|| dirty.next(&geometry).0);
            let order: Vec<u64> = stripes.by_ref().map(|area| area.stripe).collect();
            assert_eq!(order, [5, 7, 1, 2], "{raid:?}");
        }
    }

    /// Against a map of single sectors.
    #[test]
    fn no_byte_is_lost_or_counted_twice() {
        for raid in [Raid::Raid0, Raid::Raid10, Raid::Raid5, Raid::Raid6] {
            let geometry = Geometry::new(&group(raid, 6, 1));
            let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut draw = |below: u64| random.next_u64() % below;
            let volume_sectors = 4096u64;
            let mut dirty = InPlace::new(volume_sectors * 512, 1, &geometry);
            let mut sectors = vec![false; volume_sectors as usize];
            for step in 0..5000 {
                let from = draw(volume_sectors - 300);
                let count = 1 + draw(if step % 10 == 0 { 300 } else { 12 });
                let run = &mut sectors[from as usize..(from + count) as usize];
                let new = run.iter().filter(|there| !**there).count() as u64;
                assert_eq!(dirty.has_all(from * 512, count * 512), new == 0, "{raid:?} {step}");
                run.fill(true);
                assert_eq!(
                    dirty.keep(from * 512, count * 512, &geometry),
                    new * 512,
                    "{raid:?} {step}"
                );
                if step % 3 == 0 {
                    let before = sectors.iter().filter(|there| **there).count() as u64;
                    let (area, bytes) = dirty.next(&geometry);
                    let area = area.expect("something is dirty");
                    // What left is no longer covered: find it by asking for each sector.
                    for sector in 0..volume_sectors {
                        if sectors[sector as usize] && !dirty.has_all(sector * 512, 512) {
                            assert_eq!(sector * 512 / geometry.stripe_bytes(), area.stripe);
                            sectors[sector as usize] = false;
                        }
                    }
                    let after = sectors.iter().filter(|there| **there).count() as u64;
                    assert_eq!(before - after, bytes / 512, "{raid:?} {step}");
                }
            }
        }
    }

    /// Pages for each access of a sweep, in a steady state of random writes.
    fn pages_together(memory_bytes: u64, geometry: &Geometry) -> (f64, u64) {
        let volume_bytes = 1u64 << 30;
        let mut dirty = InPlace::new(volume_bytes, memory_bytes, geometry);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut there, mut writes) = (0, 0u64);
        let (mut pages, mut accesses) = (0, 0);
        while writes < 2_000_000 {
            while there + 4096 <= volume_bytes / 8 {
                let place = random.next_u64() % (volume_bytes / 4096) * 4096;
                there += dirty.keep(place, 4096, geometry);
                writes += 1;
            }
            let (area, bytes) = dirty.next(geometry);
            assert!(area.is_some());
            there -= bytes;
            if writes > 500_000 {
                (pages, accesses) = (pages + bytes / 4096, accesses + 1);
            }
        }
        (pages as f64 / f64::from(accesses), dirty.dirty.len() as u64)
    }

    #[test]
    fn a_part_of_the_regions_stands_for_all() {
        for raid in [Raid::Raid0, Raid::Raid10, Raid::Raid5] {
            let geometry = Geometry::new(&group(raid, 6, 1));
            // The same bytes, with all places stored and with an eighth of them.
            let (all, places) = pages_together(1, &geometry);
            let (eighth, fewer) = pages_together(8 * 4096 * PLACES, &geometry);
            assert!((eighth / all - 1.0).abs() < 0.02, "{raid:?} {all} {eighth}");
            assert!(fewer * 6 < places, "{raid:?} {places} {fewer}");
        }
    }

    #[test]
    fn all_bytes_leave_whether_their_places_are_stored_or_not() {
        for raid in [Raid::Raid0, Raid::Raid5] {
            let geometry = Geometry::new(&group(raid, 5, 1));
            let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
            let mut dirty = InPlace::new(1 << 30, 100 * 4096 * PLACES, &geometry);
            let mut kept = 0;
            for _ in 0..10_000 {
                kept += dirty.keep(random.next_u64() % (1 << 18) * 4096, 4096, &geometry);
            }
            assert!(kept > 9_000 * 4096, "{kept}");
            let mut bytes = 0;
            while let (Some(_), more) = dirty.next(&geometry) {
                bytes += more;
            }
            assert_eq!(bytes, kept, "{raid:?}");
        }
    }
}
