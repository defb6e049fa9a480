//! Our side's runs: this program again, with the command `drive`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::drive::Drive;
use crate::failure::Failure;
use crate::process::{self, Ended};

/// The last set of disks that any section creates.
pub(crate) const LAST_NUMBER: u32 = 2;

/// Latency statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Latency {
    pub(crate) mean_ns: f64,
    pub(crate) p50_ns: f64,
    pub(crate) p95_ns: f64,
    pub(crate) p99_ns: f64,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    /// I/Os, including those of the ramp.
    pub(crate) operations: u64,
    pub(crate) iops: f64,
    pub(crate) latency: Latency,
    /// That of flushes. Not numbers if there were none.
    pub(crate) flush: Latency,
    /// CPU time of the process per I/O, within the window.
    pub(crate) cpu_per_io_ns: f64,
    pub(crate) peak_memory_bytes: u64,
    /// Whether it used what fio is asked for too: io_uring, direct.
    pub(crate) comparable: bool,
}

/// Runs a drive, under another command if there are `before` words.
pub(crate) fn run(drive: &Drive, before: &[String]) -> Result<(Report, Ended), Failure> {
    let ended = process::run(&words(drive, before)?)?;
    let value: Value = serde_json::from_str(&ended.output)
        .map_err(|error| format!("our own run gave no JSON ({error}): {}", ended.output))?;
    let float = |name: &str| value[name].as_f64().unwrap_or(f64::NAN);
    let report = Report {
        operations: value["operations"].as_u64().ok_or("our own run counted no I/Os")?,
        iops: float("iops"),
        latency: Latency {
            mean_ns: float("latency_mean_ns"),
            p50_ns: float("latency_p50_ns"),
            p95_ns: float("latency_p95_ns"),
            p99_ns: float("latency_p99_ns"),
        },
        flush: Latency {
            mean_ns: float("flush_mean_ns"),
            p50_ns: float("flush_p50_ns"),
            p95_ns: float("flush_p95_ns"),
            p99_ns: float("flush_p99_ns"),
        },
        cpu_per_io_ns: float("cpu_per_io_ns"),
        peak_memory_bytes: value["peak_memory_bytes"].as_u64().unwrap_or(u64::MAX),
        comparable: value["engine"] == "io_uring" && value["direct"] == true,
    };
    if drive.directory.is_some() && !report.comparable {
        return Err("the directory gives no direct I/O by io_uring, which fio is asked for too; \
                    give another --dir"
            .into());
    }
    Ok((report, ended))
}

/// Runs a drive that only prepares, and therefore prints nothing.
pub(crate) fn prepare(drive: &Drive) -> Result<(), Failure> {
    process::run(&words(drive, &[])?).map(drop)
}

fn words(drive: &Drive, before: &[String]) -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut words = before.to_vec();
    words.push(program.display().to_string());
    words.extend(drive.words());
    Ok(words)
}

/// The directory of the test files; what was created there is removed when this is dropped.
pub(crate) struct Store {
    directory: PathBuf,
    made: bool,
}

impl Store {
    pub(crate) fn new(directory: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        let made = !directory.exists();
        fs::create_dir_all(directory).map_err(failed)?;
        Ok(Self { directory: directory.canonicalize().map_err(failed)?, made })
    }

    /// Writes the disks of `number` fully; runs on them start from this drive.
    pub(crate) fn prepare(&self, number: u32, vms: u32, disk_bytes: u64) -> Result<Drive, Failure> {
        let directory = Some(self.directory.clone());
        let drive = Drive { directory, number, vms, disk_bytes, ..Drive::default() };
        prepare(&drive)?;
        Ok(drive)
    }

    /// Removes the disks that `drive` was made for.
    pub(crate) fn remove(&self, drive: &Drive) -> Result<(), Failure> {
        let remove = Drive { remove: true, ..drive.clone() };
        process::run(&words(&remove, &[])?).map(drop)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // After an error some disks may remain; opening by the same run takes over each set and
        // removes it.
        for number in 0..=LAST_NUMBER {
            let directory = Some(self.directory.clone());
            let drive = Drive { directory, number, ..Drive::default() };
            let _ = self.remove(&drive);
        }
        if self.made {
            // Fails if other files were put there meanwhile, which then stay.
            let _ = fs::remove_dir(&self.directory);
        }
    }
}
