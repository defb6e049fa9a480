//! Latencies of a kind of I/O: which of fio's three clocks they are from, and their unit.
//!
//! fio measures submission (`slat`), completion (`clat`) and both together (`lat`). Only the last one obeys Little's
//! law with the configured depth, so that mean, deviation and extremes are taken from it. Percentiles and
//! histograms are of completions unless `lat_percentiles` was set, and old versions print them under `clat` even
//! then. All are nanoseconds since fio 2.99, and microseconds before.

use std::collections::BTreeMap;

use super::buckets;
use super::notes::Notes;
use super::unit::Unit;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{Node, count_of};
use crate::run::{Bucket, Latency, Percentile};
use crate::series::Series;

/// What the entry knows that its latencies need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Half of the last decimal of fractions.
    pub(crate) half_of_fractions: f64,
    /// `lat_percentiles` is among the options, so that percentiles are of total latencies.
    pub(crate) of_total: bool,
}

/// Latencies, and how many I/Os they are of where fio prints that.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    /// The latencies.
    pub(crate) latency: Latency,
    /// `N`, or what the histogram counts.
    pub(crate) samples: Option<u64>,
}

/// Reads the latencies of a section such as `jobs[0].read`.
pub(crate) fn read(
    section: &Node<'_>,
    context: Context,
    notes: &mut Notes,
) -> Result<Latencies, ImportError> {
    let total = Clock::read(section, "lat", context)?;
    let completion = Clock::read(section, "clat", context)?;
    let total_shares = total.as_ref().is_some_and(Clock::has_shares);
    let completion_shares = completion.as_ref().is_some_and(Clock::has_shares);
    // Old versions print the bins of total latencies under `lat`, and their percentiles under `clat`.
    let bins_tell = total.as_ref().is_some_and(|total| !total.histogram.is_empty())
        && completion.as_ref().is_some_and(|completion| completion.histogram.is_empty());
    let are_of_total = bins_tell || (context.of_total && !total_shares);
    let samples = |clock: &Option<Clock>| clock.as_ref().and_then(|clock| clock.samples);
    let samples = samples(&total).or(samples(&completion));

    let has_total = total.is_some();
    let mut latency = Latency::default();
    match (total, completion) {
        (Some(total), Some(completion)) => {
            latency = total.figures;
            latency.percentiles = total.percentiles;
            latency.histogram = total.histogram;
            if latency.percentiles.is_empty() && (!total_shares || are_of_total) {
                latency.percentiles = completion.percentiles;
            }
            if latency.histogram.is_empty() && !total_shares {
                latency.histogram = completion.histogram;
            }
        }
        (Some(one), None) | (None, Some(one)) => {
            latency = one.figures;
            latency.percentiles = one.percentiles;
            latency.histogram = one.histogram;
        }
        (None, None) => {}
    }
    if completion_shares && !total_shares && has_total && !are_of_total {
        notes.add(
            "percentiles and histograms are of completion latencies (clat), the other latencies are total ones \
             (lat); lat_percentiles=1 makes fio print both of the same kind",
        );
    } else if completion_shares && total_shares && !bins_tell {
        notes.add("percentiles of completion latencies (clat): those of total ones (lat) are read");
    }
    if !has_total && latency.mean.is_some() {
        notes
            .add("latencies are completion latencies (clat), since fio did not measure total ones");
    }
    Ok(Latencies { latency, samples })
}

/// What one of fio's clocks measured.
struct Clock {
    figures: Latency,
    percentiles: Series<Percentile>,
    histogram: Series<Bucket>,
    samples: Option<u64>,
}

