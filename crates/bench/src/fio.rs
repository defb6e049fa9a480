//! fio's runs: their options and results.

use std::path::PathBuf;

use serde_json::Value;

use crate::failure::Failure;
use crate::ours::Latency;
use crate::process;

/// What fio drives.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    /// Its null engine, on a file of this size that does not exist.
    Null { bytes: u64 },
    /// Files through io_uring, direct, with fixed buffers and registered files; one job per file.
    Uring { files: Vec<PathBuf>, bytes: u64 },
    /// An image in the pool `rbd` of the cluster whose configuration `CEPH_CONF` names.
    Rbd { image: String, bytes: u64 },
}

/// When a run ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stop {
    /// After this many I/Os.
    Operations(u64),
    /// After this many milliseconds.
    Milliseconds(u64),
}

/// One run of fio.
#[derive(Debug, Clone)]
pub(crate) struct Fio {
    pub(crate) engine: Engine,
    pub(crate) outstanding: u32,
    pub(crate) read_percent: u32,
    /// Sequential writes, each followed by `fdatasync`, instead.
    pub(crate) is_log: bool,
    pub(crate) ramp_ms: u64,
    pub(crate) stop: Stop,
    pub(crate) extra: Vec<String>,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    /// I/Os, without those of the ramp.
    pub(crate) operations: u64,
    pub(crate) iops: f64,
    /// fio's `lat`: from the creation of a request to its completion, submission included.
    pub(crate) latency: Latency,
    /// That of flushes: fio's `sync`. Not numbers if there were none.
    pub(crate) flush: Latency,
}

impl Fio {
    /// Writes a job file and returns the command.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = vec!["fio".into(), "--output-format=json".into()];
        let mut option = |name: &str, value: String| words.push(format!("--{name}={value}"));
        option("bs", "4k".into());
        match self.read_percent {
            _ if self.is_log => {
                option("rw", "write".into());
                option("fdatasync", "1".into());
            }
            100 => option("rw", "randread".into()),
            share => {
                option("rw", "randrw".into());
                option("rwmixread", share.to_string());
            }
        }
        option("iodepth", self.outstanding.to_string());
        option("thread", "1".into());
        // Reads and writes in one distribution, and `lat` instead of `clat`, as in our
        // measurements.
        if !self.is_log {
            // It leaves out flushes, and a log has no reads.
            option("unified_rw_reporting", "1".into());
        }
        option("lat_percentiles", "1".into());
        option("percentile_list", "50:95:99".into());
        option("group_reporting", "1".into());
        match self.stop {
            Stop::Operations(count) => option("number_ios", count.to_string()),
            Stop::Milliseconds(ms) => {
                option("time_based", "1".into());
                option("runtime", format!("{ms}ms"));
                if self.ramp_ms > 0 {
                    option("ramp_time", format!("{}ms", self.ramp_ms));
                }
            }
        }
        match &self.engine {
            Engine::Null { bytes } => {
                option("ioengine", "null".into());
                option("size", bytes.to_string());
            }
            Engine::Uring { bytes, .. } => {
                option("ioengine", "io_uring".into());
                option("direct", "1".into());
                option("fixedbufs", "1".into());
                option("registerfiles", "1".into());
                option("overwrite", "1".into());
                option("allow_file_create", "0".into());
                option("size", bytes.to_string());
            }
            Engine::Rbd { image, bytes } => {
                option("ioengine", "rbd".into());
                option("clientname", "admin".into());
                option("pool", "rbd".into());
                option("rbdname", image.clone());
                option("size", bytes.to_string());
            }
        }
        words.extend(self.extra.iter().cloned());
        match &self.engine {
            Engine::Null { .. } | Engine::Rbd { .. } => words.push("--name=job".into()),
            Engine::Uring { files, .. } => {
                for (index, file) in files.iter().enumerate() {
                    words.push(format!("--name=job{index}"));
                    words.push(format!("--filename={}", file.display()));
                }
            }
        }
        words
    }

    /// Runs it, under another command if there are `before` words.
    pub(crate) fn run(&self, before: &[String]) -> Result<(Report, process::Ended), Failure> {
        let words = [before, self.words().as_slice()].concat();
        let ended = process::run(&words)?;
        let report = parse(&ended.output)
            .map_err(|reason| format!("{reason}\n{}\n{}", words.join(" "), ended.output))?;
        Ok((report, ended))
    }
}

