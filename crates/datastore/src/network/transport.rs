//! The loop between sessions and sockets.

use std::net::SocketAddr;

use stormeter_disk::{
    Clock, Completion, DeviceError, Disks, DisksError, EngineNote, Incident, Incidents, Operation,
    StorageEvent, Wait,
};
use stormeter_uring::{EngineChoice, EngineError, SocketEvent, SocketOptions, Sockets};
use stormeter_wire::{Outbox, Session, SessionState};

use super::memory::{BufferUse, PoolMemory, socket_piece, socket_span};
use super::paths::{Link, Path, Policy, choose};
use crate::engine_note::engine_notes;
use crate::{DatastoreError, OpenDisks, RealClock};

/// EINVAL, as the kernel answers to an offset that a device does not have.
const OUT_OF_BOUNDS: DeviceError = DeviceError(22);
/// ETIMEDOUT: the server was gone for longer than it may be.
const GONE: DeviceError = DeviceError(110);
/// The most sentences about incidents; further incidents are only counted.
const MAX_INCIDENTS: usize = 32;
/// Requests and answers, payload aside, that may gather for one peer.
const MAX_GATHERED_BYTES: usize = 16 << 20;
/// After a longer sleep than requested (the process was stopped, the machine suspended), data that has arrived
/// meanwhile is processed before anything counts as late.
const OVERSLEPT_NS: u64 = 1_000_000_000;
/// How long a turn of waiting for a session's greeting or farewell lasts at most.
const TURN_NS: u64 = 20_000_000;

/// What a transport is opened with, in addition to its sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransportOptions {
    pub(crate) engine: EngineChoice,
    pub(crate) memory: OpenDisks,
    pub(crate) policy: Policy,
    /// How long a server may be gone before I/Os fail.
    pub(crate) patience_ns: u64,
    /// Whether opening fails with the first attempt, as it should if a person waits for it.
    pub(crate) is_impatient: bool,
    /// Disks, and bytes of each: operations beyond are refused here.
    pub(crate) disks: u32,
    pub(crate) disk_bytes: u64,
}

/// Why no path could be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenFailure {
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No path works; the reason of the last attempt.
    #[error("{address}: {reason}")]
    NoPath {
        address: SocketAddr,
        reason: String,
        /// Whether a server accepted the connection but opened no session.
        was_connected: bool,
    },
    /// The sockets as such.
    #[error(transparent)]
    Disks(#[from] DisksError),
}

impl OpenFailure {
    /// As the error of the datastore of that name.
    pub(crate) fn of(self, name: String) -> DatastoreError {
        match self {
            Self::Engine(error) => error.into(),
            failure => DatastoreError::Unreachable { name, reason: failure.to_string() },
        }
    }
}

/// Disks behind sessions of a network protocol. Made on the thread that drives it and kept there.
pub struct NetworkDisks<S: Session> {
    sockets: Sockets,
    paths: Vec<Path<S>>,
    options: TransportOptions,
    clock: RealClock,
    now_ns: u64,
    /// The turn of the last operation, if paths are used in turn.
    turn: usize,
    events: Vec<SocketEvent>,
    /// Completions that do not come from a session: refused or given up.
    refused: Vec<Completion>,
    moving: Vec<Operation>,
    buffers: BufferUse,
    /// What a peer took and may have lost, if that has happened.
    lost: Option<String>,
    incidents: Incidents,
}

impl<S: Session> NetworkDisks<S> {
    /// Connects the sessions and waits until they are logged in: all of them, or those that answer.
    pub(crate) fn open(
        sessions: Vec<(SocketAddr, S)>,
        options: TransportOptions,
        clock: RealClock,
    ) -> Result<Self, OpenFailure> {
        let OpenDisks { buffers, buffer_bytes, .. } = options.memory;
        let places = sessions.len() as u32;
        let sockets = SocketOptions::new().buffers(buffers, buffer_bytes).places(places);
        let mut clock = clock;
        let now_ns = clock.now_ns();
        let paths =
            sessions.into_iter().map(|(address, session)| Path::new(address, session, now_ns));
        let mut disks = Self {
            sockets: Sockets::open(options.engine, sockets)?,
            paths: paths.collect(),
            options,
            clock,
            now_ns,
            turn: 0,
            events: Vec::new(),
            refused: Vec::new(),
            moving: Vec::new(),
            buffers: BufferUse::new(buffers),
            lost: None,
            incidents: Incidents::new(MAX_INCIDENTS),
        };
        disks.greet()?;
        Ok(disks)
    }

