//! The operations that were submitted and not completed, and how far each has been split into
//! tasks.

use stormeter_disk::{Completion, DeviceError, Operation};

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
    error: Option<DeviceError>,
    /// When it was submitted.
    pub(super) since_ns: u64,
    sequence: u64,
    live: bool,
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
    pub(super) fn add(&mut self, operation: Operation, begin_bytes: u64, now_ns: u64) -> u32 {
        let pending = Pending {
            operation,
            begin_bytes,
            next: 0,
            tasks: 0,
            short_at: operation.length_bytes,
            error: None,
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

    /// A task that moved `moved` of the `length` bytes at `offset` is done. Returns the completion
    /// if it was the last task.
    #[inline]
    pub(super) fn part_done(
        &mut self,
        index: u32,
        offset: u32,
        length: u32,
        outcome: Result<u32, DeviceError>,
    ) -> Option<Completion> {
        let pending = self.get_mut(index)?;
        pending.tasks = pending.tasks.saturating_sub(1);
        match outcome {
            Ok(moved) if moved < length => pending.short_at = pending.short_at.min(offset + moved),
            Ok(_) => {}
            Err(error) => {
                pending.error.get_or_insert(error);
                // The rest need not be sent.
                pending.next = pending.operation.length_bytes;
            }
        }
        if pending.tasks > 0 || pending.next < pending.operation.length_bytes {
            return None;
        }
        let slot = pending.operation.slot;
        let completion = match pending.error {
            Some(error) => Completion::failed(slot, error),
            None => Completion::moved(slot, pending.short_at),
        };
        pending.live = false;
        self.live -= 1;
        self.free.push(index);
        Some(completion)
    }

    /// Restarts all of them; returns their indices in the order of submission.
    pub(super) fn rewind(&mut self) -> Vec<u32> {
        for pending in self.slots.iter_mut().filter(|pending| pending.live) {
            (pending.next, pending.tasks) = (0, 0);
            (pending.short_at, pending.error) = (pending.operation.length_bytes, None);
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
