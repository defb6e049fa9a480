//! Virtual time: one instant that the disks advance and the clock reads.

use std::cell::Cell;
use std::rc::Rc;

use stormeter_disk::Clock;

/// The instant that all parts of one simulation share.
#[derive(Debug, Clone, Default)]
pub struct VirtualTime(Rc<Cell<u64>>);

/// Reads virtual time.
#[derive(Debug, Clone)]
pub struct VirtualClock(VirtualTime);

impl VirtualTime {
    /// Time at 0 ns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nanoseconds since the start of the simulation.
    pub fn now_ns(&self) -> u64 {
        self.0.get()
    }

    /// Advances time to `at_ns`; time never goes back.
    pub fn advance_to(&self, at_ns: u64) {
        self.0.set(self.0.get().max(at_ns));
    }

    /// A clock of this time.
    pub fn clock(&self) -> VirtualClock {
        VirtualClock(self.clone())
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        self.0.now_ns()
    }
}
