//! The load loop: keeps the promised load on virtual disks, times every I/O, counts everything.
//!
//! A workload (what one VM's I/O looks like) goes in, a [`Sample`] comes out. The loop is generic
//! over [`stormeter_disk::Disks`] and [`stormeter_disk::Clock`]: it knows no protocol, no thread,
//! no real time and no simulator, so the code that is trusted on real storage is the code that
//! the tests run against simulated faults in virtual time.

mod arrivals;
mod compact_histogram;
mod component;
mod content;
mod cpu;
mod disturbance;
mod drive;
mod errand;
mod generator;
mod held_buffers;
mod histogram;
mod issue;
mod kind_counts;
mod memory;
mod monitor;
mod observer;
mod pacing;
mod random;
mod recorder;
mod sample;
mod start;
mod touched;
mod trial;
mod verify;
mod workload;
mod zipf;

pub use component::{ComponentKind, ComponentUse};
pub use content::ContentSource;
pub use cpu::{CpuUsage, HostCpu, Pressure};
pub use disturbance::{Disturbance, RECOVERED_INTERVALS, RECOVERED_SHARE, Recovery};
pub use drive::{drive, drive_verified};
pub use errand::{
    Deployment, DiskErrand, ErrandError, ErrandLog, ErrandTrial, FileOperation, FileTest, Payload,
    StepTime, Transfer, TransferDirection, TransferSink, drive_deployment, drive_file_test,
};
pub use histogram::{Histogram, LatencyBucket};
pub use issue::{Durations, IssueTimes};
pub use memory::{Memory, MemoryPlace};
pub use monitor::MonitorRow;
pub use observer::Observer;
pub use sample::{
    DiskTotals, Ended, Fault, FaultOutcome, Interval, IntervalTotals, KindTotals, Sample,
};
pub use start::Start;
pub use touched::touched_share;
pub use trial::{BufferNeeds, Limits, Trial};
pub use verify::{
    BlockName, Corruption, Expectations, ExpectedBlock, FoundBlock, LentExpectations, Past, Seal,
    Verified,
};
pub use workload::{Arrivals, Burst, Content, Distribution, SizeShare, Workload, WorkloadError};
