//! The agent: does what a controller asks for, until the controller says goodbye or is gone.
//!
//! One thread receives, another works. Pings are therefore answered while a trial runs, and cancels are
//! received. The end of the input means that the controller is gone: the current work is cancelled, the
//! disks are removed and the agent exits, so that nothing remains on a host whose controller was killed or
//! disconnected.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stormeter_datastore::RealClock;
use stormeter_disk::Clock;
use stormeter_results::DatastoreNote;
use stormeter_runner::{
    Executor, LocalExecutor, Progress, RunError, Seen, Silent, StartCoordinator, TrialOrder,
    environment,
};
use stormeter_study::WorkloadKind;
use stormeter_trial::Interval;

use crate::errand::{Errand, Heard};
use crate::frame::{FrameError, read_frame, write_frame};
use crate::message::{CAPABILITIES, Command, HostFacts, PROTOCOL, Report};

/// How often cancellation is checked.
const LOOK: Duration = Duration::from_millis(50);
/// After all is ready, a controller names a start or is gone: other hosts may need this long to open their
/// disks.
const START_WITHIN: Duration = Duration::from_secs(300);
/// How long before the start the threads are woken; they wait out the rest by themselves.
const AWAKE_NS: u64 = 2_000_000;
/// Progress is reported no more often than this.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// How long the idle machine is observed: shorter than on a single machine, as the study waits for all hosts.
const IDLE_READING: Duration = Duration::from_millis(500);

/// How an agent is stopped from outside, for example by signals.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Cancels the current work. Cleared by the agent.
    pub cancel: Arc<AtomicBool>,
    /// Makes the agent exit. Set it together with `cancel`.
    pub leave: Arc<AtomicBool>,
}

/// Why an agent ended before its goodbye.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Something other than a message was received, or messages can no longer be sent.
    #[error("{0}; an agent is started by a controller, `stormeter run` with hosts in its study")]
    Frame(#[from] FrameError),
    /// The controller did not start with a hello.
    #[error("the controller did not say hello first")]
    NoHello,
}

/// Serves one controller. Returns when the controller has said goodbye or is gone; by then the
/// disks are removed.
///
/// # Errors
/// The input is not from a controller, or cannot be answered.
pub fn serve(
    mut input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    version: &str,
    stop: Stop,
) -> Result<(), ServeError> {
    // Only once a controller is there: a guest may have been frozen meanwhile, and its clock with
    // it.
    let hello = match read_frame(&mut input) {
        Ok(hello) => hello,
        Err(FrameError::Ended) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Command::Hello { protocols, .. } = hello else { return Err(ServeError::NoHello) };
    let clock = RealClock::new();
    let output = Arc::new(Mutex::new(output));
    let back = Back(output);
    back.say(&Report::Hello {
        protocol: if protocols.contains(&PROTOCOL) { PROTOCOL } else { 0 },
        version: version.to_owned(),
        capabilities: CAPABILITIES.map(String::from).to_vec(),
        facts: Box::new(HostFacts {
            environment: environment(&clock),
            boot_id: std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .ok()
                .map(|id| id.trim().to_owned()),
        }),
    })?;
    let (work_in, work) = mpsc::channel();
    let (start_in, start) = mpsc::channel();
    let errand = mpsc::channel();
    let ears = Ears {
        back: back.clone(),
        clock: clock.clone(),
        cancel: stop.cancel.clone(),
        work: work_in,
        start: start_in,
        answers: errand.0.clone(),
    };
    // Not joined: it waits for input that may never come if the agent was told to exit in another
    // way.
    thread::Builder::new()
        .name("ears".into())
        .spawn(move || ears.hear(&mut input))
        .map_err(FrameError::Io)?;
    Worker { back, clock, stop, start, errand, executor: None }.work(&work)
}

/// The connection back to the controller, for both threads.
struct Back<W>(Arc<Mutex<W>>);

impl<W> Clone for Back<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Write> Back<W> {
    fn say(&self, report: &Report) -> Result<(), FrameError> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write_frame(&mut *output, report)
    }
}

/// What the receiving thread forwards.
enum Work {
    Do(Command),
    /// Something other than a message was received.
    Broken(FrameError),
}

struct Ears<W> {
    back: Back<W>,
    clock: RealClock,
    cancel: Arc<AtomicBool>,
    work: Sender<Work>,
    start: Sender<u64>,
    answers: Sender<Heard>,
}

