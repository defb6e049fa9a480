//! fio's logs as values over time.
//!
//! A line is a window (`log_avg_msec`) or a single I/O; of a window, the size is 0. Windows become intervals as they
//! are. Single I/Os are counted by second, because the values that fio logs for them are no rates: the rate of one
//! I/O, and always 1. A log of several jobs (`per_job_logs=0`) has one after another, so that time goes back.

use super::log_kind::LogKind;
use super::log_lines::{self, Line};
use super::log_single::{self, WAYS};
use super::notes::Notes;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::run::{Imported, Interval, Run};
use crate::series::Series;

/// The name of the format.
pub(crate) const NAME: &str = "fio log";

/// Lines of threads may be a little out of order; more than this is the next job.
const DISORDER_MS: u64 = 1000;
/// More jobs than this in one log are no jobs.
const MOST_JOBS: usize = 4096;
/// Later times are since 1970 (`log_unix_epoch`), not since the start of a job.
const SINCE_1970_MS: u64 = 1_000_000_000_000;

/// Whether it is a log, by its layout.
pub(crate) fn is(text: &str) -> bool {
    log_lines::is(text)
}

/// Reads a log of this kind.
pub(crate) fn read(text: &str, kind: LogKind) -> Result<Imported, ImportError> {
    let mut lines = log_lines::read(NAME, text)?;
    let mut notes = Notes::default();
    let mut runs: Series<Run> = Series::default();
    let several = jobs(&mut lines).nth(1).is_some();
    for job in jobs(&mut lines) {
        if runs.len() == MOST_JOBS {
            return Err(ImportError::Malformed {
                format: NAME,
                line: job.first().map_or(1, |line| line.number as usize),
                column: 1,
                what: format!("time goes back for the {MOST_JOBS}th time"),
            });
        }
        let mut run = run(job, kind, &mut notes);
        if several {
            run.name = format!("{}, job {}", run.name, runs.len() + 1);
        }
        runs.push(run);
    }
    Ok(Imported { tool: "fio".into(), version: None, runs, left_out: notes.into_sentences() })
}

/// Lines by job, each in the order of time.
#[allow(clippy::manual_inspect, reason = "what is inspected cannot be changed")]
fn jobs(lines: &mut [Line]) -> impl Iterator<Item = &mut [Line]> {
    let mut latest = 0u64;
    lines
        .chunk_by_mut(move |line, next| {
            latest = latest.max(line.time_ms);
            let goes_on = next.time_ms.saturating_add(DISORDER_MS.min(latest / 4)) >= latest;
            latest = if goes_on { latest.max(next.time_ms) } else { next.time_ms };
            goes_on
        })
        .map(|job| {
            job.sort_unstable_by_key(|line| (line.time_ms, line.number));
            job
        })
}

fn run(job: &mut [Line], kind: LogKind, notes: &mut Notes) -> Run {
    let mut run = Run { name: format!("{} log", kind.name()), ..Run::default() };
    let Some(first) = job.first().copied() else { return run };
    run.place =
        format!("line {}", job.iter().map(|line| line.number).min().unwrap_or(first.number));
    match kind {
        LogKind::Latency | LogKind::CompletionLatency => notes.add(
            "the unit of latencies: taken as nanoseconds, though fio before 2.99 wrote microseconds",
        ),
        LogKind::SubmissionLatency => notes.add("submission latencies (slat)"),
        LogKind::Bandwidth | LogKind::Iops => {}
    }
    let origin_ms;
    if job.iter().all(|line| line.bytes == 0) {
        origin_ms = windows(job, kind, &mut run, notes);
    } else {
        // A job that warmed up, and one of the time of day, start with their first line.
        origin_ms = if first.time_ms < 1000 { 0 } else { first.time_ms };
        log_single::count(job, kind, origin_ms, &mut run);
        if matches!(kind, LogKind::Bandwidth | LogKind::Iops) {
            notes.add("values of single I/Os, which are no rates: rates are counted by second");
        }
    }
    if first.time_ms >= SINCE_1970_MS {
        run.began_s = Some(origin_ms as f64 / 1e3);
    }
    run
}

