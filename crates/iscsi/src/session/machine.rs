//! The session as the transport sees it: its entry points.

use std::collections::VecDeque;
use std::rc::Rc;

use stormeter_disk::{Completion, DeviceError, Incident, Incidents, Kind, Operation, StorageEvent};
use stormeter_wire::{Memory, Outbox, Session as WireSession, SessionState, Span};

use super::closing_stage::Closing;
use super::command::{Asker, Command, Controls};
use super::error::{CommandError, Error};
use super::geometry::Geometry;
use super::inbound::Inbound;
use super::operations::{Ending, Operations};
use super::options::Options;
use super::sequence::Sequence;
use super::tasks::Tasks;
use super::templates::Templates;
use crate::chap;
use crate::login::{self, Identity, Login, Negotiated, Purpose};
use crate::pdu::Digests;
use crate::unit_cache::UnitCache;

/// The least remaining payload for which receiving it directly pays: below, the extra system call
/// costs more than the copy that it saves.
const LEAST_DIRECT_BYTES: u32 = 16 << 10;

/// Different incidents listed until they are taken.
const MOST_INCIDENTS: usize = 32;
const EINVAL: DeviceError = DeviceError(22);
const ETIMEDOUT: DeviceError = DeviceError(110);

/// The state of a connection.
#[derive(Debug)]
pub(super) enum Phase {
    Disconnected,
    Login(Box<Login>),
    Full,
}

/// A NOP-Out that asks whether the target is alive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ping {
    pub(super) task: u32,
    pub(super) sent_ns: u64,
}

/// One session with a target, over one connection at a time.
#[derive(Debug)]
pub struct Session {
    pub(super) options: Options,
    pub(super) phase: Phase,
    pub(super) closing: Closing,
    pub(super) negotiated: Negotiated,
    pub(super) geometry: Geometry,
    pub(super) templates: Templates,
    pub(super) sequence: Sequence,
    pub(super) inbound: Inbound,
    pub(super) tasks: Tasks,
    pub(super) operations: Operations,
    pub(super) controls: Controls,
    /// Operations that are not, or not completely, split into tasks.
    pub(super) waiting: VecDeque<u32>,
    /// Tasks to be sent again as soon as the window allows.
    pub(super) retries: VecDeque<u32>,
    /// Tasks to be sent again at a given time.
    pub(super) delayed: Vec<(u64, u32)>,
    /// Completions that occurred where they could not be returned.
    pub(super) early: Vec<(Operation, Completion)>,
    /// An error that occurred where it could not be returned.
    pub(super) fault: Option<Error>,
    pub(super) cache: Rc<UnitCache>,
    /// When each flush at the target was sent, with its task.
    pub(super) flushing: Vec<(u64, u32)>,
    /// [`UnitCache::blackouts`] when this session last worked.
    pub(super) blackouts: u32,
    pub(super) incidents: Incidents,
    pub(super) challenges: chap::Sent,
    pub(super) connected_ns: u64,
    /// Whether a command of this connection has succeeded.
    pub(super) has_succeeded: bool,
    /// When bytes last arrived.
    pub(super) heard_ns: u64,
    /// Since when waiting operations could not be sent.
    pub(super) blocked_ns: u64,
    pub(super) ping: Option<Ping>,
    pub(super) pinged_ns: u64,
    /// When the logout was sent, with its task.
    pub(super) logout: Option<(u64, u32)>,
}

impl Session {
    /// A session that is not connected.
    pub fn new(mut options: Options) -> Self {
        let templates = Templates::new(options.lun);
        let extents = std::mem::take(&mut options.extents);
        let geometry = Geometry::new(
            extents,
            options.disk_bytes,
            options.block_bytes,
            options.max_transfer_bytes,
        );
        let cache = Rc::clone(&options.cache);
        Self {
            options,
            phase: Phase::Disconnected,
            closing: Closing::No,
            negotiated: Negotiated::default(),
            geometry,
            templates,
            sequence: Sequence::default(),
            inbound: Inbound::new(),
            tasks: Tasks::new(),
            operations: Operations::default(),
            controls: Controls::default(),
            waiting: VecDeque::new(),
            retries: VecDeque::new(),
            delayed: Vec::new(),
            early: Vec::new(),
            fault: None,
            cache,
            flushing: Vec::new(),
            blackouts: 0,
            incidents: Incidents::new(MOST_INCIDENTS),
            challenges: chap::Sent::default(),
            connected_ns: 0,
            has_succeeded: false,
            heard_ns: 0,
            blocked_ns: 0,
            ping: None,
            pinged_ns: 0,
            logout: None,
        }
    }

