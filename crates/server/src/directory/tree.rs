//! The shared directory and the lookup from a file handle to the file, without ever leaving the
//! directory.
//!
//! Every step is one `openat` of one name relative to an open directory, and never follows a
//! symbolic link; so whatever a client asks for, and whatever is renamed meanwhile, what is opened
//! is below the root. Only regular files and directories of the root's own file system exist for
//! clients.
//!
//! The location of a handle is remembered when it is given out. A handle that is unknown (the
//! server was restarted) or whose location has changed (the file was moved) is looked for in the
//! tree by its inode number.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use super::handle::Handle;
use crate::nfs3::Status;

/// The most locations remembered. Beyond that all are forgotten: a search finds them again.
const MAX_PLACES: usize = 65_536;

/// The greatest depth of a file, in directories.
const MAX_DEPTH: usize = 64;

/// How many entries a search for a handle examines before it gives up.
const MAX_SEARCHED: usize = 200_000;

/// The longest name in bytes, as in Linux.
pub(crate) const MAX_NAME_BYTES: usize = 255;

const DIRECTORY: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
const LOOK: OFlag = OFlag::O_PATH.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// If the file has become a device or a pipe since it was checked, opening must not block.
const FILE: OFlag =
    OFlag::O_NOFOLLOW.union(OFlag::O_CLOEXEC).union(OFlag::O_NONBLOCK).union(OFlag::O_NOCTTY);

/// The shared directory.
#[derive(Debug)]
pub(crate) struct Tree {
    root: File,
    root_handle: Handle,
    device: u64,
    places: Mutex<HashMap<Handle, Place>>,
}

/// The location of a file or directory.
#[derive(Debug, Clone)]
struct Place {
    parent: Handle,
    name: OsString,
}

/// A file or directory that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) handle: Handle,
    pub(crate) metadata: Metadata,
}

/// One name in a directory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) inode: u64,
    kind: Option<Type>,
}

/// A name from a client, if it is valid: a single component that leads downwards.
pub(crate) fn checked_name(name: &[u8]) -> Result<&OsStr, Status> {
    match name {
        b"" | b"." | b".." => Err(Status::Access),
        long if long.len() > MAX_NAME_BYTES => Err(Status::NameTooLong),
        odd if odd.contains(&b'/') || odd.contains(&0) => Err(Status::Access),
        good => Ok(OsStr::from_bytes(good)),
    }
}

impl Tree {
    pub(crate) fn open(directory: &Path) -> std::io::Result<Self> {
        // The path comes from the owner, so it may itself be a symbolic link.
        let flags = DIRECTORY.difference(OFlag::O_NOFOLLOW);
        let root = File::from(open(directory, flags, Mode::empty())?);
        let metadata = root.metadata()?;
        let root_handle = Handle::of(&metadata);
        Ok(Self { root, root_handle, device: metadata.dev(), places: Mutex::default() })
    }

    pub(crate) fn root(&self) -> Handle {
        self.root_handle
    }

    /// The root's descriptor, for queries about the file system.
    pub(crate) fn root_file(&self) -> &File {
        &self.root
    }

    /// The file or directory of a handle.
    pub(crate) fn look(&self, handle: Handle) -> Result<Found, Status> {
        if handle == self.root_handle {
            return Ok(Found { handle, metadata: self.root.metadata()? });
        }
        self.at_place(handle, |directory, parent, name| self.child(directory, parent, name))
    }

    /// Opens a directory for listing, changing and syncing.
    pub(crate) fn directory(&self, handle: Handle) -> Result<File, Status> {
        if handle == self.root_handle {
            return Ok(self.root.try_clone()?);
        }
        self.at_place(handle, |directory, _, name| self.enter(directory, name))
    }

    /// Opens a regular file for reading, and for writing if that is allowed.
    pub(crate) fn file(&self, handle: Handle) -> Result<File, Status> {
        self.at_place(handle, |directory, parent, name| {
            let found = self.child(directory, parent, name)?;
            if !found.metadata.is_file() {
                return Err(Status::Invalid);
            }
            let file = match openat(directory, name, OFlag::O_RDWR | FILE, Mode::empty()) {
                Err(Errno::EACCES | Errno::EROFS | Errno::EPERM) => {
                    openat(directory, name, OFlag::O_RDONLY | FILE, Mode::empty())
                }
                other => other,
            };
            let file = File::from(file?);
            let metadata = file.metadata()?;
            if !metadata.is_file() || Handle::of(&metadata) != handle {
                return Err(Status::Stale);
            }
            Ok(file)
        })
    }

    /// The file or directory with a name in an open directory; remembers its location.
    pub(crate) fn child(
        &self,
        directory: &File,
        parent: Handle,
        name: &OsStr,
    ) -> Result<Found, Status> {
        let file = File::from(openat(directory, name, LOOK, Mode::empty())?);
        let metadata = file.metadata()?;
        self.admit(&metadata)?;
        let handle = Handle::of(&metadata);
        self.remember(handle, parent, name);
        Ok(Found { handle, metadata })
    }

