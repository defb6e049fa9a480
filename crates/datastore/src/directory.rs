//! A datastore in a directory: disks are files in a folder of our own.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, fallocate};
use nix::unistd::{Whence, lseek};
use stormeter_disk::{DatastoreFact, Promise};

use crate::block::{Block, parse_number};
use crate::folder::{Folder, disk_name, folder_name};
use crate::layers::System;
use crate::leftover::marks_of_others;
use crate::owner::{DiskRecord, Owner};
use crate::prepare::{Preparation, Prepared, Target, write_all};
use crate::probe::{DirectIo, direct_io};
use crate::promise;
use crate::punch::{not_punched, punch_hole};
use crate::space::Space;
use crate::{
    Caching, DatastoreError, DeviceFacts, DiskSpec, Filesystem, LoopCache, clean_leftovers,
};

/// File systems that place, compress or account for blocks in their own way, so that the usual evidence
/// of written blocks may be missing although everything was written.
const OWN_ACCOUNTING: [&str; 6] = ["btrfs", "zfs", "overlay", "bcachefs", "9p", "virtiofs"];

/// An open directory with our folder in it.
pub(crate) struct DirectoryStore {
    directory: PathBuf,
    folder: Folder,
    owner: Owner,
    direct: bool,
    pub(crate) logical_block_bytes: u32,
    pub(crate) filesystem: Option<Filesystem>,
    pub(crate) notes: Vec<DatastoreFact>,
}

impl DirectoryStore {
    /// Cleans up after killed runs, creates our folder and finds out what the file system can do.
    pub(crate) fn open(
        directory: PathBuf,
        direct_wanted: bool,
        run_id: &str,
        number: u32,
        must_exist: bool,
    ) -> Result<Self, DatastoreError> {
        match std::fs::metadata(&directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(DatastoreError::Missing { path: directory });
            }
            Err(error) => return Err(DatastoreError::system("look at", directory, error)),
            Ok(metadata) if !metadata.is_dir() => {
                return Err(DatastoreError::NotADirectory { path: directory });
            }
            Ok(_) => {}
        }
        if Space::of(&directory)?.read_only {
            return Err(DatastoreError::ReadOnly { path: directory });
        }
        let name = folder_name(run_id, number);
        let is_there = || {
            let owner = Folder::open(&directory, &name).ok().and_then(|folder| folder.owner());
            owner.is_some_and(|owner| owner.run_id == run_id && owner.ready().is_some())
        };
        if must_exist && !is_there() {
            return Err(DatastoreError::NoDisks { path: directory, run_id: run_id.into() });
        }
        let leftovers = clean_leftovers(&directory, run_id)
            .map_err(|error| DatastoreError::system("list", &directory, error))?;
        let mut notes = leftovers.removed;
        notes.extend(leftovers.kept);

