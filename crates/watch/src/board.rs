//! The latest snapshot, shared between the run and its readers.
//!
//! A reader takes the snapshot as it is and reads it without a lock; the run changes it in place, or, while it is
//! being read, a copy of it. Neither waits for the other longer than it takes to count a reference.

use std::sync::{Arc, Mutex, PoisonError};

use crate::snapshot::Snapshot;

/// See above. Clones show the same snapshot.
#[derive(Debug, Clone)]
pub struct Board(Arc<Mutex<Arc<Snapshot>>>);

impl Board {
    /// A board that shows this.
    pub fn new(snapshot: Snapshot) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(snapshot))))
    }

    /// What it shows now.
    pub fn look(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes what it shows. `change` is to be short.
    pub fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        change(Arc::make_mut(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}
