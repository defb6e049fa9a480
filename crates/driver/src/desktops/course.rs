//! The course of a trial of desktops.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormeter_disk::{
    Clock, DesktopChange, DesktopEvent, DesktopStep, Desktops, DeviceError, DisksError, Kind, Wait,
};
use stormeter_trial::{
    DesktopTotals, DesktopTrial, Ended, IoFailure, IoFailureOutcome, Sample, StepTime,
};

use super::broker::{Broker, BrokerAction};
use super::gauges::Gauges;
use crate::direction::Direction;
use crate::observer::Observer;
use crate::outstanding::Outstanding;
use crate::random::{Random, unit};
use crate::recorder::Recorder;
use crate::turns::{LOOK_UP_NS, STILL_TURNS};
use crate::window::{Boundary, Window, sample_of};

/// Drives the users of `trial` and their broker, and returns the measurement.
///
/// An operation of the sample is a user who got a usable desktop, counted as a write; its latency is the time since the user
/// came, or since the user's desktop died. Its bytes are all that moved for the desktop: by its making, by log-ons and by
/// work. The rest is in [`Sample::desktops`]. The pool is filled during the ramp; users come from the opening of the window
/// on. `start` is as in [`crate::drive`].
///
/// Failures of desktops are in [`Sample::io_failures`], whose disks are the places of desktops; a trial ends
/// when they reach its limit.
pub fn drive_desktops<D: Desktops, C: Clock, O: Observer>(
    trial: &DesktopTrial,
    start: impl FnOnce() -> Option<u64>,
    desktops: &mut D,
    clock: &mut C,
    observer: &mut O,
) -> Sample {
    let mut run = Run::new(trial, desktops, clock, observer);
    let ended = match start() {
        None => Ended::Cancelled,
        Some(start_ns) => match run.carry_out(start_ns) {
            Ok(ended) => ended,
            Err(error) => Ended::QueueBroken { reason: error.to_string() },
        },
    };
    run.finish(ended)
}

/// A user at a desktop.
#[derive(Debug, Clone, Copy)]
struct Seat {
    user: u32,
    is_usable: bool,
    /// Distinguishes sessions at one desktop, one after another.
    session: u64,
}

struct Run<'a, D, C, O> {
    trial: &'a DesktopTrial,
    desktops: &'a mut D,
    clock: &'a mut C,
    observer: &'a mut O,
    broker: Broker,
    actions: Vec<BrokerAction>,
    /// [`Broker::due_ns`], which takes a look at all places.
    broker_due_ns: u64,
    recorder: Recorder,
    /// Users without a usable desktop.
    outstanding: Outstanding,
    window: Window,
    gauges: Gauges,
    totals: DesktopTotals,
    steps: [StepTime; DesktopStep::ALL.len()],
    arrivals: Random,
    /// Since the window opened, as a float: gaps do not drift.
    arrival_after_ns: f64,
    class_came: bool,
    /// Users who have come: the number of the next one.
    users: u32,
    /// Users of the class.
    class: std::ops::Range<u32>,
    seats: Vec<Option<Seat>>,
    /// The last user at each place: work may end after the session.
    last_users: Vec<Option<u32>>,
    sessions: u64,
    /// When sessions end: the desktop and the session.
    ends: BinaryHeap<Reverse<(u64, u32, u64)>>,
    /// Bytes of each place since its last operation ended or the window opened.
    moved: Vec<u64>,
    logging_on: u32,
    last_turn_ns: u64,
    last_progress_ns: u64,
}

impl<'a, D: Desktops, C: Clock, O: Observer> Run<'a, D, C, O> {
    fn new(
        trial: &'a DesktopTrial,
        desktops: &'a mut D,
        clock: &'a mut C,
        observer: &'a mut O,
    ) -> Self {
        let places = trial.desktops as usize;
        Self {
            trial,
            desktops,
            clock,
            observer,
            broker: Broker::new(trial.load.broker, trial.desktops),
            actions: Vec::new(),
            broker_due_ns: u64::MAX,
            recorder: Recorder::new(trial.desktops),
            outstanding: Outstanding::new(),
            window: Window::new(trial.duration_ns, trial.interval_ns),
            gauges: Gauges::default(),
            totals: DesktopTotals::default(),
            steps: DesktopStep::ALL.map(|step| StepTime::named(step.name())),
            arrivals: Random::stream(trial.seed, 0xde5c_a441),
            arrival_after_ns: 0.0,
            class_came: false,
            users: 0,
            class: 0..0,
            seats: vec![None; places],
            last_users: vec![None; places],
            sessions: 0,
            ends: BinaryHeap::new(),
            moved: vec![0; places],
            logging_on: 0,
            last_turn_ns: 0,
            last_progress_ns: 0,
        }
    }

