//! Sites, disks and a clock in virtual time, deterministic from a seed.
//!
//! They run the same loop that drives real storage, with any service time, noise, drift, error,
//! stall or short I/O, and faster than real time. [`Machine`] is a whole site: hosts, wires,
//! controllers and disks; [`SimulatedDisks`] is one queue, for tests of the layers above. There is
//! no real time here, no thread and no randomness without a seed.
//!
//! A site under load, and where its time goes:
//!
//! ```
//! use stormeter_driver::drive;
//! use stormeter_simulator::{Load, Machine, Window, example};
//! use stormeter_testkit::workload;
//! use stormeter_trial::{Arrivals, Limits, Start, Trial};
//!
//! // 160 VMs on eight hosts, over Fibre Channel to two controllers with 80 disks each.
//! let site = example::fibre_channel();
//! let trial = Trial {
//!     workload: workload(Arrivals::Closed { outstanding: 1 }),
//!     first_disk: 0,
//!     disks: 160,
//!     disk_bytes: 1 << 30,
//!     seed: 1,
//!     start: Start::default(),
//!     content_seed: 0,
//!     ramp_ns: 100_000_000,
//!     duration_ns: 500_000_000,
//!     interval_ns: 100_000_000,
//!     limits: Limits::default(),
//!     verify: false,
//! };
//! let load = Load {
//!     vms: trial.disks,
//!     disk_bytes: trial.disk_bytes,
//!     working_set_bytes: trial.disk_bytes,
//!     random: 1.0,
//!     zipf: None,
//!     flushes: false,
//! };
//! let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
//! let mut machine = Machine::new(&site, 0, load, window, trial.seed)?;
//! let mut clock = machine.time().clock();
//! let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ())?;
//!
//! // Which part of the site is the bottleneck, and what share of the response time is spent there?
//! let uses = machine.usage();
//! let busiest = uses.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation)).unwrap();
//! assert_eq!(busiest.name, "disk");
//! assert!(busiest.response_share > 0.9);
//! assert!(sample.iops() > 10_000.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod device;
mod disks;
pub mod example;
mod machine;
mod noise;
mod page_cache;
mod slab;
mod storage;
mod time;
mod transfer;

pub use disks::{FaultPlan, Model, Service, SimulatedDisks, Stall};
pub use machine::{
    Broken, ComponentKind, ComponentUse, FaultError, FaultNameError, Load, Machine, MachineError,
    ResyncUse, SiteFault, SitePart, Window,
};
pub use noise::{HostNoise, NoisePlan};
pub use page_cache::CachedDisks;
pub use time::{VirtualClock, VirtualTime};
pub use transfer::{TransferError, TransferTrial, drive_transfer};
