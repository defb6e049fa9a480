//! The loop.
//!
//! It keeps the promised load: in a closed loop every completion is answered with the next request
//! of the same disk at once; in an open loop requests are made when they fall due, and latency
//! counts from then even if the loop or the disk was late (no coordinated omission).
//!
//! A completion is timed when the loop sees it (one clock reading per batch of completions seen
//! together), a request when it is handed to the disks (one reading each). Latency therefore
//! includes the time that submission takes.
//!
//! The order of one turn: reap, read the clock, pass boundaries (ramp end, interval ends, window
//! end), record, issue. So an I/O seen after a boundary belongs to what follows it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormeter_disk::{Clock, Completion, Disks, DisksError, Operation, Wait};

use crate::arrivals::DueTimes;
use crate::content::{ContentSource, stamp};
use crate::generator::{Cursor, Pattern};
use crate::random::Random;
use crate::recorder::Recorder;
use crate::sample::{Ended, Fault, FaultOutcome, Interval, Sample};
use crate::trial::Trial;
use crate::workload::{Arrivals, Burst, WorkloadError};

/// What the surroundings of a trial want to know while it runs. All of it is optional.
pub trait Observer {
    /// The ramp is over; what is counted from here on counts.
    fn window_opened(&mut self) {}
    /// A row of the time plot is complete.
    fn interval(&mut self, _row: &Interval) {}
    /// The window is over; outstanding I/Os are still awaited.
    fn window_closed(&mut self) {}
    /// Whether the trial should stop. Asked some twenty times a second.
    fn cancelled(&mut self) -> bool {
        false
    }
}

/// Nobody watches.
impl Observer for () {}

/// Operations are handed to the disks in batches of this many: fewer calls, while the first of a
/// batch never waits for more than three others to be made up.
const BATCH: usize = 4;
/// The loop looks up from its work this often, whatever the disks do.
const LOOK_UP_NS: u64 = 50_000_000;
/// So many turns without the clock moving mean that it stands still. A real turn takes longer than
/// any clock's step; a simulated clock moves with its disks.
const STILL_TURNS: u32 = 2_000_000;

/// Drives `trial` from `start_ns` (in the clock's time; waits for it) and returns what was measured.
///
/// # Errors
/// Only for a workload that cannot be driven. Whatever goes wrong later is in [`Sample::ended`]
/// and [`Sample::faults`], with everything counted until then.
pub fn drive<D: Disks, C: Clock, O: Observer>(
    trial: &Trial,
    start_ns: u64,
    disks: &mut D,
    clock: &mut C,
    observer: &mut O,
) -> Result<Sample, WorkloadError> {
    trial.check()?;
    let mut drive = Drive::new(trial, start_ns, disks, clock, observer);
    let ended = match drive.run() {
        Ok(ended) => ended,
        Err(error) => Ended::QueueBroken { reason: error.to_string() },
    };
    Ok(drive.finish(ended))
}

/// An operation's place while it is outstanding.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// When it was handed over, or was due.
    started_ns: u64,
    offset_bytes: u64,
    /// Which disk; kept when idle.
    disk: u32,
    /// 0: idle.
    length_bytes: u32,
    kind: stormeter_disk::Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Ramp,
    Window,
    Drain,
}

/// How requests follow completions.
#[derive(Debug)]
enum Pacing {
    /// At once, on the same slot.
    Closed,
    /// In groups.
    Bursts { burst: Burst, disks: Vec<BurstState>, resting: BinaryHeap<Reverse<(u64, u32)>> },
    /// When they are due, on any free slot.
    Open { due: DueTimes, free: Vec<u32> },
}

#[derive(Debug, Default)]
struct BurstState {
    left: u32,
    idle: Vec<u32>,
}

