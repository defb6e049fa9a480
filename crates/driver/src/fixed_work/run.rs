//! The loop of trials of fixed work: keeps I/Os outstanding until the work is done.
//!
//! It is a separate loop from `drive`, because the question at every completion ("what should this
//! worker do now, if anything?") is what the load loop must not spend its instructions on. The order of
//! a turn is the same: reap, read the clock, check, record, issue.

use stormeter_disk::{Clock, Completion, Disks, DisksError, Kind, Operation, Wait};

use super::log::FixedWorkLog;
use crate::held_buffers::HeldBuffers;
use crate::observer::Observer;
use crate::turns::{LOOK_UP_NS, STILL_TURNS};
use stormeter_trial::{Ended, FixedWorkTrial, IoFailure, IoFailureOutcome, Sample, StepTime};

/// An I/O of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Io {
    pub(super) kind: Kind,
    /// Number of the disk.
    pub(super) disk: u32,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
}

/// A finished I/O.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finished {
    pub(super) worker: u32,
    pub(super) io: Io,
    pub(super) started_ns: u64,
    pub(super) now_ns: u64,
    /// Whether it moved all its bytes.
    pub(super) is_whole: bool,
}

/// What the workers do.
pub(super) trait Work {
    /// Fills the buffers, before the start.
    fn fill<D: Disks>(&mut self, _disks: &mut D) {}

    /// The start time has been given.
    fn begin(&mut self, now_ns: u64);

    /// The worker's next I/O; `None` while it waits for its other I/Os, and when it has no more.
    fn next(&mut self, worker: u32) -> Option<Io>;

    /// A buffer for an I/O on this slot, with the contents to write; `None` while all suitable ones are in
    /// use.
    fn buffer<D: Disks>(&mut self, slot: u32, io: &Io, disks: &mut D) -> Option<u32>;

    /// The disk of which the disk of this I/O is to be made a clone, if it stands for that: it then moves no bytes and
    /// needs no buffer.
    fn template_of(&self, _worker: u32, _io: &Io) -> Option<u32> {
        None
    }

    /// Records a finished I/O, and returns the one that must follow on its slot at once, if any.
    fn finished(&mut self, finished: Finished, log: &mut FixedWorkLog) -> Option<Io>;

    /// Whether an operation, as counted by the sample, is one I/O.
    const IS_BY_IO: bool = true;

    /// How many operations, as counted by the sample, are outstanding when `ios` I/Os are.
    fn outstanding(&self, ios: u64) -> u64 {
        ios
    }

    /// The total time for which the outstanding operations have been outstanding; `ios_ns` is the
    /// same for I/Os.
    fn age_ns(&self, _now_ns: u64, ios_ns: i64) -> i64 {
        ios_ns
    }

    /// For how long nothing may complete while I/Os are outstanding; `stall_ns` is the trial's limit for an I/O.
    fn patience_ns(&self, stall_ns: u64) -> u64 {
        stall_ns
    }

    /// Whether all of it is done.
    fn is_done(&self) -> bool;

    /// The times of the steps that have ended.
    fn steps(self) -> Vec<StepTime>;
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    started_ns: u64,
    io: Option<Io>,
}

/// A trial of fixed work in progress.
pub(super) struct Run<'a, D, C, O, W> {
    trial: &'a FixedWorkTrial,
    disks: &'a mut D,
    clock: &'a mut C,
    observer: &'a mut O,
    work: W,
    log: FixedWorkLog,
    slots: Vec<Slot>,
    /// The idle slots of each worker.
    idle: Vec<Vec<u32>>,
    held: HeldBuffers,
    outstanding: u64,
    last_progress_ns: u64,
}

