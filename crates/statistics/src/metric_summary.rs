//! A metric over repeated trials: one value, and the interval in which they put it.

use serde::{Deserialize, Serialize};
use stormeter_study::Metric;

use crate::estimate::{Estimate, Interval};
use crate::metrics::{Merged, percentile_of};

/// A metric of a cell over all its trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// Which metric.
    pub metric: Metric,
    /// The mean of the trials; for a percentile that of the merged histogram, for the maximum the
    /// largest. Percentiles are never averaged.
    pub value: f64,
    /// The t interval of the trials' values, relative to their mean.
    /// `None` for a single trial, and for the maximum, which only ever grows.
    pub interval: Option<Interval>,
    /// Trials with a value.
    pub n: usize,
}

/// Summarises the values of trials, each known to the share `resolution`; `merged` has the histograms of all.
pub(crate) fn summarise_metric(
    metric: Metric,
    (values, resolution): (&[f64], f64),
    merged: &Merged,
    level: f64,
) -> Option<MetricSummary> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let value = match (percentile_of(metric), metric) {
        _ if n == 0 => return None,
        (Some(_), _) => merged.percentile_ns(metric)?,
        (None, Metric::LatencyMax) => values.iter().copied().fold(0.0, f64::max),
        (None, _) => mean,
    };
    let interval = Estimate::of_mean(values, level).filter(|_| metric != Metric::LatencyMax).map(
        |Estimate { interval: Interval { low, high, level }, .. }| Interval {
            low: value * low / mean * (-resolution).exp(),
            high: value * high / mean * resolution.exp(),
            level,
        },
    );
    Some(MetricSummary { metric, value, interval, n })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(values: &[u64]) -> Merged {
        let mut merged = Merged::default();
        values.iter().for_each(|&value| merged.latencies.record(value));
        merged
    }

    /// Two trials with medians of 10 and 30: all I/Os together have a median of 10, not 20.
    #[test]
    fn percentiles_come_from_merged_histograms_and_are_not_averaged() {
        let merged = merged(&[10, 10, 10, 10, 10, 30, 30, 30]);
        let p50 =
            summarise_metric(Metric::LatencyP50, (&[10.0, 30.0], 0.0), &merged, 0.95).unwrap();
        assert_eq!(p50.value, 10.0);
        let interval = p50.interval.unwrap();
        assert!(interval.low < 10.0 && interval.high > 10.0);
    }

    #[test]
    fn equal_trials_have_an_interval_as_wide_as_the_steps_of_reading() {
        let all = merged(&[1_000_000; 9]);
        let p50 = summarise_metric(Metric::LatencyP50, (&[1e6, 1e6], 0.001), &all, 0.95).unwrap();
        let interval = p50.interval.unwrap();
        assert!(interval.high / interval.low > 1.0019, "{interval:?}");
    }

    #[test]
    fn the_maximum_is_the_largest_and_has_no_interval() {
        let max = summarise_metric(Metric::LatencyMax, (&[5.0, 9.0], 0.0), &merged(&[9]), 0.95);
        let max = max.unwrap();
        assert_eq!((max.value, max.interval), (9.0, None));
        assert_eq!(summarise_metric(Metric::Iops, (&[], 0.0), &merged(&[]), 0.95), None);
    }
}