struct Drive<'a, D, C, O> {
    trial: &'a Trial,
    disks: &'a mut D,
    clock: &'a mut C,
    observer: &'a mut O,
    pattern: Pattern,
    content: ContentSource,
    content_random: Random,
    generation: u64,
    cursors: Vec<Cursor>,
    slots: Vec<Slot>,
    pacing: Pacing,
    recorder: Recorder,
    batch: Vec<Operation>,
    phase: Phase,
    start_ns: u64,
    /// The next moment at which something other than I/O has to be done.
    boundary_ns: u64,
    interval_start_ns: u64,
    outstanding: u64,
    outstanding_integral: u128,
    last_turn_ns: u64,
    last_progress_ns: u64,
    ramp_operations: u64,
    due_operations: u64,
    backlog_operations: u64,
    window_ns: u64,
}

impl<'a, D: Disks, C: Clock, O: Observer> Drive<'a, D, C, O> {
    fn new(
        trial: &'a Trial,
        start_ns: u64,
        disks: &'a mut D,
        clock: &'a mut C,
        observer: &'a mut O,
    ) -> Self {
        let slots_count = trial.slots();
        let per_disk = match trial.workload.arrivals {
            Arrivals::Closed { outstanding } => outstanding,
            _ => u32::MAX,
        };
        let idle = Slot {
            started_ns: 0,
            offset_bytes: 0,
            disk: 0,
            length_bytes: 0,
            kind: stormeter_disk::Kind::Read,
        };
        let slots = (0..slots_count).map(|slot| Slot { disk: slot / per_disk, ..idle }).collect();
        let arrival_seed = trial.seed ^ (u64::from(trial.first_disk) << 20);
        let due = DueTimes::new(trial.workload.arrivals, trial.disks, arrival_seed, start_ns);
        let pacing = match (due, trial.workload.burst) {
            (Some(due), _) => Pacing::Open { due, free: (0..slots_count).rev().collect() },
            (None, Some(burst)) => Pacing::Bursts {
                burst,
                disks: (0..trial.disks)
                    .map(|disk| BurstState {
                        left: burst.length,
                        idle: (disk * per_disk..(disk + 1) * per_disk).rev().collect(),
                    })
                    .collect(),
                resting: BinaryHeap::new(),
            },
            (None, None) => Pacing::Closed,
        };
        Self {
            trial,
            disks,
            clock,
            observer,
            pattern: Pattern::new(&trial.workload, trial.disk_bytes),
            content: ContentSource::new(trial.workload.content, trial.seed),
            content_random: Random::stream(trial.seed, 0xc0de ^ u64::from(trial.first_disk)),
            generation: trial.seed ^ (u64::from(trial.first_disk) << 44),
            cursors: (0..trial.disks)
                .map(|disk| Cursor::new(trial.seed, trial.first_disk + disk))
                .collect(),
            slots,
            pacing,
            recorder: Recorder::new(trial.disks),
            batch: Vec::with_capacity(BATCH),
            phase: Phase::Ramp,
            start_ns,
            boundary_ns: 0,
            interval_start_ns: 0,
            outstanding: 0,
            outstanding_integral: 0,
            last_turn_ns: 0,
            last_progress_ns: 0,
            ramp_operations: 0,
            due_operations: 0,
            backlog_operations: 0,
            window_ns: 0,
        }
    }

