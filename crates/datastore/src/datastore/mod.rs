//! A datastore of any kind, from its URL to the disks that a thread drives.

mod clones;
mod durability;
mod holding;
mod lookout;
mod others;
mod reset;
mod surveyed;

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use stormeter_disk::{
    Completion, DatastoreFact, Disks, DisksError, EngineNote, Incident, Operation, Wait,
};
use stormeter_iscsi::Session as IscsiSession;
use stormeter_nfs::NfsSession;
use stormeter_uring::EngineChoice;
use stormeter_wire::Session;

use self::lookout::Lookout;
use crate::block::Block;
use crate::claim::{self, Claimant};
use crate::device::DeviceStore;
use crate::directory::DirectoryStore;
use crate::files::Extent;
use crate::iscsi::IscsiStore;
use crate::network::resolve;
use crate::nfs::NfsStore;
use crate::owner::is_run_id;
use crate::promise;
use crate::rbd::RbdStore;
use crate::{
    Caching, DatastoreError, DatastoreUrl, Description, DiskSpec, FileDisks, Location,
    NetworkDisks, NullDisks, OpenDisks, OpenOptions, Preparation, Prepared, RbdDisks, Space,
};

pub use durability::Durability;
pub use others::stays_of_this_process;
pub use reset::DiskReset;

/// The disks of one I/O thread.
#[allow(clippy::large_enum_variant)] // One exists a thread; a box would cost the hot path a load.
pub enum DiskSet {
    /// Disks of `null:`.
    Null(NullDisks),
    /// Disks on files or a device.
    Files(FileDisks),
    /// Disks on an NFS export.
    Nfs(NetworkDisks<NfsSession>),
    /// Disks on an iSCSI LUN.
    Iscsi(NetworkDisks<IscsiSession>),
    /// Disks on a pool of a Ceph cluster.
    Rbd(Box<RbdDisks>),
}

/// Calls the same method on whichever kind of disks this is.
macro_rules! each {
    ($set:expr, $one:ident => $call:expr) => {
        match $set {
            DiskSet::Null($one) => $call,
            DiskSet::Files($one) => $call,
            DiskSet::Nfs($one) => $call,
            DiskSet::Iscsi($one) => $call,
            DiskSet::Rbd($one) => $call,
        }
    };
}

/// The state in which a thread's disks were closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloseSummary {
    /// What a reader of the results should know about: connections lost and re-established,
    /// requests sent twice, delays that a server asked for.
    pub incidents: Vec<Incident>,
    /// Why written data may be lost, if it may be.
    pub lost: Option<String>,
}

impl DiskSet {
    /// What happened on the way to the storage since this was last asked; on this host nothing does.
    pub fn take_incidents(&mut self) -> Vec<Incident> {
        match self {
            Self::Null(_) | Self::Files(_) => Vec::new(),
            Self::Nfs(disks) => disks.take_incidents(),
            Self::Iscsi(disks) => disks.take_incidents(),
            Self::Rbd(disks) => disks.take_incidents(),
        }
    }

    /// Ends work with the disks: makes unstable data stable (`fsync`, NFS's COMMIT, SYNCHRONIZE
    /// CACHE on a unit with a volatile cache) and logs out of servers. When `give_up` says so, data that a
    /// file system still holds in memory is left there.
    pub fn finish(&mut self, give_up: &dyn Fn() -> bool) -> CloseSummary {
        match self {
            Self::Null(_) => CloseSummary::default(),
            Self::Files(disks) => {
                let lost = disks.settle(give_up).err();
                let lost = lost.map(|error| format!("making written data stable: {error}"));
                CloseSummary { incidents: Vec::new(), lost }
            }
            Self::Nfs(disks) => close_summary(disks),
            Self::Iscsi(disks) => close_summary(disks),
            Self::Rbd(disks) => {
                let lost = disks.settle().err();
                let lost = lost.map(|error| format!("emptying librbd's cache: {error}"));
                CloseSummary { incidents: disks.take_incidents(), lost }
            }
        }
    }
}

