//! The arguments of clusters.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Monitor, manager and OSDs run from Debian's packages (ceph-mon, ceph-mgr, ceph-osd, ceph-common), as this \
user and on loopback only, and all that they store is in the directory. See docs/ceph.md.

Examples:
  stormeter lab ceph up /tmp/ceph --osds 3 --replicas 2
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
    /// Kill an OSD, as a node that loses its power
    KillOsd(CephOsdOptions),
    /// Start a killed OSD again
    StartOsd(CephOsdOptions),
    /// End the cluster and remove all that it has stored
    Down(CephDirectory),
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
