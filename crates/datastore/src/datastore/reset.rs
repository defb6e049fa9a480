//! Bringing disks back to where they began, between trials, and making them as good as new.
//!
//! What a store does depends on what was done to it before: blocks that lie where they were last put,
//! a flash translation layer without free blocks. A reset gives each trial the same start.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Datastore, Store};
use crate::{DatastoreError, Preparation, Prepared};

/// How disks are brought back to where they began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskReset {
    /// They are removed, made and written again. On a device and a LUN, where there is nothing to
    /// remove, they are written again.
    Recreate,
    /// The storage is told that their content is no longer needed (a hole, a discard, UNMAP), then they
    /// are written again.
    Discard,
}

impl Datastore {
    /// Brings the disks back to where they began, or makes them if there are none. Nothing of them is
    /// open any more, and all of it is written when this returns.
    ///
    /// # Errors
    /// As [`Datastore::prepare`]; also [`DatastoreError::NoDiscard`] where blocks cannot be given back,
    /// which changes nothing.
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
                Store::Nfs(store) => {
                    store.forget();
                    let mut prepared = store.prepare(&mut preparation)?;
                    prepared.notes.push(
                        "NFSv3 has no way to give blocks back: the disks were removed, made and \
                         written again instead"
                            .into(),
                    );
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
        }
        self.prepare(preparation)
    }

    /// Makes some of the prepared disks as if nothing had ever been written to them, for a test that
    /// writes a new file: in a directory and on an export they are new, empty files; on a device and a
    /// LUN their blocks are given back where the storage can. Says what could not be done. Nothing of
    /// them is open meanwhile.
    ///
    /// They count as prepared still, so that they can be opened; what was not written since must not be
    /// read.
    ///
    /// # Errors
    /// Disks that were not prepared, and what the system or the server refuses.
    pub fn make_fresh(&mut self, disks: Range<u32>) -> Result<Vec<String>, DatastoreError> {
        let spec = self.prepared().filter(|spec| disks.end <= spec.count);
        let Some(spec) = spec else {
            let last = disks.end.saturating_sub(1);
            return Err(DatastoreError::NotPrepared { first: disks.start, last });
        };
        let discarded = match &mut self.store {
            Store::Null { .. } => Ok(()),
            Store::Directory(store) => store.make_fresh(disks),
            Store::Nfs(store) => store.make_fresh(disks),
            Store::Device(store) => store.discard(disks, spec.size_bytes),
            Store::Iscsi(store) => store.discard(disks, spec.size_bytes),
        };
        match discarded {
            Ok(()) => Ok(Vec::new()),
            Err(DatastoreError::NoDiscard { path, reason }) => Ok(vec![format!(
                "{} takes no blocks back ({reason}), so a new file is written to blocks that were \
                 written before",
                path.display()
            )]),
            Err(error) => Err(error),
        }
    }
}