/// The installed version.
pub(crate) fn version() -> Result<String, Failure> {
    let ended = process::run(&["fio".into(), "--version".into()])?;
    Ok(ended.output.trim().replace("fio-", "fio "))
}

fn parse(output: &str) -> Result<Report, Failure> {
    // Warnings may precede the JSON.
    let start = output.find('{').ok_or("fio printed no JSON")?;
    let value: Value = serde_json::from_str(&output[start..]).map_err(|error| error.to_string())?;
    let job = &value["jobs"][0];
    if job["error"].as_i64() != Some(0) {
        return Err(format!("fio's job failed with error {}", job["error"]));
    }
    // A log reports its writes alone.
    let mixed = job.get("mixed").unwrap_or(&job["write"]);
    let float = |value: &Value| value.as_f64().unwrap_or(0.0);
    Ok(Report {
        operations: mixed["total_ios"].as_u64().ok_or("fio counted no I/Os")?,
        iops: float(&mixed["iops"]),
        latency: latency(&mixed["lat_ns"], 0.0),
        flush: latency(&job["sync"]["lat_ns"], f64::NAN),
    })
}

fn latency(of: &Value, missing: f64) -> Latency {
    let float = |value: &Value| value.as_f64().unwrap_or(missing);
    let percentile = |name: &str| float(&of["percentile"][name]);
    Latency {
        mean_ns: float(&of["mean"]),
        p50_ns: percentile("50.000000"),
        p95_ns: percentile("95.000000"),
        p99_ns: percentile("99.000000"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: Latency =
        Latency { mean_ns: 200.0, p50_ns: 100.0, p95_ns: 800.0, p99_ns: 900.0 };

    #[test]
    fn a_report_is_read_behind_warnings() {
        let text = r#"note: something
            {"jobs": [{"error": 0, "mixed": {"total_ios": 7, "iops": 3.5,
            "lat_ns": {"mean": 200, "percentile":
            {"50.000000": 100, "95.000000": 800, "99.000000": 900}}}}]}"#;
        let report = parse(text).unwrap();
        assert_eq!((report.operations, report.iops, report.latency), (7, 3.5, LATENCY));
        assert!(report.flush.p50_ns.is_nan(), "it had no flush");
    }

    #[test]
    fn a_log_reports_writes_and_flushes() {
        let text = r#"{"jobs": [{"error": 0, "read": {"total_ios": 0},
            "write": {"total_ios": 7, "iops": 3.5, "lat_ns": {"mean": 200, "percentile":
            {"50.000000": 100, "95.000000": 800, "99.000000": 900}}},
            "sync": {"total_ios": 7, "lat_ns": {"mean": 20, "percentile":
            {"50.000000": 10, "95.000000": 80, "99.000000": 90}}}}]}"#;
        let flush = Latency { mean_ns: 20.0, p50_ns: 10.0, p95_ns: 80.0, p99_ns: 90.0 };
        let report = Report { operations: 7, iops: 3.5, latency: LATENCY, flush };
        assert_eq!(parse(text), Ok(report));
    }

    #[test]
    fn a_log_is_written_in_order_and_flushed_after_each_write() {
        let fio = Fio {
            engine: Engine::Null { bytes: 4096 },
            outstanding: 1,
            read_percent: 75,
            is_log: true,
            ramp_ms: 0,
            stop: Stop::Operations(1),
            extra: vec![],
        };
        let words = fio.words();
        let has = |word: &str| words.iter().any(|other| other == word);
        assert!(has("--rw=write") && has("--fdatasync=1"), "{words:?}");
        assert!(!has("--unified_rw_reporting=1"), "{words:?}");
        let words = Fio { is_log: false, ..fio }.words();
        assert!(!words.iter().any(|word| word.contains("sync")), "{words:?}");
    }

    #[test]
    fn a_failed_job_is_no_report() {
        let text = r#"{"jobs": [{"error": 5, "mixed": {"total_ios": 7}}]}"#;
        assert!(parse(text).unwrap_err().contains("error 5"));
        assert!(parse("nothing").is_err());
    }
}
