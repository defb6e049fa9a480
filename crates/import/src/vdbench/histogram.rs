//! vdbench's `histogram.html`: counts by response time of each run.

use crate::error::ImportError;
use crate::place::{Line, lines, remark, truncated};
use crate::run::{Bucket, Direction, Imported, Run, Way};
use crate::series::Series;
use crate::units::MS;

use super::name::NAME;

/// Whether the text has such histograms.
pub(super) fn is(text: &str) -> bool {
    text.contains("min(ms)") && text.contains("max(ms)") && text.contains("cum%")
}

/// Reads the file.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut open: Option<Open> = None;
    let mut current: Option<Run> = None;
    let mut title = "";
    for line in lines(NAME, text) {
        let trimmed = line.text.trim();
        if let Some((_, run)) = trimmed.split_once("Starting RD=") {
            close(&mut open, &line, &mut current, imported)?;
            let name = run.split(|end: char| end == ';' || end.is_whitespace()).next();
            imported.runs.extend(current.replace(Run {
                name: name.unwrap_or_default().to_string(),
                place: format!("line {}", line.number),
                ..Run::default()
            }));
        } else if trimmed.starts_with("min(ms)") {
            close(&mut open, &line, &mut current, imported)?;
            open = Some(Open { way: way(title), buckets: Series::default(), cumulative: 0.0 });
        } else if let Some(histogram) = &mut open {
            if trimmed.is_empty() {
                // One empty line comes before the counts, and one behind them.
                if !histogram.buckets.is_empty() {
                    close(&mut open, &line, &mut current, imported)?;
                }
            } else {
                histogram.row(&line)?;
            }
        }
        if !trimmed.is_empty() {
            title = trimmed;
        }
    }
    imported.runs.extend(current);
    if open.is_some() || imported.runs.is_empty() {
        return Err(truncated(NAME, text));
    }
    Ok(())
}

/// A histogram that is being read.
struct Open {
    way: Option<Way>,
    buckets: Series<Bucket>,
    /// Percent up to the last row.
    cumulative: f64,
}

impl Open {
    /// `0.020 <  0.040   1,234   12.3400   56.7800  +++`.
    fn row(&mut self, line: &Line<'_>) -> Result<(), ImportError> {
        let text = line.text.trim();
        let (low, rest) = text
            .split_once("&lt;")
            .or_else(|| text.split_once('<'))
            .ok_or_else(|| line.error(text, "a range with < is missing"))?;
        let mut words = rest.split_whitespace();
        let (Some(high), Some(count), Some(_), Some(cumulative)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(line.error(text, "a range has a count and two percentages"));
        };
        let low_ns = line.figure(low.trim_end())?.value * MS;
        let high_ns = match high {
            "max" => f64::INFINITY,
            _ => line.figure(high)?.value * MS,
        };
        if high_ns <= low_ns || self.buckets.newest().is_some_and(|last| last.high_ns > low_ns) {
            return Err(line.error(text, "the ranges do not ascend"));
        }
        // The separator of thousands is that of the host's language.
        let digits: String = count.chars().filter(char::is_ascii_digit).collect();
        let count = digits.parse().map_err(|_| line.error(count, "not a count"))?;
        self.cumulative = line.figure(cumulative)?.value;
        self.buckets.push(Bucket { low_ns, high_ns, count });
        Ok(())
    }
}

/// Ends the histogram that is open.
fn close(
    open: &mut Option<Open>,
    line: &Line<'_>,
    current: &mut Option<Run>,
    imported: &mut Imported,
) -> Result<(), ImportError> {
    let Some(histogram) = open.take() else { return Ok(()) };
    if (histogram.cumulative - 100.0).abs() > 0.01 {
        return Err(line.error(line.text, "the histogram before this line does not reach 100%"));
    }
    let Some(way) = histogram.way else {
        remark(&mut imported.left_out, "Histograms of other operations than reads and writes.");
        return Ok(());
    };
    let run = current.get_or_insert_with(|| Run { place: "line 1".to_string(), ..Run::default() });
    if run.directions.iter().any(|known| known.way == way) {
        return Err(line.error(line.text, "a second histogram of one kind before this line"));
    }
    let mut direction = Direction::new(way);
    direction.latency.histogram = histogram.buckets;
    run.directions.push(direction);
    Ok(())
}

/// The kind of I/O that the title of a histogram names.
fn way(title: &str) -> Option<Way> {
    match title {
        "Only reads done for this workload:" | "Reads:" => Some(Way::Read),
        "Only writes done for this workload:" | "Writes:" => Some(Way::Write),
        "Reads and writes:" => Some(Way::Both),
        _ => None,
    }
}
