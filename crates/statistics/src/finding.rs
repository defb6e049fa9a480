//! What is wrong with results, or worth knowing about them: a kind with its figures.
//!
//! Findings are facts. How they are put in words, and what a remedy is called where it is shown (an option, a key of
//! a study file), is up to the report; so wording can change without changing any conclusion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_disk::{Kind, Promise};
use stormeter_study::Metric;
use stormeter_trial::{Corruption, Ended, FlushEvery, IoFailure, MemoryPlace, TrialFailure};

use crate::ceiling_kind::CeilingKind;

/// How much a finding weighs.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A law is broken: nothing may be concluded.
    Invalid,
    /// A law is bent: the conclusion stands, with care.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word for it in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Invalid => "invalid",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A law that is broken or bent, or something else worth knowing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LawFinding {
    /// How much it weighs.
    pub severity: Severity,
    /// What was found; of several trials alike, in the first.
    pub fact: Fact,
    /// In how many of several trials it was found, if in more than one.
    pub seen_in: Option<SeenIn>,
}

/// In how many of several trials something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenIn {
    /// In this many…
    pub trials: u32,
    /// … of this many.
    pub of: u32,
}

/// One of a trial's tallies of the same I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tally {
    /// The latency histograms.
    Histograms,
    /// The rows by time.
    Intervals,
    /// The virtual disks.
    Disks,
    /// The latency histogram of the flushes, which are counted by themselves.
    Flushes,
}

/// How an open loop fell behind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backlog {
    /// This many requests that had fallen due were never issued.
    NeverIssued(u64),
    /// The queue grew by this many requests within the window.
    Grew(f64),
}

