//! A run at one moment, as plain values. Times are nanoseconds since the run started, as the machine's clock has them.

use stormeter_study::Metric;
use stormeter_trial::MonitorRow;

use crate::model::Finding;

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunWord {
    /// Datastores compared under one load.
    Comparison,
    /// A study that is measured.
    Study,
    /// A study on a model of storage.
    Prediction,
}

/// What a run is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// Connecting to this datastore.
    Opening(String),
    /// Writing the disks of this one: bytes so far, bytes in all.
    Writing(String, u64, u64),
    /// Measuring the load generator, or the way to a datastore, without storage.
    Ceiling,
    /// Resetting the disks of this one.
    Resetting(String),
    /// A trial of this cell; its block, from 1, and how long it has run of what length.
    Trial {
        /// The name of the cell.
        cell: String,
        /// From 1.
        block: Option<u32>,
        /// Since its load started.
        for_ns: u64,
        /// `None` if it ends when its work is done.
        length_ns: Option<u64>,
    },
    /// Between two trials.
    Between,
    /// Computing what cells depend on: this many, of this many in all.
    Sensitivity(u64, u64),
    /// It has ended.
    Ended,
}

/// A run at one moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The study's title, or the datastores.
    pub title: String,
    /// What it is.
    pub word: RunWord,
    /// The program's version.
    pub version: String,
    /// What it is doing.
    pub doing: Doing,
    /// Time since it started.
    pub elapsed_ns: u64,
    /// The share that is done, from 0 to 1, where that is known.
    pub share: Option<f64>,
    /// The probable time until the end.
    pub rest_ns: Option<u64>,
    /// Trials that were measured, of at most this many; 0 where there is no such number.
    pub trials: (u64, u64),
    /// Trials that failed.
    pub failed: u64,
    /// Blocks that ended, of at most this many.
    pub blocks: (u32, u32),
    /// The half width of the widest interval, and the wanted one, as shares.
    pub precision: (Option<f64>, Option<f64>),
    /// The cells in the order of the plan.
    pub cells: Vec<LoadCell>,
    /// Load over time, by datastore.
    pub series: Vec<LoadSeries>,
    /// The hosts that drive load.
    pub hosts: Vec<HostNow>,
    /// What happened, the latest first.
    pub events: Vec<Happened>,
    /// Earlier events that are not among these.
    pub earlier_events: u64,
    /// What is concluded so far.
    pub judgement: Option<Judgement>,
    /// The estimates as they were concluded, in their order in time.
    pub history: Vec<Judged>,
}

/// A cell and its values so far.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCell {
    /// Its name.
    pub name: String,
    /// The place of its datastore, which has a colour.
    pub place: usize,
    /// Trials that count.
    pub trials: u32,
    /// The metrics of these trials.
    pub values: Vec<(Metric, f64)>,
    /// Whether its trial runs.
    pub is_running: bool,
}

/// The load of a datastore over time.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSeries {
    /// The datastore.
    pub name: String,
    /// Its points, in their order in time.
    pub points: Vec<LoadPoint>,
}

/// What ended in a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// The start.
    pub start_ns: u64,
    /// The end.
    pub end_ns: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Their mean latency; `None` without any.
    pub latency_mean_ns: Option<f64>,
}

/// A host that drives load.
#[derive(Debug, Clone, PartialEq)]
pub struct HostNow {
    /// Its name in the study; `None`: this machine.
    pub name: Option<String>,
    /// Its I/Os a second in the last interval of the running trial.
    pub iops: Option<f64>,
    /// Its activity when it was read last.
    pub latest: Option<MonitorRow>,
    /// Its activity over time.
    pub points: Vec<HostPoint>,
}

/// The activity of a host at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostPoint {
    /// When.
    pub at_ns: u64,
    /// Busy share of all CPUs, from 0 to 1.
    pub cpu: f64,
    /// Bytes a second over networks, in and out, without loopback.
    pub network: f64,
    /// Bytes a second over loopback.
    pub loopback: f64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happened {
    /// When.
    pub at_ns: u64,
    /// A sentence without a full stop.
    pub what: String,
}

/// What is concluded of the trials so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Trials that it rests on.
    pub trials: u32,
    /// Blocks that it rests on.
    pub blocks: u32,
    /// The verdicts, or the answers to the questions: the class that colours a word, the word, and the sentence.
    pub sentences: Vec<(&'static str, String, String)>,
    /// The estimates behind them.
    pub estimates: Vec<Estimated>,
    /// The findings of laws and checks, the most severe first.
    pub findings: Vec<Finding>,
}

/// The estimate of a ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimated {
    /// What it is of.
    pub name: String,
    /// The datastore whose colour it has; `None` if it is of none.
    pub place: Option<usize>,
    /// The ratio.
    pub ratio: f64,
    /// Its interval.
    pub interval: (f64, f64),
}

/// The estimates of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Trials that they rest on.
    pub trials: u32,
    /// As in [`Judgement::estimates`] then, which may have had fewer.
    pub estimates: Vec<Estimated>,
}
