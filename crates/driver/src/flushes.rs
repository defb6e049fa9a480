//! When the disks of a thread are flushed, and how long that took.
//!
//! A flush is no I/O: it has a slot number beyond those of the I/Os, moves no bytes, and neither its time nor the time
//! for which a slot waits for it counts as outstanding. Two rules say who waits for it
//! ([`stormeter_trial::FlushEvery`]): in a closed loop with flushes after a number of writes, the slot of the last of
//! these writes does, as a caller of `fdatasync` does; otherwise nobody, and a disk has at most one flush outstanding.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormeter_trial::{FlushEvery, KindTotals, Trial};

use crate::random::{Random, unit};

/// The stream of the times at which the disks' intervals begin.
const PHASE_STREAM: u64 = 0xf1_05_8e;

/// The flushes of a thread's disks.
#[derive(Debug)]
pub(crate) struct Flushes {
    every: FlushEvery,
    /// Whether a slot waits for the flush that its write made due.
    slot_waits: bool,
    /// Number of I/O slots: the first flush has this slot number.
    first_slot: u32,
    disks: Vec<DiskFlushes>,
    /// The time and disk of each next flush at an interval.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// By slot number, less `first_slot`.
    started: Vec<Option<Started>>,
    outstanding: u32,
    totals: KindTotals,
    waited_ns: u64,
}

/// A flush that has been submitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    pub(crate) started_ns: u64,
    pub(crate) disk: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct DiskFlushes {
    /// Writes that completed since the last flush was submitted.
    written: u32,
    /// A flush fell due while one was outstanding.
    again: bool,
}

impl Flushes {
    /// Those of a trial, whose I/Os have the slots below `first_slot`; `None` if its workload does not flush.
    pub(crate) fn new(trial: &Trial, first_slot: u32) -> Option<Box<Self>> {
        let every = trial.workload.flush?;
        Some(Box::new(Self {
            every,
            slot_waits: trial.slot_waits_for_flush(),
            first_slot,
            disks: vec![DiskFlushes::default(); trial.disks as usize],
            due: BinaryHeap::new(),
            started: vec![None; trial.flush_slots() as usize],
            outstanding: 0,
            totals: KindTotals::default(),
            waited_ns: 0,
        }))
    }

    /// The load starts at `start_ns`. The intervals of the disks begin at different times, as those of independent
    /// guests do.
    pub(crate) fn begin_at(&mut self, start_ns: u64, first_disk: u32, seed: u64) {
        let FlushEvery::Interval { ns } = self.every else { return };
        for disk in 0..self.disks.len() as u32 {
            let mut random = Random::stream(seed ^ PHASE_STREAM, u64::from(first_disk + disk));
            let phase_ns = (unit(random.next()) * ns as f64) as u64;
            self.due.push(Reverse((start_ns + phase_ns, disk)));
        }
    }

    /// Whether the slot of a write waits for the flush that the write makes due.
    pub(crate) fn slot_waits(&self) -> bool {
        self.slot_waits
    }

    /// Number of outstanding flushes.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// A write of this disk completed on `slot`. The number of the flush that is due now, if one is.
    pub(crate) fn wrote(&mut self, slot: u32, disk: u32) -> Option<u32> {
        let state = &mut self.disks[disk as usize];
        state.written += 1;
        match self.every {
            FlushEvery::Writes { writes } if state.written >= writes => {}
            _ => return None,
        }
        if self.slot_waits { Some(slot) } else { self.falls_due(disk) }
    }

    /// The number of a flush of this disk, unless one is outstanding, which it then follows.
    fn falls_due(&mut self, disk: u32) -> Option<u32> {
        let is_outstanding = self.started[disk as usize].is_some();
        self.disks[disk as usize].again = is_outstanding;
        (!is_outstanding).then_some(disk)
    }

    /// When the next flush at an interval falls due.
    pub(crate) fn next_due_ns(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |&Reverse((at_ns, _))| at_ns)
    }

    /// The number of the next flush that has fallen due by `now_ns`, and its disk. A disk that was not written since
    /// its last flush is passed over.
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<(u32, u32)> {
        let FlushEvery::Interval { ns } = self.every else { return None };
        while let Some(&Reverse((at_ns, disk))) = self.due.peek() {
            if at_ns > now_ns {
                return None;
            }
            self.due.pop();
            // After a long stall only the latest is left.
            let missed = (now_ns - at_ns) / ns;
            self.due.push(Reverse((at_ns + (missed + 1) * ns, disk)));
            if self.disks[disk as usize].written > 0
                && let Some(number) = self.falls_due(disk)
            {
                return Some((number, disk));
            }
        }
        None
    }

    /// Flush `number` is submitted at `started_ns`; returns its slot number.
    pub(crate) fn begin(&mut self, number: u32, disk: u32, started_ns: u64) -> u32 {
        self.started[number as usize] = Some(Started { started_ns, disk });
        self.disks[disk as usize].written = 0;
        self.outstanding += 1;
        self.first_slot + number
    }

    /// The flush with this slot number has ended; its number and what it was. `None`: none is outstanding there.
    pub(crate) fn end(&mut self, slot: u32) -> Option<(u32, Started)> {
        let number = slot.checked_sub(self.first_slot)?;
        let started = self.started.get_mut(number as usize)?.take()?;
        self.outstanding -= 1;
        Some((number, started))
    }

    /// Whether a flush of this disk fell due while the last one was outstanding.
    pub(crate) fn take_again(&mut self, disk: u32) -> bool {
        let state = &mut self.disks[disk as usize];
        std::mem::take(&mut state.again) && state.written > 0
    }

    /// A flush succeeded within the window.
    pub(crate) fn record(&mut self, latency_ns: u64) {
        let totals = &mut self.totals;
        totals.latency_min_ns = match totals.operations {
            0 => latency_ns,
            _ => totals.latency_min_ns.min(latency_ns),
        };
        totals.operations += 1;
        totals.latency_sum_ns += latency_ns;
        totals.latency_max_ns = totals.latency_max_ns.max(latency_ns);
        totals.histogram.record(latency_ns);
    }

    /// A flush failed.
    pub(crate) fn failed(&mut self) {
        self.totals.errors += 1;
    }

    /// A slot waited for a flush from `from_ns` to `to_ns`, as far as that is within the window.
    pub(crate) fn waited(&mut self, from_ns: u64, to_ns: u64) {
        self.waited_ns += to_ns.saturating_sub(from_ns);
    }

    /// The totals, and how long slots waited.
    pub(crate) fn finish(self) -> (KindTotals, u64) {
        (self.totals, self.waited_ns)
    }
}
