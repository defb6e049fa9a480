//! What DiskSpd measured in a time span.

use std::collections::HashMap;

use quick_xml::events::BytesStart;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::quoted;
use crate::run::{Direction, Interval, Load, Percentile, Run, Way};
use crate::series::Series;
use crate::units::{MS, share};

use super::number::{NAME, whole};
use super::profile::Asked;

/// The kinds, in the order of the arrays here.
const WAYS: [Way; 3] = [Way::Read, Way::Write, Way::Both];

/// The results of a time span.
#[derive(Debug, Default)]
pub(super) struct Measured {
    error: Option<String>,
    seconds: Option<Figure>,
    threads: Option<u64>,
    cpu: Option<Figure>,
    /// Reads, writes, both.
    operations: [u64; 3],
    bytes: [u64; 3],
    mean: [Option<Figure>; 3],
    sd: [Option<Figure>; 3],
    percentiles: [Series<Percentile>; 3],
    /// The share of the bucket that is being read.
    share: Option<f64>,
    /// Of reads and writes, in turns; the end of a bucket stands where the start will.
    intervals: Series<Interval>,
    /// Sizes of files, by path.
    files: HashMap<String, u64>,
    file: String,
}

impl Measured {
    /// Memory of a file's size, without its path.
    pub(super) const FILE_BYTES: usize = size_of::<(String, u64)>();

