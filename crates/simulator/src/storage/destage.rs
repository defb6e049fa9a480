//! The order and size in which a write-back cache writes its bytes to the disks.
//!
//! In place: dirty data is sorted by place and written in sweeps over the array; what belongs to one
//! stripe is written together and shares its parity, and what was overwritten is written once.
//! Anywhere: whole stripes at consecutive places, so that parity is written without being read (D.
//! Hitz, J. Lau and M. Malcolm, "File system design for an NFS file server appliance", USENIX Winter
//! 1994, section 2 and 5: WAFL); free space is assumed to consist of whole stripes, as on a file
//! system that is not full.
//!
//! Places are stored for a limited number of writes only, so that memory is bounded: beyond it bytes
//! are counted, and go to places that follow from their number alone.

use stormeter_site::Layout;

use super::raid::{Area, Geometry, Shape};

/// Number of writes whose places are stored.
pub(super) const PLACES: usize = 1 << 16;
/// Without parity, neighbours are combined up to this size: one transfer of a SCSI disk.
const TOGETHER_BYTES: u64 = 1 << 20;

/// What is dirty.
#[derive(Debug)]
pub(super) enum Destage {
    InPlace(InPlace),
    Anywhere {
        /// The next stripe.
        head: u64,
        /// Number of stripes of the array.
        stripes: u64,
    },
}

/// Dirty bytes with their places.
#[derive(Debug, Default)]
pub(super) struct InPlace {
    /// Since the last sweep started.
    fresh: Vec<Extent>,
    /// Of the current sweep, sorted; those before `next` are done.
    sweep: Vec<Extent>,
    next: usize,
    /// Bytes and writes without a place.
    unlisted: u64,
    unlisted_writes: u64,
    volume_bytes: u64,
}

/// A run of the volume within one stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    from: u64,
    to: u64,
}

impl Destage {
    pub(super) fn new(layout: Layout, geometry: &Geometry, volume_bytes: u64) -> Self {
        let anywhere = layout == Layout::WriteAnywhere && geometry.data * geometry.groups > 1;
        if !anywhere {
            return Destage::InPlace(InPlace { volume_bytes, ..InPlace::default() });
        }
        let used = volume_bytes.div_ceil(geometry.stripe_bytes()).max(1);
        match geometry.capacity_bytes() {
            // If the free space is unknown, as much again is free.
            u64::MAX => Destage::Anywhere { head: used, stripes: used * 2 },
            // Data and free space are everywhere (`spread`), and a window of a trial is too short for the
            // head to move far: it starts where random places are as far away, on average, as from each
            // other, a third of all: x^2 - x + 1/2 = 1/3.
            bytes => {
                let stripes = (bytes / geometry.stripe_bytes()).max(1);
                Destage::Anywhere { head: stripes / 5, stripes }
            }
        }
    }

    /// Whether bytes are written in place.
    #[inline]
    pub(super) fn keeps_places(&self) -> bool {
        matches!(self, Destage::InPlace(_))
    }

    /// Adds dirty bytes.
    #[inline]
    pub(super) fn keep(&mut self, mut from: u64, length: u64, geometry: &Geometry) {
        let Destage::InPlace(places) = self else { return };
        let to = from + length;
        while from < to {
            let (_, within) = geometry.first_area(from, to - from);
            places.keep(Extent { from, to: from + within });
            from += within;
        }
    }

    /// This many writes have left this many dirty bytes at no particular place.
    pub(super) fn keep_anywhere(&mut self, writes: u64, bytes: u64) {
        let Destage::InPlace(places) = self else { return };
        places.unlisted += bytes;
        places.unlisted_writes += writes;
    }

