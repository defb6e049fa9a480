//! READ, WRITE and COMMIT (RFC 1813 sections 3.3.6, 3.3.7 and 3.3.21).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::handle::Handle;
use super::service::{Reply, Service};
use super::storage::Storage;
use crate::nfs3::{
    Attributes, DATA_SYNC, FILE_SYNC, Failure, MAX_TRANSFER_BYTES, Status, UNSTABLE,
};
use crate::xdr::{Put, Reader};

/// XDR pads to four bytes; a READ of the greatest length needs no padding.
const _: () = assert!(MAX_TRANSFER_BYTES.is_multiple_of(4));

impl<S: Storage> Service<S> {
    pub(super) fn read(&self, mut arguments: Reader<'_>, reply: &mut Reply) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let (offset_bytes, length) = (arguments.u64()?, arguments.u32()?);
        let file = self.open_file(handle)?;
        let length = length.min(MAX_TRANSFER_BYTES) as usize;
        if reply.buffer.len() < length + 4 {
            reply.buffer.resize(length + 4, 0);
        }
        let buffer = reply.buffer.get_mut(..length).unwrap_or_default();
        let length = read_at(&file, buffer, offset_bytes)?;
        let attributes = self.attributes(handle, &file)?;
        if let Some(padding) = reply.buffer.get_mut(length..length + 4) {
            padding.fill(0);
        }
        reply.payload_bytes = length;
        attributes.put_after(&mut reply.head);
        let is_end = offset_bytes.saturating_add(length as u64) >= attributes.size_bytes;
        for word in [length as u32, u32::from(is_end), length as u32] {
            reply.head.put_u32(word);
        }
        Ok(())
    }

    pub(super) fn write(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let (offset_bytes, length, stable) = (arguments.u64()?, arguments.u32()?, arguments.u32()?);
        let data = arguments.opaque(MAX_TRANSFER_BYTES as usize)?;
        if data.len() != length as usize || stable > FILE_SYNC {
            return Err(Failure::Garbage);
        }
        let end = offset_bytes.checked_add(data.len() as u64);
        if end.is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Status::TooBig.into());
        }
        let file = self.open_file(handle)?;
        self.storage.write(&file, data, offset_bytes)?;
        match stable {
            UNSTABLE => {}
            DATA_SYNC => self.synced(self.storage.sync_data(&file))?,
            _ => self.synced(self.storage.sync_all(&file))?,
        }
        self.attributes(handle, &file)?.put_change(head);
        head.put_u32(length);
        head.put_u32(stable);
        head.put_u64(self.verifier.load(Ordering::Relaxed));
        Ok(())
    }

    /// The whole file is synced, whatever the range: the kernel has no durable sync of a range.
    pub(super) fn commit(
        &self,
        mut arguments: Reader<'_>,
        head: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = self.handle(&mut arguments)?;
        let file = self.open_file(handle)?;
        self.synced(self.storage.sync_data(&file))?;
        self.attributes(handle, &file)?.put_change(head);
        head.put_u64(self.verifier.load(Ordering::Relaxed));
        Ok(())
    }

    /// After a failed sync it is unknown which unstable writes were lost, and the kernel reports it
    /// only once (fsync(2)): a new verifier makes clients send them again.
    fn synced(&self, outcome: std::io::Result<()>) -> Result<(), Failure> {
        if outcome.is_err() {
            self.verifier.fetch_add(1, Ordering::Relaxed);
        }
        Ok(outcome?)
    }

    /// Opens the file of a handle.
    pub(super) fn open_file(&self, handle: Handle) -> Result<Arc<File>, Status> {
        if let Some(file) = self.open.get(handle) {
            return Ok(file);
        }
        if handle == self.tree.root() {
            return Err(Status::Invalid);
        }
        let file = Arc::new(self.tree.file(handle)?);
        self.open.keep(handle, &file);
        Ok(file)
    }

    /// An open file's attributes. A file without a name is gone for clients.
    pub(super) fn attributes(&self, handle: Handle, file: &File) -> Result<Attributes, Status> {
        let attributes = Attributes::from(&file.metadata()?);
        if attributes.links == 0 {
            self.open.forget(handle);
            return Err(Status::Stale);
        }
        Ok(attributes)
    }
}

/// Reads until the buffer is full or the file ends.
fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset_bytes.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
