//! Everything that the report of a comparison shows, as one plain value.
//!
//! Times are nanoseconds, rates are per second, shares are fractions unless a name says per cent.

use serde::{Deserialize, Serialize};
use stormeter_results::{DatastoreDescription, Header};
use stormeter_statistics::{Comparison, Interval, Touched};
use stormeter_study::Metric;
use stormeter_trial::{Arrivals, Verified, Workload};

use crate::model::{Finding, SeriesPoint, Status};

/// A comparison of datastores, measured and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compact {
    /// What was planned, on which machine, with which datastores.
    pub header: Header,
    /// How far it got and why it ended.
    pub status: Status,
    /// The datastores in the order of the plan; other parts refer to them by index.
    pub datastores: Vec<Datastore>,
    /// Each candidate compared with the baseline, the primary metric first.
    pub comparisons: Vec<MetricComparison>,
    /// The findings of laws and checks, the most severe first.
    pub findings: Vec<Finding>,
    /// That the datastores promise different things about an acknowledged write, which follows the verdicts; it is
    /// not in `findings`.
    #[serde(default)]
    pub unlike_promises: Option<Finding>,
    /// Each trial over time, in the order of the run.
    pub trials: Vec<TrialSeries>,
    /// Latencies of each datastore, merged over its trials.
    pub latencies: Vec<LatencyDistribution>,
    /// CPU time per I/O of each datastore.
    pub cpu: Vec<CpuPerIo>,
    /// The ceiling of the load generator.
    pub ceiling: Option<Ceiling>,
    /// The measured ceilings of the paths to datastores in the network.
    #[serde(default)]
    pub way_ceilings: Vec<WayCeiling>,
    /// The command that repeats the run, seed included, ready for a shell.
    pub repeat_command: String,
}

/// A datastore and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Datastore {
    /// Its name in tables and charts: short and unique (see [`crate::labels`]).
    pub label: String,
    /// Its description.
    pub description: DatastoreDescription,
    /// Its metrics as absolute values, without those that could not be measured.
    pub values: Vec<MetricValue>,
    /// Whether its reads returned what was written, over all trials; `None` without verification.
    #[serde(default)]
    pub verified: Option<Verified>,
    /// How much of its disks its trials touched; `None` where that is unknown.
    #[serde(default)]
    pub touched: Option<Touched>,
}

/// A metric of a datastore over its trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MetricValue {
    /// The metric.
    pub metric: Metric,
    /// Mean over the trials, in the metric's unit.
    pub value: f64,
    /// Its interval; `None` with fewer than two trials.
    pub interval: Option<Interval>,
    /// Number of trials.
    pub n: usize,
}

/// A metric of a candidate compared with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricComparison {
    /// Index of the baseline.
    pub baseline: usize,
    /// Index of the candidate.
    pub candidate: usize,
    /// The metric.
    pub metric: Metric,
    /// Whether it carries the verdict; the others are shown in addition, adjusted by Holm.
    pub primary: bool,
    /// Ratio, interval and verdict.
    pub comparison: Comparison,
}

/// A trial over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSeries {
    /// Index of the datastore.
    pub datastore: usize,
    /// The block, counted from 0.
    pub block: u32,
    /// Start of the trial since the start of the run, ramp included.
    pub start_ns: u64,
    /// End of the trial since the start of the run.
    pub end_ns: u64,
    /// I/Os a second over the whole measured window.
    pub iops: f64,
    /// Mean latency over it; `None` without an I/O.
    pub latency_mean_ns: Option<f64>,
    /// One point for each interval of the measured window.
    pub points: Vec<SeriesPoint>,
}

/// The latencies of one datastore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyDistribution {
    /// Index of the datastore.
    pub datastore: usize,
    /// The merged histogram, in ascending order.
    pub buckets: Vec<Bucket>,
    /// Points of the percentile curve, in ascending order, at the [`curve_fractions`].
    pub percentiles: Vec<PercentilePoint>,
    /// The same for service times, which only an open loop has in addition to latencies.
    #[serde(default)]
    pub service: Vec<PercentilePoint>,
}

/// How many I/Os took how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Lowest latency of the bucket.
    pub low_ns: u64,
    /// Lowest latency of the next bucket.
    pub high_ns: u64,
    /// I/Os.
    pub count: u64,
}

/// A point of the percentile curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentilePoint {
    /// Share of the I/Os that took at most this long: 0.99 for p99.
    pub fraction: f64,
    /// The latency.
    pub latency_ns: f64,
}

/// CPU time per I/O of a datastore, in parts that add up to the host's: its busy time less its idle load and
/// less the tool's own constant part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CpuPerIo {
    /// Index of the datastore.
    pub datastore: usize,
    /// User time of the driving threads.
    pub threads_user_ns: f64,
    /// System time of the driving threads.
    pub threads_system_ns: f64,
    /// The rest of this process: the kernel's io_uring workers, the positional engine's threads.
    pub process_other_ns: f64,
    /// The target: the server's processes on this machine. `None` where there are none, or where their time is
    /// unknown and therefore part of the rest of the machine's.
    #[serde(default)]
    pub target_ns: Option<f64>,
    /// The rest of the machine's busy time: interrupts, softirqs, kernel threads, other processes.
    pub host_other_ns: f64,
}

