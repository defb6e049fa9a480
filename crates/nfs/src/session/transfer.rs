//! Outstanding operations: each consists of one request or several and completes when the last of
//! them has ended.

use stormeter_disk::{Completion, DeviceError, Operation};

#[derive(Debug, Clone, Copy)]
struct Transfer {
    operation: Operation,
    /// Its position in the order of submission.
    order: u64,
    /// Parts that have not ended.
    pieces: u32,
    /// Where the file ends within it, or its length.
    end: u32,
    error: Option<DeviceError>,
}

/// The outstanding operations, identified by an index that is reused.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    all: Vec<Option<Transfer>>,
    free: Vec<u32>,
    next_order: u64,
}

impl Transfers {
    #[inline]
    pub(super) fn begin(&mut self, operation: &Operation, pieces: u32) -> u32 {
        let transfer = Transfer {
            operation: *operation,
            order: self.next_order,
            pieces,
            end: operation.length_bytes,
            error: None,
        };
        self.next_order += 1;
        let index = self.free.pop().unwrap_or(self.all.len() as u32);
        match self.all.get_mut(index as usize) {
            Some(place) => *place = Some(transfer),
            None => self.all.push(Some(transfer)),
        }
        index
    }

    #[inline]
    pub(super) fn operation(&self, index: u32) -> Option<&Operation> {
        self.all.get(index as usize)?.as_ref().map(|transfer| &transfer.operation)
    }

    #[inline]
    fn get_mut(&mut self, index: u32) -> Option<&mut Transfer> {
        self.all.get_mut(index as usize)?.as_mut()
    }

    /// The file ends `end` bytes into the operation.
    pub(super) fn ends_at(&mut self, index: u32, end: u32) {
        if let Some(transfer) = self.get_mut(index) {
            transfer.end = transfer.end.min(end);
        }
    }

    /// A part failed; the operation fails with the first part's error.
    pub(super) fn fail(&mut self, index: u32, error: DeviceError) {
        if let Some(transfer) = self.get_mut(index) {
            transfer.error.get_or_insert(error);
        }
    }

    /// A part has ended, successfully or not.
    #[inline]
    pub(super) fn piece_ended(&mut self, index: u32, done: &mut Vec<Completion>) {
        let Some(place) = self.all.get_mut(index as usize) else { return };
        let Some(transfer) = place else { return };
        transfer.pieces -= 1;
        if transfer.pieces > 0 {
            return;
        }
        let slot = transfer.operation.slot;
        done.push(match transfer.error {
            None => Completion::moved(slot, transfer.end),
            Some(error) => Completion::failed(slot, error),
        });
        *place = None;
        self.free.push(index);
    }

    #[inline]
    pub(super) fn count(&self) -> u32 {
        (self.all.len() - self.free.len()) as u32
    }

    /// Gives all of them up, in the order of submission.
    pub(super) fn surrender(&mut self, operations: &mut Vec<Operation>) {
        self.all.retain(Option::is_some);
        self.free.clear();
        self.all.sort_unstable_by_key(|place| place.map_or(0, |transfer| transfer.order));
        operations.extend(self.all.drain(..).flatten().map(|transfer| transfer.operation));
    }
}
