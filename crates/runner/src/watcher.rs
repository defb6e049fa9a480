//! What is read while a thread drives: its CPU time when the window opens and closes, the rows, and
//! whether to stop. The first thread reads process, host and target too, where all windows are one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use stormeter_driver::{CpuUsage, Interval, Observer};

use crate::target::{Opened, Target, TargetUnknown};
use crate::usage::Reading;

/// The target of a trial, found when its disks are open: only then do the server's processes for
/// them exist. It is looked for anew each trial, because servers are restarted.
pub(crate) type FoundTarget = OnceLock<Result<Target, TargetUnknown>>;

/// What a thread tells while it drives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Told {
    /// A row is complete.
    Row(usize, Interval),
    /// The thread's window is closed.
    Closed,
}

/// Watches over one thread.
pub(crate) struct Watcher<'a> {
    cancel: &'a AtomicBool,
    told: &'a Sender<Told>,
    thread: usize,
    /// Whether process and host are read too; and the target, where it was found.
    is_whole: bool,
    target: Option<&'a FoundTarget>,
    opened: Reading,
    target_opened: Option<Result<Opened<'a>, TargetUnknown>>,
    used: Option<CpuUsage>,
    target_unknown: Option<TargetUnknown>,
}

impl<'a> Watcher<'a> {
    /// Of the thread of that number; `target` where this one reads all that is not its own.
    pub(crate) fn new(
        cancel: &'a AtomicBool,
        told: &'a Sender<Told>,
        thread: usize,
        target: Option<&'a FoundTarget>,
    ) -> Self {
        Self {
            cancel,
            told,
            thread,
            is_whole: target.is_some(),
            target,
            opened: Reading::default(),
            target_opened: None,
            used: None,
            target_unknown: None,
        }
    }

    /// Whether the window was closed.
    pub(crate) fn is_finished(&self) -> bool {
        self.used.is_some()
    }

    /// What was spent in the window, and why the target's share is unknown if it was looked for.
    pub(crate) fn finish(self) -> (CpuUsage, Option<TargetUnknown>) {
        (self.used.unwrap_or_default(), self.target_unknown)
    }
}

impl Observer for Watcher<'_> {
    fn window_opened(&mut self) {
        let found = self.target.and_then(OnceLock::get);
        self.target_opened =
            found.map(|found| found.as_ref().map_err(TargetUnknown::clone).and_then(Target::open));
        self.opened = Reading::now(self.is_whole);
    }

    fn interval(&mut self, row: &Interval) {
        let _ = self.told.send(Told::Row(self.thread, *row));
    }

    fn window_closed(&mut self) {
        let mut used = Reading::now(self.is_whole).since(&self.opened);
        match self.target_opened.take().map(|opened| opened?.spent_ns()) {
            Some(Ok(spent_ns)) => used.target_ns = Some(spent_ns),
            Some(Err(unknown)) => self.target_unknown = Some(unknown),
            None => {}
        }
        self.used = Some(used);
        let _ = self.told.send(Told::Closed);
    }

    fn cancelled(&mut self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::target::tests::{SPENT_NS, TRIES, alone, busy_server};

    /// What the watcher of that thread says of a window in which `during` happened.
    fn watched(
        thread: usize,
        found: &FoundTarget,
        during: impl FnOnce(),
    ) -> (CpuUsage, Option<TargetUnknown>) {
        let (told, _) = mpsc::channel();
        let cancel = AtomicBool::new(false);
        let target = (thread == 0).then_some(found);
        let mut watcher = Watcher::new(&cancel, &told, thread, target);
        watcher.window_opened();
        during();
        watcher.window_closed();
        watcher.finish()
    }

    #[test]
    fn the_first_thread_counts_what_the_target_spends_in_the_window() {
        let _alone = alone();
        let (_server, address) = busy_server();
        let until_it_spent = || {
            let target = Target::at(&[address]).unwrap();
            let opened = target.open().unwrap();
            for _ in 0..TRIES {
                if opened.spent_ns().unwrap() >= SPENT_NS {
                    return;
                }
                thread::yield_now();
            }
        };
        until_it_spent();
        let found = FoundTarget::new();
        found.set(Target::at(&[address])).unwrap();
        let (cpu, unknown) = watched(0, &found, until_it_spent);
        assert_eq!(unknown, None);
        assert!(cpu.target_ns >= Some(SPENT_NS), "{cpu:?}");
        let (cpu, unknown) = watched(1, &found, || {});
        assert_eq!((cpu.target_ns, unknown), (None, None));
    }

    #[test]
    fn without_a_target_the_trial_says_why() {
        let found = FoundTarget::new();
        found.set(Target::at(&[])).unwrap();
        let (cpu, unknown) = watched(0, &found, || {});
        assert_eq!((cpu.target_ns, unknown), (None, Some(TargetUnknown::NoServer)));
    }
}
