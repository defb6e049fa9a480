//! Which writes of a trial are covered: a flush that was submitted after they had completed has succeeded, or they were
//! durable themselves.
//!
//! A covered write that is lost breaks a promise; one that is not covered does not, if the power was lost. Writes
//! complete in any order, so what is kept for each disk is how many are covered, and a generation below which all are:
//! a write may be covered beyond it, and is then not called so.

use std::collections::BTreeSet;

/// The coverage of a thread's disks.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// Whether every write is durable.
    durable: bool,
    disks: Vec<DiskCoverage>,
    /// By the number of the flush: its disk, and what it covers if it succeeds.
    started: Vec<Option<(u32, Extent)>>,
}

#[derive(Debug, Default)]
struct DiskCoverage {
    /// Generations of the outstanding writes.
    outstanding: BTreeSet<u64>,
    last: u64,
    completed: Extent,
    covered: Extent,
}

/// What is completed or covered on a disk.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    writes: u64,
    /// All generations below this one.
    below: u64,
}

impl Coverage {
    /// Of `disks` disks, before the first write.
    pub(crate) fn new(disks: u32, durable: bool) -> Self {
        let disks = (0..disks).map(|_| DiskCoverage::default()).collect();
        Self { durable, disks, started: Vec::new() }
    }

    pub(crate) fn begin(&mut self, disk: u32, generation: u64) {
        if let Some(disk) = self.disks.get_mut(disk as usize) {
            disk.outstanding.insert(generation);
            disk.last = generation;
        }
    }

    /// The write ended; `succeeded` if all its bytes moved.
    pub(crate) fn end(&mut self, disk: u32, generation: u64, succeeded: bool) {
        let durable = self.durable;
        let Some(disk) = self.disks.get_mut(disk as usize) else { return };
        disk.outstanding.remove(&generation);
        disk.completed.writes += u64::from(succeeded);
        if durable {
            disk.covered = disk.completed();
        }
    }

    pub(crate) fn flush_started(&mut self, number: u32, disk: u32) {
        let Some(extent) = self.disks.get(disk as usize).map(DiskCoverage::completed) else {
            return;
        };
        let number = number as usize;
        if self.started.len() <= number {
            self.started.resize(number + 1, None);
        }
        self.started[number] = Some((disk, extent));
    }

    pub(crate) fn flushed(&mut self, number: u32, succeeded: bool) {
        let started = self.started.get_mut(number as usize).and_then(Option::take);
        let Some((disk, extent)) = started.filter(|_| succeeded) else { return };
        if let Some(disk) = self.disks.get_mut(disk as usize) {
            disk.covered.writes = disk.covered.writes.max(extent.writes);
            disk.covered.below = disk.covered.below.max(extent.below);
        }
    }

    /// Whether the write of this generation is known to be covered. What was written before the trial is not known.
    pub(crate) fn covers(&self, disk: u32, generation: u64) -> bool {
        self.disks.get(disk as usize).is_some_and(|disk| generation < disk.covered.below)
    }

    /// Number of covered writes.
    pub(crate) fn covered_writes(&self) -> u64 {
        self.disks.iter().map(|disk| disk.covered.writes).sum()
    }
}

impl DiskCoverage {
    /// What a flush covers that is submitted now.
    fn completed(&self) -> Extent {
        let below = self.outstanding.first().copied().unwrap_or(self.last + 1);
        Extent { below, ..self.completed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_covers_what_completed_before_it_was_submitted() {
        let mut coverage = Coverage::new(2, false);
        for generation in 1..=4 {
            coverage.begin(1, generation);
        }
        for generation in [1, 3] {
            coverage.end(1, generation, true);
        }
        coverage.flush_started(5, 1);
        for generation in [2, 4] {
            coverage.end(1, generation, true);
        }
        assert!(!coverage.covers(1, 1), "the flush has not ended");
        coverage.flushed(5, true);
        assert_eq!(coverage.covered_writes(), 2);
        let covered: Vec<bool> = (1..=4).map(|generation| coverage.covers(1, generation)).collect();
        assert_eq!(covered, [true, false, false, false], "write 2 was outstanding");
        assert!(!coverage.covers(0, 1));
        coverage.flush_started(5, 1);
        coverage.flushed(5, true);
        assert_eq!((coverage.covered_writes(), coverage.covers(1, 4)), (4, true));
    }

    #[test]
    fn a_flush_that_fails_covers_nothing_and_neither_does_a_failed_write() {
        let mut coverage = Coverage::new(1, false);
        coverage.begin(0, 1);
        coverage.end(0, 1, true);
        coverage.flush_started(0, 0);
        coverage.flushed(0, false);
        assert_eq!((coverage.covered_writes(), coverage.covers(0, 1)), (0, false));
        let mut durable = Coverage::new(1, true);
        durable.begin(0, 1);
        durable.end(0, 1, false);
        assert_eq!(durable.covered_writes(), 0);
    }

    #[test]
    fn durable_writes_are_covered_when_they_complete() {
        let mut coverage = Coverage::new(1, true);
        (1..=3).for_each(|generation| coverage.begin(0, generation));
        coverage.end(0, 1, true);
        coverage.end(0, 3, true);
        assert_eq!(coverage.covered_writes(), 2);
        assert!(coverage.covers(0, 1) && !coverage.covers(0, 2) && !coverage.covers(0, 3));
    }
}
