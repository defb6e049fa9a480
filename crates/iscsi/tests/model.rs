//! A session connected in memory to a target that does everything the protocol allows: over many
//! seeds no byte is lost, misplaced or invented, and every operation is completed exactly once.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use std::rc::Rc;

use common::target::{Manner, Target};
use common::{BLOCK, Dice, options};
use stormeter_disk::{Completion, Kind, Operation};
use stormeter_iscsi::login::Digest;
use stormeter_iscsi::{Parameters, Session, UnitCache};
use stormeter_wire::{Heap, Memory, Outbox, Session as WireSession, SessionState};

const DISK_BLOCKS: u32 = 600;
const SLOTS: u32 = 8;
const OPERATIONS: u32 = 120;
const LARGEST_BLOCKS: u32 = 150;

struct Model {
    seed: u64,
    dice: Dice,
    session: Session,
    target: Target,
    memory: Heap,
    out: Outbox,
    /// In transit to the target and from it.
    forth: Vec<u8>,
    back: Vec<u8>,
    expected: Vec<u8>,
    outstanding: Vec<Operation>,
    submitted: u32,
    now_ns: u64,
    single_bytes: bool,
    /// Number of times that the connection may still be lost.
    drops: u32,
    corrupts: bool,
    corrupted: bool,
    corruptions: u32,
}