impl<W: Write> Ears<W> {
    /// Receives until the input ends; then cancels the current work.
    fn hear(mut self, input: &mut impl Read) {
        loop {
            let command = match read_frame(input) {
                Ok(command) => command,
                Err(error) => {
                    self.cancel.store(true, Ordering::Relaxed);
                    if !matches!(error, FrameError::Ended) {
                        let _ = self.work.send(Work::Broken(error));
                    }
                    return;
                }
            };
            let is_last = command == Command::Goodbye;
            let passed = match command {
                Command::Ping { sent_ns } => self.pong(sent_ns),
                Command::Start { at_ns } => self.start.send(at_ns).is_ok(),
                Command::Answer { text } => self.answers.send(Heard::Answer(text)).is_ok(),
                command => {
                    if command == Command::Cancel {
                        self.cancel.store(true, Ordering::Relaxed);
                    }
                    self.work.send(Work::Do(command)).is_ok()
                }
            };
            if is_last || !passed {
                return;
            }
        }
    }

    fn pong(&mut self, sent_ns: u64) -> bool {
        let now_ns = self.clock.now_ns();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let pong = Report::Pong { sent_ns, now_ns, unix_ns: unix.as_nanos() as u64 };
        // The working thread notices a closed connection; the input ends as well.
        let _ = self.back.say(&pong);
        true
    }
}

struct Worker<W> {
    back: Back<W>,
    clock: RealClock,
    stop: Stop,
    start: Receiver<u64>,
    /// What an errand hears, and where the ears leave answers for it.
    errand: (Sender<Heard>, Receiver<Heard>),
    executor: Option<LocalExecutor>,
}

