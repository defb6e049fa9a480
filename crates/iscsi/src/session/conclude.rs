//! Handles a command's status: done, to be sent again, or failed.

use stormeter_disk::{Completion, DeviceError, StorageEvent};

use super::action::Action;
use super::error::{CommandError, Error};
use super::machine::Session;
use super::operations::Progress;
use super::tasks::Owner;
use crate::pdu::flags;
use crate::scsi::{Advice, Sense, Status};

/// How often a command is sent again at once: a unit may report several attention conditions in a
/// row.
const MAX_ATTEMPTS: u8 = 8;

/// How often a command is sent again after a delay: with the delays below, for a quarter of a
/// minute.
const MAX_REFUSALS: u8 = 64;

/// The first delay; each further one is twice as long, up to the longest.
const FIRST_WAIT_NS: u64 = 1_000_000;
const LONGEST_WAIT_NS: u64 = 256_000_000;

const EBUSY: DeviceError = DeviceError(16);
const EBADE: DeviceError = DeviceError(52);

/// Flags and residual count of a PDU with status.
pub(super) type Residual = (u8, u32);

impl Session {
    /// Handles a command's status.
    ///
    /// # Errors
    /// The status is success, but not all of the command's data was moved.
    #[inline]
    pub(super) fn conclude(
        &mut self,
        index: u32,
        status: Status,
        residual: Residual,
        sense: Option<Sense>,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        if status == Status::Good {
            self.has_succeeded = true;
            return self.succeed(index, residual, done);
        }
        self.conclude_otherwise(index, status, residual, sense, now_ns, done)
    }

    /// Handles any status other than GOOD.
    #[cold]
    fn conclude_otherwise(
        &mut self,
        index: u32,
        status: Status,
        residual: Residual,
        sense: Option<Sense>,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        let io = DeviceError::IO;
        self.flush_answered(index);
        match status {
            // Handled by `conclude`.
            Status::Good => {}
            Status::CheckCondition => {
                let Some(sense) = sense else {
                    self.incidents.note(StorageEvent::NoSense);
                    self.fail(index, io, CommandError::Status(status), done);
                    return Ok(());
                };
                // To probing commands, "unknown" or "not allowed" is an answer and not an incident.
                let is_operation = self
                    .tasks
                    .get(index)
                    .is_some_and(|task| matches!(task.owner, Owner::Operation(_)));
                // Every new session gets a unit attention for a reset, whether there was one or
                // not: the attention is kept per pair of initiator and target (SPC-4 section 5.14).
                let is_welcome = !self.has_succeeded && sense.key == 0x6 && sense.asc == 0x29;
                if is_operation && !is_welcome {
                    self.incidents.note(StorageEvent::Sense {
                        key: sense.key,
                        asc: sense.asc,
                        ascq: sense.ascq,
                        said: sense.to_string().into(),
                    });
                }
                if sense.is_reset() {
                    self.unit_was_reset(is_welcome);
                }
                let error = CommandError::Check(sense);
                match sense.advice() {
                    Advice::Done => return self.succeed(index, residual, done),
                    Advice::Again => self.again(index, sense.errno(), error, now_ns, done),
                    Advice::Later => self.later(index, sense.errno(), error, now_ns, done),
                    Advice::Fail if self.lesser_form(index, sense, now_ns) => {}
                    Advice::Fail => self.fail(index, self.errno_of(index, sense), error, done),
                }
            }
            Status::Busy | Status::TaskSetFull => {
                self.incidents.note(match status {
                    Status::Busy => StorageEvent::TargetBusy,
                    _ => StorageEvent::TargetFull,
                });
                self.later(index, EBUSY, CommandError::Status(status), now_ns, done);
            }
            Status::TaskAborted => {
                self.incidents.note(StorageEvent::AbortedByOther);
                self.again(index, io, CommandError::Status(status), now_ns, done);
            }
            Status::ReservationConflict => {
                self.incidents.note(StorageEvent::ReservationConflict);
                self.fail(index, EBADE, CommandError::Status(status), done);
            }
            Status::AcaActive | Status::Other(_) => {
                self.incidents
                    .note(StorageEvent::CommandStatus { said: status.to_string().into() });
                self.fail(index, io, CommandError::Status(status), done);
            }
        }
        Ok(())
    }

