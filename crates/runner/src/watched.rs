//! Watches the guests of a rack while a trial has load, on a thread that lasts for the study.
//!
//! The thread owns the source, so that a source that does not return costs a study one wait for it, and the rows of its
//! guests; the trials go on. No driving thread runs in this process meanwhile: in a rack the guests drive.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use stormeter_trial::{GuestActivity, NoteFact};

use crate::guest_gauge::GuestGauge;
use crate::monitor::next_reading;
use crate::monitor_source::MonitorSource;

/// A reading opens some files for every thread of every guest: once a second it costs a guest of ten threads less than a
/// thousandth of a CPU.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);
/// How long the last reading of a trial may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// What is watched in a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WatchSpan {
    /// The wanted length of a row.
    pub(crate) interval: Duration,
    /// Ramp and window; `None` if the load lasts until the trial ends.
    pub(crate) length: Option<Duration>,
}

/// What was seen of the guests in a trial.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What each did.
    pub(crate) guests: Vec<GuestActivity>,
    /// Why that is not all.
    pub(crate) note: Option<NoteFact>,
}

/// The load of a trial starts, or it has ended.
enum Command {
    Start(Instant, WatchSpan),
    Stop,
}

/// The guests of a rack, watched trial by trial.
#[derive(Debug)]
pub(crate) struct Watched {
    patience: Duration,
    state: Result<Running, NoteFact>,
}

#[derive(Debug)]
struct Running {
    commands: Sender<Command>,
    seen: Receiver<Seen>,
}

impl Watched {
    /// Starts the thread, which reads nothing before the first trial. A source that takes longer than `patience` at the
    /// end of a trial is given up.
    pub(crate) fn new(source: Box<dyn MonitorSource>, patience: Duration) -> Self {
        let (commands, heard) = mpsc::channel();
        let (seen_in, seen) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("guests".into())
            .spawn(move || watch_all(source, &heard, &seen_in));
        let state = match thread {
            Ok(_) => Ok(Running { commands, seen }),
            Err(error) => Err(NoteFact::GuestsUnwatched { said: error.to_string() }),
        };
        Self { patience, state }
    }

    /// The load of a trial starts at `at`. If it was said of the trial before, it starts again.
    pub(crate) fn start(&self, at: Instant, span: WatchSpan) {
        if let Ok(running) = &self.state {
            // A thread that has ended is noticed at the end of the trial.
            let _ = running.commands.send(Command::Start(at, span));
        }
    }

    /// The trial has ended: what was seen; nothing if its load never started.
    pub(crate) fn stop(&mut self) -> Seen {
        let unwatched = |said: &str| NoteFact::GuestsUnwatched { said: said.into() };
        let ended = match &self.state {
            Err(note) => return Seen { guests: Vec::new(), note: Some(note.clone()) },
            Ok(Running { commands, seen }) => {
                // As above.
                let _ = commands.send(Command::Stop);
                seen.recv_timeout(self.patience)
            }
        };
        let note = match ended {
            Ok(seen) => return seen,
            Err(RecvTimeoutError::Timeout) => unwatched("reading them took too long"),
            Err(RecvTimeoutError::Disconnected) => unwatched("the thread that reads them ended"),
        };
        self.state = Err(note.clone());
        Seen { guests: Vec::new(), note: Some(note) }
    }
}

/// Watches one trial after another; ends when the study does.
fn watch_all(
    mut source: Box<dyn MonitorSource>,
    commands: &Receiver<Command>,
    seen: &Sender<Seen>,
) {
    let mut next = commands.recv();
    while let Ok(command) = next {
        let (rows, then) = match command {
            Command::Stop => (Some(Seen::default()), None),
            Command::Start(at, span) => match watch_one(source.as_mut(), commands, at, span) {
                (rows, Ok(Command::Stop)) => (Some(rows), None),
                // The trial starts again, and is watched from there.
                (_, then) => (None, Some(then)),
            },
        };
        if let Some(rows) = rows
            && seen.send(rows).is_err()
        {
            return;
        }
        next = then.unwrap_or_else(|| commands.recv());
    }
}

type Heard = Result<Command, mpsc::RecvError>;

