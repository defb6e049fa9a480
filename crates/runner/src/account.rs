//! The CPU time of a window beyond that of the driving threads: process, host and target.
//!
//! A thread that does not drive reads it. Reading takes some 0.1 ms, and more on a host with many CPUs or a server of
//! many processes; on a driving thread, this time would be charged to every I/O that completes meanwhile. The reader is
//! woken when the window opens and closes. It reports how late it was, and its figures for the host are for the time
//! between its own two readings.

use std::fs;
use std::sync::OnceLock;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use nix::time::ClockId;
use stormeter_trial::{CpuUsage, TargetUnknown};

use crate::host_time::HostTime;
use crate::target::{Opened, Target};

/// The target of a trial, found when its disks are open: only then do the server's processes for them exist. It is
/// looked up again for each trial, because servers are restarted.
pub(crate) type FoundTarget = OnceLock<Result<Target, TargetUnknown>>;

/// An end of the window, and its time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    Opened(Instant),
    Closed(Instant),
}

/// The CPU time of process and host so far.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    process_ns: u64,
    /// The threads of this process that drive no I/O, by thread id, with the CPU time of each.
    tool: Vec<(i32, u64)>,
    host: HostTime,
}

impl Whole {
    pub(crate) fn now() -> Self {
        let process_ns = cpu_ns(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0);
        Self { process_ns, tool: tool_threads(), host: HostTime::now() }
    }

    /// The CPU time since `earlier`, except for what driving threads count themselves.
    fn since(&self, earlier: &Whole) -> CpuUsage {
        let spent_ns = |(thread, now_ns): &(i32, u64)| {
            let then = earlier.tool.iter().find(|(known, _)| known == thread);
            now_ns.saturating_sub(then.map_or(0, |(_, then_ns)| *then_ns))
        };
        CpuUsage {
            process_ns: self.process_ns.saturating_sub(earlier.process_ns),
            // Not even this thread was visible: /proc cannot be read.
            tool_ns: (!self.tool.is_empty()).then(|| self.tool.iter().map(spent_ns).sum()),
            host: self.host.since(&earlier.host),
            pressure: self.host.pressure_since(&earlier.host),
            ..CpuUsage::default()
        }
    }
}

/// The names of threads that do I/O: driving threads, the positional engine's, the workers
/// of io_uring (`iou-wrk-…`, `iou-sqp-…`; io_uring/io-wq.c and sqpoll.c of the kernel), and those of librbd that
/// move data: messengers, their dispatchers, finishers and workers. Its timers and logs work whether there is I/O or not.
const IO_THREADS: [&str; 9] = [
    "driver-",
    "positional-",
    "iou-",
    "msgr-worker-",
    "ms_dispatch",
    "ms_local",
    "io_context_pool",
    "taskfin_librbd",
    "tp_librbd",
];

/// The time of a thread that ends within the window is charged to the I/Os: an overestimate rather than an
/// underestimate.
fn tool_threads() -> Vec<(i32, u64)> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let tool = tasks.filter_map(|task| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        if IO_THREADS.iter().any(|io| name.starts_with(io)) {
            return None;
        }
        let thread = task.file_name().to_str()?.parse().ok()?;
        Some((thread, cpu_ns(thread_clock(thread))?))
    });
    tool.collect()
}

/// The CPU clock of another thread of this process, to the nanosecond: what pthread_getcpuclockid(3)
/// gives, as include/linux/posix-timers.h of the kernel puts it together (the number inverted, a flag for
/// "one thread" and the kind of clock that counts what the scheduler does).
fn thread_clock(thread: i32) -> ClockId {
    const PER_THREAD: i32 = 4;
    const SCHEDULED: i32 = 2;
    ClockId::from_raw((!thread << 3) | PER_THREAD | SCHEDULED)
}

/// `None` for a thread that has ended.
pub(crate) fn cpu_ns(clock: ClockId) -> Option<u64> {
    let now = clock.now().ok()?;
    Some(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// The account of a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Account {
    /// CPU usage, without that of the driving threads.
    pub(crate) cpu: CpuUsage,
    /// Why the target's CPU time is unknown, if it was requested.
    pub(crate) target_unknown: Option<TargetUnknown>,
}

/// Reads at the ends of a window.
pub(crate) struct Reader<'a, R> {
    target: &'a FoundTarget,
    read: R,
    opened: Option<AtOpening<'a>>,
}

struct AtOpening<'a> {
    whole: Whole,
    target: Option<Result<Opened<'a>, TargetUnknown>>,
    late_ns: u64,
}

impl<'a, R: FnMut() -> Whole> Reader<'a, R> {
    pub(crate) fn new(target: &'a FoundTarget, read: R) -> Self {
        Self { target, read, opened: None }
    }