    /// The result of the last login.
    pub fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    /// Accepts a command, whose result will be returned once by
    /// [`control_result`](Self::control_result) under `tag`. Like an operation it waits for a
    /// connection and survives its loss.
    pub fn command(
        &mut self,
        command: Command,
        tag: u64,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        self.note_blocked(now_ns);
        self.controls.add(command, Asker::User(tag));
        self.pump(now_ns, memory, out);
    }

    /// The next result of a command, with its tag: the returned bytes, or why it failed.
    pub fn control_result(&mut self) -> Option<(u64, Result<Vec<u8>, CommandError>)> {
        self.controls.result()
    }

    pub(super) fn digests(&self) -> Digests {
        match self.phase {
            Phase::Full => self.negotiated.digests,
            _ => Digests::default(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        matches!(self.phase, Phase::Full)
    }

    /// Whether anything waits that the window may release.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.retries.is_empty() || self.controls.is_waiting()
    }

    /// Starts the waiting time, unless something is waiting already.
    pub(super) fn note_blocked(&mut self, now_ns: u64) {
        if !self.is_waiting() {
            self.blocked_ns = now_ns;
        }
    }

    /// Consumes one header or part of a body; returns the number of bytes, `None` if more are
    /// needed.
    fn step(&mut self, bytes: &[u8], memory: &mut impl Memory) -> Result<Option<usize>, Error> {
        if self.inbound.is_active() {
            let taken = self.inbound.body(bytes, memory, &mut self.controls)?;
            return Ok((taken > 0).then_some(taken));
        }
        let (digests, most) = match self.phase {
            Phase::Full => (self.negotiated.digests, self.negotiated.max_receive_bytes),
            _ => (Digests::default(), login::DEFAULT_SEGMENT_BYTES),
        };
        let taken = self.inbound.header(bytes, digests, most)?;
        if taken.is_some() {
            self.begin_pdu()?;
        }
        Ok(taken)
    }

    /// Fails what has been outstanding for too long. Otherwise a target that accepts each login and
    /// then makes no progress would hold it forever.
    fn expire(&mut self, now_ns: u64) {
        let patience_ns = self.options.timeouts.operation_ns;
        let Some(until_ns) = now_ns.checked_sub(patience_ns) else { return };
        let expired = self.operations.expire(until_ns);
        if expired.is_empty() {
            return;
        }
        let operations = expired.len() as u64;
        self.incidents.note(StorageEvent::TimedOut { operations, after_ns: patience_ns });
        let failed =
            |operation: Operation| (operation, Completion::failed(operation.slot, ETIMEDOUT));
        self.early.extend(expired.into_iter().map(failed));
    }

    /// Completes operations that move nothing, or are outside the unit.
    #[cold]
    fn refuse(&mut self, operation: &Operation) {
        let completion = match operation.length_bytes {
            0 if operation.kind != Kind::Flush => Completion::moved(operation.slot, 0),
            _ => Completion::failed(operation.slot, EINVAL),
        };
        self.early.push((*operation, completion));
    }

    fn report_early(&mut self, done: &mut Vec<Completion>) -> Result<(), Error> {
        done.extend(self.early.drain(..).map(|one| one.1));
        self.fault.take().map_or(Ok(()), Err)
    }
}

impl WireSession for Session {
    type Error = Error;

    fn state(&self) -> SessionState {
        match (&self.phase, self.closing) {
            (_, Closing::Done) => SessionState::Closed,
            (Phase::Disconnected, _) => SessionState::Disconnected,
            (_, Closing::No) => match self.phase {
                Phase::Full => SessionState::Ready,
                _ => SessionState::Opening,
            },
            _ => SessionState::Closing,
        }
    }

