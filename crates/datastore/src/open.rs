//! How a datastore and its disks are opened.

use std::path::PathBuf;

/// How to open a datastore.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The run: 16 hexadecimal digits. A later process with the same run id resumes with the same disks.
    pub run_id: String,
    /// Which of the run's datastores this is, so that one directory can serve several of them (an
    /// A/A comparison, or direct against buffered I/O).
    pub number: u32,
    /// Devices and LUNs whose data may be destroyed (`--destroy-data`), exactly as their URLs name
    /// them (without the password).
    pub destroy_data: Vec<PathBuf>,
    /// The run's disks must be there already, fully written ([`Datastore::keep_for_check`]); nothing is created.
    ///
    /// [`Datastore::keep_for_check`]: crate::Datastore::keep_for_check
    pub must_exist: bool,
}

/// Memory and queue depth of the disks of one I/O thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenDisks {
    /// Number of buffers.
    pub buffers: u32,
    /// Bytes of each.
    pub buffer_bytes: u32,
    /// The largest number of operations that will be outstanding at once.
    pub in_flight: u32,
}

/// Whether I/O on the opened disks goes through this host's page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Caching {
    /// As the datastore was opened: bypassing it, unless the URL asks for it or the storage has no
    /// direct I/O.
    #[default]
    AsOpened,
    /// Through it, whatever the URL says. Written data may still be in memory when the write completes, and
    /// stays there for later readers.
    Client,
}
