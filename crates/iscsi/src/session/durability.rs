//! Flushes and durable writes: what ordinary reads and writes do not need, off their path.
//!
//! A flush is SYNCHRONIZE CACHE (SBC-4 §5.22) over the disk's blocks: (10) where they can be named
//! in it, (16) beyond 2^32 blocks. More blocks than the command can count are flushed as the whole
//! unit, which covers more. A target that refuses a range is asked once, by each flush, for the
//! whole unit; if it refuses that too, or does not know the command, the flush fails with
//! EOPNOTSUPP. By SBC-4 a flush covers what was written before over any path.
//!
//! A durable write has the FUA bit if the unit supports it. Otherwise it is a write and then a
//! flush, unless the unit has no volatile cache; it completes after both, and is done over if the
//! unit was reset between them.

use stormeter_disk::{Completion, DeviceError, Kind, Operation, StorageEvent};
use stormeter_wire::{Memory, Outbox};

use super::action::Action;
use super::machine::Session;
use super::operations::Ending;
use super::tasks::Owner;
use crate::pdu::{ScsiCommand, flags, put_header};
use crate::scsi::{Sense, cdb};

impl Session {
    /// Accepts a flush of a disk that there is.
    #[cold]
    pub(super) fn submit_flush(
        &mut self,
        operation: &Operation,
        begin_bytes: u64,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        debug_assert_eq!(operation.kind, Kind::Flush);
        let ending = Ending::Flush(self.cache.begin_flush(operation.disk));
        let index = self.operations.add(*operation, begin_bytes, ending, now_ns);
        self.note_blocked(now_ns);
        self.waiting.push_back(index);
        self.pump(now_ns, memory, out);
    }

    /// Sends a task whose header is not one of the two templates.
    #[cold]
    pub(super) fn send_otherwise(
        &mut self,
        index: u32,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        let Some(task) = self.tasks.get_mut(index) else { return };
        let Owner::Operation(operation) = task.owner else { return };
        if task.action.is_flush() {
            return self.send_flush(index, operation, now_ns, out);
        }
        if task.action == Action::ForcedWrite {
            // The unit has no FUA.
            task.action = Action::Write;
            if self.cache.is_volatile() {
                let losses = self.cache.losses();
                self.operations.owe_flush(operation, losses);
            }
            self.send_task(index, now_ns, memory, out);
        }
    }

    fn send_flush(&mut self, index: u32, operation: u32, now_ns: u64, out: &mut Outbox) {
        let Some(pending) = self.operations.get(operation) else { return };
        let cdb = match self.flush_range(index, pending.operation.disk) {
            Some((lba, blocks)) => cdb::synchronize_cache_range(lba, blocks),
            None => cdb::synchronize_cache(),
        };
        let bhs = ScsiCommand {
            flags: flags::FINAL | flags::SIMPLE,
            lun: self.options.lun.0,
            task_tag: self.tasks.sent_without_timer(index),
            cmd_sn: self.sequence.take(),
            exp_stat_sn: self.sequence.exp_stat_sn,
            cdb,
            ..ScsiCommand::default()
        };
        put_header(out, &bhs.encode(), self.negotiated.digests);
        self.flushing.push((now_ns, index));
    }

    /// The blocks that a task flushes; `None` for the whole unit.
    fn flush_range(&self, index: u32, disk: u32) -> Option<(u64, u32)> {
        let task = self.tasks.get(index)?;
        (task.action == Action::FlushDisk).then(|| self.geometry.disk_blocks(disk))?
    }

    /// A refused task is sent again in another form; `false` if there is none.
    pub(super) fn lesser_form(&mut self, index: u32, sense: Sense, now_ns: u64) -> bool {
        let Some(task) = self.tasks.get(index) else { return false };
        let Owner::Operation(operation) = task.owner else { return false };
        match task.action {
            Action::ForcedWrite if sense.is_invalid_field() => {
                self.incidents.note(StorageEvent::ForcedAccessRefused);
                self.cache.stop_forcing();
            }
            Action::FlushDisk if sense.is_refusal() => {
                let disk = self.operations.get(operation).map_or(0, |one| one.operation.disk);
                let Some((lba, blocks)) = self.flush_range(index, disk) else { return false };
                // The whole unit is asked for with another command than a distant range.
                let is_long =
                    cdb::synchronize_cache_range(lba, blocks)[0] != cdb::synchronize_cache()[0];
                if sense.is_unknown_command() && !is_long {
                    return false;
                }
                if let Some(task) = self.tasks.get_mut(index) {
                    task.action = Action::FlushUnit;
                }
            }
            _ => return false,
        }
        self.tasks.renew(index);
        self.note_blocked(now_ns);
        self.retries.push_back(index);
        true
    }

    /// The error of a task that failed for a reason that the unit gave.
    pub(super) fn errno_of(&self, index: u32, sense: Sense) -> DeviceError {
        let is_flush = self.tasks.get(index).is_some_and(|task| task.action.is_flush());
        if is_flush && sense.is_refusal() { DeviceError::NOT_SUPPORTED } else { sense.errno() }
    }

    /// All tasks of an operation are done for which caches matter.
    #[cold]
    pub(super) fn settle(&mut self, index: u32, operation: u32, done: &mut Vec<Completion>) {
        self.flush_answered(index);
        let Some(task) = self.tasks.get(index) else { return };
        let is_whole = task.action == Action::FlushUnit;
        let Some(pending) = self.operations.get_mut(operation) else { return };
        let disk = pending.operation.disk;
        let is_safe = match pending.ending {
            Ending::Flush(mark) => {
                let covers_all = is_whole || self.geometry.is_flushed_whole(disk);
                self.cache.end_flush(disk, mark, covers_all)
            }
            Ending::Written { losses } => {
                pending.ending = Ending::Flushing { losses };
                return self.wait_again(operation);
            }
            Ending::Flushing { losses } if losses == self.cache.losses() => true,
            Ending::Flushing { .. } => {
                let age_ns = self.heard_ns.saturating_sub(pending.since_ns);
                if age_ns < self.options.timeouts.operation_ns {
                    pending.rewind();
                    return self.wait_again(operation);
                }
                false
            }
            Ending::Plain | Ending::Failed(_) => return,
        };
        done.extend(self.operations.end(operation, (!is_safe).then_some(DeviceError::IO)));
    }

    /// The operation waits for more of it to be sent, which happens once what has arrived is dealt
    /// with.
    fn wait_again(&mut self, operation: u32) {
        self.note_blocked(self.heard_ns);
        self.waiting.push_back(operation);
    }

    /// A flush is no longer at the target.
    pub(super) fn flush_answered(&mut self, index: u32) {
        self.flushing.retain(|one| one.1 != index);
    }

    /// The unit reports a power on or reset.
    #[cold]
    pub(super) fn unit_was_reset(&mut self, is_welcome: bool) {
        // See `UnitCache` for why others decide about a greeting.
        let blackouts = self.cache.blackouts();
        if is_welcome && std::mem::replace(&mut self.blackouts, blackouts) == blackouts {
            return;
        }
        if self.cache.reset() {
            self.incidents.note(StorageEvent::CacheMayBeLost);
        }
    }
}
