//! What a profile of DiskSpd asks for in a time span.

use quick_xml::events::BytesStart;

use crate::run::{Load, Pattern};

use super::number::whole;

/// A time span of the profile.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Milliseconds of an interval.
    pub(super) interval_ms: u64,
    duration_s: Option<u64>,
    warm_up_s: Option<u64>,
    /// Threads of all targets together; 0: each target has its own.
    threads: u64,
    /// I/Os in flight of each thread, over all its targets; 0: per target.
    requests: u64,
    targets: Vec<Target>,
}

/// A target of the profile.
#[derive(Debug, Default)]
struct Target {
    path: String,
    block: Option<u64>,
    /// Places are random (with this alignment); else they follow each other.
    random: bool,
    random_percent: Option<u64>,
    write_percent: u64,
    requests: u64,
    threads: u64,
    direct: bool,
    write_through: bool,
    mapped: bool,
    /// Whether a part of the file is used.
    part: bool,
    /// I/Os or bytes per millisecond of each thread, and which it is.
    rate: Option<u64>,
    rate_in_operations: bool,
}

impl Asked {
    /// Memory of a target, without its path.
    pub(super) const TARGET_BYTES: usize = size_of::<Target>();

    /// An element below `Targets` that begins.
    pub(super) fn start(&mut self, path: &[&str], start: &BytesStart<'_>) {
        match (path, self.targets.last_mut()) {
            (["Target"], _) => self.targets.push(Target::default()),
            (["Target", "Throughput"], Some(target)) => {
                target.rate_in_operations = matches!(
                    start.try_get_attribute("unit"),
                    Ok(Some(unit)) if unit.value == "IOPS"
                );
            }
            _ => {}
        }
    }

    /// An element below the time span that ends.
    pub(super) fn value(&mut self, path: &[&str], text: &str) -> Result<(), String> {
        match path {
            ["Duration"] => self.duration_s = Some(whole(text)?),
            ["Warmup"] => self.warm_up_s = Some(whole(text)?),
            ["IoBucketDuration"] => self.interval_ms = whole(text)?,
            ["ThreadCount"] => self.threads = whole(text)?,
            ["RequestCount"] => self.requests = whole(text)?,
            ["Targets", "Target", field] => {
                if let Some(target) = self.targets.last_mut() {
                    target.value(field, text)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The paths.
    pub(super) fn target(&self) -> Option<String> {
        let paths: Vec<_> = self.targets.iter().map(|target| target.path.as_str()).collect();
        (!paths.is_empty()).then(|| paths.join(", "))
    }

    /// Whether only parts of files are used, of which the results state the whole sizes.
    pub(super) fn parts(&self) -> bool {
        self.targets.iter().any(|target| target.part)
    }

    /// The load, by this number of threads.
    pub(super) fn load(&self, workers: Option<u64>) -> Load {
        let targets = &self.targets;
        let threads =
            |target: &Target| if self.threads > 0 { self.threads } else { target.threads };
        let write = same(targets, |target| Some(target.write_percent));
        let outstanding = match self.requests {
            0 => targets.iter().try_fold(0u64, |sum, target| {
                sum.checked_add(target.requests.checked_mul(threads(target))?)
            }),
            requests => workers.and_then(|workers| workers.checked_mul(requests)),
        };
        let rates: Option<f64> = targets.iter().map(|target| target.rate(threads(target))).sum();
        let durability =
            if targets.iter().any(|target| target.write_through) { "write-through" } else { "" };
        let all = |of: fn(&Target) -> bool| targets.iter().all(of);
        Load {
            request_bytes: same(targets, |target| target.block),
            read_share: write.filter(|&percent| percent <= 100).map(|p| (100 - p) as f64 / 100.0),
            pattern: same(targets, Target::pattern),
            outstanding: outstanding.filter(|&count| count > 0),
            workers,
            rate_per_s: rates.filter(|_| !targets.is_empty()),
            direct: (!targets.is_empty()).then(|| all(|target| target.direct)),
            durability: (!targets.is_empty()).then(|| durability.to_string()),
            engine: (!targets.is_empty() && all(|target| target.mapped))
                .then(|| "memory-mapped".to_string()),
            ramp_s: self.warm_up_s.map(|seconds| seconds as f64),
            duration_s: self.duration_s.map(|seconds| seconds as f64),
            ..Load::default()
        }
    }
}

impl Target {
    fn value(&mut self, field: &str, text: &str) -> Result<(), String> {
        match field {
            "Path" => self.path = text.to_string(),
            "BlockSize" => self.block = Some(whole(text)?),
            "Random" => self.random = whole(text)? > 0,
            "RandomRatio" => self.random_percent = Some(whole(text)?),
            "WriteRatio" => self.write_percent = whole(text)?,
            "RequestCount" => self.requests = whole(text)?,
            "ThreadsPerFile" => self.threads = whole(text)?,
            "Throughput" => self.rate = Some(whole(text)?),
            "BaseFileOffset" | "MaxFileSize" => self.part |= whole(text)? > 0,
            "DisableOSCache" => self.direct |= text == "true",
            "WriteThrough" => self.write_through |= text == "true",
            // Of older versions: both of the above.
            "DisableAllCache" if text == "true" => {
                self.direct = true;
                self.write_through = true;
            }
            "MemoryMappedIo" => self.mapped = text == "true",
            _ => {}
        }
        Ok(())
    }

    fn pattern(&self) -> Option<Pattern> {
        Some(match (self.random, self.random_percent) {
            (false, _) | (_, Some(0)) => Pattern::Sequential,
            (true, None | Some(100..)) => Pattern::Random,
            (true, Some(percent)) => Pattern::Mixed(percent as f64 / 100.0),
        })
    }

    /// I/Os per second that are offered, by this number of threads.
    fn rate(&self, threads: u64) -> Option<f64> {
        let rate = self.rate.filter(|&rate| rate > 0)? as f64 * threads as f64;
        match self.block {
            _ if self.rate_in_operations => Some(rate),
            Some(block) if block > 0 => Some(rate * 1000.0 / block as f64),
            _ => None,
        }
    }
}

/// The value that all have.
fn same<T: PartialEq>(targets: &[Target], of: impl Fn(&Target) -> Option<T>) -> Option<T> {
    let first = of(targets.first()?)?;
    targets.iter().all(|target| of(target).as_ref() == Some(&first)).then_some(first)
}
