//! A datastore of whichever kind, from its URL to the disks that a thread drives.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};
use stormeter_uring::EngineChoice;

use crate::device::DeviceStore;
use crate::directory::DirectoryStore;
use crate::files::Extent;
use crate::owner::is_run_id;
use crate::{
    DatastoreError, DatastoreUrl, Description, DiskSpec, FileDisks, Location, NullDisks,
    Preparation, Prepared, Space,
};

/// How to open a datastore.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The run: 16 hexadecimal digits. A later process with the same one goes on with the same disks.
    pub run_id: String,
    /// Which of the run's datastores this is, so that one directory may serve several of them (an
    /// A/A comparison, or direct against buffered).
    pub number: u32,
    /// Devices whose data may be destroyed (`--destroy-data`), exactly as their URLs name them.
    pub destroy_data: Vec<PathBuf>,
}

/// Memory and depth of one driving thread's disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenDisks {
    /// Number of buffers.
    pub buffers: u32,
    /// Bytes of each.
    pub buffer_bytes: u32,
    /// The most operations that will be outstanding at once.
    pub in_flight: u32,
}

/// The disks of one driving thread.
#[allow(clippy::large_enum_variant)] // One exists a thread; a box would cost the hot path a load.
pub enum DiskSet {
    /// Disks of `null:`.
    Null(NullDisks),
    /// Disks on files or a device.
    Files(FileDisks),
}

impl DiskSet {
    /// What happened to the disks since they were opened and was mended without failing an I/O, such
    /// as a connection that was lost and made again; a sentence without full stop each. Files and
    /// devices hide such things in the kernel and have none.
    pub fn incidents(&self) -> Vec<String> {
        match self {
            Self::Null(_) | Self::Files(_) => Vec::new(),
        }
    }
}

impl Disks for DiskSet {
    #[inline]
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        match self {
            Self::Null(disks) => disks.submit(operations),
            Self::Files(disks) => disks.submit(operations),
        }
    }

    #[inline]
    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        match self {
            Self::Null(disks) => disks.reap(wait, completions),
            Self::Files(disks) => disks.reap(wait, completions),
        }
    }

    #[inline]
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        match self {
            Self::Null(disks) => disks.buffer(buffer),
            Self::Files(disks) => disks.buffer(buffer),
        }
    }
}

/// An open datastore. Dropping it removes the disks and what holds them, unless
/// [`Datastore::keep`] was called.
pub struct Datastore {
    url: DatastoreUrl,
    store: Store,
    keep: bool,
    /// What the engines of the driving threads said: engine name, notes.
    engine: Mutex<(String, Vec<String>)>,
}

#[allow(clippy::large_enum_variant)] // One exists a datastore.
enum Store {
    Null { prepared: Option<DiskSpec> },
    Directory(DirectoryStore),
    Device(DeviceStore),
}

impl Datastore {
    /// Opens a datastore and finds out what it is. In a directory this makes our own folder, after
    /// removing those of runs that were killed; a device is only read.
    ///
    /// # Errors
    /// Everything that makes it unusable whatever the disks; see [`DatastoreError`].
    pub fn open(url: &DatastoreUrl, options: OpenOptions) -> Result<Self, DatastoreError> {
        let OpenOptions { run_id, number, destroy_data } = options;
        if !is_run_id(&run_id) {
            return Err(DatastoreError::RunId { run_id });
        }
        let engine = match url.location {
            Location::Null => "none".to_owned(),
            _ => expected_engine(url.engine)?.to_owned(),
        };
        let store = match &url.location {
            Location::Null => Store::Null { prepared: None },
            Location::Directory(path) => {
                let path = path.clone();
                Store::Directory(DirectoryStore::open(path, url.direct, &run_id, number)?)
            }
            Location::Device(path) => {
                let path = path.clone();
                Store::Device(DeviceStore::open(path, url.direct, &run_id, &destroy_data)?)
            }
        };
        Ok(Self { url: url.clone(), store, keep: false, engine: Mutex::new((engine, Vec::new())) })
    }

    /// What the datastore turned out to be. Complete once disks were opened: before, the engine is
    /// the one to be expected.
    pub fn description(&self) -> Description {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
        let mut description = Description {
            url: self.url.clone(),
            kind: "null".into(),
            filesystem: None,
            device: None,
            device_number: None,
            logical_block_bytes: 1,
            direct: false,
            engine,
            notes: Vec::new(),
        };
        match &self.store {
            Store::Null { .. } => {}
            Store::Directory(store) => {
                description.kind = "directory".into();
                description.filesystem = store.filesystem.clone();
                description.device = store.device();
                description.device_number = store.device_number();
                description.logical_block_bytes = store.logical_block_bytes;
                description.direct = store.direct();
                description.notes = store.notes.clone();
            }
            Store::Device(store) => {
                description.kind = "device".into();
                description.device = Some(store.facts.clone());
                description.device_number = Some(store.number);
                description.logical_block_bytes = store.facts.logical_block_bytes;
                description.direct = store.direct;
                description.notes = store.notes.clone();
            }
        }
        description.notes.extend(self.engine_notes());
        description
    }

