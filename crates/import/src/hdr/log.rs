//! HdrHistogram's log of intervals.

use std::collections::{BTreeMap, HashMap};

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, quoted, remark};
use crate::run::{Bucket, Direction, Imported, Interval, Run, Way};
use crate::units::MS;

use super::encoded::{Budget, Slot, TOO_MANY, decode};
use super::name::NAME;

/// Whether the text is a log.
pub(super) fn is(text: &str) -> bool {
    text.contains("#[Histogram log format version")
        || text.contains("\"Interval_Compressed_Histogram\"")
}

/// Reads the log: a run per tag.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut runs: Vec<Tagged> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut clock = Clock::default();
    let mut budget = Budget::of(text.len());
    let mut different = 0;
    for line in lines(NAME, text) {
        let trimmed = line.text.trim();
        if trimmed.is_empty() || trimmed.starts_with('"') {
            continue;
        }
        if let Some(comment) = trimmed.strip_prefix('#') {
            clock.take(comment);
            continue;
        }
        let (tag, fields) = match trimmed.strip_prefix("Tag=") {
            Some(rest) => rest
                .split_once(',')
                .ok_or_else(|| line.error(trimmed, "a tag without an interval"))?,
            None => ("", trimmed),
        };
        let entry = Entry::of(&line, fields, &mut budget)?;
        let at = *known.entry(tag).or_insert_with(|| {
            runs.push(Tagged::new(tag, line.number, clock.absolute(entry.start_s)));
            runs.len() - 1
        });
        if let Some(run) = runs.get_mut(at) {
            let since = clock.absolute(entry.start_s) - run.began_s;
            different += run.add(&line, entry, since)?;
            if different > budget.slots {
                return Err(line.error(trimmed, TOO_MANY));
            }
        }
    }
    // All have to agree, for one log has one unit.
    let any = runs.iter().any(|run| run.count > 0);
    let nanoseconds = runs.iter().all(|run| run.nanoseconds);
    for run in runs {
        if run.mixed {
            remark(&mut imported.left_out, MIXED);
        }
        imported.runs.push(run.run(nanoseconds));
    }
    if any {
        let unit = if nanoseconds { ASSUMED } else { UNKNOWN };
        imported.left_out.push(unit.to_string());
    }
    Ok(())
}

const ASSUMED: &str = "The unit is not stated: values are read as nanoseconds, since the longest ones are stated in \
                       millionths, as HdrHistogram's own log writer does.";
const UNKNOWN: &str = "The latencies: no line says their unit.";
const MIXED: &str = "Histograms whose intervals have different resolutions.";

/// What the comments say about time.
#[derive(Debug, Default)]
struct Clock {
    start_s: f64,
    base_s: Option<f64>,
}

impl Clock {
    /// `[StartTime: 1441812279.474 (seconds since epoch), …]`.
    fn take(&mut self, comment: &str) {
        let seconds = |name: &str| {
            let rest = comment.trim_start_matches('[').strip_prefix(name)?;
            rest.split_whitespace().next()?.parse::<f64>().ok().filter(|value| value.is_finite())
        };
        if let Some(start_s) = seconds("StartTime:") {
            self.start_s = start_s;
        }
        self.base_s = seconds("BaseTime:").or(self.base_s);
    }

    /// A time since 1970, where the log has one. Times that are more than a year before the start are since it, as in
    /// HdrHistogram's own reader.
    fn absolute(&self, time_s: f64) -> f64 {
        const YEAR_S: f64 = 365.0 * 86_400.0;
        match self.base_s {
            Some(base_s) => base_s + time_s,
            None if time_s < self.start_s - YEAR_S => self.start_s + time_s,
            None => time_s,
        }
    }
}

/// An interval of the log.
struct Entry {
    start_s: f64,
    length: Figure,
    max: Figure,
    slots: Vec<Slot>,
}

