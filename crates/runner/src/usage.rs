//! A driving thread's own CPU time, read by itself when the driver opens and closes the window.
//!
//! It reads nothing else: two short system calls. The accounts that belong to all threads are read by another thread
//! ([`crate::account`]), because the time of reading is charged to I/Os that complete meanwhile.

use std::fs::File;
use std::os::unix::fs::FileExt;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use stormeter_trial::CpuUsage;

/// The accounts of one thread, opened before its work starts.
#[derive(Debug)]
pub(crate) struct Own {
    schedstat: Option<File>,
}

impl Own {
    /// Opens those of the calling thread.
    pub(crate) fn open() -> Self {
        Self { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// The CPU time of that thread, which must be the caller, so far.
    pub(crate) fn read(&self) -> Reading {
        let mut usage = CpuUsage { threads: 1, ..CpuUsage::default() };
        if let Ok(thread) = getrusage(UsageWho::RUSAGE_THREAD) {
            usage.threads_user_ns = nanoseconds(thread.user_time());
            usage.threads_system_ns = nanoseconds(thread.system_time());
            usage.voluntary_switches = thread.voluntary_context_switches() as u64;
            usage.involuntary_switches = thread.involuntary_context_switches() as u64;
        }
        usage.run_delay_ns = self.schedstat.as_ref().and_then(|file| {
            let mut buffer = [0; 80];
            let length = file.read_at(&mut buffer, 0).ok()?;
            run_delay(std::str::from_utf8(&buffer[..length]).ok()?)
        });
        Reading(usage)
    }
}

/// The CPU time of a thread at one instant.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading(CpuUsage);

impl Reading {
    /// The CPU time since `earlier`.
    pub(crate) fn since(&self, earlier: &Reading) -> CpuUsage {
        let (now, then) = (&self.0, &earlier.0);
        CpuUsage {
            threads_user_ns: now.threads_user_ns.saturating_sub(then.threads_user_ns),
            threads_system_ns: now.threads_system_ns.saturating_sub(then.threads_system_ns),
            voluntary_switches: now.voluntary_switches.saturating_sub(then.voluntary_switches),
            involuntary_switches: now
                .involuntary_switches
                .saturating_sub(then.involuntary_switches),
            threads: now.threads,
            run_delay_ns: now
                .run_delay_ns
                .zip(then.run_delay_ns)
                .map(|(now, then)| now.saturating_sub(then)),
            ..CpuUsage::default()
        }
    }
}

fn nanoseconds(time: TimeVal) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1_000
}

/// The second of the three figures of a schedstat file (Documentation/scheduler/sched-stats.rst): time spent
/// waiting on a runqueue.
fn run_delay(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_delay_is_the_second_figure() {
        assert_eq!(run_delay("5277841 16129 57\n"), Some(16_129));
        assert_eq!(run_delay("5277841"), None);
        let own = Own::open().read().0;
        assert!(own.threads == 1 && own.run_delay_ns.is_some(), "{own:?}");
    }

    #[test]
    fn work_shows_as_time_of_the_thread() {
        let own = Own::open();
        let before = own.read();
        let spent_ns = || {
            let used = own.read().since(&before);
            used.threads_user_ns + used.threads_system_ns
        };
        let mut sum = 0u64;
        // Bounded by a count, not by time.
        for round in 0..2_000_000_000u64 {
            sum = sum.wrapping_add(std::hint::black_box(round));
            if round % 1_000_000 == 0 && spent_ns() > 20_000_000 {
                break;
            }
        }
        std::hint::black_box(sum);
        assert!(spent_ns() > 20_000_000);
    }
}