impl Model {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let digests = dice.chance(400);
        let manner = Manner {
            header_digest: digests || dice.chance(200),
            data_digest: digests || dice.chance(200),
            initial_r2t: dice.chance(500),
            immediate_data: dice.chance(600),
            first_burst: dice.between(512, 30_000),
            max_burst: dice.between(512, 60_000),
            max_receive: dice.between(512, 20_000),
            max_r2t: dice.between(1, 4),
            largest_window: dice.between(1, 12),
            refusals: if dice.chance(500) { 30 } else { 0 },
            echoes: if dice.chance(500) { 50 } else { 0 },
            piecemeal: dice.chance(500),
            attention: 0x29,
            takes_fua: dice.chance(700),
            takes_ranges: dice.chance(500),
            greets: dice.chance(500),
            lies: false,
        };
        let mut digest = |on: bool| match (on, dice.chance(500)) {
            (true, true) => vec![Digest::Crc32c],
            _ => vec![Digest::None, Digest::Crc32c],
        };
        let mut parameters = Parameters {
            header_digest: digest(manner.header_digest),
            data_digest: digest(manner.data_digest),
            ..Parameters::default()
        };
        parameters.initial_r2t = dice.chance(200);
        parameters.immediate_data = dice.chance(800);
        parameters.max_receive_bytes = dice.between(512, 60_000);
        parameters.max_burst_bytes = dice.between(2048, 100_000);
        let mut options = options(parameters);
        // The target reports resets at random, which with a cache fail flushes: see `power_cut.rs`.
        options.cache = Rc::new(UnitCache::new(Some(false), dice.chance(500)));
        options.disk_bytes = u64::from(DISK_BLOCKS * BLOCK) * u64::from(dice.between(0, 1));
        options.max_transfer_bytes = dice.between(1, 200) * 300;
        options.flush_on_close = false;
        let disk: Vec<u8> = (0..DISK_BLOCKS * BLOCK).map(|_| dice.word() as u8).collect();
        Self {
            seed,
            session: Session::new(options),
            target: Target::new(manner, disk.clone(), Dice::new(seed ^ 0xa5)),
            memory: Heap::new(SLOTS as usize, (LARGEST_BLOCKS * BLOCK) as usize),
            out: Outbox::default(),
            forth: Vec::new(),
            back: Vec::new(),
            expected: disk,
            outstanding: Vec::new(),
            submitted: 0,
            now_ns: 0,
            single_bytes: dice.chance(100),
            drops: if dice.chance(500) { 6 } else { 0 },
            corrupts: digests && dice.chance(500),
            corrupted: false,
            corruptions: 0,
            dice,
        }
    }

    fn submit(&mut self) {
        let free: Vec<u32> = (0..SLOTS)
            .filter(|slot| self.outstanding.iter().all(|one| one.slot != *slot))
            .collect();
        let Some(&slot) = free.first() else { return };
        let blocks = if self.dice.chance(300) {
            self.dice.between(1, LARGEST_BLOCKS)
        } else {
            self.dice.between(1, 8)
        };
        let first = self.dice.between(0, DISK_BLOCKS - blocks);
        let operation = Operation {
            offset_bytes: u64::from(first * BLOCK),
            length_bytes: blocks * BLOCK,
            disk: 0,
            slot,
            buffer: slot,
            kind: match self.dice.between(0, 9) {
                0..=4 => Kind::Read,
                5..=7 => Kind::Write,
                8 => Kind::DurableWrite,
                _ => Kind::Flush,
            },
        };
        let operation = match operation.kind {
            Kind::Flush => Operation { offset_bytes: 0, length_bytes: 0, ..operation },
            _ => operation,
        };
        // For two overlapping operations the correct result would be undefined.
        let end = |one: &Operation| one.offset_bytes + u64::from(one.length_bytes);
        if self
            .outstanding
            .iter()
            .any(|one| one.offset_bytes < end(&operation) && operation.offset_bytes < end(one))
        {
            return;
        }
        for byte in &mut self.memory.buffers[slot as usize] {
            *byte = self.dice.word() as u8;
        }
        self.session.submit(&operation, self.now_ns, &self.memory, &mut self.out);
        self.outstanding.push(operation);
        self.submitted += 1;
    }

    fn complete(&mut self, completion: Completion) {
        let at = self.outstanding.iter().position(|one| one.slot == completion.slot);
        let operation = self.outstanding.swap_remove(at.expect("a completion of nothing"));
        assert_eq!(completion.outcome(), Ok(operation.length_bytes), "seed {}", self.seed);
        let begin = operation.offset_bytes as usize;
        let place = begin..begin + operation.length_bytes as usize;
        let buffer = &self.memory.buffers[operation.slot as usize][..place.len()];
        match operation.kind {
            Kind::Read => assert!(
                self.expected[place] == *buffer,
                "seed {}: {operation:?} read something else",
                self.seed
            ),
            Kind::Write | Kind::DurableWrite => self.expected[place].copy_from_slice(buffer),
            Kind::Flush => {}
        }
    }

    fn drop_connection(&mut self) {
        self.out.clear();
        self.forth.clear();
        self.back.clear();
        self.session.disconnected(self.now_ns);
        self.target.hang_up();
        self.session.connected(self.now_ns, &self.memory, &mut self.out);
    }

    fn piece(&mut self, there: usize) -> usize {
        if there == 0 {
            return 0;
        }
        let most = if self.single_bytes { 1 } else { there.min(9000) as u32 };
        self.dice.between(1, most) as usize
    }

    /// Moves some bytes in each direction.
    fn turn(&mut self, given: &mut usize) -> Result<(), stormeter_iscsi::Error> {
        self.now_ns += 20_000;
        self.forth.extend(self.out.gather(&self.memory));
        let piece = self.piece(self.forth.len());
        let bytes: Vec<u8> = self.forth.drain(..piece).collect();
        self.target.receive(&bytes);
        // A target whose answers pile up sends nothing more.
        if self.back.len() < 4000 {
            self.target.step();
        }
        let mut fresh = std::mem::take(&mut self.target.outbox);
        if self.corrupts
            && !fresh.is_empty()
            && self.session.state() == SessionState::Ready
            && self.dice.chance(3)
        {
            let bit = self.dice.between(0, fresh.len() as u32 * 8 - 1) as usize;
            fresh[bit / 8] ^= 1 << (bit % 8);
            self.corrupted = true;
        }
        self.back.extend(fresh);
        let mut done = Vec::new();
        let outcome = self.hand_over(given, &mut done);
        // What was completed before an error is completed.
        for completion in done {
            self.complete(completion);
        }
        outcome
    }

    /// Gives the session what has arrived.
    fn hand_over(
        &mut self,
        given: &mut usize,
        done: &mut Vec<Completion>,
    ) -> Result<(), stormeter_iscsi::Error> {
        let (now_ns, memory, out) = (self.now_ns, &mut self.memory, &mut self.out);
        if let Some(span) = self.session.direct() {
            assert_eq!(*given, 0, "something was left and payload is to be received directly");
            let length = span.length.min(self.back.len() as u32);
            let bytes: Vec<u8> = self.back.drain(..length as usize).collect();
            memory.bytes_mut(span.part(0, length)).unwrap().copy_from_slice(&bytes);
            self.session.received_directly(length, now_ns, memory, out, done)?;
        } else {
            let rest = self.back.len() - *given;
            let more = if self.single_bytes {
                rest.min(1)
            } else {
                rest.min(1 + self.dice.word() as usize % 9000)
            };
            *given += more;
            let taken = self.session.receive(&self.back[..*given], now_ns, memory, out, done)?;
            self.back.drain(..taken);
            *given -= taken;
            assert!(*given <= Session::MAX_LEFT_BYTES);
        }
        if self.session.deadline_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.session.tick(now_ns, memory, out, done)?;
        }
        Ok(())
    }

    fn run(&mut self) {
        self.session.connected(0, &self.memory, &mut self.out);
        let mut given = 0;
        for _ in 0..6_000_000 {
            if self.submitted < OPERATIONS && self.dice.chance(300) {
                self.submit();
            }
            if self.drops > 0 && self.submitted < OPERATIONS && self.dice.chance(1) {
                self.drops -= 1;
                self.drop_connection();
                given = 0;
            }
            if let Err(error) = self.turn(&mut given) {
                assert!(std::mem::take(&mut self.corrupted), "seed {}: {error}", self.seed);
                self.corruptions += 1;
                self.drop_connection();
                given = 0;
            }
            if self.submitted == OPERATIONS && self.outstanding.is_empty() {
                if self.session.state() == SessionState::Closed {
                    return;
                }
                self.corrupts = false;
                self.session.close(self.now_ns, &self.memory, &mut self.out);
            }
        }
        panic!("seed {}: {} operations never end", self.seed, self.outstanding.len());
    }
}

/// Number of seeds per test; set STORMETER_MODEL_SEEDS for more.
fn seeds() -> u64 {
    std::env::var("STORMETER_MODEL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

fn run(from: u64, to: u64) {
    let (mut logins, mut pongs, mut corruptions) = (0, 0, 0);
    for seed in from..to {
        let mut model = Model::new(seed);
        model.run();
        assert!(model.target.disk == model.expected, "seed {seed}: the disk holds something else");
        assert!(model.target.is_idle() && model.session.outstanding() == 0);
        logins += u64::from(model.target.logins);
        pongs += model.target.pongs;
        corruptions += model.corruptions;
    }
    // The events that the seeds should cause have happened.
    assert!(logins > (to - from) * 3 / 2, "{logins} logins");
    assert!(pongs > 0 && corruptions > 0, "{pongs} pongs, {corruptions} corruptions");
}

#[test]
fn no_byte_is_lost_or_misplaced() {
    run(0, seeds() / 2);
}

#[test]
fn nor_over_other_seeds() {
    run(seeds() / 2, seeds());
}
