//! The loop of trials with sessions: users of a service, each of whom does one thing, waits, and does the next.
//!
//! The order of a turn is that of the I/O loop: wait for events, read the clock once for all of them, pass boundaries,
//! record, begin what is due. An event that is seen after a boundary belongs to what follows it. Bytes are counted when
//! they pass and not when their operation ends, because one file may take longer than the window.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormeter_disk::{
    Clock, DeviceError, DisksError, Kind, SessionChange, SessionEvent, Sessions, Wait,
};
use stormeter_trial::{Ended, IoFailure, IoFailureOutcome, Sample, SessionTrial};

use crate::direction::Direction;
use crate::observer::Observer;
use crate::outstanding::Outstanding;
use crate::random::{Random, unit};
use crate::recorder::Recorder;
use crate::turns::{LOOK_UP_NS, STILL_TURNS};
use crate::window::{Boundary, Window, sample_of};

/// The least pause after a failure: a server that refuses at once must not be asked without end.
const RETRY_NS: u64 = 250_000_000;

/// Drives the sessions of `trial` and returns the measurement.
///
/// An operation is what a session's user waits for; its latency starts when the session begins it, and includes
/// connecting if the session has lost its connection. `start` is as in [`crate::drive`]. When the window closes, what is
/// outstanding is left as it is.
///
/// Failures are in [`Sample::ended`] and [`Sample::io_failures`], whose disks are the sessions.
pub fn drive_sessions<S: Sessions, C: Clock, O: Observer>(
    trial: &SessionTrial,
    start: impl FnOnce() -> Option<u64>,
    sessions: &mut S,
    clock: &mut C,
    observer: &mut O,
) -> Sample {
    let mut run = Run::new(trial, sessions, clock, observer);
    let ended = match start() {
        None => Ended::Cancelled,
        Some(start_ns) => match run.carry_out(start_ns) {
            Ok(ended) => ended,
            Err(error) => Ended::QueueBroken { reason: error.to_string() },
        },
    };
    run.finish(ended)
}

struct Run<'a, S, C, O> {
    trial: &'a SessionTrial,
    sessions: &'a mut S,
    clock: &'a mut C,
    observer: &'a mut O,
    recorder: Recorder,
    outstanding: Outstanding,
    /// Bytes of each session, by direction, since its last operation ended or the window opened.
    moved: Vec<[u64; 2]>,
    pauses: Vec<Random>,
    /// When each idle session begins its next operation.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    window: Window,
    last_turn_ns: u64,
    last_progress_ns: u64,
    ramp_operations: u64,
    updates: Option<u64>,
}

impl<'a, S: Sessions, C: Clock, O: Observer> Run<'a, S, C, O> {
    fn new(
        trial: &'a SessionTrial,
        sessions: &'a mut S,
        clock: &'a mut C,
        observer: &'a mut O,
    ) -> Self {
        let stream = |session| {
            Random::stream(trial.seed, 0x5e55_0000 ^ u64::from(trial.first_session + session))
        };
        Self {
            trial,
            sessions,
            clock,
            observer,
            recorder: Recorder::new(trial.sessions),
            outstanding: Outstanding::new(),
            moved: vec![[0; 2]; trial.sessions as usize],
            pauses: (0..trial.sessions).map(stream).collect(),
            due: BinaryHeap::new(),
            window: Window::new(trial.duration_ns, trial.interval_ns),
            last_turn_ns: 0,
            last_progress_ns: 0,
            ramp_operations: 0,
            updates: None,
        }
    }

    fn carry_out(&mut self, start_ns: u64) -> Result<Ended, DisksError> {
        self.window.begin(start_ns.saturating_add(self.trial.ramp_ns));
        for session in 0..self.trial.sessions {
            let first = unit(self.pauses[session as usize].next()) * self.trial.pause_ns as f64;
            self.due.push(Reverse((start_ns.saturating_add(first as u64), session)));
        }
        let mut events = Vec::new();
        let mut now_ns = self.clock.now_ns();
        (self.last_turn_ns, self.last_progress_ns) = (now_ns, now_ns.max(start_ns));
        let mut look_up_ns = now_ns;
        let mut still_turns = 0;
        loop {
            let awake_ns = self.next_ns(look_up_ns);
            self.sessions.wait(Wait::AtMost(awake_ns.saturating_sub(now_ns)), &mut events)?;
            let seen_ns = self.clock.now_ns();
            still_turns = if seen_ns == now_ns { still_turns + 1 } else { 0 };
            if still_turns > STILL_TURNS {
                return Ok(Ended::ClockStopped);
            }
            now_ns = seen_ns;
            self.pass_boundaries(now_ns);
            self.outstanding.pass(now_ns);
            self.last_turn_ns = now_ns;
            if !events.is_empty() {
                self.last_progress_ns = now_ns;
            }
            for event in events.drain(..) {
                self.happened(event, now_ns);
            }
            if self.window.is_over() {
                return Ok(Ended::Completed);
            }
            if now_ns >= look_up_ns {
                look_up_ns = now_ns + LOOK_UP_NS;
                if let Some(ended) = self.given_up(now_ns) {
                    return Ok(ended);
                }
            }
            self.begin_due(now_ns)?;
        }
    }

