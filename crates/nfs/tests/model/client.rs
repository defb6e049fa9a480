//! Drives a session against the server and knows what every byte must be.

use stormeter_disk::{Completion, Incident, Kind, Operation};
use stormeter_nfs::{Auth, FileHandle, NfsSession, SessionOptions, Stability};
use stormeter_wire::{Heap, Memory, Outbox, Session, SessionState, Span};

use crate::covered::Covered;
use crate::random::Random;
use crate::server::{Faults, Server};

pub(crate) const FILE_BYTES: usize = 96 << 10;
const FILES: usize = 2;
const SLOTS: usize = 12;
const LONGEST: usize = 40 << 10;
const LOG_BYTES: usize = 64 << 10;

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) stability: Stability,
    pub(crate) operations: u32,
    pub(crate) faults: Faults,
    /// Probability, in thousandths per turn, that the connection breaks.
    pub(crate) breaks: u32,
    /// Share of the breaks that are restarts, in thousandths.
    pub(crate) restarts: u32,
    /// Share of the operations that read, in thousandths.
    pub(crate) reads: u32,
    /// Share of the writes that are durable, in thousandths.
    pub(crate) durable: u32,
    /// Probability, in thousandths, that a flush comes instead of another operation.
    pub(crate) flushes: u32,
    /// The largest part in which bytes arrive.
    pub(crate) most_bytes: usize,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            stability: Stability::FileSync,
            operations: 200,
            faults: Faults::default(),
            breaks: 0,
            restarts: 0,
            reads: 500,
            durable: 0,
            flushes: 0,
            most_bytes: 20_000,
        }
    }
}

pub(crate) struct Client {
    pub(crate) server: Server,
    pub(crate) incidents: Vec<Incident>,
    /// Errors for which a connection was given up.
    pub(crate) errors: Vec<String>,
    plan: Plan,
    random: Random,
    session: NfsSession,
    memory: Heap,
    out: Outbox,
    done: Vec<Completion>,
    shadow: Vec<Vec<u8>>,
    under_way: Vec<Option<Operation>>,
    /// What the flushes under way cover, by slot.
    covered: Vec<Option<Covered>>,
    pub(crate) flushed: u32,
    /// In transit to the client.
    wire: Vec<u8>,
    inbox: Vec<u8>,
    connected: bool,
    now_ns: u64,
    submitted: u32,
    completed: u32,
    directly: u32,
}

impl Client {
    pub(crate) fn new(plan: Plan) -> Self {
        let server = Server::new(FILES, FILE_BYTES, plan.seed, plan.faults);
        let files = (0..FILES).map(|file| FileHandle::new(&[file as u8; 7]).unwrap()).collect();
        let auth = Auth::sys(0, 0, &[1, 2, 3], "model").unwrap();
        let mut options = SessionOptions::new(files, auth, u32::MAX - 50);
        options.stability = plan.stability;
        options.read_max_bytes = 24 << 10;
        options.write_max_bytes = 16 << 10;
        options.log_bytes = LOG_BYTES;
        Self {
            shadow: server.present.clone(),
            server,
            incidents: Vec::new(),
            errors: Vec::new(),
            plan,
            random: Random::new(plan.seed),
            session: NfsSession::new(&options),
            memory: Heap::new(SLOTS, LONGEST),
            out: Outbox::default(),
            done: Vec::new(),
            under_way: vec![None; SLOTS],
            covered: vec![None; SLOTS],
            flushed: 0,
            wire: Vec::new(),
            inbox: Vec::new(),
            connected: false,
            now_ns: 0,
            submitted: 0,
            completed: 0,
            directly: 0,
        }
    }

    /// Runs to the end and checks that what was written is stable on the server.
    pub(crate) fn run(mut self) -> Self {
        let mut turns = 0;
        let mut closing = false;
        while self.session.state() != SessionState::Closed {
            turns += 1;
            assert!(turns < 2_000_000, "seed {}: no end is in sight", self.plan.seed);
            if !closing && self.submitted == self.plan.operations {
                closing = true;
                self.session.close(self.now_ns, &self.memory, &mut self.out);
            }
            self.turn();
        }
        assert_eq!(self.completed, self.submitted, "seed {}", self.plan.seed);
        for (file, (stable, shadow)) in self.server.stable.iter().zip(&self.shadow).enumerate() {
            let differs = stable.iter().zip(shadow).position(|(one, other)| one != other);
            assert_eq!(differs, None, "seed {}: file {file} differs", self.plan.seed);
        }
        self.check_xids();
        self
    }

