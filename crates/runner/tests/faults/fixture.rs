//! A short, verified comparison of a network datastore against a directory, with something to be
//! done in the middle of its trials.
//!
//! What is done hangs on what the run tells of itself ([`Progress`]), never on time. A run that does
//! not end by itself is ended, and the test fails.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use stormeter_statistics::{BrokenBy, Fact};

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{DatastoreNote, EventKind, FinishReason, TrialOutcome, TrialRecord};
use stormeter_runner::{Place, Progress, Request, RunError, TrialStart, run};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing, block_order, profile};
use stormeter_trial::{Arrivals, Interval, Sample, TrialFailure};
use tempfile::TempDir;

/// No comparison here takes nearly as long.
const BOUND: Duration = Duration::from_secs(100);
const MS: u64 = 1_000_000;

/// What differs from one comparison to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Trials of each datastore.
    pub(crate) blocks: u32,
    pub(crate) read_percent: f64,
    /// I/Os a second on each of two disks: few enough that no server and no machine is the limit.
    pub(crate) rate_per_s: f64,
    /// How long a trial measures. What is done in its second row has to show before its end, also where the
    /// machine lets no I/O end for a third of a second.
    pub(crate) duration_ms: u64,
}

impl Default for Load {
    fn default() -> Self {
        Self { blocks: 2, read_percent: 50.0, rate_per_s: 500.0, duration_ms: 500 }
    }
}

/// What happens to the network datastore; its trials are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A trial is about to open its disks.
    Begin(u32),
    /// An interval of a trial ended; counted from 0, which is the first in which I/Os ended.
    Row(u32, u32),
    /// A trial has ended, its connections with it.
    End(u32),
}

/// What came of a comparison.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) conclusion: Conclusion,
    /// What the run said of what it leaves behind, among other things.
    pub(crate) notes: Vec<String>,
    other: TempDir,
}

/// Compares `url` with a directory. The first trial is that of `url`.
#[track_caller]
pub(crate) fn compare(url: &str, load: Load, act: impl FnMut(Moment)) -> Outcome {
    try_compare(url, load, act).unwrap_or_else(|error| panic!("{url}: {error}"))
}

/// The same where it may end before the first trial.
#[track_caller]
pub(crate) fn try_compare(
    url: &str,
    load: Load,
    act: impl FnMut(Moment),
) -> Result<Outcome, RunError> {
    let other = tempfile::tempdir().unwrap();
    let results = tempfile::tempdir().unwrap();
    let datastores = vec![url.to_owned(), other.path().display().to_string()];
    let mut request = request(datastores, load, results.path().join("r.db"));
    request.destroy_data = vec![PathBuf::from(url)];
    let mut watch = Watch { url, act, trials: 0, rows: None, notes: Vec::new() };
    let cancel = AtomicBool::new(false);
    let conclusion = thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let cancel = &cancel;
        scope.spawn(move || {
            if end.recv_timeout(BOUND) == Err(RecvTimeoutError::Timeout) {
                cancel.store(true, Ordering::Relaxed);
            }
        });
        let conclusion = run(&request, &RealClock::new(), cancel, &mut watch);
        drop(ended);
        conclusion
    });
    assert!(!cancel.into_inner(), "the comparison did not end by itself: {conclusion:?}");
    Ok(Outcome { conclusion: conclusion?, notes: watch.notes, other })
}

/// A verified comparison into a new results file.
pub(crate) fn request(datastores: Vec<String>, load: Load, output: PathBuf) -> Request {
    Request::new(StudyPlan::from(&plan(datastores, load)), output)
}

fn plan(datastores: Vec<String>, load: Load) -> ComparisonPlan {
    let mut workload = profile("vm-4k").unwrap().workload;
    workload.read_percent = load.read_percent;
    workload.arrivals = Arrivals::Constant { rate_per_s: load.rate_per_s };
    ComparisonPlan {
        datastores,
        baseline: 1,
        workload,
        vms: 2,
        disk_bytes: 4 << 20,
        threads: 1,
        timing: Timing {
            ramp_ns: 50 * MS,
            duration_ns: load.duration_ms * MS,
            interval_ns: 50 * MS,
        },
        metric: Metric::LatencyMean,
        precision: 0.001,
        margin: 0.05,
        level: 0.95,
        min_blocks: load.blocks,
        max_blocks: load.blocks,
        time_limit_ns: BOUND.as_nanos() as u64,
        equal_load: None,
        seed: (0..).find(|&seed| block_order(seed, 0, 2) == [0, 1]).unwrap(),
        verify: true,
    }
}

struct Watch<'a, F> {
    url: &'a str,
    act: F,
    /// Trials of the network datastore that have started.
    trials: u32,
    /// Intervals of the present one.
    rows: Option<u32>,
    notes: Vec<String>,
}

