//! Caches between the driver and the storage, as plain values: opening a datastore detects them, results store
//! them, and the statistics judge whether a working set fits into one.

use serde::{Deserialize, Serialize};

/// The location of a cache that may answer in place of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPlace {
    /// The page cache of this machine, because the user asked for buffered I/O.
    PageCacheAsked,
    /// The page cache of this machine, because the file system refuses direct I/O.
    PageCache,
    /// A cache of the file system itself that direct I/O does not bypass, such as the ARC of ZFS.
    FileSystem,
    /// The page cache of this machine, below a loop device that does not open its file for direct I/O.
    LoopDevice,
    /// The server of a network datastore, on this machine.
    ServerHere,
    /// The remote server of a network datastore, or the other hosts of a shared file system.
    ServerElsewhere,
}

/// A cache on the path from the driver to the storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its location.
    pub place: MemoryPlace,
    /// Its owner: a kind of file system, a loop device, a server's address.
    pub name: String,
    /// The most that it can hold, in bytes; `None` if that is not known from here.
    pub bytes: Option<u64>,
}
