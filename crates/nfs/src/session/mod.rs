//! The data path: any number of READs and WRITEs outstanding on one connection, answered in any
//! order.
//!
//! An operation becomes one request, or several if it is longer than the server accepts; a request
//! is identified by its transaction number, which is unique during the session's life. Requests
//! that were outstanding when a connection broke are sent again on the next one with the same
//! number, so that a server that remembers its replies can answer without executing them twice.
//!
//! With unstable writes the session keeps the data until the server confirms it. After every break
//! it asks (COMMIT) before anything else is sent, so that a server that lost data in a restart gets
//! it back before it is read.

mod answers;
mod expected;
mod inbound;
mod incidents;
mod log;
mod options;
mod sending;
mod stable;
mod table;
mod template;
mod transfer;
mod waits;

use std::collections::VecDeque;

use stormeter_disk::{Completion, DeviceError, Incident, Kind, Operation, StorageEvent};
use stormeter_wire::{Memory, Outbox, Session, SessionState, Span};

use crate::data::Stability;
use crate::error::NfsError;
use crate::record::Assembler;
use expected::Inbound;
use incidents::SessionIncidents;
use log::Log;
pub use options::SessionOptions;
use table::{Table, Work};
use template::Template;
use transfer::Transfers;
use waits::Waits;

/// ENODEV: an operation refers to a disk that the session does not have.
const NO_DEVICE: DeviceError = DeviceError(19);
/// EINVAL: an operation ends beyond the largest offset.
const INVALID: DeviceError = DeviceError(22);
/// The longest request: a record's mark has 31 bits for its length.
const MAX_REQUEST_BYTES: u32 = 1 << 30;
/// The most bytes of a READ reply besides its data.
const MAX_REPLY_HEAD_BYTES: u32 = 4096;
/// Receiving less than this directly is not worthwhile.
const DIRECT_BYTES: u32 = 16 << 10;

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No connection: nothing.
    Down,
    /// COMMITs, to find out what the server still has of the data it accepted.
    Verifying,
    /// The data that the server lost.
    Recovering,
    /// Operations.
    Normal,
}

/// One connection's data path to one server. See [`stormeter_wire::Session`] for how to use it.
#[derive(Debug)]
pub struct NfsSession {
    templates: Vec<Template>,
    read_max_bytes: u32,
    write_max_bytes: u32,
    stability: Stability,
    reply_ns: u64,
    wait_first_ns: u64,
    wait_most_ns: u64,
    waits_ns: u64,

    phase: Phase,
    closing: bool,
    transfers: Transfers,
    table: Table,
    waits: Waits,
    /// Parts that may not be sent yet. Writes also wait for space in the log.
    held_reads: VecDeque<Work>,
    held_writes: VecDeque<Work>,
    /// Operations that cannot be executed, and why.
    refused: Vec<(Operation, DeviceError)>,

    inbound: Inbound,
    assembler: Assembler,
    /// When the payload in progress last grew.
    heard_ns: u64,
    unknown_replies: u32,

    log: Log,
    /// Files with a COMMIT outstanding.
    committing: Vec<u32>,
    /// Commit up to this sequence number without waiting for more.
    flush_upto: u64,
    /// A COMMIT showed that data was lost.
    lost: bool,
    /// Log entries being written again.
    rewriting: Vec<u64>,
    next_rewrite: u64,

    incidents: SessionIncidents,
}

impl NfsSession {
    /// A session without connection.
    #[must_use]
    pub fn new(options: &SessionOptions) -> Self {
        let clamp = |bytes: u32| bytes.clamp(1, MAX_REQUEST_BYTES);
        let read_max_bytes = clamp(options.read_max_bytes);
        let write_max_bytes = clamp(options.write_max_bytes);
        let templates =
            options.files.iter().map(|file| Template::new(*file, &options.auth)).collect();
        Self {
            templates,
            read_max_bytes,
            write_max_bytes,
            stability: options.stability,
            reply_ns: options.reply_ns,
            wait_first_ns: options.wait_first_ns,
            wait_most_ns: options.wait_most_ns,
            waits_ns: options.waits_ns,
            phase: Phase::Down,
            closing: false,
            transfers: Transfers::default(),
            table: Table::new(options.first_xid),
            waits: Waits::default(),
            held_reads: VecDeque::new(),
            held_writes: VecDeque::new(),
            refused: Vec::new(),
            inbound: Inbound::Head,
            assembler: Assembler::new(read_max_bytes + MAX_REPLY_HEAD_BYTES),
            heard_ns: 0,
            unknown_replies: 0,
            log: Log::new(options.log_bytes.max(2 * write_max_bytes as usize)),
            committing: Vec::new(),
            flush_upto: 0,
            lost: false,
            rewriting: Vec::new(),
            next_rewrite: 0,
            incidents: SessionIncidents::default(),
        }
    }

    /// Makes completed but unstable writes stable by sending COMMITs.
    /// [`uncommitted_bytes`](Self::uncommitted_bytes) shows when they have been answered.
    pub fn flush(&mut self, now_ns: u64, out: &mut Outbox) {
        self.flush_upto = self.log.last_sequence();
        self.settle(now_ns, out);
    }

    /// Bytes of completed writes that the server has not confirmed as stable.
    #[must_use]
    pub fn uncommitted_bytes(&self) -> usize {
        self.log.logged_bytes()
    }

    fn is_logging(&self) -> bool {
        self.stability != Stability::FileSync
    }

