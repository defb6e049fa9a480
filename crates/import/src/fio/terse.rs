//! fio's terse lines (`--output-format=terse`), versions 3 to 5: a line for each job or group, fields by `;`.
//!
//! A line has the same block of fields for each kind of I/O; then come CPU shares, which are the first two
//! neighbours with `%`. Latencies are microseconds in all versions: cut from nanoseconds since fio 2.99.

use super::buckets;
use super::notes::Notes;
use super::section::{cut, runtime};
use super::unit::Unit;
use super::version::Version;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::run::{Direction, Imported, Latency, Percentile, Run, Way};
use crate::series::Series;

/// The name of the format.
pub(crate) const NAME: &str = "fio terse output";

/// Fields before the first block: version of the form, of fio, name, group, error.
const HEAD: usize = 5;
/// Within a block: where total and completion latencies start, each as minimum, maximum, mean and deviation.
const COMPLETION: usize = 8;
const PERCENTILES: std::ops::Range<usize> = 12..32;
const TOTAL: usize = 32;
/// No field behind these is looked at: four blocks of the longest form, and what tells where they end.
const LOOKED_AT: usize = HEAD + 4 * 47 + 6;

/// Whether it is this format.
pub(crate) fn is(text: &str) -> bool {
    text.lines().any(is_line)
}

fn is_line(line: &str) -> bool {
    let mut fields = line.trim_start_matches('\u{feff}').splitn(3, ';');
    matches!(fields.next(), Some("3" | "4" | "5"))
        && fields.next().is_some_and(|version| version.starts_with("fio-"))
}

/// Reads all lines of a file.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut notes = Notes::default();
    let mut imported = Imported {
        tool: "fio".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    let last = text.lines().count();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line_number = index + 1;
        if !is_line(line) {
            notes.add(format!("line {line_number} is no terse line"));
            continue;
        }
        let row = Row::new(line, line_number);
        let Some(kinds) = row.kinds() else {
            return Err(match line_number == last && !text.ends_with('\n') {
                true => ImportError::Truncated { format: NAME, line: line_number },
                false => ImportError::Malformed {
                    format: NAME,
                    line: line_number,
                    column: 1,
                    what: format!("{} fields are none of a terse line", line.split(';').count()),
                },
            });
        };
        imported.version.get_or_insert_with(|| row.text(1).to_owned());
        imported.runs.push(row.run(kinds, &mut notes)?);
    }
    if !imported.runs.is_empty() {
        notes.add("options and counts of I/Os are not in terse output");
    }
    imported.left_out = notes.into_sentences();
    Ok(imported)
}

/// A line.
struct Row<'a> {
    fields: Vec<&'a str>,
    line: usize,
}

impl<'a> Row<'a> {
    fn new(line: &'a str, number: usize) -> Self {
        let line = line.trim_start_matches('\u{feff}').trim_end();
        Self { fields: line.split(';').take(LOOKED_AT).collect(), line: number }
    }

