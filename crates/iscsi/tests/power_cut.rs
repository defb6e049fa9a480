//! A target with a volatile cache whose power is cut at random: what a completed flush or durable
//! write covers is there afterwards, or the flush has failed. A target that only pretends to flush
//! is caught by the same check.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use std::rc::Rc;

use common::target::{Manner, Target};
use common::{BLOCK, Dice, options};
use stormeter_disk::{Completion, DeviceError, Kind, Operation};
use stormeter_iscsi::{Parameters, Session, UnitCache};
use stormeter_wire::{Heap, Outbox, Session as WireSession};

const DISK_BLOCKS: u32 = 60;
const SLOTS: u32 = 6;
const LARGEST_BLOCKS: u32 = 12;
const OPERATIONS: u32 = 400;

/// A write as its submitter sees it: the first eight bytes of each of its blocks, and when it
/// completed.
#[derive(Clone, Copy)]
struct Written {
    word: u64,
    completed: Option<u32>,
}

struct Outstanding {
    operation: Operation,
    submitted: u32,
    word: u64,
}

struct Rig {
    dice: Dice,
    session: Session,
    target: Target,
    memory: Heap,
    out: Outbox,
    back: Vec<u8>,
    now_ns: u64,
    /// Counts submissions and completions.
    clock: u32,
    outstanding: Vec<Outstanding>,
    /// What each block may hold after a loss of power: what was last covered, then what was
    /// written since.
    may_hold: Vec<Vec<Written>>,
    /// When the power last failed and what each block held then.
    cut: Option<(u32, Vec<u64>)>,
    /// Blocks that held something else.
    lost: u32,
    cuts: u32,
    /// Flushes and durable writes by their outcome.
    kept: u32,
    failed: u32,
}

fn word(block: &[u8]) -> u64 {
    u64::from_le_bytes(block[..8].try_into().unwrap())
}

impl Rig {
    fn new(seed: u64, lies: bool) -> Self {
        let mut dice = Dice::new(seed);
        let manner = Manner {
            header_digest: false,
            data_digest: false,
            initial_r2t: dice.chance(500),
            immediate_data: dice.chance(500),
            first_burst: 4096,
            max_burst: 4096,
            max_receive: 4096,
            max_r2t: 2,
            largest_window: dice.between(2, 12),
            refusals: 10,
            attention: 0x2a,
            echoes: 0,
            piecemeal: false,
            takes_fua: dice.chance(500),
            takes_ranges: dice.chance(500),
            greets: dice.chance(500),
            lies,
        };
        let write_cache = dice.chance(700).then_some(true);
        let mut options = options(Parameters::default());
        // A target that lies about flushes is honest about FUA, which would hide it.
        options.cache = Rc::new(UnitCache::new(write_cache, !lies && dice.chance(500)));
        options.disk_bytes = u64::from(DISK_BLOCKS * BLOCK);
        options.max_transfer_bytes = 5 * BLOCK;
        let disk: Vec<u8> = (0..DISK_BLOCKS * BLOCK).map(|_| dice.word() as u8).collect();
        let may_hold = disk.chunks(BLOCK as usize);
        let may_hold = may_hold.map(|it| vec![Written { word: word(it), completed: Some(0) }]);
        Self {
            session: Session::new(options),
            may_hold: may_hold.collect(),
            target: Target::new(manner, disk, Dice::new(seed ^ 0xa5)),
            memory: Heap::new(SLOTS as usize, (LARGEST_BLOCKS * BLOCK) as usize),
            out: Outbox::default(),
            back: Vec::new(),
            now_ns: 0,
            clock: 0,
            outstanding: Vec::new(),
            cut: None,
            lost: 0,
            cuts: 0,
            kept: 0,
            failed: 0,
            dice,
        }
    }

    fn blocks(&mut self, operation: &Operation) -> &mut [Vec<Written>] {
        let begin = (operation.offset_bytes / u64::from(BLOCK)) as usize;
        &mut self.may_hold[begin..begin + (operation.length_bytes / BLOCK) as usize]
    }

    fn submit(&mut self) {
        let is_free = |slot: &u32| self.outstanding.iter().all(|one| one.operation.slot != *slot);
        let Some(slot) = (0..SLOTS).find(is_free) else { return };
        let kind = match self.dice.between(0, 9) {
            0..=5 => Kind::Write,
            6 => Kind::DurableWrite,
            7 => Kind::Read,
            _ => Kind::Flush,
        };
        let (mut first, mut blocks) = (0, 0);
        if kind != Kind::Flush {
            blocks = self.dice.between(1, LARGEST_BLOCKS);
            first = self.dice.between(0, DISK_BLOCKS - blocks);
        }
        let operation = Operation {
            offset_bytes: u64::from(first * BLOCK),
            length_bytes: blocks * BLOCK,
            disk: 0,
            slot,
            buffer: slot,
            kind,
        };
        let end = |one: &Operation| one.offset_bytes + u64::from(one.length_bytes);
        let overlaps = self
            .outstanding
            .iter()
            .map(|one| &one.operation)
            .any(|one| one.offset_bytes < end(&operation) && operation.offset_bytes < end(one));
        if overlaps {
            return;
        }
        let word = self.dice.word();
        if kind.is_write() {
            for block in self.memory.buffers[slot as usize].chunks_mut(BLOCK as usize) {
                block[..8].copy_from_slice(&word.to_le_bytes());
            }
            for block in self.blocks(&operation) {
                block.push(Written { word, completed: None });
            }
        }
        self.clock += 1;
        self.outstanding.push(Outstanding { operation, submitted: self.clock, word });
        self.session.submit(&operation, self.now_ns, &self.memory, &mut self.out);
    }