impl Clock {
    /// `None` if this clock measured nothing, which fio prints as zeros.
    fn read(section: &Node<'_>, name: &str, context: Context) -> Result<Option<Self>, ImportError> {
        let (node, unit) = match (section.get(&format!("{name}_ns")), section.get(name)) {
            (Some(node), _) => (node, Unit::Nanoseconds),
            (None, Some(node)) => (node, Unit::Microseconds),
            (None, None) => return Ok(None),
        };
        node.object()?;
        let histogram = histogram(&node, unit)?;
        let stated = node.count("N")?;
        let figure = |key: &str, half: f64| -> Result<Option<Figure>, ImportError> {
            Ok(node.amount(key)?.map(|(value, _)| unit.figure(value, half)))
        };
        let half = context.half_of_fractions;
        let figures = Latency {
            mean: figure("mean", half)?,
            sd: figure("stddev", half)?,
            min: figure("min", 0.0)?,
            max: figure("max", 0.0)?,
            ..Latency::default()
        };
        let is_zero = |figure: Option<Figure>| figure.is_none_or(|figure| figure.value == 0.0);
        let nothing = match stated {
            Some(samples) => samples == 0,
            None => is_zero(figures.mean) && is_zero(figures.max) && histogram.is_empty(),
        };
        if nothing {
            return Ok(None);
        }
        let counted = histogram.iter().map(|bucket| bucket.count).fold(0u64, u64::saturating_add);
        Ok(Some(Self {
            figures,
            percentiles: percentiles(&node, unit)?,
            samples: stated.or((counted > 0).then_some(counted)),
            histogram,
        }))
    }

    fn has_shares(&self) -> bool {
        !self.percentiles.is_empty() || !self.histogram.is_empty()
    }
}

/// The percentiles; fio prints the middle of a bucket. Those in its last one are left out, as they have no bound.
fn percentiles(clock: &Node<'_>, unit: Unit) -> Result<Series<Percentile>, ImportError> {
    let Some(node) = clock.get("percentile") else { return Ok(Series::default()) };
    let mut percentiles = Vec::with_capacity(node.members()?.count());
    for (key, value) in node.members()? {
        let share = key.trim().parse().ok().filter(|share: &f64| (0.0..=100.0).contains(share));
        let share =
            share.ok_or_else(|| node.wrong_at(&key, "expected a share of 0 to 100 %"))? / 100.0;
        let value = count_of(value).map_err(|what| node.wrong_at(&key, &what))?;
        // Old versions fill the list with `0.00`.
        if share > 0.0
            && let Some(half) = buckets::half_width(value, unit)
        {
            percentiles.push(Percentile { share, ns: unit.figure(value as f64, half) });
        }
    }
    let order = |one: &Percentile, other: &Percentile| {
        one.share.total_cmp(&other.share).then(one.ns.value.total_cmp(&other.ns.value))
    };
    percentiles.sort_unstable_by(order);
    percentiles.dedup_by(|one, other| one.share == other.share);
    Ok(percentiles.into_iter().collect())
}