    fn text(&self, index: usize) -> &'a str {
        self.fields.get(index).copied().unwrap_or_default()
    }

    /// Fields of a block.
    fn block(&self) -> usize {
        if self.text(0) == "5" { 47 } else { 41 }
    }

    /// What its blocks are; `None` if the fields after them are not where they have to be.
    fn kinds(&self) -> Option<&'static [Way]> {
        use Way::{Both, Read, Trim, Write};
        let is_share = |index: usize| self.text(index).ends_with('%');
        let blocks = (1..=4).find(|blocks| {
            let end = HEAD + blocks * self.block();
            // CPU shares, three counts, and depths.
            is_share(end) && is_share(end + 1) && !is_share(end + 2) && is_share(end + 5)
        })?;
        Some(match (blocks, self.text(0)) {
            (1, _) => &[Both],
            (2, _) => &[Read, Write],
            (3, "3") => &[Read, Write, Both],
            (3, _) => &[Read, Write, Trim],
            _ => &[Read, Write, Trim, Both],
        })
    }

    fn run(&self, kinds: &[Way], notes: &mut Notes) -> Result<Run, ImportError> {
        let mut run = Run {
            name: self.text(2).to_owned(),
            place: format!("line {}", self.line),
            ..Run::default()
        };
        let error = self.count(4)?;
        if error != 0 {
            notes.add(format!("line {} ended with error {error}", self.line));
        }
        run.errors = Some(u64::from(error != 0));
        for (index, way) in kinds.iter().enumerate() {
            run.directions.extend(self.direction(*way, HEAD + index * self.block(), notes)?);
        }
        run.window_s = run
            .directions
            .iter()
            .filter_map(|direction| direction.runtime_s)
            .max_by(|one, other| one.value.total_cmp(&other.value));
        for direction in &mut run.directions {
            if direction.runtime_s == run.window_s {
                direction.runtime_s = None;
            }
        }
        Ok(run)
    }

    fn direction(
        &self,
        way: Way,
        at: usize,
        notes: &mut Notes,
    ) -> Result<Option<Direction>, ImportError> {
        let (kib, ms) = (self.count(at)?, self.count(at + 3)?);
        if kib == 0 && ms == 0 {
            return Ok(None);
        }
        let mut direction = Direction::new(way);
        direction.bytes = Some(cut(kib, 1024.0));
        if ms > 0 {
            direction.bytes_per_s = Some(cut(self.count(at + 1)?, 1024.0));
            direction.iops = Some(cut(self.count(at + 2)?, 1.0));
            direction.runtime_s = Some(runtime(ms));
        }
        let total = self.latency(at + TOTAL)?;
        let completion = self.latency(at + COMPLETION)?;
        let percentiles = self.percentiles(at)?;
        if total.is_some() && !percentiles.is_empty() {
            notes.add(
                "whether percentiles are of completion (clat) or total latencies (lat): the other latencies are \
                 total ones",
            );
        }
        direction.latency = total.or(completion).unwrap_or_default();
        direction.latency.percentiles = percentiles.into_iter().collect();
        Ok(Some(direction))
    }

    /// Four fields from here; `None` if this clock measured nothing.
    fn latency(&self, at: usize) -> Result<Option<Latency>, ImportError> {
        let (min, max) = (self.count(at)?, self.count(at + 1)?);
        let (mean, sd) = (self.amount(at + 2)?, self.amount(at + 3)?);
        if max == 0 && mean == 0.0 {
            return Ok(None);
        }
        let whole = |us: u64| Some(self.whole(us, 0.0));
        let fraction = |us: f64| {
            Some(match self.is_cut() {
                true => Figure { value: us, half: 5e-7 }.times(1e3),
                false => Unit::Microseconds.figure(us, 5e-7),
            })
        };
        Ok(Some(Latency {
            mean: fraction(mean),
            sd: fraction(sd),
            min: whole(min),
            max: whole(max),
            ..Latency::default()
        }))
    }

    fn percentiles(&self, at: usize) -> Result<Vec<Percentile>, ImportError> {
        let mut percentiles = Vec::new();
        for index in PERCENTILES.map(|index| at + index) {
            let pair = self.text(index).split_once("%=");
            let pair =
                pair.and_then(|(share, us)| Some((share.parse::<f64>().ok()?, us.parse().ok()?)));
            let Some((percent, us)) = pair.filter(|(percent, _)| (0.0..=100.0).contains(percent))
            else {
                return Err(self.wrong(index, "expected a percentile such as 99.0%=25"));
            };
            if percent == 0.0 {
                continue;
            }
            // The middle of a bucket of nanoseconds, cut; or of microseconds.
            let half = match self.is_cut() {
                true => u64::checked_mul(us, 1000)
                    .and_then(|ns| buckets::half_width(ns, Unit::Nanoseconds))
                    .map(|half| half / 1e3),
                false => buckets::half_width(us, Unit::Microseconds),
            };
            if let Some(half) = half {
                percentiles.push(Percentile { share: percent / 100.0, ns: self.whole(us, half) });
            }
        }
        percentiles.sort_by(|one, other| one.share.total_cmp(&other.share));
        percentiles.dedup_by(|one, other| one.share == other.share);
        Ok(percentiles)
    }

    /// Whole microseconds, to which something else has added an error.
    fn whole(&self, us: u64, half: f64) -> Figure {
        match self.is_cut() {
            true => {
                let Figure { value, half: of_cut } = cut(us, 1e3);
                Figure { value, half: of_cut + half * 1e3 }
            }
            false => Unit::Microseconds.figure(us as f64, half),
        }
    }

    /// Whether microseconds are cut from nanoseconds.
    fn is_cut(&self) -> bool {
        Version::has_nanoseconds(Version::read(self.text(1)))
    }

    fn count(&self, index: usize) -> Result<u64, ImportError> {
        self.text(index).parse().map_err(|_| self.wrong(index, "expected a count"))
    }

    fn amount(&self, index: usize) -> Result<f64, ImportError> {
        let amount = self.text(index).parse().ok();
        amount
            .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
            .ok_or_else(|| self.wrong(index, "expected a number that is not negative"))
    }

    fn wrong(&self, index: usize, what: &str) -> ImportError {
        ImportError::Wrong {
            format: NAME,
            path: format!("line {}, field {}", self.line, index + 1),
            what: format!(
                "{what}, found {:?}",
                self.text(index).chars().take(40).collect::<String>()
            ),
        }
    }
}
