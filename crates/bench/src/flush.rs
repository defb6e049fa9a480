//! Checks the latencies of flushes against fio's, where both do the same: a log, each 4 KiB write of which waits for the
//! flush of the one before it, on a disk whose flushes have programmed times.

use crate::agreement::{disk, fio_on, microseconds};
use crate::arguments::Arguments;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::line::{Bound, Line};
use crate::ours::{self, Latency};
use crate::pairs::interleave;
use crate::timed_disk::schedule::{Service, Spread};

/// The default number of interleaved pairs.
const PAIRS: usize = 20;
/// Flushes far slower than the path and the writes between them, and percentiles that differ.
const LOG: Service =
    Service { servers: 1, mean_ns: 500_000, spread: Spread::Constant, flush_ns: 3_000_000 };
const RUN_MS: u64 = 5000;

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let (disk, drive) = disk(LOG)?;
    let drive = Drive { is_log: true, outstanding: 1, duration_ms: RUN_MS, ..drive };
    let fio = fio_on(&disk, &drive, drive.seed);
    let [p50, p99] = interleave(
        arguments.pairs_or(PAIRS),
        || ours::run(&drive, &[]).and_then(|(run, _)| figures("ours", run.flush)),
        || fio.run(&[]).and_then(|(run, _)| figures("fio", run.flush)),
    )?;
    let line = |figure: &str, paired| {
        let what = format!("log, a flush after each write: flush {figure}");
        Line::paired(what, paired, Bound::Within(0.05), microseconds)
    };
    Ok(vec![line("p50", &p50), line("p99", &p99)])
}

/// What is compared, if most flushes had the disk's times.
fn figures(whose: &str, flush: Latency) -> Result<[f64; 2], Failure> {
    // No flush that reaches the disk is answered sooner.
    let least_ns = LOG.flush_ns as f64 / 2.0;
    match flush.p50_ns >= least_ns {
        true => Ok([flush.p50_ns, flush.p99_ns]),
        false => Err(format!(
            "the flushes did not reach the timed disk: {whose} took {} at the median, and each takes at least {}",
            microseconds(flush.p50_ns),
            microseconds(least_ns)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_that_reached_no_disk_are_not_compared() {
        let flush = |p50_ns| Latency { mean_ns: p50_ns, p50_ns, p95_ns: 4e6, p99_ns: 4e6 };
        assert_eq!(figures("ours", flush(3e6)), Ok([3e6, 4e6]));
        for p50_ns in [2000.0, 1_400_000.0, f64::NAN] {
            assert!(figures("ours", flush(p50_ns)).is_err(), "{p50_ns}");
        }
    }
}
