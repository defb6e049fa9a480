//! The way to a datastore, for each kind.

use super::{Datastore, Store};
use crate::{DatastoreError, RealClock, Survey};

impl Datastore {
    /// Finds out what the way to it is like: some dozens of calls that do nothing. Nothing is written.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn survey(&self, clock: &RealClock) -> Result<Survey, DatastoreError> {
        Ok(match &self.store {
            Store::Nfs(store) => Survey {
                round_trips: Some(store.round_trips(clock)?),
                transfer_sizes: Some(store.transfer_sizes()),
                capacity_bytes: None,
            },
            Store::Iscsi(store) => Survey {
                round_trips: Some(store.round_trips(clock)?),
                capacity_bytes: Some(store.capacity_bytes()),
                ..Survey::default()
            },
            Store::Device(store) => {
                Survey { capacity_bytes: Some(store.facts.size_bytes), ..Survey::default() }
            }
            // librbd has no call that does nothing: the first I/O tells.
            Store::Rbd(_) | Store::Directory(_) | Store::Null { .. } => Survey::default(),
        })
    }
}
