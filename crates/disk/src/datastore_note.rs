//! What a reader should know of a datastore and the state of its disks, as facts.
//!
//! A datastore that is used through the page cache, compresses, or is shared with another run is measured all the same,
//! and its figures mean something else. What sees such a circumstance reports it as a [`DatastoreFact`]; it is stored as
//! such, and only the report turns it into a sentence.

use serde::{Deserialize, Serialize};

use crate::incident::Sharing;
use crate::operation::DeviceError;

/// A note about a datastore.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DatastoreNote {
    /// The host that saw it, by its name in the study; `None` if it is true of all hosts, or there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The note itself.
    #[serde(flatten)]
    pub fact: DatastoreFact,
}

impl From<DatastoreFact> for DatastoreNote {
    fn from(fact: DatastoreFact) -> Self {
        Self { host: None, fact }
    }
}

/// The content of a note. Messages from elsewhere (an operating system, a server) are text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "note")]
pub enum DatastoreFact {
    /// The page cache takes part, because the URL requests it.
    Buffered {
        /// The directory or device.
        path: String,
    },
    /// The page cache takes part, because the file system refuses direct I/O.
    FileSystemRefusesDirect {
        /// Type of the file system.
        file_system: String,
    },
    /// The page cache takes part, because the device refuses direct I/O.
    DeviceRefusesDirect {
        /// The device.
        path: String,
    },
    /// Files of the file system are in memory.
    InMemory {
        /// Type of the file system.
        file_system: String,
    },
    /// The file system is ZFS, whose cache also answers direct I/O.
    ZfsCache,
    /// Disks have holes although they are fully written.
    Holes {
        /// Type of the file system.
        file_system: String,
        /// Number of such disks.
        disks: u32,
    },
    /// Disks have fewer blocks than bytes although they are fully written.
    FewerBlocks {
        /// Type of the file system.
        file_system: String,
        /// Number of such disks.
        disks: u32,
    },
    /// A server reports fewer bytes used than were written.
    FewerBytesUsed {
        /// Number of such disks.
        disks: u32,
    },
    /// What a killed run left behind was removed.
    LeftoverRemoved {
        /// The run's folder.
        path: String,
        /// Its process id.
        pid: u32,
        /// Its id.
        run_id: String,
    },
    /// A folder holds the records of a run that was to be cut off, until they are checked.
    AwaitsCheck {
        /// The folder.
        path: String,
        /// The run.
        run_id: String,
    },
    /// A folder belongs to a run on another machine, which may have ended.
    RunElsewhere {
        /// The run's folder.
        path: String,
        /// The machine, as the run's mark names it.
        machine: String,
    },
    /// A folder of a run stays, because it holds files of others.
    ForeignFiles {
        /// The folder.
        path: String,
    },
    /// A folder of a run could not be removed.
    NotRemoved {
        /// The folder.
        path: String,
        /// The error.
        said: String,
    },
    /// The header of a run could not be removed from a device or LUN.
    HeaderStays {
        /// The device's path or the LUN's URL.
        path: String,
        /// The error.
        said: String,
    },
    /// A host cannot be reached, so what it holds may stay there.
    Unreached {
        /// The error.
        said: String,
    },
    /// The removal of the disks failed.
    RemovalFailed {
        /// The error.
        said: String,
    },
    /// A device or LUN held the disks of a run that has ended; they are overwritten.
    HeldRun {
        /// The device's path or the LUN's URL.
        path: String,
        /// The run's id.
        run_id: String,
    },
    /// A device or LUN held data that the user allowed to be destroyed.
    HeldData {
        /// The device's path or the LUN's URL.
        path: String,
        /// The data.
        found: FoundData,
    },
    /// A LUN reports a write cache. Of an earlier version: [`Promise`](crate::Promise) says it now.
    WriteCache,
    /// A LUN keeps nothing of what is written to it.
    KeepsNothing,
    /// Blocks should have been freed, which NFSv3 cannot: the disks were recreated.
    Recreated,
    /// Blocks could not be freed, so a new file is written to blocks that were written before.
    WrittenBefore {
        /// The disk, device or LUN.
        path: String,
        /// The reason.
        said: String,
    },
    /// Another run was using the same storage when the datastore was opened.
    OtherRun {
        /// The other run's id, as its results file has it.
        run_id: String,
        /// Its process id, as its machine numbers it.
        pid: u32,
        /// Its machine's name; `None` for the machine that saw it.
        machine: Option<String>,
        /// What both use.
        sharing: Sharing,
    },
    /// The I/O engine did not get all that it asked the kernel for.
    Engine {
        /// What it lacks.
        engine: EngineNote,
    },
    /// A host found the datastore to be something else than the first host did.
    Unlike {
        /// Type of its file system, or its kind if it has none.
        kind: String,
        /// Whether the page cache is bypassed.
        direct: bool,
        /// The I/O engine.
        engine: String,
    },
    /// Stored by a version that kept only the sentence.
    Early {
        /// The sentence.
        said: String,
    },
}

/// Data on a device or LUN.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundData {
    /// Known formats, by their names.
    Formats(Vec<String>),
    /// Bytes of no known format.
    Unrecognised {
        /// The offset of the first of them.
        offset_bytes: u64,
    },
}

/// A deviation of the I/O engine from the fastest way of doing I/O.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "note")]
pub enum EngineNote {
    /// io_uring was refused, so files are read and written by position.
    RingRefused {
        /// The refusal.
        said: String,
    },
    /// I/O is done by a pool of threads.
    Positional {
        /// Number of running threads.
        threads: u32,
        /// Operations that may be outstanding.
        outstanding: u32,
    },
    /// io_uring was refused for connections, so epoll serves them.
    RingRefusedForConnections {
        /// The refusal.
        said: String,
    },
    /// Connections are served by epoll.
    Epoll,
    /// The kernel does not support deferred task work (Linux before 6.1).
    WithoutDeferredTaskWork,
    /// The kernel does not support cooperative task work (Linux before 5.19).
    WithoutCooperativeTaskWork,
    /// Files could not be registered.
    FilesNotRegistered {
        /// The kernel's error.
        error: DeviceError,
    },
    /// Buffers could not be registered.
    BuffersNotRegistered {
        /// The kernel's error.
        error: DeviceError,
        /// Bytes to register.
        bytes: u64,
    },
}
