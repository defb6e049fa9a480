//! Concludes while a run goes on, on a thread of its own.
//!
//! It rests two hundred times as long as it works, so that a study with thousands of trials, whose conclusions take long,
//! costs no more than half a percent of a CPU.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stormeter_report::Report;
use stormeter_report::live::{Judged, Judgement, judgement};

use crate::thinned::{Merge, Thinned};

/// How many times as long it rests as it works.
const REST: u32 = 200;
/// Estimates over time.
const MOST: usize = 300;

/// Returns the report of the trials so far, if there are any.
pub type JudgeSource = Box<dyn FnMut() -> Option<Report> + Send>;

impl Merge for Judged {
    /// The later one has the trials of the earlier one.
    fn merge(&mut self, next: Self) {
        *self = next;
    }
}

/// What is concluded.
#[derive(Debug)]
pub(crate) struct Concluded {
    pub(crate) report: Option<Arc<Report>>,
    pub(crate) judgement: Option<Judgement>,
    pub(crate) history: Thinned<Judged>,
}

/// See above. Clones are the same judge; the thread ends with the last of them.
#[derive(Clone)]
pub struct Judge {
    wanted: SyncSender<()>,
    concluded: Arc<Mutex<Concluded>>,
}

impl Judge {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(source: JudgeSource) -> std::io::Result<Self> {
        let (wanted, wants) = sync_channel(1);
        let concluded = Concluded { report: None, judgement: None, history: Thinned::new(MOST) };
        let concluded = Arc::new(Mutex::new(concluded));
        let judge = Self { wanted, concluded: Arc::clone(&concluded) };
        let work = move || run(source, &wants, &concluded);
        std::thread::Builder::new().name("judge".into()).spawn(work)?;
        Ok(judge)
    }

    /// There is more to judge. Returns at once.
    pub(crate) fn look(&self) {
        match self.wanted.try_send(()) {
            // It will look anyway, or it has ended and the last report stays.
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
        }
    }

    /// This is the report of the whole run.
    pub fn conclude(&self, report: Report) {
        self.concluded().take(report);
    }

    pub(crate) fn concluded(&self) -> std::sync::MutexGuard<'_, Concluded> {
        self.concluded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Concluded {
    fn take(&mut self, report: Report) {
        let judgement = judgement(&report);
        let judged = Judged { trials: judgement.trials, estimates: judgement.estimates.clone() };
        let last = self.history.last_mut();
        match last.filter(|last| last.trials >= judged.trials) {
            Some(last) => *last = judged,
            None if judged.estimates.is_empty() => {}
            None => self.history.push(judged),
        }
        self.judgement = Some(judgement);
        self.report = Some(Arc::new(report));
    }
}

fn run(mut source: JudgeSource, wants: &Receiver<()>, concluded: &Mutex<Concluded>) {
    let mut is_wanted = false;
    while is_wanted || wants.recv().is_ok() {
        let began = Instant::now();
        if let Some(report) = source() {
            let mut concluded = concluded.lock().unwrap_or_else(PoisonError::into_inner);
            // The report of the whole run may have come meanwhile.
            let known = concluded.judgement.as_ref().map_or(0, |known| known.trials);
            if report.status.trials >= known && !is_final(&concluded) {
                concluded.take(report);
            }
        }
        match rest(wants, began.elapsed() * REST) {
            Some(wanted) => is_wanted = wanted,
            None => return,
        }
    }
}

/// Whether the report is of a run that has ended.
fn is_final(concluded: &Concluded) -> bool {
    concluded.report.as_ref().is_some_and(|report| report.status.reason.is_some())
}

/// Waits this long; returns whether there was more to judge meanwhile, or `None` when the run is over.
fn rest(wants: &Receiver<()>, long: Duration) -> Option<bool> {
    let until = Instant::now() + long;
    let mut is_wanted = false;
    loop {
        match wants.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(()) => is_wanted = true,
            Err(RecvTimeoutError::Timeout) => return Some(is_wanted),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
