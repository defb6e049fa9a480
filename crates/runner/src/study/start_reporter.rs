//! Passes on what an executor reports during a trial, and reports the start of the load to one more place.

use std::time::Instant;

use stormeter_trial::Interval;

use crate::progress::{Progress, Seen};

/// See above.
pub(crate) struct StartReporter<'a> {
    pub(crate) inner: &'a mut dyn Progress,
    /// Called with the start of the load.
    pub(crate) started: &'a mut dyn FnMut(Instant),
}

impl Progress for StartReporter<'_> {
    fn load_starts(&mut self, at: Instant) {
        (self.started)(at);
        self.inner.load_starts(at);
    }

    fn interval(&mut self, row: &Interval) {
        self.inner.interval(row);
    }

    fn watches(&self) -> bool {
        self.inner.watches()
    }

    fn seen(&mut self, host: Option<&str>, seen: &Seen) {
        self.inner.seen(host, seen);
    }

    fn note(&mut self, text: &str) {
        self.inner.note(text);
    }

    fn preparing(&mut self, datastore: &str, done: u64, total: u64) {
        self.inner.preparing(datastore, done, total);
    }
}
