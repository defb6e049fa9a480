//! Incidents of a session, bounded: a server that fails every request must not fill the memory with its refusals.

use stormeter_disk::{Incident, Incidents, StorageEvent};

/// Incidents listed between two calls of `take`; the others are counted.
const MOST: usize = 32;
/// Failed operations described between two calls of `take`; the others are counted.
const MAX_FAILURES: u64 = 4;

/// Incidents since they were last taken.
#[derive(Debug)]
pub(super) struct SessionIncidents {
    all: Incidents,
    failures: u64,
}

impl Default for SessionIncidents {
    fn default() -> Self {
        Self { all: Incidents::new(MOST), failures: 0 }
    }
}

impl SessionIncidents {
    pub(super) fn note(&mut self, event: StorageEvent) {
        self.all.note(event);
    }

    /// An operation failed. `event` is only called for those that are described.
    pub(super) fn failure(&mut self, event: impl FnOnce() -> StorageEvent) {
        self.failures = self.failures.saturating_add(1);
        if self.failures <= MAX_FAILURES {
            self.note(event());
        }
    }

    pub(super) fn take(&mut self) -> Vec<Incident> {
        let mut taken = self.all.take();
        let operations = std::mem::take(&mut self.failures);
        if operations > MAX_FAILURES {
            taken.push(Incident::new(StorageEvent::RefusedInAll { operations }));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_bounded_and_counted() {
        let mut incidents = SessionIncidents::default();
        let refused = |requests| StorageEvent::Resent { requests };
        for number in 0..1000 {
            incidents.failure(|| refused(number));
            incidents.note(StorageEvent::AskedToWait);
        }
        let mut expected: Vec<Incident> = (0..1).map(refused).map(Incident::new).collect();
        expected.push(Incident { times: 1000, ..Incident::new(StorageEvent::AskedToWait) });
        expected.extend((1..4).map(refused).map(Incident::new));
        expected.push(Incident::new(StorageEvent::RefusedInAll { operations: 1000 }));
        assert_eq!(incidents.take(), expected);
        assert!(incidents.take().is_empty());
    }
}