fn close_summary<S: Session>(disks: &mut NetworkDisks<S>) -> CloseSummary {
    let lost = disks.finish().err().map(|error| error.to_string());
    CloseSummary { incidents: disks.take_incidents(), lost }
}

impl Disks for DiskSet {
    #[inline]
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        each!(self, disks => disks.submit(operations))
    }

    #[inline]
    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        each!(self, disks => disks.reap(wait, completions))
    }

    #[inline]
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        each!(self, disks => disks.buffer(buffer))
    }

    fn clone_disk(&mut self, template: u32, disk: u32, slot: u32) -> Result<(), DisksError> {
        each!(self, disks => disks.clone_disk(template, disk, slot))
    }
}

/// An open datastore. Dropping it removes the disks and what holds them, unless
/// [`Datastore::keep`] was called.
pub struct Datastore {
    url: DatastoreUrl,
    store: Store,
    keep: bool,
    lookout: Mutex<Lookout>,
    /// What the engines of the I/O threads reported: engine name, notes.
    engine: Mutex<(String, Vec<EngineNote>)>,
}

#[allow(clippy::large_enum_variant)] // One exists a datastore.
enum Store {
    /// No disks: those of `null:` exist on this side only, and a server has none.
    Null {
        prepared: Option<DiskSpec>,
        server: Option<IpAddr>,
    },
    Directory(DirectoryStore),
    Device(DeviceStore),
    Nfs(Box<NfsStore>),
    Iscsi(Box<IscsiStore>),
    Rbd(Box<RbdStore>),
}

impl Datastore {
    /// Opens a datastore and finds out what it is. In a directory this creates our own folder, after
    /// removing those of killed runs; a device is only read.
    ///
    /// # Errors
    /// Everything that makes it unusable whatever the disks are; see [`DatastoreError`].
    pub fn open(url: &DatastoreUrl, options: OpenOptions) -> Result<Self, DatastoreError> {
        let OpenOptions { run_id, number, destroy_data, must_exist } = options;
        if !is_run_id(&run_id) {
            return Err(DatastoreError::RunId { run_id });
        }
        let engine = match url.location {
            Location::Null | Location::Server(_) => "none".to_owned(),
            Location::Rbd(_) => "librbd".to_owned(),
            Location::Nfs(_) | Location::Iscsi(_) => match expected_engine(url.engine)? {
                "positional" => "epoll".to_owned(),
                engine => engine.to_owned(),
            },
            _ => expected_engine(url.engine)?.to_owned(),
        };
        let claimant = Claimant { run_id: run_id.clone(), destroy_data, must_exist };
        let store = match &url.location {
            Location::Null => Store::Null { prepared: None, server: None },
            // The port is the workload's; the name is asked for once.
            Location::Server(host) => {
                Store::Null { prepared: None, server: Some(resolve(host, 0)?.ip()) }
            }
            Location::Directory(path) => {
                let path = path.clone();
                Store::Directory(DirectoryStore::open(
                    path, url.direct, &run_id, number, must_exist,
                )?)
            }
            Location::Device(path) => {
                let path = path.clone();
                Store::Device(DeviceStore::open(path, url.direct, &claimant)?)
            }
            Location::Nfs(export) => Store::Nfs(Box::new(NfsStore::open(
                export, url.engine, &run_id, number, must_exist,
            )?)),
            Location::Iscsi(lun) => Store::Iscsi(Box::new(IscsiStore::open(lun, url, claimant)?)),
            Location::Rbd(pool) => {
                Store::Rbd(Box::new(RbdStore::open(pool, &run_id, number, must_exist)?))
            }
        };
        let mut datastore = Self {
            url: url.clone(),
            store,
            keep: false,
            lookout: Mutex::default(),
            engine: Mutex::new((engine, Vec::new())),
        };
        datastore.make_known(&run_id);
        Ok(datastore)
    }

