//! Verifies that reads return what was written.
//!
//! Each block on the disks identifies itself ([`block`]); its expected state is known
//! ([`expectations`]), because no operation overlaps one in flight if one of them is a write
//! ([`under_way`]). So every block of every read can be checked, and every difference is the
//! storage's fault.
//!
//! The loop calls a trait, and is compiled once with and once without verification: without it,
//! nothing is called.

mod block;
mod coverage;
mod expectations;
mod in_flight;

pub use expectations::{Expectations, LentExpectations, PriorContent, Seal};

use stormeter_trial::{BlockName, Corruption, ExpectedBlock, FoundBlock, Verified};

use crate::direction::Direction;
use crate::generator::Request;
use block::Label;
use coverage::Coverage;
use expectations::Expected;
use in_flight::{Place, UnderWay};
use stormeter_trial::{Trial, WorkloadError};

/// The hooks with which the loop verifies reads.
pub(crate) trait Verification {
    /// Whether it verifies; if not, none of the rest is called.
    const ON: bool;

    /// Moves the request to a place without conflicts and marks that as in flight. `None`: there is
    /// no place.
    fn begin(&mut self, slot: u32, disk: u32, request: Request) -> Option<Request>;

    /// Turns the buffer of a write that has started into the blocks of its place.
    fn seal(&mut self, slot: u32, bytes: &mut [u8]);

    /// The operation moved all its bytes; for a read, `bytes` is what it read.
    fn moved(&mut self, slot: u32, bytes: Option<&[u8]>, at_ns: u64);

    /// The operation did not move all its bytes.
    fn failed(&mut self, slot: u32);

    /// Flush `number` of the disk is about to be submitted.
    fn flush_started(&mut self, number: u32, disk: u32);

    /// Flush `number` has ended.
    fn flushed(&mut self, number: u32, succeeded: bool);

    /// Fills the buffer of reads from disks that store nothing.
    fn rehearse(&mut self, bytes: &mut [u8]);

    /// The findings. Operations still in flight are given up.
    fn finish(self) -> Option<Verified>;
}

/// No verification.
#[derive(Debug)]
pub(crate) struct Unverified;

impl Verification for Unverified {
    const ON: bool = false;

    fn begin(&mut self, _: u32, _: u32, request: Request) -> Option<Request> {
        Some(request)
    }

    fn seal(&mut self, _: u32, _: &mut [u8]) {}

    fn moved(&mut self, _: u32, _: Option<&[u8]>, _: u64) {}

    fn failed(&mut self, _: u32) {}

    fn flush_started(&mut self, _: u32, _: u32) {}

    fn flushed(&mut self, _: u32, _: bool) {}

    fn rehearse(&mut self, _: &mut [u8]) {}

    fn finish(self) -> Option<Verified> {
        None
    }
}

/// Verifies every read.
#[derive(Debug)]
pub(crate) struct Verifier<'a> {
    expectations: LentExpectations<'a>,
    under_way: UnderWay,
    coverage: Coverage,
    first_disk: u32,
    verified: Verified,
}

impl<'a> Verifier<'a> {
    /// For a trial that has been checked.
    pub(crate) fn new(
        trial: &Trial,
        expectations: LentExpectations<'a>,
    ) -> Result<Self, WorkloadError> {
        let unit_bytes = trial.workload.verify_unit_bytes()?;
        let shape = (trial.disks, trial.disk_bytes / u64::from(unit_bytes) * u64::from(unit_bytes));
        if expectations.seal.unit_bytes != unit_bytes || expectations.shape() != shape {
            return Err(WorkloadError::VerifyExpectations);
        }
        let Trial { workload, disk_bytes, first_disk, .. } = trial;
        let reach_bytes = workload.largest_bytes();
        Ok(Self {
            expectations,
            under_way: UnderWay::new(
                trial.slots(),
                reach_bytes,
                *disk_bytes,
                workload.alignment_bytes,
            ),
            coverage: Coverage::new(trial.disks, workload.durable),
            first_disk: *first_disk,
            verified: Verified::default(),
        })
    }

    fn blocks(&self, place: &Place) -> std::ops::Range<usize> {
        let unit_bytes = u64::from(self.expectations.seal.unit_bytes);
        let first = (place.offset_bytes / unit_bytes) as usize;
        first..first + (u64::from(place.length_bytes) / unit_bytes) as usize
    }

