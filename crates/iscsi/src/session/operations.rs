//! The operations that were submitted and not completed, and how far each has been split into
//! tasks.

use stormeter_disk::{Completion, DeviceError, Operation};

use crate::unit_cache::FlushMark;

/// One operation.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) operation: Operation,
    /// Its first byte on the unit.
    pub(super) begin_bytes: u64,
    /// Bytes for which tasks exist or existed.
    pub(super) next: u32,
    /// Number of its tasks that are not done.
    pub(super) tasks: u32,
    /// Where a short transfer ended, or its length.
    short_at: u32,
    pub(super) ending: Ending,
    /// When it was submitted.
    pub(super) since_ns: u64,
    sequence: u64,
    live: bool,
}

impl Pending {
    /// Restarts it.
    pub(super) fn rewind(&mut self) {
        (self.next, self.tasks) = (0, 0);
        self.short_at = self.operation.length_bytes;
        if !matches!(self.ending, Ending::Flush(_)) {
            self.ending = Ending::Plain;
        }
    }
}

/// What happens when the last task of an operation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is completed.
    Plain,
    /// It fails.
    Failed(DeviceError),
    /// It is a flush.
    Flush(FlushMark),
    /// It is a durable write without FUA, whose flush comes next.
    Written {
        /// [`losses`](crate::UnitCache::losses) before its first byte was sent.
        losses: u32,
    },
    /// It is a durable write whose flush is done.
    Flushing {
        /// As above.
        losses: u32,
    },
}

/// The state of an operation of which a task is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More is to be done.
    More,
    /// It is completed.
    Done(Completion),
    /// Its tasks are done; caches decide what follows.
    Settle,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Operations {
    slots: Vec<Pending>,
    free: Vec<u32>,
    sequence: u64,
    live: u32,
}

impl Operations {
    /// Adds an operation.
    #[inline]
    pub(super) fn add(
        &mut self,
        operation: Operation,
        begin_bytes: u64,
        ending: Ending,
        now_ns: u64,
    ) -> u32 {
        let pending = Pending {
            operation,
            begin_bytes,
            next: 0,
            tasks: 0,
            short_at: operation.length_bytes,
            ending,
            since_ns: now_ns,
            sequence: self.sequence,
            live: true,
        };
        self.sequence += 1;
        self.live += 1;
        match self.free.pop() {
            Some(index) => {
                if let Some(slot) = self.slots.get_mut(index as usize) {
                    *slot = pending;
                }
                index
            }
            None => {
                self.slots.push(pending);
                (self.slots.len() - 1) as u32
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Pending> {
        self.slots.get(index as usize)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Pending> {
        self.slots.get_mut(index as usize)
    }

    /// Number of operations that are not completed.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// A task that moved `moved` of the `length` bytes at `offset` is done.
    #[inline]
    pub(super) fn part_done(
        &mut self,
        index: u32,
        offset: u32,
        length: u32,
        outcome: Result<u32, DeviceError>,
    ) -> Progress {
        let Some(pending) = self.get_mut(index) else { return Progress::More };
        pending.tasks = pending.tasks.saturating_sub(1);
        match outcome {
            Ok(moved) if moved < length => pending.short_at = pending.short_at.min(offset + moved),
            Ok(_) => {}
            Err(error) => {
                if !matches!(pending.ending, Ending::Failed(_)) {
                    pending.ending = Ending::Failed(error);
                }
                // The rest need not be sent.
                pending.next = pending.operation.length_bytes;
            }
        }
        if pending.tasks > 0 || pending.next < pending.operation.length_bytes {
            return Progress::More;
        }
        let slot = pending.operation.slot;
        let completion = match pending.ending {
            Ending::Plain => Completion::moved(slot, pending.short_at),
            Ending::Failed(error) => Completion::failed(slot, error),
            _ => return Progress::Settle,
        };
        pending.live = false;
        self.live -= 1;
        self.free.push(index);
        Progress::Done(completion)
    }

    /// Completes an operation whose tasks are done.
    pub(super) fn end(&mut self, index: u32, error: Option<DeviceError>) -> Option<Completion> {
        let pending = self.get_mut(index).filter(|pending| pending.live)?;
        pending.live = false;
        let slot = pending.operation.slot;
        let completion = match error {
            Some(error) => Completion::failed(slot, error),
            None => Completion::moved(slot, pending.short_at),
        };
        self.live -= 1;
        self.free.push(index);
        Some(completion)
    }

    /// The operation is a durable write whose bytes go to a cache first.
    pub(super) fn owe_flush(&mut self, index: u32, losses: u32) {
        if let Some(pending) = self.get_mut(index)
            && pending.ending == Ending::Plain
        {
            pending.ending = Ending::Written { losses };
        }
    }

    /// Restarts all of them; returns their indices in the order of submission.
    pub(super) fn rewind(&mut self) -> Vec<u32> {
        for pending in self.slots.iter_mut().filter(|pending| pending.live) {
            pending.rewind();
        }
        let mut order: Vec<(u64, u32)> = (0..)
            .zip(&self.slots)
            .filter(|(_, pending)| pending.live)
            .map(|(index, pending)| (pending.sequence, index))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, index)| index).collect()
    }

    /// Removes those submitted at this time or before.
    pub(super) fn expire(&mut self, until_ns: u64) -> Vec<Operation> {
        let mut expired = Vec::new();
        for (index, pending) in (0..).zip(&mut self.slots) {
            if pending.live && pending.since_ns <= until_ns {
                pending.live = false;
                self.live -= 1;
                self.free.push(index);
                expired.push(pending.operation);
            }
        }
        expired
    }

    /// Gives all of them up, in the order of submission.
    pub(super) fn surrender(&mut self, operations: &mut Vec<Operation>) {
        let order = self.rewind();
        operations
            .extend(order.iter().filter_map(|&index| self.get(index)).map(|one| one.operation));
        self.slots.clear();
        self.free.clear();
        self.live = 0;
    }
}