impl CpuPerIo {
    /// The whole machine's time per I/O.
    pub fn total_ns(&self) -> f64 {
        self.threads_user_ns
            + self.threads_system_ns
            + self.process_other_ns
            + self.target_ns.unwrap_or(0.0)
            + self.host_other_ns
    }
}

/// The rate of the load generator alone, on `null:`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// I/Os a second.
    pub iops: f64,
    /// The ceiling divided by the highest rate of a datastore without a ceiling of its own path; `None` where
    /// there is no such datastore.
    pub times_measured: Option<f64>,
}

/// The rate of the client of a datastore in the network alone, against a server on this machine that answers
/// without storage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WayCeiling {
    /// The datastore.
    pub datastore: usize,
    /// I/Os a second.
    pub iops: f64,
    /// The ceiling divided by the highest rate of the datastore; `None` where none was measured.
    pub times_measured: Option<f64>,
}

impl Compact {
    /// The datastore with which the others are compared.
    pub fn baseline(&self) -> Option<&Datastore> {
        self.datastores.get(self.header.plan.baseline)
    }

    /// The workload of each VM.
    pub fn workload(&self) -> Option<Workload> {
        let plan = &self.header.plan;
        let own = plan.workloads.iter().find_map(|workload| workload.kind.io().cloned());
        // A comparison has one workload, whose load may be set for all workloads.
        let mut workload = own?;
        if let (Arrivals::Closed { .. }, Some(&outstanding)) =
            (workload.arrivals, plan.outstanding.first())
        {
            workload.arrivals = Arrivals::Closed { outstanding };
        }
        Some(workload)
    }

    /// The name of the workload.
    pub fn workload_name(&self) -> &str {
        self.header.plan.workloads.first().map_or("", |workload| workload.name.as_str())
    }

    /// The comparison of a candidate in a metric.
    pub fn comparison(&self, candidate: usize, metric: Metric) -> Option<&MetricComparison> {
        self.comparisons.iter().find(|c| c.candidate == candidate && c.metric == metric)
    }

    /// The comparisons that carry the verdicts, one for each candidate.
    pub fn primaries(&self) -> impl Iterator<Item = &MetricComparison> {
        self.comparisons.iter().filter(|comparison| comparison.primary)
    }

    /// The name of a datastore; a number when the index has none.
    pub fn label(&self, datastore: usize) -> String {
        match self.datastores.get(datastore) {
            Some(datastore) => datastore.label.clone(),
            None => format!("#{datastore}"),
        }
    }

    /// Whether the load was an open loop, whose latencies and service times differ.
    pub(crate) fn is_open_loop(&self) -> bool {
        self.datastores.iter().any(|datastore| datastore.value(Metric::ServiceMean).is_some())
    }

    /// What flushes and durable writes are part of, if there are any.
    pub(crate) fn durability(&self) -> Option<String> {
        let has = |metric| self.datastores.iter().any(|it| it.value(metric).is_some());
        crate::durability::durability(has)
    }

    /// The metrics that at least one datastore has, in the order of tables, the primary one first.
    pub fn metrics(&self) -> Vec<Metric> {
        let primary = self.header.plan.design.metric;
        let others = Metric::ALL.into_iter().filter(|&metric| metric != primary);
        std::iter::once(primary)
            .chain(others)
            .filter(|&metric| self.datastores.iter().any(|d| d.value(metric).is_some()))
            .collect()
    }
}

impl Datastore {
    /// A metric's value.
    pub fn value(&self, metric: Metric) -> Option<&MetricValue> {
        self.values.iter().find(|value| value.metric == metric)
    }
}

/// The fractions at which a percentile curve of this many I/Os is drawn: twelve for each further nine, up to
/// the last I/O but one, and the percentiles that tables name.
pub fn curve_fractions(operations: u64) -> Vec<f64> {
    const STEPS_A_DECADE: u32 = 12;
    let decades = (operations.max(2) as f64).log10();
    let steps = (decades * f64::from(STEPS_A_DECADE)).floor() as u32;
    let mut fractions: Vec<f64> = (0..=steps)
        .map(|step| 1.0 - 10f64.powf(-f64::from(step) / f64::from(STEPS_A_DECADE)))
        .chain([0.5, 0.9, 0.95, 0.99, 0.999, 0.9999])
        .filter(|fraction| (1.0 - fraction) * operations as f64 >= 0.999)
        .collect();
    fractions.sort_by(f64::total_cmp);
    fractions.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    fractions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_where_single_ios_begin() {
        let fractions = curve_fractions(10_000);
        assert!(fractions.is_sorted());
        for named in [0.5, 0.9, 0.95, 0.99, 0.999] {
            assert!(fractions.iter().any(|f| (f - named).abs() < 1e-9), "{named}");
        }
        assert!((fractions.last().unwrap() - 0.9999).abs() < 1e-9);
        assert!(curve_fractions(0).is_empty());
        assert!(curve_fractions(1).iter().all(|&f| f == 0.0));
    }
}