impl<F: FnMut(Moment)> Progress for Watch<'_, F> {
    fn trial(&mut self, start: &TrialStart<'_>) {
        if start.datastore == self.url {
            self.rows = Some(0);
            (self.act)(Moment::Begin(self.trials));
            self.trials += 1;
        }
    }

    fn interval(&mut self, row: &Interval) {
        let Some(rows) = self.rows.as_mut().filter(|rows| **rows > 0 || row.iops() > 0.0) else {
            return;
        };
        *rows += 1;
        let moment = Moment::Row(self.trials - 1, *rows - 1);
        (self.act)(moment);
    }

    fn trial_ended(&mut self, _: Option<&Place<'_>>, _: Result<&Sample, &TrialFailure>) {
        if self.rows.take().is_some() {
            (self.act)(Moment::End(self.trials - 1));
        }
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.into());
    }

    fn opened(&mut self, datastore: &str, note: &DatastoreNote) {
        self.notes.push(format!("{datastore}: {note:?}"));
    }

    fn left_behind(&mut self, left: &DatastoreNote) {
        self.notes.push(format!("{left:?}"));
    }

    fn event(&mut self, event: &EventKind) {
        self.notes.push(format!("{event:?}"));
    }
}

impl Outcome {
    fn trials(&self, datastore: usize) -> Vec<&TrialRecord> {
        let all = self.conclusion.trials.iter();
        all.filter(|trial| trial.datastore == Some(datastore)).collect()
    }

    /// The network datastore's trial.
    #[track_caller]
    fn trial(&self, number: usize) -> &TrialRecord {
        self.trials(0).get(number).copied().unwrap_or_else(|| panic!("no such trial: {self:?}"))
    }

    /// The incidents of the network datastore's trial, one per line.
    pub(crate) fn incidents(&self, trial: usize) -> String {
        let incidents = self.trial(trial).incidents.iter();
        incidents.map(|it| format!("{} × {:?}\n", it.times, it.event)).collect()
    }

    /// The trial was measured, no I/O failed, and this was reported.
    #[track_caller]
    pub(crate) fn assert_recovered(&self, trial: usize, reported: &[&str]) {
        let record = self.trial(trial);
        let TrialOutcome::Measured { sample, .. } = &record.outcome else {
            panic!("trial {trial} failed: {:?}", record.outcome)
        };
        assert_eq!(sample.failed_operations(), 0, "trial {trial}: {:?}", sample.io_failures);
        let incidents = self.incidents(trial);
        for text in reported {
            assert!(
                incidents.contains(text),
                "trial {trial} does not report '{text}': {incidents}"
            );
        }
        assert!(!reported.is_empty() || incidents.is_empty(), "trial {trial} reports {incidents}");
    }

    /// The comparison came to its last block, and is valid.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        let reason = self.conclusion.finished.as_ref().map(|finished| &finished.reason);
        assert_eq!(reason, Some(&FinishReason::MaxBlocks), "{:?}", self.conclusion.analysis);
        self.assert_nothing_wrong();
    }

    /// [`Self::assert_broke_at`] the first trial.
    #[track_caller]
    pub(crate) fn assert_broke(&self, words: &[&str]) {
        self.assert_broke_at(0, words);
    }

    /// The trial failed, by itself or by its I/Os, with these words in the reason; its block was finished and
    /// measured again, which went well, and the comparison tells of it.
    #[track_caller]
    pub(crate) fn assert_broke_at(&self, trial: usize, words: &[&str]) {
        let analysis = &self.conclusion.analysis;
        let findings = analysis.findings.iter().filter(|(datastore, _)| *datastore == Some(0));
        let again: Vec<_> = findings
            .filter_map(|(_, found)| match &found.fact {
                Fact::MeasuredAgain { again, .. } => Some(again),
                _ => None,
            })
            .collect();
        let [again] = again[..] else { panic!("not measured again: {:?}", analysis.findings) };
        let reason = match &again.first {
            BrokenBy::Failure(failure) => failure.to_string(),
            BrokenBy::Law(law) => match &**law {
                Fact::IoErrors { count, first, .. } => {
                    format!("{count} I/Os failed, first: {}", first.as_ref().unwrap())
                }
                law => format!("{law:?}"),
            },
        };
        for text in words {
            assert!(reason.contains(text), "'{text}' is not in: {reason}");
        }
        let (broken, again) = (self.trial(trial), self.trial(trial + 1));
        assert_eq!((broken.attempt.number, again.attempt.number), (0, 1));
        assert_eq!(broken.block, again.block);
        assert!(matches!(again.outcome, TrialOutcome::Measured { .. }), "{again:?}");
        for other in self.trials(1) {
            assert!(matches!(other.outcome, TrialOutcome::Measured { .. }), "{other:?}");
        }
        assert_eq!(self.trials(0).len(), self.trials(1).len());
        self.assert_valid();
    }

    /// No block was lost or misplaced, on either datastore, and the directory is as it was.
    #[track_caller]
    fn assert_nothing_wrong(&self) {
        for trial in self.conclusion.trials.iter().filter(|trial| trial.datastore.is_some()) {
            let verified = trial.sample().and_then(|sample| sample.verified.as_ref());
            let wrong = verified.map_or(0, |verified| verified.wrong_blocks);
            assert_eq!(wrong, 0, "{verified:?}");
            let is_measured = matches!(trial.outcome, TrialOutcome::Measured { .. });
            let blocks = verified.map_or(0, |verified| verified.blocks);
            assert!(!is_measured || blocks > 0, "nothing was verified: {verified:?}");
        }
        let left: Vec<_> = self.other.path().read_dir().unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
