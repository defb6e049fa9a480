//! What is known about a unit's write cache, shared by all sessions of a thread to the unit: the
//! cache is the unit's, whichever path the writes and the flushes take.
//!
//! # Resets
//!
//! A unit with a volatile cache that reports a power on or reset (unit attention 29h) may have lost
//! writes that it had acknowledged. A flush that succeeds after that proves nothing about them. So
//! each flush that was submitted before its disk's submitter was told fails with EIO, even though
//! the unit carried it out. Which of the reported conditions emptied the cache cannot be seen, and
//! neither to which disks of the unit the writes belonged: each disk's next flush fails.
//!
//! Many targets greet every new session with that attention (SPC-4 §5.14), after a mere break of
//! the connection too. The greeting counts only if there was a moment without any session to the
//! unit: another that stays would have reported a reset by itself.

use std::cell::{Cell, RefCell};

use crate::serial::before;

/// The write cache of a unit.
#[derive(Debug, Default)]
pub struct UnitCache {
    write_cache: Option<bool>,
    forces: Cell<bool>,
    /// Writes have completed since the last flush was submitted.
    has_written: Cell<bool>,
    /// Sessions in full feature phase.
    up: Cell<u32>,
    /// How often there was no such session left.
    blackouts: Cell<u32>,
    /// How often unflushed writes may have been lost.
    losses: Cell<u32>,
    /// The numbers of the last flush, of the last one before which writes completed, and of the last
    /// successful one that covered all of this thread's disks. They may wrap.
    flushes: Cell<u32>,
    exposed: Cell<u32>,
    flushed: Cell<u32>,
    /// How many of the losses the submitter of each disk knows.
    told: RefCell<Vec<u32>>,
}

/// A flush as it was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlushMark {
    number: u32,
    told: u32,
}

impl UnitCache {
    /// A cache as the unit's mode data describe it: WCE of the caching page, `None` without that
    /// page, and DPOFUA (SBC-4 §6.5.1).
    pub fn new(write_cache: Option<bool>, forced_unit_access: bool) -> Self {
        Self { write_cache, forces: Cell::new(forced_unit_access), ..Self::default() }
    }

    /// Whether writes can be made durable by FUA.
    #[inline]
    pub(crate) fn forces(&self) -> bool {
        self.forces.get()
    }

    /// The unit has refused FUA.
    pub(crate) fn stop_forcing(&self) {
        self.forces.set(false);
    }

    /// Whether a loss of power may empty it; so it is assumed where the unit does not say.
    pub(crate) fn is_volatile(&self) -> bool {
        self.write_cache != Some(false)
    }

    /// A write without FUA has completed.
    #[inline]
    pub(crate) fn wrote(&self) {
        self.has_written.set(true);
    }

    /// A session works.
    pub(crate) fn session_up(&self) {
        self.up.set(self.up.get() + 1);
    }

    /// A session that worked is lost.
    pub(crate) fn session_down(&self) {
        self.up.set(self.up.get().saturating_sub(1));
        if self.up.get() == 0 {
            self.blackouts.set(self.blackouts.get().wrapping_add(1));
        }
    }

    /// How often there was no working session left.
    pub(crate) fn blackouts(&self) -> u32 {
        self.blackouts.get()
    }

    /// How often unflushed writes may have been lost.
    pub(crate) fn losses(&self) -> u32 {
        self.losses.get()
    }

    /// A flush of a disk is submitted: it covers the writes that have completed.
    pub(crate) fn begin_flush(&self, disk: u32) -> FlushMark {
        let number = self.flushes.get().wrapping_add(1);
        self.flushes.set(number);
        if self.has_written.take() {
            self.exposed.set(number);
        }
        let told = self.told.borrow().get(disk as usize).copied().unwrap_or(0);
        FlushMark { number, told }
    }

    /// The unit has carried out a flush of `disk`. `false` if what it covers may have been lost
    /// before: its submitter knows by its failure.
    pub(crate) fn end_flush(&self, disk: u32, mark: FlushMark, covers_all: bool) -> bool {
        if covers_all && before(self.flushed.get(), mark.number) {
            self.flushed.set(mark.number);
        }
        let losses = self.losses.get();
        if mark.told == losses {
            return true;
        }
        let mut told = self.told.borrow_mut();
        let least = disk as usize + 1;
        if told.len() < least {
            told.resize(least, 0);
        }
        if let Some(told) = told.get_mut(disk as usize) {
            *told = losses;
        }
        false
    }

    /// The unit was reset; returns whether unflushed writes may be lost.
    pub(crate) fn reset(&self) -> bool {
        let is_exposed = self.has_written.get() || before(self.flushed.get(), self.exposed.get());
        if !is_exposed || !self.is_volatile() {
            return false;
        }
        self.has_written.set(false);
        self.flushed.set(self.exposed.get());
        self.losses.set(self.losses.get().wrapping_add(1));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flush_submitted_before_its_disk_was_told_fails() {
        let cache = UnitCache::new(Some(true), false);
        cache.wrote();
        let (first, second, other) =
            (cache.begin_flush(0), cache.begin_flush(0), cache.begin_flush(1));
        assert!(cache.reset());
        let third = cache.begin_flush(0);
        assert!(!cache.end_flush(0, first, true));
        let later = cache.begin_flush(0);
        assert!(!cache.end_flush(0, second, true));
        assert!(!cache.end_flush(0, third, true));
        assert!(cache.end_flush(0, later, true));
        assert!(!cache.end_flush(1, other, true));
        assert!(cache.end_flush(1, cache.begin_flush(1), true));
    }

    #[test]
    fn only_what_no_flush_has_covered_can_be_lost() {
        let cache = UnitCache::new(None, false);
        assert!(!cache.reset());
        cache.wrote();
        let flush = cache.begin_flush(0);
        cache.wrote();
        assert!(cache.end_flush(0, flush, true));
        // The second write came after the flush.
        let flush = cache.begin_flush(0);
        assert!(cache.end_flush(0, flush, false));
        assert!(cache.reset());
        assert!(!cache.reset());
        cache.wrote();
        let flush = cache.begin_flush(0);
        assert!(!cache.end_flush(0, flush, true));
        assert!(!cache.reset());

        // Their numbers wrap.
        cache.flushes.set(u32::MAX - 1);
        cache.flushed.set(u32::MAX - 1);
        for _ in 0..4 {
            cache.wrote();
            let flush = cache.begin_flush(0);
            assert!(cache.end_flush(0, flush, true));
            assert!(!cache.reset());
        }

        let stable = UnitCache::new(Some(false), false);
        stable.wrote();
        assert!(!stable.reset());
    }
}
