//! The steady state of write memories within the ramp of a trial.
//!
//! A memory of tens of gigabytes that fills by some megabytes a second takes hours until it is full, and from then
//! on writes are as fast as the disks behind it. A trial of seconds would see the memory only, and predict what
//! no load that runs all day will get. So, where a site asks for the steady state, its memories are looked at
//! while the trial is still in its ramp: those to which more comes than leaves are full from then on, and the rest
//! of the ramp is for the queues to form before them. What they took while they were fresh, and how long they would
//! have stayed so, is kept for the notes.
//!
//! The looks are early enough for the queues, and late enough for destaging to be under way: it starts with
//! the first bytes, or finds its share of the disks within about a second (`storage::cache`).

use super::Machine;
use super::settling::Found;
use crate::storage::Store;

/// Looks are at these eighths of the ramp: a memory that is slower to show it than others is seen later.
const EIGHTHS: [u64; 4] = [3, 4, 5, 6];

impl Machine {
    /// Whether write memories are to be in their steady state at the end of a ramp under a constant load, if the
    /// site says so: those that fill are full by then.
    pub fn settle_in(&mut self, ramp_ns: u64) {
        if self.steady {
            self.settling.looks_ns = EIGHTHS
                .iter()
                .rev()
                .map(|eighths| ramp_ns / 8 * eighths)
                .filter(|at| *at > 0)
                .collect();
        }
    }

    /// Takes the looks that are due before `at_ns`.
    #[inline]
    pub(super) fn settle_until(&mut self, at_ns: u64) {
        while self.settling.due_ns() <= at_ns {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        let Some(at_ns) = self.settling.looks_ns.pop() else { return };
        let settled = self.stores.iter_mut().filter_map(|store: &mut Store| store.fill_up(at_ns));
        self.settling.found.extend(settled.map(|settled| Found { at_ns, settled }));
    }
}
