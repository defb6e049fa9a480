//! The I/O loop.
//!
//! It keeps the promised load: in a closed loop every completion is followed at once by the next
//! request of the same disk; in an open loop requests are issued when they fall due, and latency
//! counts from then even if the loop or the disk was late (no coordinated omission).
//!
//! A completion is timed when the loop sees it (one clock reading per batch of completions seen
//! together), a request when it is submitted to the disks (one reading each). Latency therefore
//! includes the time that submission takes.
//!
//! The order of one turn: reap, read the clock, pass boundaries (ramp end, interval ends, window
//! end), record, issue. So an I/O seen after a boundary belongs to what follows it.

mod boundaries;
mod finish;
mod flush;
mod open;
mod rest;
mod verified;

use std::cmp::Reverse;

use stormeter_disk::{Clock, Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};

use crate::content::{ContentSource, stamp};
use crate::direction::Direction;
use crate::flushes::Flushes;
use crate::generator::{Cursor, Pattern};
use crate::held_buffers::HeldBuffers;
use crate::observer::Observer;
use crate::pacing::{Pacing, Slot};
use crate::random::Random;
use crate::recorder::Recorder;
use crate::turns::{LOOK_UP_NS, STILL_TURNS};
use crate::verify::{LentExpectations, Unverified, Verification, Verifier};
use stormeter_trial::{Ended, IoFailure, IoFailureOutcome, Sample, Trial, WorkloadError};

/// Drives `trial` and returns the measurement.
///
/// `start` is called when all is ready (buffers filled, memory allocated) and returns the start
/// time on the given clock, so that several threads can start together; the loop waits for it.
/// `None`: do not start.
///
/// # Errors
/// Only for a workload that cannot be driven. Later errors are in [`Sample::ended`] and
/// [`Sample::io_failures`], with everything counted up to then.
pub fn drive<D: Disks, C: Clock, O: Observer>(
    trial: &Trial,
    start: impl FnOnce() -> Option<u64>,
    disks: &mut D,
    clock: &mut C,
    observer: &mut O,
) -> Result<Sample, WorkloadError> {
    trial.check()?;
    if trial.verify {
        return Err(WorkloadError::VerifyExpectations);
    }
    Ok(Drive::new(trial, disks, clock, observer, Unverified).carry_out(start))
}

/// [`drive`] for a trial that verifies: each block of each read is checked against `expectations`,
/// which are updated with every write. The findings are in [`Sample::verified`].
///
/// # Errors
/// See [`drive`]; also expectations of other disks, and disks that store no contents.
pub fn drive_verified<D: Disks, C: Clock, O: Observer>(
    trial: &Trial,
    start: impl FnOnce() -> Option<u64>,
    disks: &mut D,
    clock: &mut C,
    observer: &mut O,
    expectations: LentExpectations<'_>,
) -> Result<Sample, WorkloadError> {
    trial.check()?;
    if !trial.verify {
        return Err(WorkloadError::VerifyExpectations);
    }
    if disks.buffer(trial.write_buffers()).is_none() {
        return Err(WorkloadError::VerifyNoContent);
    }
    let verifier = Verifier::new(trial, expectations)?;
    Ok(Drive::new(trial, disks, clock, observer, verifier).carry_out(start))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Ramp,
    Window,
    Drain,
}

