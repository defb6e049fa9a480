//! Sending: commands as the target's window allows, data as the negotiated lengths allow.

use stormeter_wire::{Memory, Outbox, Span};

use super::action::Action;
use super::closing_stage::Closing;
use super::error::Error;
use super::machine::Session;
use super::tasks::{Owner, Task};
use crate::pdu::{BHS_BYTES, Bhs, Data, DataOut, NO_TAG, R2t, ScsiCommand, flags, put, put_header};
use crate::scsi::cdb;

/// The source of a task's data.
#[derive(Debug, Clone, Copy)]
enum Source {
    Span(Span),
    Control(u32),
}

/// A run of Data-Out PDUs.
struct Burst {
    lun: u64,
    transfer_tag: u32,
    begin: u32,
    end: u32,
}

impl Session {
    /// Sends what waits, in this order: retries, commands, operations.
    pub(super) fn send_waiting(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox) {
        if !self.is_full() || self.logout.is_some() {
            return;
        }
        while self.sequence.is_open() && self.fault.is_none() {
            let Some(task) = self.next_task() else { break };
            self.send_task(task, now_ns, memory, out);
            self.blocked_ns = now_ns;
        }
    }

    /// Sends an operation that need not wait and fits into one task, bypassing the queues; `false`
    /// if it has to be queued.
    #[inline]
    pub(super) fn send_at_once(
        &mut self,
        index: u32,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) -> bool {
        let is_free = self.is_full()
            && self.closing == Closing::No
            && self.logout.is_none()
            && self.fault.is_none()
            && !self.is_waiting()
            && self.sequence.is_open()
            && self.tasks.has_room();
        let most = self.geometry.most_bytes;
        let Some(pending) = self.operations.get_mut(index) else { return false };
        let length = pending.operation.length_bytes;
        if !is_free || length > most {
            return false;
        }
        (pending.next, pending.tasks) = (length, 1);
        let action = Action::of(pending.operation.kind);
        let task = self.tasks.allocate(Owner::Operation(index), action, 0, length);
        self.send_task(task, now_ns, memory, out);
        self.blocked_ns = now_ns;
        true
    }

    fn next_task(&mut self) -> Option<u32> {
        if let Some(task) = self.retries.pop_front() {
            return Some(task);
        }
        if !self.tasks.has_room() {
            return None;
        }
        if let Some(index) = self.controls.next() {
            let control = self.controls.get(index)?;
            let out = control.command.data_out.len() as u32;
            let (action, length) = match out {
                0 => (Action::Read, control.command.data_in_max),
                _ => (Action::Write, out),
            };
            return Some(self.tasks.allocate(Owner::Control(index), action, 0, length));
        }
        let index = *self.waiting.front()?;
        let most = self.geometry.most_bytes;
        let pending = self.operations.get_mut(index)?;
        let offset = pending.next;
        let rest = pending.operation.length_bytes.saturating_sub(offset);
        let length = rest.min(most);
        pending.next = offset + length;
        pending.tasks += 1;
        if length == rest {
            self.waiting.pop_front();
        }
        // What has nothing left to move is a flush, or a durable write that awaits its flush.
        let action = if rest == 0 { Action::FlushDisk } else { Action::of(pending.operation.kind) };
        Some(self.tasks.allocate(Owner::Operation(index), action, offset, length))
    }

    /// Sends a task's command, with the data that may accompany it.
    #[inline]
    pub(super) fn send_task(
        &mut self,
        index: u32,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        let Some(task) = self.tasks.get(index) else { return };
        let (action, length) = (task.action, task.length);
        let mut bhs = Bhs([0; BHS_BYTES]);
        if !self.template(task, &mut bhs) {
            return self.send_otherwise(index, now_ns, memory, out);
        }
        let rules = &self.negotiated;
        let write = action.is_write();
        let burst = length.min(rules.first_burst_bytes);
        let immediate =
            if write && rules.immediate_data { burst.min(rules.max_send_bytes) } else { 0 };
        let unsolicited = if write && !rules.initial_r2t { burst } else { immediate };
        if unsolicited == immediate {
            bhs.0[1] |= flags::FINAL;
        }
        let tag = self.tasks.sent(index, unsolicited, now_ns);
        bhs.0[16..20].copy_from_slice(&tag.to_be_bytes());
        bhs.0[20..24].copy_from_slice(&length.to_be_bytes());
        bhs.0[24..28].copy_from_slice(&self.sequence.take().to_be_bytes());
        bhs.0[28..32].copy_from_slice(&self.sequence.exp_stat_sn.to_be_bytes());
        // The command of a read consists of a header only.
        if unsolicited == 0 {
            put_header(out, &bhs, rules.digests);
        } else {
            self.send_unasked(index, &mut bhs, immediate, unsolicited, memory, out);
        }
    }

    /// Sends a write's command with its unsolicited data: within the command's own PDU, and after
    /// it.
    fn send_unasked(
        &mut self,
        index: u32,
        bhs: &mut Bhs,
        immediate: u32,
        unsolicited: u32,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        let Some(source) = self.source(index) else { return };
        self.put(bhs, source, 0, immediate, memory, out);
        if unsolicited > immediate {
            let lun = u64::from_be_bytes([
                bhs.0[8], bhs.0[9], bhs.0[10], bhs.0[11], bhs.0[12], bhs.0[13], bhs.0[14],
                bhs.0[15],
            ]);
            let burst = Burst { lun, transfer_tag: NO_TAG, begin: immediate, end: unsolicited };
            self.send_burst(index, source, burst, memory, out);
        }
    }