    /// Creates a regular file, or opens an existing one unless `exclusive`.
    pub(crate) fn create(
        &self,
        directory: &File,
        parent: Handle,
        name: &OsStr,
        mode: u32,
        exclusive: bool,
    ) -> Result<(Handle, File), Status> {
        let mut flags = OFlag::O_RDWR | OFlag::O_CREAT | FILE;
        flags.set(OFlag::O_EXCL, exclusive);
        if !exclusive {
            match self.child(directory, parent, name) {
                Ok(found) if found.metadata.is_file() => flags.remove(OFlag::O_CREAT),
                Ok(_) => return Err(Status::Exists),
                Err(Status::NoEntry) => {}
                Err(other) => return Err(other),
            }
        }
        let file = File::from(openat(directory, name, flags, Mode::from_bits_truncate(mode))?);
        let metadata = file.metadata()?;
        self.admit(&metadata)?;
        let handle = Handle::of(&metadata);
        self.remember(handle, parent, name);
        Ok((handle, file))
    }

    /// The names in an open directory that may be served, unsorted.
    pub(crate) fn list(&self, directory: &File) -> Result<Vec<Entry>, Status> {
        let mut open = Dir::from_fd(OwnedFd::from(File::from(openat(
            directory,
            ".",
            DIRECTORY,
            Mode::empty(),
        )?)))?;
        let mut entries = Vec::new();
        for entry in open.iter() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let kind = entry.file_type();
            if name == "." || name == ".." || kind.is_some_and(|kind| !is_served(kind)) {
                continue;
            }
            entries.push(Entry { name: name.to_owned(), inode: entry.ino(), kind });
        }
        Ok(entries)
    }

    /// Records a rename.
    pub(crate) fn remember(&self, handle: Handle, parent: Handle, name: &OsStr) {
        let mut places = self.places();
        if places.get(&handle).is_some_and(|place| place.parent == parent && place.name == name) {
            return;
        }
        if places.len() >= MAX_PLACES {
            places.clear();
        }
        places.insert(handle, Place { parent, name: name.to_owned() });
    }

    /// Refuses what clients must not see.
    fn admit(&self, metadata: &Metadata) -> Result<(), Status> {
        let kind = metadata.file_type();
        let odd = kind.is_symlink() || kind.is_fifo() || kind.is_socket();
        if odd || kind.is_block_device() || kind.is_char_device() {
            return Err(Status::Access);
        }
        if metadata.dev() == self.device { Ok(()) } else { Err(Status::OtherDevice) }
    }

    fn enter(&self, directory: &File, name: &OsStr) -> Result<File, Status> {
        let entered = File::from(openat(directory, name, DIRECTORY, Mode::empty())?);
        self.admit(&entered.metadata()?)?;
        Ok(entered)
    }

    /// Calls `act` with the directory and name of a handle; searches if they are unknown or
    /// something else is there now.
    fn at_place<T>(
        &self,
        handle: Handle,
        act: impl Fn(&File, Handle, &OsStr) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let remembered = self.verified_place(handle);
        let (directory, place) = match remembered {
            Some(found) => found,
            None => {
                self.search(handle)?;
                self.verified_place(handle).ok_or(Status::Stale)?
            }
        };
        match act(&directory, place.parent, &place.name) {
            Err(Status::NoEntry) => Err(Status::Stale),
            other => other,
        }
    }

    /// The remembered location, if the handle's file is still there.
    fn verified_place(&self, handle: Handle) -> Option<(File, Place)> {
        let mut way = Vec::new();
        {
            let places = self.places();
            let mut at = handle;
            while at != self.root_handle {
                let place = places.get(&at)?;
                way.push(place.clone());
                at = place.parent;
                if way.len() > MAX_DEPTH {
                    return None;
                }
            }
        }
        let place = way.first()?.clone();
        let mut directory = self.root.try_clone().ok()?;
        for step in way.iter().skip(1).rev() {
            directory = self.enter(&directory, &step.name).ok()?;
        }
        if Handle::of(&directory.metadata().ok()?) != place.parent {
            return None;
        }
        let there = openat(&directory, place.name.as_os_str(), LOOK, Mode::empty()).ok()?;
        let there = Handle::of(&File::from(there).metadata().ok()?);
        (there == handle).then_some((directory, place))
    }

    /// Walks the tree until the handle's file is found, remembering the directories on the way.
    fn search(&self, handle: Handle) -> Result<(), Status> {
        let mut waiting = vec![(self.root_handle, self.root.try_clone()?, 0)];
        let mut searched = 0;
        while let Some((parent, directory, depth)) = waiting.pop() {
            // Directories that cannot be listed are skipped: the file may be elsewhere.
            for entry in self.list(&directory).unwrap_or_default() {
                searched += 1;
                if searched > MAX_SEARCHED {
                    return Err(Status::Stale);
                }
                let is_directory = entry.kind.is_none_or(|kind| kind == Type::Directory);
                if entry.inode != handle.inode && !is_directory {
                    continue;
                }
                let Ok(found) = self.child(&directory, parent, &entry.name) else { continue };
                if found.handle == handle {
                    return Ok(());
                }
                if found.metadata.is_dir()
                    && depth < MAX_DEPTH
                    && let Ok(below) = self.enter(&directory, &entry.name)
                {
                    waiting.push((found.handle, below, depth + 1));
                }
            }
        }
        Err(Status::Stale)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Handle, Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_served(kind: Type) -> bool {
    matches!(kind, Type::File | Type::Directory)
}
