//! What a reader of a window has to know: that a write memory was still filling, or was taken to be full, or that
//! lost data was not copied again.
//!
//! While it fills, writes are as fast as the memory; once it is full they are as fast as the disks
//! behind it. A window that ends before says nothing about the latter.

use stormeter_trial::ModelNote;

use super::Machine;
use super::meter::Reading;
use crate::storage::Fill;

/// A memory that took less than this many times as much while it was fresh makes no difference.
const WORTH_SAYING: f64 = 1.1;

impl Machine {
    /// After [`Machine::end_window`]: a note for each component whose write memory was still filling in
    /// the window, or was taken to be full in its ramp, for arrays that went offline, nodes that were lost, and data that a distributed
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
        let seconds = window_ns as f64 / 1e9;
        let steady = |number: usize| {
            let fresh = self.settling.fresh(number as u32)?;
            let came = sum(last, number).in_bytes - sum(first, number).in_bytes;
            let steady_per_s = came as f64 / seconds;
            (fresh.bytes_per_s > WORTH_SAYING * steady_per_s).then(|| ModelNote::Steady {
                component: self.components[number].name.clone(),
                fresh_for_ns: fresh.lasts_ns,
                fresh_bytes_per_s: fresh.bytes_per_s as u64,
                steady_bytes_per_s: steady_per_s as u64,
            })
        };
        let steady = (0..self.components.len()).filter_map(steady);
        let lost = self.outages().into_iter().map(|loss| ModelNote::Lost { loss });
        let faults = lost.chain(self.node_notes());
        filling.chain(steady).chain(faults).chain(self.resync_notes()).collect()
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
    let grown = last.growth(&first);
    if window_ns == 0 || grown == 0 {
        return None;
    }
    let room = last.capacity_bytes.saturating_sub(last.dirty_bytes) as f64;
    let full_after_ns = (room / grown as f64 * window_ns as f64) as u64;
    let (came_bytes, went_bytes) =
        (last.in_bytes - first.in_bytes, last.out_bytes - first.out_bytes);
    Some(Filling { came_bytes, went_bytes, full_after_ns })
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
        // However long it takes: at 2 in 8 s the other 998 last for more than an hour.
        let slow = filling(fill(0, 0, 0), fill(2, 4, 2), 8_000_000_000).expect("it fills");
        assert_eq!(slow.full_after_ns, 3_992_000_000_000);
        assert_eq!(filling(fill(0, 0, 0), fill(500, 500, 0), 0), None);
    }
}
