//! Disks in memory and virtual time that move data at some moment between submission and
//! completion, in any order, and can be made to lie.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};
use stormeter_simulator::VirtualTime;

/// Each disk's bytes, and their state before the last write to each place.
pub(crate) type Contents = Rc<RefCell<Vec<Content>>>;

#[derive(Clone)]
pub(crate) struct Content {
    pub(crate) now: Vec<u8>,
    before: Vec<u8>,
}

impl Content {
    pub(crate) fn new(now: Vec<u8>) -> Self {
        Self { before: now.clone(), now }
    }
}

/// A lie, told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A write is acknowledged but not done.
    LostWrite,
    /// A write goes to the next place of its size.
    MisplacedWrite,
    /// Only the first half of a write is done.
    TornWrite,
    /// A write is done with one bit changed.
    FlippedWrite,
    /// A read returns what was there before the last write.
    StaleRead,
    /// A read completes before its bytes are there, in place of another one.
    SwappedCompletions,
    /// A read returns zeros.
    ZeroRead,
}

/// What to do wrong, and when.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plan {
    /// The lie, told at the first opportunity after this many operations.
    pub(crate) lie: Option<(Lie, u64)>,
    /// Share of operations that fail; half of the writes among them are done nevertheless.
    pub(crate) errors: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Move,
    End,
}

pub(crate) struct Memory {
    pub(crate) contents: Contents,
    /// The first of the contents that belongs to this thread.
    pub(crate) first_disk: usize,
    /// How often operations overlapped of which one was a write.
    pub(crate) overlaps: u64,
    /// Whether the lie was told.
    pub(crate) lied: bool,
    time: VirtualTime,
    plan: Plan,
    random: u64,
    buffers: Vec<Vec<u8>>,
    users: Vec<u32>,
    outstanding: Vec<Operation>,
    steps: BinaryHeap<Reverse<(u64, u64, Step, u32)>>,
    submitted: u64,
    /// The slot whose completion was given to another one, and that slot.
    swapped: Option<(u32, u32)>,
}

impl Memory {
    pub(crate) fn new(
        contents: Contents,
        first_disk: usize,
        time: VirtualTime,
        needs: stormeter_trial::BufferNeeds,
        plan: Plan,
        seed: u64,
    ) -> Self {
        Self {
            contents,
            first_disk,
            overlaps: 0,
            lied: false,
            time,
            plan,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            buffers: vec![vec![0; needs.bytes as usize]; needs.count as usize],
            users: vec![0; needs.count as usize],
            outstanding: Vec::new(),
            steps: BinaryHeap::new(),
            submitted: 0,
            swapped: None,
        }
    }

