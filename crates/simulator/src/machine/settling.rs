//! The looks at write memories in the ramp of a trial, and which of them were found to be filling.

use crate::storage::{Fill, Settled};

/// When to look at write memories, and what was found.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// The times of the looks to come, the next one last.
    pub(super) looks_ns: Vec<u64>,
    /// By store that was taken to be full.
    pub(super) found: Vec<Found>,
}

/// A component's write memories when some of them were taken to be full.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) at_ns: u64,
    pub(super) settled: Settled,
}

/// What is known of the fresh state of a component whose write memories were taken to be full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fresh {
    /// How long it would have lasted from empty, or as empty as such a load starts.
    pub(super) lasts_ns: u64,
    /// Bytes that it took, a second.
    pub(super) bytes_per_s: f64,
}

impl Settling {
    /// The next look; `u64::MAX`: none.
    #[inline]
    pub(super) fn due_ns(&self) -> u64 {
        self.looks_ns.last().copied().unwrap_or(u64::MAX)
    }

    /// The fresh state of a component; `None` if none of its memories was taken to be full.
    pub(super) fn fresh(&self, component: u32) -> Option<Fresh> {
        let of = self.found.iter().filter(|found| found.settled.before.component == component);
        let (mut bytes_per_s, mut growth_per_s, mut room_bytes, mut at_ns) = (0.0, 0.0, 0.0, 0);
        for Found { at_ns: found_ns, settled } in of {
            let seconds = *found_ns as f64 / 1e9;
            let Settled { before, room_bytes: room } = settled;
            bytes_per_s += before.in_bytes as f64 / seconds;
            growth_per_s += before.growth(&Fill::default()) as f64 / seconds;
            room_bytes += *room as f64;
            at_ns = at_ns.max(*found_ns);
        }
        let lasts_ns = at_ns + (room_bytes / growth_per_s * 1e9) as u64;
        (growth_per_s > 0.0).then_some(Fresh { lasts_ns, bytes_per_s })
    }
}