    #[inline(always)] // On the path of every request.
    fn succeed(
        &mut self,
        index: u32,
        (bits, residual): Residual,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        let refuse = |problem| Err(Error::Protocol { found: "a SCSI status", problem });
        let Some(task) = self.tasks.get(index) else { return Ok(()) };
        let missing = if bits & flags::UNDERFLOW != 0 { residual } else { 0 };
        let Some(moved) = task.length.checked_sub(missing) else {
            return refuse("leaves over more than was asked for");
        };
        let (owner, offset, length) = (task.owner, task.offset, task.length);
        if task.action != Action::Read {
            if task.sent < moved {
                return refuse("says good before the data was fetched");
            }
            if task.action == Action::Write {
                self.cache.wrote();
            }
        }
        match owner {
            Owner::Operation(operation) => {
                if task.action == Action::Read && task.coverage.whole() != Some(moved) {
                    return refuse("says good before the data came");
                }
                match self.operations.part_done(operation, offset, length, Ok(moved)) {
                    Progress::Done(completion) => done.push(completion),
                    Progress::More => {}
                    Progress::Settle => self.settle(index, operation, done),
                }
            }
            // Information about a unit may be shorter than the space for it.
            Owner::Control(control) => {
                let through = task.coverage.through();
                self.controls.finish(control, Ok(through));
            }
            Owner::Ping | Owner::Logout => {
                return refuse("answers something other than a SCSI command");
            }
        }
        self.tasks.release(index);
        Ok(())
    }

    /// The task failed permanently.
    pub(super) fn fail(
        &mut self,
        index: u32,
        errno: DeviceError,
        error: CommandError,
        done: &mut Vec<Completion>,
    ) {
        self.flush_answered(index);
        let Some(task) = self.tasks.get(index) else { return };
        match task.owner {
            Owner::Operation(operation) => {
                // Only the first waiting operation can be partly sent; the rest of it is not sent.
                if self.waiting.front() == Some(&operation) {
                    self.waiting.pop_front();
                }
                let (offset, length) = (task.offset, task.length);
                let outcome = Err(errno);
                match self.operations.part_done(operation, offset, length, outcome) {
                    Progress::Done(completion) => done.push(completion),
                    // What failed does not depend on caches any more.
                    Progress::More | Progress::Settle => {}
                }
            }
            Owner::Control(control) => self.controls.finish(control, Err(error)),
            Owner::Ping | Owner::Logout => {}
        }
        self.tasks.release(index);
    }

    fn again(
        &mut self,
        index: u32,
        errno: DeviceError,
        error: CommandError,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) {
        match self.tasks.get_mut(index) {
            Some(task) if task.attempts < MAX_ATTEMPTS => {
                task.attempts += 1;
                self.tasks.renew(index);
                self.note_blocked(now_ns);
                self.retries.push_back(index);
            }
            _ => self.fail(index, errno, error, done),
        }
    }

    /// Whether the task's operation has exceeded its time limit.
    fn is_expired(&self, index: u32, now_ns: u64) -> bool {
        let Some(Owner::Operation(operation)) = self.tasks.get(index).map(|task| task.owner) else {
            return false;
        };
        let since_ns = self.operations.get(operation).map_or(now_ns, |pending| pending.since_ns);
        now_ns.saturating_sub(since_ns) >= self.options.timeouts.operation_ns
    }

    fn later(
        &mut self,
        index: u32,
        errno: DeviceError,
        error: CommandError,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) {
        let is_expired = self.is_expired(index, now_ns);
        match self.tasks.get_mut(index) {
            Some(task) if task.refusals < MAX_REFUSALS && !is_expired => {
                let wait_ns = FIRST_WAIT_NS << task.refusals.min(16);
                task.refusals += 1;
                self.tasks.renew(index);
                self.delayed.push((now_ns.saturating_add(wait_ns.min(LONGEST_WAIT_NS)), index));
            }
            _ => self.fail(index, errno, error, done),
        }
    }
}
