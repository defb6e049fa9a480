//! The other way round: a workload of Stormeter as a job file of fio.
//!
//! What fio cannot do is refused by name. Reading the job gives the same workload again.

use std::fmt::{self, Write};

use stormeter_trial::{Arrivals, Distribution, FlushEvery, Workload};
use thiserror::Error;

/// Where and for how long the jobs run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioSetting {
    /// The directory of the files.
    pub directory: String,
    /// Copies of each job, each with a file of its own.
    pub vms: u32,
    /// The warm-up.
    pub ramp_ns: u64,
    /// The measured window.
    pub duration_ns: u64,
}

/// Something that fio cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotInFio {
    /// The workload.
    pub workload: String,
    /// Its key in a study file.
    pub key: &'static str,
    /// Why.
    pub reason: String,
}

impl fmt::Display for NotInFio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.workload, self.key, self.reason)
    }
}

/// Why there is no job: all that fio cannot do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", lines(.0))]
pub struct NoFioJob(pub Vec<NotInFio>);

fn lines(what: &[NotInFio]) -> String {
    what.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Requests that an open loop in fio may have outstanding: fio has no unbounded queue.
const DEPTH_OF_OPEN_LOOPS: u32 = 1024;
/// Sizes that a `bssplit` can have.
const MOST_SIZES: usize = 64;

/// A job file with a job for each workload, one after another, each on files of this many bytes.
///
/// # Errors
/// Workloads that fio cannot have, each with its key.
pub fn fio_job_of(
    workloads: &[(&Workload, u64)],
    setting: &FioSetting,
) -> Result<String, NoFioJob> {
    let FioSetting { directory, vms, ramp_ns, duration_ns } = setting;
    let mut refused = Vec::new();
    let mut text = String::from("[global]\nioengine=io_uring\ndirect=1\n");
    let mut line = |key: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{key}={value}");
    };
    line("directory", directory);
    if *vms > 1 {
        line("numjobs", &vms.to_string());
    }
    if *ramp_ns > 0 {
        line("ramp_time", &time(*ramp_ns));
    }
    line("runtime", &time(*duration_ns));
    line("time_based", "1");
    line("norandommap", "1");
    line("refill_buffers", "1");
    line("group_reporting", "1");
    for (index, (workload, disk_bytes)) in workloads.iter().enumerate() {
        let _ = writeln!(text, "\n[{}]", workload.name);
        if index > 0 {
            text += "stonewall=1\n";
        }
        let mut job = Job { workload, lines: Vec::new(), refused: &mut refused };
        job.write();
        job.line("size", size(*disk_bytes));
        for (key, value) in job.lines {
            let _ = writeln!(text, "{key}={value}");
        }
    }
    if refused.is_empty() { Ok(text) } else { Err(NoFioJob(refused)) }
}

struct Job<'w> {
    workload: &'w Workload,
    lines: Vec<(&'static str, String)>,
    refused: &'w mut Vec<NotInFio>,
}