    /// Without breaks every call has a unique number.
    fn check_xids(&self) {
        if self.plan.breaks + self.plan.faults.swallow + self.plan.faults.fail_commit == 0 {
            let mut xids = self.server.asked.xids.clone();
            let count = xids.len();
            xids.sort_unstable();
            xids.dedup();
            assert_eq!(xids.len(), count, "seed {}: a number was used twice", self.plan.seed);
        }
    }

    fn turn(&mut self) {
        self.now_ns += 1000;
        assert!(self.session.uncommitted_bytes() <= LOG_BYTES, "the log is bounded");
        if !self.connected {
            self.connected = true;
            self.session.connected(self.now_ns, &self.memory, &mut self.out);
        }
        if self.random.chance(self.plan.breaks) {
            let call = self.out.gather(&self.memory);
            self.server.take(&call[..self.random.below(call.len() + 1)]);
            self.break_off();
            if self.random.chance(self.plan.restarts) {
                self.server.restart();
            }
            return;
        }
        if self.random.chance(700) {
            self.submit();
        }
        let calls = self.out.gather(&self.memory);
        self.server.take(&calls);
        if self.random.chance(700) {
            self.server.carry_out_one();
        }
        if self.random.chance(700) {
            let bytes = self.server.send_one();
            self.wire.extend(bytes);
        }
        let result = self.receive().and_then(|()| self.tick());
        self.complete();
        if let Err(error) = result {
            self.errors.push(error);
            self.break_off();
        }
        self.incidents.extend(self.session.incidents());
    }

    fn break_off(&mut self) {
        self.server.hangs_up();
        self.wire.clear();
        self.inbox.clear();
        self.out.clear();
        self.connected = false;
        self.session.disconnected(self.now_ns);
        self.incidents.extend(self.session.incidents());
    }

    fn receive(&mut self) -> Result<(), String> {
        let mut length = self.wire.len().min(1 + self.random.below(self.plan.most_bytes));
        if length == 0 {
            return Ok(());
        }
        if let (true, Some(span)) = (self.inbox.is_empty(), self.session.direct()) {
            length = length.min(span.length as usize);
            let place = self.memory.bytes_mut(span.part(0, length as u32)).unwrap();
            place.copy_from_slice(&self.wire[..length]);
            self.wire.drain(..length);
            self.directly += 1;
            return self
                .session
                .received_directly(
                    length as u32,
                    self.now_ns,
                    &mut self.memory,
                    &mut self.out,
                    &mut self.done,
                )
                .map_err(|error| error.to_string());
        }
        self.inbox.extend(self.wire.drain(..length));
        let taken = self
            .session
            .receive(&self.inbox, self.now_ns, &mut self.memory, &mut self.out, &mut self.done)
            .map_err(|error| error.to_string())?;
        self.inbox.drain(..taken);
        assert!(self.inbox.len() <= NfsSession::MAX_LEFT_BYTES);
        Ok(())
    }

    fn tick(&mut self) -> Result<(), String> {
        let Some(deadline_ns) = self.session.deadline_ns() else { return Ok(()) };
        // Nothing moves any more: time passes.
        let server = &self.server;
        let quiet = server.calls.is_empty() && server.replies.is_empty();
        if quiet && self.wire.is_empty() && self.out.is_empty() {
            self.now_ns = self.now_ns.max(deadline_ns);
        }
        if self.now_ns < deadline_ns {
            return Ok(());
        }
        self.session
            .tick(self.now_ns, &self.memory, &mut self.out, &mut self.done)
            .map_err(|error| error.to_string())
    }

