//! elbencho's JSON, in which all values are strings.

use serde::Deserialize;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{Loose, from_serde};
use crate::place::{quoted, remark};
use crate::run::{Bucket, Direction, Imported, Way};
use crate::time::iso;
use crate::units::{US, cut};

use super::phase::{NAME, OTHERS, Settings, latency, way};

/// Whether the text is such a file.
pub(super) fn is(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && text.contains("\"phase_type\"")
        && text.contains("\"last_done\"")
}

#[derive(Debug, Deserialize)]
struct Phase {
    phase_type: Loose,
    label: Option<Loose>,
    iso_start_date: Option<Loose>,
    config: Config,
    last_done: Done,
}

#[derive(Debug, Deserialize)]
struct Config {
    path_type: Option<Loose>,
    paths: Option<Loose>,
    hosts: Option<Loose>,
    threads: Option<Loose>,
    file_size: Option<Loose>,
    block_size: Option<Loose>,
    direct_io: Option<Loose>,
    random_offsets: Option<Loose>,
    io_depth: Option<Loose>,
    version: Option<Loose>,
}

#[derive(Debug, Deserialize)]
struct Done {
    elapsed_time_ms: Option<Loose>,
    #[serde(flatten)]
    totals: Totals,
    rwmix_read: Option<Totals>,
    #[serde(rename = "cpu%")]
    cpu: Option<Loose>,
    latency: Option<Latencies>,
}

#[derive(Debug, Default, Deserialize)]
struct Totals {
    iops: Option<Loose>,
    #[serde(rename = "bytes/s")]
    bytes_per_s: Option<Loose>,
    bytes: Option<Loose>,
}

#[derive(Debug, Deserialize)]
struct Latencies {
    #[serde(rename = "IO")]
    io: Option<OfKind>,
}

#[derive(Debug, Deserialize)]
struct OfKind {
    min_us: Option<Loose>,
    avg_us: Option<Loose>,
    max_us: Option<Loose>,
    histogram: Option<Histogram>,
    rwmix_read: Option<Box<OfKind>>,
}

/// A histogram, and of mixed phases that of the reads within it.
#[derive(Debug, Deserialize)]
struct Histogram {
    #[serde(default)]
    buckets: Vec<Range>,
    rwmix_read: Option<Box<Histogram>>,
    histo_max_exceeded: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Range {
    range: Loose,
    count: Loose,
}

const EXCEEDED: &str = "Histograms of latencies that elbencho could not count.";

/// Reads the file.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let phase: Phase =
            serde_json::from_str(line).map_err(|error| from_serde(NAME, &error, at))?;
        let name = &phase.phase_type.0;
        imported.version = imported.version.take().or_else(|| text_of(&phase.config.version));
        let Some(way) = way(name) else {
            remark(&mut imported.left_out, OTHERS);
            continue;
        };
        let place = Place(at + 1);
        let mut run = settings(&phase, &place)?.run(name, format!("line {}", at + 1));
        let done = &phase.last_done;
        run.window_s = place
            .figure(&done.elapsed_time_ms, "last_done.elapsed_time_ms")?
            .map(|ms| cut(ms).times(1e-3));
        run.cpu_busy =
            place.figure(&done.cpu, "last_done.cpu%")?.map(|percent| cut(percent).times(0.01));
        let io = done.latency.as_ref().and_then(|latency| latency.io.as_ref());
        let histogram = io.and_then(|io| io.histogram.as_ref());
        let read_histogram = histogram.and_then(|histogram| histogram.rwmix_read.as_deref());
        run.directions.push(place.direction(way, &done.totals, io, histogram)?);
        let reads = io.and_then(|io| io.rwmix_read.as_deref());
        if let Some(totals) = &done.rwmix_read {
            run.directions.push(place.direction(Way::Read, totals, reads, read_histogram)?);
        }
        let both = [histogram, read_histogram].into_iter().flatten();
        if both.into_iter().any(|histogram| histogram.histo_max_exceeded.is_some()) {
            remark(&mut imported.left_out, EXCEEDED);
        }
        imported.runs.push(run);
    }
    Ok(())
}

