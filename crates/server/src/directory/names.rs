//! Procedures for names and attributes (RFC 1813 sections 3.3.1 to 3.3.14). Each change is stable
//! before it is answered.

use std::ffi::OsStr;
use std::fs::File;

use nix::fcntl::renameat;
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::attributes::Change;
use super::handle::Handle;
use super::service::Service;
use super::storage::Storage;
use super::tree::{Found, checked_name};
use crate::nfs3::{Attributes, Failure, MAX_PATH_BYTES, Status};
use crate::xdr::{Put, Reader};

/// How to create a file (RFC 1813 section 3.3.8, `createmode3`): it may exist already.
const UNCHECKED: u32 = 0;
/// It must not exist.
const GUARDED: u32 = 1;
/// Like GUARDED, and safe to send again.
const EXCLUSIVE: u32 = 2;

/// The mode of files and directories for which a client specifies none; the umask restricts
/// neither.
const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// A directory and a name in it, from a client.
struct Where<'a> {
    parent: Handle,
    directory: File,
    name: &'a OsStr,
}

impl<S: Storage> Service<S> {
    pub(super) fn get_attributes(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        self.current(handle)?.put(head);
        Ok(())
    }

    pub(super) fn set_attributes(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let change = Change::read(&mut arguments)?;
        let guard =
            arguments.flag()?.then(|| Ok::<_, Failure>((arguments.u32()?, arguments.u32()?)));
        let found = self.tree.look(handle)?;
        if let Some(guard) = guard.transpose()? {
            let changed = Attributes::from(&found.metadata).changed;
            if guard != (changed.seconds, changed.nanoseconds) {
                return Err(Status::NotSync.into());
            }
        }
        if found.metadata.is_dir() {
            let directory = self.tree.directory(handle)?;
            change.apply(&directory)?;
            self.storage.sync_all(&directory)?;
        } else {
            let file = self.open_file(handle)?;
            change.apply(&file)?;
            self.storage.sync_all(&file)?;
        }
        self.current(handle)?.put_change(head);
        Ok(())
    }

    pub(super) fn lookup(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let at = self.place(&mut arguments)?;
        let found = self.tree.child(&at.directory, at.parent, at.name)?;
        head.put_opaque(&found.handle.encode());
        Attributes::from(&found.metadata).put_after(head);
        Attributes::from(&at.directory.metadata()?).put_after(head);
        Ok(())
    }

    /// Grants every requested right: what the server's user may not do is refused when it is
    /// attempted, which RFC 1813 section 3.3.4 permits.
    pub(super) fn access(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let wanted = arguments.u32()?;
        self.current(handle)?.put_after(head);
        head.put_u32(wanted);
        Ok(())
    }

    pub(super) fn create(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let at = self.place(&mut arguments)?;
        let how = arguments.u32()?;
        let change = match how {
            UNCHECKED | GUARDED => Change::read(&mut arguments)?,
            // There is no place to store the request's verifier; clients then use GUARDED.
            EXCLUSIVE => return Err(Status::NotSupported.into()),
            _ => return Err(Failure::Garbage),
        };
        let is_new = self.tree.child(&at.directory, at.parent, at.name).is_err();
        let mode = change.mode.unwrap_or(FILE_MODE);
        let (handle, file) =
            self.tree.create(&at.directory, at.parent, at.name, mode, how == GUARDED)?;
        change.apply_after_creation(&file, is_new.then_some(mode))?;
        self.storage.sync_all(&file)?;
        self.storage.sync_all(&at.directory)?;
        put_created(head, handle, &Attributes::from(&file.metadata()?), &at.directory)
    }

    pub(super) fn make_directory(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let at = self.place(&mut arguments)?;
        let change = Change::read(&mut arguments)?;
        let mode = change.mode.unwrap_or(DIRECTORY_MODE);
        mkdirat(&at.directory, at.name, Mode::from_bits_truncate(mode))?;
        let found = self.tree.child(&at.directory, at.parent, at.name)?;
        let made = self.tree.directory(found.handle)?;
        change.apply_after_creation(&made, Some(mode))?;
        self.storage.sync_all(&made)?;
        self.storage.sync_all(&at.directory)?;
        put_created(head, found.handle, &Attributes::from(&made.metadata()?), &at.directory)
    }

    pub(super) fn remove(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let at = self.place(&mut arguments)?;
        let found = self.tree.child(&at.directory, at.parent, at.name)?;
        if found.metadata.is_dir() {
            return Err(Status::IsDirectory.into());
        }
        unlinkat(&at.directory, at.name, UnlinkatFlags::NoRemoveDir)?;
        self.open.forget(found.handle);
        self.changed(&at.directory, head)
    }

    pub(super) fn remove_directory(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let at = self.place(&mut arguments)?;
        self.tree.child(&at.directory, at.parent, at.name)?;
        unlinkat(&at.directory, at.name, UnlinkatFlags::RemoveDir)?;
        self.changed(&at.directory, head)
    }

    pub(super) fn rename(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let from = self.place(&mut arguments)?;
        let to = self.place(&mut arguments)?;
        let moved = self.tree.child(&from.directory, from.parent, from.name)?;
        match self.tree.child(&to.directory, to.parent, to.name) {
            // A file that loses its name this way is gone: no other handle refers to it.
            Ok(Found { handle, .. }) if handle != moved.handle => self.open.forget(handle),
            Ok(_) | Err(Status::NoEntry) => {}
            Err(other) => return Err(other.into()),
        }
        renameat(&from.directory, from.name, &to.directory, to.name)?;
        self.tree.remember(moved.handle, to.parent, to.name);
        self.changed(&from.directory, head)?;
        self.changed(&to.directory, head)
    }

    /// Makes a change in a directory stable and returns the directory's attributes.
    fn changed(&self, directory: &File, head: &mut Vec<u8>) -> Result<(), Failure> {
        self.storage.sync_all(directory)?;
        Attributes::from(&directory.metadata()?).put_change(head);
        Ok(())
    }

    /// The attributes of the file or directory of a handle.
    pub(super) fn current(&self, handle: Handle) -> Result<Attributes, Status> {
        match self.open.get(handle) {
            Some(file) => self.attributes(handle, &file),
            None => Ok(Attributes::from(&self.tree.look(handle)?.metadata)),
        }
    }

    fn place<'a>(&self, arguments: &mut Reader<'a>) -> Result<Where<'a>, Failure> {
        let parent = self.handle(arguments)?;
        let name = checked_name(arguments.opaque(MAX_PATH_BYTES)?)?;
        Ok(Where { parent, directory: self.tree.directory(parent)?, name })
    }
}

fn put_created(
    head: &mut Vec<u8>,
    handle: Handle,
    attributes: &Attributes,
    directory: &File,
) -> Result<(), Failure> {
    head.put_u32(1);
    head.put_opaque(&handle.encode());
    attributes.put_after(head);
    Attributes::from(&directory.metadata()?).put_change(head);
    Ok(())
}
