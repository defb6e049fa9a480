//! Why a comparison cannot be executed, and what to change.

use stormeter_trial::WorkloadError;

/// A plan that cannot be executed, and what to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Fewer than two datastores.
    #[error(
        "a comparison needs at least two datastores, not {0}; \
         name the same one twice to see how much it differs from itself"
    )]
    TooFewDatastores(usize),
    /// A server, which has no disks.
    #[error(
        "{0} is a server, which has no disks to compare; its services are for studies: write workloads with ftp \
         or vnc in a study file, and carry that out with `stormeter run`"
    )]
    Server(String),
    /// The baseline is not one of the datastores.
    #[error("the baseline {0:?} is none of the datastores compared; they are {1}")]
    Baseline(String, String),
    /// A precision that is out of range.
    #[error(
        "a precision of {0}% cannot be reached; give one above 0% and at most 100%, such as 2%"
    )]
    Precision(f64),
    /// A margin outside its range.
    #[error("a margin of {0}% makes no sense; give one above 0% and below 100%, such as 5%")]
    Margin(f64),
    /// Fewer blocks than an interval needs.
    #[error(
        "at most {most} blocks are too few for an interval; allow {least} or more, or give a time limit instead"
    )]
    Blocks {
        /// The given maximum.
        most: u32,
        /// The required minimum.
        least: u32,
    },
    /// There are no VMs.
    #[error("0 VMs do no I/O; give at least 1")]
    NoVms,
    /// A trial without a window.
    #[error("a trial of {0} is too short to measure; use at least 100ms")]
    Duration(String),
    /// An interval that does not divide the window into rows.
    #[error("an interval of {interval} does not fit into a trial of {duration}")]
    Interval {
        /// The given interval.
        interval: String,
        /// The window.
        duration: String,
    },
    /// A metric that a fixed rate determines.
    #[error(
        "at a fixed rate {0} is equal by construction; compare latency-mean, latency-p99 or \
         cpu-per-io"
    )]
    FixedByRate(&'static str),
    /// A metric of open loops in a closed loop.
    #[error(
        "a closed loop has no {0} of its own: what it issues is never late, and its service time is its \
         latency; compare latency-mean or latency-p99, or give a rate"
    )]
    ClosedLoop(&'static str),
    /// A metric of flushes without flushes.
    #[error(
        "this workload never flushes, so it has no {0}; let it flush, for example every 8 writes, or compare \
         latency-p99"
    )]
    NoFlushes(&'static str),
    /// A metric of durable writes without any.
    #[error(
        "no write of this workload is durable, so it has no {0}; make its writes durable, or compare latency-p99"
    )]
    NoDurableWrites(&'static str),
    /// A rate of zero or less.
    #[error("an equal load of {0} I/Os a second generates no load; give a rate above 0, or auto")]
    Rate(f64),
    /// The workload itself is invalid.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
