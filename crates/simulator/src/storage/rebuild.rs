//! The rebuild of a lost disk on a spare, piece by piece in the background.
//!
//! Piece after piece is read from the other disks of the group and written to the spare, two pieces at
//! a time so that reading and writing overlap, and no faster than the site's limit. What is rebuilt
//! serves requests again; the rest is still read from the others.

use stormeter_disk::Kind;
use stormeter_site::DiskGroup;

use super::plan::{BytesLost, Planned};
use super::raid::{Geometry, Health};

/// A piece is a unit of a stripe, but at most this.
const PIECE_BYTES: u64 = 1 << 20;
/// Pieces in progress at the same time.
const AT_ONCE: usize = 2;
/// No piece.
const NONE: u64 = u64::MAX;

/// A rebuild in progress.
#[derive(Debug, Clone)]
pub(super) struct Rebuild {
    pub(super) disk: u32,
    /// Where the next piece starts.
    next: u64,
    end: u64,
    piece_bytes: u64,
    ns_per_byte: f64,
    /// When the next piece may start.
    from_ns: u64,
    /// Whether an event is scheduled for it.
    pub(super) timer: bool,
    /// Where the pieces in progress start.
    flying: [u64; AT_ONCE],
}

/// What a rebuild does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The piece between these bytes of the disk.
    Piece(u64, u64),
    /// Nothing before this time.
    NotBefore(u64),
    /// Nothing until a piece is done.
    Wait,
    /// Everything is rebuilt.
    Done,
}

impl Rebuild {
    pub(super) fn new(
        disk: u32,
        group: &DiskGroup,
        geometry: &Geometry,
        volume_bytes: u64,
        now_ns: u64,
    ) -> Self {
        // All of the disk, like an array that does not know which bytes are used.
        let end = match geometry.disk_bytes {
            u64::MAX => geometry.used_bytes(volume_bytes),
            bytes => bytes,
        };
        Self {
            disk,
            next: 0,
            end,
            piece_bytes: geometry.unit_bytes.min(PIECE_BYTES),
            ns_per_byte: group.rebuild_bytes_per_s.map_or(0.0, |rate| 1e9 / rate),
            from_ns: now_ns,
            timer: false,
            flying: [NONE; AT_ONCE],
        }
    }

    pub(super) fn next(&mut self, now_ns: u64) -> Next {
        let Some(free) = self.flying.iter().position(|&from| from == NONE) else {
            return Next::Wait;
        };
        if self.next >= self.end {
            let over = self.flying.iter().all(|&from| from == NONE);
            return if over { Next::Done } else { Next::Wait };
        }
        if now_ns < self.from_ns {
            return Next::NotBefore(self.from_ns);
        }
        let (from, to) = (self.next, (self.next + self.piece_bytes).min(self.end));
        self.flying[free] = from;
        self.next = to;
        self.from_ns = now_ns + ((to - from) as f64 * self.ns_per_byte) as u64;
        Next::Piece(from, to)
    }

    /// A piece is on the spare; returns the end of the contiguous valid part.
    pub(super) fn done(&mut self, from: u64) -> u64 {
        self.flying.iter_mut().filter(|flying| **flying == from).for_each(|flying| *flying = NONE);
        self.flying.iter().fold(self.next, |least, &flying| least.min(flying))
    }
}

/// What reconstructs the bytes of a disk: as many of the others as there are data units in a
/// stripe, leaving out another one each time; or a copy.
pub(super) fn reads(
    disk: u32,
    (from, to): (u64, u64),
    geometry: &Geometry,
    health: &Health,
    plan: &mut Vec<Planned>,
) -> Result<(), BytesLost> {
    let (first, count, needed) = match geometry.copies {
        1 if geometry.parity == 0 => return Err(BytesLost),
        1 => (disk - disk % geometry.disks, geometry.disks, geometry.data),
        copies => (disk - disk % geometry.disks % copies, copies, 1),
    };
    let turn = (from / geometry.unit_bytes.min(PIECE_BYTES) % u64::from(count)) as u32;
    let others = (0..count)
        .map(|place| first + (place + turn) % count)
        .filter(|&other| other != disk && health.has(other, to))
        .take(needed as usize);
    let length_bytes = (to - from) as u32;
    plan.extend(others.map(|disk| Planned {
        disk,
        kind: Kind::Read,
        offset_bytes: from,
        length_bytes,
    }));
    if plan.len() < needed as usize { Err(BytesLost) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use stormeter_site::Raid;

    use super::super::tests::group;
    use super::*;

    #[test]
    fn two_pieces_fly_not_faster_than_allowed_and_what_is_there_grows_without_gaps() {
        let mut description = group(Raid::Raid5, 5, 1);
        description.rebuild_bytes_per_s = Some(65_536.0 * 1000.0);
        let geometry = Geometry::new(&description);
        let unit = geometry.unit_bytes;
        let mut rebuild = Rebuild::new(0, &description, &geometry, 4 * 3 * unit, 0);
        assert_eq!(rebuild.next(0), Next::Piece(0, unit));
        assert_eq!(rebuild.next(0), Next::NotBefore(1_000_000));
        assert_eq!(rebuild.next(1_000_000), Next::Piece(unit, 2 * unit));
        assert_eq!(rebuild.next(9_000_000), Next::Wait);
        // The later one is first: nothing contiguous is there yet.
        assert_eq!(rebuild.done(unit), 0);
        assert_eq!(rebuild.next(9_000_000), Next::Piece(2 * unit, 3 * unit));
        assert_eq!(rebuild.done(0), 2 * unit);
        assert_eq!(rebuild.next(9_000_000), Next::Wait);
        assert_eq!(rebuild.done(2 * unit), 3 * unit);
        assert_eq!(rebuild.next(9_000_000), Next::Done);
    }

    #[test]
    fn a_piece_is_read_from_as_many_disks_as_hold_data() {
        for (raid, disks, expected) in
            [(Raid::Raid5, 5, 4), (Raid::Raid6, 8, 6), (Raid::Raid1, 3, 1), (Raid::Raid10, 8, 1)]
        {
            let geometry = Geometry::new(&group(raid, disks, 2));
            let mut health = Health::new(&geometry);
            let lost = disks + 2;
            health.set(&geometry, lost, 0);
            let mut plan = Vec::new();
            reads(lost, (0, 65_536), &geometry, &health, &mut plan).unwrap();
            assert_eq!(plan.len(), expected, "{raid:?}");
            assert!(plan.iter().all(|read| read.disk >= disks && read.disk != lost));
        }
    }
}