impl<W: Write> Worker<W> {
    /// Works until there is nothing more to do. However it ends, the disks are removed.
    fn work(mut self, work: &Receiver<Work>) -> Result<(), ServeError> {
        loop {
            let command = match work.recv_timeout(LOOK) {
                Ok(Work::Do(command)) => command,
                Ok(Work::Broken(error)) => return Err(error.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if self.stop.leave.load(Ordering::Relaxed) => {
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => continue,
            };
            let report = match command {
                Command::Goodbye => {
                    self.clean_up();
                    self.back.say(&Report::Goodbye)?;
                    return Ok(());
                }
                Command::Cancel => {
                    // Everything requested before has ended, so the cancel applies to nothing else.
                    self.stop.cancel.store(false, Ordering::Relaxed);
                    Report::Cancelled
                }
                Command::CleanUp => Report::CleanedUp { left: self.clean_up() },
                command => self
                    .carry_out(command)
                    .unwrap_or_else(|error| Report::Failed { reason: error.to_string() }),
            };
            self.back.say(&report)?;
        }
    }

    fn clean_up(&mut self) -> Vec<DatastoreNote> {
        self.executor.take().map(|mut executor| executor.remove()).unwrap_or_default()
    }

    fn carry_out(&mut self, command: Command) -> Result<Report, RunError> {
        match command {
            Command::Open(order) => {
                self.clean_up();
                let mut executor = LocalExecutor::new(self.clock.clone(), IDLE_READING);
                let never = AtomicBool::new(false);
                let opened = executor.open(&order, &never, &mut Silent)?;
                executor.read_idle(&never);
                self.executor = Some(executor);
                Ok(Report::Opened(opened.stores))
            }
            Command::Prepare(order) => {
                let executor = self.executor.as_mut().ok_or_else(nothing_open)?;
                let mut teller = Teller::new(&self.back, false);
                let prepared = executor.prepare(&order, &self.stop.cancel, &mut teller)?;
                Ok(Report::Prepared(prepared))
            }
            Command::Trial(order) => self.trial(&order),
            Command::Errand(errand) => self.errand(&errand),
            other => Err(RunError::Order(format!("{other:?} makes no sense here"))),
        }
    }

    fn errand(&mut self, errand: &Errand) -> Result<Report, RunError> {
        let (back, cancel) = (&self.back, &*self.stop.cancel);
        let mut print = |line| {
            // Nobody is there to read what follows.
            if back.say(&Report::Printed { line }).is_err() {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let (sender, heard) = &self.errand;
        // Answers to one that has ended.
        while heard.try_recv().is_ok() {}
        let end = errand.run_with(&mut print, sender, heard, cancel);
        end.map(Report::ErrandEnded).map_err(|error| RunError::Order(error.to_string()))
    }

    fn trial(&mut self, order: &TrialOrder) -> Result<Report, RunError> {
        // Starts of trials that ended before their start arrived.
        while self.start.try_recv().is_ok() {}
        let executor = self.executor.as_mut().ok_or_else(nothing_open)?;
        match order.work {
            // There is one broker, where the study runs.
            WorkloadKind::Desktops(_) => {
                return Err(RunError::Order("desktops on demand are not made on hosts".into()));
            }
            WorkloadKind::Transfer(_) if order.listener.is_none() => {
                return Err(RunError::Order("a transfer's clients have no listener here".into()));
            }
            _ => {}
        }
        let (back, cancel) = (&self.back, &*self.stop.cancel);
        let warm_up = Teller::new(back, false);
        let mut controller = Controller { back, start: &self.start, cancel, warm_up };
        let mut teller = Teller::new(back, order.watched);
        let end = executor.trial_started_by(&mut controller, order, cancel, &mut teller)?;
        Ok(Report::Done(Box::new(end)))
    }
}

/// The controller, as seen by a trial.
struct Controller<'a, W> {
    back: &'a Back<W>,
    start: &'a Receiver<u64>,
    cancel: &'a AtomicBool,
    warm_up: Teller<'a, W>,
}

impl<W: Write> StartCoordinator for Controller<'_, W> {
    fn warmed_up(&mut self, bytes: u64) {
        self.warm_up.preparing("", bytes, u64::MAX);
    }

    fn listens(&mut self, port: u16) {
        // A controller that does not receive this sends no client, and that wait has a limit.
        let _ = self.back.say(&Report::Listening { port });
    }

    fn start(&mut self, clock: &mut RealClock) -> Option<u64> {
        self.back.say(&Report::Ready).ok()?;
        let at_ns = start_time(self.start, self.cancel)?;
        self.back.say(&Report::Starting { late_ns: clock.now_ns().saturating_sub(at_ns) }).ok()?;
        sleep_until(clock, at_ns.saturating_sub(AWAKE_NS), self.cancel)?;
        Some(at_ns)
    }
}

/// The time of the start, once it has been received.
fn start_time(start: &Receiver<u64>, cancel: &AtomicBool) -> Option<u64> {
    let began = Instant::now();
    loop {
        match start.recv_timeout(LOOK) {
            Ok(at_ns) => return Some(at_ns),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout)
                if cancel.load(Ordering::Relaxed) || began.elapsed() > START_WITHIN =>
            {
                return None;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// `None` if it was cancelled meanwhile.
fn sleep_until(clock: &mut RealClock, at_ns: u64, cancel: &AtomicBool) -> Option<()> {
    loop {
        let left = Duration::from_nanos(at_ns.saturating_sub(clock.now_ns()));
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        if left.is_zero() {
            return Some(());
        }
        thread::sleep(left.min(LOOK));
    }
}

fn nothing_open() -> RunError {
    RunError::Order("no datastore was opened".into())
}

/// Forwards what the runner reports.
struct Teller<'a, W> {
    back: &'a Back<W>,
    last_report: Option<Instant>,
    is_watched: bool,
}

impl<'a, W> Teller<'a, W> {
    fn new(back: &'a Back<W>, is_watched: bool) -> Self {
        Self { back, last_report: None, is_watched }
    }
}

impl<W: Write> Progress for Teller<'_, W> {
    fn preparing(&mut self, _: &str, done: u64, total: u64) {
        if done < total && self.last_report.is_some_and(|last| last.elapsed() < TELL_EVERY) {
            return;
        }
        self.last_report = Some(Instant::now());
        // A controller that does not receive this does not receive the end either, and that is
        // checked.
        let _ = self.back.say(&Report::Preparing { done, total });
    }

    fn interval(&mut self, row: &Interval) {
        let _ = self.back.say(&Report::Interval(*row));
    }

    fn watches(&self) -> bool {
        self.is_watched
    }

    fn seen(&mut self, _host: Option<&str>, seen: &Seen) {
        let _ = self.back.say(&Report::Seen(seen.clone()));
    }
}