    fn connected(&mut self, now_ns: u64, _memory: &impl Memory, out: &mut Outbox) {
        self.inbound.reset();
        self.fault = None;
        self.has_succeeded = false;
        (self.connected_ns, self.heard_ns) = (now_ns, now_ns);
        let identity = Identity {
            initiator_name: self.options.initiator_name.clone(),
            isid: self.options.isid,
            chap: self.options.chap.clone(),
        };
        let purpose = Purpose::Normal(self.options.target_name.clone());
        let mut login = Login::new(identity, purpose, self.options.parameters.clone());
        login.begin(out);
        self.phase = Phase::Login(Box::new(login));
    }

    fn disconnected(&mut self, now_ns: u64) {
        if self.operations.live() > 0 && self.is_full() {
            let requests = self.operations.live() as u64;
            self.incidents.note(StorageEvent::Resent { requests });
        }
        if self.has_succeeded {
            self.blackouts = self.cache.blackouts();
        }
        if self.is_full() {
            self.cache.session_down();
        }
        self.phase = Phase::Disconnected;
        self.inbound.reset();
        self.tasks.reset();
        self.flushing.clear();
        self.retries.clear();
        self.delayed.clear();
        self.expire(now_ns);
        self.waiting = self.operations.rewind().into();
        self.controls.rewind();
        self.ping = None;
        self.logout = None;
        self.fault = None;
        self.blocked_ns = now_ns;
        self.closing_disconnected();
    }

    #[inline]
    fn submit(
        &mut self,
        operation: &Operation,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) {
        let begin_bytes = match self.geometry.begin_bytes(operation) {
            Some(begin_bytes) if operation.length_bytes > 0 => begin_bytes,
            Some(begin_bytes) if operation.kind == Kind::Flush => {
                return self.submit_flush(operation, begin_bytes, now_ns, memory, out);
            }
            _ => return self.refuse(operation),
        };
        let index = self.operations.add(*operation, begin_bytes, Ending::Plain, now_ns);
        if self.send_at_once(index, now_ns, memory, out) {
            return;
        }
        self.note_blocked(now_ns);
        self.waiting.push_back(index);
        self.pump(now_ns, memory, out);
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<usize, Error> {
        self.report_early(done)?;
        if self.closing == Closing::Done {
            return Ok(bytes.len());
        }
        if !bytes.is_empty() {
            self.heard_ns = now_ns;
        }
        let mut taken = 0;
        while let Some(rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
            let Some(step) = self.step(rest, memory)? else { break };
            taken += step;
            if self.inbound.complete()? {
                self.finish_pdu(now_ns, memory, out, done)?;
                if self.closing == Closing::Done {
                    return Ok(bytes.len());
                }
            }
        }
        if let Some(task) = self.inbound.unfinished() {
            self.tasks.touch(task, now_ns);
        }
        self.pump(now_ns, memory, out);
        self.fault.take().map_or(Ok(taken), Err)
    }

    #[inline]
    fn direct(&self) -> Option<Span> {
        self.inbound.direct(LEAST_DIRECT_BYTES)
    }

    fn received_directly(
        &mut self,
        length: u32,
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        self.report_early(done)?;
        self.heard_ns = now_ns;
        let buffer = self.inbound.direct(0).map_or(0, |span| span.buffer);
        if !self.inbound.received_directly(length) {
            return Err(Error::Memory { buffer });
        }
        if let Some(task) = self.inbound.unfinished() {
            self.tasks.touch(task, now_ns);
        }
        if self.inbound.complete()? {
            self.finish_pdu(now_ns, memory, out, done)?;
            self.pump(now_ns, memory, out);
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    fn deadline_ns(&self) -> Option<u64> {
        self.next_deadline_ns()
    }

    fn tick(
        &mut self,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        self.report_early(done)?;
        self.pass_time(now_ns, memory, out)?;
        self.fault.take().map_or(Ok(()), Err)
    }

    fn outstanding(&self) -> u32 {
        self.operations.live() + self.early.len() as u32
    }

    fn surrender(&mut self, operations: &mut Vec<Operation>) {
        self.waiting.clear();
        operations.extend(self.early.drain(..).map(|one| one.0));
        self.operations.surrender(operations);
        self.controls.surrender();
        self.closing_disconnected();
    }

    fn close(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox) {
        if self.closing == Closing::No {
            self.closing = Closing::Draining;
            match self.phase {
                Phase::Disconnected => self.closing_disconnected(),
                _ => self.pump(now_ns, memory, out),
            }
        }
    }

    fn incidents(&mut self) -> Vec<Incident> {
        self.incidents.take()
    }
}