    pub(crate) fn open(&mut self, at: Instant) {
        let found = self.target.get();
        let target =
            found.map(|found| found.as_ref().map_err(TargetUnknown::clone).and_then(Target::open));
        let whole = (self.read)();
        let late_ns = late_ns(at, &whole);
        self.opened = Some(AtOpening { whole, target, late_ns });
    }

    /// `None` if the window was not open.
    pub(crate) fn close(&mut self, at: Instant) -> Option<Account> {
        let opened = self.opened.take()?;
        let whole = (self.read)();
        let mut cpu = whole.since(&opened.whole);
        cpu.late_ns = late_ns(at, &whole).max(opened.late_ns);
        let mut target_unknown = None;
        match opened.target.map(|opened| opened?.spent_ns()) {
            Some(Ok(spent_ns)) => cpu.target_ns = Some(spent_ns),
            Some(Err(unknown)) => target_unknown = Some(unknown),
            None => {}
        }
        Some(Account { cpu, target_unknown })
    }

    /// Waits for both ends. `None` if one did not come.
    pub(crate) fn wait(mut self, moments: &Receiver<Moment>) -> Option<Account> {
        loop {
            match moments.recv().ok()? {
                Moment::Opened(at) => self.open(at),
                Moment::Closed(at) => return self.close(at),
            }
        }
    }
}

fn late_ns(at: Instant, whole: &Whole) -> u64 {
    whole.host.at.saturating_duration_since(at).as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A limit of loops, not of time.
    const ROUNDS: u64 = 20_000_000_000;

    /// Works until this thread has used a given CPU time.
    fn spend(ns: u64) {
        let own = || cpu_ns(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
        let until_ns = own() + ns;
        for round in 0..ROUNDS {
            std::hint::black_box(round);
            if round % 100_000 == 0 && own() >= until_ns {
                return;
            }
        }
        panic!("the thread's clock stands still");
    }

    #[test]
    fn a_thread_that_drives_no_io_is_counted_apart() {
        const SPENT_NS: u64 = 60_000_000;
        let before = Whole::now();
        let tool_ns = |during: &dyn Fn()| {
            let then = Whole::now();
            during();
            // Other tests run on threads that drive nothing, too: only this one's is checked.
            let own = nix::unistd::gettid().as_raw();
            let of =
                |whole: &Whole| whole.tool.iter().find(|(thread, _)| *thread == own).map(|it| it.1);
            of(&Whole::now()).zip(of(&then)).map(|(now, then)| now - then)
        };
        let spent_ns = tool_ns(&|| spend(SPENT_NS)).unwrap();
        assert!((SPENT_NS..2 * SPENT_NS).contains(&spent_ns), "{spent_ns}");
        for name in ["driver-7", "positional-0", "iou-wrk-1"] {
            let (ready_in, ready) = mpsc::channel();
            let (end_in, end) = mpsc::channel::<()>();
            let io = thread::Builder::new().name(name.into()).spawn(move || {
                spend(SPENT_NS);
                ready_in.send(nix::unistd::gettid().as_raw()).unwrap();
                let _ = end.recv();
            });
            let number = ready.recv().unwrap();
            let now = Whole::now();
            assert!(now.tool.iter().all(|(thread, _)| *thread != number), "{name}");
            assert!(now.since(&before).process_ns >= SPENT_NS, "{name}");
            drop(end_in);
            io.unwrap().join().unwrap();
        }
    }

    #[test]
    fn a_thread_that_came_within_the_window_counts_from_its_beginning() {
        let whole = |process_ns, tool: &[(i32, u64)]| Whole {
            process_ns,
            tool: tool.to_vec(),
            host: HostTime::now(),
        };
        let then = whole(1_000, &[(1, 100), (2, 50)]);
        let used = whole(3_000, &[(1, 140), (3, 7)]).since(&then);
        assert_eq!((used.process_ns, used.tool_ns, used.initiator_ns()), (2_000, Some(47), 1_953));
        assert_eq!(whole(3_000, &[]).since(&then).tool_ns, None, "nothing could be seen");
    }

    #[test]
    fn a_late_reading_says_how_late_it_was() {
        let target = FoundTarget::new();
        let mut reader = Reader::new(&target, Whole::now);
        assert_eq!(reader.close(Instant::now()), None, "it was not open");
        let early = Instant::now().checked_sub(Duration::from_millis(7)).unwrap();
        reader.open(early);
        let account = reader.close(Instant::now()).unwrap();
        assert!(account.cpu.late_ns >= 7_000_000, "{account:?}");
    }

    #[test]
    fn a_window_that_did_not_close_has_no_account() {
        let target = FoundTarget::new();
        let (moments_in, moments) = mpsc::channel();
        moments_in.send(Moment::Opened(Instant::now())).unwrap();
        drop(moments_in);
        assert_eq!(Reader::new(&target, Whole::now).wait(&moments), None);
    }
}