    /// What to write next, out of `dirty` bytes: where, how many bytes, and how many were duplicates.
    /// `pressed`: a write is waiting and nothing is in progress.
    pub(super) fn next(
        &mut self,
        dirty: u64,
        pressed: bool,
        geometry: &Geometry,
    ) -> (Option<Area>, u64, u64) {
        match self {
            Destage::InPlace(places) => places.next(geometry),
            Destage::Anywhere { head, stripes } => {
                let whole = geometry.stripe_bytes();
                if dirty < whole && !pressed {
                    return (None, 0, 0);
                }
                let bytes = dirty.min(whole);
                let area = Area { stripe: *head, shape: Shape::Run { from: 0, to: bytes } };
                *head = (*head + 1) % *stripes;
                (Some(area), bytes, 0)
            }
        }
    }
}

impl InPlace {
    #[inline]
    fn keep(&mut self, extent: Extent) {
        if self.fresh.len() < PLACES {
            self.fresh.push(extent);
        } else {
            self.unlisted += extent.to - extent.from;
            self.unlisted_writes += 1;
        }
    }

    fn next(&mut self, geometry: &Geometry) -> (Option<Area>, u64, u64) {
        let mut freed = 0;
        if self.next == self.sweep.len() {
            self.next = 0;
            self.sweep.clear();
            std::mem::swap(&mut self.fresh, &mut self.sweep);
            freed = merge(&mut self.sweep, geometry);
        }
        let Some(&first) = self.sweep.get(self.next) else {
            let (area, bytes) = self.without_place(geometry);
            return (area, bytes, freed);
        };
        let stripe = first.from / geometry.stripe_bytes();
        let end = (stripe + 1) * geometry.stripe_bytes();
        let rest = &self.sweep[self.next..];
        let same = match geometry.parity > 0 && geometry.data <= 128 {
            true => rest.iter().take_while(|extent| extent.from < end).count(),
            false => 1,
        };
        let together = &rest[..same];
        self.next += same;
        let bytes = together.iter().map(|extent| extent.to - extent.from).sum();
        let begin = stripe * geometry.stripe_bytes();
        let shape = match same {
            1 => Shape::Run { from: first.from - begin, to: first.to - begin },
            _ => gathered(together, begin, bytes, geometry.unit_bytes),
        };
        (Some(Area { stripe, shape }), bytes, freed)
    }

    /// Bytes whose places were not stored: one of those writes, anywhere.
    fn without_place(&mut self, geometry: &Geometry) -> (Option<Area>, u64) {
        if self.unlisted == 0 {
            return (None, 0);
        }
        let length = self.unlisted / self.unlisted_writes.max(1);
        let places = (self.volume_bytes / length.max(1)).max(1);
        let place = self.unlisted_writes.wrapping_mul(0x9e37_79b9_7f4a_7c15) % places;
        let (area, bytes) = geometry.first_area(place * length, length.max(1));
        self.unlisted -= bytes;
        self.unlisted_writes = self.unlisted_writes.saturating_sub(1).max(1);
        (Some(area), bytes)
    }
}

/// Sorts and combines what overlaps or touches within a stripe; returns the number of duplicate
/// bytes.
fn merge(extents: &mut Vec<Extent>, geometry: &Geometry) -> u64 {
    extents.sort_unstable();
    let mut twice = 0;
    let mut kept = 0;
    let mut end = 0;
    for at in 0..extents.len() {
        let extent = extents[at];
        if kept > 0 {
            let last = &mut extents[kept - 1];
            let longer = extent.to - last.from <= TOGETHER_BYTES || geometry.parity > 0;
            if extent.from < last.to || (extent.from == last.to && extent.to <= end && longer) {
                twice += last.to.min(extent.to).saturating_sub(extent.from);
                last.to = last.to.max(extent.to);
                continue;
            }
        }
        end = (extent.from / geometry.stripe_bytes() + 1) * geometry.stripe_bytes();
        extents[kept] = extent;
        kept += 1;
    }
    extents.truncate(kept);
    twice
}

