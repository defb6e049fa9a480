//! The metrics of a trial: one number each, read from its sample and CPU usage.
//!
//! The unit of observation is the trial, so this is where a million I/Os become one value for each
//! metric. Percentiles are read from the merged histograms of all disks and both kinds.

use stormeter_study::Metric;
use stormeter_trial::{CpuUsage, Histogram, IssueTimes, Recovery, Sample};

use crate::verdict::Direction;

/// The value of a metric in a trial: IOPS, bytes a second, or nanoseconds. `None` where the trial
/// has no such value (a latency without an I/O, a target that is not on this machine, CPU time too
/// small to be seen by the system).
pub fn value_of(metric: Metric, sample: &Sample, cpu: &CpuUsage) -> Option<f64> {
    let operations = sample.operations() as f64;
    if operations == 0.0 {
        return None;
    }
    let value = match metric {
        Metric::Iops => sample.iops(),
        Metric::Throughput => sample.bytes_per_s(),
        Metric::LatencyMean => {
            (sample.reads.latency_sum_ns + sample.writes.latency_sum_ns) as f64 / operations
        }
        Metric::LatencyP50 | Metric::LatencyP95 | Metric::LatencyP99 | Metric::LatencyP999 => {
            merged(sample).percentile_ns(percentile_of(metric)?)?
        }
        Metric::ServiceMean => sample.issue.as_ref()?.service.mean_ns()?,
        Metric::ServiceP50
        | Metric::ServiceP95
        | Metric::ServiceP99
        | Metric::ServiceP999
        | Metric::LatenessP99 => {
            issue_histogram(metric, sample.issue.as_ref()?).percentile_ns(percentile_of(metric)?)?
        }
        Metric::LatencyMax => sample.reads.latency_max_ns.max(sample.writes.latency_max_ns) as f64,
        Metric::CpuPerIo => cpu.initiator_ns() as f64 / operations,
        Metric::TargetCpuPerIo => cpu.target_ns? as f64 / operations,
        Metric::HostCpuPerIo => cpu.host_ns() as f64 / operations,
        Metric::HostCpu => {
            let all_ns = cpu.host.busy_ns() + cpu.host.idle_ns + cpu.host.iowait_ns;
            if all_ns == 0 {
                return None;
            }
            cpu.host.busy_ns() as f64 / all_ns as f64
        }
        // Only a trial of fixed work has steps, and only its length is not set beforehand.
        Metric::Elapsed if sample.steps.is_empty() => return None,
        Metric::Elapsed => sample.window_ns as f64,
        Metric::Recovery => match sample.recovery()? {
            Recovery::After(ns) => ns as f64,
            Recovery::NotWithin(_) | Recovery::Overtaken => return None,
        },
        Metric::Outage => sample.outage_ns()? as f64,
    };
    (value > 0.0).then_some(value)
}

/// By what share the value of a metric in a trial may be off in either direction because it was read
/// in steps: percentiles in buckets, recovery and outage in intervals. Counts and sums are exact: the chance at the
/// ends of their window differs from trial to trial and is in the spread.
pub fn resolution_of(metric: Metric, sample: &Sample, cpu: &CpuUsage) -> f64 {
    let Some(value) = value_of(metric, sample, cpu) else { return 0.0 };
    match metric {
        Metric::LatencyP50 | Metric::LatencyP95 | Metric::LatencyP99 | Metric::LatencyP999 => {
            merged(sample).half_bucket(value)
        }
        Metric::ServiceP50
        | Metric::ServiceP95
        | Metric::ServiceP99
        | Metric::ServiceP999
        | Metric::LatenessP99 => {
            let issue = sample.issue.as_ref();
            issue.map_or(0.0, |issue| issue_histogram(metric, issue).half_bucket(value))
        }
        Metric::Recovery | Metric::Outage => 0.5 * sample.interval_ns as f64 / value,
        _ => 0.0,
    }
}

/// The share of I/Os below a percentile metric (0.99 for p99); `None` for other metrics.
pub fn percentile_of(metric: Metric) -> Option<f64> {
    match metric {
        Metric::LatencyP50 | Metric::ServiceP50 => Some(0.50),
        Metric::LatencyP95 | Metric::ServiceP95 => Some(0.95),
        Metric::LatencyP99 | Metric::ServiceP99 | Metric::LatenessP99 => Some(0.99),
        Metric::LatencyP999 | Metric::ServiceP999 => Some(0.999),
        _ => None,
    }
}

/// Times of many I/Os of several trials, merged: percentiles are read from these and never averaged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Merged {
    /// Latencies, reads and writes.
    pub(crate) latencies: Histogram,
    /// Service times and lateness, where every trial has them.
    pub(crate) issue: Option<IssueTimes>,
    trials: usize,
}

impl Merged {
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.latencies.merge(&sample.reads.histogram);
        self.latencies.merge(&sample.writes.histogram);
        self.issue = match (self.issue.take(), &sample.issue) {
            (None, Some(issue)) if self.trials == 0 => Some(issue.clone()),
            (Some(mut all), Some(issue)) => {
                all.merge(issue);
                Some(all)
            }
            // The times of some trials are not comparable with the latencies of all.
            _ => None,
        };
        self.trials += 1;
    }

    /// A percentile metric of all of them; `None` for other metrics, and where there is nothing.
    pub(crate) fn percentile_ns(&self, metric: Metric) -> Option<f64> {
        let histogram = match metric.is_of_open_loops() {
            true => issue_histogram(metric, self.issue.as_ref()?),
            false => &self.latencies,
        };
        histogram.percentile_ns(percentile_of(metric)?)
    }
}

fn issue_histogram(metric: Metric, issue: &IssueTimes) -> &Histogram {
    match metric {
        Metric::LatenessP99 => &issue.lateness.histogram,
        _ => &issue.service.histogram,
    }
}

/// Which way a metric is better.
pub fn direction_of(metric: Metric) -> Direction {
    if metric.higher_is_better() { Direction::HigherIsBetter } else { Direction::LowerIsBetter }
}

fn merged(sample: &Sample) -> Histogram {
    let mut histogram = sample.reads.histogram.clone();
    histogram.merge(&sample.writes.histogram);
    histogram
}

/// The mean of [`resolution_of`] over trials, on the scale of logarithms.
pub(crate) fn mean_resolution<'a>(
    metric: Metric,
    trials: impl Iterator<Item = (&'a Sample, &'a CpuUsage)>,
) -> f64 {
    let (mut count, mut sum) = (0, 0.0);
    for (sample, cpu) in trials {
        count += 1;
        // The lower end is the farther one there.
        sum -= (-resolution_of(metric, sample, cpu).min(0.9)).ln_1p();
    }
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}
