//! Callbacks for showing what a run does.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use stormeter_conclude::Attempts;
use stormeter_results::{DatastoreNote, EventKind, TrialRecord};
use stormeter_study::Metric;
use stormeter_trial::{Interval, LatencyBands, MonitorRow, Sample, TrialFailure};

/// A trial is about to start.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialStart<'a> {
    /// The datastore's URL.
    pub datastore: &'a str,
    /// Block, counted from 0; `None` for trials before the first block.
    pub block: Option<u32>,
    /// Its purpose: `ceiling`, `capacity`, `trial`.
    pub purpose: &'static str,
    /// The cell's index in the plan; `None` for ceilings, which belong to no cell.
    pub cell: Option<usize>,
    /// The length of ramp and window; `None` if it ends when its work is done.
    pub length_ns: Option<u64>,
    /// Its place in the study.
    pub place: Option<Place<'a>>,
}

/// The place of a trial in a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Place<'a> {
    /// The cell: `nas, vm-4k, 4 VMs × 8`.
    pub cell: &'a str,
    /// Its number in the study, from 1.
    pub number: u64,
    /// The largest number of trials.
    pub of: u64,
    /// Trials that failed so far.
    pub failed: u32,
    /// The probable time until the end of the study.
    pub rest_ns: u64,
}

/// A block ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockEnd {
    /// Blocks done.
    pub blocks: u32,
    /// The largest number of blocks.
    pub most: u32,
    /// What a comparison knows so far; `None` for other studies.
    pub estimate: Option<Estimate>,
}

/// What the blocks of a comparison amount to so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The metric that decides when to stop.
    pub metric: Metric,
    /// The widest relative half width of its intervals, if there is one yet.
    pub half_width: Option<f64>,
    /// The probable time until the end.
    pub rest_ns: u64,
}

/// What is seen of a trial while it runs, by those who watch it ([`Progress::watches`]). Results are not computed from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Latencies of I/Os that ended since they were told last, by one of the driving threads.
    Latencies(LatencyBands),
    /// The activity of a host, about once a second or less often.
    Activity(MonitorRow),
    /// What one of several hosts did in an interval.
    Interval(Interval),
}

/// The trials of a run so far.
#[derive(Debug, Clone, Copy)]
pub struct SoFar<'a> {
    /// All that are recorded, in the order in which they were made.
    pub trials: &'a [TrialRecord],
    /// Which of them count.
    pub attempts: &'a Attempts,
}

/// Receives each event of a run. All methods are optional.
pub trait Progress {
    /// A run with this identity starts; a resumed one has trials.
    fn started(&mut self, _run_id: &str, _so_far: &SoFar<'_>) {}
    /// A datastore is being opened, which may take as long as its server lets the client wait.
    fn opening(&mut self, _datastore: &str) {}
    /// A datastore's disks are being written: bytes done, bytes in all.
    fn preparing(&mut self, _datastore: &str, _done: u64, _total: u64) {}
    /// A trial starts.
    fn trial(&mut self, _start: &TrialStart<'_>) {}
    /// The load of the trial starts at this time, with its ramp.
    fn load_starts(&mut self, _at: Instant) {}
    /// An interval of the trial ended; all driving threads together.
    fn interval(&mut self, _row: &Interval) {}
    /// Whether [`Progress::seen`] is wanted: it costs a little, so what nobody watches is not collected.
    fn watches(&self) -> bool {
        false
    }
    /// Something was seen of the running trial, on this host of several or on this machine.
    fn seen(&mut self, _host: Option<&str>, _seen: &Seen) {}
    /// A trial ended: its sample, or the reason why there is none; and its place, as in [`TrialStart`].
    fn trial_ended(
        &mut self,
        _place: Option<&Place<'_>>,
        _outcome: Result<&Sample, &TrialFailure>,
    ) {
    }
    /// A trial was recorded: the last of these. Trials that measure ceilings are not reported.
    fn recorded(&mut self, _so_far: &SoFar<'_>) {}
    /// A block ended.
    fn block_ended(&mut self, _end: &BlockEnd) {}
    /// The disks of a datastore are being reset to the state from which trials start.
    fn resetting(&mut self, _datastore: &str) {}
    /// What cells depend on is known for this many of them.
    fn sensitivity(&mut self, _done: u64, _of: u64) {}
    /// An event that the results file records, too.
    fn event(&mut self, _event: &EventKind) {}
    /// A note about a datastore that was opened, which its description records, too.
    fn opened(&mut self, _datastore: &str, _note: &DatastoreNote) {}
    /// Something that stays on a datastore after its disks were removed, or may.
    fn left_behind(&mut self, _left: &DatastoreNote) {}
    /// Something worth knowing that is not recorded.
    fn note(&mut self, _text: &str) {}
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Reports everything to two receivers, one after the other.
pub struct Both<'a> {
    /// Receives each event first.
    pub first: &'a mut dyn Progress,
    /// Receives it then.
    pub second: &'a mut dyn Progress,
}

/// Passes each of these methods on.
macro_rules! to_both {
    ($($method:ident($($name:ident: $kind:ty),*);)*) => {
        impl Progress for Both<'_> {
            fn watches(&self) -> bool {
                self.first.watches() || self.second.watches()
            }
            $(fn $method(&mut self, $($name: $kind),*) {
                self.first.$method($($name),*);
                self.second.$method($($name),*);
            })*
        }
    };
}

to_both! {
    started(run_id: &str, so_far: &SoFar<'_>);
    opening(datastore: &str);
    preparing(datastore: &str, done: u64, total: u64);
    trial(start: &TrialStart<'_>);
    load_starts(at: Instant);
    interval(row: &Interval);
    seen(host: Option<&str>, seen: &Seen);
    trial_ended(place: Option<&Place<'_>>, outcome: Result<&Sample, &TrialFailure>);
    recorded(so_far: &SoFar<'_>);
    block_ended(end: &BlockEnd);
    resetting(datastore: &str);
    sensitivity(done: u64, of: u64);
    event(event: &EventKind);
    opened(datastore: &str, note: &DatastoreNote);
    left_behind(left: &DatastoreNote);
    note(text: &str);
}
