//! What the loop does in addition when reads are verified.

use stormeter_disk::{Clock, Completion, Disks, DisksError};

use super::Drive;
use crate::direction::Direction;
use crate::generator::Request;
use crate::observer::Observer;
use crate::pacing::Pacing;
use crate::verify::Verification;

impl<D: Disks, C: Clock, O: Observer, V: Verification> Drive<'_, D, C, O, V> {
    pub(super) fn rehearse(&mut self) {
        for slot in 0..self.slots.len() as u32 {
            if let Some(bytes) = self.disks.buffer(self.write_buffers + slot) {
                self.verification.rehearse(bytes);
            }
        }
    }

    /// The request, moved to where it does not overlap operations that it must not.
    pub(super) fn set_apart(
        &mut self,
        slot: u32,
        disk: u32,
        request: Request,
    ) -> Result<Request, DisksError> {
        let started = self.verification.begin(slot, disk, request).ok_or_else(no_room)?;
        if started != request {
            self.cursors[disk as usize].follow(&started);
        }
        Ok(started)
    }

    /// The real start of an operation that is ready only now. Time spent on verification since the
    /// last turn belongs to no operation's latency, nor to the outstanding time.
    pub(super) fn begun_ns(&mut self, started_ns: u64) -> u64 {
        if matches!(self.pacing, Pacing::Open { .. }) {
            // It was due then, whatever delayed it.
            return started_ns;
        }
        self.clock.now_ns()
    }

    /// Called before the slot's buffer is reused.
    pub(super) fn verify(
        &mut self,
        completion: Completion,
        direction: Direction,
        length_bytes: u32,
        now_ns: u64,
    ) {
        let slot = completion.slot;
        if completion.result != length_bytes as i32 {
            self.verification.failed(slot);
            return;
        }
        let bytes = match direction {
            Direction::Read => self.disks.buffer(self.write_buffers + slot).map(|bytes| &*bytes),
            Direction::Write => None,
        };
        let at_ns = now_ns.saturating_sub(self.start_ns);
        self.verification.moved(slot, bytes, at_ns);
    }
}

#[cold]
fn no_room() -> DisksError {
    DisksError {
        action: "keeping requests from overlapping",
        reason: "the disk has no free place left".into(),
    }
}
