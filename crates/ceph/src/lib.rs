//! A Ceph cluster of this machine: monitor, manager and OSDs in user space, in one directory.
//!
//! It is the distributed datastore for tests, demonstrations and small studies. Everything listens
//! on loopback, the state is in the directory, and [`Cluster::down`] removes it. Neither root, nor a
//! `ceph` user, nor systemd, nor `/etc/ceph` is needed: only the programs of Debian's packages
//! `ceph-mon`, `ceph-mgr`, `ceph-osd` and `ceph-common`.
//!
//! ```no_run
//! use std::path::Path;
//! use std::time::Duration;
//! use stormeter_ceph::{ClusterOptions, GuardedCluster};
//!
//! # fn main() -> Result<(), stormeter_ceph::CephError> {
//! let cluster = GuardedCluster::up(Path::new("/tmp/ceph"), &ClusterOptions::default())?;
//! cluster.kill_osd(1)?;
//! cluster.start_osd(1)?;
//! cluster.wait_clean(Duration::from_secs(60))?;
//! # Ok(())
//! # }
//! ```

mod admin_socket;
mod cluster;
mod command;
mod conf;
mod daemon;
mod directory;
mod disk;
mod disk_server;
mod down;
mod error;
mod fault;
mod guard;
mod keyring;
mod options;
mod pool;
mod port;
mod program;
mod state;
mod status;
mod up;
mod wait;

pub use cluster::Cluster;
pub use disk_server::DiskServer;
pub use error::CephError;
pub use guard::GuardedCluster;
pub use options::{ClusterOptions, FailureDomain, OsdOptions, PoolOptions};
pub use status::{Check, Health, OsdStatus, PoolStatus, Status};
pub use stormeter_timed_disk::{Counters, Speed};
pub use wait::Counts;

/// The pool that every cluster has, initialised for block devices.
pub const POOL: &str = "rbd";