    /// What the datastore turned out to be. Complete once disks have been opened: until then, the
    /// engine is the expected one.
    pub fn description(&self) -> Description {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
        let mut description = Description {
            url: self.url.clone(),
            kind: "null".into(),
            filesystem: None,
            device: None,
            device_number: None,
            loop_cache: None,
            logical_block_bytes: 1,
            direct: false,
            engine,
            protocol: Vec::new(),
            promise: None,
            notes: Vec::new(),
        };
        match &self.store {
            Store::Null { server: Some(_), .. } => description.kind = "server".into(),
            Store::Null { .. } => description.promise = Some(promise::of_nothing()),
            Store::Directory(store) => {
                description.promise = Some(store.promise());
                description.kind = "directory".into();
                description.filesystem = store.filesystem.clone();
                description.device = store.device();
                description.device_number = store.device_number();
                description.loop_cache = store.loop_cache();
                description.logical_block_bytes = store.logical_block_bytes;
                description.direct = store.direct();
                description.notes = store.notes.clone();
            }
            Store::Device(store) => {
                description.promise = Some(store.promise());
                description.kind = "device".into();
                description.device = Some(store.facts.clone());
                description.device_number = Some(store.number);
                description.loop_cache = Block::of(store.number).and_then(|it| it.loop_cache());
                description.logical_block_bytes = store.facts.logical_block_bytes;
                description.direct = store.direct;
                description.notes = store.notes.clone();
            }
            // There is no cache on the client side.
            Store::Nfs(store) => {
                description.kind = "nfs".into();
                description.direct = true;
                description.protocol = store.protocol();
                description.promise = Some(store.promise());
                description.notes = store.notes.clone();
            }
            Store::Iscsi(store) => {
                description.kind = "iscsi".into();
                description.direct = true;
                description.protocol = store.protocol.clone();
                description.logical_block_bytes = store.logical_block_bytes();
                description.promise = Some(store.promise());
                description.notes = store.notes.clone();
            }
            Store::Rbd(store) => {
                description.kind = "rbd".into();
                description.direct = true;
                description.protocol = store.protocol();
                description.logical_block_bytes = crate::rbd::LOGICAL_BLOCK_BYTES;
                description.promise = Some(store.promise());
                description.notes = store.notes.clone();
            }
        }
        let engine = self.engine_notes().into_iter();
        description.notes.extend(engine.map(|engine| DatastoreFact::Engine { engine }));
        description.notes.extend(self.others_at_opening());
        description
    }

    /// What the engines of the disks opened so far were asked for and did not get.
    pub fn engine_notes(&self) -> Vec<EngineNote> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Free space on a directory's file system. `None` where no file system is shared (a device,
    /// `null:`), or where it does not report any.
    pub fn space(&self) -> Option<Space> {
        match &self.store {
            Store::Directory(store) => store.space().ok().filter(|space| space.total_bytes > 0),
            Store::Nfs(store) => store.space().ok().filter(|space| space.total_bytes > 0),
            Store::Rbd(store) => store.space().ok().filter(|space| space.total_bytes > 0),
            Store::Null { .. } | Store::Device(_) | Store::Iscsi(_) => None,
        }
    }

    /// The address of a server without disks; `None` for every other datastore.
    pub fn server(&self) -> Option<IpAddr> {
        match &self.store {
            Store::Null { server, .. } => *server,
            _ => None,
        }
    }

    /// The servers that a network datastore talks to now; none for storage on this host.
    pub fn peers(&self) -> Vec<SocketAddr> {
        match &self.store {
            Store::Nfs(store) => vec![store.address()],
            Store::Iscsi(store) => store.addresses().to_vec(),
            Store::Rbd(store) => store.addresses(),
            Store::Null { .. } | Store::Directory(_) | Store::Device(_) => Vec::new(),
        }
    }

