//! Lists directories and reports on the file system (RFC 1813 sections 3.3.16 to 3.3.20).
//!
//! An entry's cookie is a hash of its name, and entries are listed in that order: a listing resumes
//! where it was even if files were added and removed, and even if the server was restarted.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;

use nix::sys::statvfs::fstatvfs;

use super::handle::HANDLE_BYTES;
use super::service::Service;
use super::storage::Storage;
use super::tree::{Entry, Found, MAX_NAME_BYTES};
use crate::nfs3::{Attributes, Failure, MAX_TRANSFER_BYTES, PROPERTIES, Status};
use crate::xdr::{Put, Reader};

/// Bytes after the last entry: the end of the list, and whether the listing is complete.
const LIST_END_BYTES: usize = 8;

/// Bytes of an entry without its name: presence mark, inode, length of the name, cookie.
const ENTRY_BYTES: usize = 4 + 8 + 4 + 8;

/// Bytes that READDIRPLUS adds: attributes and handle, each with a presence mark, and the handle's
/// length.
const PLUS_BYTES: usize = 4 + 84 + 4 + 4 + HANDLE_BYTES;

/// The preferred granularity of transfers, in bytes.
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
            // Entries that have disappeared meanwhile, or are not served, are not listed.
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
        // For how many seconds this stays valid.
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
        // READ, then WRITE: maximum, preferred, multiple.
        for word in [MAX_TRANSFER_BYTES, MAX_TRANSFER_BYTES, MULTIPLE_BYTES].repeat(2) {
            head.put_u32(word);
        }
        // READDIR: preferred.
        head.put_u32(64 << 10);
        // The largest file: the largest possible offset.
        head.put_u64(i64::MAX as u64);
        // Times have nanosecond resolution.
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
        // One link each; long names are refused, not truncated; owners cannot be changed;
        // case-sensitive and case-preserving.
        for word in [1, MAX_NAME_BYTES as u32, 1, 1, 0, 1] {
            head.put_u32(word);
        }
        Ok(())
    }
}

/// The entries after a cookie, in the order of their cookies.
fn after(entries: Vec<Entry>, cookie: u64) -> Vec<(u64, Entry)> {
    let mut sorted: Vec<(u64, Entry)> = entries
        .into_iter()
        .map(|entry| {
            let mut hasher = DefaultHasher::new();
            entry.name.hash(&mut hasher);
            // Not zero, which asks for the start, and positive for clients that use signed numbers.
            ((hasher.finish() >> 1) | 1, entry)
        })
        .filter(|(own, _)| *own > cookie)
        .collect();
    sorted.sort_by_key(|(own, _)| *own);
    sorted
}

/// A list with a limited size in bytes.
struct List {
    room: usize,
    is_empty: bool,
    is_cut: bool,
}

impl List {
    /// `most` counts everything after the status.
    fn begin(head: &mut Vec<u8>, most: u32, directory: &Attributes) -> Self {
        let room = head.len() + most.min(MAX_TRANSFER_BYTES) as usize;
        directory.put_after(head);
        // Cookies stay valid forever, and so does their verifier.
        head.put_u64(0);
        Self { room, is_empty: true, is_cut: false }
    }

    /// `false` if there is no space.
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