impl<'a, D: Disks, C: Clock, O: Observer, W: Work> Run<'a, D, C, O, W> {
    pub(super) fn new(
        trial: &'a FixedWorkTrial,
        disks: &'a mut D,
        clock: &'a mut C,
        observer: &'a mut O,
        work: W,
    ) -> Self {
        let depth = trial.outstanding();
        Self {
            trial,
            disks,
            clock,
            observer,
            work,
            log: FixedWorkLog::new(trial.first_disk, trial.disks, trial.interval_ns),
            slots: vec![Slot { started_ns: 0, io: None }; trial.slots() as usize],
            // Taken from the end, so that a worker's first I/O is on its first slot.
            idle: (0..trial.disks)
                .map(|worker| (worker * depth..(worker + 1) * depth).rev().collect())
                .collect(),
            held: HeldBuffers::default(),
            outstanding: 0,
            last_progress_ns: 0,
        }
    }

    pub(super) fn carry_out(mut self, start: impl FnOnce() -> Option<u64>) -> Sample {
        self.work.fill(self.disks);
        let ended = match start() {
            None => Ended::Cancelled,
            Some(start_ns) => match self.run(start_ns) {
                Ok(ended) => ended,
                Err(error) => Ended::QueueBroken { reason: error.to_string() },
            },
        };
        let now_ns = self.log.now_ns();
        let counts = |io: Io| io.kind != Kind::Flush;
        let ios = self.slots.iter().filter(|slot| slot.io.is_some_and(counts));
        let ios_ns = ios.map(|slot| now_ns.saturating_sub(slot.started_ns) as i64).sum();
        let carried_ns = self.work.age_ns(now_ns, ios_ns);
        self.log.close(carried_ns, self.work.steps(), ended, self.observer)
    }

    fn run(&mut self, start_ns: u64) -> Result<Ended, DisksError> {
        let mut completions = Vec::with_capacity(self.slots.len().min(4096));
        let mut now_ns = match self.wait_for(start_ns, &mut completions)? {
            Ok(now_ns) => now_ns,
            Err(ended) => return Ok(ended),
        };
        self.log.open(start_ns, self.observer);
        self.log.advance(now_ns, 0, self.observer);
        self.work.begin(now_ns);
        self.last_progress_ns = now_ns;
        for worker in 0..self.trial.disks {
            self.issue(worker)?;
        }
        let mut look_up_ns = now_ns;
        let mut still_turns = 0;
        while !self.work.is_done() {
            if let Some((completion, seen_ns)) = self.held.next_early() {
                let outstanding = self.work.outstanding(self.outstanding);
                self.log.advance(seen_ns, outstanding, self.observer);
                self.last_progress_ns = seen_ns;
                self.complete(completion, seen_ns)?;
                continue;
            }
            let awake_ns = look_up_ns.min(self.log.row_due_ns());
            let wait = Wait::AtMost(awake_ns.saturating_sub(now_ns));
            self.disks.reap(wait, &mut completions)?;
            let seen_ns = self.clock.now_ns();
            still_turns = if seen_ns == now_ns { still_turns + 1 } else { 0 };
            if still_turns > STILL_TURNS {
                return Ok(Ended::ClockStopped);
            }
            now_ns = seen_ns;
            let outstanding = self.work.outstanding(self.outstanding);
            self.log.advance(now_ns, outstanding, self.observer);
            if !completions.is_empty() {
                self.last_progress_ns = now_ns;
                for completion in completions.drain(..) {
                    self.complete(completion, now_ns)?;
                }
            }
            if now_ns >= look_up_ns {
                look_up_ns = now_ns + LOOK_UP_NS;
                if self.observer.cancelled() {
                    return Ok(Ended::Cancelled);
                }
            }
            if self.log.io_failures() >= self.trial.limits.max_io_failures {
                return Ok(Ended::TooManyErrors);
            }
            let silence_ns = now_ns.saturating_sub(self.last_progress_ns);
            let patience_ns = self.work.patience_ns(self.trial.limits.stall_ns);
            if self.outstanding > 0 && silence_ns >= patience_ns {
                return Ok(Ended::Stalled { outstanding: self.outstanding });
            }
        }
        Ok(Ended::Completed)
    }