    /// Refuses a LUN that is also one of `others` under another URL: both would write to the same
    /// blocks. (Devices are opened exclusively, and each datastore in a directory has its own folder.)
    pub fn check_apart_from(&self, others: &[Datastore]) -> Result<(), DatastoreError> {
        let identity = |datastore: &Datastore| match &datastore.store {
            Store::Iscsi(store) => Some(store.identity()),
            _ => None,
        };
        let Some(own) = identity(self) else { return Ok(()) };
        if others.iter().any(|other| identity(other).as_ref() == Some(&own)) {
            return Err(DatastoreError::NamedTwice { path: self.url.to_string().into() });
        }
        Ok(())
    }

    /// Checks whether such disks can be created, before anything is written.
    pub fn check(&self, disks: &DiskSpec) -> Result<(), DatastoreError> {
        match &self.store {
            Store::Null { .. } => disks.check(1, "null:"),
            Store::Directory(store) => store.check(disks),
            Store::Device(store) => store.check(disks),
            Store::Nfs(store) => store.check(disks),
            Store::Iscsi(store) => store.check(disks),
            Store::Rbd(store) => store.check(disks),
        }
    }

    /// Creates the disks and writes every byte of them, or reuses those that the same run created. After an
    /// error, none of them is left in a directory.
    pub fn prepare(
        &mut self,
        mut preparation: Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        match &mut self.store {
            Store::Null { prepared, .. } => {
                preparation.disks.check(1, "null:")?;
                *prepared = Some(preparation.disks);
                let total = preparation.disks.total_bytes();
                (preparation.progress)(total, total);
                Ok(Prepared::default())
            }
            Store::Directory(store) => store.prepare(&mut preparation),
            Store::Device(store) => store.prepare(&mut preparation),
            Store::Nfs(store) => store.prepare(&mut preparation),
            Store::Iscsi(store) => store.prepare(&mut preparation),
            Store::Rbd(store) => store.prepare(&mut preparation),
        }
    }

    fn prepared(&self) -> Option<DiskSpec> {
        match &self.store {
            Store::Null { prepared, .. } => *prepared,
            Store::Directory(store) => store.prepared(),
            Store::Device(store) => store.prepared(),
            Store::Nfs(store) => store.prepared(),
            Store::Iscsi(store) => store.prepared(),
            Store::Rbd(store) => store.prepared(),
        }
    }

    /// Opens some of the prepared disks on the calling thread, which will drive them. The first of
    /// the range is disk 0 of the set.
    pub fn disks(&self, range: Range<u32>, open: OpenDisks) -> Result<DiskSet, DatastoreError> {
        self.disks_of(&Vec::from_iter(range), open, Caching::AsOpened)
    }

    /// Opens the prepared disks with these numbers on the calling thread. The first is disk 0 of the set.
    ///
    /// # Errors
    /// Disks that were not prepared, whatever the system refuses, and [`Caching::Client`] where there is no
    /// client cache.
    pub fn disks_of(
        &self,
        numbers: &[u32],
        open: OpenDisks,
        caching: Caching,
    ) -> Result<DiskSet, DatastoreError> {
        let (first, last) = (numbers.first().copied(), numbers.iter().max().copied());
        let spec = self.prepared().filter(|spec| last.is_some_and(|last| last < spec.count));
        let Some(spec) = spec else {
            let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
            return Err(DatastoreError::NotPrepared { first, last });
        };
        if caching == Caching::Client
            && matches!(self.store, Store::Nfs(_) | Store::Iscsi(_) | Store::Rbd(_))
        {
            return Err(DatastoreError::NoClientCache { name: self.url.to_string() });
        }
        let (files, extents) = match &self.store {
            Store::Null { server: Some(_), .. } => {
                return Err(DatastoreError::Diskless { name: self.url.to_string() });
            }
            Store::Null { .. } => {
                return Ok(DiskSet::Null(NullDisks::new(open.buffers, open.buffer_bytes)));
            }
            Store::Directory(store) => {
                let files = numbers.iter().map(|&disk| store.open_disk(disk, caching));
                let files = files.collect::<Result<Vec<_>, _>>()?;
                let extents = (0..files.len() as u32).map(|file| Extent { file, base_bytes: 0 });
                (files, extents.collect())
            }
            Store::Device(store) => {
                let base = |disk| claim::base_bytes(disk, spec.size_bytes);
                let extents = numbers.iter();
                let extents = extents.map(|&disk| Extent { file: 0, base_bytes: base(disk) });
                (vec![store.file(caching)?], extents.collect())
            }
            Store::Nfs(store) => {
                let disks = store.disks(numbers, spec, open)?;
                self.remember(disks.engine_name(), disks.notes());
                return Ok(DiskSet::Nfs(disks));
            }
            Store::Iscsi(store) => {
                let disks = store.disks(numbers, spec, open)?;
                self.remember(disks.engine_name(), disks.notes());
                return Ok(DiskSet::Iscsi(disks));
            }
            Store::Rbd(store) => {
                return Ok(DiskSet::Rbd(Box::new(store.disks(numbers, spec, open)?)));
            }
        };
        let disks = FileDisks::open(self.url.engine, files, extents, spec.size_bytes, |options| {
            options.buffers(open.buffers, open.buffer_bytes).in_flight(open.in_flight)
        })?;
        self.remember(disks.engine_name(), disks.notes());
        Ok(DiskSet::Files(disks))
    }

