//! Latencies as fio prints them: figures, percentiles, and the bins of JSON+.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stormeter_trial::KindTotals;

/// The percentiles that fio prints.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// Bits of a value that select fio's bucket; a value with no more of them has its own.
const KEPT_BITS: u32 = 7;
/// What fio's buckets have room for. Its last one takes everything above.
const MOST_NS: u64 = (1 << 34) - 1;
/// Upper bounds of the shares that fio prints for each unit. Milliseconds have two more.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

pub(super) fn latency(totals: &KindTotals) -> Value {
    let mean = totals.latency_mean_ns().unwrap_or(0.0);
    let mut object = Map::new();
    object.insert("min".into(), json!(totals.latency_min_ns));
    object.insert("max".into(), json!(totals.latency_max_ns));
    object.insert("mean".into(), json!(mean));
    object.insert("stddev".into(), json!(sd(totals, mean)));
    object.insert("N".into(), json!(totals.operations));
    // fio_jsonplus_clat2csv fails on bins that are empty, and fio prints none.
    if totals.histogram.count() > 0 {
        object.insert("percentile".into(), Value::Object(percentiles(totals)));
        let bins = bins(totals).into_iter();
        let bins = bins.map(|(middle, count)| (middle.to_string(), json!(count)));
        object.insert("bins".into(), Value::Object(bins.collect()));
    }
    Value::Object(object)
}

/// From the middles of the buckets, within what the exact minimum, maximum and mean leave open: of two latencies it
/// follows from them alone, and half a bucket more would break the laws that our own audit applies.
fn sd(totals: &KindTotals, mean_ns: f64) -> f64 {
    let squares = totals.histogram.buckets().map(|bucket| {
        let middle = (bucket.low_ns + bucket.high_ns - 1) as f64 / 2.0;
        bucket.count as f64 * (middle - mean_ns).powi(2)
    });
    let others = totals.histogram.count().saturating_sub(1).max(1);
    let variance = squares.sum::<f64>() / others as f64;
    bounded(variance, totals, mean_ns).sqrt()
}

/// Not less than the two extremes alone add to the variance, and not more than if all others were at one of them (Bhatia
/// and Davis, 2000).
fn bounded(variance: f64, totals: &KindTotals, mean_ns: f64) -> f64 {
    let (least, most) = (totals.latency_min_ns as f64, totals.latency_max_ns as f64);
    let n = totals.histogram.count() as f64;
    if n < 2.0 || !(least..=most).contains(&mean_ns) {
        return variance;
    }
    let low = (most - least).powi(2) / (2.0 * (n - 1.0));
    let high = (most - mean_ns) * (mean_ns - least) * n / (n - 1.0);
    variance.min(high).max(low)
}

fn percentiles(totals: &KindTotals) -> Map<String, Value> {
    let values = PERCENTILES.iter().filter_map(|percent| {
        let ns = totals.histogram.percentile_ns(percent / 100.0)?;
        Some((format!("{percent:.6}"), json!(middle(ns as u64))))
    });
    values.collect()
}

/// Counts in fio's own buckets, since readers know their widths. Each of them consists of whole ones of ours.
fn bins(totals: &KindTotals) -> BTreeMap<u64, u64> {
    let mut bins = BTreeMap::new();
    for bucket in totals.histogram.buckets() {
        *bins.entry(middle(bucket.low_ns)).or_default() += bucket.count;
    }
    bins
}

/// The middle of fio's bucket, by which it calls it.
fn middle(value_ns: u64) -> u64 {
    let value = value_ns.min(MOST_NS);
    let dropped = (u64::BITS - value.leading_zeros()).saturating_sub(KEPT_BITS);
    (value >> dropped << dropped) + (1 << dropped) / 2
}

/// In percent, how many latencies lie below each bound and not below the one before it. A bucket counts where its middle
/// is.
pub(super) fn distribution(totals: &KindTotals) -> [(&'static str, Map<String, Value>); 3] {
    let count = totals.histogram.count().max(1) as f64;
    let share = |low_ns: u64, high_ns: u64| {
        let within = totals.histogram.buckets().filter(|bucket| {
            (low_ns..high_ns).contains(&bucket.low_ns.midpoint(bucket.high_ns - 1))
        });
        json!(100.0 * within.map(|bucket| bucket.count).sum::<u64>() as f64 / count)
    };
    let mut low_ns = 0;
    let mut of_unit = |unit_ns: u64| -> Map<String, Value> {
        let mut shares = Map::new();
        for bound in BOUNDS {
            // What is above the last bound of a unit begins the next one.
            shares.insert(bound.to_string(), share(low_ns, bound * unit_ns));
            low_ns = bound * unit_ns;
        }
        shares
    };
    let (ns, us, mut ms) = (of_unit(1), of_unit(1000), of_unit(1_000_000));
    ms.insert("2000".into(), share(1_000_000_000, 2_000_000_000));
    ms.insert(">=2000".into(), share(2_000_000_000, u64::MAX));
    [("latency_ns", ns), ("latency_us", us), ("latency_ms", ms)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_trial::Histogram;

    fn totals(latencies_ns: &[u64]) -> KindTotals {
        let mut histogram = Histogram::default();
        latencies_ns.iter().for_each(|&ns| histogram.record(ns));
        KindTotals {
            operations: latencies_ns.len() as u64,
            latency_min_ns: latencies_ns.iter().copied().min().unwrap_or_default(),
            latency_max_ns: latencies_ns.iter().copied().max().unwrap_or_default(),
            histogram,
            ..KindTotals::default()
        }
    }

    /// As `fio --output-format=json+` names them: 402 and 10289152 are of a run of fio 3.33, the last one stands in its
    /// script as the longest that there is.
    #[test]
    fn buckets_are_called_as_fio_calls_them() {
        assert_eq!([0, 127, 128, 401, 10_300_000].map(middle), [0, 127, 129, 402, 10_289_152]);
        assert_eq!([MOST_NS, 40_000_000_000].map(middle), [17_112_760_320; 2]);
        let bins = bins(&totals(&[401, 400, 20_000_000_000, 30_000_000_000]));
        assert_eq!(bins.into_iter().collect::<Vec<_>>(), [(402, 2), (17_112_760_320, 2)]);
    }

    /// The middles of the two buckets are 15 ns further apart than the latencies are.
    #[test]
    fn the_sd_is_one_that_a_sample_with_these_extremes_can_have() {
        let (least, most) = (10_015, 12_352);
        let range = (most - least) as f64;
        let of = |latencies: &[u64]| sd(&totals(latencies), 11_183.5);
        let two = of(&[least, most]);
        assert!((two - range / f64::sqrt(2.0)).abs() < 1e-9, "{two}");
        let four = of(&[least, least, most, most]);
        assert!((four - range / f64::sqrt(3.0)).abs() < 1e-9, "{four}");
    }

    #[test]
    fn the_distribution_has_each_latency_once() {
        let all = distribution(&totals(&[1, 999, 1500, 3_000_000, 1_500_000_000, 9_000_000_000]));
        let of = |unit: usize, bound: &str| all[unit].1[bound].as_f64().unwrap();
        for (unit, bound) in [(0, "2"), (0, "1000"), (1, "2"), (2, "4"), (2, "2000"), (2, ">=2000")]
        {
            assert!((of(unit, bound) - 100.0 / 6.0).abs() < 1e-9, "{unit} {bound}");
        }
        let values = all.iter().flat_map(|(_, shares)| shares.values());
        let sum: f64 = values.filter_map(Value::as_f64).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{sum}");
    }
}