    /// xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators").
    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % below
    }

    /// Whether to tell this lie now.
    fn lies(&mut self, lie: Lie) -> bool {
        let now =
            !self.lied && self.plan.lie.is_some_and(|(it, at)| it == lie && self.submitted > at);
        self.lied |= now;
        now
    }

    fn operation(&self, slot: u32) -> Operation {
        *self.outstanding.iter().find(|operation| operation.slot == slot).unwrap()
    }

    fn moves(&mut self, slot: u32) {
        let operation = self.operation(slot);
        match operation.kind {
            Kind::Write | Kind::DurableWrite => self.write(&operation),
            Kind::Read => self.read(&operation),
            Kind::Flush => {}
        }
    }

    fn write(&mut self, operation: &Operation) {
        let mut length = operation.length_bytes as usize;
        let mut at = operation.offset_bytes as usize;
        let mut bytes = self.buffers[operation.buffer as usize][..length].to_vec();
        if self.lies(Lie::LostWrite) {
            return;
        }
        let disk_bytes = self.contents.borrow()[0].now.len();
        if self.lies(Lie::MisplacedWrite) {
            at = if at + 2 * length <= disk_bytes { at + length } else { 0 };
        }
        if self.lies(Lie::TornWrite) {
            length /= 2;
        }
        if self.lies(Lie::FlippedWrite) {
            let bit = self.draw(length as u64 * 8) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let disk = self.first_disk + operation.disk as usize;
        let content = &mut self.contents.borrow_mut()[disk];
        let place = at..at + length;
        content.before[place.clone()].copy_from_slice(&content.now[place.clone()]);
        content.now[place].copy_from_slice(&bytes[..length]);
    }

    fn read(&mut self, operation: &Operation) {
        let at = operation.offset_bytes as usize;
        let place = at..at + operation.length_bytes as usize;
        let disk = self.first_disk + operation.disk as usize;
        let is_rewritten = {
            let content = &self.contents.borrow()[disk];
            content.before[place.clone()] != content.now[place.clone()]
        };
        let stale = is_rewritten && self.lies(Lie::StaleRead);
        let zeros = self.lies(Lie::ZeroRead);
        let content = &self.contents.borrow()[disk];
        let source = if stale { &content.before } else { &content.now };
        let buffer = &mut self.buffers[operation.buffer as usize][..place.len()];
        buffer.copy_from_slice(&source[place]);
        if zeros {
            buffer.fill(0);
        }
    }

    fn ends(&mut self, mut slot: u32, completions: &mut Vec<Completion>) {
        let operation = self.operation(slot);
        if let Some((_, other)) = self.swapped.filter(|&(given, _)| given == slot) {
            // Its own completion was given to another; it takes that one's.
            self.swapped = None;
            slot = other;
        } else if operation.kind == Kind::Read
            && let Some(early) = self.unmoved_read(slot)
            && self.lies(Lie::SwappedCompletions)
        {
            self.swapped = Some((early, slot));
            slot = early;
        }
        let operation = self.operation(slot);
        if operation.kind != Kind::Flush {
            self.users[operation.buffer as usize] -= 1;
        }
        self.outstanding.retain(|other| other.slot != slot);
        completions.push(Completion::moved(slot, operation.length_bytes));
    }

    /// A read whose bytes have not been moved yet.
    fn unmoved_read(&self, slot: u32) -> Option<u32> {
        let mut waiting = self.steps.iter().filter(|Reverse((.., step, _))| *step == Step::Move);
        let is_read = |other: &u32| *other != slot && self.operation(*other).kind == Kind::Read;
        waiting.find_map(|Reverse((.., other))| Some(*other).filter(is_read))
    }
}

fn overlap(one: &Operation, other: &Operation) -> bool {
    one.disk == other.disk
        && (one.kind.is_write() || other.kind.is_write())
        && one.offset_bytes < other.offset_bytes + u64::from(other.length_bytes)
        && other.offset_bytes < one.offset_bytes + u64::from(one.length_bytes)
}

impl Disks for Memory {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for &operation in operations {
            self.submitted += 1;
            self.overlaps +=
                self.outstanding.iter().filter(|other| overlap(other, &operation)).count() as u64;
            self.outstanding.push(operation);
            if operation.kind != Kind::Flush {
                self.users[operation.buffer as usize] += 1;
            }
            let now_ns = self.time.now_ns();
            let moves_ns = now_ns + 1_000 + self.draw(100_000);
            let ends_ns = moves_ns + self.draw(100_000);
            let (number, slot) = (self.submitted, operation.slot);
            let fails = (self.draw(1 << 20) as f64) < self.plan.errors * f64::from(1 << 20);
            if !fails || self.draw(2) == 0 {
                self.steps.push(Reverse((moves_ns, number, Step::Move, slot)));
            }
            // A failed operation ends with an odd number that no other step has.
            let number = if fails { u64::MAX - number } else { number };
            self.steps.push(Reverse((ends_ns, number, Step::End, slot)));
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let until_ns = match wait {
            Wait::No => self.time.now_ns(),
            Wait::AtMost(wait_ns) => self.time.now_ns().saturating_add(wait_ns),
        };
        while completions.is_empty()
            && let Some(&Reverse((at_ns, number, step, slot))) = self.steps.peek()
            && at_ns <= until_ns
        {
            self.steps.pop();
            self.time.advance_to(at_ns);
            match step {
                Step::Move => self.moves(slot),
                Step::End if number > u64::MAX / 2 => {
                    let operation = self.operation(slot);
                    if operation.kind != Kind::Flush {
                        self.users[operation.buffer as usize] -= 1;
                    }
                    self.outstanding.retain(|other| other.slot != slot);
                    completions.push(Completion::failed(slot, DeviceError::IO));
                }
                Step::End => self.ends(slot, completions),
            }
        }
        if completions.is_empty() {
            self.time.advance_to(until_ns);
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        let is_free = self.users.get(buffer as usize) == Some(&0);
        self.buffers.get_mut(buffer as usize).filter(|_| is_free).map(Vec::as_mut_slice)
    }
}