    fn remember(&self, engine_name: &str, notes: Vec<EngineNote>) {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        engine.0 = engine_name.into();
        for note in notes {
            if !engine.1.contains(&note) {
                engine.1.push(note);
            }
        }
    }

    /// What [`Datastore::remember`] has gathered.
    fn engine_state(&self) -> (String, Vec<EngineNote>) {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets what was gathered since.
    fn restore_engine_state(&self, state: (String, Vec<EngineNote>)) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Removes the disks and everything else of ours. Returns what remains and why.
    pub fn remove(mut self) -> Option<DatastoreFact> {
        self.keep = true;
        self.take_away()
    }

    /// Keeps everything when this is dropped, for a later process of the same run.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Keeps the disks, for a check after the power was cut: what holds them is on stable storage, and no other run
    /// takes them for leftovers. A later process of the same run opens them with [`OpenOptions::must_exist`].
    ///
    /// # Errors
    /// Whatever the storage refuses; the disks are removed when this is dropped then.
    pub fn keep_for_check(&mut self) -> Result<(), DatastoreError> {
        match &mut self.store {
            Store::Null { .. } => {}
            Store::Directory(store) => store.keep_for_check()?,
            Store::Device(store) => store.keep_for_check()?,
            Store::Nfs(store) => store.keep_for_check()?,
            Store::Iscsi(store) => store.keep_for_check()?,
            Store::Rbd(store) => store.keep_for_check()?,
        }
        self.keep = true;
        Ok(())
    }

    fn take_away(&mut self) -> Option<DatastoreFact> {
        match &mut self.store {
            Store::Null { .. } => None,
            Store::Directory(store) => store.remove(),
            Store::Device(store) => store.remove(),
            Store::Nfs(store) => store.remove(),
            Store::Iscsi(store) => store.remove(),
            Store::Rbd(store) => store.remove(),
        }
    }
}

impl Drop for Datastore {
    fn drop(&mut self) {
        if !self.keep {
            // There is no one left to report this to; the next run cleans up the rest.
            let _ = self.take_away();
        }
    }
}

/// The engine that will be used, known before any disk is opened so that a refusal comes first.
fn expected_engine(choice: EngineChoice) -> Result<&'static str, DatastoreError> {
    match (choice, stormeter_uring::available()) {
        (EngineChoice::Positional, _) | (EngineChoice::Auto, Err(_)) => Ok("positional"),
        (EngineChoice::Uring, Err(reason)) => {
            Err(DatastoreError::NoUring { reason: reason.to_string() })
        }
        (_, Ok(())) => Ok("io_uring"),
    }
}