/// Adds windows as intervals and returns where their time starts. A line stands at the end of its window.
fn windows(job: &mut [Line], kind: LogKind, run: &mut Run, notes: &mut Notes) -> u64 {
    notes.add(
        "whether values are means or largest ones of their windows (log_window_value): taken as means",
    );
    let mut ends = [None::<u64>; WAYS.len()];
    let origin_ms = origin(job);
    // Of a window the size is 0, and its place takes the start: a second list would be as long as this one.
    for line in job.iter_mut() {
        let Some(end) = ends.get_mut(line.way()) else { continue };
        line.bytes = end.replace(line.time_ms).unwrap_or(origin_ms);
        if line.bytes >= line.time_ms {
            notes.add(format!("line {}: its window has no length", line.number));
        }
    }
    job.sort_unstable_by_key(|line| (line.bytes, line.time_ms, line.number));
    for line in job.iter().filter(|line| line.bytes < line.time_ms) {
        let start_ms = line.bytes;
        // The mean is rounded; rates have been cut to whole ones before.
        let value =
            |half: f64, unit: f64| Some(Figure { value: line.value as f64, half }.times(unit));
        let mut interval = Interval {
            start_s: (start_ms - origin_ms) as f64 / 1e3,
            length_s: (line.time_ms - start_ms) as f64 / 1e3,
            way: WAYS.get(line.way()).copied(),
            ..Interval::default()
        };
        match kind {
            LogKind::Latency | LogKind::CompletionLatency => {
                interval.latency_mean = value(0.5, 1.0);
                interval.latency_max = line.max.map(|max| Figure::exact(max.get() as f64));
            }
            LogKind::SubmissionLatency => continue,
            LogKind::Bandwidth => interval.bytes_per_s = value(1.5, 1024.0),
            LogKind::Iops => interval.iops = value(1.5, 1.0),
        }
        run.intervals.push(interval);
    }
    origin_ms
}

/// Where the first window starts: one window before its line, if that is later than 0.
fn origin(job: &[Line]) -> u64 {
    let Some(first) = job.first() else { return 0 };
    let second = job.iter().find(|line| line.kind == first.kind && line.time_ms > first.time_ms);
    match second {
        Some(second) => first.time_ms.saturating_sub(second.time_ms - first.time_ms),
        None if first.time_ms >= SINCE_1970_MS => first.time_ms,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Way;

    #[test]
    fn windows_end_at_their_lines() {
        let text = "500, 302, 0, 0, 0\n1000, 300, 0, 0, 0\n1500, 299, 1, 0, 0\n1501, 7, 0, 0, 0\n";
        let imported = read(text, LogKind::Iops).unwrap();
        let run = &imported.runs.get(0).unwrap();
        let spans: Vec<_> = run
            .intervals
            .iter()
            .map(|one| (one.start_s, one.length_s, one.way, one.iops.map(|iops| iops.value)))
            .collect();
        assert_eq!(
            spans,
            [
                (0.0, 0.5, Some(Way::Read), Some(302.0)),
                (0.0, 1.5, Some(Way::Write), Some(299.0)),
                (0.5, 0.5, Some(Way::Read), Some(300.0)),
                (1.0, 0.501, Some(Way::Read), Some(7.0)),
            ]
        );
    }

    #[test]
    fn time_that_goes_back_is_the_next_job() {
        let text = "1000, 5, 0, 0\n2000, 6, 0, 0\n1990, 6, 1, 0\n1000, 7, 0, 0\n2000, 8, 0, 0\n";
        let imported = read(text, LogKind::Bandwidth).unwrap();
        let jobs: Vec<_> =
            imported.runs.iter().map(|run| (run.place, run.intervals.len())).collect();
        assert_eq!(jobs, [("line 1".to_owned(), 3), ("line 4".to_owned(), 2)]);
        let rate = imported.runs.get(0).unwrap().intervals.get(0).unwrap().bytes_per_s;
        assert_eq!(rate, Some(Figure { value: 5120.0, half: 1536.0 }));
    }

    #[test]
    fn the_time_of_day_is_where_the_run_began() {
        let text = "1700000001000, 5, 0, 0\n1700000002000, 6, 0, 0\n";
        let imported = read(text, LogKind::Latency).unwrap();
        assert_eq!(imported.runs.get(0).unwrap().began_s, Some(1.7e9));
        assert_eq!(imported.runs.get(0).unwrap().intervals.get(1).unwrap().start_s, 1.0);
    }

    #[test]
    fn single_operations_are_counted_by_second() {
        let text = "0, 1000, 0, 4096\n500, 3000, 0, 4096\n2499, 2000, 0, 4096\n";
        let imported = read(text, LogKind::CompletionLatency).unwrap();
        let run = &imported.runs.get(0).unwrap();
        let rates: Vec<_> = run
            .intervals
            .iter()
            .map(|one| {
                (one.length_s, one.iops.unwrap().value, one.latency_mean.map(|mean| mean.value))
            })
            .collect();
        assert_eq!(rates, [(1.0, 2.0, Some(2000.0)), (1.0, 0.0, None), (0.5, 2.0, Some(2000.0))]);
        let read = &run.directions[0];
        assert_eq!(read.operations, Some(Figure::exact(3.0)));
        assert_eq!(read.latency.sd, Some(Figure::exact(1000.0)));
        assert_eq!(read.latency.histogram.iter().map(|bucket| bucket.count).sum::<u64>(), 3);
        assert_eq!(run.load.request_bytes, Some(4096));
    }
}
