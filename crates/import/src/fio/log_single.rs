//! A log of single I/Os: counted by second, and for latencies also by bucket.

use std::collections::BTreeMap;

use super::buckets;
use super::log_kind::LogKind;
use super::log_lines::Line;
use super::unit::Unit;
use crate::figure::Figure;
use crate::run::{Bucket, Direction, Interval, Latency, Run, Way};

/// Kinds of I/O by their number in a log.
pub(crate) const WAYS: [Way; 3] = [Way::Read, Way::Write, Way::Trim];

/// A 99th percentile of fewer I/Os is their longest one.
const ENOUGH_FOR_P99: usize = 100;
const MS: u64 = 1000;

/// Adds what these I/Os, in the order of time, were: kinds with their totals, and an interval for each second.
pub(crate) fn count(job: &[Line], kind: LogKind, origin_ms: u64, run: &mut Run) {
    let has_latency = matches!(kind, LogKind::Latency | LogKind::CompletionLatency);
    let second_of = |line: &Line| line.time_ms.saturating_sub(origin_ms) / MS;
    let (Some(first), Some(last)) = (job.first(), job.last()) else { return };
    run.load.request_bytes =
        job.iter().all(|line| line.bytes == first.bytes).then_some(first.bytes);

    let mut totals = [const { None::<Totals> }; WAYS.len()];
    for line in job {
        if let Some(total) = totals.get_mut(line.way()) {
            total.get_or_insert_default().add(line, has_latency);
        }
    }
    // A second without I/Os has no lines; it is shown unless the times are too far apart to be seconds of a run.
    let shows_empty = second_of(last) - second_of(first) <= job.len() as u64;
    let mut expected = second_of(first);
    for lines in job.chunk_by(|one, next| second_of(one) == second_of(next)) {
        let Some(line) = lines.first() else { continue };
        let second = second_of(line);
        while shows_empty && expected < second {
            for (way, _) in WAYS.iter().zip(&totals).filter(|(_, total)| total.is_some()) {
                run.intervals.push(interval(*way, expected, 1.0, &mut Vec::new(), 0, false));
            }
            expected += 1;
        }
        expected = second + 1;
        // The last second has ended with its last line.
        let length_s = match second == second_of(last) {
            true => ((last.time_ms.saturating_sub(origin_ms) % MS) + 1) as f64 / 1e3,
            false => 1.0,
        };
        for (number, way) in WAYS.into_iter().enumerate() {
            if !totals.get(number).is_some_and(Option::is_some) {
                continue;
            }
            let of_kind = || lines.iter().filter(|line| line.way() == number);
            let bytes = of_kind().map(|line| line.bytes).fold(0, u64::saturating_add);
            let mut values: Vec<u64> = of_kind().map(|line| line.value).collect();
            run.intervals.push(interval(way, second, length_s, &mut values, bytes, has_latency));
        }
    }
    let totals = WAYS.into_iter().zip(totals);
    run.directions = totals.filter_map(|(way, total)| Some(total?.direction(way))).collect();
}

fn interval(
    way: Way,
    second: u64,
    length_s: f64,
    values: &mut [u64],
    bytes: u64,
    has_latency: bool,
) -> Interval {
    let rate = |count: f64| Some(Figure::exact(count / length_s));
    let mut interval = Interval {
        start_s: second as f64,
        length_s,
        way: Some(way),
        iops: rate(values.len() as f64),
        bytes_per_s: rate(bytes as f64),
        ..Interval::default()
    };
    if has_latency && !values.is_empty() {
        let sum: f64 = values.iter().map(|value| *value as f64).sum();
        interval.latency_mean = Some(Figure::exact(sum / values.len() as f64));
        interval.latency_max = values.iter().max().map(|max| Figure::exact(*max as f64));
        if values.len() >= ENOUGH_FOR_P99 {
            let rank = (values.len() * 99).div_ceil(100) - 1;
            let (_, p99, _) = values.select_nth_unstable(rank);
            interval.latency_p99 = Some(Figure::exact(*p99 as f64));
        }
    }
    interval
}

/// The totals of a kind of I/O.
#[derive(Debug, Default)]
struct Totals {
    count: u64,
    bytes: u64,
    min: Option<u64>,
    max: Option<u64>,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    buckets: BTreeMap<usize, u64>,
}

impl Totals {
    fn add(&mut self, line: &Line, has_latency: bool) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(line.bytes);
        if !has_latency {
            return;
        }
        self.min = Some(self.min.map_or(line.value, |min| min.min(line.value)));
        self.max = self.max.max(Some(line.value));
        // Welford's method: stable for long logs.
        let deviation = line.value as f64 - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (line.value as f64 - self.mean);
        *self.buckets.entry(buckets::of(line.value, Unit::Nanoseconds)).or_default() += 1;
    }

    fn direction(self, way: Way) -> Direction {
        let mut direction = Direction::new(way);
        direction.operations = Some(Figure::exact(self.count as f64));
        direction.bytes = Some(Figure::exact(self.bytes as f64));
        if self.max.is_none() {
            return direction;
        }
        // fio divides by one less as well.
        let sd = (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt());
        let bucket = |(index, count)| {
            let (low, next) = buckets::edges(index, Unit::Nanoseconds);
            let high_ns = next.map_or(f64::INFINITY, |next| next as f64);
            Bucket { low_ns: low as f64, high_ns, count }
        };
        direction.latency = Latency {
            mean: Some(Figure::exact(self.mean)),
            sd: sd.map(Figure::exact),
            min: self.min.map(|min| Figure::exact(min as f64)),
            max: self.max.map(|max| Figure::exact(max as f64)),
            histogram: self.buckets.into_iter().map(bucket).collect(),
            ..Latency::default()
        };
        direction
    }
}
