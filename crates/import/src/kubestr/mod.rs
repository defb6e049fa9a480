//! kubestr's JSON (`kubestr fio -o json`): fio's results, without its percentiles, as kubestr knows them.
//!
//! After kubestr's own source (`utils.go`, `fio.go`, `fio_types.go`). Rates and means have passed through numbers of 32
//! bits, which keep seven digits. What is 0 is left out by kubestr. A kilobyte of fio is 1024 bytes.

#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{Number, parse};
use crate::run::{Direction, Imported, Load, Pattern, Run, Way};

/// What this format is called.
pub(crate) const NAME: &str = "kubestr JSON";

/// Whether the text is kubestr's JSON about fio.
pub(crate) fn is(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && text.contains("\"TestName\"")
        && text.contains("\"fio version\"")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    #[serde(default)]
    status: Vec<Status>,
    raw: Option<Raw>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Status {
    raw: Option<Raw>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    storage_class: Option<Class>,
    result: Option<Fio>,
}

#[derive(Debug, Deserialize)]
struct Class {
    metadata: Option<Metadata>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Fio {
    #[serde(rename = "fio version")]
    version: Option<String>,
    #[serde(rename = "global options", default)]
    global: Options,
    #[serde(default)]
    jobs: Vec<Job>,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    ioengine: Option<String>,
    direct: Option<String>,
    bs: Option<String>,
    iodepth: Option<String>,
    rw: Option<String>,
    size: Option<String>,
    ramp_time: Option<String>,
    runtime: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Job {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: Options,
    #[serde(default)]
    read: Stats,
    #[serde(default)]
    write: Stats,
    #[serde(default)]
    trim: Stats,
}

#[derive(Debug, Default, Deserialize)]
struct Stats {
    io_bytes: Option<Number>,
    bw_bytes: Option<Number>,
    iops: Option<Number>,
    runtime: Option<Number>,
    total_ios: Option<Number>,
    #[serde(default)]
    lat_ns: Times,
}

#[derive(Debug, Default, Deserialize)]
struct Times {
    min: Option<Number>,
    max: Option<Number>,
    mean: Option<Number>,
    stddev: Option<Number>,
}

/// Reads the file.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let file: File = parse(NAME, text)?;
    let wrong = |path: &str, what: &str| ImportError::Wrong {
        format: NAME,
        path: path.to_string(),
        what: what.to_string(),
    };
    let raws = file.raw.into_iter().chain(file.status.into_iter().filter_map(|status| status.raw));
    let Some((class, fio)) =
        raws.into_iter().find_map(|raw| Some((raw.storage_class, raw.result?)))
    else {
        return Err(wrong("Raw.result", "is missing"));
    };
    let target = class.and_then(|class| class.metadata).and_then(|metadata| metadata.name);
    let mut runs = Vec::new();
    for (at, job) in fio.jobs.iter().enumerate() {
        let place = format!("Raw.result.jobs[{at}]");
        if job.error != 0 {
            return Err(wrong(
                &format!("{place}.error"),
                &format!("the job failed: {}", job.error),
            ));
        }
        let mut run = Run {
            name: job.jobname.clone(),
            target: target.clone(),
            load: load(&job.options, &fio.global),
            ..Run::default()
        };
        for (way, stats) in
            [(Way::Read, &job.read), (Way::Write, &job.write), (Way::Trim, &job.trim)]
        {
            let direction =
                direction(way, stats).ok_or_else(|| wrong(&place, "a number below 0"))?;
            if direction != Direction::new(way) {
                run.directions.push(direction);
            }
        }
        run.place = place;
        runs.push(run);
    }
    Ok(Imported {
        tool: "kubestr".into(),
        version: fio.version,
        runs,
        left_out: vec![
            "Submission and completion latencies apart, and the shares of CPUs.".to_string(),
        ],
    })
}

/// `None` if a number is negative.
fn direction(way: Way, stats: &Stats) -> Option<Direction> {
    let all = [&stats.io_bytes, &stats.bw_bytes, &stats.iops, &stats.runtime, &stats.total_ios];
    let times = &stats.lat_ns;
    let all = all.into_iter().chain([&times.min, &times.max, &times.mean, &times.stddev]);
    if all.flatten().any(|number| number.value().is_none_or(|value| value < 0.0)) {
        return None;
    }
    let printed = |number: &Option<Number>| number.as_ref().and_then(Number::printed);
    let count = |number: &Option<Number>| number.as_ref().and_then(Number::count);
    let mut direction = Direction::new(way);
    direction.operations = count(&stats.total_ios);
    direction.bytes = count(&stats.io_bytes);
    direction.iops = printed(&stats.iops).map(single);
    direction.bytes_per_s = printed(&stats.bw_bytes);
    direction.runtime_s = printed(&stats.runtime).map(|ms| ms.times(1e-3));
    direction.latency.min = printed(&times.min);
    direction.latency.max = printed(&times.max);
    direction.latency.mean = printed(&times.mean).map(single);
    direction.latency.sd = printed(&times.stddev).map(single);
    Some(direction)
}

/// A number that has passed through 32 bits, of which 24 are digits.
fn single(figure: Figure) -> Figure {
    Figure { half: figure.value.abs() * f64::from(f32::EPSILON), ..figure }
}

fn load(job: &Options, global: &Options) -> Load {
    let option =
        |of: fn(&Options) -> &Option<String>| of(job).clone().or_else(|| of(global).clone());
    let order = option(|options| &options.rw);
    let (pattern, read_share) = match order.as_deref() {
        Some("read") => (Some(Pattern::Sequential), Some(1.0)),
        Some("write") => (Some(Pattern::Sequential), Some(0.0)),
        Some("randread") => (Some(Pattern::Random), Some(1.0)),
        Some("randwrite") => (Some(Pattern::Random), Some(0.0)),
        Some("rw" | "readwrite") => (Some(Pattern::Sequential), None),
        Some("randrw") => (Some(Pattern::Random), None),
        _ => (None, None),
    };
    Load {
        request_bytes: option(|options| &options.bs).and_then(|text| bytes(&text)),
        read_share,
        pattern,
        outstanding: option(|options| &options.iodepth).and_then(|text| text.parse().ok()),
        working_set_bytes: option(|options| &options.size).and_then(|text| bytes(&text)),
        direct: option(|options| &options.direct).map(|text| text == "1"),
        engine: option(|options| &options.ioengine),
        ramp_s: option(|options| &options.ramp_time).and_then(|text| seconds(&text)),
        duration_s: option(|options| &options.runtime).and_then(|text| seconds(&text)),
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
