//! What the loop does in addition when the workload flushes.

use stormeter_disk::{Clock, Completion, Disks, DisksError, Kind, Operation};
use stormeter_trial::{Ended, IoFailure, IoFailureOutcome};

use super::{Drive, Phase, nothing_outstanding};
use crate::direction::Direction;
use crate::observer::Observer;
use crate::verify::Verification;

impl<D: Disks, C: Clock, O: Observer, V: Verification> Drive<'_, D, C, O, V> {
    /// What follows a completion on a slot of a disk that is flushed. Whether the slot waits for a flush.
    #[inline(never)]
    pub(super) fn flush_after(&mut self, slot: u32, disk: u32) -> Result<bool, DisksError> {
        let is_write = self.slots[slot as usize].direction == Direction::Write;
        let Some(flushes) = self.flushes.as_mut().filter(|_| is_write) else { return Ok(false) };
        let due = flushes.wrote(slot, disk);
        let Some(number) = due.filter(|_| self.phase != Phase::Drain) else { return Ok(false) };
        let slot_waits = flushes.slot_waits();
        self.begin_flush(number, disk)?;
        Ok(slot_waits)
    }

    /// Submits the flushes that have fallen due by `now_ns`.
    pub(super) fn flush_due(&mut self, now_ns: u64) -> Result<(), DisksError> {
        if self.phase == Phase::Drain {
            return Ok(());
        }
        while let Some((number, disk)) =
            self.flushes.as_mut().and_then(|flushes| flushes.take_due(now_ns))
        {
            self.begin_flush(number, disk)?;
        }
        Ok(())
    }

    fn begin_flush(&mut self, number: u32, disk: u32) -> Result<(), DisksError> {
        let started_ns = self.clock.now_ns();
        let Some(flushes) = &mut self.flushes else { return Ok(()) };
        if self.outstanding == 0 && flushes.outstanding() == 0 {
            // The disks were idle: stall time counts from here.
            self.last_progress_ns = started_ns;
        }
        let slot = flushes.begin(number, disk, started_ns);
        if V::ON {
            self.verification.flush_started(number, disk);
        }
        self.disks.submit(&[Operation {
            offset_bytes: 0,
            length_bytes: 0,
            disk,
            slot,
            // Some disks take the buffer for used; this one is never filled again.
            buffer: self.duplicate_buffer(),
            kind: Kind::Flush,
        }])
    }

    /// A completion on a slot that no I/O is outstanding on: it should be that of a flush.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_flush(
        &mut self,
        completion: Completion,
        now_ns: u64,
    ) -> Result<(), DisksError> {
        let slot = completion.slot;
        let ended = self.flushes.as_mut().and_then(|flushes| flushes.end(slot));
        let (Some((number, flush)), Some(flushes)) = (ended, &mut self.flushes) else {
            return Err(nothing_outstanding(slot));
        };
        let slot_waits = flushes.slot_waits();
        if slot_waits {
            let opened_ns = self.start_ns + self.trial.ramp_ns;
            let from_ns = flush.started_ns.max(opened_ns);
            flushes.waited(from_ns, now_ns.min(opened_ns + self.trial.duration_ns));
        }
        let outcome = completion.outcome();
        match outcome {
            Ok(_) if self.phase == Phase::Window => {
                flushes.record(now_ns.saturating_sub(flush.started_ns));
            }
            Ok(_) => {}
            Err(error) => {
                flushes.failed();
                self.recorder.io_failed(IoFailure {
                    disk: self.trial.first_disk + flush.disk,
                    kind: Kind::Flush,
                    offset_bytes: 0,
                    length_bytes: 0,
                    outcome: IoFailureOutcome::Failed(error),
                });
                self.flush_failure.get_or_insert(error);
                // The next turn ends the trial: nothing that the flush covered is known to be stored.
                self.boundary_ns = 0;
            }
        }
        let again = flushes.take_again(flush.disk);
        if V::ON {
            self.verification.flushed(number, outcome.is_ok());
        }
        if self.phase == Phase::Drain || outcome.is_err() {
            return Ok(());
        }
        if slot_waits {
            let started_ns = self.clock.now_ns();
            return self.issue_apart(number, flush.disk, started_ns);
        }
        if again { self.begin_flush(number, flush.disk) } else { Ok(()) }
    }

    /// When the next flush at an interval falls due; never once no more is submitted.
    pub(super) fn next_flush_ns(&self) -> u64 {
        let flushes = self.flushes.as_ref().filter(|_| self.phase != Phase::Drain);
        flushes.map_or(u64::MAX, |flushes| flushes.next_due_ns())
    }

    /// Number of outstanding flushes.
    pub(super) fn outstanding_flushes(&self) -> u64 {
        self.flushes.as_ref().map_or(0, |flushes| u64::from(flushes.outstanding()))
    }

    /// How the trial ends that has no outstanding I/O any more; `None` while a flush is outstanding.
    #[cold]
    #[inline(never)]
    pub(super) fn drained(&self) -> Option<Ended> {
        (self.outstanding_flushes() == 0).then(|| self.lost().unwrap_or(Ended::Completed))
    }

    /// How the trial ends if a flush failed.
    pub(super) fn lost(&self) -> Option<Ended> {
        let error = self.flush_failure?;
        Some(Ended::Lost { reason: format!("a flush failed: {error}") })
    }
}