    /// An element below the time span that begins.
    pub(super) fn start(&mut self, path: &[&str], start: &BytesStart<'_>) -> Result<(), String> {
        if path != ["Iops", "Bucket"] {
            return Ok(());
        }
        let attribute = |name: &str| match start.try_get_attribute(name) {
            Ok(Some(attribute)) => figure(&attribute.value).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        let ms = |name: &str| Ok::<_, String>(attribute(name)?.map(|figure| figure.times(MS)));
        let interval = |way, word: &str| {
            Ok::<_, String>(Interval {
                way: Some(way),
                iops: attribute(word)?,
                latency_mean: ms(&format!("{word}AvgLatencyMilliseconds"))?,
                latency_max: ms(&format!("{word}MaxLatencyMilliseconds"))?,
                ..Interval::default()
            })
        };
        let end = attribute("SampleMillisecond")?
            .ok_or_else(|| "the attribute SampleMillisecond is missing".to_string())?;
        let both = [interval(Way::Read, "Read")?, interval(Way::Write, "Write")?];
        let start_s = (end.value as u64) as f64;
        self.intervals.extend(both.map(|interval| Interval { start_s, ..interval }));
        Ok(())
    }

    /// An element below the time span that ends.
    pub(super) fn value(&mut self, path: &[&str], text: &str) -> Result<(), String> {
        let count = |counts: &mut [u64; 3], at: usize| {
            counts[at] = counts[at]
                .checked_add(whole(text)?)
                .ok_or_else(|| "the sum is more than can be counted".to_string())?;
            Ok::<(), String>(())
        };
        let ms = || Ok::<_, String>(Some(figure(text)?.times(MS)));
        match path {
            ["Error"] => self.error = Some(text.to_string()),
            ["TestTimeSeconds"] => self.seconds = Some(figure(text)?),
            ["ThreadCount"] => self.threads = Some(whole(text)?),
            ["CpuUtilization", "Average", "UsagePercent"] => {
                self.cpu = Some(figure(text)?.times(0.01));
            }
            ["Latency", "AverageReadMilliseconds"] => self.mean[0] = ms()?,
            ["Latency", "AverageWriteMilliseconds"] => self.mean[1] = ms()?,
            ["Latency", "AverageTotalMilliseconds"] => self.mean[2] = ms()?,
            ["Latency", "ReadLatencyStdev"] => self.sd[0] = ms()?,
            ["Latency", "WriteLatencyStdev"] => self.sd[1] = ms()?,
            ["Latency", "LatencyStdev"] => self.sd[2] = ms()?,
            ["Latency", "Bucket", "Percentile"] => {
                let percent = figure(text)?.value;
                if percent > 100.0 {
                    return Err(format!("{} is no percentile", quoted(text)));
                }
                self.share = Some(share(percent));
            }
            ["Latency", "Bucket", field] => {
                let fields = ["ReadMilliseconds", "WriteMilliseconds", "TotalMilliseconds"];
                let at = fields.iter().position(|known| known == field);
                if let (Some(at), Some(ns)) = (at, ms()?) {
                    let share = self.share.ok_or("no percentile before it")?;
                    self.percentiles[at].push(Percentile { share, ns });
                }
            }
            ["Latency", "Bucket"] => self.share = None,
            ["Thread", "Target", field] => match *field {
                "ReadCount" => count(&mut self.operations, 0)?,
                "WriteCount" => count(&mut self.operations, 1)?,
                "IOCount" => count(&mut self.operations, 2)?,
                "ReadBytes" => count(&mut self.bytes, 0)?,
                "WriteBytes" => count(&mut self.bytes, 1)?,
                "BytesCount" => count(&mut self.bytes, 2)?,
                "Path" => self.file = text.to_string(),
                "FileSize" => {
                    self.files.insert(std::mem::take(&mut self.file), whole(text)?);
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// The run of this time span.
    pub(super) fn run(
        mut self,
        asked: Asked,
        at: usize,
        place: String,
    ) -> Result<Run, ImportError> {
        let wrong = |what: &str| ImportError::Wrong {
            format: NAME,
            path: place.clone(),
            what: what.to_string(),
        };
        if let Some(error) = &self.error {
            return Err(wrong(error));
        }
        let seconds = self.seconds.ok_or_else(|| wrong("TestTimeSeconds is missing"))?;
        let intervals = self.intervals(&asked);
        let mut directions = Vec::new();
        for (at, way) in WAYS.into_iter().enumerate() {
            if self.operations[at] > 0 || way == Way::Both {
                directions.push(self.direction(at, way));
            }
        }
        let sizes = self.files.values().try_fold(0u64, |sum, &size| sum.checked_add(size));
        let working_set_bytes = sizes.filter(|&bytes| bytes > 0 && !asked.parts());
        Ok(Run {
            name: format!("time span {}", at + 1),
            target: asked.target(),
            load: Load { working_set_bytes, ..asked.load(self.threads) },
            window_s: Some(seconds),
            directions,
            cpu_busy: self.cpu,
            intervals,
            place,
            ..Run::default()
        })
    }

    fn direction(&mut self, at: usize, way: Way) -> Direction {
        let mut direction = Direction::new(way);
        direction.operations = Some(Figure::exact(self.operations[at] as f64));
        direction.bytes = Some(Figure::exact(self.bytes[at] as f64));
        let latency = &mut direction.latency;
        latency.mean = self.mean[at];
        latency.sd = self.sd[at];
        let mut rising = true;
        for Percentile { share, ns } in &std::mem::take(&mut self.percentiles[at]) {
            if share == 0.0 {
                latency.min = Some(ns);
            } else if share == 1.0 {
                latency.max = Some(ns);
            } else {
                rising &= latency.percentiles.newest().is_none_or(|last| last.share <= share);
                latency.percentiles.push(Percentile { share, ns });
            }
        }
        if !rising {
            let mut percentiles = latency.percentiles.to_vec();
            percentiles.sort_unstable_by(|left, right| left.share.total_cmp(&right.share));
            latency.percentiles = percentiles.into_iter().collect();
        }
        direction
    }

    /// The intervals of the kinds that were done; a bucket has the time of its end.
    fn intervals(&mut self, asked: &Asked) -> Series<Interval> {
        let length_ms = asked.interval_ms;
        let done = |way: Option<Way>| self.operations[usize::from(way == Some(Way::Write))] > 0;
        let kept = self.intervals.iter().filter(|one| length_ms > 0 && done(one.way));
        kept.map(|interval| {
            let start_s = (interval.start_s as u64).saturating_sub(length_ms) as f64 / 1000.0;
            Interval { start_s, length_s: length_ms as f64 / 1000.0, ..interval }
        })
        .collect()
    }
}

/// A number of at least 0.
fn figure(text: &str) -> Result<Figure, String> {
    Figure::printed(text)
        .filter(|figure| figure.value >= 0.0)
        .ok_or_else(|| format!("{} is not a number of at least 0", quoted(text)))
}
