//! Desktops of which there are only the disks: of a datastore, or of a model in virtual time.
//!
//! Making one copies the template's disk, waits as long as a hypervisor takes to make a machine, reads as a boot does and
//! writes as customisation does. The desktops' disks exist already, so taking one apart moves no byte. An I/O that fails
//! is the end of its desktop, as a guest's file system would be. Work that a user has asked for is finished before the
//! desktop goes, as a guest writes back before it shuts down: else the slowest I/Os would be those that nobody counts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use stormeter_disk::{
    Clock, Completion, DesktopChange, DesktopEvent, DesktopStep, Desktops, DeviceError, Disks,
    DisksError, Kind, Operation, Wait,
};
use stormeter_trial::{Content, DesktopTrial, SMALL_BYTES, Start};

use crate::arrivals::DueTimes;
use crate::content::ContentSource;
use crate::direction::Direction;
use crate::generator::{Cursor, Pattern, Request};
use crate::random::{Random, below};

/// While a buffer is held by a write that has completed, the disks are asked this often.
const HELD_NS: u64 = 20_000;

/// What a desktop is doing.
#[derive(Debug)]
enum Stage {
    /// There is none.
    Empty,
    Copying,
    /// Until this time, by the clock.
    Setting {
        until_ns: u64,
    },
    Booting,
    Configuring,
    Ready,
    LoggingOn,
    Working {
        due: DueTimes,
    },
    /// Its user has stopped, and what was asked for is still to be done; then it is idle, or leaves.
    Finishing {
        leaves: bool,
    },
    Idle,
    /// An I/O failed; it is to be taken apart.
    Dead,
    /// Its last I/Os are awaited.
    Leaving,
}

impl Stage {
    /// Whether its I/Os are its user's work.
    fn is_of_work(&self) -> bool {
        matches!(self, Self::Working { .. } | Self::Finishing { .. })
    }
}

#[derive(Debug)]
struct Desktop {
    stage: Stage,
    begun_ns: u64,
    /// Requests of the stage that are still to be issued.
    left: u64,
    in_flight: u32,
    /// Its slots that are free.
    free: Vec<u32>,
    random: Random,
    cursor: Option<Cursor>,
    /// Requests of work that are due and wait for a slot, with the times at which they were.
    queue: VecDeque<(Request, u64)>,
    /// Distinguishes timers of stages that are over.
    stages: u32,
    /// How many desktops there were in this place.
    lives: u64,
}

/// An I/O in flight.
#[derive(Debug, Clone, Copy)]
struct Flight {
    operation: Operation,
    since_ns: u64,
}

/// Disks that stand for desktops. The template is the disk after theirs.
#[derive(Debug)]
pub struct DiskDesktops<'a, D, C> {
    trial: &'a DesktopTrial,
    disk_bytes: u64,
    disks: &'a mut D,
    clock: C,
    log_on: Pattern,
    work: Pattern,
    content: ContentSource,
    generation: u64,
    keeps_content: bool,
    desktops: Vec<Desktop>,
    flights: Vec<Option<Flight>>,
    /// The next thing that is due of a desktop, with the number of its stage.
    timers: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// I/Os that wait for their buffers.
    held: Vec<Flight>,
    events: Vec<DesktopEvent>,
    completions: Vec<Completion>,
}

