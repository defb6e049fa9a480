//! Dispatches incoming PDUs.

use stormeter_disk::{Completion, DeviceError, Said, StalePart, StorageEvent};
use stormeter_wire::{Memory, Outbox};

use super::closing_stage::Closing;
use super::error::{CommandError, Error};
use super::inbound::Sink;
use super::machine::{Phase, Session};
use super::sequence::Sequence;
use super::tasks::{Found, Owner};
use crate::bytes::{be16, byte};
use crate::login::FIRST_CMD_SN;
use crate::pdu::{
    AsyncMessage, Data, DataIn, LoginResponse, LogoutResponse, NO_TAG, NopIn, NopOut, R2t, Reject,
    ScsiResponse, async_event, flags, logout_response, opcode_name, put, reject_reason,
};
use crate::scsi::{Sense, Status};

impl Session {
    /// A header has arrived: determines where its data goes.
    #[inline]
    pub(super) fn begin_pdu(&mut self) -> Result<(), Error> {
        let opcode = self.inbound.bhs.opcode();
        match (&self.phase, opcode) {
            (Phase::Full, DataIn::OPCODE) => self.begin_data_in(),
            (
                Phase::Full,
                ScsiResponse::OPCODE
                | R2t::OPCODE
                | NopIn::OPCODE
                | AsyncMessage::OPCODE
                | Reject::OPCODE
                | LogoutResponse::OPCODE,
            )
            | (Phase::Login(_), LoginResponse::OPCODE | Reject::OPCODE) => {
                self.inbound.deliver_to(Sink::Scratch);
                Ok(())
            }
            _ => Err(Error::Unexpected { found: opcode_name(opcode), opcode }),
        }
    }

    /// A PDU is complete, with valid digests.
    #[inline]
    pub(super) fn finish_pdu(
        &mut self,
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        match self.inbound.bhs.opcode() {
            DataIn::OPCODE => self.finish_data_in(now_ns, done),
            ScsiResponse::OPCODE => self.scsi_response(now_ns, done),
            R2t::OPCODE => self.r2t(now_ns, memory, out),
            NopIn::OPCODE => self.nop_in(out),
            AsyncMessage::OPCODE => self.async_message(now_ns, out),
            LogoutResponse::OPCODE => self.logged_out(),
            LoginResponse::OPCODE => {
                self.login_response(now_ns, out)?;
                self.pump(now_ns, memory, out);
                Ok(())
            }
            _ => self.reject(),
        }
    }

    fn login_response(&mut self, now_ns: u64, out: &mut Outbox) -> Result<(), Error> {
        let Phase::Login(login) = &mut self.phase else { return Ok(()) };
        let response = LoginResponse::decode(&self.inbound.bhs);
        let (sent, random) = (&mut self.challenges, &mut self.options.random);
        let finished = login.answer(&response, &self.inbound.scratch, sent, random, out)?;
        if let Some(finished) = finished {
            self.sequence = Sequence::begin(
                FIRST_CMD_SN,
                finished.exp_stat_sn,
                finished.exp_cmd_sn,
                finished.max_cmd_sn,
            );
            self.negotiated = finished.negotiated;
            self.phase = Phase::Full;
            self.cache.session_up();
            (self.blocked_ns, self.pinged_ns) = (now_ns, now_ns);
        }
        Ok(())
    }

    #[inline]
    fn scsi_response(&mut self, now_ns: u64, done: &mut Vec<Completion>) -> Result<(), Error> {
        let response = ScsiResponse::decode(&self.inbound.bhs);
        self.sequence.update(response.exp_cmd_sn, response.max_cmd_sn);
        let fresh = self.sequence.status(response.stat_sn)?;
        let index = match self.tasks.find(response.task_tag) {
            Found::Task(index) if fresh => index,
            Found::Never => {
                let problem = "carries a tag that was never given";
                return Err(Error::Protocol { found: "a SCSI Response", problem });
            }
            Found::Task(_) | Found::Late => {
                self.incidents.note(StorageEvent::Stale { part: StalePart::Response });
                return Ok(());
            }
        };
        let owner = self.tasks.get(index).map(|task| task.owner);
        if matches!(owner, Some(Owner::Ping | Owner::Logout)) {
            let problem = "answers something other than a SCSI command";
            return Err(Error::Protocol { found: "a SCSI Response", problem });
        }
        if response.response != 0 {
            self.incidents.note(StorageEvent::TargetFailed { response: response.response });
            let error = CommandError::Target { response: response.response };
            self.fail(index, DeviceError::IO, error, done);
            return Ok(());
        }
        let sense = sense(&self.inbound.scratch);
        let residual = (response.flags, response.residual_bytes);
        self.conclude(index, Status::of(response.status), residual, sense, now_ns, done)
    }