struct Drive<'a, D, C, O, V> {
    trial: &'a Trial,
    disks: &'a mut D,
    clock: &'a mut C,
    observer: &'a mut O,
    verification: V,
    pattern: Pattern,
    content: ContentSource,
    content_random: Random,
    generation: u64,
    /// Number of buffers, from 0, that writes take in turn.
    write_buffers: u32,
    next_write: u32,
    held: HeldBuffers,
    /// Whether the disks have buffers.
    keeps_content: bool,
    cursors: Vec<Cursor>,
    slots: Vec<Slot>,
    pacing: Pacing,
    /// The kind of all writes.
    write_kind: Kind,
    /// `None` if the workload does not flush.
    flushes: Option<Box<Flushes>>,
    flush_failure: Option<DeviceError>,
    recorder: Recorder,
    phase: Phase,
    start_ns: u64,
    /// The next time at which something other than I/O has to be done.
    boundary_ns: u64,
    interval_start_ns: u64,
    outstanding: u64,
    outstanding_integral: u128,
    /// Since the window opened, or before that since the start: [`Sample::turn_wait_ns`].
    turn_wait_ns: u64,
    /// See [`Sample::spun_ns`].
    spun_ns: u64,
    /// In an open loop: the last turn issued or recorded something, whose time is part of the next turn.
    worked: bool,
    carried_ns: i64,
    last_turn_ns: u64,
    last_progress_ns: u64,
    ramp_operations: u64,
    due_operations: u64,
    backlog_operations: u64,
    window_ns: u64,
}

impl<'a, D: Disks, C: Clock, O: Observer, V: Verification> Drive<'a, D, C, O, V> {
    fn new(
        trial: &'a Trial,
        disks: &'a mut D,
        clock: &'a mut C,
        observer: &'a mut O,
        verification: V,
    ) -> Self {
        let (pacing, slots) = Pacing::new(trial);
        let write_kind = if trial.workload.durable { Kind::DurableWrite } else { Kind::Write };
        let pattern = Pattern::new(&trial.workload, trial.disk_bytes);
        let disks_of_all = trial.first_disk..trial.first_disk + trial.disks;
        let cursor = |disk| pattern.cursor(trial.seed, trial.start, disk);
        let cursors = disks_of_all.map(cursor).collect();
        Self {
            trial,
            disks,
            clock,
            observer,
            verification,
            pattern,
            content: ContentSource::new(trial.workload.content, trial.content_seed),
            content_random: Random::stream(trial.seed, 0xc0de ^ u64::from(trial.first_disk)),
            write_buffers: trial.write_buffers(),
            next_write: 0,
            held: HeldBuffers::default(),
            keeps_content: false,
            generation: trial.content_seed ^ (u64::from(trial.first_disk) << 44),
            cursors,
            write_kind,
            flushes: Flushes::new(trial, slots.len() as u32),
            flush_failure: None,
            slots,
            pacing,
            recorder: Recorder::new(trial.disks),
            phase: Phase::Ramp,
            start_ns: 0,
            boundary_ns: 0,
            interval_start_ns: 0,
            outstanding: 0,
            outstanding_integral: 0,
            turn_wait_ns: 0,
            spun_ns: 0,
            worked: false,
            carried_ns: 0,
            last_turn_ns: 0,
            last_progress_ns: 0,
            ramp_operations: 0,
            due_operations: 0,
            backlog_operations: 0,
            window_ns: 0,
        }
    }

    fn carry_out(mut self, start: impl FnOnce() -> Option<u64>) -> Sample {
        self.fill_buffers();
        let Some(start_ns) = start() else { return self.finish(Ended::Cancelled) };
        self.begin_at(start_ns);
        let ended = match self.run() {
            Ok(ended) => ended,
            Err(error) => Ended::QueueBroken { reason: error.to_string() },
        };
        self.finish(ended)
    }

    fn begin_at(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        if let Pacing::Open { due, .. } = &mut self.pacing {
            due.begin_at(start_ns);
        }
        if let Some(flushes) = &mut self.flushes {
            flushes.begin_at(start_ns, self.trial.first_disk, self.trial.seed);
        }
    }

