//! Keeps files open between requests, so that a READ is one system call and not a walk through the
//! tree.

use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::handle::Handle;

/// Open files by handle; the least recently used one is closed first.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<Handle, (Arc<File>, u64)>,
    /// Counts uses: the number of a file's last use is its age.
    uses: u64,
}

impl OpenFiles {
    /// Keeps at most `most` files open.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<Arc<File>> {
        let mut state = self.state();
        state.uses += 1;
        let uses = state.uses;
        let (file, used) = state.files.get_mut(&handle)?;
        *used = uses;
        Some(Arc::clone(file))
    }

    pub(crate) fn keep(&self, handle: Handle, file: &Arc<File>) {
        let mut state = self.state();
        state.uses += 1;
        let uses = state.uses;
        state.files.insert(handle, (Arc::clone(file), uses));
        if state.files.len() > self.most {
            let oldest = state.files.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(handle, _)| *handle) {
                state.files.remove(&oldest);
            }
        }
    }

    pub(crate) fn forget(&self, handle: Handle) {
        self.state().files.remove(&handle);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_unused_for_longest_makes_way() {
        let open = OpenFiles::new(2);
        let made: Vec<(Handle, Arc<File>)> = (0..3)
            .map(|_| {
                let file = tempfile::tempfile().unwrap();
                (Handle::of(&file.metadata().unwrap()), Arc::new(file))
            })
            .collect();
        open.keep(made[0].0, &made[0].1);
        open.keep(made[1].0, &made[1].1);
        assert!(open.get(made[0].0).is_some());
        open.keep(made[2].0, &made[2].1);
        assert!(open.get(made[1].0).is_none());
        assert!(open.get(made[0].0).is_some());
        open.forget(made[0].0);
        assert!(open.get(made[0].0).is_none());
    }
}
