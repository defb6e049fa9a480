//! One of our measured runs: prepares the disks or reuses prepared ones, drives them once through
//! the same code as a comparison, and prints the result as one line of JSON.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde_json::json;
use stormeter_datastore::{
    Datastore, DatastoreUrl, DiskSpec, EngineChoice, Location, OpenOptions, Preparation, RealClock,
};
use stormeter_driver::ContentSource;
use stormeter_report::left_sentence;
use stormeter_runner::{Silent, TrialRun, run_trial};
use stormeter_study::Timing;
use stormeter_trial::{Arrivals, Content, Distribution, Ended, FlushEvery, SizeShare, Workload};

use crate::failure::Failure;
use crate::number::number;

/// The run that owns the test files: always the same one, so that each process finds the disks of
/// its predecessor.
pub(crate) const RUN_ID: &str = "00000000beac0000";
pub(crate) const SEED: u64 = 1;
pub(crate) const BLOCK_BYTES: u32 = 4096;

/// What to drive.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drive {
    /// `None`: the URL, otherwise `null:`.
    pub(crate) directory: Option<PathBuf>,
    /// A network datastore, or a device, whose data will be destroyed.
    pub(crate) url: Option<String>,
    /// The number of the directory's set of disks.
    pub(crate) number: u32,
    /// Determines which places are read and written.
    pub(crate) seed: u64,
    pub(crate) vms: u32,
    pub(crate) disk_bytes: u64,
    pub(crate) outstanding: u32,
    /// An open loop instead, in I/Os per second in total.
    pub(crate) rate_per_s: Option<u64>,
    /// With Poisson arrivals, otherwise evenly spaced.
    pub(crate) is_poisson: bool,
    pub(crate) read_percent: u32,
    /// Sequential writes, each followed by a flush, instead.
    pub(crate) is_log: bool,
    /// 0: one per CPU.
    pub(crate) threads: u32,
    pub(crate) ramp_ms: u64,
    /// 0: prepare only.
    pub(crate) duration_ms: u64,
    /// Remove the disks instead.
    pub(crate) remove: bool,
    /// Through an agent over a pipe instead of in this process; on `null:` only.
    pub(crate) agent: bool,
}

impl Default for Drive {
    fn default() -> Self {
        Self {
            directory: None,
            url: None,
            number: 0,
            seed: SEED,
            vms: 1,
            disk_bytes: 64 << 30,
            outstanding: 1,
            rate_per_s: None,
            is_poisson: false,
            read_percent: 75,
            is_log: false,
            threads: 1,
            ramp_ms: 0,
            duration_ms: 0,
            remove: false,
            agent: false,
        }
    }
}

impl Drive {
    /// Parses what [`Drive::words`] writes.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut drive = Self::default();
        while let Some(word) = words.next() {
            if word == "--remove" {
                drive.remove = true;
                continue;
            }
            if word == "--agent" {
                drive.agent = true;
                continue;
            }
            if word == "--log" {
                drive.is_log = true;
                continue;
            }
            if word == "--poisson" {
                drive.is_poisson = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            if word == "--dir" {
                drive.directory = Some(value.into());
                continue;
            }
            if word == "--url" {
                drive.url = Some(value);
                continue;
            }
            let value = number(&value)?;
            match word.as_str() {
                "--number" => drive.number = value as u32,
                "--seed" => drive.seed = value,
                "--vms" => drive.vms = value as u32,
                "--disk-bytes" => drive.disk_bytes = value,
                "--outstanding" => drive.outstanding = value as u32,
                "--rate" => drive.rate_per_s = Some(value),
                "--read-percent" => drive.read_percent = value as u32,
                "--threads" => drive.threads = value as u32,
                "--ramp-ms" => drive.ramp_ms = value,
                "--ms" => drive.duration_ms = value,
                _ => return Err(format!("unknown argument {word}")),
            }
        }
        Ok(drive)
    }