    fn deliver_refused(&mut self, done: &mut Vec<Completion>) {
        done.extend(self.refused.drain(..).map(|(one, why)| Completion::failed(one.slot, why)));
    }

    /// Whether an operation can be executed, and if not, why not.
    #[inline]
    fn check(&self, operation: &Operation) -> Result<(), DeviceError> {
        if operation.disk as usize >= self.templates.len() {
            return Err(NO_DEVICE);
        }
        let end = operation.offset_bytes.checked_add(u64::from(operation.length_bytes));
        if end.is_none() || i32::try_from(operation.length_bytes).is_err() {
            return Err(INVALID);
        }
        Ok(())
    }
}

impl Session for NfsSession {
    type Error = NfsError;

    /// The longest header of a reply that may arrive in pieces, with a margin.
    const MAX_LEFT_BYTES: usize = 2048;

    fn state(&self) -> SessionState {
        if self.closing && self.outstanding() == 0 && self.log.is_empty() {
            return SessionState::Closed;
        }
        match self.phase {
            Phase::Down => SessionState::Disconnected,
            _ if self.closing => SessionState::Closing,
            Phase::Verifying | Phase::Recovering => SessionState::Opening,
            Phase::Normal => SessionState::Ready,
        }
    }

    fn connected(&mut self, now_ns: u64, _: &impl Memory, out: &mut Outbox) {
        if self.log.is_empty() {
            self.enter_normal(now_ns, out);
        } else {
            self.verify(now_ns, out);
        }
    }

    fn disconnected(&mut self, _: u64) {
        self.phase = Phase::Down;
        self.inbound = Inbound::Head;
        self.assembler.reset();
        self.unknown_replies = 0;
        self.waits.drop_internal();
        self.committing.clear();
        self.rewriting.clear();
        self.lost = false;
        let broken = self.table.break_off();
        if broken > 0 {
            self.incidents.note(StorageEvent::Resent { requests: broken as u64 });
        }
    }

    #[inline]
    fn submit(&mut self, operation: &Operation, now_ns: u64, _: &impl Memory, out: &mut Outbox) {
        if let Err(error) = self.check(operation) {
            self.refused.push((*operation, error));
            return;
        }
        let most = match operation.kind {
            Kind::Read => self.read_max_bytes,
            Kind::Write => self.write_max_bytes,
        };
        let pieces = operation.length_bytes.div_ceil(most).max(1);
        let transfer = self.transfers.begin(operation, pieces);
        let mut from = 0;
        for _ in 0..pieces {
            let length = most.min(operation.length_bytes - from);
            let work = match operation.kind {
                Kind::Read => Work::Read { transfer, from, length },
                Kind::Write => Work::Write { transfer, from, length },
            };
            self.begin(work, now_ns, out);
            from += length;
        }
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<usize, NfsError> {
        self.deliver_refused(done);
        let taken = self.take_in(bytes, now_ns, memory, out, done)?;
        if self.is_logging() {
            self.settle(now_ns, out);
        }
        Ok(taken)
    }

    #[inline]
    fn direct(&self) -> Option<Span> {
        match self.inbound {
            Inbound::Payload { span, .. } if span.length >= DIRECT_BYTES => Some(span),
            _ => None,
        }
    }

    fn received_directly(
        &mut self,
        length: u32,
        now_ns: u64,
        _: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        self.payload_arrived(length, now_ns, out, done)?;
        if self.is_logging() {
            self.settle(now_ns, out);
        }
        Ok(())
    }

    fn deadline_ns(&self) -> Option<u64> {
        if !self.refused.is_empty() {
            return Some(0);
        }
        let silent = self.silent_ns();
        let due = self.waits.due_ns(|work| self.may_go(work));
        match (silent, due) {
            (Some(silent), Some(due)) => Some(silent.min(due)),
            (one, other) => one.or(other),
        }
    }

    fn tick(
        &mut self,
        now_ns: u64,
        _: &impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), NfsError> {
        self.deliver_refused(done);
        if self.silent_ns().is_some_and(|silent| now_ns >= silent) {
            return Err(NfsError::Silent { waited_ns: self.reply_ns });
        }
        let phase = self.phase;
        while let Some(request) = self.waits.take_due(now_ns, |work| phase.lets_go(work)) {
            self.dispatch(request.work, request.waits, now_ns, out);
        }
        self.settle(now_ns, out);
        Ok(())
    }

    fn outstanding(&self) -> u32 {
        self.transfers.count() + self.refused.len() as u32
    }

    fn unconfirmed_bytes(&self) -> u64 {
        self.log.logged_bytes() as u64
    }

    fn surrender(&mut self, operations: &mut Vec<Operation>) {
        if !self.log.is_empty() {
            let bytes = self.log.logged_bytes() as u64;
            self.incidents.note(StorageEvent::Unconfirmed { bytes });
        }
        self.log.clear();
        self.table.clear();
        self.waits.clear();
        self.held_reads.clear();
        self.held_writes.clear();
        self.committing.clear();
        self.rewriting.clear();
        self.transfers.surrender(operations);
        operations.extend(self.refused.drain(..).map(|(operation, _)| operation));
    }

    fn close(&mut self, now_ns: u64, _: &impl Memory, out: &mut Outbox) {
        self.closing = true;
        self.settle(now_ns, out);
    }

    fn incidents(&mut self) -> Vec<Incident> {
        self.incidents.take()
    }
}
