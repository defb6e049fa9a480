//! What an acknowledged write means on a datastore, and how that is known.
//!
//! Two datastores can differ in speed only because one answers from a cache that a loss of power empties. What opens a
//! datastore states its [`Promise`] with the evidence; statistics compare promises, and only the report turns them into
//! sentences. Evidence is what the storage or the system reports: whether it is true is tested by cutting the power.

use serde::{Deserialize, Serialize};

/// What a datastore promises about a write that it has acknowledged and nobody has flushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Where the bytes are.
    pub acknowledged: Acknowledged,
    /// How that is known, the layer closest to the writer first.
    #[serde(default)]
    pub evidence: Vec<PromiseEvidence>,
}

/// Where the bytes of an acknowledged write are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acknowledged {
    /// On storage that keeps them without power.
    Stable,
    /// In a cache of the storage that a loss of power may empty.
    VolatileCache,
    /// In the memory of a host: its restart loses them.
    Memory,
    /// It cannot be told.
    Unknown,
}

impl Acknowledged {
    /// The weaker of two layers. What cannot be told is weaker than stable storage, and stronger than a cache that is
    /// known to be volatile, because the known one decides.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let rank = |one| match one {
            Self::Stable => 0,
            Self::Unknown => 1,
            Self::VolatileCache => 2,
            Self::Memory => 3,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// One fact from which a [`Promise`] follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "evidence")]
pub enum PromiseEvidence {
    /// Writes go through the page cache of the host that measures.
    PageCache,
    /// The files are in memory.
    FileSystemInMemory {
        /// Type of the file system.
        file_system: String,
    },
    /// Nothing is stored at all.
    NothingStored,
    /// Writes bypass the page cache (`O_DIRECT`).
    Direct,
    /// The file system is mounted with an option that makes each write wait for stable storage.
    MountedSync {
        /// The option, such as `sync`.
        option: String,
    },
    /// The file system is on a server, which the system's own client writes to.
    FileSystemElsewhere {
        /// Type of the file system.
        file_system: String,
    },
    /// What is below the file system or device cannot be seen.
    NothingSeenBelow {
        /// Type of the file system, or the device's path.
        what: String,
    },
    /// The cache that the kernel believes a block device to have (`queue/write_cache`, `queue/fua`).
    DeviceCache {
        /// The device's name, such as `vda`.
        device: String,
        /// The device answers from a cache that needs flushes (`write back`).
        write_back: bool,
        /// The device can write past its cache (FUA).
        fua: bool,
    },
    /// The device's blocks are in memory (`zram0`, `ram0`, `nullb0`).
    DeviceInMemory {
        /// The device's name.
        device: String,
    },
    /// The file system writes each block to a new place, and what refers to it stays in memory until a flush or the
    /// next commit: whatever the device below does, a loss of power brings back the old block.
    CopyOnWrite {
        /// Type of the file system.
        file_system: String,
    },
    /// The file behind a loop device is written through the page cache.
    LoopThroughPageCache {
        /// The device's name.
        device: String,
    },
    /// Writes are requested of an NFS server as stable or not (`stable_how`, RFC 1813, section 3.3.7). Whether its
    /// export keeps the promise (`async` does not) cannot be seen from a client.
    NfsWrites {
        /// `FILE_SYNC`, `DATA_SYNC` or `UNSTABLE`.
        stable: String,
    },
    /// An NFS server committed writes at once that were requested as unstable.
    NfsCommitsAtOnce,
    /// The write cache of a LUN (WCE of the caching mode page, SBC-4, section 6.5.6).
    ModePage {
        /// WCE: the LUN may acknowledge writes from a volatile cache.
        write_cache: bool,
    },
    /// The LUN does not report the caching mode page.
    NoModePage,
    /// Whether the LUN supports FUA (DPOFUA of the mode parameter header, SBC-4, section 6.5.1).
    ForcedUnitAccess {
        /// It does.
        supported: bool,
    },
    /// Copies of each object in a pool of a Ceph cluster. A write is acknowledged when all copies that are up are on
    /// stable storage (BlueStore commits before it acknowledges); with fewer than the least, the pool does not serve.
    Replicas {
        /// Copies (`size`).
        size: u32,
        /// The least (`min_size`).
        least: u32,
        /// The pool is erasure-coded: `size` counts data and coding parts.
        #[serde(default)]
        erasure_coded: bool,
    },
    /// The cluster does not say how many copies its pool keeps.
    NoPoolFacts,
    /// librbd's cache on the client (`rbd_cache`).
    ClientCache,
    /// The LUN keeps nothing of what is written to it.
    KeepsNothing,
    /// A predicted site says so, or its kind of hardware is assumed to.
    Modelled {
        /// The site's words: a cache, a controller with battery, commits of a server.
        what: String,
    },
}

impl Promise {
    /// A promise that follows from one fact.
    pub fn new(acknowledged: Acknowledged, evidence: PromiseEvidence) -> Self {
        Self { acknowledged, evidence: vec![evidence] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_layer_decides() {
        use Acknowledged::{Memory, Stable, Unknown, VolatileCache};
        assert_eq!(Stable.and(Stable), Stable);
        assert_eq!(Stable.and(VolatileCache), VolatileCache);
        assert_eq!(Memory.and(VolatileCache), Memory);
        assert_eq!(Unknown.and(Stable), Unknown);
        assert_eq!(Unknown.and(VolatileCache), VolatileCache);
    }
}
