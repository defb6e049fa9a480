//! The metrics of a trial: one number each, read from its sample and CPU usage.
//!
//! The unit of observation is the trial, so this is where a million I/Os become one value a
//! metric. Percentiles are read from the merged histograms of all disks and both kinds.

use stormeter_driver::{CpuUsage, Histogram, Recovery, Sample};
use stormeter_study::Metric;

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
        Metric::LatencyMax => sample.reads.latency_max_ns.max(sample.writes.latency_max_ns) as f64,
        Metric::CpuPerIo => cpu.process_ns as f64 / operations,
        Metric::TargetCpuPerIo => cpu.target_ns? as f64 / operations,
        Metric::HostCpuPerIo => cpu.host.busy_ns() as f64 / operations,
        Metric::HostCpu => {
            let all_ns = cpu.host.busy_ns() + cpu.host.idle_ns + cpu.host.iowait_ns;
            if all_ns == 0 {
                return None;
            }
            cpu.host.busy_ns() as f64 / all_ns as f64
        }
        // Only an errand has steps, and only an errand takes as long as it takes.
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

/// The share of I/Os below a percentile metric (0.99 for p99); `None` for other metrics.
pub fn percentile_of(metric: Metric) -> Option<f64> {
    match metric {
        Metric::LatencyP50 => Some(0.50),
        Metric::LatencyP95 => Some(0.95),
        Metric::LatencyP99 => Some(0.99),
        Metric::LatencyP999 => Some(0.999),
        _ => None,
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