/// What was found, with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// I/Os of these sizes cannot have moved this many bytes.
    ImpossibleBytes {
        /// Reads or writes.
        kind: Kind,
        /// How many I/Os.
        operations: u64,
        /// The smallest size that the workload has.
        smallest_bytes: u32,
        /// The largest.
        largest_bytes: u32,
        /// What was counted.
        moved_bytes: u64,
    },
    /// Users of desktops are not conserved.
    UsersLost {
        /// Users who came, and users who came again because their desktops died.
        came: u64,
        /// Users who were served, were refused, went away or wait.
        ended: u64,
        /// Users whose waits were recorded.
        served: u64,
    },
    /// Users of desktops were not served: their waits would have been longer, or they have none.
    UsersUnserved {
        /// Users who came, and users who came again because their desktops died.
        came: u64,
        /// Users who were refused.
        refused: u64,
        /// Users who went away.
        gone: u64,
        /// Users who still waited when the window closed.
        waiting: u64,
    },
    /// IOPS × mean latency is not the number of outstanding I/Os (Little's law).
    LittlesLaw {
        /// IOPS × mean latency.
        product: f64,
        /// The mean number of outstanding I/Os, counted separately.
        outstanding: f64,
    },
    /// Fewer I/Os are outstanding than configured, because some complete while others are being submitted.
    AnsweredAtOnce {
        /// The mean number of outstanding I/Os.
        outstanding: f64,
        /// The configured number.
        configured: f64,
    },
    /// Two tallies of the same I/Os differ.
    TalliesDiffer {
        /// All I/Os.
        operations: u64,
        /// The tally that differs.
        tally: Tally,
        /// Its count.
        count: u64,
    },
    /// The generator's ceiling is less than [`crate::laws::CEILING_FACTOR`] times what was measured.
    LowCeiling {
        /// Measured.
        iops: f64,
        /// The generator alone.
        ceiling_iops: f64,
    },
    /// The ceiling of the path to the storage is as low.
    LowWay {
        /// What the ceiling was measured through.
        kind: CeilingKind,
        /// The ceiling of the path by itself.
        ceiling_iops: f64,
    },
    /// I/Os failed or came back short.
    IoErrors {
        /// How many.
        count: u64,
        /// The first of them, where it was kept.
        first: Option<IoFailure>,
        /// The study's steps disturbed the storage meanwhile.
        disturbed: bool,
    },
    /// Not one I/O ended within the window.
    NoIo,
    /// The trial ended early.
    EndedEarly(Ended),
    /// An open loop did not keep up.
    Backlog {
        /// Requests offered per second.
        offered_per_s: f64,
        /// I/Os served per second.
        served_per_s: f64,
        /// What was left over.
        left: Backlog,
    },
    /// An open loop issued its requests late.
    IssuedLate {
        /// Mean delay.
        mean_ns: f64,
        /// The 99th percentile of the delay.
        p99_ns: f64,
        /// Mean time between issue and completion.
        service_ns: f64,
    },
    /// The driving threads were ready to run and had no CPU.
    Starved {
        /// For this share of the time.
        share: f64,
        /// How often they were preempted.
        pushed_off: u64,
    },
    /// Guests of the rack were ready to run and the machine that runs them had no CPU for them, for more than
    /// [`crate::guests::GUEST_STARVED`] of the window.
    GuestsStarved {
        /// In which trials.
        seen_in: SeenIn,
        /// The guests in the trial with the longest wait, that one first.
        waits: Vec<GuestWait>,
    },
    /// Other programs used the CPUs.
    OtherPrograms {
        /// This share of all of them.
        share: f64,
        /// Some task waited for a CPU for this share of the time, where the kernel reports it.
        waited_share: Option<f64>,
    },
    /// Tasks waited for memory for this share of the time.
    ShortOfMemory(f64),
    /// The share of the CPUs that was busy before the load started.
    BusyBefore(f64),
    /// The accounts of CPU time were read late.
    AccountsReadLate {
        /// How long after an end of the window.
        late_ns: u64,
    },
    /// The host's CPU time is below that of its parts.
    HostBelowParts {
        /// The host, in seconds of CPU time a second.
        whole: f64,
        /// Initiator and target together, likewise.
        parts: f64,
        /// The machine was busier before the load started than during the trial; otherwise its kernel counts
        /// by ticks.
        busier_before: bool,
    },
    /// The hypervisor gave this share of the CPU time to others.
    Stolen(f64),
    /// Blocks did not hold what was written.
    WrongBlocks {
        /// How many.
        wrong: u64,
        /// Of this many that were read.
        of: u64,
        /// The first of them, where it was kept.
        first: Option<Corruption>,
    },
    /// A memory on the path may hold the disks, and its size is not known.
    UnknownMemory {
        /// The name of what has the memory.
        name: String,
        /// The size of all disks of a trial.
        disks_bytes: u64,
        /// The share of the bytes that had been moved before, where it is large.
        again_share: Option<f64>,
    },
    /// A memory on the path holds the disks, or much of them.
    CachedDisks {
        /// Where it is.
        place: MemoryPlace,
        /// The name of what has the memory.
        name: String,
        /// All disks of a trial.
        disks_bytes: u64,
        /// The memory.
        memory_bytes: u64,
        /// The share of the bytes that had been moved before, where it is large.
        again_share: Option<f64>,
    },
    /// Streams read again what they had read.
    StreamsReadAgain {
        /// In how many trials.
        trials: usize,
        /// The share of the bytes that had been read before.
        share: f64,
        /// All disks of a trial.
        disks_bytes: u64,
    },
    /// The datastores promise different things about a write that they have acknowledged, and a workload writes
    /// without asking for more.
    UnlikePromises {
        /// What each of them promises, in the order of the plan.
        promised: Vec<Promised>,
        /// The names of the workloads that rely on it; empty if all do.
        workloads: Vec<String>,
    },
    /// Not one flush ended within the window of any trial, although the workload asks for one this often.
    NoFlush(FlushEvery),
    /// CPU time per I/O is compared at rates that are far apart.
    UnevenLoad {
        /// I/Os a second of the candidate.
        candidate_per_s: f64,
        /// Of the baseline.
        baseline_per_s: f64,
    },
    /// IOPS had not settled when the window opened (MSER-5).
    NotSettled(SeenIn),
    /// IOPS drifted within the window.
    Drift {
        /// In which trials.
        seen_in: SeenIn,
        /// The largest change from the window's start to its end, as a share.
        most: f64,
    },
    /// IOPS fluctuated slowly: a trial is worth few independent samples.
    SlowFluctuation(SeenIn),
    /// The first blocks differ from the rest.
    UnlikeFirstBlocks {
        /// Of which metric.
        metric: Metric,
        /// How many.
        first: usize,
        /// How many other blocks there are.
        others: usize,
        /// The metric in the first ones, in the metric's unit.
        first_value: f64,
        /// In the others.
        other_value: f64,
    },
    /// There is a trend over the blocks.
    Trend {
        /// Of which metric.
        metric: Metric,
        /// The line's value at the first block, in the metric's unit.
        from: f64,
        /// At the last.
        to: f64,
        /// The change, as a share.
        change: f64,
        /// Over how many blocks.
        blocks: usize,
        /// Its p-value.
        p_value: f64,
    },
    /// Neighbouring blocks resemble one another, with this autocorrelation.
    BlocksAlike(f64),
    /// Fewer blocks were finished than a conclusion needs.
    FewBlocks(u32),
    /// Trials failed.
    TrialsFailed(FailedTrials),
    /// Blocks were measured again because a trial broke.
    MeasuredAgain {
        /// How often, and why.
        again: MeasuredAgain,
        /// The storage failed so often that it is not judged by the trials that went well.
        keeps_failing: bool,
    },
    /// Throughput was not back when trials with steps ended.
    NotRecovered {
        /// In which trials.
        seen_in: SeenIn,
        /// The least time that was left after the last step.
        least_ns: u64,
    },
    /// Disks were prepared with zeros and are read.
    ReadsOfZeros,
    /// All blocks have the cells in one order.
    FixedOrder,
    /// Intervals of one run count as observations.
    IntervalsAsObservations,
    /// How often the run was resumed after its verdict could be read.
    ResumedAfterVerdict(usize),
}