    fn complete(&mut self, completion: Completion) {
        let at = self.outstanding.iter().position(|one| one.operation.slot == completion.slot);
        let Outstanding { operation, submitted, word } = self.outstanding.swap_remove(at.unwrap());
        self.clock += 1;
        let clock = self.clock;
        if operation.kind == Kind::Flush {
            return match completion.outcome() {
                Ok(0) => {
                    self.kept += 1;
                    for block in &mut self.may_hold {
                        let is_covered =
                            |one: &Written| one.completed.is_some_and(|at| at < submitted);
                        let covered = block.iter().rposition(is_covered).unwrap_or(0);
                        block.drain(..covered);
                    }
                }
                outcome => {
                    assert_eq!(outcome, Err(DeviceError::IO));
                    self.failed += 1;
                    self.told();
                }
            };
        }
        assert_eq!(completion.outcome(), Ok(operation.length_bytes));
        let is_durable = operation.kind == Kind::DurableWrite;
        self.kept += u32::from(is_durable);
        if operation.kind.is_write() {
            for block in self.blocks(&operation) {
                if let Some(one) = block.iter_mut().find(|one| one.word == word) {
                    one.completed = Some(clock);
                }
                if is_durable {
                    block.retain(|one| one.completed == Some(clock));
                }
            }
        }
    }

    /// The submitter knows that what it wrote before the power failed may be lost.
    fn told(&mut self) {
        let (cut, held) = self.cut.as_ref().expect("a flush failed without any reset");
        for (block, &word) in self.may_hold.iter_mut().zip(held) {
            block.retain(|one| one.completed.is_none_or(|at| at > *cut));
            block.insert(0, Written { word, completed: Some(*cut) });
        }
    }

    fn check(&mut self) {
        let found = self.target.disk.chunks(BLOCK as usize).map(word);
        let lost = found.zip(&self.may_hold);
        let lost = lost.filter(|(found, may)| may.iter().all(|one| one.word != *found));
        self.lost += lost.count() as u32;
    }

    fn cut_power(&mut self) {
        self.out.clear();
        self.back.clear();
        self.session.disconnected(self.now_ns);
        self.target.cut_power();
        self.check();
        self.clock += 1;
        self.cuts += 1;
        let held = self.target.disk.chunks(BLOCK as usize).map(word).collect();
        self.cut = Some((self.clock, held));
        self.session.connected(self.now_ns, &self.memory, &mut self.out);
    }

    fn turn(&mut self) {
        self.now_ns += 20_000;
        let bytes = self.out.gather(&self.memory);
        self.target.receive(&bytes);
        self.target.step();
        self.back.append(&mut self.target.outbox);
        let mut done = Vec::new();
        let (now_ns, memory, out) = (self.now_ns, &mut self.memory, &mut self.out);
        let taken = self.session.receive(&self.back, now_ns, memory, out, &mut done).unwrap();
        self.back.drain(..taken);
        if self.session.deadline_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.session.tick(now_ns, memory, out, &mut done).unwrap();
        }
        for completion in done {
            self.complete(completion);
        }
    }

    fn run(&mut self) {
        self.session.connected(0, &self.memory, &mut self.out);
        let mut submitted = 0;
        for _ in 0..1_000_000 {
            if submitted < OPERATIONS && self.dice.chance(300) {
                submitted += 1;
                self.submit();
            }
            if submitted < OPERATIONS && self.dice.chance(4) {
                self.cut_power();
            }
            self.turn();
            if submitted == OPERATIONS && self.outstanding.is_empty() {
                self.target.cut_power();
                return self.check();
            }
        }
        panic!("{} operations never end", self.outstanding.len());
    }
}

#[test]
fn what_a_flush_covers_survives_the_loss_of_power() {
    let (mut cuts, mut kept, mut failed) = (0, 0, 0);
    for seed in 0..200 {
        let mut rig = Rig::new(seed, false);
        rig.run();
        assert_eq!(rig.lost, 0, "seed {seed}");
        cuts += rig.cuts;
        kept += rig.kept;
        failed += rig.failed;
    }
    // What the seeds should cause has happened.
    assert!(cuts > 400 && kept > 10_000 && failed > 100, "{cuts}, {kept}, {failed}");
}

#[test]
fn pretended_flushes_are_caught() {
    let caught = (0..20).filter(|&seed| {
        let mut rig = Rig::new(seed, true);
        rig.run();
        rig.lost > 0
    });
    assert_eq!(caught.count(), 20);
}
