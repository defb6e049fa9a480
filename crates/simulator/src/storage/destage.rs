//! The order and size in which a write-back cache writes its bytes to the disks.
//!
//! In place ([`super::in_place`]), or anywhere: whole stripes at consecutive places, so that parity is written
//! without being read (D. Hitz, J. Lau and M. Malcolm, "File system design for an NFS file server appliance",
//! USENIX Winter 1994, section 2 and 5: WAFL); free space is assumed to consist of whole stripes, as on a file
//! system that is not full.

use stormeter_site::Layout;

use super::in_place::InPlace;
use super::raid::{Area, Geometry, Shape};

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

impl Destage {
    pub(super) fn new(
        layout: Layout,
        geometry: &Geometry,
        volume_bytes: u64,
        memory_bytes: u64,
    ) -> Self {
        let anywhere = layout == Layout::WriteAnywhere && geometry.data * geometry.groups > 1;
        if !anywhere {
            return Destage::InPlace(InPlace::new(volume_bytes, memory_bytes, geometry));
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

    /// What to write next, out of `dirty` bytes: where, and how many bytes. `pressed`: a write is waiting and
    /// nothing is in progress.
    pub(super) fn next(
        &mut self,
        dirty: u64,
        pressed: bool,
        geometry: &Geometry,
    ) -> (Option<Area>, u64) {
        match self {
            Destage::InPlace(places) => places.next(geometry),
            Destage::Anywhere { head, stripes } => {
                let whole = geometry.stripe_bytes();
                if dirty < whole && !pressed {
                    return (None, 0);
                }
                let bytes = dirty.min(whole);
                let area = Area { stripe: *head, shape: Shape::Run { from: 0, to: bytes } };
                *head = (*head + 1) % *stripes;
                (Some(area), bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_site::Raid;

    use super::super::tests::group;
    use super::*;

    #[test]
    fn anywhere_is_in_whole_stripes_one_after_the_other() {
        let geometry = Geometry::new(&group(Raid::Raid6, 10, 2));
        let whole = geometry.stripe_bytes();
        let mut destage = Destage::new(Layout::WriteAnywhere, &geometry, 3 * whole, 1 << 30);
        let stripes: Vec<u64> = (0..7)
            .map(|_| {
                let (area, bytes) = destage.next(2 * whole, false, &geometry);
                assert_eq!(bytes, whole);
                area.unwrap().stripe
            })
            .collect();
        assert_eq!(stripes, [3, 4, 5, 0, 1, 2, 3]);
        assert_eq!(destage.next(whole - 1, false, &geometry).0, None);
        assert_eq!(destage.next(whole - 1, true, &geometry).1, whole - 1);
    }
}
