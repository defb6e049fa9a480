//! Incoming data of reads: each PDU is validated by its header, before its first byte is stored
//! anywhere.

use stormeter_disk::{Completion, StalePart, StorageEvent};
use stormeter_wire::Span;

use super::action::Action;
use super::error::Error;
use super::inbound::Sink;
use super::machine::Session;
use super::tasks::{Found, Owner};
use crate::pdu::{DataIn, flags};
use crate::scsi::Status;

const FOUND: &str = "Data-In";

impl Session {
    /// Validates the header and determines where the data goes.
    ///
    /// # Errors
    /// Data that was not requested, is out of order, was sent twice, or exceeds the request.
    #[inline]
    pub(super) fn begin_data_in(&mut self) -> Result<(), Error> {
        let refuse = |problem| Err(Error::Protocol { found: FOUND, problem });
        let data = DataIn::decode(&self.inbound.bhs);
        self.sequence.update(data.exp_cmd_sn, data.max_cmd_sn);
        if data.flags & flags::STATUS != 0 {
            self.inbound.fresh = self.sequence.status(data.stat_sn)?;
        }
        let index = match self.tasks.find(data.task_tag) {
            Found::Task(index) if self.inbound.fresh => index,
            Found::Task(_) | Found::Late => {
                self.incidents.note(StorageEvent::Stale { part: StalePart::Data });
                self.inbound.deliver_to(Sink::Discard);
                return Ok(());
            }
            Found::Never => return refuse("carries a tag that was never given"),
        };
        let Some(task) = self.tasks.get_mut(index) else { return Ok(()) };
        if task.action != Action::Read {
            return refuse("answers a command that reads nothing");
        }
        if data.data_sn != task.data_sn {
            return refuse("is out of turn (DataSN)");
        }
        task.data_sn = task.data_sn.wrapping_add(1);
        let (offset, length) = (data.buffer_offset, data.data_bytes);
        if offset.checked_add(length).is_none_or(|end| end > task.length) {
            return refuse("reaches beyond what was asked for");
        }
        if !task.coverage.add(offset, length) {
            return refuse("carries bytes that came before");
        }
        let sink = match task.owner {
            Owner::Operation(operation) => {
                let buffer = self.operations.get(operation).map_or(0, |one| one.operation.buffer);
                Sink::Span(Span { buffer, offset: task.offset + offset, length })
            }
            Owner::Control(control) => Sink::Control(control, offset),
            Owner::Ping | Owner::Logout => {
                return refuse("answers something other than a SCSI command");
            }
        };
        self.inbound.task = Some(index);
        self.inbound.deliver_to(sink);
        Ok(())
    }

    /// The data is in place; concludes the command if the status came with it.
    #[inline]
    pub(super) fn finish_data_in(
        &mut self,
        now_ns: u64,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        let Some(index) = self.inbound.task.take() else { return Ok(()) };
        let data = DataIn::decode(&self.inbound.bhs);
        if data.flags & flags::STATUS == 0 {
            self.tasks.touch(index, now_ns);
            return Ok(());
        }
        let (status, residual) = (Status::of(data.status), (data.flags, data.residual_bytes));
        self.conclude(index, status, residual, None, now_ns, done)
    }
}
