//! Listing directories, and what the file system is like (RFC 1813 sections 3.3.16 to 3.3.20).
//!
//! An entry's cookie is a hash of its name, and entries are listed in that order: a listing goes on
//! where it was although files came and went, and although the server was started anew.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;

use nix::sys::statvfs::fstatvfs;

use super::handle::HANDLE_BYTES;
use super::service::Service;
use super::storage::Storage;
use super::tree::{Entry, Found, MAX_NAME_BYTES};
use crate::nfs3::{Attributes, Failure, MAX_TRANSFER_BYTES, PROPERTIES, Status};
use crate::xdr::{Put, Reader};

/// What follows the last entry: no more of them here, and whether that is all.
const LIST_END_BYTES: usize = 8;

/// Of an entry without its name: that there is one, inode, name's length, cookie.
const ENTRY_BYTES: usize = 4 + 8 + 4 + 8;

/// What READDIRPLUS adds: attributes and handle, each with a mark, and the handle's length.
const PLUS_BYTES: usize = 4 + 84 + 4 + 4 + HANDLE_BYTES;

/// The unit in which transfers are best made, in bytes.
const MULTIPLE_BYTES: u32 = 4096;

impl<S: Storage> Service<S> {
    pub(super) fn read_directory(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let (cookie, _, most) = (arguments.u64()?, arguments.u64()?, arguments.u32()?);
        let directory = self.tree.directory(handle)?;
        let entries = after(self.tree.list(&directory)?, cookie);
        let mut list = List::begin(head, most, &Attributes::from(&directory.metadata()?));
        for (cookie, entry) in &entries {
            if !list.put(head, *cookie, entry, None) {
                break;
            }
        }
        list.finish(head)
    }

    pub(super) fn read_directory_plus(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let (cookie, _, _, most) =
            (arguments.u64()?, arguments.u64()?, arguments.u32()?, arguments.u32()?);
        let directory = self.tree.directory(handle)?;
        let entries = after(self.tree.list(&directory)?, cookie);
        let mut list = List::begin(head, most, &Attributes::from(&directory.metadata()?));
        for (cookie, entry) in &entries {
            // What has gone meanwhile, or is not served, is not listed.
            let Ok(found) = self.tree.child(&directory, handle, &entry.name) else { continue };
            if !list.put(head, *cookie, entry, Some(&found)) {
                break;
            }
        }
        list.finish(head)
    }

    pub(super) fn space(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let space = fstatvfs(self.tree.root_file())?;
        self.current(handle)?.put_after(head);
        let unit_bytes = space.fragment_size();
        for blocks in [space.blocks(), space.blocks_free(), space.blocks_available()] {
            head.put_u64(blocks.saturating_mul(unit_bytes));
        }
        for files in [space.files(), space.files_free(), space.files_available()] {
            head.put_u64(files);
        }
        // For how many seconds this will not change.
        head.put_u32(0);
        Ok(())
    }

    pub(super) fn limits(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        self.current(handle)?.put_after(head);
        // READ, then WRITE: most, preferred, multiple.
        for word in [MAX_TRANSFER_BYTES, MAX_TRANSFER_BYTES, MULTIPLE_BYTES].repeat(2) {
            head.put_u32(word);
        }
        // READDIR: preferred.
        head.put_u32(64 << 10);
        // The largest file: what an offset can express.
        head.put_u64(i64::MAX as u64);
        // Times are kept to a nanosecond.
        head.put_u64(1);
        head.put_u32(PROPERTIES);
        Ok(())
    }

    pub(super) fn path_limits(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        self.current(handle)?.put_after(head);
        // One link each; names are not cut but refused; files are not given away; case counts and
        // is kept.
        for word in [1, MAX_NAME_BYTES as u32, 1, 1, 0, 1] {
            head.put_u32(word);
        }
        Ok(())
    }
}

/// The entries behind a cookie, in the order of theirs.
fn after(entries: Vec<Entry>, cookie: u64) -> Vec<(u64, Entry)> {
    let mut sorted: Vec<(u64, Entry)> = entries
        .into_iter()
        .map(|entry| {
            let mut hasher = DefaultHasher::new();
            entry.name.hash(&mut hasher);
            // Not zero, which asks for the beginning, and positive where clients use signed numbers.
            ((hasher.finish() >> 1) | 1, entry)
        })
        .filter(|(own, _)| *own > cookie)
        .collect();
    sorted.sort_by_key(|(own, _)| *own);
    sorted
}

/// A list that must stay within so many bytes.
struct List {
    room: usize,
    is_empty: bool,
    is_cut: bool,
}

impl List {
    /// `most` counts everything behind the status.
    fn begin(head: &mut Vec<u8>, most: u32, directory: &Attributes) -> Self {
        let room = head.len() + most.min(MAX_TRANSFER_BYTES) as usize;
        directory.put_after(head);
        // Cookies are good for ever, and so is their verifier.
        head.put_u64(0);
        Self { room, is_empty: true, is_cut: false }
    }

    /// `false` when there is no room.
    fn put(
        &mut self,
        head: &mut Vec<u8>,
        cookie: u64,
        entry: &Entry,
        plus: Option<&Found>,
    ) -> bool {
        let name = entry.name.as_bytes();
        let more = if plus.is_some() { PLUS_BYTES } else { 0 };
        let needed = ENTRY_BYTES + name.len().next_multiple_of(4) + more;
        if head.len() + needed + LIST_END_BYTES > self.room {
            self.is_cut = true;
            return false;
        }
        self.is_empty = false;
        head.put_u32(1);
        head.put_u64(entry.inode);
        head.put_opaque(name);
        head.put_u64(cookie);
        if let Some(found) = plus {
            Attributes::from(&found.metadata).put_after(head);
            head.put_u32(1);
            head.put_opaque(&found.handle.encode());
        }
        true
    }

    fn finish(self, head: &mut Vec<u8>) -> Result<(), Failure> {
        if self.is_empty && self.is_cut {
            return Err(Status::TooSmall.into());
        }
        head.put_u32(0);
        head.put_u32(u32::from(!self.is_cut));
        Ok(())
    }
}
