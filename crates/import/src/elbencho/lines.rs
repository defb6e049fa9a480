//! elbencho's JSON, in which all values are strings.

use std::borrow::Cow;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{Node, parse};
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

const EXCEEDED: &str = "Histograms of latencies that elbencho could not count.";

/// Reads the file.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let phase = Phase { root: parse(NAME, line, at)?, line: at + 1 };
        phase.root.object().map_err(|_| phase.error("the line", line))?;
        let name = phase.required("phase_type")?;
        let config = phase.object("config")?;
        let done = phase.object("last_done")?;
        let version = || config.get("version").and_then(|node| node.loose());
        imported.version = imported.version.take().or_else(|| version().map(Cow::into_owned));
        let Some(way) = way(&name) else {
            remark(&mut imported.left_out, OTHERS);
            continue;
        };
        let mut run = phase.settings(&config)?.run(&name, format!("line {}", phase.line));
        run.window_s = phase
            .figure(&done, "elapsed_time_ms", "last_done.elapsed_time_ms")?
            .map(|ms| cut(ms).times(1e-3));
        run.cpu_busy =
            phase.figure(&done, "cpu%", "last_done.cpu%")?.map(|percent| cut(percent).times(0.01));
        let io = done.get("latency").and_then(|latency| latency.get("IO"));
        let histogram = io.as_ref().and_then(|io| io.get("histogram"));
        let reads = io.as_ref().and_then(|io| io.get("rwmix_read"));
        let read_histogram = histogram.as_ref().and_then(|all| all.get("rwmix_read"));
        run.directions.push(phase.direction(way, &done, io.as_ref(), histogram.as_ref())?);
        if let Some(totals) = done.get("rwmix_read") {
            let (reads, histogram) = (reads.as_ref(), read_histogram.as_ref());
            run.directions.push(phase.direction(Way::Read, &totals, reads, histogram)?);
        }
        let exceeded = |node: &Node<'_>| node.get("histo_max_exceeded").is_some();
        if [&histogram, &read_histogram].into_iter().flatten().any(exceeded) {
            remark(&mut imported.left_out, EXCEEDED);
        }
        imported.runs.push(run);
    }
    Ok(())
}

fn truth(node: Option<Node<'_>>) -> Option<bool> {
    match &*node?.loose()? {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A line, with its number for errors.
struct Phase<'a> {
    root: Node<'a>,
    line: usize,
}

impl<'a> Phase<'a> {
    fn wrong(&self, field: &str, what: String) -> ImportError {
        ImportError::Wrong { format: NAME, path: format!("line {}: {field}", self.line), what }
    }

    fn error(&self, field: &str, text: &str) -> ImportError {
        self.wrong(field, format!("{} is not a number of at least 0", quoted(text)))
    }

    fn required(&self, key: &str) -> Result<Cow<'a, str>, ImportError> {
        let found = self.root.get(key).and_then(|node| node.loose());
        found.ok_or_else(|| self.wrong(key, "is missing".to_owned()))
    }

    fn object(&self, key: &str) -> Result<Node<'a>, ImportError> {
        let found = self.root.get(key).filter(|node| node.object().is_ok());
        found.ok_or_else(|| self.wrong(key, "is missing".to_owned()))
    }

    /// The text of a value, which may be a number or a truth value; an error if it is a list.
    fn loose(
        &self,
        node: &Node<'a>,
        key: &str,
        field: &str,
    ) -> Result<Option<Cow<'a, str>>, ImportError> {
        let Some(found) = node.get(key) else { return Ok(None) };
        found.loose().map(Some).ok_or_else(|| self.error(field, found.source()))
    }

    fn figure(
        &self,
        node: &Node<'a>,
        key: &str,
        field: &str,
    ) -> Result<Option<Figure>, ImportError> {
        let Some(text) = self.loose(node, key, field)? else { return Ok(None) };
        match Figure::printed(&text) {
            Some(figure) if figure.value >= 0.0 => Ok(Some(figure)),
            _ => Err(self.error(field, &text)),
        }
    }

    fn whole(&self, node: &Node<'a>, key: &str, field: &str) -> Result<Option<u64>, ImportError> {
        let Some(text) = self.loose(node, key, field)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.error(field, &text))
    }

    fn settings(&self, config: &Node<'a>) -> Result<Settings, ImportError> {
        let text = |node: Option<Node<'a>>| node.and_then(|node| node.loose()).map(Cow::into_owned);
        let whole = |key: &str| self.whole(config, key, &format!("config.{key}"));
        let date = self.root.get("iso_start_date").and_then(|node| node.loose());
        Ok(Settings {
            label: text(self.root.get("label")),
            path_type: text(config.get("path_type")),
            paths: whole("paths")?,
            hosts: whole("hosts")?,
            threads: whole("threads")?,
            file_size: whole("file_size")?,
            block_size: whole("block_size")?,
            direct: truth(config.get("direct_io")),
            random: truth(config.get("random_offsets")),
            depth: whole("io_depth")?,
            began_s: date.and_then(|date| iso(&date)),
        })
    }

    fn direction(
        &self,
        way: Way,
        totals: &Node<'a>,
        io: Option<&Node<'a>>,
        histogram: Option<&Node<'a>>,
    ) -> Result<Direction, ImportError> {
        let mut direction = Direction::new(way);
        direction.iops = self.figure(totals, "iops", "iops")?.map(cut);
        direction.bytes_per_s = self.figure(totals, "bytes/s", "bytes/s")?.map(cut);
        direction.bytes =
            self.whole(totals, "bytes", "bytes")?.map(|bytes| Figure::exact(bytes as f64));
        let Some(io) = io else { return Ok(direction) };
        let of = &mut direction.latency;
        let us = |key: &str, mean| {
            let figure = self.figure(io, key, "latency.IO")?;
            Ok::<_, ImportError>(figure.map(|us| latency(us, mean)))
        };
        of.min = us("min_us", false)?;
        of.mean = us("avg_us", true)?;
        of.max = us("max_us", false)?;
        let Some(buckets) = histogram.and_then(|histogram| histogram.get("buckets")) else {
            return Ok(direction);
        };
        for range in buckets.entries()? {
            let bucket = self.bucket(&range)?;
            if of.histogram.newest().is_some_and(|last| last.high_ns > bucket.low_ns) {
                return Err(self.error("latency.IO.histogram", range.source()));
            }
            of.histogram.push(bucket);
        }
        Ok(direction)
    }

    /// `11-13us`: rounded bounds, which are whole powers of the fourth root of 2.
    fn bucket(&self, node: &Node<'a>) -> Result<Bucket, ImportError> {
        let field = "latency.IO.histogram";
        let text = self.loose(node, "range", field)?.unwrap_or_default();
        let wrong = || self.error(field, &text);
        let (_, high) =
            text.strip_suffix("us").and_then(|range| range.split_once('-')).ok_or_else(wrong)?;
        let high: f64 = high.parse().map_err(|_| wrong())?;
        let power = (high.log2() * 4.0).round();
        if !(1.0..=256.0).contains(&power) {
            return Err(wrong());
        }
        let bound = |power: f64| if power == 0.0 { 0.0 } else { (power / 4.0).exp2() * US };
        let count = self.whole(node, "count", field)?.ok_or_else(wrong)?;
        Ok(Bucket { low_ns: bound(power - 1.0), high_ns: bound(power), count })
    }
}
