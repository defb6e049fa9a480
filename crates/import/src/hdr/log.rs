//! HdrHistogram's log of intervals.

use std::collections::{BTreeMap, HashMap};

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, quoted, remark};
use crate::room::Room;
use crate::run::{Bucket, Direction, Imported, Interval, Run, Way};
use crate::series::Series;
use crate::units::MS;

use super::encoded::{Budget, Slot, decode};
use super::name::NAME;

/// Whether the text is a log.
pub(super) fn is(text: &str) -> bool {
    text.contains("#[Histogram log format version")
        || text.contains("\"Interval_Compressed_Histogram\"")
}

/// Reads the log: a run per tag.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut runs: Vec<Box<Tagged>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut clock = Clock::default();
    let mut budget = Budget::of(text.len());
    let mut room = Room::of(text);
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
        let entry = Entry::of(&line, fields)?;
        let at = match known.get(tag) {
            Some(at) => *at,
            None => {
                room.take(TAG_BYTES + tag.len()).map_err(|what| line.error(trimmed, what))?;
                runs.push(Box::new(Tagged::new(tag, line.number, clock.absolute(entry.start_s))));
                known.insert(tag, runs.len() - 1);
                runs.len() - 1
            }
        };
        if let Some(run) = runs.get_mut(at) {
            let since = clock.absolute(entry.start_s) - run.began_s;
            run.add(&line, &entry, since, &mut budget, &mut room)?;
        }
    }
    // All have to agree, for one log has one unit.
    drop(known);
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
struct Entry<'a> {
    start_s: f64,
    length: Figure,
    max: Figure,
    encoded: &'a str,
}

impl<'a> Entry<'a> {
    fn of(line: &Line<'a>, fields: &'a str) -> Result<Self, ImportError> {
        let mut fields = fields.splitn(4, ',');
        let (Some(start), Some(length), Some(max), Some(encoded)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(line.error(line.text, "an interval has four fields"));
        };
        Ok(Self {
            start_s: line.figure(start)?.value,
            length: line.figure(length)?,
            max: line.figure(max)?,
            encoded: encoded.trim(),
        })
    }

    /// Whether the longest value is stated in millionths.
    fn in_millionths(&self, last: Option<Slot>) -> bool {
        let Some(last) = last else { return true };
        let (low, high) = self.max.times(1e6).bounds();
        low <= last.low as f64 + last.width as f64 && high >= last.low as f64
    }

    /// The 99th percentile of this many values.
    fn p99(&self, count: u64, budget: &mut Budget) -> Result<Option<Figure>, String> {
        let rank = count - count / 100;
        let (mut sum, mut found) = (0, None);
        decode(self.encoded, budget, |slot| {
            sum += slot.count;
            if sum >= rank && found.is_none() {
                let half = slot.width as f64 / 2.0;
                found = Some(Figure { value: slot.low as f64 + half, half });
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Memory of a tag: its run, its first values, and its place in the lists.
const TAG_BYTES: usize = 1024;
/// Memory of a value in a sum: a tree's nodes are half full at the least.
const SLOT_BYTES: usize = 2 * size_of::<(u64, (u64, u64))>();

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

    /// Adds an interval. Its histogram is decoded twice, for the 99th percentile needs the count.
    fn add(
        &mut self,
        line: &Line<'_>,
        entry: &Entry<'_>,
        start_s: f64,
        budget: &mut Budget,
        room: &mut Room,
    ) -> Result<(), ImportError> {
        let wrong = |what: String| line.error(entry.encoded, what);
        let (mut count, mut last) = (0u64, None);
        decode(entry.encoded, budget, |slot| {
            count = count.checked_add(slot.count).ok_or("more values than can be counted")?;
            last = Some(slot);
            self.sum(slot, room)
        })
        .map_err(wrong)?;
        let length_s = entry.length.value;
        let mut interval =
            Interval { start_s, length_s, way: Some(Way::Both), ..Interval::default() };
        if length_s > entry.length.half {
            let half = count as f64 * entry.length.half / (length_s * length_s);
            interval.iops = Some(Figure { value: count as f64 / length_s, half });
        }
        if count > 0 {
            interval.latency_max = Some(entry.max.times(MS));
            interval.latency_p99 = entry.p99(count, budget).map_err(wrong)?;
        }
        self.nanoseconds &= entry.in_millionths(last);
        self.count = self.count.checked_add(count).ok_or_else(|| {
            line.error(
                line.text,
                format!("{} has more values than can be counted", quoted(&self.run.name)),
            )
        })?;
        self.run.intervals.push(interval);
        Ok(())
    }

    fn sum(&mut self, slot: Slot, room: &mut Room) -> Result<(), String> {
        let known = self.sum.len();
        let (width, count) = self.sum.entry(slot.low).or_insert((slot.width, 0));
        self.mixed |= *width != slot.width;
        *count = count.saturating_add(slot.count);
        if self.sum.len() > known {
            room.take(SLOT_BYTES)?;
        }
        Ok(())
    }

    fn run(mut self, nanoseconds: bool) -> Run {
        let mut direction = Direction::new(Way::Both);
        direction.operations = Some(Figure::exact(self.count as f64));
        if !nanoseconds {
            let intervals = std::mem::take(&mut self.run.intervals);
            let without =
                |interval: Interval| Interval { latency_max: None, latency_p99: None, ..interval };
            self.run.intervals = intervals.iter().map(without).collect();
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
                direction.latency.histogram = Series::default();
            }
        }
        self.run.directions.push(direction);
        self.run
    }
}