impl Entry {
    fn of(line: &Line<'_>, fields: &str, budget: &mut Budget) -> Result<Self, ImportError> {
        let mut fields = fields.splitn(4, ',');
        let (Some(start), Some(length), Some(max), Some(encoded)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(line.error(line.text, "an interval has four fields"));
        };
        let slots = decode(encoded.trim(), budget).map_err(|what| line.error(encoded, what))?;
        Ok(Self {
            start_s: line.figure(start)?.value,
            length: line.figure(length)?,
            max: line.figure(max)?,
            slots,
        })
    }

    fn count(&self, line: &Line<'_>) -> Result<u64, ImportError> {
        let sum = self.slots.iter().try_fold(0u64, |sum, slot| sum.checked_add(slot.count));
        sum.ok_or_else(|| line.error(line.text, "more values than can be counted"))
    }

    /// Whether the longest value is stated in millionths.
    fn in_millionths(&self) -> bool {
        let Some(last) = self.slots.last() else { return true };
        let (low, high) = self.max.times(1e6).bounds();
        low <= last.low as f64 + last.width as f64 && high >= last.low as f64
    }

    /// The 99th percentile.
    fn p99(&self, count: u64) -> Option<Figure> {
        let rank = count - count / 100;
        let mut sum = 0;
        let slot = self.slots.iter().find(|slot| {
            sum += slot.count;
            sum >= rank
        })?;
        let half = slot.width as f64 / 2.0;
        Some(Figure { value: slot.low as f64 + half, half })
    }
}

/// The intervals of a tag.
struct Tagged {
    run: Run,
    began_s: f64,
    count: u64,
    /// By lowest value: width and count.
    sum: BTreeMap<u64, (u64, u64)>,
    mixed: bool,
    nanoseconds: bool,
}

impl Tagged {
    fn new(tag: &str, line: usize, began_s: f64) -> Self {
        // Times that begin at 0 say nothing about the date.
        let known = began_s > 1e8;
        Self {
            run: Run {
                name: tag.to_string(),
                place: format!("line {line}"),
                began_s: known.then_some(began_s),
                ..Run::default()
            },
            began_s,
            count: 0,
            sum: BTreeMap::new(),
            mixed: false,
            nanoseconds: true,
        }
    }

    /// Adds an interval; how many counts of other values than before it has.
    fn add(&mut self, line: &Line<'_>, entry: Entry, start_s: f64) -> Result<usize, ImportError> {
        let count = entry.count(line)?;
        let length_s = entry.length.value;
        let mut interval =
            Interval { start_s, length_s, way: Some(Way::Both), ..Interval::default() };
        if length_s > entry.length.half {
            let half = count as f64 * entry.length.half / (length_s * length_s);
            interval.iops = Some(Figure { value: count as f64 / length_s, half });
        }
        if count > 0 {
            interval.latency_max = Some(entry.max.times(MS));
            interval.latency_p99 = entry.p99(count);
        }
        self.nanoseconds &= entry.in_millionths();
        self.count = self.count.checked_add(count).ok_or_else(|| {
            line.error(
                line.text,
                format!("{} has more values than can be counted", quoted(&self.run.name)),
            )
        })?;
        let before = self.sum.len();
        for slot in entry.slots {
            let (width, count) = self.sum.entry(slot.low).or_insert((slot.width, 0));
            self.mixed |= *width != slot.width;
            *count += slot.count;
        }
        self.run.intervals.push(interval);
        Ok(self.sum.len() - before)
    }

    fn run(mut self, nanoseconds: bool) -> Run {
        let mut direction = Direction::new(Way::Both);
        direction.operations = Some(Figure::exact(self.count as f64));
        if !nanoseconds {
            for interval in &mut self.run.intervals {
                interval.latency_max = None;
                interval.latency_p99 = None;
            }
        } else if !self.mixed {
            let mut end = 0;
            let buckets = self.sum.into_iter().map(|(low, (width, count))| {
                let bucket =
                    Bucket { low_ns: low as f64, high_ns: low as f64 + width as f64, count };
                self.mixed |= low < end;
                end = low.saturating_add(width);
                bucket
            });
            direction.latency.histogram = buckets.collect();
            if self.mixed {
                direction.latency.histogram.clear();
            }
        }
        self.run.directions.push(direction);
        self.run
    }
}