impl Job<'_> {
    fn line(&mut self, key: &'static str, value: impl ToString) {
        self.lines.push((key, value.to_string()));
    }

    fn refuse(&mut self, key: &'static str, reason: impl Into<String>) {
        let (workload, reason) = (self.workload.name.clone(), reason.into());
        self.refused.push(NotInFio { workload, key, reason });
    }

    /// A share as fio has it: a whole number.
    fn percent(&mut self, key: &'static str, of_fio: &'static str, percent: f64) {
        if percent.fract() == 0.0 {
            self.line(of_fio, percent);
        } else {
            self.refuse(key, format!("{of_fio} is a whole number, and {percent} is none"));
        }
    }

    fn write(&mut self) {
        let workload = self.workload;
        let (read, random) = (workload.read_percent, workload.random_percent);
        let kind = match (read == 100.0, read == 0.0) {
            (true, _) => "read",
            (_, true) => "write",
            _ => "rw",
        };
        self.line("rw", format!("{}{kind}", if random > 0.0 { "rand" } else { "" }));
        if kind == "rw" {
            self.percent("read", "rwmixread", read);
        }
        if random > 0.0 && random < 100.0 {
            self.percent("random", "percentage_random", random);
        }
        self.sizes();
        if let Distribution::Zipf { exponent } = workload.distribution
            && random > 0.0
        {
            match exponent == 1.0 {
                true => self.refuse("zipf", "fio's zipf takes any exponent but 1"),
                false => self.line("random_distribution", format!("zipf:{exponent}")),
            }
        }
        if let Some(align) = workload.alignment_bytes {
            self.line("blockalign", size(align));
        }
        self.pace();
        if workload.durable {
            self.line("sync", "dsync");
        }
        match workload.flush {
            Some(FlushEvery::Writes { writes }) => self.line("fdatasync", writes),
            Some(FlushEvery::Interval { .. }) => {
                self.refuse("flush", "fio flushes after a number of writes, not after a time");
            }
            None => {}
        }
        let content = workload.content;
        if content.compressible_percent > 0.0 {
            self.percent(
                "compressible",
                "buffer_compress_percentage",
                content.compressible_percent,
            );
        }
        if content.duplicate_percent > 0.0 {
            self.percent("dedupable", "dedupe_percentage", content.duplicate_percent);
        }
    }

    fn sizes(&mut self) {
        let sizes = &self.workload.sizes;
        if let [only] = sizes.as_slice() {
            return self.line("bs", size(u64::from(only.bytes)));
        }
        let total: f64 = sizes.iter().map(|size| size.share).sum();
        let mut parts = Vec::new();
        for one in sizes {
            let share = one.share / total * 100.0;
            if (share - share.round()).abs() > 1e-6 || share < 0.5 {
                let bytes = size(u64::from(one.bytes));
                return self.refuse(
                    "request-size",
                    format!("shares of bssplit are whole numbers, and {bytes} has {share} %"),
                );
            }
            parts.push(format!("{}/{}", size(u64::from(one.bytes)), share.round()));
        }
        if parts.len() > MOST_SIZES {
            return self.refuse("request-size", format!("bssplit has {MOST_SIZES} sizes at most"));
        }
        self.line("bssplit", parts.join(":"));
    }

    fn pace(&mut self) {
        let (rate, process) = match self.workload.arrivals {
            Arrivals::Closed { outstanding } => {
                self.line("iodepth", outstanding);
                return self.pauses();
            }
            Arrivals::Constant { rate_per_s } => (rate_per_s, "linear"),
            Arrivals::Poisson { rate_per_s } => (rate_per_s, "poisson"),
        };
        // fio limits reads and writes each for themselves.
        let reads = rate * self.workload.read_percent / 100.0;
        let rates = [reads, rate - reads];
        if rates.iter().any(|rate| (rate - rate.round()).abs() > 1e-6) {
            let [reads, writes] = rates;
            let reason = format!(
                "rate_iops are whole numbers, and {reads} reads and {writes} writes are not"
            );
            return self.refuse("rate", reason);
        }
        match rates {
            [_, 0.0] | [0.0, _] => self.line("rate_iops", rate.round()),
            [reads, writes] => {
                self.line("rate_iops", format!("{},{}", reads.round(), writes.round()))
            }
        }
        self.line("rate_process", process);
        self.line("io_submit_mode", "offload");
        self.line("iodepth", DEPTH_OF_OPEN_LOOPS);
    }

    fn pauses(&mut self) {
        let Some(burst) = self.workload.burst else { return };
        if burst.delay_ns % 1_000 != 0 {
            self.refuse("burst", "thinktime is in whole microseconds");
        }
        self.line("thinktime", burst.delay_ns / 1_000);
        self.line("thinktime_blocks", burst.length);
    }
}

/// A size in the largest unit of fio that divides it.
fn size(bytes: u64) -> String {
    let units = [("t", 1u64 << 40), ("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10)];
    let fits = units.into_iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    fits.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// A time in the largest unit of fio that divides it.
fn time(ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000)];
    let fits = units.into_iter().find(|(_, unit)| ns.is_multiple_of(*unit));
    fits.map_or_else(|| format!("{}us", ns / 1_000), |(name, unit)| format!("{}{name}", ns / unit))
}
