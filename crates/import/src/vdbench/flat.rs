//! vdbench's `flatfile.html`: named columns, a line per interval, and one for the whole run, usually
//! without its first interval. Intervals that it leaves out are the ramp.

use std::collections::HashMap;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, quoted, truncated};
use crate::run::{Direction, Imported, Interval, Load, Pattern, Run, Way};
use crate::series::Series;
use crate::units::{MIB, MS, share};

use super::name::NAME;

/// Rates that stand for `max` and `curve`, in older and later versions.
const NO_RATES: [f64; 4] = [999_988.0, 9_999_988.0, 999_977.0, 9_999_977.0];

/// No version has half as many.
const MOST_COLUMNS: usize = 512;

/// Reads the file.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut columns: Option<HashMap<&str, usize>> = None;
    let mut intervals = Rows::default();
    let mut last = 1;
    for line in lines(NAME, text) {
        last = line.number;
        let mut words = line.words();
        match words.next() {
            Some("tod") => {
                if line.words().count() > MOST_COLUMNS {
                    return Err(line.error(line.text, "more columns than vdbench has"));
                }
                columns = Some(line.words().enumerate().map(|(at, name)| (name, at)).collect());
                continue;
            }
            Some(word) if word.starts_with(|first: char| first.is_ascii_digit()) => {}
            _ => continue,
        }
        let Some(columns) = &columns else {
            return Err(line.error(line.text, "no headings of columns before this line"));
        };
        let count = line.words().count();
        if count != columns.len() {
            let what = format!("{count} fields below {} headings", columns.len());
            return Err(line.error(line.text.trim_start(), what));
        }
        let row = Row { line: &line, fields: line.words().collect(), columns };
        let clock = row.clock()?;
        match row.field("Interval") {
            Some(number) if number.starts_with("avg_") => {
                let first = first_of(number).ok_or_else(|| {
                    line.error(number, format!("{} is not avg_2-9", quoted(number)))
                })?;
                let mut run = row.run()?;
                let (length_s, placed) = placed(&intervals, first);
                run.load.ramp_s = length_s.map(|length_s| length_s * (first - 1) as f64);
                run.intervals = placed;
                intervals = Rows::default();
                if imported.version.is_none() {
                    imported.version = row.field("version").map(str::to_string);
                }
                imported.runs.push(run);
            }
            Some(number) => {
                let number = line.whole(number)?;
                intervals.push(number, clock, row.interval()?);
            }
            None => return Err(line.error(line.text, "no column Interval")),
        }
    }
    if intervals.ends.is_some() || imported.runs.is_empty() {
        return Err(if text.ends_with('\n') {
            ImportError::Truncated { format: NAME, line: last }
        } else {
            truncated(NAME, text)
        });
    }
    Ok(())
}

/// Milliseconds of the day.
#[derive(Debug, Clone, Copy)]
struct Clock(u64);

/// Intervals with their numbers, without their places in time: a number stands where the start will.
#[derive(Default)]
struct Rows {
    rows: Series<Interval>,
    /// Of the first one and the last.
    ends: Option<(Clock, Clock)>,
}

impl Rows {
    fn push(&mut self, number: u64, clock: Clock, interval: Interval) {
        self.ends = Some((self.ends.map_or(clock, |(first, _)| first), clock));
        self.rows.push(Interval { start_s: number as f64, ..interval });
    }
}

/// The first interval that an average has: 2 of `avg_2-9`.
fn first_of(text: &str) -> Option<u64> {
    let (first, _) = text.strip_prefix("avg_")?.split_once('-')?;
    first.parse().ok().filter(|&first| first > 0)
}

/// The intervals of the average with their times, and how long each is. The file has no lengths of intervals, which are
/// whole seconds and the same: they are what is between their ends.
fn placed(rows: &Rows, first: u64) -> (Option<f64>, Series<Interval>) {
    const DAY_MS: u64 = 86_400_000;
    let Some((begin, end)) = rows.ends else { return (None, Series::default()) };
    let between = (end.0 + DAY_MS).saturating_sub(begin.0) % DAY_MS;
    let count = rows.rows.len() as f64 - 1.0;
    let length_s = (between as f64 / 1000.0 / count).round();
    // One alone, or more than a day: nothing says when.
    if !length_s.is_finite() || length_s < 1.0 {
        return (None, Series::default());
    }
    let kept = rows.rows.iter().filter(|row| row.start_s >= first as f64).enumerate();
    let intervals =
        kept.map(|(at, row)| Interval { start_s: at as f64 * length_s, length_s, ..row }).collect();
    (Some(length_s), intervals)
}

/// A line of numbers.
struct Row<'a> {
    line: &'a Line<'a>,
    fields: Vec<&'a str>,
    columns: &'a HashMap<&'a str, usize>,
}

