//! A trial as a value: what is asked of it, and what came of it.
//!
//! A [`Trial`] says what virtual machines do to their disks (a [`Workload`]) for how long and within which limits, or
//! what work they do until it is done ([`FixedWorkTrial`]); a [`Sample`] is everything that was counted, with the
//! surroundings in which it was (CPU, memory, monitors, components). Both are plain values: they are carried to agents
//! on other machines, kept in results files and made up by tests. Whoever reads them needs no loop; the loop that
//! carries them out is the driver's.

mod component;
mod cpu;
mod disturbance;
mod failure;
mod fixed_work;
mod fixed_work_trial;
pub mod histogram;
mod issue;
mod memory;
mod monitor;
mod sample;
mod start;
mod touched;
mod trial;
mod verifiable;
mod verified;
mod workload;

/// The kinds of I/O and the errors of devices, which failures are about.
pub use stormeter_disk::{DeviceError, Kind};

pub use component::{ComponentKind, ComponentUse};
pub use cpu::{CpuUsage, HostCpu, Pressure};
pub use disturbance::{Disturbance, RECOVERED_INTERVALS, RECOVERED_SHARE, Recovery};
pub use failure::TrialFailure;
pub use fixed_work::{
    Deployment, FileOperation, FileTest, StepTime, Transfer, TransferDirection, TransferSink,
};
pub use fixed_work_trial::{FixedWork, FixedWorkError, FixedWorkTrial, SMALL_BYTES};
pub use histogram::{Histogram, LatencyBucket};
pub use issue::{Durations, IssueTimes};
pub use memory::{Memory, MemoryPlace};
pub use monitor::MonitorRow;
pub use sample::{
    DiskTotals, Ended, Fault, FaultOutcome, Interval, IntervalTotals, KindTotals, MAX_FAULTS_KEPT,
    Sample,
};
pub use start::Start;
pub use touched::touched_share;
pub use trial::{BufferNeeds, Limits, Trial};
pub use verified::{BlockName, Corruption, ExpectedBlock, FoundBlock, RESUMPTION_SHIFT, Verified};
pub use workload::{Arrivals, Burst, Content, Distribution, SizeShare, Workload, WorkloadError};
