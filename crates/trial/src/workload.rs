//! What one VM's I/O looks like: the description within a trial, as a plain value.
//!
//! Iometer calls this an access specification. It does not say where the disk is or how many VMs
//! there are. It can be written to JSON and read back unchanged, because a trial may be sent to an
//! agent on another machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_units::format_bytes;

/// The I/O of one virtual disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Workload {
    /// The profile's name, or one chosen by the user.
    pub name: String,
    /// Request sizes with their shares; shares are relative and need not sum to 100.
    pub sizes: Vec<SizeShare>,
    /// Share of reads, 0 to 100.
    pub read_percent: f64,
    /// Share of requests to random places, 0 to 100; the rest follow the previous request.
    pub random_percent: f64,
    /// How random places are spread over the disk.
    pub distribution: Distribution,
    /// Offsets are multiples of this; `None`: of the request's own size.
    pub alignment_bytes: Option<u64>,
    /// When requests are issued.
    pub arrivals: Arrivals,
    /// Groups of requests with a pause after each group (closed loop only).
    pub burst: Option<Burst>,
    /// The contents of written data.
    pub content: Content,
    /// Every write is durable: it completes when its bytes are on stable storage.
    #[serde(default)]
    pub durable: bool,
    /// When the disk is flushed; `None`: never.
    #[serde(default)]
    pub flush: Option<FlushEvery>,
}

/// When a disk is flushed. A flush covers the writes to its disk that completed before it was submitted; its latency
/// is its own and part of no read's or write's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FlushEvery {
    /// When this many writes to the disk have completed since the last flush was submitted. In a closed loop the
    /// request that follows the last of them waits until the flush completes, as a caller of `fdatasync` does:
    /// with one outstanding I/O, writes and flushes strictly take turns. In an open loop and between bursts nothing
    /// waits, and a flush that falls due while one is outstanding follows it.
    Writes {
        /// The number of writes, at least 1.
        writes: u32,
    },
    /// At equal intervals, if anything was written since the last flush was submitted, while the other requests go on
    /// and wait for nothing: as the commits of a journaling file system.
    Interval {
        /// The interval.
        ns: u64,
    },
}

/// A request size and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeShare {
    /// Request size.
    pub bytes: u32,
    /// Relative share.
    pub share: f64,
}

/// How random requests are spread over the disk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Distribution {
    /// Every place equally often.
    Uniform,
    /// The k-th hottest place is visited in proportion to 1/k^exponent; the hot places are
    /// scattered over the disk.
    Zipf {
        /// Skew, above 0 and at most 5; 1.1 sends about half of the requests to 1 % of a large disk.
        exponent: f64,
    },
}

/// When requests are issued.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Arrivals {
    /// Closed loop: every disk keeps this many requests outstanding.
    Closed {
        /// Requests outstanding per disk.
        outstanding: u32,
    },
    /// Open loop: requests fall due at equal intervals, whether or not earlier ones have ended.
    Constant {
        /// Requests per second, per disk.
        rate_per_s: f64,
    },
    /// Open loop: a Poisson process, as from independent users.
    Poisson {
        /// Mean requests per second, per disk.
        rate_per_s: f64,
    },
}

impl Arrivals {
    /// The offered rate of an open loop per disk, in requests per second.
    pub fn rate_per_s(self) -> Option<f64> {
        match self {
            Arrivals::Closed { .. } => None,
            Arrivals::Constant { rate_per_s } | Arrivals::Poisson { rate_per_s } => {
                Some(rate_per_s)
            }
        }
    }
}

/// Requests come in groups: `length` of them, then, when all have ended, a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// Requests in a group.
    pub length: u32,
    /// Pause after a group (think time).
    pub delay_ns: u64,
}

/// The contents of written data. Random by default, so that a datastore that compresses or
/// deduplicates gains nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Content {
    /// Share of every 4 KiB that a compressor can remove, 0 to 100.
    pub compressible_percent: f64,
    /// Share of written blocks that are copies of one another, 0 to 100.
    pub duplicate_percent: f64,
}

impl Default for Content {
    fn default() -> Self {
        Self { compressible_percent: 0.0, duplicate_percent: 0.0 }
    }
}

