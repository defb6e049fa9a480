//! Watches the host during a trial: CPU, memory, networks, disks, interval by interval.
//!
//! A thread of its own reads the kernel's accounts and sleeps in between. It disturbs little: it is not pinned, so the
//! system runs it on a CPU without a driving thread if there is one, and a reading costs 0.1 ms of CPU time or more, at
//! most ten times a second. At a hundred I/Os a second that would be a tenth of the cost of an I/O, so it is counted
//! separately, like everything that recurs with time ([`stormeter_trial::CpuUsage::tool_ns`]).

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use stormeter_trial::{MonitorRow, NoteFact};

use crate::monitor_sampler::Sampler;

/// The kernel reports CPU time in ticks of 10 ms: shares of fewer than ten of them would be noise.
const LEAST_INTERVAL: Duration = Duration::from_millis(100);

/// A host being watched. Dropped without [`Monitor::stop`], it ends and its rows are lost.
#[derive(Debug)]
pub struct Monitor {
    watch: Option<(Sender<()>, JoinHandle<Vec<MonitorRow>>)>,
    note: Option<NoteFact>,
}

impl Monitor {
    /// Starts to watch; row times count from here. The receiver gets the rows as they are read. A row is as long as `interval`, but at least 100 ms, and longer if
    /// the host is too busy to read in time. [`Monitor::note`] reports what cannot be watched.
    pub fn start(interval: Duration) -> (Monitor, Receiver<MonitorRow>) {
        let began = Instant::now();
        let (sampler, missing) = Sampler::open(Path::new("/proc"), Path::new("/sys"), 0);
        let mut note = note_of(&missing);
        let (stop, stopped) = mpsc::channel();
        let (each, rows) = mpsc::channel();
        let interval = interval.max(LEAST_INTERVAL);
        let thread = thread::Builder::new()
            .name("monitor".into())
            .spawn(move || watch(sampler, (began, interval), &stopped, &each));
        let watch = match thread {
            Ok(thread) => Some((stop, thread)),
            Err(error) => {
                note = Some(NoteFact::NoMonitor { said: error.to_string() });
                None
            }
        };
        (Monitor { watch, note }, rows)
    }

    /// What is unknown about the host.
    pub fn note(&self) -> Option<&NoteFact> {
        self.note.as_ref()
    }

    /// Stops watching and returns the rows, which have no gaps. The last is shorter than the others; one of less than
    /// half an interval is dropped, unless it is the only one.
    pub fn stop(self) -> Vec<MonitorRow> {
        let Some((stop, thread)) = self.watch else { return Vec::new() };
        drop(stop);
        match thread.join() {
            Ok(rows) => rows,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn note_of(missing: &[&str]) -> Option<NoteFact> {
    let files = missing.iter().map(ToString::to_string).collect();
    (!missing.is_empty()).then_some(NoteFact::HostFilesUnreadable { files })
}

/// Reads at every multiple of the interval until it is stopped.
fn watch(
    mut sampler: Sampler,
    (began, interval): (Instant, Duration),
    stopped: &Receiver<()>,
    each: &Sender<MonitorRow>,
) -> Vec<MonitorRow> {
    let mut rows = Vec::new();
    loop {
        let wait = next_reading(began.elapsed(), interval);
        let continues = matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
        if let Some(row) = sampler.row(nanoseconds(began.elapsed()))
            && (continues || rows.is_empty() || 2 * row.length_ns >= nanoseconds(interval))
        {
            // The receiver may have gone.
            let _ = each.send(row.clone());
            rows.push(row);
        }
        if !continues {
            return rows;
        }
    }
}

/// The time until the next multiple of the interval. A multiple that is closer than half an interval (the last wait
/// ended early) or past (it ended late) is skipped.
pub(crate) fn next_reading(elapsed: Duration, interval: Duration) -> Duration {
    let (elapsed_ns, interval_ns) = (nanoseconds(elapsed), nanoseconds(interval).max(1));
    let left_ns = interval_ns - elapsed_ns % interval_ns;
    let short = 2 * left_ns < interval_ns && elapsed_ns > 0;
    Duration::from_nanos(if short { left_ns + interval_ns } else { left_ns })
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn readings_fall_on_multiples_of_the_interval() {
        assert_eq!(next_reading(MS(0), MS(100)), MS(100));
        assert_eq!(next_reading(MS(103), MS(100)), MS(97), "it was read a little late");
        assert_eq!(next_reading(MS(250), MS(100)), MS(50), "two were missed");
        assert_eq!(next_reading(MS(199), MS(100)), MS(101), "it woke early");
    }

    #[test]
    fn what_is_missing_is_said_in_a_sentence() {
        assert_eq!(note_of(&[]), None);
        let files = vec!["/proc/stat".into(), "/proc/diskstats".into()];
        let note = note_of(&["/proc/stat", "/proc/diskstats"]);
        assert_eq!(note, Some(NoteFact::HostFilesUnreadable { files }));
    }

    #[test]
    fn rows_follow_one_another_and_see_work() {
        let (monitor, each) = Monitor::start(MS(0));
        let mut sum = 0u64;
        // Work for some rows; on a busy machine they are longer and fewer.
        let began = Instant::now();
        for round in 0..100_000_000_000u64 {
            sum = sum.wrapping_add(std::hint::black_box(round));
            if round % 1_000_000 == 0 && began.elapsed() > MS(350) {
                break;
            }
        }
        std::hint::black_box(sum);
        let rows = monitor.stop();
        assert_eq!(each.iter().collect::<Vec<_>>(), rows, "each was sent when it was read");
        assert_eq!(rows[0].at_ns, 0);
        for (row, next) in rows.iter().zip(&rows[1..]) {
            assert_eq!(row.at_ns + row.length_ns, next.at_ns);
            assert!(row.length_ns >= nanoseconds(LEAST_INTERVAL) / 2, "{row:?}");
        }
        assert!(rows.iter().any(|row| row.cpu_busy > 0.0), "{rows:?}");
        assert!(rows.iter().all(|row| row.cpu_busy <= 1.0), "{rows:?}");
    }

    #[test]
    fn a_trial_shorter_than_an_interval_has_one_row() {
        let rows = Monitor::start(Duration::from_secs(3600)).0.stop();
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].at_ns, 0);
    }
}
