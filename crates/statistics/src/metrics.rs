//! The metrics of a trial: one number each, read from its sample and CPU usage.
//!
//! The unit of observation is the trial, so this is where a million I/Os become one value for each
//! metric. Percentiles of latency are read from the merged histograms of all disks, reads and writes, durable ones
//! included; flushes have metrics of their own and are part of no other.

use std::borrow::Cow;

use stormeter_study::Metric;
use stormeter_trial::{CpuUsage, Histogram, IssueTimes, KindTotals, Recovery, Sample};

use crate::verdict::Direction;

/// The value of a metric in a trial: IOPS, bytes a second, or nanoseconds. `None` where the trial
/// has no such value (a latency without an I/O, a target that is not on this machine, CPU time too
/// small to be seen by the system).
pub fn value_of(metric: Metric, sample: &Sample, cpu: &CpuUsage) -> Option<f64> {
    let operations = sample.operations() as f64;
    if operations == 0.0 {
        return None;
    }
    let sum = |count: fn(&KindTotals) -> u64| sample.latencies().map(count).sum::<u64>() as f64;
    let value = match metric {
        Metric::Iops => sample.iops(),
        Metric::Throughput => sample.bytes_per_s(),
        Metric::LatencyMean => sum(|kind| kind.latency_sum_ns) / sum(|kind| kind.operations),
        Metric::LatencyP50
        | Metric::LatencyP95
        | Metric::LatencyP99
        | Metric::LatencyP999
        | Metric::ServiceP50
        | Metric::ServiceP95
        | Metric::ServiceP99
        | Metric::ServiceP999
        | Metric::LatenessP99
        | Metric::FlushP50
        | Metric::FlushP95
        | Metric::FlushP99
        | Metric::FlushP999
        | Metric::DurableWriteP50
        | Metric::DurableWriteP95
        | Metric::DurableWriteP99
        | Metric::DurableWriteP999
        | Metric::WorkP99 => histogram_of(metric, sample)?.percentile_ns(percentile_of(metric)?)?,
        Metric::ServiceMean => sample.issue.as_ref()?.service.mean_ns()?,
        Metric::FlushMean => sample.flushes.latency_mean_ns()?,
        Metric::LatencyMax => {
            sample.latencies().map(|kind| kind.latency_max_ns).max().unwrap_or(0) as f64
        }
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
        Metric::Updates => sample.updates_per_s()?,
        Metric::CopyTime | Metric::SettingTime | Metric::DeploymentTime | Metric::ConfigureTime => {
            sample.desktops.as_ref()?.step_mean_ns(metric.desktop_step()?)?
        }
    };
    (value > 0.0).then_some(value)
}

/// By what share the value of a metric in a trial may be off in either direction because it was read
/// in steps: percentiles in buckets, recovery and outage in intervals. Counts and sums are exact: the chance at the
/// ends of their window differs from trial to trial and is in the spread.
pub fn resolution_of(metric: Metric, sample: &Sample, cpu: &CpuUsage) -> f64 {
    let Some(value) = value_of(metric, sample, cpu) else { return 0.0 };
    match metric {
        _ if percentile_of(metric).is_some() => {
            histogram_of(metric, sample).map_or(0.0, |histogram| histogram.half_bucket(value))
        }
        Metric::Recovery | Metric::Outage => 0.5 * sample.interval_ns as f64 / value,
        _ => 0.0,
    }
}

/// The share of I/Os below a percentile metric (0.99 for p99); `None` for other metrics.
pub fn percentile_of(metric: Metric) -> Option<f64> {
    match metric {
        Metric::LatencyP50 | Metric::ServiceP50 | Metric::FlushP50 | Metric::DurableWriteP50 => {
            Some(0.50)
        }
        Metric::LatencyP95 | Metric::ServiceP95 | Metric::FlushP95 | Metric::DurableWriteP95 => {
            Some(0.95)
        }
        Metric::LatencyP99
        | Metric::ServiceP99
        | Metric::LatenessP99
        | Metric::FlushP99
        | Metric::DurableWriteP99
        | Metric::WorkP99 => Some(0.99),
        Metric::LatencyP999
        | Metric::ServiceP999
        | Metric::FlushP999
        | Metric::DurableWriteP999 => Some(0.999),
        _ => None,
    }
}

