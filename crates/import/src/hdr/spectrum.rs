//! HdrHistogram's list of percentiles, as text and as CSV.

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, truncated};
use crate::run::{Direction, Imported, Percentile, Run, Way};
use crate::units::MS;

use super::name::NAME;

/// Whether the text has such a list.
pub(super) fn is(text: &str) -> bool {
    text.contains("1/(1-Percentile)") && text.contains("TotalCount")
}

/// Reads the lists: a run per list.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut open: Option<List> = None;
    for line in lines(NAME, text) {
        let trimmed = line.text.trim();
        if trimmed.contains("1/(1-Percentile)") {
            if let Some(list) = open.take() {
                imported.runs.push(list.run(&line)?);
            }
            open = Some(List::new(line.number, trimmed.starts_with('"')));
            continue;
        }
        let Some(list) = &mut open else { continue };
        if let Some(comment) = trimmed.strip_prefix("#[") {
            list.comment(&line, comment)?;
            if comment.starts_with("Buckets") {
                imported.runs.extend(open.take().map(|list| list.run(&line)).transpose()?);
            }
        } else if trimmed.starts_with(|first: char| first.is_ascii_digit()) {
            list.row(&line, trimmed)?;
        }
    }
    if let Some(list) = open {
        // Only CSV has no lines behind the list.
        if !list.csv || !list.ended {
            return Err(truncated(NAME, text));
        }
        let last = Line { format: NAME, number: text.lines().count(), text: "" };
        imported.runs.push(list.run(&last)?);
    }
    imported.left_out.push(ASSUMED.to_string());
    Ok(())
}

const ASSUMED: &str = "The unit is not stated: values are read as milliseconds, in which such lists are \
                       usually printed.";

/// A list that is being read.
struct List {
    place: usize,
    csv: bool,
    /// Whether 100% was reached.
    ended: bool,
    count: Option<u64>,
    direction: Direction,
}

impl List {
    fn new(place: usize, csv: bool) -> Self {
        Self { place, csv, ended: false, count: None, direction: Direction::new(Way::Both) }
    }

    /// Value, percentile (a share, in spite of its name), count of values up to it, and a fourth that may be missing.
    fn row(&mut self, line: &Line<'_>, text: &str) -> Result<(), ImportError> {
        let separator = |end: char| end == ',' || end.is_whitespace();
        let mut fields = text.split(separator).filter(|field| !field.is_empty());
        let (Some(value), Some(share), Some(count)) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(line.error(text, "a percentile has at least three numbers"));
        };
        let ns = line.figure(value)?.times(MS);
        let percentile = line.figure(share)?.value;
        let count = line.whole(count)?;
        let latency = &mut self.direction.latency;
        let last = latency.percentiles.newest().map_or(0.0, |last| last.share);
        if percentile > 1.0 || percentile < last || self.count.is_some_and(|before| before > count)
        {
            return Err(line.error(share, "percentiles are shares up to 1, in ascending order"));
        }
        self.count = Some(count);
        if percentile == 0.0 {
            latency.min = Some(ns);
        } else if percentile == 1.0 {
            self.ended = true;
            latency.max = Some(ns);
        } else {
            latency.percentiles.push(Percentile { share: percentile, ns });
        }
        Ok(())
    }

    /// `Mean    =        1.234, StdDeviation   =        0.567]`.
    fn comment(&mut self, line: &Line<'_>, comment: &str) -> Result<(), ImportError> {
        for part in comment.trim_end_matches(']').split(',') {
            let Some((name, value)) = part.split_once('=') else { continue };
            let figure: fn(Figure) -> Figure = |figure| figure.times(MS);
            let latency = &mut self.direction.latency;
            let value = value.trim();
            match name.trim() {
                "Mean" => latency.mean = Some(figure(line.figure(value)?)),
                "StdDeviation" => latency.sd = Some(figure(line.figure(value)?)),
                "Max" => latency.max = Some(figure(line.figure(value)?)),
                "Total count" | "TotalCount" => self.count = Some(line.whole(value)?),
                _ => {}
            }
        }
        Ok(())
    }

    fn run(mut self, line: &Line<'_>) -> Result<Run, ImportError> {
        if !self.ended {
            return Err(line.error(line.text, "the list before this line does not reach 100%"));
        }
        self.direction.operations = self.count.map(|count| Figure::exact(count as f64));
        Ok(Run {
            name: "latencies".to_string(),
            place: format!("line {}", self.place),
            directions: vec![self.direction],
            ..Run::default()
        })
    }
}