    /// What the engines of the disks opened so far were asked for and did not get.
    pub fn engine_notes(&self) -> Vec<String> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// The far ends of a datastore that is spoken to over the network by this program. Empty where
    /// there are none (`null:`) and where the kernel speaks to them (a mount, a device).
    pub fn peers(&self) -> Vec<SocketAddr> {
        match &self.store {
            Store::Null { .. } | Store::Directory(_) | Store::Device(_) => Vec::new(),
        }
    }

    /// Room on the file system of a directory. `None` where no file system is shared (a device,
    /// `null:`), and where it does not tell.
    pub fn space(&self) -> Option<Space> {
        match &self.store {
            Store::Directory(store) => store.space().ok().filter(|space| space.total_bytes > 0),
            Store::Null { .. } | Store::Device(_) => None,
        }
    }

    /// Says whether such disks can be made, before anything is written.
    pub fn check(&self, disks: &DiskSpec) -> Result<(), DatastoreError> {
        match &self.store {
            Store::Null { .. } => disks.check(1, "null:"),
            Store::Directory(store) => store.check(disks),
            Store::Device(store) => store.check(disks),
        }
    }

    /// Makes the disks and writes every byte of them, or finds them made by the same run. After an
    /// error none of them is left in a directory.
    pub fn prepare(
        &mut self,
        mut preparation: Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        match &mut self.store {
            Store::Null { prepared } => {
                preparation.disks.check(1, "null:")?;
                *prepared = Some(preparation.disks);
                let total = preparation.disks.total_bytes();
                (preparation.progress)(total, total);
                Ok(Prepared::default())
            }
            Store::Directory(store) => store.prepare(&mut preparation),
            Store::Device(store) => store.prepare(&mut preparation),
        }
    }

    /// Opens some of the prepared disks on the calling thread, which is to drive them. The first of
    /// the range is disk 0 of the set.
    pub fn disks(&self, range: Range<u32>, open: OpenDisks) -> Result<DiskSet, DatastoreError> {
        let prepared = match &self.store {
            Store::Null { prepared } => *prepared,
            Store::Directory(store) => store.prepared(),
            Store::Device(store) => store.prepared(),
        };
        let Some(spec) = prepared.filter(|spec| !range.is_empty() && range.end <= spec.count)
        else {
            let last = range.end.saturating_sub(1);
            return Err(DatastoreError::NotPrepared { first: range.start, last });
        };
        let (files, extents) = match &self.store {
            Store::Null { .. } => {
                return Ok(DiskSet::Null(NullDisks::new(open.buffers, open.buffer_bytes)));
            }
            Store::Directory(store) => {
                let files = range.clone().map(|disk| store.open_disk(disk));
                let files = files.collect::<Result<Vec<_>, _>>()?;
                let extents = (0..files.len() as u32).map(|file| Extent { file, base_bytes: 0 });
                (files, extents.collect())
            }
            Store::Device(store) => {
                let base = |disk| store.base_bytes(disk, spec.size_bytes);
                let extents = range.map(|disk| Extent { file: 0, base_bytes: base(disk) });
                (vec![store.file()?], extents.collect())
            }
        };
        let disks = FileDisks::open(self.url.engine, files, extents, spec.size_bytes, |options| {
            options.buffers(open.buffers, open.buffer_bytes).in_flight(open.in_flight)
        })?;
        self.remember(&disks);
        Ok(DiskSet::Files(disks))
    }

    fn remember(&self, disks: &FileDisks) {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        engine.0 = disks.engine_name().into();
        for note in disks.notes() {
            if !engine.1.contains(&note) {
                engine.1.push(note);
            }
        }
    }

    /// Removes the disks and whatever else is ours. Gives what stays and why, for the report.
    pub fn remove(mut self) -> Option<String> {
        self.keep = true;
        self.take_away()
    }

    /// Lets everything stay when this is dropped, for a later process of the same run.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    fn take_away(&mut self) -> Option<String> {
        match &mut self.store {
            Store::Null { .. } => None,
            Store::Directory(store) => store.remove(),
            Store::Device(store) => store.remove(),
        }
    }
}

impl Drop for Datastore {
    fn drop(&mut self) {
        if !self.keep {
            // Nobody is left to tell; the next run cleans up what stays.
            let _ = self.take_away();
        }
    }
}

/// The engine that will serve, known before any disk is opened so that a refusal comes first.
fn expected_engine(choice: EngineChoice) -> Result<&'static str, DatastoreError> {
    match (choice, stormeter_uring::available()) {
        (EngineChoice::Positional, _) | (EngineChoice::Auto, Err(_)) => Ok("positional"),
        (EngineChoice::Uring, Err(reason)) => {
            Err(DatastoreError::NoUring { reason: reason.to_string() })
        }
        (_, Ok(())) => Ok("io_uring"),
    }
}