    /// Writes the header of a task's command without its numbers; `false` if the task is not a
    /// command, or neither reads nor writes.
    #[inline(always)] // On the path of every request.
    fn template(&self, task: &Task, bhs: &mut Bhs) -> bool {
        match task.owner {
            Owner::Operation(operation) => {
                let Some(pending) = self.operations.get(operation) else { return false };
                let begin_bytes = pending.begin_bytes + u64::from(task.offset);
                let (lba, blocks) = self.geometry.blocks(begin_bytes, task.length);
                *bhs = self.templates.of(task.action);
                let cdb = match task.action {
                    Action::Read => cdb::read(lba, blocks),
                    Action::Write => cdb::write(lba, blocks),
                    Action::ForcedWrite if self.cache.forces() => cdb::forced_write(lba, blocks),
                    Action::ForcedWrite | Action::FlushDisk | Action::FlushUnit => return false,
                };
                bhs.0[32..48].copy_from_slice(&cdb);
            }
            Owner::Control(control) => {
                let Some(control) = self.controls.get(control) else { return false };
                let direction = match (task.action, task.length) {
                    (_, 0) => 0,
                    (Action::Read, _) => flags::READ,
                    _ => flags::WRITE,
                };
                *bhs = ScsiCommand {
                    flags: direction | flags::SIMPLE,
                    lun: self.options.lun.0,
                    cdb: control.command.cdb,
                    ..ScsiCommand::default()
                }
                .encode();
            }
            Owner::Ping | Owner::Logout => return false,
        }
        true
    }

    /// The location of a task's data.
    #[inline]
    fn source(&self, index: u32) -> Option<Source> {
        let task = self.tasks.get(index)?;
        match task.owner {
            Owner::Operation(operation) => {
                let buffer = self.operations.get(operation)?.operation.buffer;
                let (offset, length) = (task.offset, task.length);
                Some(Source::Span(Span { buffer, offset, length }))
            }
            Owner::Control(control) => Some(Source::Control(control)),
            Owner::Ping | Owner::Logout => None,
        }
    }

    /// Appends a PDU with a part of a task's data.
    #[inline]
    fn put(
        &mut self,
        bhs: &mut Bhs,
        source: Source,
        from: u32,
        length: u32,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        let digests = self.negotiated.digests;
        let data = match source {
            Source::Span(span) => {
                let part = span.part(from, length);
                // Only a digest has to read the bytes.
                let looked_at = digests.data && part.length > 0;
                match if looked_at { memory.bytes(part) } else { Some(&[][..]) } {
                    Some(bytes) => Data::Span(part, bytes),
                    None => {
                        self.fault = Some(Error::Memory { buffer: span.buffer });
                        return;
                    }
                }
            }
            Source::Control(control) => {
                let (from, length) = (from as usize, length as usize);
                let data = self.controls.get(control).map(|control| &control.command.data_out);
                Data::Bytes(data.and_then(|data| data.get(from..from + length)).unwrap_or_default())
            }
        };
        put(out, bhs, data, digests);
    }

    /// Sends data in pieces as large as the target accepts.
    fn send_burst(
        &mut self,
        index: u32,
        source: Source,
        burst: Burst,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        let most = self.negotiated.max_send_bytes.max(1);
        let (mut at, mut data_sn) = (burst.begin, 0);
        while at < burst.end && self.fault.is_none() {
            let length = (burst.end - at).min(most);
            let last = at + length == burst.end;
            let mut bhs = DataOut {
                flags: if last { flags::FINAL } else { 0 },
                lun: burst.lun,
                task_tag: self.tasks.tag(index),
                transfer_tag: burst.transfer_tag,
                exp_stat_sn: self.sequence.exp_stat_sn,
                data_sn,
                buffer_offset: at,
                data_bytes: length,
            }
            .encode();
            self.put(&mut bhs, source, at, length, memory, out);
            at += length;
            data_sn += 1;
        }
    }

    /// Sends what the target requests.
    ///
    /// # Errors
    /// A request for data that the command does not have, out of order, or for more bytes in total
    /// than the command has: at ErrorRecoveryLevel 0 nothing is requested twice, and without that
    /// bound a target could make us send forever.
    pub(super) fn ready_to_transfer(
        &mut self,
        index: u32,
        r2t: &R2t,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) -> Result<(), Error> {
        let refuse = |problem| Err(Error::Protocol { found: "R2T", problem });
        let Some(task) = self.tasks.get_mut(index) else { return Ok(()) };
        if !task.action.is_write() || !matches!(task.owner, Owner::Operation(_) | Owner::Control(_))
        {
            return refuse("asks for the data of a command that has none");
        }
        if r2t.r2t_sn != task.r2t_sn {
            return refuse("is out of turn");
        }
        if r2t.transfer_tag == NO_TAG {
            return refuse("has no tag");
        }
        let (begin, desired) = (r2t.buffer_offset, r2t.desired_bytes);
        if desired == 0 || desired > self.negotiated.max_burst_bytes {
            return refuse("asks for nothing, or for more than MaxBurstLength");
        }
        let Some(end) = begin.checked_add(desired).filter(|end| *end <= task.length) else {
            return refuse("asks for more than the command has");
        };
        if desired > task.length - task.sent {
            return refuse("asks for the same bytes twice");
        }
        task.sent += desired;
        task.r2t_sn += 1;
        self.tasks.touch(index, now_ns);
        let Some(source) = self.source(index) else { return Ok(()) };
        let burst = Burst { lun: r2t.lun, transfer_tag: r2t.transfer_tag, begin, end };
        self.send_burst(index, source, burst, memory, out);
        Ok(())
    }
}
