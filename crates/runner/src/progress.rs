//! What happens, told to whoever wants to show it.

use std::time::Instant;

use stormeter_results::EventKind;
use stormeter_study::Metric;
use stormeter_trial::{Interval, Sample, TrialFailure};

/// A trial is about to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialStart<'a> {
    /// The datastore's URL.
    pub datastore: &'a str,
    /// Block, counted from 0; `None` for trials before the first block.
    pub block: Option<u32>,
    /// What it is for, in a word or two: `ceiling`, `capacity`, `trial`.
    pub purpose: &'static str,
    /// Ramp and window; `None` where it ends when its work is done.
    pub length_ns: Option<u64>,
    /// Where in a study it stands.
    pub place: Option<Place<'a>>,
}

/// Where a trial stands in a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Place<'a> {
    /// Which cell: `nas, vm-4k, 4 VMs × 8`.
    pub cell: &'a str,
    /// Which trial of the study it is, from 1.
    pub number: u64,
    /// How many there will be at most.
    pub of: u64,
    /// How many have failed so far.
    pub failed: u32,
    /// How long it and all that may follow will probably take.
    pub rest_ns: u64,
}

/// A block ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockEnd {
    /// Blocks done.
    pub blocks: u32,
    /// The most there will be.
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

/// Hears of each step. All of it is optional.
pub trait Progress {
    /// A datastore is being opened, which may take as long as a server lets one wait.
    fn opening(&mut self, _datastore: &str) {}
    /// A datastore's disks are being written: bytes done, bytes in all.
    fn preparing(&mut self, _datastore: &str, _done: u64, _total: u64) {}
    /// A trial begins.
    fn trial(&mut self, _start: &TrialStart<'_>) {}
    /// The load of the trial begins at that moment, with its ramp.
    fn begun(&mut self, _at: Instant) {}
    /// An interval of the trial ended; all driving threads together.
    fn interval(&mut self, _row: &Interval) {}
    /// A trial ended: its sample, or the reason why there is none; and its place, as in [`TrialStart`].
    fn trial_ended(
        &mut self,
        _place: Option<&Place<'_>>,
        _outcome: Result<&Sample, &TrialFailure>,
    ) {
    }
    /// A block ended.
    fn block_ended(&mut self, _end: &BlockEnd) {}
    /// The disks of a datastore are brought back to the state from which trials start.
    fn resetting(&mut self, _datastore: &str) {}
    /// It is known of so many cells what more of each part of a model would bring.
    fn elasticity(&mut self, _done: u64, _of: u64) {}
    /// An event that the results file records, too.
    fn event(&mut self, _event: &EventKind) {}
    /// Something worth knowing that is not recorded.
    fn note(&mut self, _text: &str) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