    fn wait_for(
        &mut self,
        start_ns: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Result<u64, Ended>, DisksError> {
        let mut still_turns = 0;
        let mut now_ns = self.clock.now_ns();
        while now_ns < start_ns {
            // Nothing is outstanding: this is a bounded sleep in the disks' own time.
            let wait_ns = (start_ns - now_ns).min(LOOK_UP_NS);
            self.disks.reap(Wait::AtMost(wait_ns), completions)?;
            let seen_ns = self.clock.now_ns();
            still_turns = if seen_ns == now_ns { still_turns + 1 } else { 0 };
            if still_turns > STILL_TURNS {
                return Ok(Err(Ended::ClockStopped));
            }
            if self.observer.cancelled() {
                return Ok(Err(Ended::Cancelled));
            }
            now_ns = seen_ns;
        }
        Ok(Ok(now_ns))
    }

    fn complete(&mut self, completion: Completion, now_ns: u64) -> Result<(), DisksError> {
        let slot = completion.slot;
        let place = self.slots.get_mut(slot as usize);
        let Some((started_ns, io)) = place.and_then(|it| Some((it.started_ns, it.io.take()?)))
        else {
            return Err(DisksError {
                action: "collecting completions",
                reason: format!("slot {slot} completed although nothing was outstanding on it"),
            });
        };
        self.outstanding -= 1;
        let is_whole = completion.result == io.length_bytes as i32;
        let worker = slot / self.trial.outstanding();
        if !is_whole {
            if self.work.template_of(worker, &io).is_some() {
                return Err(not_cloned(completion));
            }
            self.io_failed(completion, &io);
        }
        let finished = Finished { worker, io, started_ns, now_ns, is_whole };
        if let Some(io) = self.work.finished(finished, &mut self.log) {
            return self.submit(slot, io);
        }
        self.idle[worker as usize].push(slot);
        self.issue(worker)
    }

    fn io_failed(&mut self, completion: Completion, io: &Io) {
        self.log.io_failed(IoFailure {
            disk: self.trial.first_disk + io.disk,
            kind: io.kind,
            offset_bytes: io.offset_bytes,
            length_bytes: io.length_bytes,
            outcome: match completion.outcome() {
                Ok(bytes) => IoFailureOutcome::Short(bytes),
                Err(error) => IoFailureOutcome::Failed(error),
            },
        });
    }

    /// Issues I/Os on a worker's idle slots.
    fn issue(&mut self, worker: u32) -> Result<(), DisksError> {
        while let Some(&slot) = self.idle[worker as usize].last()
            && let Some(io) = self.work.next(worker)
        {
            self.idle[worker as usize].pop();
            self.submit(slot, io)?;
        }
        Ok(())
    }

    fn submit(&mut self, slot: u32, io: Io) -> Result<(), DisksError> {
        let template = self.work.template_of(slot / self.trial.outstanding(), &io);
        let buffer = loop {
            if template.is_some() {
                break slot;
            }
            match self.work.buffer(slot, &io, self.disks) {
                Some(buffer) => break buffer,
                None => self.held.wait(self.disks, self.clock, self.trial.limits.stall_ns)?,
            }
        };
        self.held.found();
        let started_ns = self.clock.now_ns();
        // A flush is no operation of the sample.
        if W::IS_BY_IO && io.kind != Kind::Flush {
            self.log.begins(started_ns);
        }
        self.slots[slot as usize] = Slot { started_ns, io: Some(io) };
        if self.outstanding == 0 {
            // The disks were idle: stall time counts from here.
            self.last_progress_ns = started_ns;
        }
        self.outstanding += 1;
        if let Some(template) = template {
            return self.disks.clone_disk(template, io.disk, slot);
        }
        self.disks.submit(&[Operation {
            offset_bytes: io.offset_bytes,
            length_bytes: io.length_bytes,
            disk: io.disk,
            slot,
            buffer,
            kind: io.kind,
        }])
    }
}

/// A clone that failed ends the trial: without its disk there is nothing to customise.
fn not_cloned(completion: Completion) -> DisksError {
    let reason = match completion.outcome() {
        Ok(_) => "the storage moved bytes".into(),
        Err(error) => error.to_string(),
    };
    DisksError { action: "cloning the template", reason }
}
