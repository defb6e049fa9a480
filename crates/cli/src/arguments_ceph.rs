//! The arguments of clusters.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use stormeter_ceph::{DiskServer, Speed};
use stormeter_units::parse_bytes;

#[derive(Debug, Args)]
#[command(after_help = "\
Monitor, manager and OSDs run from Debian's packages (ceph-mon, ceph-mgr, ceph-osd, ceph-common), as this \
user and on loopback only, and all that they store is in the directory. See docs/ceph.md.

Examples:
  stormeter lab ceph up /tmp/ceph --osds 3 --replicas 2
  stormeter lab ceph up /tmp/slow --disk 8ms,100MB/s
  stormeter compare /srv/vm 'rbd:rbd?conf=/tmp/ceph/ceph.conf'
  stormeter lab ceph down /tmp/ceph")]
pub(crate) struct CephOptions {
    #[command(subcommand)]
    pub(crate) command: CephCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CephCommand {
    /// Start a cluster with a pool for images; returns when it is clean
    Up(CephUpOptions),
    /// Show how the cluster is
    Status(CephStatusOptions),
    /// Make the disk of an OSD slower, or as fast again as it was
    SlowOsd(CephSlowOptions),
    /// Kill an OSD, as a node that loses its power
    KillOsd(CephOsdOptions),
    /// Start a killed OSD again
    StartOsd(CephOsdOptions),
    /// End the cluster and remove all that it has stored
    Down(CephDirectory),
    /// Serve the disk of an OSD: the process behind each disk that has a speed
    #[command(hide = true)]
    ServeDisk(CephDiskOptions),
}

/// Where a cluster is.
#[derive(Debug, Args)]
pub(crate) struct CephDirectory {
    /// The cluster's directory
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CephUpOptions {
    #[command(flatten)]
    pub(crate) directory: CephDirectory,
    /// Number of OSDs, each with a store of 8 GiB at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) osds: u32,
    /// Copies of each object
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) replicas: u32,
    /// Disk of each OSD: time to get to a place and rate of transfer, such as 8ms,100MB/s [this machine's]
    #[arg(long, value_name = "SPEED")]
    pub(crate) disk: Option<Speed>,
    /// Size of a file on this machine's disk for each OSD's database and log [on its disk]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) db: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CephSlowOptions {
    #[command(flatten)]
    pub(crate) osd: CephOsdOptions,
    /// How many times as long each access takes; 1 undoes it
    #[arg(value_parser = parse_times)]
    pub(crate) times: f64,
}

/// A factor: `10x`, or `10`.
fn parse_times(text: &str) -> Result<f64, String> {
    let times = text.strip_suffix('x').unwrap_or(text).parse::<f64>().ok();
    times
        .filter(|times| (1.0..=1e6).contains(times))
        .ok_or_else(|| "write a factor of at least 1, such as 10x".into())
}

#[derive(Debug, Args)]
pub(crate) struct CephDiskOptions {
    /// The cluster's configuration file
    conf: PathBuf,
    /// The OSD's number
    osd: u32,
    /// The file for the disk's content
    store: PathBuf,
    /// The directory where it is mounted
    directory: PathBuf,
    /// Its size
    bytes: u64,
}

impl CephDiskOptions {
    pub(crate) fn server(&self) -> DiskServer {
        DiskServer {
            conf: self.conf.clone(),
            osd: self.osd,
            store: self.store.clone(),
            directory: self.directory.clone(),
            bytes: self.bytes,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CephStatusOptions {
    #[command(flatten)]
    pub(crate) directory: CephDirectory,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CephOsdOptions {
    #[command(flatten)]
    pub(crate) directory: CephDirectory,
    /// The OSD's number
    pub(crate) osd: u32,
}
