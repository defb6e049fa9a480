//! The write memory of an array as others see it.

use super::Array;
use crate::storage::{Fill, Settled};

impl Array {
    /// A write memory to which more comes than leaves is full from now on.
    pub(crate) fn fill_up(&mut self, now_ns: u64) -> Option<Settled> {
        let settled = self.write_back.as_mut()?.fill_up(self.place.memory, &self.geometry, now_ns);
        self.look_at_cache |= settled.is_some();
        settled
    }

    /// The state of its write memory.
    pub(crate) fn fill(&self) -> Option<Fill> {
        self.write_back.as_ref().map(|write_back| write_back.state(self.place.memory))
    }
}
