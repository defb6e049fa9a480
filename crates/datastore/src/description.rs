//! What a datastore turned out to be, as a plain value for the results file.

use serde::{Deserialize, Serialize};
use stormeter_disk::{DatastoreFact, Promise};

use crate::{DatastoreUrl, DeviceFacts, Filesystem, LoopCache};

/// A datastore, described for a reader of the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its name as the user gave it, options included.
    pub url: DatastoreUrl,
    /// `directory`, `device`, `nfs`, `iscsi` or `null`.
    pub kind: String,
    /// The file system of a directory.
    pub filesystem: Option<Filesystem>,
    /// The device, or the one below the file system if that is a single device.
    pub device: Option<DeviceFacts>,
    /// The same for all datastores that share the space of one file system, or are one device: the
    /// device number (`st_dev`) of a directory's file system, or of a device itself (`st_rdev`).
    /// Datasets of one ZFS pool and exports of one server each have their own number.
    #[serde(default)]
    pub device_number: Option<u64>,
    /// The loop device below, if its file is in the page cache: direct I/O then bypasses nothing.
    #[serde(default)]
    pub loop_cache: Option<LoopCache>,
    /// Offsets and lengths must be multiples of this many bytes.
    pub logical_block_bytes: u32,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// `io_uring`, `positional`, `epoll`, or `none` if no I/O is done.
    pub engine: String,
    /// The parameters negotiated with a server, as names and values; empty for storage on this host.
    #[serde(default)]
    pub protocol: Vec<(String, String)>,
    /// What an acknowledged write means there; `None` in a description from before it was found out.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// What was requested and not granted, and what else affects the result.
    pub notes: Vec<DatastoreFact>,
}