        let (folder, owner) = Folder::claim(&directory, &name, run_id)?;
        let mut store = Self {
            filesystem: Filesystem::of(&directory),
            directory,
            folder,
            owner,
            direct: false,
            logical_block_bytes: 1,
            notes,
        };
        if let Err(error) = store.find_direct_io(direct_wanted) {
            store.remove_if_empty();
            return Err(error);
        }
        store.note_memory();
        Ok(store)
    }

    fn find_direct_io(&mut self, wanted: bool) -> Result<(), DatastoreError> {
        if !wanted {
            let path = self.directory.display().to_string();
            self.notes.push(DatastoreFact::Buffered { path });
            return Ok(());
        }
        match direct_io(&self.folder)? {
            DirectIo::Aligned { logical_block_bytes } => {
                self.direct = true;
                self.logical_block_bytes = logical_block_bytes;
            }
            DirectIo::Refused => {
                let file_system = self.kind().to_owned();
                self.notes.push(DatastoreFact::FileSystemRefusesDirect { file_system });
            }
        }
        Ok(())
    }

    fn note_memory(&mut self) {
        match self.kind() {
            kind @ ("tmpfs" | "ramfs") => {
                let file_system = kind.to_owned();
                self.notes.push(DatastoreFact::InMemory { file_system });
            }
            "zfs" => self.notes.push(DatastoreFact::ZfsCache),
            _ => {}
        }
    }

    fn kind(&self) -> &str {
        self.filesystem.as_ref().map_or("unknown file system", |found| &found.kind)
    }

    /// The marks of other runs in the directory.
    pub(crate) fn marks_of_others(&self) -> Vec<(String, Owner)> {
        marks_of_others(&self.directory, &self.owner.run_id)
    }

    /// Renews this run's mark for the `times`th time. A failure to do so does no harm.
    pub(crate) fn renew_mark(&self, times: u64) {
        let _ = self.folder.write_owner(&self.owner.renewed(times));
    }

    /// Whether other hosts may work in the directory too, or whether that is unknown.
    pub(crate) fn is_shared(&self) -> bool {
        self.filesystem.as_ref().is_none_or(Filesystem::is_shared)
    }

    /// The name of the disk below the file system.
    pub(crate) fn disk_name(&self) -> Option<String> {
        Some(Block::numbered(&self.filesystem.as_ref()?.device_number)?.disk_name())
    }

    /// What an acknowledged write means on the disks.
    pub(crate) fn promise(&self) -> Promise {
        promise::of_file_system(self.filesystem.as_ref(), self.direct, &System::here())
    }

    /// Whether the page cache is bypassed.
    pub(crate) fn direct(&self) -> bool {
        self.direct
    }

    /// The device below the file system.
    pub(crate) fn device(&self) -> Option<DeviceFacts> {
        Some(Block::numbered(&self.filesystem.as_ref()?.device_number)?.facts())
    }

    /// The loop device below the file system, if its file is in the page cache.
    pub(crate) fn loop_cache(&self) -> Option<LoopCache> {
        Block::numbered(&self.filesystem.as_ref()?.device_number)?.loop_cache()
    }

    /// The disks that exist and are ready.
    pub(crate) fn prepared(&self) -> Option<DiskSpec> {
        self.owner.ready()
    }

    /// Marks the disks as waiting to be checked, and puts their names on stable storage.
    pub(crate) fn keep_for_check(&mut self) -> Result<(), DatastoreError> {
        self.owner.awaits_check = true;
        self.folder.write_owner(&self.owner)?;
        self.folder.sync()
    }

    /// Refuses what is not possible here. Changes nothing.
    pub(crate) fn check(&self, spec: &DiskSpec) -> Result<(), DatastoreError> {
        spec.check(self.logical_block_bytes, &self.directory.display().to_string())?;
        self.space()?.check(spec.total_bytes(), &self.directory)
    }

    /// Free space on the file system.
    pub(crate) fn space(&self) -> Result<Space, DatastoreError> {
        let mut held_bytes: u64 = 0;
        for disk in 0..self.owner.disks.map_or(0, |record| record.spec.count) {
            let file = self.folder.open_file(&disk_name(disk), OFlag::O_RDONLY | OFlag::O_NONBLOCK);
            let blocks = file.ok().and_then(|file| file.metadata().ok()).map_or(0, |m| m.blocks());
            held_bytes = held_bytes.saturating_add(blocks.saturating_mul(512));
        }
        Ok(Space { held_bytes, ..Space::of(&self.directory)? })
    }

    /// The number of the file system; see [`Description::device_number`].
    ///
    /// [`Description::device_number`]: crate::Description::device_number
    pub(crate) fn device_number(&self) -> Option<u64> {
        // Each btrfs subvolume has a number of its own; the mount has that of the whole file system.
        match &self.filesystem {
            Some(found) if found.kind == "btrfs" => parse_number(&found.device_number),
            _ => self.folder.device_number(),
        }
    }

    /// Creates the disks, or reuses them if they exist.
    pub(crate) fn prepare(
        &mut self,
        preparation: &mut Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        self.check(&preparation.disks)?;
        let record = DiskRecord { spec: preparation.disks, content_id: preparation.content_id };
        if self.owner.has_written(&record)
            && let Ok(notes) = self.verify(&record.spec, &|| false)
        {
            self.owner.disks = Some(record);
            let total = record.spec.total_bytes();
            (preparation.progress)(total, total);
            return Ok(Prepared { reused: true, notes });
        }
        let made = self.make(preparation, record);
        if made.is_err() {
            self.owner.prepared = false;
            self.folder.remove_disks(record.spec.count);
        }
        made.map(|notes| Prepared { reused: false, notes })
    }

    fn make(
        &mut self,
        preparation: &mut Preparation<'_>,
        record: DiskRecord,
    ) -> Result<Vec<DatastoreFact>, DatastoreError> {
        if let Some(old) = self.owner.disks {
            self.folder.remove_disks(old.spec.count);
        }
        // The mark comes first: a run that cleans up after us must know how many disks there may be.
        self.owner.disks = Some(record);
        self.owner.prepared = false;
        self.folder.write_owner(&self.owner)?;
        for disk in 0..record.spec.count {
            self.create(disk, record.spec.size_bytes)?;
        }
        self.write(preparation, record)
    }

    /// Writes disks that already exist.
    fn write(
        &mut self,
        preparation: &mut Preparation<'_>,
        record: DiskRecord,
    ) -> Result<Vec<DatastoreFact>, DatastoreError> {
        let open =
            |disk| Ok(Target { file: self.open_disk(disk, Caching::AsOpened)?, base_bytes: 0 });
        write_all(preparation, &open)?;
        let notes = self.verify(&record.spec, preparation.cancelled)?;
        self.owner.prepared = true;
        self.folder.write_owner(&self.owner)?;
        Ok(notes)
    }

    /// Creates an empty disk and reserves its blocks where the file system can: fewer extents, and
    /// a lack of space shows before anything is written.
    fn create(&self, disk: u32, size_bytes: u64) -> Result<(), DatastoreError> {
        let name = disk_name(disk);
        let failed =
            |errno: Errno| DatastoreError::system("make", self.folder.path().join(&name), errno);
        let file = self.folder.create_file(&name, OFlag::empty()).map_err(failed)?;
        match fallocate(&file, FallocateFlags::empty(), 0, size_bytes as i64) {
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINTR) => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }

    /// Syncs every disk and verifies that no part of it is left unwritten.
    fn verify(
        &self,
        spec: &DiskSpec,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<DatastoreFact>, DatastoreError> {
        let lenient = OWN_ACCOUNTING.contains(&self.kind()) || self.kind().starts_with("fuse");
        let (mut holes, mut thin) = (0, 0);
        for disk in 0..spec.count {
            if cancelled() {
                return Err(DatastoreError::Cancelled);
            }
            let path = self.folder.path().join(disk_name(disk));
            let failed = |error: std::io::Error| DatastoreError::system("check", &path, error);
            let file = self.open_disk(disk, Caching::AsOpened)?;
            file.sync_all().map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            if metadata.len() != spec.size_bytes {
                return Err(DatastoreError::Changed { path });
            }
            match lseek(&file, 0, Whence::SeekHole) {
                Ok(hole) if (hole as u64) < spec.size_bytes => {
                    if !lenient {
                        return Err(DatastoreError::Hole { path, offset: hole as u64 });
                    }
                    holes += 1;
                }
                // If a file system cannot report holes (EINVAL), the block count remains as evidence.
                Ok(_) | Err(Errno::EINVAL | Errno::ENXIO | Errno::EOPNOTSUPP) => {}
                Err(errno) => return Err(failed(errno.into())),
            }
            thin += u32::from(metadata.blocks() * 512 < spec.size_bytes);
        }
        let mut notes = Vec::new();
        let file_system = || self.kind().to_owned();
        if holes > 0 {
            notes.push(DatastoreFact::Holes { file_system: file_system(), disks: holes });
        }
        if thin > 0 {
            notes.push(DatastoreFact::FewerBlocks { file_system: file_system(), disks: thin });
        }
        Ok(notes)
    }

    /// Replaces disks with new, empty files: whatever is written next is written for the first time.
    pub(crate) fn make_fresh(&self, disks: Range<u32>) -> Result<(), DatastoreError> {
        for disk in disks {
            let name = disk_name(disk);
            let made = self.folder.unlink(&name).and_then(|()| {
                // No blocks are reserved: allocating them is part of writing a new file.
                Ok(self.folder.create_file(&name, OFlag::empty())?)
            });
            made.map_err(|error| {
                DatastoreError::system("make", self.folder.path().join(&name), error)
            })?;
        }
        Ok(())
    }

    /// Forgets that the disks are written; the next preparation creates them again.
    pub(crate) fn forget(&mut self) {
        self.owner.prepared = false;
    }

    /// Frees the blocks of all disks and writes them again. The files stay. Disks that differ from
    /// the requested ones are recreated.
    pub(crate) fn discard(
        &mut self,
        preparation: &mut Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        self.check(&preparation.disks)?;
        let spec = preparation.disks;
        let record = DiskRecord { spec, content_id: preparation.content_id };
        let is_there = self.owner.disks.is_some_and(|there| there.serves(&record));
        if !is_there || (0..spec.count).any(|disk| self.punch(disk, 0).is_err()) {
            self.forget();
            return self.prepare(preparation);
        }
        let was_prepared = std::mem::replace(&mut self.owner.prepared, false);
        self.folder.write_owner(&self.owner)?;
        for disk in 0..spec.count {
            let punched = self.punch(disk, spec.size_bytes);
            if disk == 0 && matches!(punched, Err(DatastoreError::NoDiscard { .. })) {
                // Nothing was changed.
                self.owner.prepared = was_prepared;
                self.folder.write_owner(&self.owner)?;
            }
            punched?;
        }
        let written = self.write(preparation, record);
        if written.is_err() {
            self.folder.remove_disks(spec.count);
        }
        written.map(|notes| Prepared { reused: false, notes })
    }

    /// Punches a hole over the first bytes of a disk, down to the storage below.
    fn punch(&self, disk: u32, bytes: u64) -> Result<(), DatastoreError> {
        let file = self.open_disk(disk, Caching::AsOpened)?;
        if bytes == 0 {
            return Ok(());
        }
        let path = self.folder.path().join(disk_name(disk));
        punch_hole(&file, 0, bytes).map_err(|errno| not_punched(&path, errno))?;
        file.sync_all().map_err(|error| DatastoreError::system("sync", &path, error))
    }

    /// Opens a disk as the measurement uses it.
    pub(crate) fn open_disk(&self, disk: u32, caching: Caching) -> Result<File, DatastoreError> {
        let name = disk_name(disk);
        let is_direct = self.direct && caching == Caching::AsOpened;
        let direct = if is_direct { OFlag::O_DIRECT } else { OFlag::empty() };
        let file = self.folder.open_file(&name, OFlag::O_RDWR | OFlag::O_NONBLOCK | direct);
        let path = || self.folder.path().join(&name);
        match file {
            Ok(file) if file.metadata().is_ok_and(|metadata| metadata.is_file()) => Ok(file),
            Ok(_) | Err(Errno::ENOENT | Errno::ELOOP) => {
                Err(DatastoreError::Changed { path: path() })
            }
            Err(errno) => Err(DatastoreError::system("open", path(), errno)),
        }
    }

    fn remove_if_empty(&self) {
        if self.owner.disks.is_none() {
            self.folder.remove(0);
        }
    }

    /// Removes disks and folder; reports what remains.
    pub(crate) fn remove(&mut self) -> Option<DatastoreFact> {
        self.owner.prepared = false;
        self.folder.remove(self.owner.disks.map_or(0, |record| record.spec.count))
    }
}
