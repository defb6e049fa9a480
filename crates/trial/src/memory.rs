//! Memories between the driver and the storage, as plain values: whoever opens a datastore finds them, results
//! keep them, and the statistics judge whether a working set fits into one.

use serde::{Deserialize, Serialize};

/// Where a memory is that may answer in place of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPlace {
    /// The page cache of this machine, because the user asked for buffered I/O.
    PageCacheAsked,
    /// The page cache of this machine, because the file system refuses direct I/O.
    PageCache,
    /// A cache of the file system's own that direct I/O does not bypass, such as the ARC of ZFS.
    FileSystem,
    /// The page cache of this machine, below a loop device that does not open its file for direct I/O.
    LoopDevice,
    /// The server of a network datastore, on this machine.
    ServerHere,
    /// The server of a network datastore, elsewhere, or the other hosts of a shared file system.
    ServerElsewhere,
}

/// A memory on the way from the driver to the storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Where it is.
    pub place: MemoryPlace,
    /// What has it: a file system's kind, a loop device, a server's address.
    pub name: String,
    /// How much it can hold, at most; `None` where that cannot be known from here.
    pub bytes: Option<u64>,
}