/// Reads at the start, at every multiple of the interval and at the end; also returns the command that ended it.
fn watch_one(
    source: &mut dyn MonitorSource,
    commands: &Receiver<Command>,
    at: Instant,
    span: WatchSpan,
) -> (Seen, Heard) {
    let interval = span.interval.max(LEAST_INTERVAL);
    let (mut gauge, mut note) = (GuestGauge::default(), None);
    let mut read = |gauge: &mut GuestGauge, note: &mut Option<NoteFact>| match source.read() {
        // One look that fails leaves a longer row, and is said.
        Err(error) => *note = Some(NoteFact::GuestsUnwatched { said: error.to_string() }),
        Ok(readings) => gauge.take(at.elapsed().as_nanos() as u64, readings),
    };
    let mut wait = at.saturating_duration_since(Instant::now());
    let (mut last, mut readings, mut is_over) = (Duration::ZERO, 0u32, false);
    let heard = loop {
        let command = match is_over {
            true => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => commands.recv_timeout(wait),
        };
        let elapsed = at.elapsed();
        // A short rest is left out, unless it would be the only row.
        let is_worth = readings == 1 || 2 * elapsed.saturating_sub(last) >= interval;
        match command {
            Err(RecvTimeoutError::Timeout) => {
                is_over = span.length.is_some_and(|length| elapsed >= length);
                if !is_over || is_worth {
                    read(&mut gauge, &mut note);
                    (last, readings) = (elapsed, readings.saturating_add(1));
                }
                let left = span.length.map_or(Duration::MAX, |it| it.saturating_sub(elapsed));
                wait = next_reading(elapsed, interval).min(left);
            }
            ended => {
                if !is_over && is_worth && readings > 0 && matches!(ended, Ok(Command::Stop)) {
                    read(&mut gauge, &mut note);
                }
                break ended.map_err(|_| mpsc::RecvError);
            }
        }
    };
    (Seen { guests: gauge.activities(), note }, heard)
}

#[cfg(test)]
mod tests {
    use stormeter_trial::GuestKind;

    use super::*;
    use crate::monitor_source::{GuestReading, MonitorSourceError};

    const LONG: Duration = Duration::from_secs(3600);

    fn guest(cpu_ns: u64) -> GuestReading {
        GuestReading {
            name: "pe1".into(),
            kind: GuestKind::Router,
            life: 1,
            cpu_ns,
            threads: vec![],
            memory_bytes: 0,
            disk_bytes: None,
        }
    }

    /// Reports each reading, and returns from it when it may.
    struct Steered {
        started: Sender<()>,
        may_return: Receiver<()>,
    }

    impl MonitorSource for Steered {
        fn read(&mut self) -> Result<Vec<GuestReading>, MonitorSourceError> {
            let _ = self.started.send(());
            let _ = self.may_return.recv();
            Ok(vec![guest(0)])
        }
    }

    fn steered() -> (Steered, Receiver<()>, Sender<()>) {
        let ((started, seen), (go, may_return)) = (mpsc::channel(), mpsc::channel());
        (Steered { started, may_return }, seen, go)
    }

    const SPAN: WatchSpan = WatchSpan { interval: LONG, length: None };

    #[test]
    fn a_short_trial_has_one_row_and_one_without_load_none() {
        let (source, started, go) = steered();
        let mut watched = Watched::new(Box::new(source), LONG);
        assert_eq!(watched.stop().guests, [], "no load started");
        watched.start(Instant::now(), SPAN);
        started.recv().unwrap();
        // For the reading at the start and the one at the end.
        (0..2).for_each(|_| go.send(()).unwrap());
        let seen = watched.stop();
        assert_eq!(seen.guests[0].rows.len(), 1, "{seen:?}");
        assert_eq!(seen.note, None);
    }

    #[test]
    fn a_trial_that_starts_again_is_watched_from_there() {
        let (source, started, go) = steered();
        let mut watched = Watched::new(Box::new(source), LONG);
        (0..3).for_each(|_| go.send(()).unwrap());
        watched.start(Instant::now(), SPAN);
        started.recv().unwrap();
        watched.start(Instant::now(), SPAN);
        started.recv().unwrap();
        let seen = watched.stop();
        assert_eq!(seen.guests[0].rows.len(), 1, "{seen:?}");
    }

    #[test]
    fn a_window_that_is_over_is_not_watched_further() {
        let (source, started, go) = steered();
        let mut watched = Watched::new(Box::new(source), LONG);
        (0..9).for_each(|_| go.send(()).unwrap());
        let length = Some(Duration::from_millis(1));
        // A thread that first runs when the window is over has nothing to read.
        while {
            watched.start(Instant::now(), WatchSpan { length, ..SPAN });
            started.recv_timeout(Duration::from_secs(1)).is_err()
        } {
            assert_eq!(watched.stop().guests, []);
        }
        started.recv().unwrap();
        let seen = watched.stop();
        assert_eq!(seen.guests[0].rows.len(), 1, "{seen:?}");
        assert!(started.try_recv().is_err(), "the end was read once");
    }

    #[test]
    fn a_silent_source_is_waited_for_once() {
        let (source, started, go) = steered();
        let mut watched = Watched::new(Box::new(source), Duration::from_millis(1));
        for trial in 0..3 {
            watched.start(Instant::now(), SPAN);
            if trial == 0 {
                started.recv().unwrap();
            }
            let seen = watched.stop();
            assert_eq!(seen.guests, []);
            assert!(matches!(seen.note, Some(NoteFact::GuestsUnwatched { .. })), "{seen:?}");
        }
        drop(go);
        // At most the end of the first trial.
        assert!(started.iter().count() < 2, "it was asked in a later trial");
    }
}