    /// The arguments for another process.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec!["drive".to_owned()];
        let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if let Some(directory) = &self.directory {
            add("--dir", directory.display().to_string());
        }
        if let Some(url) = &self.url {
            add("--url", url.clone());
        }
        if let Some(rate_per_s) = self.rate_per_s {
            add("--rate", rate_per_s.to_string());
        }
        for (name, value) in [
            ("--number", u64::from(self.number)),
            ("--seed", self.seed),
            ("--vms", u64::from(self.vms)),
            ("--disk-bytes", self.disk_bytes),
            ("--outstanding", u64::from(self.outstanding)),
            ("--read-percent", u64::from(self.read_percent)),
            ("--threads", u64::from(self.threads)),
            ("--ramp-ms", self.ramp_ms),
            ("--ms", self.duration_ms),
        ] {
            add(name, value.to_string());
        }
        if self.remove {
            words.push("--remove".into());
        }
        if self.agent {
            words.push("--agent".into());
        }
        if self.is_log {
            words.push("--log".into());
        }
        if self.is_poisson {
            words.push("--poisson".into());
        }
        words
    }

    pub(crate) fn timing(&self) -> Timing {
        Timing {
            ramp_ns: self.ramp_ms * 1_000_000,
            duration_ns: self.duration_ms * 1_000_000,
            interval_ns: 100_000_000,
        }
    }

    pub(crate) fn workload(&self) -> Workload {
        let rate_per_s = self.rate_per_s.map(|rate| rate as f64 / f64::from(self.vms));
        let arrivals = match rate_per_s {
            Some(rate_per_s) if self.is_poisson => Arrivals::Poisson { rate_per_s },
            Some(rate_per_s) => Arrivals::Constant { rate_per_s },
            None => Arrivals::Closed { outstanding: self.outstanding },
        };
        Workload {
            name: "bench".into(),
            sizes: vec![SizeShare { bytes: BLOCK_BYTES, share: 1.0 }],
            read_percent: if self.is_log { 0.0 } else { f64::from(self.read_percent) },
            random_percent: if self.is_log { 0.0 } else { 100.0 },
            distribution: Distribution::Uniform,
            alignment_bytes: None,
            arrivals,
            burst: None,
            content: Content::default(),
            durable: false,
            flush: self.is_log.then_some(FlushEvery::Writes { writes: 1 }),
        }
    }
}

/// The file of one disk in a directory or on an export.
pub(crate) fn disk_path(directory: &Path, number: u32, disk: u32) -> PathBuf {
    directory.join(format!(".stormeter-{RUN_ID}-{number}/disk-{disk:05}"))
}

/// Executes it.
pub(crate) fn run(drive: &Drive) -> Result<(), Failure> {
    let url = match (&drive.directory, &drive.url) {
        (Some(directory), _) => DatastoreUrl {
            location: Location::Directory(directory.clone()),
            direct: true,
            engine: EngineChoice::Auto,
        },
        (None, url) => DatastoreUrl::parse(url.as_deref().unwrap_or("null:"))
            .map_err(|error| error.to_string())?,
    };
    // The bench creates such devices itself.
    let destroy_data = match &url.location {
        Location::Device(path) => vec![path.clone()],
        _ => Vec::new(),
    };
    let options = OpenOptions {
        run_id: RUN_ID.into(),
        number: drive.number,
        destroy_data,
        ..OpenOptions::default()
    };
    let failed = |error: stormeter_datastore::DatastoreError| error.to_string();
    let mut datastore = Datastore::open(&url, options).map_err(failed)?;
    if drive.remove {
        let left = datastore.remove().map(|left| left_sentence(&left.into()));
        return left.map_or(Ok(()), Err);
    }
    let workload = drive.workload();
    let content = ContentSource::new(workload.content, SEED);
    datastore
        .prepare(Preparation {
            disks: DiskSpec {
                count: drive.vms,
                size_bytes: drive.disk_bytes,
                granularity_bytes: BLOCK_BYTES,
            },
            content_id: SEED,
            fill: &|disk, offset_bytes, bytes| content.fill(disk, offset_bytes, bytes),
            progress: &mut |_, _| {},
            cancelled: &|| false,
        })
        .map_err(failed)?;
    datastore.keep();
    if drive.duration_ms > 0 {
        println!("{}", measure(drive, &workload, &datastore)?);
    }
    Ok(())
}