impl Row<'_> {
    /// The text below this heading; `n/a` and `NaN` are none.
    fn field(&self, name: &str) -> Option<&str> {
        let field = *self.fields.get(*self.columns.get(name)?)?;
        (field != "n/a" && field != "NaN").then_some(field)
    }

    fn figure(&self, name: &str) -> Result<Option<Figure>, ImportError> {
        self.field(name).map(|field| self.line.figure(field)).transpose()
    }

    fn times(&self, name: &str, factor: f64) -> Result<Option<Figure>, ImportError> {
        Ok(self.figure(name)?.map(|figure| figure.times(factor)))
    }

    fn value(&self, name: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.figure(name)?.map(|figure| figure.value))
    }

    /// A percentage as a share.
    fn share(&self, name: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.value(name)?.filter(|&percent| percent <= 100.0).map(share))
    }

    fn clock(&self) -> Result<Clock, ImportError> {
        let word = self.fields.first().copied().unwrap_or_default();
        let parts: Option<Vec<f64>> = word.splitn(3, ':').map(|part| part.parse().ok()).collect();
        match parts.as_deref() {
            Some(&[hours, minutes, seconds])
                if hours < 24.0 && minutes < 60.0 && (0.0..62.0).contains(&seconds) =>
            {
                Ok(Clock(((hours * 60.0 + minutes) * 60_000.0 + seconds * 1000.0).max(0.0) as u64))
            }
            _ => Err(self.line.error(word, format!("{} is not a time of day", quoted(word)))),
        }
    }

    fn interval(&self) -> Result<Interval, ImportError> {
        Ok(Interval {
            way: Some(Way::Both),
            iops: if self.of_files() { None } else { self.figure("rate")? },
            bytes_per_s: self.times("MB/sec", MIB)?,
            latency_mean: if self.of_files() { None } else { self.times("resp", MS)? },
            latency_max: self.times("resp_max", MS)?,
            ..Interval::default()
        })
    }

    /// Whether operations are those of a file system, of which reads and writes are only a part.
    fn of_files(&self) -> bool {
        self.columns.contains_key("Read_rate")
    }

    fn run(&self) -> Result<Run, ImportError> {
        let mut both = Direction::new(Way::Both);
        let mut read = Direction::new(Way::Read);
        let mut write = Direction::new(Way::Write);
        both.bytes_per_s = self.times("MB/sec", MIB)?;
        if self.of_files() {
            read.iops = self.figure("Read_rate")?;
            read.bytes_per_s = self.times("MB_read", MIB)?;
            read.latency.mean = self.times("Read_resp", MS)?;
            write.iops = self.figure("Write_rate")?;
            write.bytes_per_s = self.times("MB_write", MIB)?;
            write.latency.mean = self.times("Write_resp", MS)?;
        } else {
            both.iops = self.figure("rate")?;
            both.latency.mean = self.times("resp", MS)?;
            both.latency.max = self.times("resp_max", MS)?;
            both.latency.sd = self.times("resp_std", MS)?;
            read.latency.mean = self.times("read_resp", MS)?;
            write.latency.mean = self.times("write_resp", MS)?;
        }
        // What was not done has zeros.
        let done = |direction: &Direction| {
            let any = |figure: Option<Figure>| figure.is_some_and(|figure| figure.value > 0.0);
            any(direction.iops) || any(direction.latency.mean)
        };
        let mut directions = vec![both];
        directions.extend([read, write].into_iter().filter(done));
        Ok(Run {
            name: self.field("Run").unwrap_or_default().to_string(),
            place: format!("line {}", self.line.number),
            load: self.load()?,
            directions,
            outstanding_mean: self.figure("queue_depth")?,
            cpu_busy: self.times("cpu_used", 0.01)?,
            ..Run::default()
        })
    }

    fn load(&self) -> Result<Load, ImportError> {
        let pattern = match self.field("seekpct") {
            // Sequential up to the end of the file.
            Some(text) if text.starts_with('-') => Some(Pattern::Sequential),
            _ => self.share("seekpct")?.map(|random| match random {
                0.0 => Pattern::Sequential,
                1.0 => Pattern::Random,
                random => Pattern::Mixed(random),
            }),
        };
        let rate = self.value("reqrate")?;
        let gigabytes = self.value("lunsize")?.filter(|&size| size > 0.0);
        Ok(Load {
            request_bytes: self
                .value("xfersize")?
                .filter(|&bytes| bytes > 0.0)
                .map(|bytes| bytes as u64),
            read_share: self.share("rdpct")?,
            pattern,
            rate_per_s: rate.filter(|rate| *rate > 0.0 && !NO_RATES.contains(rate)),
            working_set_bytes: gigabytes.map(|size| (size * MIB * 1024.0) as u64),
            ..Load::default()
        })
    }
}
