//! What happens, told to whoever wants to show it.

use stormeter_driver::Interval;
use stormeter_study::Metric;

/// A trial is about to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialStart<'a> {
    /// The datastore's URL.
    pub datastore: &'a str,
    /// Block, counted from 0; `None` for trials before the first block.
    pub block: Option<u32>,
    /// What it is for, in a word or two: `ceiling`, `capacity`, `trial`.
    pub purpose: &'static str,
    /// Ramp and window.
    pub length_ns: u64,
}

/// Hears of each step. All of it is optional.
pub trait Progress {
    /// A datastore's disks are being written: bytes done, bytes in all.
    fn preparing(&mut self, _datastore: &str, _done: u64, _total: u64) {}
    /// A trial begins.
    fn trial(&mut self, _start: &TrialStart<'_>) {}
    /// An interval of the trial ended; all driving threads together.
    fn interval(&mut self, _row: &Interval) {}
    /// A trial ended: IOPS, or the reason why there are none.
    fn trial_ended(&mut self, _datastore: &str, _outcome: Result<f64, &str>) {}
    /// A block ended. The relative half width of the interval so far, if there is one, and how
    /// long the rest will probably take.
    fn block(&mut self, _blocks: u32, _metric: Metric, _half_width: Option<f64>, _rest_ns: u64) {}
    /// Something worth knowing.
    fn note(&mut self, _text: &str) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
