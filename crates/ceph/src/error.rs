//! What can go wrong with a cluster, and what to do next.
//!
//! The log of the daemon in question is part of the message: "not ready" alone explains nothing.

use std::io;
use std::path::{Path, PathBuf};

/// A cluster that could not be started, used or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CephError {
    /// A program is not installed.
    #[error("{program} is not installed: apt-get install {package}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// The Debian package.
        package: &'static str,
    },
    /// A file of the cluster cannot be created, read or removed.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A path that Ceph's configuration files cannot hold.
    #[error(
        "{path} cannot be written into a ceph.conf: use a directory whose path has only letters, \
         digits and / . _ - + @ : ,"
    )]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// The directory of a new cluster is in use.
    #[error("{path} is not empty: use a new directory, or end the cluster in it first")]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has no cluster that we made.
    #[error("{path} has no cluster that was started by stormeter; nothing was changed")]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// The state file of the cluster is damaged.
    #[error("{path} cannot be understood: {what}")]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// An option is out of bounds.
    #[error("{what}")]
    Options {
        /// What is wrong, and what is possible.
        what: String,
    },
    /// A program cannot be started.
    #[error("{program} cannot be started: {source}; try it by hand")]
    Start {
        /// Its name.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// The disk of an OSD cannot be served.
    #[error(
        "the disk of osd.{osd} cannot be served over FUSE, for which root or fusermount3 (Debian: fuse3) is needed: {source}"
    )]
    Disk {
        /// The OSD.
        osd: u32,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The disk of an OSD has no speed that could be changed.
    #[error("osd.{osd} has no disk of its own: start the cluster with disks that have a speed")]
    NoDisk {
        /// The OSD.
        osd: u32,
    },
    /// A daemon ended by itself.
    #[error("{daemon} has ended; the end of its log:\n{log}")]
    Died {
        /// Its name, such as `osd.1`.
        daemon: String,
        /// The end of its log.
        log: String,
    },
    /// The cluster is not ready, or not clean, in time.
    #[error("the cluster is not clean after {waited_s} s: {what}")]
    NotClean {
        /// The time limit, in seconds.
        waited_s: u64,
        /// What was seen last.
        what: String,
    },
    /// There is no such OSD.
    #[error("there is no osd.{id}: the cluster has {has}")]
    NoOsd {
        /// The number that was asked for.
        id: u32,
        /// Those that exist.
        has: String,
    },
    /// A daemon is not running.
    #[error("{daemon} is not running")]
    NotRunning {
        /// Its name.
        daemon: String,
    },
    /// A daemon does not end.
    #[error("{daemon} (process {pid}) does not end, not even by SIGKILL: is its storage stuck?")]
    DoesNotEnd {
        /// Its name.
        daemon: String,
        /// Its process id.
        pid: u32,
    },
    /// A command failed.
    #[error("{command}: {status}; it said:\n{said}")]
    Command {
        /// The command as it would be typed.
        command: String,
        /// How it ended.
        status: String,
        /// Its output.
        said: String,
    },
    /// A daemon's admin socket does not answer, or not as expected.
    #[error("the admin socket of {daemon} does not answer to \"{command}\": {what}")]
    AdminSocket {
        /// Its name.
        daemon: String,
        /// The command.
        command: String,
        /// What happened instead.
        what: String,
    },
    /// An answer of the cluster lacks something.
    #[error("the cluster's answer to \"{command}\" cannot be understood: {what}")]
    Answer {
        /// The command.
        command: String,
        /// What is missing.
        what: String,
    },
    /// No port in the range is free.
    #[error("no free port on 127.0.0.1 between {first} and {last}; end what occupies them")]
    NoPort {
        /// The first port of the range.
        first: u16,
        /// The last port of the range.
        last: u16,
    },
    /// The caller asked for the end of a start.
    #[error("interrupted; all that was started has been ended")]
    Interrupted,
}

/// Names the file in an error.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> CephError {
    let path = path.to_path_buf();
    |source| CephError::File { path, source }
}