fn measure(
    drive: &Drive,
    workload: &Workload,
    datastore: &Datastore,
) -> Result<serde_json::Value, Failure> {
    let run = TrialRun {
        workload,
        vms: drive.vms,
        disk_bytes: drive.disk_bytes,
        threads: drive.threads,
        timing: drive.timing(),
        seed: drive.seed,
        start: Default::default(),
        content_seed: 0,
        disturbed: false,
    };
    let cancel = AtomicBool::new(false);
    let end = run_trial(&run, datastore, None, &RealClock::new(), &cancel, &mut Silent)
        .map_err(|error| error.to_string())?;
    // Not `TrialEnd::failure`: under callgrind everything is slow enough for the two clocks, read
    // one after the other, to disagree.
    if end.sample.ended != Ended::Completed {
        return Err(end.sample.ended.to_string());
    }
    let total = end.sample.total();
    let percentile = |fraction| total.histogram.percentile_ns(fraction).unwrap_or(0.0);
    let flush = |fraction| end.sample.flushes.histogram.percentile_ns(fraction);
    let flush_mean_ns = end.sample.flushes.latency_mean_ns();
    let description = datastore.description();
    Ok(json!({
        "operations": total.operations + end.sample.ramp_operations,
        "iops": end.sample.iops(),
        "latency_mean_ns": total.latency_sum_ns as f64 / total.operations.max(1) as f64,
        "latency_p50_ns": percentile(0.50),
        "latency_p95_ns": percentile(0.95),
        "latency_p99_ns": percentile(0.99),
        "flush_mean_ns": flush_mean_ns,
        "flush_p50_ns": flush(0.50),
        "flush_p95_ns": flush(0.95),
        "flush_p99_ns": flush(0.99),
        "cpu_per_io_ns": end.cpu.initiator_ns() as f64 / total.operations.max(1) as f64,
        "peak_memory_bytes": peak_memory_bytes(),
        "engine": description.engine,
        "direct": description.direct,
    }))
}

/// The peak resident memory of this process (proc(5): `VmHWM`).
fn peak_memory_bytes() -> Option<u64> {
    crate::process::high_water_bytes(&fs::read_to_string("/proc/self/status").ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_reads_the_same_drive() {
        let drive = Drive {
            directory: Some("/some where".into()),
            url: Some("nfs://host/a b?uid=1".into()),
            number: 2,
            seed: 8,
            vms: 3,
            disk_bytes: 4 << 20,
            outstanding: 5,
            rate_per_s: Some(6),
            is_poisson: true,
            read_percent: 100,
            is_log: true,
            threads: 7,
            ramp_ms: 8,
            duration_ms: 9,
            remove: true,
            agent: true,
        };
        assert_eq!(Drive::parse(drive.words().into_iter().skip(1)), Ok(drive));
    }

    #[test]
    fn a_drive_leaves_disks_for_the_next_one_until_asked_to_remove_them() {
        let directory = tempfile::tempdir().unwrap();
        let mut drive = Drive {
            directory: Some(directory.path().into()),
            disk_bytes: 1 << 20,
            ..Drive::default()
        };
        run(&drive).unwrap();
        let path = disk_path(directory.path(), 0, 0);
        let written = fs::metadata(&path).unwrap();
        assert_eq!(written.len(), 1 << 20);
        run(&drive).unwrap();
        let again = fs::metadata(&path).unwrap();
        assert_eq!(again.modified().unwrap(), written.modified().unwrap());
        drive.remove = true;
        run(&drive).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn null_servers_are_driven_by_url() {
        let nfs = stormeter_server::NullNfs::bind(0).unwrap();
        let target = stormeter_server::NullIscsi::bind(0).unwrap();
        let urls = [
            format!("nfs://127.0.0.1:{}/null", nfs.port()),
            format!("iscsi://127.0.0.1:{}/{}/0", target.port(), target.target()),
        ];
        let _running = (nfs.spawn().unwrap(), target.spawn().unwrap());
        for url in urls {
            for read_percent in [0, 100] {
                let drive = Drive {
                    url: Some(url.clone()),
                    disk_bytes: 1 << 20,
                    read_percent,
                    duration_ms: 20,
                    ..Drive::default()
                };
                assert_eq!(run(&drive), Ok(()), "{url}");
            }
        }
    }
}