impl LawFinding {
    /// A finding that makes results invalid.
    pub fn invalid(fact: Fact) -> Self {
        Self { severity: Severity::Invalid, fact, seen_in: None }
    }

    /// A finding that asks for care.
    pub fn warning(fact: Fact) -> Self {
        Self { severity: Severity::Warning, fact, seen_in: None }
    }

    /// A finding that is worth knowing.
    pub fn note(fact: Fact) -> Self {
        Self { severity: Severity::Note, fact, seen_in: None }
    }

    /// Whether both have the same kind and severity.
    pub(crate) fn is_like(&self, other: &LawFinding) -> bool {
        let kind = std::mem::discriminant::<Fact>;
        (self.severity, kind(&self.fact)) == (other.severity, kind(&other.fact))
    }
}

impl Fact {
    /// The number of the law in the project's list ([`crate::laws`]); `None` for what is no law.
    pub fn law(&self) -> Option<u8> {
        Some(match self {
            Fact::ImpossibleBytes { .. } => 1,
            Fact::UsersLost { .. } => 11,
            Fact::LittlesLaw { .. } => 2,
            Fact::TalliesDiffer { .. } => 4,
            Fact::LowCeiling { .. } | Fact::LowWay { .. } => 8,
            Fact::UnknownMemory { .. }
            | Fact::CachedDisks { .. }
            | Fact::StreamsReadAgain { .. }
            | Fact::ReadsOfZeros => 9,
            Fact::IoErrors { .. }
            | Fact::NoIo
            | Fact::EndedEarly(_)
            | Fact::Backlog { .. }
            | Fact::WrongBlocks { .. }
            | Fact::NotSettled(_)
            | Fact::Drift { .. }
            | Fact::SlowFluctuation(_)
            | Fact::UnlikeFirstBlocks { .. }
            | Fact::Trend { .. }
            | Fact::TrialsFailed(_)
            | Fact::MeasuredAgain { .. } => 10,
            Fact::AnsweredAtOnce { .. }
            | Fact::UsersUnserved { .. }
            | Fact::IssuedLate { .. }
            | Fact::Starved { .. }
            | Fact::GuestsStarved { .. }
            | Fact::OtherPrograms { .. }
            | Fact::ShortOfMemory(_)
            | Fact::BusyBefore(_)
            | Fact::AccountsReadLate { .. }
            | Fact::HostBelowParts { .. }
            | Fact::Stolen(_)
            | Fact::UnlikePromises { .. }
            | Fact::NoFlush(_)
            | Fact::UnevenLoad { .. }
            | Fact::BlocksAlike(_)
            | Fact::FewBlocks(_)
            | Fact::NotRecovered { .. }
            | Fact::FixedOrder
            | Fact::IntervalsAsObservations
            | Fact::ResumedAfterVerdict(_) => return None,
        })
    }
}

/// Why a trial is no measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokenBy {
    /// It failed.
    Failure(TrialFailure),
    /// It completed and breaks a law.
    Law(Box<Fact>),
}

/// Trials that broke, in blocks that were then measured again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredAgain {
    /// Blocks in which a trial of this one broke.
    pub blocks: u32,
    /// All its blocks.
    pub of: u32,
    /// What was wrong with the first.
    pub first: BrokenBy,
    /// Blocks in which the storage was at fault and not the measurement.
    pub by_storage: u32,
}

/// Trials of a datastore that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedTrials {
    /// How many.
    pub count: u32,
    /// Why the first of them failed.
    pub first: TrialFailure,
    /// Whether the storage was to blame for any of them (errors, stalls, a broken queue) and not the
    /// measurement (a clock that jumped).
    pub by_storage: bool,
}

/// What one of the compared datastores promises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promised {
    /// Its place in the plan.
    pub datastore: usize,
    /// Its name there.
    pub name: String,
    /// The promise.
    pub promise: Promise,
}

/// How long a guest waited for a CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestWait {
    /// Its name in the rack.
    pub guest: String,
    /// For this share of the window.
    pub share: f64,
}
