//! A trial as a value: its description and its result.
//!
//! A [`Trial`] describes what virtual machines do to their disks (a [`Workload`]), for how long and within which
//! limits, or what work they do until it is done ([`FixedWorkTrial`]); a [`Sample`] is everything that was counted,
//! along with the circumstances (CPU, memory, monitors, components). Both are plain values: they are sent to agents
//! on other machines, stored in results files and synthesized by tests. Reading them does not need the loop; the
//! driver has the loop that executes them.
//!
//! A trial, as a study plans it and a driver carries it out:
//!
//! ```
//! use stormeter_trial::{Arrivals, Content, Distribution, Limits, SizeShare, Start, Trial, Workload};
//!
//! // A database: three of four requests have 8 KiB, one has 64 KiB; 500 a second for each VM.
//! let workload = Workload {
//!     name: "database".into(),
//!     sizes: vec![
//!         SizeShare { bytes: 8192, share: 3.0 },
//!         SizeShare { bytes: 65_536, share: 1.0 },
//!     ],
//!     read_percent: 70.0,
//!     random_percent: 100.0,
//!     distribution: Distribution::Zipf { exponent: 0.9 },
//!     alignment_bytes: Some(4096),
//!     arrivals: Arrivals::Poisson { rate_per_s: 500.0 },
//!     burst: None,
//!     content: Content::default(),
//!     durable: false,
//!     flush: None,
//! };
//! assert_eq!(workload.mean_bytes(), 22_528.0);
//! assert_eq!(workload.granularity_bytes(), 4096);
//!
//! // Four VMs with disks of 1 GiB, a warm-up of 5 s and 20 s that count.
//! let trial = Trial {
//!     workload,
//!     first_disk: 0,
//!     disks: 4,
//!     disk_bytes: 1 << 30,
//!     seed: 1,
//!     start: Start::default(),
//!     content_seed: 0,
//!     ramp_ns: 5_000_000_000,
//!     duration_ns: 20_000_000_000,
//!     interval_ns: 1_000_000_000,
//!     limits: Limits::default(),
//!     verify: false,
//! };
//! assert_eq!(trial.check(), Ok(()));
//!
//! let too_small = Trial { disk_bytes: 4096, ..trial };
//! assert!(too_small.check().is_err());
//! ```

mod component;
mod cpu;
mod desktops;
mod disturbance;
mod failure;
mod fixed_work;
mod fixed_work_trial;
mod flush_every;
mod guest;
pub mod histogram;
mod issue;
mod kind_totals;
mod latency_bands;
mod memory;
mod model_note;
mod monitor;
mod note;
mod recovery;
mod sample;
mod service;
mod start;
mod touched;
mod trial;
mod verifiable;
mod verified;
mod workload;

/// The kinds of I/O and the errors of devices, which failures are about, and the steps of desktops.
pub use stormeter_disk::{DesktopStep, DeviceError, Kind};

pub use component::{ComponentKind, ComponentUse};
pub use cpu::{CpuUsage, HostCpu, Pressure};
pub use desktops::{
    BrokerRules, DesktopCopy, DesktopDeployment, DesktopLoad, DesktopRow, DesktopSession,
    DesktopTotals, DesktopTrial, Resources, UserClass,
};
pub use disturbance::{Disturbance, Recovery};
pub use failure::TrialFailure;
pub use fixed_work::{
    Deployment, FileOperation, FileTest, StepTime, Transfer, TransferDirection, TransferSink,
};
pub use fixed_work_trial::{FixedWork, FixedWorkError, FixedWorkTrial, SMALL_BYTES};
pub use flush_every::FlushEveryError;
pub use guest::{GuestActivity, GuestKind, GuestRow};
pub use histogram::{Histogram, LatencyBucket};
pub use issue::{Durations, IssueTimes};
pub use kind_totals::KindTotals;
pub use latency_bands::{BAND_BUCKETS, BANDS, LatencyBands, band_low_ns};
pub use memory::{Memory, MemoryPlace};
pub use model_note::{Loss, ModelNote};
pub use monitor::MonitorRow;
pub use note::{NoteFact, TargetUnknown, TrialNote};
pub use recovery::{RECOVERED_INTERVALS, RECOVERED_SHARE};
pub use sample::{
    DiskTotals, Ended, Interval, IntervalTotals, IoFailure, IoFailureOutcome, MAX_IO_FAILURES_KEPT,
    Sample,
};
pub use service::{
    FtpDirection, FtpLoad, ScreenArea, ScreenFields, ServiceLoad, SessionTrial, VncLoad,
};
pub use start::Start;
pub use touched::touched_share;
pub use trial::{BufferNeeds, Limits, Trial};
pub use verified::{BlockName, Corruption, ExpectedBlock, FoundBlock, RESUMPTION_SHIFT, Verified};
pub use workload::{
    Arrivals, Burst, Content, Distribution, FlushEvery, SizeShare, Workload, WorkloadError,
};
