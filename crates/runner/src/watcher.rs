//! What happens next to the load on a driving thread: its CPU time is read when the window opens and closes, rows are
//! reported, and cancellation is polled. All of it takes next to no time, because completions wait for it; anything
//! slower is left to the receiver of the reports.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

use stormeter_driver::Observer;
use stormeter_trial::{CpuUsage, Interval, LatencyBands};

use crate::account::Moment;
use crate::usage::{Own, Reading};

/// The reports of a driving thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WorkerEvent {
    /// A row is complete.
    Row(Interval),
    /// Latencies since the last of these.
    Latencies(LatencyBands),
    /// The thread's window is closed.
    Closed,
}

/// The least time between two [`WorkerEvent::Latencies`]: faster than an eye follows, and collecting them takes the thread
/// some ten microseconds.
const LATENCIES_EVERY_NS: u64 = 250_000_000;

/// Watches over one thread.
pub(crate) struct Watcher<'a> {
    cancel: &'a AtomicBool,
    events: &'a Sender<WorkerEvent>,
    /// The time in the window from which latencies are wanted next; `None` if nobody watches.
    latencies_from_ns: Option<u64>,
    /// The reader of the accounts that belong to all threads, if this thread's window is that of all.
    reader: Option<Sender<Moment>>,
    own: Own,
    opened: Reading,
    used: CpuUsage,
}

impl<'a> Watcher<'a> {
    /// A watcher of the calling thread.
    pub(crate) fn new(
        cancel: &'a AtomicBool,
        events: &'a Sender<WorkerEvent>,
        is_watched: bool,
        reader: Option<Sender<Moment>>,
    ) -> Self {
        Self {
            cancel,
            events,
            latencies_from_ns: is_watched.then_some(LATENCIES_EVERY_NS),
            reader,
            own: Own::open(),
            opened: Reading::default(),
            used: CpuUsage::default(),
        }
    }

    /// The CPU time of the thread in the window.
    pub(crate) fn finish(self) -> CpuUsage {
        self.used
    }

    fn tell(&self, moment: Moment) {
        if let Some(reader) = &self.reader {
            // A reader that has ended is noticed when it is joined.
            let _ = reader.send(moment);
        }
    }
}

impl Observer for Watcher<'_> {
    fn window_opened(&mut self) {
        self.tell(Moment::Opened(Instant::now()));
        self.opened = self.own.read();
    }

    fn interval(&mut self, row: &Interval) {
        let _ = self.events.send(WorkerEvent::Row(*row));
    }

    fn wants_latencies(&mut self, row: &Interval) -> bool {
        let end_ns = row.start_ns + row.length_ns;
        let is_due = self.latencies_from_ns.is_some_and(|from_ns| end_ns >= from_ns);
        if is_due {
            self.latencies_from_ns = Some(end_ns + LATENCIES_EVERY_NS);
        }
        is_due
    }

    fn latencies(&mut self, bands: LatencyBands) {
        let _ = self.events.send(WorkerEvent::Latencies(bands));
    }

    fn window_closed(&mut self) {
        self.used = self.own.read().since(&self.opened);
        self.tell(Moment::Closed(Instant::now()));
        let _ = self.events.send(WorkerEvent::Closed);
    }

    fn cancelled(&mut self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use stormeter_trial::TargetUnknown;

    use super::*;
    use crate::account::{Account, FoundTarget, Reader, Whole};
    use crate::target::Target;
    use crate::target::tests::{SPENT_NS, TRIES, alone, busy_server};

    /// The account of a window in which `during` ran.
    fn watched(found: &FoundTarget, during: impl FnOnce()) -> Account {
        let (events, _) = mpsc::channel();
        let cancel = AtomicBool::new(false);
        let (reader, moments) = mpsc::channel();
        thread::scope(|scope| {
            // Opened before `during`, so that all of it is counted.
            let (ready_in, ready) = mpsc::channel();
            let read = move || {
                let whole = Whole::now();
                let _ = ready_in.send(());
                whole
            };
            let account = scope.spawn(move || Reader::new(found, read).wait(&moments));
            let mut watcher = Watcher::new(&cancel, &events, false, Some(reader));
            watcher.window_opened();
            ready.recv().unwrap();
            during();
            watcher.window_closed();
            account.join().unwrap().unwrap()
        })
    }

    #[test]
    fn what_the_target_spends_in_the_window_is_counted() {
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
        let Account { cpu, target_unknown } = watched(&found, until_it_spent);
        assert_eq!(target_unknown, None);
        assert!(cpu.target_ns >= Some(SPENT_NS), "{cpu:?}");
        let nowhere = FoundTarget::new();
        let Account { cpu, target_unknown } = watched(&nowhere, || {});
        assert_eq!((cpu.target_ns, target_unknown), (None, None));
    }

    #[test]
    fn without_a_target_the_trial_says_why() {
        let found = FoundTarget::new();
        found.set(Target::at(&[])).unwrap();
        let Account { cpu, target_unknown } = watched(&found, || {});
        assert_eq!((cpu.target_ns, target_unknown), (None, Some(TargetUnknown::NoServer)));
    }

    /// Reading takes as long as the window here. If a driving thread did it or waited for it, the window
    /// would not close before the reading gave up.
    #[test]
    fn a_reading_that_takes_long_holds_up_no_io() {
        const GIVES_UP: Duration = Duration::from_secs(20);
        let (events, _) = mpsc::channel();
        let cancel = AtomicBool::new(false);
        let found = FoundTarget::new();
        let (reader, moments) = mpsc::channel();
        let (closed, is_closed) = mpsc::channel::<()>();
        let in_time = thread::scope(|scope| {
            let account = scope.spawn(|| {
                let (found, moments, is_closed) = (&found, moments, is_closed);
                let mut in_time = Vec::new();
                let read = || {
                    in_time.push(is_closed.recv_timeout(GIVES_UP).is_ok());
                    Whole::now()
                };
                let account = Reader::new(found, read).wait(&moments);
                assert!(account.is_some());
                in_time
            });
            let mut watcher = Watcher::new(&cancel, &events, false, Some(reader));
            watcher.window_opened();
            watcher.window_closed();
            closed.send(()).unwrap();
            closed.send(()).unwrap();
            account.join().unwrap()
        });
        assert_eq!(in_time, [true, true]);
    }
}
