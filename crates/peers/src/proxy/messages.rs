//! Faults on whole messages, in one direction of a connection.

use std::collections::VecDeque;

use super::digests::Digests;
use super::fault::{Direction, Fault};
use super::framing::{Assembler, Framing};
use super::link::{Link, lock};
use super::shared::Shared;
use super::{iscsi, rpc};

/// The messages of one direction.
#[derive(Debug)]
pub(crate) struct Messages {
    framing: Framing,
    direction: Direction,
    assembler: Assembler,
    /// A reply that is held back so that the next one overtakes it.
    held: Option<Vec<u8>>,
    ready: VecDeque<Vec<u8>>,
    /// The value at which MaxCmdSN is frozen.
    frozen: Option<u32>,
}

impl Messages {
    pub(crate) fn new(framing: Framing, direction: Direction) -> Self {
        Self {
            framing,
            direction,
            assembler: Assembler::new(framing),
            held: None,
            ready: VecDeque::new(),
            frozen: None,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.assembler.feed(bytes);
    }

    /// Whether a reply is held back.
    pub(crate) fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the held reply, when no other arrives.
    pub(crate) fn let_go(&mut self) -> Option<Vec<u8>> {
        self.held.take()
    }

    /// What is left at the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = self.held.take().unwrap_or_default();
        rest.extend(self.assembler.rest());
        rest
    }

    /// The next message to pass on.
    pub(crate) fn next(&mut self, link: &Link, shared: &Shared) -> Option<Vec<u8>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let digests = lock(&link.talk).digests;
            let message = self.assembler.next(digests)?;
            self.bend(message, digests, link, shared);
        }
    }

    /// Applies planned faults to a message, and queues the result.
    fn bend(&mut self, message: Vec<u8>, digests: Digests, link: &Link, shared: &Shared) {
        if self.direction == Direction::ToServer {
            lock(&link.talk).calls.note(&message);
            self.ready.push_back(message);
            return;
        }
        let bent = match self.framing {
            Framing::None => message,
            Framing::Rpc => bend_record(message, link, shared),
            Framing::Iscsi => {
                let mut talk = lock(&link.talk);
                if let Some(settled) = talk.login.read(&message) {
                    talk.digests = settled;
                }
                drop(talk);
                let bent = self.bend_pdu(message, digests, shared);
                self.freeze(bent, digests, shared)
            }
        };
        if !self.is_reply(&bent) {
            self.ready.push_back(bent);
            return;
        }
        if let Some(held) = self.held.take() {
            // The fault counts when it happens, not when the first reply is held.
            if shared.take(|fault| fault == Fault::SwapReplies).is_some() {
                self.ready.extend([bent, held]);
            } else {
                self.ready.extend([held, bent]);
            }
        } else if shared.take(|fault| fault == Fault::DuplicateReply).is_some() {
            self.ready.extend([bent.clone(), bent]);
        } else if shared.is_planned(Fault::SwapReplies) {
            self.held = Some(bent);
        } else {
            self.ready.push_back(bent);
        }
    }

    fn is_reply(&self, message: &[u8]) -> bool {
        match self.framing {
            Framing::None => false,
            Framing::Rpc => rpc::is_reply(message),
            Framing::Iscsi => iscsi::is_reply(message),
        }
    }

    fn bend_pdu(&self, mut pdu: Vec<u8>, digests: Digests, shared: &Shared) -> Vec<u8> {
        let fits = |fault| match fault {
            Fault::ChangeReplyId | Fault::ImpossibleLength => iscsi::is_reply(&pdu),
            Fault::ScsiStatus { .. } | Fault::StatSn { .. } => iscsi::has_status(&pdu),
            Fault::R2t { .. } => iscsi::is_r2t(&pdu),
            Fault::CorruptData { min_bytes } => iscsi::brings(&pdu, min_bytes.max(1)),
            _ => false,
        };
        match shared.take(fits) {
            Some(Fault::ChangeReplyId) => {
                iscsi::change_tag(&mut pdu, digests, difference(shared));
            }
            Some(Fault::ImpossibleLength) => iscsi::claim_too_much(&mut pdu, digests),
            Some(Fault::ScsiStatus { status }) => {
                return iscsi::with_status(&pdu, digests, status).unwrap_or(pdu);
            }
            Some(Fault::StatSn { add }) => iscsi::raise_stat_sn(&mut pdu, digests, add),
            Some(Fault::R2t { offset_bytes, length_bytes }) => {
                iscsi::change_r2t(&mut pdu, digests, offset_bytes, length_bytes);
            }
            Some(Fault::CorruptData { .. }) => iscsi::corrupt(&mut pdu, digests, shared.random()),
            _ => {}
        }
        pdu
    }

    fn freeze(&mut self, mut pdu: Vec<u8>, digests: Digests, shared: &Shared) -> Vec<u8> {
        let Some(now) = iscsi::max_cmd_sn(&pdu) else { return pdu };
        if !shared.is_planned(Fault::FreezeMaxCmdSn) {
            self.frozen = None;
            return pdu;
        }
        let frozen = *self.frozen.get_or_insert(now);
        if frozen != now && shared.take(|fault| fault == Fault::FreezeMaxCmdSn).is_some() {
            iscsi::set_max_cmd_sn(&mut pdu, digests, frozen);
        }
        pdu
    }
}

fn bend_record(mut record: Vec<u8>, link: &Link, shared: &Shared) -> Vec<u8> {
    if !rpc::is_reply(&record) {
        return record;
    }
    let called = lock(&link.talk).calls.take(&record);
    let fits = |fault| match fault {
        Fault::ChangeReplyId | Fault::ImpossibleLength => true,
        Fault::NfsStatus { procedure, .. } => {
            called == Some(procedure) && rpc::failed(&record, procedure, 0).is_some()
        }
        _ => false,
    };
    match shared.take(fits) {
        Some(Fault::ChangeReplyId) => rpc::change_xid(&mut record, difference(shared)),
        Some(Fault::ImpossibleLength) => rpc::claim_too_much(&mut record),
        Some(Fault::NfsStatus { procedure, status }) => {
            return rpc::failed(&record, procedure, status).unwrap_or(record);
        }
        _ => {}
    }
    record
}

/// A random difference that changes a number.
fn difference(shared: &Shared) -> u32 {
    u32::try_from(shared.random() >> 32).unwrap_or_default().max(1)
}
