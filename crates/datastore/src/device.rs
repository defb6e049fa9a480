//! A datastore on a whole block device: disks are extents of it, laid out as `claim` says.

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use stormeter_disk::{DatastoreFact, FoundData, Promise};

use crate::aligned::AlignedBuffer;
use crate::block::{Block, DeviceUse, DeviceUser, is_open_here};
use crate::claim::{self, Claimant};
use crate::layers::System;
use crate::owner::{DiskRecord, Owner};
use crate::prepare::{Preparation, Prepared, Target, write_all};
use crate::promise;
use crate::punch::{not_punched, punch_hole};
use crate::signature::EDGE_BYTES;
use crate::{Caching, DatastoreError, DeviceFacts, DiskSpec, header, inspect};

/// An open device that nothing else uses and that is empty, or holds only data that may be overwritten.
pub(crate) struct DeviceStore {
    path: PathBuf,
    /// Its device number (`st_rdev`).
    pub(crate) number: u64,
    /// Opened exclusively: no file system can be mounted from it meanwhile.
    file: File,
    pub(crate) facts: DeviceFacts,
    pub(crate) direct: bool,
    owner: Owner,
    /// Whether the header on the device is this run's.
    marked: bool,
    /// What was on the device and will be destroyed.
    destroys: Option<FoundData>,
    pub(crate) notes: Vec<DatastoreFact>,
}

impl DeviceStore {
    /// Makes sure that the device is unused and empty (or named in `destroy_data`). Only reads.
    pub(crate) fn open(
        path: PathBuf,
        direct_wanted: bool,
        claimant: &Claimant,
    ) -> Result<Self, DatastoreError> {
        let number = device_number(&path)?;
        let block = Block::of(number);
        if block.as_ref().is_some_and(Block::read_only) {
            return Err(DatastoreError::DeviceReadOnly { path });
        }
        if let Some(by) = block.as_ref().and_then(Block::user) {
            return Err(busy(&path, by));
        }
        let mut notes = Vec::new();
        let (file, direct) =
            open_exclusively((&path, number), direct_wanted, block.as_ref(), &mut notes).map_err(
                |error| match error {
                    DatastoreError::DeviceBusy { .. } if is_open_here(number) => {
                        DatastoreError::NamedTwice { path: path.clone() }
                    }
                    error => error,
                },
            )?;
        // Names in /dev are links that may have changed between the check and the open.
        let opened = file.metadata().map_err(|e| DatastoreError::system("look at", &path, e))?;
        if opened.rdev() != number {
            return Err(DatastoreError::DeviceRenamed { path });
        }
        let mut facts = block.map(|block| block.facts()).unwrap_or_else(|| DeviceFacts {
            name: path.display().to_string(),
            model: None,
            size_bytes: 0,
            logical_block_bytes: 4096,
            rotational: false,
            scheduler: None,
        });
        facts.size_bytes =
            size_of(&file).map_err(|e| DatastoreError::system("measure", &path, e))?;

        let finding = inspect(&file, facts.size_bytes)
            .map_err(|error| DatastoreError::system("read", &path, error))?;
        let mut owner = Owner::here(&claimant.run_id);
        let claim = claim::judge(&path, finding, claimant)?;
        let (marked, destroys) = claim.accept(&mut owner, &mut notes);
        Ok(Self { path, number, file, facts, direct, owner, marked, destroys, notes })
    }

    /// The disks that exist and are ready.
    pub(crate) fn prepared(&self) -> Option<DiskSpec> {
        self.owner.ready()
    }

    /// What an acknowledged write means on the disks.
    pub(crate) fn promise(&self) -> Promise {
        promise::of_device(self.number, &self.path, self.direct, &System::here())
    }

    /// A file handle for an engine.
    pub(crate) fn file(&self, caching: Caching) -> Result<File, DatastoreError> {
        let file = match caching {
            Caching::AsOpened => self.file.try_clone(),
            // The same device, whatever its name refers to by now. Not exclusively: we already hold it.
            Caching::Client => {
                let held = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                File::options().read(true).write(true).open(held)
            }
        };
        file.map_err(|error| DatastoreError::system("open", &self.path, error))
    }

    /// Frees the blocks of some of the disks.
    pub(crate) fn discard(
        &mut self,
        disks: Range<u32>,
        size_bytes: u64,
    ) -> Result<(), DatastoreError> {
        // A process that resumes with a killed run's disks must not take these for written.
        let was_prepared = std::mem::replace(&mut self.owner.prepared, false);
        self.mark()?;
        let discarded = self.give_back(disks, size_bytes);
        self.owner.prepared = was_prepared;
        if matches!(discarded, Err(DatastoreError::NoDiscard { .. })) {
            self.mark()?;
        }
        discarded
    }

    fn give_back(&self, disks: Range<u32>, size_bytes: u64) -> Result<(), DatastoreError> {
        // A remainder smaller than the device's block is left.
        let block_bytes = u64::from(self.facts.logical_block_bytes.max(512));
        let bytes = size_bytes - size_bytes % block_bytes;
        for disk in disks {
            punch_hole(&self.file, claim::base_bytes(disk, size_bytes), bytes)
                .map_err(|errno| not_punched(&self.path, errno))?;
        }
        Ok(())
    }

    /// Forgets that the disks are written; the next preparation writes them again.
    pub(crate) fn forget(&mut self) {
        self.owner.prepared = false;
    }

    /// Marks the disks as waiting to be checked.
    pub(crate) fn keep_for_check(&mut self) -> Result<(), DatastoreError> {
        self.owner.awaits_check = true;
        self.mark()
    }

