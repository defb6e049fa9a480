//! The I/O loop: keeps the promised load on virtual disks, times every I/O, counts everything.
//!
//! A [`stormeter_trial::Trial`] goes in, a [`stormeter_trial::Sample`] comes out. The loop is generic
//! over [`stormeter_disk::Disks`] and [`stormeter_disk::Clock`]: it knows no protocol, no thread,
//! no real time and no simulator, so the code that is trusted on real storage is the code that
//! the tests run against simulated faults in virtual time.
//!
//! A trial on a simulated device, in virtual time:
//!
//! ```
//! use std::cell::RefCell;
//! use std::rc::Rc;
//!
//! use stormeter_driver::drive;
//! use stormeter_simulator::{
//!     FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
//! };
//! use stormeter_testkit::workload;
//! use stormeter_trial::{Arrivals, Limits, Start, Trial};
//!
//! // One VM that keeps four requests outstanding, for a second after a warm-up.
//! let trial = Trial {
//!     workload: workload(Arrivals::Closed { outstanding: 4 }),
//!     first_disk: 0,
//!     disks: 1,
//!     disk_bytes: 1 << 30,
//!     seed: 1,
//!     start: Start::default(),
//!     content_seed: 0,
//!     ramp_ns: 100_000_000,
//!     duration_ns: 1_000_000_000,
//!     interval_ns: 100_000_000,
//!     limits: Limits::default(),
//!     verify: false,
//! };
//!
//! // A device that serves two requests at a time, each in 100 µs.
//! let service = Service::Constant { ns: 100_000 };
//! let model = Model { servers: 2, service, faults: FaultPlan::default() };
//! let time = VirtualTime::new();
//! let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
//! let mut disks = SimulatedDisks::new(time.clone(), model, noise, trial.seed);
//!
//! let sample = drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ())?;
//! assert_eq!(sample.iops(), 20_000.0);
//! assert_eq!(sample.total().latency_mean_ns(), Some(200_000.0));
//! # Ok::<(), stormeter_trial::WorkloadError>(())
//! ```

mod arrivals;
mod compact_histogram;
mod content;
mod desktops;
mod direction;
mod direction_counts;
mod drive;
mod fixed_work;
mod flushes;
mod generator;
mod held_buffers;
mod issue_log;
mod observer;
mod outstanding;
mod pacing;
mod random;
mod recorder;
mod sessions;
mod turns;
mod verify;
mod window;
mod zipf;

pub use content::ContentSource;
pub use desktops::{
    Broker, BrokerAction, BrokerCounts, BrokerPassed, DiskDesktops, drive_desktops,
};
pub use drive::{drive, drive_verified};
pub use fixed_work::{
    FixedWorkLog, MessageDisk, MessageStore, Payload, drive_deployment, drive_file_test,
};
pub use observer::Observer;
pub use sessions::drive_sessions;
pub use verify::{Expectations, LentExpectations, PriorContent, Seal};