/// A workload that cannot be driven, and what to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// No request size was given.
    #[error("workload {0:?} has no request size; give one, such as 4KiB")]
    NoSize(String),
    /// A request size of zero, or over 1 GiB.
    #[error("request size {0} bytes is outside 512 bytes to 64 MiB")]
    Size(u32),
    /// A share that is not positive.
    #[error("the share of request size {bytes} must be above 0, not {share}")]
    Share {
        /// The size to which it belongs.
        bytes: u32,
        /// The value.
        share: f64,
    },
    /// A percentage outside 0 to 100.
    #[error("{what} must be between 0% and 100%, not {value}%")]
    Percent {
        /// The name of the percentage.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// A rate that is out of range.
    #[error("a rate of {0} requests a second generates no load; give a rate above 0")]
    Rate(f64),
    /// A queue depth of zero.
    #[error("0 outstanding I/Os drive nothing; give at least 1 (at most 65536)")]
    Outstanding(u32),
    /// A skew outside what the sampler can draw.
    #[error("a zipf exponent must lie above 0 and at most 5, not {0}")]
    Zipf(f64),
    /// An alignment of zero.
    #[error("an alignment of {0} bytes is not a multiple of 512")]
    Alignment(u64),
    /// Bursts belong to closed loops.
    #[error("bursts with pauses need a closed loop; leave out the rate or the burst")]
    BurstInOpenLoop,
    /// Flushes without writes.
    #[error(
        "a flush puts written data on stable storage, and this workload writes none; leave out {0}"
    )]
    NothingWritten(&'static str),
    /// A flush after no write, or after no time.
    #[error("flush every {0} would flush without end; give at least 1 write or 1ms")]
    FlushWithoutEnd(&'static str),
    /// A burst without requests.
    #[error("a burst needs at least 1 request")]
    EmptyBurst,
    /// The disk is too small for one request.
    #[error(
        "a disk of {} has no room for a request of {}; use larger disks",
        format_bytes(*disk_bytes),
        format_bytes(*request_bytes)
    )]
    DiskTooSmall {
        /// Size of a disk.
        disk_bytes: u64,
        /// The largest request, rounded to its alignment.
        request_bytes: u64,
    },
    /// Blocks smaller than a sector have no space for what verification needs.
    #[error(
        "verify needs requests in multiples of 512 bytes, and these are in multiples of {0}; \
         use another request size or alignment"
    )]
    VerifyGranularity(u64),
    /// Blocks that are copies of one another cannot be identified.
    #[error(
        "verify writes blocks that all differ, so none can be a copy of another; leave out \
         dedupable or verify"
    )]
    VerifyDuplicates,
    /// Without reads nothing is verified.
    #[error(
        "verify looks at what reads return, and this workload has none; give it a read share, or leave out verify"
    )]
    VerifyNoReads,
    /// Too many outstanding I/Os for the disk's places.
    #[error(
        "verify keeps outstanding I/Os from overlapping, and a disk of {} has no room for {outstanding} \
         of these; use larger disks, or at most {most} outstanding I/Os",
        format_bytes(*disk_bytes)
    )]
    VerifyRoom {
        /// I/Os that may be outstanding at once.
        outstanding: u32,
        /// Size of a disk.
        disk_bytes: u64,
        /// The most that fit.
        most: u32,
    },
    /// Expectations for other disks, or none.
    #[error(
        "a trial that verifies needs what is expected of just its disks; drive it with \
         `drive_verified`, and one that does not with `drive`"
    )]
    VerifyExpectations,
    /// Disks that store no contents.
    #[error("these disks keep no content, so there is nothing to verify; leave out verify")]
    VerifyNoContent,
}

impl Workload {
    /// The largest request, in bytes.
    pub fn largest_bytes(&self) -> u32 {
        self.sizes.iter().map(|size| size.bytes).max().unwrap_or(0)
    }

    /// The mean request, in bytes, by the shares.
    pub fn mean_bytes(&self) -> f64 {
        let shares: f64 = self.sizes.iter().map(|size| size.share).sum();
        self.sizes.iter().map(|size| f64::from(size.bytes) * size.share).sum::<f64>() / shares
    }

    /// The coarsest power of two of which every offset and length is a multiple: a device's logical
    /// block must divide it for direct I/O.
    pub fn granularity_bytes(&self) -> u64 {
        let mut bits = self.alignment_bytes.unwrap_or(0);
        for size in &self.sizes {
            bits |= u64::from(size.bytes);
        }
        1 << bits.trailing_zeros().min(63)
    }

    /// Checks that this can be driven on a disk of `disk_bytes`.
    pub fn check(&self, disk_bytes: u64) -> Result<(), WorkloadError> {
        if self.sizes.is_empty() {
            return Err(WorkloadError::NoSize(self.name.clone()));
        }
        for size in &self.sizes {
            if size.bytes < 512 || size.bytes > 64 << 20 {
                return Err(WorkloadError::Size(size.bytes));
            }
            if !(size.share > 0.0 && size.share.is_finite()) {
                return Err(WorkloadError::Share { bytes: size.bytes, share: size.share });
            }
        }
        for (what, value) in [
            ("the share of reads", self.read_percent),
            ("the share of random requests", self.random_percent),
            ("the compressible share", self.content.compressible_percent),
            ("the duplicate share", self.content.duplicate_percent),
        ] {
            if !(0.0..=100.0).contains(&value) {
                return Err(WorkloadError::Percent { what, value });
            }
        }
        match self.arrivals {
            Arrivals::Closed { outstanding } if outstanding == 0 || outstanding > 65_536 => {
                return Err(WorkloadError::Outstanding(outstanding));
            }
            Arrivals::Constant { rate_per_s } | Arrivals::Poisson { rate_per_s } => {
                // Below one request in three hours a trial has no request at all.
                if !(1e-4..=1e9).contains(&rate_per_s) {
                    return Err(WorkloadError::Rate(rate_per_s));
                }
                if self.burst.is_some() {
                    return Err(WorkloadError::BurstInOpenLoop);
                }
            }
            Arrivals::Closed { .. } => {}
        }
        if let Distribution::Zipf { exponent } = self.distribution
            && !(exponent > 0.0 && exponent <= 5.0)
        {
            return Err(WorkloadError::Zipf(exponent));
        }
        if let Some(alignment) = self.alignment_bytes
            && (alignment == 0 || alignment % 512 != 0)
        {
            return Err(WorkloadError::Alignment(alignment));
        }
        if self.burst.is_some_and(|burst| burst.length == 0) {
            return Err(WorkloadError::EmptyBurst);
        }
        self.check_durability()?;
        let request_bytes = u64::from(self.largest_bytes());
        if disk_bytes < request_bytes {
            return Err(WorkloadError::DiskTooSmall { disk_bytes, request_bytes });
        }
        Ok(())
    }
}