    fn greet(&mut self) -> Result<(), OpenFailure> {
        let mut done = Vec::new();
        loop {
            self.pass(TURN_NS, &mut done)?;
            let settled =
                |path: &Path<S>| path.is_usable() || path.failures() > 0 || path.is_given_up;
            if self.paths.iter().any(Path::is_usable) && self.paths.iter().all(settled) {
                return Ok(());
            }
            let is_lost = |path: &&Path<S>| {
                path.is_given_up || self.options.is_impatient && path.failures() > 0
            };
            if let Some(path) = self.paths.iter().find(is_lost) {
                let (address, reason) = (path.address, path.last_reason.clone());
                let was_connected = path.was_connected;
                return Err(OpenFailure::NoPath { address, reason, was_connected });
            }
        }
    }

    /// `io_uring` or `epoll`.
    pub fn engine_name(&self) -> &'static str {
        match self.sockets {
            Sockets::Ring(_) => "io_uring",
            Sockets::Epoll(_) => "epoll",
        }
    }

    /// What the engine was asked for and did not get.
    pub fn notes(&self) -> Vec<EngineNote> {
        engine_notes(self.sockets.notes())
    }

    /// Makes unstable data stable, logs out and closes the connections.
    ///
    /// # Errors
    /// Some data could not be made stable: written data may be lost.
    pub fn finish(&mut self) -> Result<(), DisksError> {
        let begin_ns = self.clock.now_ns();
        let mut done = Vec::new();
        for path in &mut self.paths {
            let memory = PoolMemory(self.sockets.pool());
            path.session.close(begin_ns, &memory, &mut path.outbox);
        }
        let stable = |reason| DisksError { action: "making written data stable", reason };
        let outcome = loop {
            let moves = self.options.policy.moves();
            let needed = |path: &&Path<S>| {
                let is_idle = path.lost_at_ns.is_some() && path.session.outstanding() == 0;
                path.session.state() != SessionState::Closed && !(moves && is_idle)
            };
            let Some(path) = self.paths.iter().find(needed) else { break Ok(()) };
            if path.is_given_up || self.now_ns >= begin_ns.saturating_add(self.options.patience_ns)
            {
                // A policy that moves operations does not leave data in the server's memory on purpose.
                break if moves {
                    Ok(())
                } else {
                    let (address, reason) = (path.address, &path.last_reason);
                    Err(stable(format!("{address} did not answer ({reason})")))
                };
            }
            if let Err(error) = self.pass(TURN_NS, &mut done) {
                break Err(error);
            }
        };
        for place in 0..self.paths.len() {
            self.paths[place].link = Link::Ended;
            self.sockets.close(place as u32);
        }
        outcome.and(self.lost.take().map_or(Ok(()), |lost| Err(stable(lost))))
    }

    /// What happened so far that a reader of the results ought to know.
    pub fn take_incidents(&mut self) -> Vec<Incident> {
        let mut all = self.incidents.take();
        for path in &mut self.paths {
            let address = path.address.to_string();
            let own = path.session.incidents().into_iter();
            all.extend(own.map(|one| Incident { path: Some(address.clone()), ..one }));
        }
        all
    }

    fn note(&mut self, address: SocketAddr, event: StorageEvent) {
        self.incidents.add(Incident { path: Some(address.to_string()), ..Incident::new(event) });
    }

    /// Speaks to the session of a path; what it wants to send goes out with the next
    /// [`pump`](Self::pump).
    pub(crate) fn with_session<T>(
        &mut self,
        path: usize,
        speak: impl FnOnce(&mut S, u64, &PoolMemory<'_>, &mut Outbox) -> T,
    ) -> T {
        self.now_ns = self.clock.now_ns();
        let path = &mut self.paths[path];
        let memory = PoolMemory(self.sockets.pool());
        speak(&mut path.session, self.now_ns, &memory, &mut path.outbox)
    }

    /// Moves bytes for at most a moment.
    pub(crate) fn pump(&mut self, done: &mut Vec<Completion>) -> Result<(), DisksError> {
        self.pass(TURN_NS, done)?;
        done.append(&mut self.refused);
        Ok(())
    }

    /// Whether a path is given up, with the reason.
    pub(crate) fn failure(&self, path: usize) -> Option<String> {
        let path = &self.paths[path];
        path.is_given_up.then(|| format!("{}: {}", path.address, path.last_reason))
    }

    /// One turn: sends waiting data, moves operations of lost paths, sleeps at most `wait_ns` if
    /// there is nothing.
    fn pass(&mut self, wait_ns: u64, done: &mut Vec<Completion>) -> Result<(), DisksError> {
        for place in 0..self.paths.len() {
            self.flush(place);
        }
        self.now_ns = self.clock.now_ns();
        let wait_ns = match self.next_deadline_ns() {
            Some(at_ns) => wait_ns.min(at_ns.saturating_sub(self.now_ns)),
            None => wait_ns,
        };
        self.sockets.wait((wait_ns > 0).then_some(wait_ns), &mut self.events).map_err(|error| {
            DisksError { action: "waiting for the network", reason: error.to_string() }
        })?;
        let before_ns = std::mem::replace(&mut self.now_ns, self.clock.now_ns());
        let overslept = self.now_ns.saturating_sub(before_ns) > wait_ns + OVERSLEPT_NS;
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            self.handle(event, done);
        }
        self.events = events;
        if !overslept && self.next_deadline_ns().is_some_and(|at_ns| at_ns <= self.now_ns) {
            self.timers(done);
        }
        Ok(())
    }

    #[inline]
    fn next_deadline_ns(&self) -> Option<u64> {
        let patience_ns = self.options.patience_ns;
        self.paths.iter().filter_map(|path| path.deadline_ns(patience_ns)).min()
    }

    #[inline]
    fn flush(&mut self, place: usize) {
        let path = &mut self.paths[place];
        if path.outbox.is_empty() || path.link != Link::Up || self.sockets.is_sending(place as u32)
        {
            return;
        }
        let (bytes, pieces) = path.outbox.contents();
        let sent = self.sockets.send(place as u32, bytes, pieces.iter().map(socket_piece));
        path.outbox.clear();
        if let Err(error) = sent {
            self.lose(place, error.to_string());
        }
    }

    #[inline]
    fn handle(&mut self, event: SocketEvent, done: &mut Vec<Completion>) {
        match event {
            SocketEvent::Received { place, direct } => {
                let place = place as usize;
                let before = done.len();
                let received = self.received(place, direct, done);
                // What completed before the stream went wrong has completed.
                for completion in &done[before..] {
                    self.buffers.end(completion.slot);
                }
                match received {
                    Ok(()) if self.paths[place].is_untried => {
                        self.recover(place, done.len() > before);
                    }
                    Ok(()) => {}
                    Err(reason) => self.lose(place, reason),
                }
            }
            SocketEvent::Sent { .. } => {}
            SocketEvent::Connected { place } => {
                let path = &mut self.paths[place as usize];
                path.link = Link::Up;
                let memory = PoolMemory(self.sockets.pool());
                path.session.connected(self.now_ns, &memory, &mut path.outbox);
                if let Err(error) = self.sockets.receive(place, None) {
                    self.lose(place as usize, error.to_string());
                }
                // A session without a greeting is ready at once.
                self.recover(place as usize, false);
            }
            SocketEvent::Closed { place, errno } => {
                let reason = match errno {
                    0 => "the server closed the connection".into(),
                    errno => DeviceError(errno).to_string(),
                };
                self.lose(place as usize, reason);
            }
        }
    }

    #[inline]
    fn received(
        &mut self,
        place: usize,
        direct: u32,
        done: &mut Vec<Completion>,
    ) -> Result<(), String> {
        let path = &mut self.paths[place];
        if direct > 0 {
            let mut memory = PoolMemory(self.sockets.pool());
            path.session
                .received_directly(direct, self.now_ns, &mut memory, &mut path.outbox, done)
                .map_err(|error| error.to_string())?;
        }
        let (bytes, pool) = self.sockets.received(place as u32);
        let mut memory = PoolMemory(pool);
        let taken = path
            .session
            .receive(bytes, self.now_ns, &mut memory, &mut path.outbox, done)
            .map_err(|error| error.to_string())?;
        self.sockets.consume(place as u32, taken);
        let target = path.session.direct().map(socket_span);
        self.sockets.receive(place as u32, target).map_err(|error| error.to_string())?;
        // Answers that the peer demands and does not take would gather without end.
        if path.outbox.own_bytes() > MAX_GATHERED_BYTES {
            return Err("the peer demands answers and does not read them".into());
        }
        Ok(())
    }

    /// Notices that a path works again. That a peer takes a connection shows little: it works when an
    /// I/O has completed, or none is outstanding that could. Else a peer that takes connections and
    /// requests and never answers would be waited for without end.
    #[cold]
    fn recover(&mut self, place: usize, has_completed: bool) {
        let path = &mut self.paths[place];
        if !path.is_usable() {
            return;
        }
        let (failures, address) = (path.failures(), path.address);
        if has_completed {
            path.tried();
        }
        let Some(lost_at_ns) = path.lost_at_ns else { return };
        if !has_completed && path.session.outstanding() > 0 {
            self.rescue();
            return;
        }
        let gone_ns = self.now_ns - lost_at_ns;
        path.recovered();
        if failures > 0 {
            self.note(address, StorageEvent::Reconnected { after_ns: gone_ns });
        }
        self.rescue();
    }

    #[cold]
    fn lose(&mut self, place: usize, reason: String) {
        self.sockets.close(place as u32);
        let path = &mut self.paths[place];
        if path.link == Link::Ended {
            return;
        }
        // A session that took its leave is done; the server may close first.
        if path.session.state() == SessionState::Closed {
            path.link = Link::Ended;
            return;
        }
        let is_first = path.failures() == 0 || path.lost_at_ns.is_none();
        let (outstanding, address) = (path.session.outstanding(), path.address);
        path.lost(self.now_ns, reason.clone());
        if is_first {
            let reason = reason.into();
            self.note(address, StorageEvent::ConnectionLost { outstanding, reason });
        }
        self.rescue();
    }

    /// Moves operations from lost paths to one that works, if the policy allows it.
    #[cold]
    fn rescue(&mut self) {
        if !self.options.policy.moves() {
            return;
        }
        for place in 0..self.paths.len() {
            let is_stuck = self.paths[place].lost_at_ns.is_some()
                && self.paths[place].link != Link::Up
                && self.paths[place].session.outstanding() > 0;
            if is_stuck && self.paths.iter().any(Path::is_usable) {
                self.move_from(place);
            }
        }
    }

    #[cold]
    fn move_from(&mut self, place: usize) {
        let mut moving = std::mem::take(&mut self.moving);
        self.paths[place].session.surrender(&mut moving);
        let moved = StorageEvent::Moved { operations: moving.len() as u64 };
        self.note(self.paths[place].address, moved);
        for operation in moving.drain(..) {
            self.start(&operation);
        }
        self.moving = moving;
    }

    /// Hands an operation to a session; its buffer is marked already.
    #[inline(always)] // On every request's way.
    fn start(&mut self, operation: &Operation) {
        let Some(place) = choose(&self.paths, self.options.policy, operation.disk, &mut self.turn)
        else {
            self.buffers.end(operation.slot);
            self.refused.push(Completion::failed(operation.slot, GONE));
            return;
        };
        let path = &mut self.paths[place];
        let memory = PoolMemory(self.sockets.pool());
        path.session.submit(operation, self.now_ns, &memory, &mut path.outbox);
    }

    #[cold]
    fn timers(&mut self, done: &mut Vec<Completion>) {
        for place in 0..self.paths.len() {
            self.give_up_if_due(place);
            let path = &mut self.paths[place];
            match path.link {
                Link::Up if path.session.deadline_ns().is_some_and(|at| at <= self.now_ns) => {
                    let before = done.len();
                    let memory = PoolMemory(self.sockets.pool());
                    let ticked = path.session.tick(self.now_ns, &memory, &mut path.outbox, done);
                    for completion in &done[before..] {
                        self.buffers.end(completion.slot);
                    }
                    match ticked {
                        // What the session ended by itself was all that it waited for.
                        Ok(()) if self.paths[place].is_untried => self.recover(place, false),
                        Ok(()) => {}
                        Err(error) => self.lose(place, error.to_string()),
                    }
                }
                Link::Connecting { until_ns } if until_ns <= self.now_ns => {
                    self.lose(place, "it does not answer".into());
                }
                Link::Waiting { until_ns } if until_ns <= self.now_ns => {
                    path.connecting(self.now_ns);
                    let address = path.address;
                    if let Err(error) = self.sockets.connect(place as u32, address) {
                        self.lose(place, error.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    #[cold]
    fn give_up_if_due(&mut self, place: usize) {
        let patience_ns = self.options.patience_ns;
        let path = &mut self.paths[place];
        let Some(lost_at_ns) = path.lost_at_ns else { return };
        let is_due = self.now_ns >= lost_at_ns.saturating_add(patience_ns);
        if path.is_given_up || path.link == Link::Ended || !is_due {
            return;
        }
        path.is_given_up = true;
        if path.link == Link::Up {
            // Connected, but its session never got ready.
            self.lose(place, "the session was not opened in time".into());
        }
        let path = &mut self.paths[place];
        let (address, reason) = (path.address, path.last_reason.clone());
        let unconfirmed_bytes = path.session.unconfirmed_bytes();
        if unconfirmed_bytes > 0 {
            self.lost.get_or_insert(format!(
                "{address} was given up before it confirmed {unconfirmed_bytes} bytes ({reason})"
            ));
        }
        let mut given_up = std::mem::take(&mut self.moving);
        path.session.surrender(&mut given_up);
        let elsewhere =
            self.options.policy != Policy::ByDisk && self.paths.iter().any(Path::is_usable);
        let event = StorageEvent::PathGivenUp {
            after_ns: patience_ns,
            reason: reason.into(),
            operations: given_up.len() as u64,
            moved: elsewhere,
        };
        self.note(address, event);
        for operation in given_up.drain(..) {
            if elsewhere {
                self.start(&operation);
            } else {
                self.buffers.end(operation.slot);
                self.refused.push(Completion::failed(operation.slot, GONE));
            }
        }
        self.moving = given_up;
    }
}

impl<S: Session> Disks for NetworkDisks<S> {
    #[inline]
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for one in operations {
            let end = one.offset_bytes.saturating_add(u64::from(one.length_bytes));
            if one.disk >= self.options.disks || end > self.options.disk_bytes {
                self.refused.push(Completion::failed(one.slot, OUT_OF_BOUNDS));
                continue;
            }
            self.buffers.begin(one.slot, one.buffer);
            self.start(one);
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let before = completions.len();
        let until_ns = match wait {
            Wait::No => 0,
            Wait::AtMost(ns) => self.now_ns.saturating_add(ns),
        };
        loop {
            let is_waiting = self.refused.is_empty() && completions.len() == before;
            let wait_ns = if is_waiting { until_ns.saturating_sub(self.now_ns) } else { 0 };
            self.pass(wait_ns, completions)?;
            completions.append(&mut self.refused);
            if completions.len() > before || self.now_ns >= until_ns {
                return Ok(());
            }
        }
    }

    #[inline]
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        if !self.buffers.is_free(buffer) {
            return None;
        }
        self.sockets.pool().buffer_mut(buffer)
    }
}