    fn submit(&mut self) {
        let Some(slot) = self.under_way.iter().position(Option::is_none) else { return };
        if self.submitted == self.plan.operations {
            return;
        }
        if self.plan.flushes > 0 && self.random.chance(self.plan.flushes) {
            return self.submit_flush(slot);
        }
        let kind = self.kind();
        let length = self.random.below(LONGEST) + 1;
        // Reads may go beyond the end of the file.
        let most = FILE_BYTES - if kind.is_write() { length } else { 0 };
        let operation = Operation {
            offset_bytes: self.random.below(most + 1) as u64,
            length_bytes: length as u32,
            disk: self.random.below(FILES) as u32,
            slot: slot as u32,
            buffer: slot as u32,
            kind,
        };
        // Overlapping concurrent operations have no defined order.
        if self.under_way.iter().flatten().any(|other| conflict(&operation, other)) {
            return;
        }
        if kind.is_write() {
            self.random.fill(&mut self.memory.buffers[slot][..length]);
            for covered in self.covered.iter_mut().flatten() {
                covered.except(&operation);
            }
        }
        self.under_way[slot] = Some(operation);
        self.submitted += 1;
        self.session.submit(&operation, self.now_ns, &self.memory, &mut self.out);
    }

    fn kind(&mut self) -> Kind {
        if self.random.chance(self.plan.reads) {
            Kind::Read
        } else if self.plan.durable > 0 && self.random.chance(self.plan.durable) {
            Kind::DurableWrite
        } else {
            Kind::Write
        }
    }

    fn submit_flush(&mut self, slot: usize) {
        let disk = self.random.below(FILES) as u32;
        let mut covered = Covered::new(disk, &self.shadow[disk as usize]);
        self.under_way.iter().flatten().for_each(|one| covered.except(one));
        self.covered[slot] = Some(covered);
        let slot = slot as u32;
        let operation = Operation {
            offset_bytes: 0,
            length_bytes: 0,
            disk,
            slot,
            buffer: slot,
            kind: Kind::Flush,
        };
        self.under_way[slot as usize] = Some(operation);
        self.submitted += 1;
        self.session.submit(&operation, self.now_ns, &self.memory, &mut self.out);
    }

    fn complete(&mut self) {
        for completion in std::mem::take(&mut self.done) {
            let slot = completion.slot as usize;
            let seed = self.plan.seed;
            let operation = self.under_way[slot].take().expect("an operation completes once");
            self.completed += 1;
            let begin = operation.offset_bytes as usize;
            let length = operation.length_bytes as usize;
            let file = &mut self.shadow[operation.disk as usize];
            let span = Span { buffer: slot as u32, offset: 0, length: operation.length_bytes };
            let bytes = self.memory.bytes(span).unwrap();
            match (operation.kind, completion.outcome()) {
                (Kind::Read, Ok(moved)) => {
                    let expected = &file[begin..(begin + length).min(FILE_BYTES)];
                    assert_eq!(moved as usize, expected.len(), "seed {seed}: {operation:?}");
                    assert!(bytes[..expected.len()] == *expected, "seed {seed}: {operation:?}");
                }
                (Kind::Write | Kind::DurableWrite, Ok(moved)) => {
                    assert_eq!(moved as usize, length, "seed {seed}: {operation:?}");
                    file[begin..begin + length].copy_from_slice(bytes);
                    if operation.kind == Kind::DurableWrite {
                        let stable = &self.server.stable[operation.disk as usize];
                        assert!(stable[begin..begin + length] == *bytes, "seed {seed}");
                    }
                }
                (Kind::Flush, Ok(moved)) => {
                    assert_eq!(moved, 0, "seed {seed}");
                    let covered = self.covered[slot].take().unwrap();
                    let differs = covered.difference(&self.server.stable);
                    assert_eq!(differs, None, "seed {seed}: {operation:?}");
                    self.flushed += 1;
                }
                (Kind::Flush, Err(error)) => {
                    assert!(self.plan.faults.fail_commit > 0, "seed {seed}: {error}");
                    assert_eq!(error.0, 5);
                    self.covered[slot] = None;
                }
                (Kind::Read, Err(error)) => {
                    assert!(self.plan.faults.fail_read > 0, "seed {seed}: {error}");
                    assert_eq!(error.0, 5);
                }
                (Kind::Write | Kind::DurableWrite, Err(error)) => panic!("seed {seed}: {error}"),
            }
            // A free buffer may contain anything.
            self.memory.buffers[slot].fill(0xdd);
        }
    }

    pub(crate) fn directly(&self) -> u32 {
        self.directly
    }
}

fn conflict(one: &Operation, other: &Operation) -> bool {
    let end = |operation: &Operation| operation.offset_bytes + u64::from(operation.length_bytes);
    one.disk == other.disk
        && (one.kind.is_write() || other.kind.is_write())
        && one.offset_bytes < end(other)
        && other.offset_bytes < end(one)
}