/// Extents of the stripe that starts at `begin`, as one shape.
fn gathered(extents: &[Extent], begin: u64, bytes: u64, unit_bytes: u64) -> Shape {
    let (mut mask, mut low, mut high) = (0u128, unit_bytes, 0);
    for extent in extents {
        let mut from = extent.from - begin;
        let to = extent.to - begin;
        while from < to {
            let unit = from / unit_bytes;
            let end = to.min((unit + 1) * unit_bytes);
            mask |= 1 << unit;
            low = low.min(from - unit * unit_bytes);
            high = high.max(end - unit * unit_bytes);
            from = end;
        }
    }
    // Each unit gets its share of the bytes; disks work in sectors.
    let each = (bytes / u64::from(mask.count_ones().max(1))).next_multiple_of(512);
    Shape::Pieces { mask, low, high, each: each.min(high - low) }
}

#[cfg(test)]
mod tests {
    use stormeter_site::Raid;

    use super::super::tests::group;
    use super::*;

    const UNIT: u64 = 65_536;

    #[test]
    fn what_is_dirty_is_sorted_put_together_and_written_once() {
        let geometry = Geometry::new(&group(Raid::Raid5, 5, 1));
        let mut destage = Destage::new(Layout::InPlace, &geometry, 1 << 30);
        let stripe = 4 * UNIT;
        // A later stripe first; in the first stripe a piece, the same piece again, and one in
        // another unit; the second stripe completely, in pieces and out of order.
        destage.keep(5 * stripe, 4096, &geometry);
        destage.keep(8192, 4096, &geometry);
        destage.keep(UNIT + 16_384, 4096, &geometry);
        destage.keep(8192, 4096, &geometry);
        for piece in [3, 1, 0, 2] {
            destage.keep(stripe + piece * UNIT, UNIT, &geometry);
        }
        let (area, bytes, freed) = destage.next(1, false, &geometry);
        assert_eq!((bytes, freed), (8192, 4096));
        let shape = Shape::Pieces { mask: 0b11, low: 8192, high: 20_480, each: 4096 };
        assert_eq!(area, Some(Area { stripe: 0, shape }));
        let (area, bytes, _) = destage.next(1, false, &geometry);
        let shape = Shape::Run { from: 0, to: stripe };
        assert_eq!((area, bytes), (Some(Area { stripe: 1, shape }), stripe));
        assert_eq!(destage.next(1, false, &geometry).0.map(|area| area.stripe), Some(5));
        assert_eq!(destage.next(1, false, &geometry), (None, 0, 0));
    }

    #[test]
    fn anywhere_is_in_whole_stripes_one_after_the_other() {
        let geometry = Geometry::new(&group(Raid::Raid6, 10, 2));
        let whole = geometry.stripe_bytes();
        let mut destage = Destage::new(Layout::WriteAnywhere, &geometry, 3 * whole);
        let stripes: Vec<u64> = (0..7)
            .map(|_| {
                let (area, bytes, _) = destage.next(2 * whole, false, &geometry);
                assert_eq!(bytes, whole);
                area.unwrap().stripe
            })
            .collect();
        assert_eq!(stripes, [3, 4, 5, 0, 1, 2, 3]);
        assert_eq!(destage.next(whole - 1, false, &geometry).0, None);
        assert_eq!(destage.next(whole - 1, true, &geometry).1, whole - 1);
    }

    #[test]
    fn bytes_without_a_place_are_written_too() {
        let geometry = Geometry::new(&group(Raid::Raid5, 5, 1));
        let mut destage = Destage::new(Layout::InPlace, &geometry, 1 << 30);
        let writes = PLACES as u64 + 1000;
        for write in 0..writes {
            destage.keep(write * 5 * UNIT, 4096, &geometry);
        }
        let mut bytes = 0;
        while let (Some(_), more, 0) = destage.next(1, false, &geometry) {
            bytes += more;
        }
        assert_eq!(bytes, writes * 4096);
    }
}
