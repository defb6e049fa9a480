//! Where finished operations land: the library's threads bring them, the driving thread takes them.
//!
//! A callback takes a lock for the time of one push. It wakes the driving thread only if that waits, so a busy loop costs
//! no system call.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A finished operation: what it was called, and the library's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Landed {
    pub(crate) ticket: u32,
    pub(crate) result: i32,
}

#[derive(Default)]
struct Inside {
    landed: Vec<Landed>,
    is_waiting: bool,
}

/// The place where they land.
#[derive(Default)]
pub(crate) struct Landing {
    inside: Mutex<Inside>,
    arrived: Condvar,
}

impl Landing {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Brings one. Called by any thread.
    pub(crate) fn bring(&self, landed: Landed) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.landed.push(landed);
        let wakes = std::mem::take(&mut inside.is_waiting);
        drop(inside);
        if wakes {
            self.arrived.notify_one();
        }
    }

    /// Takes all that have landed into the empty `out`; waits for the first one for at most `wait`. Called by one thread.
    pub(crate) fn take(&self, wait: Duration, out: &mut Vec<Landed>) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if inside.landed.is_empty() && !wait.is_zero() {
            inside.is_waiting = true;
            let waited = self.arrived.wait_timeout(inside, wait);
            inside = waited.unwrap_or_else(PoisonError::into_inner).0;
            inside.is_waiting = false;
        }
        std::mem::swap(&mut inside.landed, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lands_is_taken_once_and_ends_a_wait() {
        let landing = Landing::new();
        let mut out = Vec::new();
        landing.take(Duration::ZERO, &mut out);
        landing.take(Duration::from_millis(1), &mut out);
        assert!(out.is_empty());
        let other = Arc::clone(&landing);
        let brings = std::thread::spawn(move || other.bring(Landed { ticket: 3, result: -5 }));
        while out.is_empty() {
            landing.take(Duration::from_secs(3600), &mut out);
        }
        brings.join().unwrap();
        assert_eq!(out, [Landed { ticket: 3, result: -5 }]);
        out.clear();
        landing.take(Duration::ZERO, &mut out);
        assert!(out.is_empty());
    }
}