impl<'a, D: Disks, C: Clock> DiskDesktops<'a, D, C> {
    /// For a trial on disks of `disk_bytes`: [`DesktopTrial::desktops`] of them, and the template. The clock is the loop's.
    pub fn new(
        trial: &'a DesktopTrial,
        disk_bytes: u64,
        content_seed: u64,
        disks: &'a mut D,
        clock: C,
    ) -> Self {
        let depth = trial.load.slots();
        let desktop = |desktop: u32| Desktop {
            stage: Stage::Empty,
            begun_ns: 0,
            left: 0,
            in_flight: 0,
            // Taken from the end.
            free: (desktop * depth..(desktop + 1) * depth).rev().collect(),
            random: Random::stream(trial.seed, 0xd15c_0000 ^ u64::from(desktop)),
            cursor: None,
            queue: VecDeque::new(),
            stages: 0,
            lives: 0,
        };
        let keeps_content = disks.buffer(0).is_some();
        Self {
            trial,
            disk_bytes,
            disks,
            clock,
            log_on: Pattern::new(&trial.load.session.log_on, disk_bytes),
            work: Pattern::new(&trial.load.session.work, disk_bytes),
            content: ContentSource::new(Content::default(), content_seed),
            generation: 0,
            keeps_content,
            desktops: (0..trial.desktops).map(desktop).collect(),
            flights: vec![None; (trial.desktops * depth) as usize],
            timers: BinaryHeap::new(),
            held: Vec::new(),
            events: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// Waits for the I/Os that are in flight, at most `limit_ns`.
    ///
    /// # Errors
    /// As [`Desktops::wait`].
    pub fn settle(&mut self, limit_ns: u64) -> Result<(), DisksError> {
        let end_ns = self.clock.now_ns().saturating_add(limit_ns);
        for desktop in 0..self.trial.desktops {
            self.leave(desktop)?;
        }
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= end_ns || self.flights.iter().all(Option::is_none) {
                return Ok(());
            }
            self.wait(Wait::AtMost(end_ns - now_ns), &mut Vec::new())?;
        }
    }

    /// Chunks of a copy.
    fn chunks(&self) -> u64 {
        let copy_bytes = u64::from(self.trial.load.deployment.copy_bytes);
        if copy_bytes == 0 { 0 } else { self.disk_bytes.div_ceil(copy_bytes) }
    }

    fn tell(&mut self, desktop: u32, what: DesktopChange) {
        self.events.push(DesktopEvent { desktop, what });
    }

    /// Begins a stage with this many requests; one without any is over at once.
    fn enter(
        &mut self,
        desktop: u32,
        stage: Stage,
        requests: u64,
        now_ns: u64,
    ) -> Result<(), DisksError> {
        let place = &mut self.desktops[desktop as usize];
        (place.stage, place.begun_ns, place.left) = (stage, now_ns, requests);
        place.stages = place.stages.wrapping_add(1);
        place.queue.clear();
        match &place.stage {
            Stage::Setting { until_ns } => {
                self.timers.push(Reverse((*until_ns, desktop, place.stages)));
            }
            Stage::Working { due } => {
                self.timers.push(Reverse((due.next_ns(), desktop, place.stages)));
            }
            _ => {}
        }
        self.issue(desktop, now_ns)?;
        self.go_on(desktop, now_ns)
    }

    /// Begins the next stage if this one is over.
    fn go_on(&mut self, desktop: u32, now_ns: u64) -> Result<(), DisksError> {
        let place = &self.desktops[desktop as usize];
        if place.left > 0 || place.in_flight > 0 {
            return Ok(());
        }
        let deployment = self.trial.load.deployment;
        let took_ns = now_ns.saturating_sub(place.begun_ns);
        let ended = |step| DesktopChange::StepEnded { step, took_ns };
        match place.stage {
            Stage::Copying => {
                self.tell(desktop, ended(DesktopStep::Copy));
                let until_ns = now_ns.saturating_add(deployment.setting_ns);
                self.enter(desktop, Stage::Setting { until_ns }, 0, now_ns)
            }
            Stage::Setting { until_ns } if until_ns <= now_ns => {
                self.tell(desktop, ended(DesktopStep::Setting));
                let reads = u64::from(deployment.boot_reads);
                self.enter(desktop, Stage::Booting, reads, now_ns)
            }
            Stage::Booting => {
                self.tell(desktop, ended(DesktopStep::Deployment));
                let writes = u64::from(deployment.configure_writes);
                self.enter(desktop, Stage::Configuring, writes, now_ns)
            }
            Stage::Configuring => {
                self.tell(desktop, ended(DesktopStep::Configure));
                self.tell(desktop, DesktopChange::Deployed);
                self.enter(desktop, Stage::Ready, 0, now_ns)
            }
            Stage::LoggingOn => {
                self.tell(desktop, DesktopChange::Usable);
                self.work(desktop, now_ns)
            }
            Stage::Finishing { leaves: true } => self.enter(desktop, Stage::Leaving, 0, now_ns),
            Stage::Finishing { leaves: false } => self.enter(desktop, Stage::Idle, 0, now_ns),
            Stage::Leaving => {
                self.desktops[desktop as usize].stage = Stage::Empty;
                self.tell(desktop, DesktopChange::TornDown);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// No more work is asked for.
    fn finish_work(&mut self, desktop: u32, leaves: bool) -> Result<(), DisksError> {
        let now_ns = self.clock.now_ns();
        let place = &mut self.desktops[desktop as usize];
        place.stage = Stage::Finishing { leaves };
        place.stages = place.stages.wrapping_add(1);
        self.go_on(desktop, now_ns)
    }

    /// Takes a desktop apart once its I/Os have ended.
    fn leave(&mut self, desktop: u32) -> Result<(), DisksError> {
        let now_ns = self.clock.now_ns();
        match self.desktops[desktop as usize].stage {
            Stage::Empty | Stage::Leaving => Ok(()),
            _ => self.enter(desktop, Stage::Leaving, 0, now_ns),
        }
    }

    fn work(&mut self, desktop: u32, now_ns: u64) -> Result<(), DisksError> {
        let seed = self.desktops[desktop as usize].random.next();
        match DueTimes::new(self.trial.load.session.work.arrivals, 1, seed) {
            Some(mut due) => {
                due.begin_at(now_ns);
                self.desktops[desktop as usize].cursor =
                    Some(self.work.cursor(seed, Start::default(), desktop));
                self.enter(desktop, Stage::Working { due }, 0, now_ns)
            }
            // Work without a rate is none.
            None => self.enter(desktop, Stage::Idle, 0, now_ns),
        }
    }

    /// Issues what the stage of a desktop has to issue on its free slots.
    fn issue(&mut self, desktop: u32, now_ns: u64) -> Result<(), DisksError> {
        loop {
            let place = &self.desktops[desktop as usize];
            let Some(&slot) = place.free.last() else { return Ok(()) };
            if place.in_flight >= self.outstanding_most(place) {
                return Ok(());
            }
            let Some((disk, request, since_ns)) = self.next(desktop, now_ns) else { return Ok(()) };
            let place = &mut self.desktops[desktop as usize];
            place.free.pop();
            place.in_flight += 1;
            let operation = Operation {
                offset_bytes: request.offset_bytes,
                length_bytes: request.length_bytes,
                disk,
                slot,
                buffer: slot,
                kind: request.direction.kind(Kind::Write),
            };
            self.submit(Flight { operation, since_ns })?;
        }
    }

    /// I/Os that may be outstanding in the stage of a desktop.
    fn outstanding_most(&self, place: &Desktop) -> u32 {
        match place.stage {
            Stage::Working { .. } | Stage::Finishing { .. } => u32::MAX,
            Stage::LoggingOn => self.trial.load.session.log_on_outstanding(),
            _ => self.trial.load.deployment.outstanding.max(1),
        }
    }

    /// The next request of a desktop, with its disk, and since when it is due.
    fn next(&mut self, desktop: u32, now_ns: u64) -> Option<(u32, Request, u64)> {
        let (deployment, chunks) = (self.trial.load.deployment, self.chunks());
        let place = &mut self.desktops[desktop as usize];
        if place.stage.is_of_work() {
            let (request, since_ns) = place.queue.pop_front()?;
            return Some((desktop, request, since_ns));
        }
        place.left = place.left.checked_sub(1)?;
        match place.stage {
            Stage::Copying => {
                let number = chunks - 1 - place.left;
                let offset_bytes = number * u64::from(deployment.copy_bytes);
                let length = u64::from(deployment.copy_bytes).min(self.disk_bytes - offset_bytes);
                let request = Request {
                    direction: Direction::Read,
                    offset_bytes,
                    length_bytes: length as u32,
                };
                Some((self.trial.desktops, request, now_ns))
            }
            Stage::Booting | Stage::Configuring => {
                let is_boot = matches!(place.stage, Stage::Booting);
                let blocks = (self.disk_bytes / u64::from(SMALL_BYTES)).max(1);
                let request = Request {
                    direction: if is_boot { Direction::Read } else { Direction::Write },
                    offset_bytes: below(place.random.next(), blocks) * u64::from(SMALL_BYTES),
                    length_bytes: SMALL_BYTES,
                };
                Some((desktop, request, now_ns))
            }
            Stage::LoggingOn => {
                let request = self.log_on.next(place.cursor.as_mut()?);
                Some((desktop, request, now_ns))
            }
            _ => None,
        }
    }

    /// Submits an I/O, now or when its buffer is free.
    fn submit(&mut self, flight: Flight) -> Result<(), DisksError> {
        let Operation { slot, length_bytes, kind, disk, .. } = flight.operation;
        self.flights[slot as usize] = Some(flight);
        if self.keeps_content {
            let Some(bytes) = self.disks.buffer(slot) else {
                self.held.push(flight);
                return Ok(());
            };
            if kind == Kind::Write {
                self.generation += u64::from(length_bytes);
                let length = bytes.len().min(length_bytes as usize);
                // The offset makes each block different; the disk number is that of no prepared disk.
                self.content.fill(u32::MAX - disk, self.generation, &mut bytes[..length]);
            }
        }
        self.disks.submit(&[flight.operation])
    }

    fn completed(&mut self, completion: Completion, now_ns: u64) -> Result<(), DisksError> {
        let slot = completion.slot;
        let flight = self.flights.get_mut(slot as usize).and_then(Option::take);
        let Some(Flight { operation, since_ns }) = flight else {
            return Err(DisksError {
                action: "collecting completions",
                reason: format!("slot {slot} completed although nothing was outstanding on it"),
            });
        };
        let desktop = slot / self.trial.load.slots();
        if completion.result != operation.length_bytes as i32 {
            let error = completion.outcome().err().unwrap_or(DeviceError::IO);
            self.failed(desktop, operation.kind, error);
        } else if self.desktops[desktop as usize].stage.is_of_work() {
            let latency_ns = now_ns.saturating_sub(since_ns);
            let (kind, bytes) = (operation.kind, u64::from(operation.length_bytes));
            self.tell(desktop, DesktopChange::Worked { kind, bytes, latency_ns });
        } else {
            let bytes = u64::from(operation.length_bytes);
            self.tell(desktop, DesktopChange::Moved { bytes });
            let is_copying = matches!(self.desktops[desktop as usize].stage, Stage::Copying);
            if is_copying && operation.kind == Kind::Read {
                // From the buffer that it was read into.
                let write = Operation { disk: desktop, kind: Kind::Write, ..operation };
                self.flights[slot as usize] = Some(Flight { operation: write, since_ns });
                return self.disks.submit(&[write]);
            }
        }
        let place = &mut self.desktops[desktop as usize];
        place.in_flight -= 1;
        place.free.push(slot);
        self.issue(desktop, now_ns)?;
        self.go_on(desktop, now_ns)
    }

    fn failed(&mut self, desktop: u32, kind: Kind, error: DeviceError) {
        let place = &mut self.desktops[desktop as usize];
        let step = match place.stage {
            // What it did no longer matters.
            Stage::Empty | Stage::Dead | Stage::Leaving => return,
            Stage::Finishing { leaves: true } => {
                place.stage = Stage::Leaving;
                place.queue.clear();
                return;
            }
            Stage::Copying => Some(DesktopStep::Copy),
            Stage::Setting { .. } => Some(DesktopStep::Setting),
            Stage::Booting => Some(DesktopStep::Deployment),
            Stage::Configuring => Some(DesktopStep::Configure),
            Stage::Ready
            | Stage::LoggingOn
            | Stage::Working { .. }
            | Stage::Finishing { .. }
            | Stage::Idle => None,
        };
        (place.stage, place.left) = (Stage::Dead, 0);
        place.queue.clear();
        self.tell(desktop, DesktopChange::Failed { step, kind, error });
    }

    /// Does what is due.
    fn do_due(&mut self, now_ns: u64) -> Result<(), DisksError> {
        for flight in std::mem::take(&mut self.held) {
            self.submit(flight)?;
        }
        while let Some(&Reverse((due_ns, desktop, stages))) = self.timers.peek()
            && due_ns <= now_ns
        {
            self.timers.pop();
            let place = &mut self.desktops[desktop as usize];
            if place.stages != stages {
                continue;
            }
            if let Stage::Working { due } = &mut place.stage {
                due.take();
                self.timers.push(Reverse((due.next_ns(), desktop, stages)));
                if let Some(cursor) = &mut place.cursor {
                    let request = self.work.next(cursor);
                    place.queue.push_back((request, due_ns));
                }
                self.issue(desktop, now_ns)?;
            } else {
                self.go_on(desktop, now_ns)?;
            }
        }
        Ok(())
    }
}

impl<D: Disks, C: Clock> Desktops for DiskDesktops<'_, D, C> {
    fn deploy(&mut self, desktop: u32) -> Result<(), DisksError> {
        let now_ns = self.clock.now_ns();
        let place = &mut self.desktops[desktop as usize];
        place.lives += 1;
        let stream = u64::from(desktop) << 32 | place.lives;
        place.random = Random::stream(self.trial.seed, 0xd15c << 48 ^ stream);
        self.enter(desktop, Stage::Copying, self.chunks(), now_ns)
    }

    fn log_on(&mut self, desktop: u32, user: u32) -> Result<(), DisksError> {
        let now_ns = self.clock.now_ns();
        let place = &mut self.desktops[desktop as usize];
        if !matches!(place.stage, Stage::Ready) {
            // It died meanwhile, which is reported.
            return Ok(());
        }
        let seed = self.trial.seed ^ u64::from(user).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        place.random = Random::stream(seed, 0x106e);
        place.cursor = Some(self.log_on.cursor(seed, Start::default(), desktop));
        let requests = u64::from(self.trial.load.session.log_on_requests);
        self.enter(desktop, Stage::LoggingOn, requests, now_ns)
    }

    fn fall_idle(&mut self, desktop: u32) -> Result<(), DisksError> {
        match self.desktops[desktop as usize].stage {
            Stage::Working { .. } => self.finish_work(desktop, false),
            _ => Ok(()),
        }
    }

    fn tear_down(&mut self, desktop: u32) -> Result<(), DisksError> {
        match self.desktops[desktop as usize].stage {
            Stage::Working { .. } | Stage::Finishing { .. } => self.finish_work(desktop, true),
            _ => self.leave(desktop),
        }
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<DesktopEvent>) -> Result<(), DisksError> {
        let now_ns = self.clock.now_ns();
        self.do_due(now_ns)?;
        let wait = match (wait, self.timers.peek()) {
            _ if !self.events.is_empty() => Wait::No,
            (Wait::AtMost(ns), _) if !self.held.is_empty() => Wait::AtMost(ns.min(HELD_NS)),
            (Wait::AtMost(ns), Some(&Reverse((due_ns, ..)))) => {
                Wait::AtMost(ns.min(due_ns.saturating_sub(now_ns)))
            }
            (wait, _) => wait,
        };
        let mut completions = std::mem::take(&mut self.completions);
        self.disks.reap(wait, &mut completions)?;
        let now_ns = self.clock.now_ns();
        for completion in completions.drain(..) {
            self.completed(completion, now_ns)?;
        }
        self.completions = completions;
        events.append(&mut self.events);
        Ok(())
    }
}