    fn r2t(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox) -> Result<(), Error> {
        let r2t = R2t::decode(&self.inbound.bhs);
        self.sequence.update(r2t.exp_cmd_sn, r2t.max_cmd_sn);
        match self.tasks.find(r2t.task_tag) {
            Found::Task(index) => self.ready_to_transfer(index, &r2t, now_ns, memory, out),
            Found::Late => {
                self.incidents.note(StorageEvent::Stale { part: StalePart::DataRequest });
                Ok(())
            }
            Found::Never => {
                let problem = "carries a tag that was never given";
                Err(Error::Protocol { found: "R2T", problem })
            }
        }
    }

    fn nop_in(&mut self, out: &mut Outbox) -> Result<(), Error> {
        let nop = NopIn::decode(&self.inbound.bhs);
        self.sequence.update(nop.exp_cmd_sn, nop.max_cmd_sn);
        if nop.task_tag != NO_TAG {
            let fresh = self.sequence.status(nop.stat_sn)?;
            if let Found::Task(index) = self.tasks.find(nop.task_tag)
                && self.ping.is_some_and(|ping| ping.task == index)
                && fresh
            {
                self.ping = None;
                self.tasks.release(index);
            }
        }
        if nop.transfer_tag != NO_TAG {
            let mut bhs = NopOut {
                immediate: true,
                flags: flags::FINAL,
                lun: nop.lun,
                task_tag: NO_TAG,
                transfer_tag: nop.transfer_tag,
                cmd_sn: self.sequence.cmd_sn,
                exp_stat_sn: self.sequence.exp_stat_sn,
                data_bytes: 0,
            }
            .encode();
            let most = self.inbound.scratch.len().min(self.negotiated.max_send_bytes as usize);
            let data = self.inbound.scratch.get(..most).unwrap_or_default();
            put(out, &mut bhs, Data::Bytes(data), self.negotiated.digests);
        }
        Ok(())
    }

    fn async_message(&mut self, now_ns: u64, out: &mut Outbox) -> Result<(), Error> {
        let message = AsyncMessage::decode(&self.inbound.bhs);
        self.sequence.update(message.exp_cmd_sn, message.max_cmd_sn);
        if !self.sequence.status(message.stat_sn)? {
            return Ok(());
        }
        let event = async_event(message.event);
        let incident = |sense: Option<Said>| StorageEvent::TargetMessage {
            code: message.event,
            said: event.into(),
            sense,
        };
        match message.event {
            // Outstanding operations are sent again after the next login.
            1 => {
                self.incidents.note(incident(None));
                self.send_logout(now_ns, out);
            }
            2 | 3 => return Err(Error::Dropped { event }),
            0 => {
                let sense = sense(&self.inbound.scratch);
                self.incidents.note(incident(sense.map(|sense| sense.to_string().into())));
            }
            // Parameters need not be renegotiated: the current ones stay in force.
            _ => self.incidents.note(incident(None)),
        }
        Ok(())
    }

    fn logged_out(&mut self) -> Result<(), Error> {
        let response = LogoutResponse::decode(&self.inbound.bhs);
        self.sequence.update(response.exp_cmd_sn, response.max_cmd_sn);
        self.sequence.status(response.stat_sn)?;
        let ours = match self.tasks.find(response.task_tag) {
            Found::Task(index) => self.logout.is_some_and(|logout| logout.1 == index),
            _ => false,
        };
        if !ours {
            let problem = "answers a logout that was not asked for";
            return Err(Error::Protocol { found: "a Logout Response", problem });
        }
        if self.closing != Closing::Leaving {
            return Err(Error::LogoutRequested);
        }
        if response.response != 0 {
            return Err(Error::LogoutRefused { response: logout_response(response.response) });
        }
        self.closing = Closing::Done;
        Ok(())
    }

    fn reject(&mut self) -> Result<(), Error> {
        let reject = Reject::decode(&self.inbound.bhs);
        let code = reject.reason;
        let rejected = byte(&self.inbound.scratch, 0).map_or("PDU", opcode_name);
        Err(Error::Rejected { rejected, reason: reject_reason(code), code })
    }
}

/// The sense data after its length field (RFC 7143 §11.4.7.2).
fn sense(data: &[u8]) -> Option<Sense> {
    let length = usize::from(be16(data, 0)?);
    let data = data.get(2..)?;
    Sense::parse(data.get(..length.min(data.len()))?)
}