/// Times of many I/Os of several trials, merged: percentiles are read from these and never averaged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Merged {
    /// Latencies of reads and writes, durable ones included.
    pub(crate) latencies: Histogram,
    durable: Histogram,
    flushes: Histogram,
    work: Histogram,
    /// Service times and lateness, where every trial has them.
    pub(crate) issue: Option<IssueTimes>,
    trials: usize,
}

impl Merged {
    pub(crate) fn add(&mut self, sample: &Sample) {
        sample.latencies().for_each(|kind| self.latencies.merge(&kind.histogram));
        self.durable.merge(&sample.durable.histogram);
        self.flushes.merge(&sample.flushes.histogram);
        for kind in sample.desktops.iter().flat_map(|desktops| &desktops.work) {
            self.work.merge(&kind.histogram);
        }
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
        let histogram = match metric {
            _ if metric.is_of_open_loops() => issue_histogram(metric, self.issue.as_ref()?),
            _ if metric.is_of_flushes() => &self.flushes,
            _ if metric.is_of_durable_writes() => &self.durable,
            Metric::WorkP99 => &self.work,
            _ => &self.latencies,
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

/// What a percentile metric of a trial is read from; `None` where it was not recorded.
fn histogram_of(metric: Metric, sample: &Sample) -> Option<Cow<'_, Histogram>> {
    Some(match metric {
        _ if metric.is_of_open_loops() => {
            Cow::Borrowed(issue_histogram(metric, sample.issue.as_ref()?))
        }
        _ if metric.is_of_flushes() => Cow::Borrowed(&sample.flushes.histogram),
        _ if metric.is_of_durable_writes() => Cow::Borrowed(&sample.durable.histogram),
        Metric::WorkP99 => Cow::Owned(sample.desktops.as_ref()?.work().histogram),
        _ => {
            let mut all = Histogram::default();
            sample.latencies().for_each(|kind| all.merge(&kind.histogram));
            Cow::Owned(all)
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_testkit::sample;
    use stormeter_trial::KindTotals;

    /// Operations of these latencies.
    fn totals(latencies_ns: &[u64]) -> KindTotals {
        let mut totals = KindTotals::default();
        for &ns in latencies_ns {
            totals.operations += 1;
            totals.latency_sum_ns += ns;
            totals.latency_max_ns = totals.latency_max_ns.max(ns);
            totals.histogram.record(ns);
        }
        totals
    }

    const FLUSHES: [Metric; 5] = [
        Metric::FlushMean,
        Metric::FlushP50,
        Metric::FlushP95,
        Metric::FlushP99,
        Metric::FlushP999,
    ];
    const DURABLE: [Metric; 4] = [
        Metric::DurableWriteP50,
        Metric::DurableWriteP95,
        Metric::DurableWriteP99,
        Metric::DurableWriteP999,
    ];

    #[test]
    fn flushes_have_metrics_of_their_own_and_change_no_other() {
        let cpu = CpuUsage { process_ns: 1000, ..CpuUsage::default() };
        let without = sample(1000.0);
        let mut with = without.clone();
        with.flushes = totals(&[1_000_000, 2_000_000, 2_000_000, 7_000_000]);
        for metric in Metric::ALL.into_iter().filter(|metric| !metric.is_of_flushes()) {
            let (before, after) = (value_of(metric, &without, &cpu), value_of(metric, &with, &cpu));
            assert_eq!(before, after, "{metric:?}");
        }
        assert!(FLUSHES.iter().all(|&metric| value_of(metric, &without, &cpu).is_none()));
        assert_eq!(value_of(Metric::FlushMean, &with, &cpu), Some(3_000_000.0));
        let [p50, p999] = [Metric::FlushP50, Metric::FlushP999].map(|metric| {
            assert!(resolution_of(metric, &with, &cpu) > 0.0);
            value_of(metric, &with, &cpu).unwrap()
        });
        assert!(
            (p50 / 2e6 - 1.0).abs() < 0.003 && (p999 / 7e6 - 1.0).abs() < 0.003,
            "{p50} {p999}"
        );
        assert_eq!(resolution_of(Metric::FlushMean, &with, &cpu), 0.0);
    }

    #[test]
    fn users_who_were_not_served_have_waited_too() {
        let cpu = CpuUsage { process_ns: 1000, ..CpuUsage::default() };
        let mut of_users = sample(1000.0);
        of_users.reads = totals(&[]);
        of_users.writes = totals(&[1_000_000; 8]);
        let mut desktops = stormeter_trial::DesktopTotals::default();
        of_users.desktops = Some(Box::new(desktops.clone()));
        let value = |metric, sample: &Sample| value_of(metric, sample, &cpu).unwrap();
        assert_eq!(value(Metric::LatencyMean, &of_users), 1e6);
        desktops.unserved = totals(&[6_000_000; 2]);
        let mut served_few = of_users.clone();
        served_few.desktops = Some(Box::new(desktops));
        assert_eq!(value(Metric::LatencyMean, &served_few), 2e6);
        assert_eq!(value(Metric::LatencyMax, &served_few), 6e6);
        assert!((value(Metric::LatencyP95, &served_few) / 6e6 - 1.0).abs() < 0.003);
        // What is counted for each user is for each who was served.
        for metric in [Metric::Iops, Metric::CpuPerIo] {
            assert_eq!(value(metric, &served_few), value(metric, &of_users));
        }
        let mut merged = Merged::default();
        merged.add(&served_few);
        assert!(merged.percentile_ns(Metric::LatencyP95).unwrap() > 5e6);
    }

    #[test]
    fn durable_writes_are_in_every_latency_and_have_percentiles_of_their_own() {
        let cpu = CpuUsage::default();
        let mut sample = sample(1000.0);
        assert!(DURABLE.iter().all(|&metric| value_of(metric, &sample, &cpu).is_none()));
        let slow_ns = 50_000_000;
        sample.durable = totals(&[slow_ns; 200]);
        let value = |metric| value_of(metric, &sample, &cpu).unwrap();
        assert_eq!(value(Metric::LatencyMax), slow_ns as f64);
        assert_eq!(value(Metric::LatencyMean), (4_000_000 + slow_ns) as f64 / 2.0);
        assert_eq!(value(Metric::Iops), 2000.0);
        let near =
            |metric, ns: f64| assert!((value(metric) / ns - 1.0).abs() < 0.003, "{metric:?}");
        near(Metric::LatencyP99, slow_ns as f64);
        near(Metric::LatencyP50, 4e6);
        DURABLE.into_iter().for_each(|metric| near(metric, slow_ns as f64));
    }

    /// The slowest flush of one trial is no tail of the other's: all flushes together have the percentile.
    #[test]
    fn flushes_of_several_trials_are_merged() {
        let mut merged = Merged::default();
        let flushes: [&[u64]; 2] = [&[1_000_000; 9], &[5_000_000]];
        for flushes in flushes {
            merged.add(&Sample { flushes: totals(flushes), ..sample(1000.0) });
        }
        let p50 = merged.percentile_ns(Metric::FlushP50).unwrap();
        assert!((p50 / 1e6 - 1.0).abs() < 0.003, "{p50}");
        assert_eq!(merged.percentile_ns(Metric::DurableWriteP50), None);
        assert!(merged.percentile_ns(Metric::LatencyP50).unwrap() > 3.9e6);
    }
}
