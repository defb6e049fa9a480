//! What a reader of a window has to know: that a write memory was still filling, or that lost data
//! was not copied again.
//!
//! While it fills, writes are as fast as the memory; once it is full they are as fast as the disks
//! behind it. A window that ends before says nothing about the latter.

use stormeter_trial::ModelNote;

use super::Machine;
use super::meter::Reading;
use crate::storage::Fill;

/// A memory that gained more than this share of its size in the window was filling.
const OF_CAPACITY: f64 = 0.02;
/// Unless it is less than this share of what arrived: then writes are as fast as what drains them.
const OF_CAME: f64 = 0.01;
/// Or more arrived than left, by this share,
const OF_DRAINED: f64 = 0.1;
/// and by this many bytes: less than that just happens to be in progress.
const LEAST_BYTES: u64 = 1 << 20;
/// What takes longer to fill than this is not mentioned: no load of interest lasts as long.
const LATE_S: f64 = 3600.0;

impl Machine {
    /// After [`Machine::end_window`]: a note for each component whose write memory was still filling in
    /// the window, for arrays that went offline, nodes that were lost, and data that a distributed
    /// datastore lost and has not restored. Empty if the window has no length.
    pub fn notes(&self) -> Vec<ModelNote> {
        let Some((first, last, _)) = self.meter.window() else { return Vec::new() };
        let window_ns = last.at_ns - first.at_ns;
        let note = |number: usize| {
            let (first, last) = (sum(first, number), sum(last, number));
            let Filling { came_bytes, went_bytes, full_after_ns } =
                filling(first, last, window_ns)?;
            let component = self.components[number].name.clone();
            Some(ModelNote::StillFilling { component, came_bytes, went_bytes, full_after_ns })
        };
        let filling = (0..self.components.len()).filter_map(note);
        let lost = self.outages().into_iter().map(|loss| ModelNote::Lost { loss });
        let faults = lost.chain(self.node_notes());
        filling.chain(faults).chain(self.resync_notes()).collect()
    }
}

/// All memories of a component.
fn sum(reading: &Reading, component: usize) -> Fill {
    let mut all = Fill::default();
    for fill in reading.fills.iter().filter(|fill| fill.component as usize == component) {
        all.capacity_bytes += fill.capacity_bytes;
        all.dirty_bytes += fill.dirty_bytes;
        all.in_bytes += fill.in_bytes;
        all.out_bytes += fill.out_bytes;
    }
    all
}

/// A memory that was filling.
#[derive(Debug, PartialEq, Eq)]
struct Filling {
    came_bytes: u64,
    went_bytes: u64,
    full_after_ns: u64,
}

/// A memory between two readings, if it was filling.
fn filling(first: Fill, last: Fill, window_ns: u64) -> Option<Filling> {
    let (came, went) = (last.in_bytes - first.in_bytes, last.out_bytes - first.out_bytes);
    // Not what is dirty: a memory starts as full as an earlier load has left it, and none of that
    // arrived.
    let grown = came.saturating_sub(went);
    let of_capacity = grown as f64 > OF_CAPACITY * last.capacity_bytes as f64
        && grown as f64 > OF_CAME * came as f64;
    let of_drained = grown as f64 > OF_DRAINED * went as f64;
    let fills = of_capacity || (of_drained && grown > LEAST_BYTES);
    if window_ns == 0 || !fills {
        return None;
    }
    let room = last.capacity_bytes.saturating_sub(last.dirty_bytes) as f64;
    let full_s = room / grown as f64 * (window_ns as f64 / 1e9);
    if full_s > LATE_S {
        return None;
    }
    let full_after_ns = (full_s * 1e9) as u64;
    Some(Filling { came_bytes: came, went_bytes: went, full_after_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn fill(dirty: u64, came: u64, went: u64) -> Fill {
        Fill {
            component: 0,
            capacity_bytes: 1000 * MIB,
            dirty_bytes: dirty * MIB,
            in_bytes: came * MIB,
            out_bytes: went * MIB,
        }
    }

    #[test]
    fn growth_is_described_by_size_or_against_what_went_out() {
        let said = |last: Fill| filling(fill(100, 50, 50), last, 6_000_000_000);
        // 30 of 1000 in 6 s, so 870 in 174 s; as a share of what left it would be too little.
        let found = |came: u64, went: u64, full_s: u64| Filling {
            came_bytes: came * MIB,
            went_bytes: went * MIB,
            full_after_ns: full_s * 1_000_000_000,
        };
        assert_eq!(said(fill(130, 1080, 1050)), Some(found(1030, 1000, 174)));
        let twice = said(fill(110, 70, 60)).expect("twice as much came in");
        assert_eq!((twice.came_bytes, twice.went_bytes), (20 * MIB, 10 * MIB));
        let all = said(fill(110, 60, 50)).expect("nothing went out");
        assert_eq!((all.came_bytes, all.went_bytes), (10 * MIB, 0));
        assert_eq!(said(fill(110, 1060, 1050)), None);
        assert_eq!(said(fill(101, 51, 50)), None);
        assert_eq!(said(fill(130, 9080, 9050)), None);
        assert_eq!(said(fill(60, 500, 540)), None);
        // What an earlier load has left in it did not arrive while it emptied.
        assert_eq!(said(fill(600, 51, 70)), None);
        // At 2 in 8 s the other 998 last more than an hour, at 2 in 4 s less.
        assert_eq!(filling(fill(0, 0, 0), fill(2, 4, 2), 8_000_000_000), None);
        assert!(filling(fill(0, 0, 0), fill(2, 4, 2), 4_000_000_000).is_some());
        assert_eq!(filling(fill(0, 0, 0), fill(500, 500, 0), 0), None);
    }
}