    fn run(&mut self) -> Result<Ended, DisksError> {
        let mut completions = Vec::with_capacity(self.slots.len().min(4096));
        let mut now_ns = match self.wait_for_start(&mut completions)? {
            Ok(now_ns) => now_ns,
            Err(ended) => return Ok(ended),
        };
        self.last_turn_ns = now_ns;
        self.last_progress_ns = now_ns;
        self.boundary_ns = (self.start_ns + self.trial.ramp_ns).min(now_ns + LOOK_UP_NS);
        if let Some(ended) = self.pass_boundaries(now_ns) {
            return Ok(ended);
        }
        self.issue_first(now_ns)?;
        let mut still_turns = 0;
        loop {
            while let Some((completion, seen_ns)) = self.held.next_early() {
                if let Some(ended) = self.complete_early(completion, seen_ns)? {
                    return Ok(ended);
                }
            }
            let wait = self.wait(now_ns);
            self.disks.reap(wait, &mut completions)?;
            let seen_ns = self.clock.now_ns();
            // With a stopped clock every turn would be the first one forever.
            still_turns = if seen_ns == now_ns { still_turns + 1 } else { 0 };
            if still_turns > STILL_TURNS {
                return Ok(Ended::ClockStopped);
            }
            now_ns = seen_ns;
            if self.phase == Phase::Window {
                let turn_ns = now_ns.saturating_sub(self.last_turn_ns);
                self.outstanding_integral += u128::from(self.outstanding) * u128::from(turn_ns);
                if wait == Wait::No && completions.is_empty() {
                    self.spin(turn_ns);
                }
            }
            self.last_turn_ns = now_ns;
            if now_ns >= self.boundary_ns
                && let Some(ended) = self.pass_boundaries(now_ns)
            {
                return Ok(ended);
            }
            if !completions.is_empty() {
                self.last_progress_ns = now_ns;
                for &completion in &completions {
                    self.complete(completion, now_ns)?;
                }
                completions.clear();
            }
            self.issue_due(now_ns)?;
            if self.phase == Phase::Drain
                && self.outstanding == 0
                && let Some(ended) = self.drained()
            {
                return Ok(ended);
            }
        }
    }

    /// Write buffers are filled once; each write only stamps them.
    fn fill_buffers(&mut self) {
        for buffer in 0..self.write_buffers {
            if let Some(bytes) = self.disks.buffer(buffer) {
                self.keeps_content = true;
                // The number of a disk that does not exist, so that the first write is not a copy
                // of a prepared disk.
                self.content.fill(u32::MAX - buffer, 0, bytes);
            }
        }
        if self.content.has_duplicates() {
            let duplicate = self.duplicate_buffer();
            if let Some(bytes) = self.disks.buffer(duplicate) {
                self.content.fill_duplicate(bytes);
            }
        }
        if V::ON {
            self.rehearse();
        }
    }

    fn wait_for_start(
        &mut self,
        completions: &mut Vec<Completion>,
    ) -> Result<Result<u64, Ended>, DisksError> {
        let mut turns = 0u32;
        let mut now_ns = self.clock.now_ns();
        while now_ns < self.start_ns {
            // Nothing is outstanding: this is a bounded sleep in the disks' own time.
            let wait_ns = (self.start_ns - now_ns).min(LOOK_UP_NS);
            self.disks.reap(Wait::AtMost(wait_ns), completions)?;
            let seen_ns = self.clock.now_ns();
            turns = if seen_ns == now_ns { turns + 1 } else { 0 };
            if turns > STILL_TURNS {
                return Ok(Err(Ended::ClockStopped));
            }
            if self.observer.cancelled() {
                return Ok(Err(Ended::Cancelled));
            }
            now_ns = seen_ns;
        }
        Ok(Ok(now_ns))
    }

    /// How to wait: sleep until shortly before the loop must be awake, then poll.
    #[inline]
    fn wait(&self, now_ns: u64) -> Wait {
        let left_ns = self.wake_ns().saturating_sub(now_ns);
        let awake_ns = self.trial.limits.awake_ns;
        if awake_ns == 0 || left_ns == 0 {
            return Wait::AtMost(left_ns);
        }
        if left_ns <= awake_ns { Wait::No } else { Wait::AtMost(left_ns - awake_ns) }
    }

