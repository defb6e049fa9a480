//! A trial as a value: its description and its result.
//!
//! A [`Trial`] describes what virtual machines do to their disks (a [`Workload`]), for how long and within which
//! limits, or what work they do until it is done ([`FixedWorkTrial`]); a [`Sample`] is everything that was counted,
//! along with the circumstances (CPU, memory, monitors, components). Both are plain values: they are sent to agents
//! on other machines, stored in results files and synthesized by tests. Reading them does not need the loop; the
//! driver has the loop that executes them.

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