    /// Refuses what is not possible here. Changes nothing.
    pub(crate) fn check(&self, spec: &DiskSpec) -> Result<(), DatastoreError> {
        let logical_block_bytes = if self.direct { self.facts.logical_block_bytes } else { 1 };
        spec.check(logical_block_bytes, &self.path.display().to_string())?;
        claim::check_fits(spec, self.facts.size_bytes, &self.path)
    }

    /// Writes the disks, or reuses them if they are already written.
    pub(crate) fn prepare(
        &mut self,
        preparation: &mut Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        self.check(&preparation.disks)?;
        let spec = preparation.disks;
        let record = DiskRecord { spec, content_id: preparation.content_id };
        if self.owner.has_written(&record) {
            self.owner.disks = Some(record);
            self.mark()?;
            (preparation.progress)(spec.total_bytes(), spec.total_bytes());
            return Ok(Prepared { reused: true, notes: Vec::new() });
        }
        self.owner.disks = Some(record);
        self.owner.prepared = false;
        if let Some(found) = self.destroys.take() {
            let path = self.path.display().to_string();
            self.notes.push(DatastoreFact::HeldData { path, found });
            // The next tool that looks would find a signature left at the end.
            let tail = self.facts.size_bytes - EDGE_BYTES;
            self.write(&AlignedBuffer::new(EDGE_BYTES as usize), tail)?;
        }
        self.mark()?;
        write_all(preparation, &|disk| {
            Ok(Target {
                file: self.file(Caching::AsOpened)?,
                base_bytes: claim::base_bytes(disk, spec.size_bytes),
            })
        })?;
        self.sync()?;
        self.owner.prepared = true;
        self.mark()?;
        Ok(Prepared::default())
    }

    /// Writes the header, and zeros from there to the end of the first MiB.
    fn mark(&mut self) -> Result<(), DatastoreError> {
        let mut head = AlignedBuffer::new(EDGE_BYTES as usize);
        head[..header::HEADER_BYTES].copy_from_slice(&header::encode(&self.owner));
        self.marked = true;
        self.write(&head, 0)?;
        self.sync()
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), DatastoreError> {
        self.file
            .write_all_at(bytes, offset)
            .map_err(|error| DatastoreError::system("write", &self.path, error))
    }

    fn sync(&self) -> Result<(), DatastoreError> {
        self.file.sync_all().map_err(|error| DatastoreError::system("sync", &self.path, error))
    }

    /// Removes our header from the device; reports a failure.
    pub(crate) fn remove(&mut self) -> Option<DatastoreFact> {
        if !std::mem::take(&mut self.marked) {
            return None;
        }
        self.owner.disks = None;
        self.owner.prepared = false;
        let wiped =
            self.write(&AlignedBuffer::new(EDGE_BYTES as usize), 0).and_then(|()| self.sync());
        let said = wiped.err()?.to_string();
        Some(DatastoreFact::HeaderStays { path: self.path.display().to_string(), said })
    }
}

/// The number of the device that a path refers to.
fn device_number(path: &Path) -> Result<u64, DatastoreError> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.file_type().is_block_device() => Ok(metadata.rdev()),
        Ok(_) => Err(DatastoreError::NotABlockDevice { path: path.into() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(DatastoreError::NoDevice { path: path.into() })
        }
        Err(error) => Err(DatastoreError::system("look at", path, error)),
    }
}

/// How often to retry, and how long to wait each time, when a device is busy and no holder is known.
const TEARDOWN_WAITS: u32 = 20;
const TEARDOWN_WAIT: Duration = Duration::from_millis(100);

/// Opens with O_EXCL, which on a block device means: fail if the kernel or another
/// exclusive opener holds it (open(2)).
fn open_exclusively(
    (path, number): (&Path, u64),
    direct_wanted: bool,
    block: Option<&Block>,
    notes: &mut Vec<DatastoreFact>,
) -> Result<(File, bool), DatastoreError> {
    let flags = OFlag::O_RDWR | OFlag::O_EXCL | OFlag::O_CLOEXEC;
    let failed = |errno| match errno {
        Errno::EBUSY => {
            let unknown = || DeviceUse { partition: None, by: DeviceUser::Unknown };
            busy(path, block.and_then(Block::user).unwrap_or_else(unknown))
        }
        Errno::ENXIO | Errno::ENODEV | Errno::ENOMEDIUM => {
            DatastoreError::NoDevice { path: path.into() }
        }
        errno => DatastoreError::system("open", path, errno),
    };
    // When a run was killed, the kernel holds its device until it has torn down the ring; nothing is
    // listed as the holder meanwhile.
    let nobody = || block.and_then(Block::user).is_none() && !is_open_here(number);
    let open = |flags| {
        for _ in 0..TEARDOWN_WAITS {
            match open(path, flags, Mode::empty()) {
                Err(Errno::EBUSY) if nobody() => std::thread::sleep(TEARDOWN_WAIT),
                result => return result.map(File::from),
            }
        }
        open(path, flags, Mode::empty()).map(File::from)
    };
    if !direct_wanted {
        notes.push(DatastoreFact::Buffered { path: path.display().to_string() });
        return Ok((open(flags).map_err(failed)?, false));
    }
    match open(flags | OFlag::O_DIRECT) {
        Ok(file) => Ok((file, true)),
        Err(Errno::EINVAL) => {
            notes.push(DatastoreFact::DeviceRefusesDirect { path: path.display().to_string() });
            Ok((open(flags).map_err(failed)?, false))
        }
        Err(errno) => Err(failed(errno)),
    }
}

fn busy(path: &Path, usage: DeviceUse) -> DatastoreError {
    DatastoreError::DeviceBusy { path: path.into(), usage }
}

/// Size of a device: the position of its end.
fn size_of(mut file: &File) -> std::io::Result<u64> {
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))
}
