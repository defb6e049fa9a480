//! How the bytes of a volume are distributed in its array.
//!
//! In place they are contiguous from the first stripe on: at the outer edge of the disks if the volume is
//! small in comparison. A file system that writes anywhere and is in use has its free space, and so its
//! data, everywhere (Hitz, Lau and Malcolm 1994, section 5, has every block in any place): runs of the
//! volume are spread evenly over the array. If the size of the array is unknown, they are not.

use stormeter_site::Layout;

use super::raid::Geometry;

/// What stays together on each disk: a few units, so that a stream continues undisturbed for some
/// megabytes and random requests find their data anywhere.
const RUN_UNITS: u64 = 4;

/// The places of a volume's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spread {
    /// Bytes that stay together.
    run_bytes: u64,
    /// Distance between the starts of two runs.
    stride_bytes: u64,
}

impl Spread {
    pub(super) fn new(layout: Layout, geometry: &Geometry, volume_bytes: u64) -> Self {
        let row_bytes = geometry.stripe_bytes().saturating_mul(u64::from(geometry.groups));
        let run_bytes = row_bytes.saturating_mul(RUN_UNITS);
        let runs = volume_bytes.div_ceil(run_bytes).max(1);
        let capacity_bytes = geometry.capacity_bytes();
        let whole = match layout {
            Layout::WriteAnywhere if capacity_bytes < u64::MAX => capacity_bytes / runs,
            _ => run_bytes,
        };
        // A run starts with a row, so that a volume's stripes are the array's.
        let stride_bytes = (whole / row_bytes * row_bytes).max(run_bytes);
        Self { run_bytes, stride_bytes }
    }

    /// The place in the array of a byte of the volume, and how many contiguous bytes follow it.
    #[inline]
    pub(super) fn place(&self, volume_offset: u64) -> (u64, u64) {
        if self.stride_bytes == self.run_bytes {
            return (volume_offset, u64::MAX - volume_offset);
        }
        let (run, within) = (volume_offset / self.run_bytes, volume_offset % self.run_bytes);
        (run * self.stride_bytes + within, self.run_bytes - within)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{group, of_size};
    use super::*;
    use stormeter_site::Raid;

    fn geometry(disk_bytes: u64) -> Geometry {
        Geometry::new(&of_size(group(Raid::Raid6, 8, 2), disk_bytes))
    }

    #[test]
    fn runs_are_dealt_over_the_whole_array_and_never_meet() {
        let geometry = geometry(100 << 30);
        let row = geometry.stripe_bytes() * 2;
        let volume_bytes = 50 << 30;
        let spread = Spread::new(Layout::WriteAnywhere, &geometry, volume_bytes);
        let mut end = 0;
        let mut offset = 0;
        while offset < volume_bytes {
            let (place, bytes) = spread.place(offset);
            assert!(place >= end && place % row == 0, "{place} after {end}");
            assert_eq!(spread.place(offset + bytes - 1), (place + bytes - 1, 1));
            end = place + bytes;
            offset += bytes;
        }
        let capacity = geometry.capacity_bytes();
        assert!(end <= capacity, "{end} of {capacity}");
        assert!(end as f64 > 0.98 * capacity as f64, "{end} of {capacity}");
    }

    #[test]
    fn in_place_full_or_of_unknown_size_nothing_moves() {
        let known = geometry(100 << 30);
        let in_place = Spread::new(Layout::InPlace, &known, 50 << 30);
        let full = Spread::new(Layout::WriteAnywhere, &known, known.capacity_bytes());
        let unknown =
            Spread::new(Layout::WriteAnywhere, &Geometry::new(&group(Raid::Raid6, 8, 2)), 50 << 30);
        for spread in [in_place, full, unknown] {
            assert_eq!(spread.place(12_345_678).0, 12_345_678, "{spread:?}");
        }
    }
}