/// The shortest interval between flushes.
pub(crate) const FLUSH_INTERVAL_MIN_NS: u64 = 1_000_000;

impl Workload {
    /// Whether it writes at all.
    pub fn writes(&self) -> bool {
        self.read_percent < 100.0
    }

    /// Whether every byte that it writes is on stable storage soon: each write is durable, or flushes follow.
    pub fn asks_for_durability(&self) -> bool {
        self.durable || self.flush.is_some()
    }

    fn check_durability(&self) -> Result<(), WorkloadError> {
        if !self.writes() && self.asks_for_durability() {
            let what = if self.durable { "durable" } else { "flush" };
            return Err(WorkloadError::NothingWritten(what));
        }
        match self.flush {
            Some(FlushEvery::Writes { writes: 0 }) => {
                Err(WorkloadError::FlushWithoutEnd("0 writes"))
            }
            Some(FlushEvery::Interval { ns }) if ns < FLUSH_INTERVAL_MIN_NS => {
                Err(WorkloadError::FlushWithoutEnd("less than 1ms"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plain() -> Workload {
        Workload {
            name: "test".into(),
            sizes: vec![SizeShare { bytes: 4096, share: 1.0 }],
            read_percent: 75.0,
            random_percent: 100.0,
            distribution: Distribution::Uniform,
            alignment_bytes: None,
            arrivals: Arrivals::Closed { outstanding: 4 },
            burst: None,
            content: Content::default(),
            durable: false,
            flush: None,
        }
    }

    #[test]
    fn each_mistake_has_its_own_message() {
        type Change = fn(&mut Workload);
        let changes: [(Change, &str); 16] = [
            (|w| w.sizes.clear(), "no request size"),
            (|w| w.sizes[0].bytes = 0, "request size 0"),
            (|w| w.sizes[0].share = 0.0, "must be above 0"),
            (|w| w.read_percent = 101.0, "share of reads"),
            (|w| w.random_percent = -1.0, "random requests"),
            (|w| w.content.compressible_percent = f64::NAN, "compressible"),
            (|w| w.arrivals = Arrivals::Constant { rate_per_s: 0.0 }, "generates no load"),
            (|w| w.arrivals = Arrivals::Closed { outstanding: 0 }, "0 outstanding"),
            (|w| w.distribution = Distribution::Zipf { exponent: 0.0 }, "zipf"),
            (|w| w.alignment_bytes = Some(100), "alignment"),
            (|w| w.burst = Some(Burst { length: 0, delay_ns: 1 }), "burst"),
            (|w| w.sizes[0].bytes = 32 << 20, "larger disks"),
            (|w| w.flush = Some(FlushEvery::Writes { writes: 0 }), "0 writes"),
            (|w| w.flush = Some(FlushEvery::Interval { ns: 1000 }), "1ms"),
            (|w| (w.read_percent, w.durable) = (100.0, true), "leave out durable"),
            (
                |w| (w.read_percent, w.flush) = (100.0, Some(FlushEvery::Writes { writes: 1 })),
                "leave out flush",
            ),
        ];
        assert_eq!(plain().check(1 << 20), Ok(()));
        for (change, words) in changes {
            let mut workload = plain();
            change(&mut workload);
            let message = workload.check(1 << 20).expect_err(words).to_string();
            assert!(message.contains(words), "{message:?} should say {words:?}");
        }
    }

    #[test]
    fn granularity_is_the_common_power_of_two() {
        let mut workload = plain();
        assert_eq!(workload.granularity_bytes(), 4096);
        workload.sizes.push(SizeShare { bytes: 512, share: 1.0 });
        assert_eq!(workload.granularity_bytes(), 512);
    }

    #[test]
    fn the_mean_size_follows_the_shares() {
        let mut workload = plain();
        workload.sizes =
            vec![SizeShare { bytes: 4096, share: 3.0 }, SizeShare { bytes: 8192, share: 1.0 }];
        assert_eq!(workload.mean_bytes(), 5120.0);
    }
}