    /// The next time at which the loop must be awake.
    #[inline]
    fn wake_ns(&self) -> u64 {
        if matches!(self.pacing, Pacing::Closed) || self.phase == Phase::Drain {
            return self.boundary_ns;
        }
        match &self.pacing {
            Pacing::Closed | Pacing::Flushed => self.boundary_ns,
            Pacing::Bursts { resting, .. } => {
                resting.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns).min(self.boundary_ns)
            }
            // Without a free slot only a completion can help.
            Pacing::Open { free, .. } if free.is_empty() => self.boundary_ns,
            Pacing::Open { due, .. } => due.next_ns().min(self.boundary_ns),
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Result<(), DisksError> {
        let slot = completion.slot;
        let Some(place) = self.slots.get_mut(slot as usize).filter(|slot| slot.length_bytes > 0)
        else {
            return self.complete_flush(completion, now_ns);
        };
        let Slot { started_ns, disk, length_bytes, direction, .. } = *place;
        place.length_bytes = 0;
        self.outstanding -= 1;
        if V::ON {
            self.verify(completion, direction, length_bytes, now_ns);
        }
        let mut is_counted = false;
        if completion.result != length_bytes as i32 {
            self.io_failed(completion, length_bytes);
        } else if self.phase == Phase::Window {
            let latency_ns = now_ns.saturating_sub(started_ns);
            self.recorder.record(disk, direction, length_bytes, latency_ns);
            is_counted = true;
        } else if self.phase == Phase::Ramp {
            self.ramp_operations += 1;
        }
        if matches!(self.pacing, Pacing::Closed) {
            if self.phase == Phase::Drain {
                return Ok(());
            }
            let started_ns = self.clock.now_ns();
            return self.issue::<false>(slot, disk, started_ns);
        }
        self.rest(slot, disk, is_counted, now_ns)
    }

    /// Handles a completion that was seen at `seen_ns`, after the start of the last turn.
    #[cold]
    #[inline(never)]
    fn complete_early(
        &mut self,
        completion: Completion,
        seen_ns: u64,
    ) -> Result<Option<Ended>, DisksError> {
        if self.phase == Phase::Window {
            let passed_ns = seen_ns.saturating_sub(self.last_turn_ns);
            self.outstanding_integral += u128::from(self.outstanding) * u128::from(passed_ns);
        }
        (self.last_turn_ns, self.last_progress_ns) = (seen_ns, seen_ns);
        // Each counts as a turn: early completions may follow one another for as long as the window
        // lasts.
        if seen_ns >= self.boundary_ns
            && let Some(ended) = self.pass_boundaries(seen_ns)
        {
            return Ok(Some(ended));
        }
        self.complete(completion, seen_ns).map(|()| None)
    }

    /// Records an I/O of `length_bytes` that failed or was short.
    #[cold]
    fn io_failed(&mut self, completion: Completion, length_bytes: u32) {
        let Slot { offset_bytes, disk, direction, .. } = self.slots[completion.slot as usize];
        let kind = direction.kind(self.write_kind);
        let outcome = match completion.outcome() {
            Ok(bytes) => IoFailureOutcome::Short(bytes),
            Err(error) => IoFailureOutcome::Failed(error),
        };
        let disk = self.trial.first_disk + disk;
        self.recorder.io_failed(IoFailure { disk, kind, offset_bytes, length_bytes, outcome });
        if self.recorder.io_failures() >= self.trial.limits.max_io_failures {
            // The next turn ends the trial.
            self.boundary_ns = 0;
        }
    }

    fn issue_first(&mut self, now_ns: u64) -> Result<(), DisksError> {
        match &mut self.pacing {
            Pacing::Closed | Pacing::Flushed => {
                for slot in 0..self.slots.len() as u32 {
                    let started_ns = self.clock.now_ns();
                    self.issue_apart(slot, self.slots[slot as usize].disk, started_ns)?;
                }
            }
            Pacing::Bursts { resting, .. } => {
                resting.extend((0..self.trial.disks).map(|disk| Reverse((now_ns, disk))));
                self.issue_due(now_ns)?;
            }
            Pacing::Open { .. } => self.issue_due(now_ns)?,
        }
        Ok(())
    }

    /// Issues what is due by the clock rather than because of a completion.
    // Always inlined: as a call, asking a closed loop costs twenty instructions per turn.
    #[inline(always)]
    fn issue_due(&mut self, now_ns: u64) -> Result<(), DisksError> {
        match &self.pacing {
            Pacing::Closed => Ok(()),
            _ if self.phase == Phase::Drain => Ok(()),
            Pacing::Flushed => Ok(()),
            Pacing::Bursts { .. } => self.begin_bursts(now_ns),
            Pacing::Open { .. } => self.issue_arrivals(now_ns),
        }
    }

    /// [`Drive::issue`] outside the inner loop.
    #[inline(never)]
    fn issue_apart(&mut self, slot: u32, disk: u32, started_ns: u64) -> Result<(), DisksError> {
        self.issue::<false>(slot, disk, started_ns)
    }

    #[inline(always)]
    fn issue<const OPEN: bool>(
        &mut self,
        slot: u32,
        disk: u32,
        started_ns: u64,
    ) -> Result<(), DisksError> {
        let mut request = self.pattern.next(&mut self.cursors[disk as usize]);
        if V::ON {
            request = self.set_apart(slot, disk, request)?;
        }
        let mut started_ns = started_ns;
        let (buffer, kind) = match request.direction {
            Direction::Read => (self.write_buffers + slot, Kind::Read),
            Direction::Write => {
                let buffer = self.write_buffer(slot, request.length_bytes)?;
                if self.held.found() && !OPEN {
                    started_ns = self.clock.now_ns();
                }
                (buffer, self.write_kind)
            }
        };
        let started_ns = if V::ON { self.begun_ns(started_ns) } else { started_ns };
        // The time since the last turn was spent waiting, and would otherwise count as outstanding.
        if !OPEN {
            // Both are readings of the same clock, this one the later.
            let waited_ns = started_ns.wrapping_sub(self.last_turn_ns);
            self.turn_wait_ns = self.turn_wait_ns.wrapping_add(waited_ns);
        }
        self.slots[slot as usize] = Slot {
            started_ns,
            offset_bytes: request.offset_bytes,
            disk,
            length_bytes: request.length_bytes,
            direction: request.direction,
        };
        if self.outstanding == 0 {
            // The disks were idle: stall time counts from here.
            self.last_progress_ns = self.last_turn_ns;
        }
        self.outstanding += 1;
        if OPEN && let Pacing::Open { log, .. } = &mut self.pacing {
            log.issued(slot, self.clock.now_ns());
        }
        // One at a time: the disks batch their submissions themselves, and a request that has been
        // timed does not wait here meanwhile.
        self.disks.submit(&[Operation {
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
            disk,
            slot,
            buffer,
            kind,
        }])
    }

    #[inline]
    fn write_buffer(&mut self, slot: u32, length_bytes: u32) -> Result<u32, DisksError> {
        if self.content.has_duplicates() && self.content.is_duplicate(self.content_random.next()) {
            return Ok(self.duplicate_buffer());
        }
        self.generation = self.generation.wrapping_add(1);
        let first = self.next_write;
        loop {
            let buffer = self.next_write;
            self.next_write = if buffer + 1 == self.write_buffers { 0 } else { buffer + 1 };
            match self.disks.buffer(buffer) {
                Some(bytes) => {
                    let length = (length_bytes as usize).min(bytes.len());
                    if V::ON {
                        self.verification.seal(slot, &mut bytes[..length]);
                    } else {
                        stamp(&mut bytes[..length], self.generation);
                    }
                    return Ok(buffer);
                }
                // Still in use by a write; there are more buffers than outstanding I/Os.
                None if self.keeps_content => {
                    if self.next_write == first {
                        let limit_ns = self.trial.limits.stall_ns;
                        self.held.wait(self.disks, self.clock, limit_ns)?;
                    }
                }
                None => return Ok(buffer),
            }
        }
    }

    fn duplicate_buffer(&self) -> u32 {
        self.write_buffers + self.slots.len() as u32
    }
}

#[cold]
fn nothing_outstanding(slot: u32) -> DisksError {
    DisksError {
        action: "collecting completions",
        reason: format!("slot {slot} completed although nothing was outstanding on it"),
    }
}