    fn carry_out(&mut self, start_ns: u64) -> Result<Ended, DisksError> {
        self.window.begin(start_ns.saturating_add(self.trial.ramp_ns));
        let mut events = Vec::new();
        let mut now_ns = self.clock.now_ns();
        (self.last_turn_ns, self.last_progress_ns) = (now_ns, now_ns.max(start_ns));
        let mut look_up_ns = now_ns;
        let mut still_turns = 0;
        let mut has_begun = false;
        self.next_arrival();
        loop {
            if !has_begun && now_ns >= start_ns {
                has_begun = true;
                self.broker.begin(now_ns, &mut self.actions);
                self.act(now_ns)?;
            }
            let awake_ns =
                self.next_ns(look_up_ns).min(if has_begun { u64::MAX } else { start_ns });
            self.desktops.wait(Wait::AtMost(awake_ns.saturating_sub(now_ns)), &mut events)?;
            let seen_ns = self.clock.now_ns();
            still_turns = if seen_ns == now_ns { still_turns + 1 } else { 0 };
            if still_turns > STILL_TURNS {
                return Ok(Ended::ClockStopped);
            }
            now_ns = seen_ns;
            self.pass_boundaries(now_ns);
            self.gauges.pass(now_ns, self.broker.counts());
            self.outstanding.pass(now_ns);
            self.last_turn_ns = now_ns;
            if !events.is_empty() {
                self.last_progress_ns = now_ns;
            }
            for event in events.drain(..) {
                self.happened(event, now_ns)?;
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
            self.do_due(now_ns)?;
        }
    }

    /// The next time at which something other than an event has to be done.
    fn next_ns(&self, look_up_ns: u64) -> u64 {
        let end_ns = self.ends.peek().map_or(u64::MAX, |Reverse((end_ns, ..))| *end_ns);
        let own_ns = look_up_ns.min(self.window.next_ns()).min(end_ns).min(self.broker_due_ns);
        own_ns.min(self.class_due_ns()).min(self.arrival_due_ns())
    }

    fn class_due_ns(&self) -> u64 {
        match self.trial.load.class {
            Some(class) if !self.class_came => self.window.start_ns().saturating_add(class.at_ns),
            _ => u64::MAX,
        }
    }

    fn arrival_due_ns(&self) -> u64 {
        let load = &self.trial.load;
        let of_class = self.class.len() as u32;
        let is_over = load.users.is_some_and(|most| self.users - of_class >= most);
        if load.arrivals_per_s <= 0.0 || is_over {
            return u64::MAX;
        }
        self.window.start_ns().saturating_add(self.arrival_after_ns as u64)
    }

    fn next_arrival(&mut self) {
        // 1 - u is in (0, 1], where the logarithm is finite.
        let gap = -(1.0 - unit(self.arrivals.next())).ln();
        self.arrival_after_ns += gap * 1e9 / self.trial.load.arrivals_per_s.max(f64::MIN_POSITIVE);
    }

    fn pass_boundaries(&mut self, now_ns: u64) {
        while let Some(boundary) = self.window.passed(now_ns) {
            self.pass(boundary);
        }
    }

    fn pass(&mut self, boundary: Boundary) {
        let counts = self.broker.counts();
        match boundary {
            Boundary::Opened { at_ns } => {
                self.gauges.pass(at_ns, counts);
                self.gauges.open(counts);
                self.outstanding.open(at_ns);
                self.moved.fill(0);
                self.observer.window_opened();
            }
            Boundary::Row { at_ns, start_ns, length_ns } => {
                self.gauges.pass(at_ns, counts);
                self.totals.rows.push(self.gauges.row(start_ns, length_ns));
                let row = self.recorder.close_interval(start_ns, length_ns);
                self.observer.interval(&row);
            }
            Boundary::Closed { at_ns } => {
                self.outstanding.close(at_ns);
                self.totals.waiting = self.outstanding.count();
                for wait_ns in self.outstanding.ages_ns(at_ns) {
                    self.totals.unserved.record(0, wait_ns);
                }
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
        let counts = self.broker.counts();
        let outstanding = u64::from(counts.deploying + counts.leaving + self.logging_on);
        // A desktop that is not made in time is the broker's affair.
        let limit_ns = self.trial.limits.stall_ns.max(self.trial.load.broker.deploy_most_ns);
        let silence_ns = now_ns.saturating_sub(self.last_progress_ns);
        (outstanding > 0 && silence_ns > limit_ns).then_some(Ended::Stalled { outstanding })
    }

    fn happened(&mut self, event: DesktopEvent, now_ns: u64) -> Result<(), DisksError> {
        let DesktopEvent { desktop, what } = event;
        let is_open = self.window.is_open();
        match what {
            DesktopChange::StepEnded { step, took_ns } => {
                if is_open && self.broker.is_deploying(desktop) {
                    self.steps[step as usize].add(took_ns);
                }
            }
            DesktopChange::Deployed => {
                let counts = self.broker.deployed(desktop, now_ns, &mut self.actions);
                self.totals.deployed += u64::from(is_open && counts);
            }
            DesktopChange::Usable => self.usable(desktop, now_ns),
            DesktopChange::Moved { bytes } => self.moved(desktop, bytes),
            DesktopChange::Worked { kind, bytes, latency_ns } => {
                self.moved(desktop, bytes);
                self.worked(desktop, kind, bytes, latency_ns);
            }
            DesktopChange::Failed { step, kind, error } => {
                if self.broker.failed(desktop, now_ns, &mut self.actions) {
                    self.failed(desktop, step, (kind, error), now_ns);
                }
            }
            DesktopChange::TornDown => self.broker.torn_down(desktop, now_ns, &mut self.actions),
        }
        self.act(now_ns)
    }

    fn failed(
        &mut self,
        desktop: u32,
        step: Option<DesktopStep>,
        (kind, error): (Kind, DeviceError),
        now_ns: u64,
    ) {
        let counted = u64::from(self.window.is_open());
        match step {
            Some(_) => self.totals.failed += counted,
            None => self.totals.died += counted,
        }
        self.recorder.io_failed(IoFailure {
            disk: desktop,
            kind,
            offset_bytes: 0,
            length_bytes: 0,
            outcome: IoFailureOutcome::Failed(error),
        });
        if let Some(seat) = self.leave(desktop).filter(|seat| seat.is_usable) {
            self.totals.replaced += counted;
            self.outstanding.begin(seat.user, now_ns);
        }
    }

    fn moved(&mut self, desktop: u32, bytes: u64) {
        if self.window.is_open() {
            self.moved[desktop as usize] += bytes;
            self.recorder.moved(Direction::Write, bytes);
        }
    }

    fn usable(&mut self, desktop: u32, now_ns: u64) {
        let Some(seat) = self.seats[desktop as usize].as_mut().filter(|seat| !seat.is_usable)
        else {
            return;
        };
        seat.is_usable = true;
        let Seat { user, session, .. } = *seat;
        self.logging_on -= 1;
        let mut random = Random::stream(self.trial.seed, 0xde5c_0000_0000 ^ u64::from(user));
        let length_ns = self.trial.load.session.length_ns as f64 * (0.5 + unit(random.next()));
        self.ends.push(Reverse((now_ns.saturating_add(length_ns as u64), desktop, session)));
        let latency_ns = self.outstanding.end(user, now_ns);
        if let Some(latency_ns) = latency_ns.filter(|_| self.window.is_open()) {
            self.totals.usable += 1;
            let bytes = std::mem::take(&mut self.moved[desktop as usize]);
            self.recorder.record_whole(desktop, Direction::Write, bytes, latency_ns);
        }
    }

    fn worked(&mut self, desktop: u32, kind: Kind, bytes: u64, latency_ns: u64) {
        let Some(user) = self.last_users[desktop as usize] else { return };
        if !self.window.is_open() || self.class.contains(&user) {
            return;
        }
        self.totals.work[Direction::of(kind) as usize].record(bytes, latency_ns);
    }

    /// Does what is due at `now_ns`.
    fn do_due(&mut self, now_ns: u64) -> Result<(), DisksError> {
        if self.broker_due_ns <= now_ns {
            let passed = self.broker.pass(now_ns, &mut self.actions);
            let counted = u64::from(self.window.is_open());
            self.totals.failed += passed.given_up * counted;
            self.totals.idled_out += passed.idled_out * counted;
            self.act(now_ns)?;
        }
        while let Some(&Reverse((end_ns, desktop, session))) = self.ends.peek()
            && end_ns <= now_ns
        {
            self.ends.pop();
            self.session_ends(desktop, session, now_ns)?;
        }
        if self.class_due_ns() <= now_ns {
            self.class_came = true;
            let users = self.trial.load.class.map_or(0, |class| class.users);
            self.class = self.users..self.users + users;
            for _ in 0..users {
                self.user_comes(now_ns)?;
            }
        }
        while self.arrival_due_ns() <= now_ns {
            self.next_arrival();
            self.user_comes(now_ns)?;
        }
        Ok(())
    }

    fn user_comes(&mut self, now_ns: u64) -> Result<(), DisksError> {
        let user = self.users;
        self.users += 1;
        self.totals.came += 1;
        self.totals.at_once += u64::from(self.broker.counts().ready > 0);
        self.outstanding.begin(user, now_ns);
        self.broker.came(user, now_ns, &mut self.actions);
        self.act(now_ns)
    }

    fn session_ends(&mut self, desktop: u32, session: u64, now_ns: u64) -> Result<(), DisksError> {
        let Some(seat) = self.seats[desktop as usize].filter(|seat| seat.session == session) else {
            return Ok(());
        };
        let mut random = Random::stream(self.trial.seed, 0xde5c_1d1e_0000 ^ u64::from(seat.user));
        self.leave(desktop);
        if unit(random.next()) * 100.0 < self.trial.load.session.idle_percent {
            self.broker.fell_idle(desktop, now_ns);
            self.desktops.fall_idle(desktop)?;
        } else {
            self.broker.logged_out(desktop, &mut self.actions);
        }
        self.act(now_ns)
    }

    /// Nobody is at a desktop any longer.
    fn leave(&mut self, desktop: u32) -> Option<Seat> {
        let seat = self.seats[desktop as usize].take()?;
        self.logging_on -= u32::from(!seat.is_usable);
        Some(seat)
    }

    /// Does what the broker has decided.
    fn act(&mut self, now_ns: u64) -> Result<(), DisksError> {
        let mut actions = std::mem::take(&mut self.actions);
        if !actions.is_empty() {
            // Nothing may have been in progress: stall time counts from here.
            self.last_progress_ns = self.last_progress_ns.max(now_ns);
        }
        for action in actions.drain(..) {
            match action {
                BrokerAction::Deploy { desktop } => self.desktops.deploy(desktop)?,
                BrokerAction::Seat { user, desktop } => {
                    self.sessions += 1;
                    let session = self.sessions;
                    self.seats[desktop as usize] = Some(Seat { user, is_usable: false, session });
                    self.last_users[desktop as usize] = Some(user);
                    self.logging_on += 1;
                    self.desktops.log_on(desktop, user)?;
                }
                BrokerAction::TearDown { desktop } => self.desktops.tear_down(desktop)?,
                BrokerAction::Refuse { user } => {
                    self.outstanding.fail(user, now_ns);
                    self.totals.refused += 1;
                }
                BrokerAction::Leave { user } => {
                    if let Some(wait_ns) = self.outstanding.fail(user, now_ns) {
                        self.totals.unserved.record(0, wait_ns);
                    }
                    self.totals.gone += 1;
                }
            }
        }
        self.actions = actions;
        self.broker_due_ns = self.broker.due_ns();
        Ok(())
    }

    fn finish(mut self, ended: Ended) -> Sample {
        if let Some(row) = self.window.cut(self.last_turn_ns) {
            self.pass(row);
            self.pass_boundaries(self.last_turn_ns);
        }
        let window_ns = self.window.length_ns();
        for (desktop, bytes) in (0..).zip(&self.moved) {
            self.recorder.carried(desktop, Direction::Write, *bytes);
        }
        let most = u64::from(self.gauges.most_desktops());
        self.totals.storage_most_bytes = most * self.trial.load.broker.desktop.storage_bytes;
        self.totals.steps = self.steps.into();
        let recorded = self.recorder.finish(0);
        Sample {
            outstanding_mean: self.outstanding.integral_ns() as f64 / window_ns.max(1) as f64,
            carried_ns: self.outstanding.carried_ns(),
            desktops: Some(Box::new(self.totals)),
            ..sample_of(recorded, window_ns, self.trial.interval_ns, ended)
        }
    }
}