    /// The next time at which something other than an event has to be done.
    fn next_ns(&self, look_up_ns: u64) -> u64 {
        let due_ns = self.due.peek().map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns);
        look_up_ns.min(self.window.next_ns()).min(due_ns)
    }

    fn pass_boundaries(&mut self, now_ns: u64) {
        while let Some(boundary) = self.window.passed(now_ns) {
            self.pass(boundary);
        }
    }

    fn pass(&mut self, boundary: Boundary) {
        match boundary {
            Boundary::Opened { at_ns } => {
                self.outstanding.open(at_ns);
                self.moved.fill([0; 2]);
                self.observer.window_opened();
            }
            Boundary::Row { start_ns, length_ns, .. } => {
                let row = self.recorder.close_interval(start_ns, length_ns);
                self.observer.interval(&row);
                if self.observer.wants_latencies(&row) {
                    self.observer.latencies(self.recorder.latencies_since());
                }
            }
            Boundary::Closed { at_ns } => {
                self.outstanding.close(at_ns);
                self.observer.window_closed();
            }
        }
    }

    fn given_up(&mut self, now_ns: u64) -> Option<Ended> {
        if self.observer.cancelled() {
            return Some(Ended::Cancelled);
        }
        if self.recorder.io_failures() >= self.trial.limits.max_io_failures {
            return Some(Ended::TooManyErrors);
        }
        let silence_ns = now_ns.saturating_sub(self.last_progress_ns);
        let outstanding = self.outstanding.count();
        (outstanding > 0 && silence_ns >= self.trial.limits.stall_ns)
            .then_some(Ended::Stalled { outstanding })
    }

    fn happened(&mut self, event: SessionEvent, now_ns: u64) {
        let SessionEvent { session, what } = event;
        match what {
            SessionChange::Moved { kind, bytes } => {
                if self.window.is_open() {
                    let direction = Direction::of(kind);
                    self.moved[session as usize][direction as usize] += bytes;
                    self.recorder.moved(direction, bytes);
                }
            }
            SessionChange::Updated => {
                let updates = self.updates.get_or_insert(0);
                *updates += u64::from(self.window.is_open());
            }
            SessionChange::Ended { kind } => {
                let Some(latency_ns) = self.outstanding.end(session, now_ns) else { return };
                if self.window.is_open() {
                    self.record(session, kind, latency_ns);
                } else {
                    self.ramp_operations += u64::from(self.window.is_ahead());
                }
                self.pause(session, now_ns, 0);
            }
            SessionChange::Failed { kind, error } => {
                if self.outstanding.fail(session, now_ns).is_some() {
                    self.failed(session, kind, error);
                    self.pause(session, now_ns, RETRY_NS);
                }
            }
        }
    }

    fn record(&mut self, session: u32, kind: Kind, latency_ns: u64) {
        let direction = Direction::of(kind);
        let bytes = std::mem::take(&mut self.moved[session as usize][direction as usize]);
        self.recorder.record_whole(session, direction, bytes, latency_ns);
    }

    fn failed(&mut self, session: u32, kind: Kind, error: DeviceError) {
        self.recorder.io_failed(IoFailure {
            disk: self.trial.first_session + session,
            kind,
            offset_bytes: 0,
            length_bytes: 0,
            outcome: IoFailureOutcome::Failed(error),
        });
    }

    /// The session is idle until its pause is over.
    fn pause(&mut self, session: u32, now_ns: u64, least_ns: u64) {
        let factor = 0.5 + unit(self.pauses[session as usize].next());
        let pause_ns = (self.trial.pause_ns as f64 * factor) as u64;
        self.due.push(Reverse((now_ns.saturating_add(pause_ns.max(least_ns)), session)));
    }

    fn begin_due(&mut self, now_ns: u64) -> Result<(), DisksError> {
        while let Some(&Reverse((due_ns, session))) = self.due.peek()
            && due_ns <= now_ns
        {
            self.due.pop();
            self.outstanding.begin(session, now_ns);
            self.sessions.begin(session)?;
        }
        Ok(())
    }

    fn finish(mut self, ended: Ended) -> Sample {
        if let Some(row) = self.window.cut(self.last_turn_ns) {
            self.pass(row);
            self.pass_boundaries(self.last_turn_ns);
        }
        let window_ns = self.window.length_ns();
        for (session, moved) in (0..).zip(&self.moved) {
            for (direction, bytes) in [Direction::Read, Direction::Write].into_iter().zip(moved) {
                self.recorder.carried(session, direction, *bytes);
            }
        }
        let recorded = self.recorder.finish(self.trial.first_session);
        Sample {
            outstanding_mean: self.outstanding.integral_ns() as f64 / window_ns.max(1) as f64,
            carried_ns: self.outstanding.carried_ns(),
            ramp_operations: self.ramp_operations,
            updates: self.updates,
            ..sample_of(recorded, window_ns, self.trial.interval_ns, ended)
        }
    }
}
