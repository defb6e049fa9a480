//! Resets disks to their initial state between trials, and recreates them.
//!
//! What a store does depends on its history: where its blocks were last written, a flash translation
//! layer without free blocks. A reset gives each trial the same starting state.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use stormeter_disk::DatastoreFact;

use super::{Datastore, Store};
use crate::{DatastoreError, Preparation, Prepared};

/// How disks are reset to their initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskReset {
    /// They are removed, created and written again. On a device and a LUN, where there is nothing to
    /// remove, they are written again.
    Recreate,
    /// Their blocks are freed (a hole, a discard, UNMAP), then they are written again.
    Discard,
}

impl Datastore {
    /// Resets the disks to their initial state, or creates them if there are none. They must not be open;
    /// when this returns, all of them are written.
    ///
    /// # Errors
    /// As [`Datastore::prepare`]; also [`DatastoreError::NoDiscard`] if blocks cannot be freed; then nothing
    /// has changed.
    pub fn reset(
        &mut self,
        reset: DiskReset,
        mut preparation: Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        let was_prepared = self.prepared();
        if let (DiskReset::Discard, Some(spec)) = (reset, was_prepared) {
            match &mut self.store {
                Store::Null { .. } => {}
                Store::Directory(store) => return store.discard(&mut preparation),
                Store::Device(store) => store.discard(0..spec.count, spec.size_bytes)?,
                Store::Iscsi(store) => store.discard(0..spec.count, spec.size_bytes)?,
                Store::Rbd(store) => {
                    store.forget();
                    let mut prepared = store.prepare(&mut preparation)?;
                    prepared.notes.push(DatastoreFact::Recreated);
                    return Ok(prepared);
                }
                Store::Nfs(store) => {
                    store.forget();
                    let mut prepared = store.prepare(&mut preparation)?;
                    prepared.notes.push(DatastoreFact::Recreated);
                    return Ok(prepared);
                }
            }
        }
        match &mut self.store {
            Store::Null { .. } => {}
            Store::Directory(store) => store.forget(),
            Store::Device(store) => store.forget(),
            Store::Nfs(store) => store.forget(),
            Store::Iscsi(store) => store.forget(),
            Store::Rbd(store) => store.forget(),
        }
        self.prepare(preparation)
    }

    /// Makes some of the prepared disks as if nothing had ever been written to them, for a test that
    /// writes a new file: in a directory and on an export they are new, empty files; on a device and a
    /// LUN their blocks are given back where the storage can. Says what could not be done. Nothing of
    /// them is open meanwhile.
    ///
    /// They still count as prepared, so that they can be opened; blocks not written since must not be
    /// read.
    ///
    /// # Errors
    /// Disks that were not prepared, and what the system or the server refuses.
    pub fn make_fresh(&mut self, disks: Range<u32>) -> Result<Vec<DatastoreFact>, DatastoreError> {
        let spec = self.prepared().filter(|spec| disks.end <= spec.count);
        let Some(spec) = spec else {
            let last = disks.end.saturating_sub(1);
            return Err(DatastoreError::NotPrepared { first: disks.start, last });
        };
        let discarded = match &mut self.store {
            Store::Null { .. } => Ok(()),
            Store::Directory(store) => store.make_fresh(disks),
            Store::Nfs(store) => store.make_fresh(disks),
            Store::Rbd(store) => store.make_fresh(disks),
            Store::Device(store) => store.discard(disks, spec.size_bytes),
            Store::Iscsi(store) => store.discard(disks, spec.size_bytes),
        };
        match discarded {
            Ok(()) => Ok(Vec::new()),
            Err(DatastoreError::NoDiscard { path, reason }) => {
                let path = path.display().to_string();
                Ok(vec![DatastoreFact::WrittenBefore { path, said: reason }])
            }
            Err(error) => Err(error),
        }
    }
}
