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
//! it back before it is read. A flush asks, too.

mod answers;
mod awaited;
mod expected;
mod flush;
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
use awaited::{Committing, Flush};
use expected::Inbound;
use incidents::SessionIncidents;
use log::{Log, Verdict};
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
///
/// # Durable writes and flushes
///
/// A [`Kind::DurableWrite`] is a WRITE with FILE_SYNC (RFC 1813, section 3.3.7), whatever
/// [`SessionOptions::stability`] says of ordinary ones. If the server answers with less, it fails with `EIO`, and
/// the incident says so ([`StorageEvent::LessStable`]).
///
/// A [`Kind::Flush`] covers the writes to its disk that completed on this session before it was submitted. If the
/// server has answered all of them as stable, as it must with FILE_SYNC and DATA_SYNC, there is nothing to commit:
/// it completes without a call. Otherwise it is a COMMIT of the whole file (section 3.3.21), and completes once all
/// that it covers is known to be stable:
/// - A COMMIT that is under way, and was sent after the last of those writes completed, serves further flushes too.
/// - The server commits what it has executed by then, so writes that are outstanding meanwhile may be on stable
///   storage, too. They do not count: they need a later flush.
/// - Where the verifier shows that the server restarted in between, the data is written again first, with FILE_SYNC
///   ([`StorageEvent::ServerRestarted`]).
/// - When the connection breaks, the COMMIT is sent again on the next one, before anything else.
/// - If the server refuses the COMMIT, the flush fails with its error. Nothing of what it covered counts as stable,
///   even if a later COMMIT succeeds: it is written again first.
/// - Once unstable data had to be given up ([`Session::surrender`]), flushes of its disk fail with `EIO`.
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
    /// Operations that end without a call, and how: those that cannot be executed, flushes with nothing to commit.
    ended: Vec<(Operation, Completion)>,

    inbound: Inbound,
    assembler: Assembler,
    /// When the payload in progress last grew.
    heard_ns: u64,
    unknown_replies: u32,

    log: Log,
    /// COMMITs outstanding.
    committing: Vec<Committing>,
    /// Flushes that wait for the log.
    flushes: Vec<Flush>,
    /// Files whose unstable data was given up: no flush of them can tell the truth any more.
    forgotten: Vec<u32>,
    /// The worst that COMMITs showed since data was last written again.
    verdict: Verdict,
    /// Whether every write that was asked for as unstable was answered as stable; `None` before the first answer.
    commits_at_once: Option<bool>,
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
            ended: Vec::new(),
            inbound: Inbound::Head,
            assembler: Assembler::new(read_max_bytes + MAX_REPLY_HEAD_BYTES),
            heard_ns: 0,
            unknown_replies: 0,
            log: Log::new(options.log_bytes.max(2 * write_max_bytes as usize)),
            committing: Vec::new(),
            flushes: Vec::new(),
            forgotten: Vec::new(),
            verdict: Verdict::Kept,
            commits_at_once: None,
            rewriting: Vec::new(),
            next_rewrite: 0,
            incidents: SessionIncidents::default(),
        }
    }

    /// Bytes of completed writes that the server has not confirmed as stable.
    #[must_use]
    pub fn uncommitted_bytes(&self) -> usize {
        self.log.logged_bytes()
    }

    /// Whether the server has answered every write that was asked for as unstable as a stable one; `None` before it
    /// answered the first.
    #[must_use]
    pub fn commits_at_once(&self) -> Option<bool> {
        self.commits_at_once
    }

    /// The stability that is asked for.
    #[inline]
    fn asked(&self, kind: Kind) -> Stability {
        match kind {
            Kind::DurableWrite => Stability::FileSync,
            Kind::Read | Kind::Write | Kind::Flush => self.stability,
        }
    }

    fn is_logging(&self) -> bool {
        self.stability != Stability::FileSync
    }

    fn deliver_ended(&mut self, done: &mut Vec<Completion>) {
        done.extend(self.ended.drain(..).map(|(_, completion)| completion));
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
        self.verdict = Verdict::Kept;
        let broken = self.table.break_off();
        if broken > 0 {
            self.incidents.note(StorageEvent::Resent { requests: broken as u64 });
        }
    }

    #[inline]
    fn submit(&mut self, operation: &Operation, now_ns: u64, _: &impl Memory, out: &mut Outbox) {
        if let Err(error) = self.check(operation) {
            self.ended.push((*operation, Completion::failed(operation.slot, error)));
            return;
        }
        let most = match operation.kind {
            Kind::Read => self.read_max_bytes,
            Kind::Write | Kind::DurableWrite => self.write_max_bytes,
            Kind::Flush => return self.submit_flush(operation, now_ns, out),
        };
        let pieces = operation.length_bytes.div_ceil(most).max(1);
        let transfer = self.transfers.begin(operation, pieces);
        let mut from = 0;
        for _ in 0..pieces {
            let length = most.min(operation.length_bytes - from);
            let work = if operation.kind == Kind::Read {
                Work::Read { transfer, from, length }
            } else {
                Work::Write { transfer, from, length }
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
        self.deliver_ended(done);
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
        if !self.ended.is_empty() {
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
        self.deliver_ended(done);
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
        self.transfers.count() + self.ended.len() as u32
    }

    fn unconfirmed_bytes(&self) -> u64 {
        self.log.logged_bytes() as u64
    }

    fn surrender(&mut self, operations: &mut Vec<Operation>) {
        if !self.log.is_empty() {
            let bytes = self.log.logged_bytes() as u64;
            self.incidents.note(StorageEvent::Unconfirmed { bytes });
        }
        self.forgotten.extend(self.log.dirty_files(u64::MAX));
        self.forgotten.sort_unstable();
        self.forgotten.dedup();
        self.log.clear();
        self.flushes.clear();
        self.table.clear();
        self.waits.clear();
        self.held_reads.clear();
        self.held_writes.clear();
        self.committing.clear();
        self.rewriting.clear();
        self.transfers.surrender(operations);
        operations.extend(self.ended.drain(..).map(|(operation, _)| operation));
    }

    fn close(&mut self, now_ns: u64, _: &impl Memory, out: &mut Outbox) {
        self.closing = true;
        self.settle(now_ns, out);
    }

    fn incidents(&mut self) -> Vec<Incident> {
        self.incidents.take()
    }
}