    fn look_at(&mut self, place: &Place, bytes: &[u8], at_ns: u64) {
        let LentExpectations { seal, past, ref disks } = self.expectations;
        let unit_bytes = u64::from(seal.unit_bytes);
        let Some(generations) = disks.get(place.disk as usize) else { return };
        let disk = self.first_disk + place.disk;
        let first = place.offset_bytes / unit_bytes;
        let read = bytes.get(..place.length_bytes as usize).unwrap_or(bytes);
        for (number, block) in (first..).zip(read.chunks_exact(seal.unit_bytes as usize)) {
            let offset_bytes = number * unit_bytes;
            let expected = generations.expected(number as usize, past);
            self.verified.blocks += 1;
            self.verified.unknown_blocks += u64::from(expected == Expected::Any);
            let found = match block::open(block) {
                Err(found) => found,
                Ok(Label { owner, name }) if owner != seal.owner => FoundBlock::Foreign(name),
                Ok(Label { name, .. }) => {
                    let is_here = (name.disk, name.offset_bytes) == (disk, offset_bytes);
                    if is_here && expected.allows(name.generation) {
                        continue;
                    }
                    FoundBlock::Block(name)
                }
            };
            if past == PriorContent::Nothing {
                continue;
            }
            let generations = expected.generations();
            let is_covered = |&generation: &u64| self.coverage.covers(place.disk, generation);
            let covered = !generations.is_empty() && generations.iter().all(is_covered);
            let expected = ExpectedBlock { disk, offset_bytes, generations };
            self.verified.wrong(Corruption { expected, found, at_ns, covered });
        }
    }

    /// A write whose outcome will never be known.
    fn give_up(&mut self, place: &Place) {
        let blocks = self.blocks(place);
        let past = self.expectations.past;
        if place.direction == Direction::Write
            && let Some(disk) = self.expectations.disks.get_mut(place.disk as usize)
        {
            disk.may_have_written(blocks, place.generation, past);
        }
    }
}

impl Verification for Verifier<'_> {
    const ON: bool = true;

    #[inline(never)]
    fn begin(&mut self, slot: u32, disk: u32, request: Request) -> Option<Request> {
        let offset_bytes = self.under_way.free_offset_bytes(disk, &request)?;
        let Request { length_bytes, direction, .. } = request;
        let generation = match direction {
            Direction::Read => 0,
            Direction::Write => self.expectations.disks.get_mut(disk as usize)?.next(),
        };
        if direction == Direction::Write {
            self.coverage.begin(disk, generation);
        }
        let place = Place { disk, offset_bytes, length_bytes, direction, generation };
        self.under_way.begin(slot, place);
        Some(Request { offset_bytes, ..request })
    }

    #[inline(never)]
    fn seal(&mut self, slot: u32, bytes: &mut [u8]) {
        let Some(place) = self.under_way.place(slot) else { return };
        let seal = self.expectations.seal;
        let disk = self.first_disk + place.disk;
        seal.seal(disk, place.offset_bytes, place.generation, bytes);
    }

    #[inline(never)]
    fn moved(&mut self, slot: u32, bytes: Option<&[u8]>, at_ns: u64) {
        let Some(place) = self.under_way.end(slot) else { return };
        match (place.direction, bytes) {
            (Direction::Read, Some(bytes)) => self.look_at(&place, bytes, at_ns),
            (Direction::Read, None) => {}
            (Direction::Write, _) => {
                self.coverage.end(place.disk, place.generation, true);
                let blocks = self.blocks(&place);
                if let Some(disk) = self.expectations.disks.get_mut(place.disk as usize) {
                    disk.wrote(blocks, place.generation);
                }
            }
        }
    }

    #[inline(never)]
    fn failed(&mut self, slot: u32) {
        if let Some(place) = self.under_way.end(slot) {
            if place.direction == Direction::Write {
                self.coverage.end(place.disk, place.generation, false);
            }
            self.give_up(&place);
        }
    }

    fn flush_started(&mut self, number: u32, disk: u32) {
        self.coverage.flush_started(number, disk);
    }

    fn flushed(&mut self, number: u32, succeeded: bool) {
        self.coverage.flushed(number, succeeded);
    }

    fn rehearse(&mut self, bytes: &mut [u8]) {
        if self.expectations.past == PriorContent::Nothing {
            self.expectations.seal.seal(0, 0, 0, bytes);
        }
    }

    fn finish(mut self) -> Option<Verified> {
        let left: Vec<Place> = self.under_way.drain().collect();
        left.iter().for_each(|place| self.give_up(place));
        self.verified.covered_writes = self.coverage.covered_writes();
        Some(self.verified)
    }
}

impl Seal {
    /// Turns `bytes`, which are at `offset_bytes` of a disk, into whole blocks.
    pub(crate) fn seal(&self, disk: u32, offset_bytes: u64, generation: u64, bytes: &mut [u8]) {
        let offsets = (offset_bytes..).step_by(self.unit_bytes as usize);
        for (offset_bytes, block) in offsets.zip(bytes.chunks_exact_mut(self.unit_bytes as usize)) {
            let name = BlockName { disk, offset_bytes, generation };
            block::seal(block, &Label { owner: self.owner, name });
        }
    }
}