fn settings(phase: &Phase, place: &Place) -> Result<Settings, ImportError> {
    let config = &phase.config;
    Ok(Settings {
        label: text_of(&phase.label),
        path_type: text_of(&config.path_type),
        paths: place.whole(&config.paths, "config.paths")?,
        hosts: place.whole(&config.hosts, "config.hosts")?,
        threads: place.whole(&config.threads, "config.threads")?,
        file_size: place.whole(&config.file_size, "config.file_size")?,
        block_size: place.whole(&config.block_size, "config.block_size")?,
        direct: truth(&config.direct_io),
        random: truth(&config.random_offsets),
        depth: place.whole(&config.io_depth, "config.io_depth")?,
        began_s: phase.iso_start_date.as_ref().and_then(|date| iso(&date.0)),
    })
}

fn text_of(value: &Option<Loose>) -> Option<String> {
    value.as_ref().map(|value| value.0.clone())
}

fn truth(value: &Option<Loose>) -> Option<bool> {
    match value.as_ref()?.0.as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// The number of a line, for errors.
struct Place(usize);

impl Place {
    fn error(&self, field: &str, text: &str) -> ImportError {
        ImportError::Wrong {
            format: NAME,
            path: format!("line {}: {field}", self.0),
            what: format!("{} is not a number of at least 0", quoted(text)),
        }
    }

    fn figure(&self, value: &Option<Loose>, field: &str) -> Result<Option<Figure>, ImportError> {
        let Some(Loose(text)) = value else { return Ok(None) };
        match Figure::printed(text) {
            Some(figure) if figure.value >= 0.0 => Ok(Some(figure)),
            _ => Err(self.error(field, text)),
        }
    }

    fn whole(&self, value: &Option<Loose>, field: &str) -> Result<Option<u64>, ImportError> {
        let Some(Loose(text)) = value else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.error(field, text))
    }

    fn direction(
        &self,
        way: Way,
        totals: &Totals,
        io: Option<&OfKind>,
        histogram: Option<&Histogram>,
    ) -> Result<Direction, ImportError> {
        let mut direction = Direction::new(way);
        direction.iops = self.figure(&totals.iops, "iops")?.map(cut);
        direction.bytes_per_s = self.figure(&totals.bytes_per_s, "bytes/s")?.map(cut);
        direction.bytes =
            self.whole(&totals.bytes, "bytes")?.map(|bytes| Figure::exact(bytes as f64));
        let Some(io) = io else { return Ok(direction) };
        let of = &mut direction.latency;
        let us = |value, mean| {
            Ok::<_, ImportError>(self.figure(value, "latency.IO")?.map(|us| latency(us, mean)))
        };
        of.min = us(&io.min_us, false)?;
        of.mean = us(&io.avg_us, true)?;
        of.max = us(&io.max_us, false)?;
        for range in histogram.map_or(&[][..], |histogram| &histogram.buckets) {
            let bucket = self.bucket(range)?;
            if of.histogram.last().is_some_and(|last| last.high_ns > bucket.low_ns) {
                return Err(self.error("latency.IO.histogram", &range.range.0));
            }
            of.histogram.push(bucket);
        }
        Ok(direction)
    }

    /// `11-13us`: rounded bounds, which are whole powers of the fourth root of 2.
    fn bucket(&self, range: &Range) -> Result<Bucket, ImportError> {
        let text = &range.range.0;
        let wrong = || self.error("latency.IO.histogram", text);
        let (_, high) =
            text.strip_suffix("us").and_then(|range| range.split_once('-')).ok_or_else(wrong)?;
        let high: f64 = high.parse().map_err(|_| wrong())?;
        let power = (high.log2() * 4.0).round();
        if !(1.0..=256.0).contains(&power) {
            return Err(wrong());
        }
        let bound = |power: f64| if power == 0.0 { 0.0 } else { (power / 4.0).exp2() * US };
        let count = range.count.0.parse().map_err(|_| wrong())?;
        Ok(Bucket { low_ns: bound(power - 1.0), high_ns: bound(power), count })
    }
}
