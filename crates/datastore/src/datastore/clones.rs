//! Disks that the storage makes as clones of a template while they are driven.
//!
//! What is not part of a clone's cost is done before: the disks of the trial before it are removed, and the snapshot of the
//! template is made.

use std::ops::Range;

use super::{Datastore, DiskSet, Store};
use crate::{DatastoreError, OpenDisks};

impl Datastore {
    /// Checks whether disks can be made as clones here. Changes nothing.
    ///
    /// # Errors
    /// [`DatastoreError::NoClones`], with what can.
    pub fn check_clones(&self) -> Result<(), DatastoreError> {
        match &self.store {
            Store::Rbd(store) => store.check_clones(),
            Store::Null { .. }
            | Store::Directory(_)
            | Store::Device(_)
            | Store::Nfs(_)
            | Store::Iscsi(_) => Err(self.no_clones()),
        }
    }

    fn no_clones(&self) -> DatastoreError {
        let reason = "of the datastores only pools of Ceph (rbd:) do it";
        DatastoreError::NoClones { name: self.url.to_string(), reason }
    }

    /// Removes those of the prepared disks that are to be made as clones of the prepared disk `template`, which stays as it
    /// is and must not be written from now on. Nothing of them is open meanwhile. The clones are made by
    /// [`stormeter_disk::Disks::clone_disk`] on [`Datastore::disks_to_clone`].
    ///
    /// The disks still count as prepared. Those that are needed otherwise are reset first ([`Datastore::reset`]).
    ///
    /// # Errors
    /// Disks that were not prepared, storage without clones, and what it refuses.
    pub fn ready_to_clone(
        &mut self,
        template: u32,
        disks: Range<u32>,
    ) -> Result<(), DatastoreError> {
        let last = template.max(disks.end.saturating_sub(1));
        if self.prepared().is_none_or(|spec| last >= spec.count) || disks.contains(&template) {
            return Err(DatastoreError::NotPrepared { first: disks.start, last });
        }
        match &mut self.store {
            Store::Rbd(store) => store.ready_to_clone(template, disks),
            _ => Err(self.no_clones()),
        }
    }

    /// Opens, on the calling thread, disks that are not there yet: the first of the range is disk 0 of the set, and the
    /// template is the one after the last. Only clones can be made of the template, and the disks are usable when they
    /// have been made.
    ///
    /// # Errors
    /// As [`Datastore::ready_to_clone`].
    pub fn disks_to_clone(
        &self,
        disks: Range<u32>,
        template: u32,
        open: OpenDisks,
    ) -> Result<DiskSet, DatastoreError> {
        let last = template.max(disks.end.saturating_sub(1));
        let Some(spec) = self.prepared().filter(|spec| last < spec.count) else {
            return Err(DatastoreError::NotPrepared { first: disks.start, last });
        };
        match &self.store {
            Store::Rbd(store) => {
                let disks = store.disks_to_clone(disks, template, spec, open)?;
                Ok(DiskSet::Rbd(Box::new(disks)))
            }
            _ => Err(self.no_clones()),
        }
    }
}
