//! A gate in front of the positional workers, built in tests only: it holds operations in flight
//! for as long as a test needs, without sleeping.

#[cfg(test)]
use std::sync::{Arc, Condvar, Mutex};

/// Passed before each operation of the positional engine; in production it does nothing.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    #[cfg(test)]
    state: Option<Arc<(Mutex<State>, Condvar)>>,
}

#[cfg(test)]
#[derive(Default)]
struct State {
    open: bool,
    arrived: usize,
}

impl Gate {
    /// Waits until the gate is open.
    #[inline]
    pub(crate) fn pass(&self) {
        #[cfg(test)]
        if let Some(shared) = &self.state {
            let mut state = shared.0.lock().unwrap();
            state.arrived += 1;
            shared.1.notify_all();
            drop(shared.1.wait_while(state, |state| !state.open).unwrap());
        }
    }
}

#[cfg(test)]
impl Gate {
    /// A closed gate.
    pub(crate) fn shut() -> Self {
        Self { state: Some(Arc::default()) }
    }

    /// Waits until `count` operations have reached the gate.
    pub(crate) fn wait_for(&self, count: usize) {
        let shared = self.state.as_ref().unwrap();
        let state = shared.0.lock().unwrap();
        drop(shared.1.wait_while(state, |state| state.arrived < count).unwrap());
    }

    /// Opens the gate permanently.
    pub(crate) fn open(&self) {
        let shared = self.state.as_ref().unwrap();
        shared.0.lock().unwrap().open = true;
        shared.1.notify_all();
    }
}
