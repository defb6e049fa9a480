//! kbench's summary: of a volume, or of two side by side, one number per measure, pattern and kind of I/O.
//!
//! After kbench's own scripts (`parse.sh`, `cmp_parse.sh`, `func.sh`). Each measure is of an fio run of its own, whose
//! size of requests and depth the summary does not say: so each number is a run here. The fraction of all is cut.
//! Bandwidth is in 1024 bytes per second, and latency in nanoseconds.

#[cfg(test)]
mod tests;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, truncated};
use crate::room::kept;
use crate::run::{Direction, Imported, Load, Pattern, Run, Way};
use crate::series::Series;
use crate::units::{KIB, cut};

/// What this format is called.
pub(crate) const NAME: &str = "kbench summary";

/// Whether the text is such a summary. The misspelt word is kbench's.
pub(crate) fn is(text: &str) -> bool {
    text.contains("FIO Benchmark Summary") || text.contains("FIO Benchmark Comparsion Summary")
}

/// Volumes side by side.
const MOST_VOLUMES: usize = 2;
/// Reads and writes, in each row of each volume.
const WAYS: usize = 2;

/// What the rows below a heading are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    Iops,
    Bandwidth,
    Latency,
}

/// Reads the summaries.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut runs = Series::default();
    // The rows of the last heading: idleness comes behind them.
    let mut block: Vec<Run> = Vec::new();
    let mut volumes: Vec<String> = Vec::new();
    let mut measure = None;
    let mut complete = true;
    for line in lines(NAME, text) {
        let trimmed = line.text.trim();
        if is(trimmed) {
            if !complete {
                return Err(line.error(trimmed, "the summary before this one is not complete"));
            }
            complete = false;
            measure = None;
            volumes.clear();
        } else if let Some(names) = trimmed.strip_prefix("For:") {
            if names.split(" vs ").count() > MOST_VOLUMES {
                return Err(line.error(names, "more volumes than kbench compares"));
            }
            volumes = names.split(" vs ").map(|name| kept(name.trim())).collect();
        } else if let Some(heading) = heading(trimmed) {
            measure = Some(heading);
            runs.extend(block.drain(..));
        } else if let (Some(measure), Some((label, rest))) = (measure, trimmed.split_once(':')) {
            let pattern = match label {
                "Random" => Pattern::Random,
                "Sequential" => Pattern::Sequential,
                "CPU Idleness" => {
                    idle(&line, rest, &volumes, &mut block)?;
                    continue;
                }
                _ => continue,
            };
            if block.len() > 2 * WAYS * MOST_VOLUMES {
                return Err(line.error(trimmed, "more rows than kbench prints below a heading"));
            }
            row(&line, rest, &volumes, measure, pattern, &mut block)?;
            complete |= measure == Measure::Latency && pattern == Pattern::Sequential;
        }
    }
    if !complete {
        return Err(truncated(NAME, text));
    }
    runs.extend(block);
    Ok(Imported { tool: "kbench".into(), version: None, runs, left_out: Vec::new() })
}

fn heading(text: &str) -> Option<Measure> {
    match text {
        "IOPS (Read/Write)" => Some(Measure::Iops),
        "Bandwidth in KiB/sec (Read/Write)" => Some(Measure::Bandwidth),
        "Latency in ns (Read/Write)" => Some(Measure::Latency),
        _ => None,
    }
}

/// The parts of a row, one per volume, without the change between them.
fn parts<'a>(
    line: &Line<'a>,
    rest: &'a str,
    volumes: &[String],
) -> Result<Vec<&'a str>, ImportError> {
    let (values, _) = rest.split_once(" : ").unwrap_or((rest, ""));
    let parts = values.split(" vs ");
    let count = parts.clone().count();
    if count != volumes.len() {
        let what = format!("values of {count} volumes, and {} have names", volumes.len());
        return Err(line.error(rest.trim_start(), what));
    }
    Ok(parts.collect())
}

/// `96,735 / 89,565`, per volume.
fn row(
    line: &Line<'_>,
    rest: &str,
    volumes: &[String],
    measure: Measure,
    pattern: Pattern,
    runs: &mut Vec<Run>,
) -> Result<(), ImportError> {
    for (part, volume) in parts(line, rest, volumes)?.into_iter().zip(volumes) {
        let (read, write) =
            part.split_once('/').ok_or_else(|| line.error(part, "two numbers and / between"))?;
        for (way, word, text) in [(Way::Read, "read", read), (Way::Write, "write", write)] {
            let text = text.trim();
            // What was not measured, such as all that is sequential in the quick mode.
            if text.is_empty() || text == "null" {
                continue;
            }
            let figure = cut(line
                .figure(&text.replace(',', ""))
                .map_err(|_| line.error(text, "not a number of at least 0"))?);
            let order = if pattern == Pattern::Random { "random" } else { "sequential" };
            let mut direction = Direction::new(way);
            let of = match measure {
                Measure::Iops => {
                    direction.iops = Some(figure);
                    "IOPS"
                }
                Measure::Bandwidth => {
                    direction.bytes_per_s = Some(figure.times(KIB));
                    "bandwidth"
                }
                Measure::Latency => {
                    direction.latency.mean = Some(figure);
                    "latency"
                }
            };
            runs.push(Run {
                name: format!("{of}, {order} {word}"),
                place: format!("line {}", line.number),
                target: Some(volume.clone()),
                load: Load {
                    read_share: Some(if way == Way::Read { 1.0 } else { 0.0 }),
                    pattern: Some(pattern),
                    ..Load::default()
                },
                directions: vec![direction],
                ..Run::default()
            });
        }
    }
    Ok(())
}

/// `68%`, per volume: of all runs of the measure.
fn idle(
    line: &Line<'_>,
    rest: &str,
    volumes: &[String],
    runs: &mut [Run],
) -> Result<(), ImportError> {
    for (part, volume) in parts(line, rest, volumes)?.into_iter().zip(volumes) {
        let Some(text) = part.trim().strip_suffix('%').filter(|text| !text.is_empty()) else {
            continue;
        };
        let idle = cut(line.figure(text)?).times(0.01);
        let busy = Figure { value: 1.0 - idle.value, half: idle.half };
        for run in runs.iter_mut().filter(|run| run.target.as_ref() == Some(volume)) {
            run.cpu_busy = Some(busy);
        }
    }
    Ok(())
}