/// The bins of JSON+: keyed by the middle of a bucket, or (2.8 to 2.19) by its number.
fn histogram(clock: &Node<'_>, unit: Unit) -> Result<Series<Bucket>, ImportError> {
    let Some(node) = clock.get("bins") else { return Ok(Series::default()) };
    let bins = node.members()?;
    let by_number = node.get("FIO_IO_U_PLAT_NR").is_some();
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for (key, count) in bins {
        if key.starts_with("FIO_IO_U_PLAT_") {
            continue;
        }
        let value: u64 =
            key.trim().parse().map_err(|_| node.wrong_at(&key, "expected a latency"))?;
        let count = count_of(count).map_err(|what| node.wrong_at(&key, &what))?;
        if count == 0 {
            continue;
        }
        let index = match by_number {
            true => usize::try_from(value).ok().filter(|index| *index < buckets::number(unit)),
            false => Some(buckets::of(value, unit)),
        };
        let index = index.ok_or_else(|| node.wrong_at(&key, "fio has no such bin"))?;
        let of_bin = counts.entry(index).or_default();
        *of_bin = of_bin.saturating_add(count);
    }
    let bucket = |(index, count): (usize, u64)| {
        let (low, next) = buckets::edges(index, unit);
        Bucket {
            low_ns: low as f64 * unit.ns(),
            high_ns: next.map_or(f64::INFINITY, |next| next as f64 * unit.ns()),
            count,
        }
    };
    Ok(counts.into_iter().map(bucket).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const CONTEXT: Context = Context { half_of_fractions: 5e-7, of_total: false };

    fn read_json(section: &Value) -> (Result<Latencies, ImportError>, Vec<String>) {
        let mut notes = Notes::default();
        let read = read(&Node::root("fio JSON", "read", &section.to_string()), CONTEXT, &mut notes);
        (read, notes.into_sentences())
    }

    #[test]
    fn figures_are_total_and_percentiles_of_completions() {
        let (read, notes) = read_json(&json!({
            "lat_ns": {"min": 10, "max": 400, "mean": 100.5, "stddev": 3.25, "N": 7},
            "clat_ns": {"min": 9, "max": 300, "mean": 90.5, "stddev": 3.25, "N": 7,
                "percentile": {"99.000000": 290, "50.000000": 100}},
        }));
        let Latencies { latency, samples } = read.unwrap();
        assert_eq!(latency.mean, Some(Figure { value: 100.5, half: 5e-7 }));
        assert_eq!(latency.min, Some(Figure::exact(10.0)));
        assert_eq!(samples, Some(7));
        let shares: Vec<_> =
            latency.percentiles.iter().map(|one| (one.share, one.ns.half)).collect();
        assert_eq!(shares, [(0.5, 0.0), (0.99, 2.0)]);
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn old_versions_count_microseconds() {
        let (read, notes) = read_json(&json!({
            "lat": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0},
            "clat": {"min": 2, "max": 300, "mean": 4.25, "stddev": 1.5,
                "percentile": {"1.000000": 3, "0.00": 0},
                "bins": {"3": 5, "130": 2, "FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_NR": 1216, "0": 0}},
        }));
        let Latencies { latency, samples } = read.unwrap();
        assert_eq!(samples, Some(7));
        assert_eq!(latency.min, Some(Figure { value: 2e3, half: 1e3 }));
        assert_eq!(latency.percentiles.len(), 1);
        let bucket = |low_ns, high_ns, count| Bucket { low_ns, high_ns, count };
        // Bin 130 is the third of those that are 2 µs wide and start at 128 µs.
        assert_eq!(latency.histogram.to_vec(), [bucket(3e3, 4e3, 5), bucket(132e3, 134e3, 2)]);
        assert!(notes.iter().any(|note| note.contains("clat")), "{notes:?}");
    }

    #[test]
    fn bins_under_the_total_say_what_percentiles_are_of() {
        let (read, notes) = read_json(&json!({
            "lat_ns": {"min": 1, "max": 9, "mean": 5.0, "stddev": 1.0, "bins": {"5": 3}},
            "clat_ns": {"min": 1, "max": 8, "mean": 4.0, "stddev": 1.0, "percentile": {"50.000000": 5}},
        }));
        let latency = read.unwrap().latency;
        assert_eq!((latency.percentiles.len(), latency.histogram.len()), (1, 1));
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn what_cannot_be_is_named_by_its_path() {
        for (section, path) in [
            (json!({"lat_ns": {"min": -1, "N": 1}}), "read.lat_ns.min"),
            (json!({"lat_ns": 5}), "read.lat_ns"),
            (json!({"clat_ns": {"N": 1, "percentile": {"101": 1}}}), "read.clat_ns.percentile.101"),
            (json!({"clat_ns": {"N": 1, "bins": {"5": -2}}}), "read.clat_ns.bins.5"),
            (json!({"clat": {"bins": {"FIO_IO_U_PLAT_NR": 2, "1216": 1}}}), "read.clat.bins.1216"),
            (json!({"lat_ns": {"N": 1.5}}), "read.lat_ns.N"),
        ] {
            match read_json(&section).0 {
                Err(ImportError::Wrong { path: found, .. }) => assert_eq!(found, path),
                other => panic!("{section}: {other:?}"),
            }
        }
    }
}
