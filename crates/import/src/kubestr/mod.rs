//! kubestr's JSON (`kubestr fio -o json`): fio's results, without its percentiles, as kubestr knows them.
//!
//! After kubestr's own source (`utils.go`, `fio.go`, `fio_types.go`). Rates and means have passed through numbers of 32
//! bits, which keep seven digits. What is 0 is left out by kubestr. A kilobyte of fio is 1024 bytes.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{Node, parse};
use crate::room::kept;
use crate::run::{Direction, Imported, Load, Pattern, Run, Way};
use crate::series::Series;

/// What this format is called.
pub(crate) const NAME: &str = "kubestr JSON";

/// Whether the text is kubestr's JSON about fio.
pub(crate) fn is(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && text.contains("\"TestName\"")
        && text.contains("\"fio version\"")
}

/// Reads the file.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let root = parse(NAME, text, 0)?;
    root.object()?;
    let measured = |raw: &Node<'_>| raw.get("result").is_some();
    let mut raw = root.get("Raw").filter(measured);
    if let (None, Some(status)) = (&raw, root.get("Status")) {
        raw = status.entries()?.find_map(|one| one.get("Raw").filter(measured));
    }
    let found = raw.as_ref().and_then(|raw| Some((raw, raw.get("result")?)));
    let Some((raw, fio)) = found else {
        return Err(wrong("Raw.result", "is missing"));
    };
    let metadata = raw.get("storageClass").and_then(|class| class.get("metadata"));
    let target = metadata.and_then(|metadata| Some(kept(&text_at(&metadata, "name")?)));
    let global = fio.get("global options");
    let mut runs = Series::default();
    let jobs = fio.get("jobs").map(|jobs| jobs.entries()).transpose()?;
    for (at, job) in jobs.into_iter().flatten().enumerate() {
        let place = format!("Raw.result.jobs[{at}]");
        job.object().map_err(|_| wrong(&place, "is not an object"))?;
        let error = job.get("error").and_then(|error| error.number()).unwrap_or(0.0);
        if error != 0.0 {
            let what = format!("the job failed: {error}");
            return Err(wrong(&format!("{place}.error"), &what));
        }
        let options = Options { job: job.get("job options"), global: global.as_ref() };
        let mut run = Run {
            name: text_at(&job, "jobname").unwrap_or_default().into_owned(),
            target: target.clone(),
            load: load(&options),
            ..Run::default()
        };
        for (way, key) in [(Way::Read, "read"), (Way::Write, "write"), (Way::Trim, "trim")] {
            let Some(stats) = job.get(key) else { continue };
            let direction =
                direction(way, &stats).map_err(|_| wrong(&place, "a number below 0"))?;
            if direction != Direction::new(way) {
                run.directions.push(direction);
            }
        }
        run.place = place;
        runs.push(run);
    }
    Ok(Imported {
        tool: "kubestr".into(),
        version: text_at(&fio, "fio version").map(Cow::into_owned),
        runs,
        left_out: vec![
            "Submission and completion latencies apart, and the shares of CPUs.".to_string(),
        ],
    })
}

fn text_at<'a>(node: &Node<'a>, key: &str) -> Option<Cow<'a, str>> {
    node.get(key)?.text()
}

fn wrong(path: &str, what: &str) -> ImportError {
    ImportError::Wrong { format: NAME, path: path.to_string(), what: what.to_string() }
}

/// An error if a number is negative, or none.
fn direction(way: Way, stats: &Node<'_>) -> Result<Direction, ImportError> {
    let count =
        |key: &str| Ok::<_, ImportError>(stats.amount(key)?.map(|(count, _)| Figure::exact(count)));
    let mut direction = Direction::new(way);
    direction.operations = count("total_ios")?;
    direction.bytes = count("io_bytes")?;
    direction.iops = stats.figure("iops")?.map(single);
    direction.bytes_per_s = stats.figure("bw_bytes")?;
    direction.runtime_s = stats.figure("runtime")?.map(|ms| ms.times(1e-3));
    if let Some(times) = stats.get("lat_ns") {
        direction.latency.min = times.figure("min")?;
        direction.latency.max = times.figure("max")?;
        direction.latency.mean = times.figure("mean")?.map(single);
        direction.latency.sd = times.figure("stddev")?.map(single);
    }
    Ok(direction)
}

/// A number that has passed through 32 bits, of which 24 are digits.
fn single(figure: Figure) -> Figure {
    Figure { half: figure.value.abs() * f64::from(f32::EPSILON), ..figure }
}

/// Options of a job, which win, and of all.
struct Options<'a> {
    job: Option<Node<'a>>,
    global: Option<&'a Node<'a>>,
}

impl Options<'_> {
    fn get(&self, key: &str) -> Option<String> {
        let text = |node: &Node<'_>| node.get(key)?.text().map(|text| kept(&text));
        self.job.as_ref().and_then(text).or_else(|| self.global.and_then(text))
    }
}

fn load(options: &Options<'_>) -> Load {
    let option = |key: &str| options.get(key);
    let (pattern, read_share) = match option("rw").as_deref() {
        Some("read") => (Some(Pattern::Sequential), Some(1.0)),
        Some("write") => (Some(Pattern::Sequential), Some(0.0)),
        Some("randread") => (Some(Pattern::Random), Some(1.0)),
        Some("randwrite") => (Some(Pattern::Random), Some(0.0)),
        Some("rw" | "readwrite") => (Some(Pattern::Sequential), None),
        Some("randrw") => (Some(Pattern::Random), None),
        _ => (None, None),
    };
    Load {
        request_bytes: option("bs").and_then(|text| bytes(&text)),
        read_share,
        pattern,
        outstanding: option("iodepth").and_then(|text| text.parse().ok()),
        working_set_bytes: option("size").and_then(|text| bytes(&text)),
        direct: option("direct").map(|text| text == "1"),
        engine: option("ioengine"),
        ramp_s: option("ramp_time").and_then(|text| seconds(&text)),
        duration_s: option("runtime").and_then(|text| seconds(&text)),
        ..Load::default()
    }
}

/// fio's sizes, of which the units are binary: `4k`, `2G`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)? {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1u64 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// fio's times: seconds unless they have another unit.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)? {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value * factor)
}