    fn run(&mut self) -> Result<Ended, DisksError> {
        self.fill_buffers();
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
            let wait = Wait::AtMost(self.wake_ns().saturating_sub(now_ns));
            self.disks.reap(wait, &mut completions)?;
            let seen_ns = self.clock.now_ns();
            // A clock that stands still would make every turn the first one for ever.
            still_turns = if seen_ns == now_ns { still_turns + 1 } else { 0 };
            if still_turns > STILL_TURNS {
                return Ok(Ended::ClockStopped);
            }
            now_ns = seen_ns;
            if self.phase == Phase::Window {
                let turn_ns = now_ns.saturating_sub(self.last_turn_ns);
                self.outstanding_integral += u128::from(self.outstanding) * u128::from(turn_ns);
            }
            self.last_turn_ns = now_ns;
            if now_ns >= self.boundary_ns
                && let Some(ended) = self.pass_boundaries(now_ns)
            {
                return Ok(ended);
            }
            if !completions.is_empty() {
                self.last_progress_ns = now_ns;
                for completion in completions.drain(..) {
                    self.complete(completion, now_ns)?;
                }
            }
            self.issue_due(now_ns)?;
            self.flush()?;
            if self.phase == Phase::Drain && self.outstanding == 0 {
                return Ok(Ended::Completed);
            }
        }
    }

    /// Write buffers get their content once; each write only stamps it.
    fn fill_buffers(&mut self) {
        if self.trial.workload.read_percent >= 100.0 {
            return;
        }
        for slot in 0..self.slots.len() as u32 {
            if let Some(bytes) = self.disks.buffer(slot) {
                // A disk number that no prepared disk has, so that the first write is no copy.
                self.content.fill(u32::MAX - slot, 0, bytes);
            }
        }
        if self.content.has_duplicates() {
            let duplicate = self.duplicate_buffer();
            if let Some(bytes) = self.disks.buffer(duplicate) {
                self.content.fill_duplicate(bytes);
            }
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

    /// When the loop must be awake next.
    #[inline]
    fn wake_ns(&self) -> u64 {
        if self.phase == Phase::Drain {
            return self.boundary_ns;
        }
        match &self.pacing {
            Pacing::Closed => self.boundary_ns,
            Pacing::Bursts { resting, .. } => {
                resting.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns).min(self.boundary_ns)
            }
            // Without a free slot only a completion can help.
            Pacing::Open { free, .. } if free.is_empty() => self.boundary_ns,
            Pacing::Open { due, .. } => due.next_ns().min(self.boundary_ns),
        }
    }

    /// Everything that is due at times of its own: the window's begin and end, interval rows, and
    /// a look at whether to go on.
    #[cold]
    #[inline(never)]
    fn pass_boundaries(&mut self, now_ns: u64) -> Option<Ended> {
        let window_start_ns = self.start_ns + self.trial.ramp_ns;
        let window_end_ns = window_start_ns + self.trial.duration_ns;
        if self.phase == Phase::Ramp && now_ns >= window_start_ns {
            self.phase = Phase::Window;
            self.interval_start_ns = window_start_ns;
            self.observer.window_opened();
        }
        while self.phase == Phase::Window {
            let end_ns = (self.interval_start_ns + self.trial.interval_ns).min(window_end_ns);
            if now_ns < end_ns {
                break;
            }
            let start_ns = self.interval_start_ns - window_start_ns;
            let row = self.recorder.close_interval(start_ns, end_ns - self.interval_start_ns);
            self.observer.interval(&row);
            self.interval_start_ns = end_ns;
            if end_ns == window_end_ns {
                self.close_window(window_end_ns, now_ns);
            }
        }
        if self.observer.cancelled() {
            return Some(Ended::Cancelled);
        }
        if self.recorder.faults() >= self.trial.limits.faults {
            return Some(Ended::TooManyErrors);
        }
        if self.outstanding > 0
            && now_ns.saturating_sub(self.last_progress_ns) >= self.trial.limits.stall_ns
        {
            return Some(Ended::Stalled { outstanding: self.outstanding });
        }
        let next_ns = match self.phase {
            Phase::Ramp => window_start_ns,
            Phase::Window => (self.interval_start_ns + self.trial.interval_ns).min(window_end_ns),
            Phase::Drain => u64::MAX,
        };
        self.boundary_ns = next_ns.min(now_ns + LOOK_UP_NS);
        None
    }

    fn close_window(&mut self, window_end_ns: u64, now_ns: u64) {
        self.phase = Phase::Drain;
        self.window_ns = self.trial.duration_ns;
        // The last turn reached beyond the window; what lies beyond is taken back.
        let beyond_ns = now_ns - window_end_ns;
        self.outstanding_integral = self
            .outstanding_integral
            .saturating_sub(u128::from(self.outstanding) * u128::from(beyond_ns));
        if let Pacing::Open { due, .. } = &mut self.pacing {
            while due.next_ns() < window_end_ns {
                due.take();
                self.due_operations += 1;
                self.backlog_operations += 1;
            }
        }
        self.observer.window_closed();
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Result<(), DisksError> {
        let slot = completion.slot;
        let Some(Slot { started_ns, offset_bytes, disk, length_bytes, kind }) =
            self.slots.get(slot as usize).copied().filter(|slot| slot.length_bytes > 0)
        else {
            return Err(DisksError {
                action: "collecting completions",
                reason: format!("slot {slot} completed although nothing was outstanding on it"),
            });
        };
        self.slots[slot as usize].length_bytes = 0;
        self.outstanding -= 1;
        if completion.result == length_bytes as i32 {
            match self.phase {
                Phase::Window => {
                    let latency_ns = now_ns.saturating_sub(started_ns);
                    self.recorder.record(disk, kind, length_bytes, latency_ns);
                }
                Phase::Ramp => self.ramp_operations += 1,
                Phase::Drain => {}
            }
        } else {
            let outcome = match completion.outcome() {
                Ok(bytes) => FaultOutcome::Short(bytes),
                Err(error) => FaultOutcome::Failed(error),
            };
            let disk = self.trial.first_disk + disk;
            self.recorder.fault(Fault { disk, kind, offset_bytes, length_bytes, outcome });
            if self.recorder.faults() >= self.trial.limits.faults {
                // The next turn ends the trial.
                self.boundary_ns = 0;
            }
        }
        match &mut self.pacing {
            Pacing::Closed => {
                if self.phase != Phase::Drain {
                    let started_ns = self.clock.now_ns();
                    self.issue(slot, disk, started_ns)?;
                }
            }
            Pacing::Bursts { burst, disks, resting } => {
                let outstanding = match self.trial.workload.arrivals {
                    Arrivals::Closed { outstanding } => outstanding as usize,
                    _ => 0,
                };
                let state = &mut disks[disk as usize];
                if state.left > 0 && self.phase != Phase::Drain {
                    state.left -= 1;
                    let started_ns = self.clock.now_ns();
                    return self.issue(slot, disk, started_ns);
                }
                state.idle.push(slot);
                if state.idle.len() == outstanding {
                    state.left = burst.length;
                    resting.push(Reverse((now_ns + burst.delay_ns, disk)));
                }
            }
            Pacing::Open { free, .. } => free.push(slot),
        }
        Ok(())
    }

    fn issue_first(&mut self, now_ns: u64) -> Result<(), DisksError> {
        match &mut self.pacing {
            Pacing::Closed => {
                for slot in 0..self.slots.len() as u32 {
                    let started_ns = self.clock.now_ns();
                    self.issue(slot, self.slots[slot as usize].disk, started_ns)?;
                }
            }
            Pacing::Bursts { resting, .. } => {
                resting.extend((0..self.trial.disks).map(|disk| Reverse((now_ns, disk))));
                self.issue_due(now_ns)?;
            }
            Pacing::Open { .. } => self.issue_due(now_ns)?,
        }
        self.flush()
    }

    /// Issues what is due by the clock rather than by a completion.
    #[inline]
    fn issue_due(&mut self, now_ns: u64) -> Result<(), DisksError> {
        match &self.pacing {
            Pacing::Closed => Ok(()),
            _ if self.phase == Phase::Drain => Ok(()),
            Pacing::Bursts { .. } => self.begin_bursts(now_ns),
            Pacing::Open { .. } => self.issue_arrivals(now_ns),
        }
    }

    fn begin_bursts(&mut self, now_ns: u64) -> Result<(), DisksError> {
        loop {
            let Pacing::Bursts { disks, resting, .. } = &mut self.pacing else { return Ok(()) };
            match resting.peek() {
                Some(&Reverse((at_ns, disk))) if at_ns <= now_ns => {
                    let state = &mut disks[disk as usize];
                    let slot = if state.left > 0 { state.idle.pop() } else { None };
                    match slot {
                        Some(slot) => {
                            state.left -= 1;
                            let started_ns = self.clock.now_ns();
                            self.issue(slot, disk, started_ns)?;
                        }
                        None => {
                            resting.pop();
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn issue_arrivals(&mut self, now_ns: u64) -> Result<(), DisksError> {
        let window_start_ns = self.start_ns + self.trial.ramp_ns;
        loop {
            let Pacing::Open { due, free } = &mut self.pacing else { return Ok(()) };
            let due_ns = due.next_ns();
            if due_ns > now_ns {
                return Ok(());
            }
            let Some(slot) = free.pop() else { return Ok(()) };
            let disk = due.take();
            if due_ns >= window_start_ns {
                self.due_operations += 1;
            }
            self.issue(slot, disk, due_ns)?;
        }
    }

    #[inline]
    fn issue(&mut self, slot: u32, disk: u32, started_ns: u64) -> Result<(), DisksError> {
        let request = self.pattern.next(&mut self.cursors[disk as usize]);
        let buffer = match request.kind {
            stormeter_disk::Kind::Read => self.slots.len() as u32 + slot,
            stormeter_disk::Kind::Write => self.write_buffer(slot, request.length_bytes),
        };
        self.slots[slot as usize] = Slot {
            started_ns,
            offset_bytes: request.offset_bytes,
            disk,
            length_bytes: request.length_bytes,
            kind: request.kind,
        };
        if self.outstanding == 0 {
            // The disks were idle: a stall is counted from here.
            self.last_progress_ns = self.last_turn_ns;
        }
        self.outstanding += 1;
        self.batch.push(Operation {
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
            disk,
            slot,
            buffer,
            kind: request.kind,
        });
        if self.batch.len() == BATCH { self.flush() } else { Ok(()) }
    }

    #[inline]
    fn write_buffer(&mut self, slot: u32, length_bytes: u32) -> u32 {
        if self.content.has_duplicates() && self.content.is_duplicate(self.content_random.next()) {
            return self.duplicate_buffer();
        }
        self.generation = self.generation.wrapping_add(1);
        if let Some(bytes) = self.disks.buffer(slot) {
            let length = (length_bytes as usize).min(bytes.len());
            stamp(&mut bytes[..length], self.generation);
        }
        slot
    }

    fn duplicate_buffer(&self) -> u32 {
        2 * self.slots.len() as u32
    }

    #[inline]
    fn flush(&mut self) -> Result<(), DisksError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let result = self.disks.submit(&self.batch);
        self.batch.clear();
        result
    }

    fn finish(self, ended: Ended) -> Sample {
        let trial = self.trial;
        let window_ns = match self.phase {
            Phase::Ramp => 0,
            // Ended early: only whole rows are known to be complete, but what was counted since
            // then counts too, up to the last turn.
            Phase::Window => self.last_turn_ns.saturating_sub(self.start_ns + trial.ramp_ns).max(1),
            Phase::Drain => self.window_ns,
        };
        let mut recorder = self.recorder;
        if self.phase == Phase::Window {
            let start_ns = self.interval_start_ns - (self.start_ns + trial.ramp_ns);
            recorder.close_interval(start_ns, window_ns.saturating_sub(start_ns));
        }
        let recorded = recorder.finish(trial.first_disk);
        let configured = match (trial.workload.arrivals, trial.workload.burst) {
            (Arrivals::Closed { outstanding }, None) => {
                Some(u64::from(outstanding) * u64::from(trial.disks))
            }
            _ => None,
        };
        Sample {
            window_ns,
            interval_ns: trial.interval_ns,
            reads: recorded.reads,
            writes: recorded.writes,
            intervals: recorded.intervals,
            disks: recorded.disks,
            outstanding_mean: self.outstanding_integral as f64 / window_ns.max(1) as f64,
            outstanding_configured: configured,
            offered_rate_per_s: trial
                .workload
                .arrivals
                .rate_per_s()
                .map(|rate| rate * f64::from(trial.disks)),
            ramp_operations: self.ramp_operations,
            due_operations: self.due_operations,
            backlog_operations: self.backlog_operations,
            faults: recorded.faults,
            ended,
        }
    }
}
