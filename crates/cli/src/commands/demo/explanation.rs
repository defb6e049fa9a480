//! Explains the difference: what the figures of the table mean for these datastores.

use stormeter_report::compact::{Compact, Datastore};
use stormeter_report::{Report, wrap};
use stormeter_study::Metric;

/// The column at which the text starts, after the names of the rows.
const FIRST_COLUMN: usize = 13;

/// Some lines for each datastore except the first, of at most `width` columns.
pub(super) fn explanation(report: &Report, width: usize) -> String {
    let Some(comparison) = Compact::of(report) else { return String::new() };
    let Some((local, others)) = comparison.datastores.split_first() else { return String::new() };
    let lines: Vec<String> =
        others.iter().filter_map(|other| compared(local, other, width)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nWhere the difference comes from:\n{}", lines.concat())
}

fn compared(local: &Datastore, other: &Datastore, width: usize) -> Option<String> {
    let (here, there) = (us(local, Metric::LatencyMean)?, us(other, Metric::LatencyMean)?);
    let (own, its) = (us(local, Metric::CpuPerIo)?, us(other, Metric::CpuPerIo)?);
    let (way, reads, writes) = match other.description.kind.as_str() {
        "nfs" => (
            "RPCs made and read",
            "the server answers from its page cache what it has read before",
            "the server syncs each one before it answers (FILE_SYNC), which the local disk is not \
             asked for",
        ),
        "iscsi" => (
            "SCSI commands and their answers wrapped and unwrapped",
            "tgt answers from the page cache what it has read before",
            "tgt keeps them in the page cache, as a disk with a write cache does",
        ),
        _ => return None,
    };
    let target = match us(other, Metric::TargetCpuPerIo) {
        Some(target) => format!(" and {target:.1} µs in the server"),
        None => String::new(),
    };
    let latency = format!("{there:.0} µs per I/O on average instead of {here:.0} µs");
    let cpu = format!(
        "{its:.1} µs per I/O in the initiator instead of {own:.1} µs ({way}, copied through a \
         socket){target}"
    );
    let rows = [("latency", latency.as_str()), ("CPU", &cpu), ("reads", reads), ("writes", writes)];
    let lines = rows.map(|(name, words)| {
        let hang = " ".repeat(FIRST_COLUMN);
        wrap(words, width, &format!("    {name:<9}"), &hang).join("\n") + "\n"
    });
    Some(format!("\n  {}\n{}", other.label, lines.concat()))
}

/// A metric in microseconds.
fn us(datastore: &Datastore, metric: Metric) -> Option<f64> {
    let found = datastore.values.iter().find(|value| value.metric == metric)?;
    Some(found.value / 1e3)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use stormeter_report::compact::MetricValue;
    use stormeter_results::DatastoreDescription;

    fn datastore(kind: &str) -> Datastore {
        let metrics = [Metric::LatencyMean, Metric::CpuPerIo, Metric::TargetCpuPerIo];
        Datastore {
            label: format!("{kind}://127.0.0.1/srv"),
            description: DatastoreDescription { kind: kind.into(), ..Default::default() },
            values: metrics
                .map(|metric| MetricValue { metric, value: 12_345.0, interval: None, n: 3 })
                .to_vec(),
            verified: None,
            touched: None,
        }
    }

    #[test]
    fn no_line_is_longer_than_the_others_of_the_report() {
        for kind in ["nfs", "iscsi"] {
            for width in [60, 90, 100] {
                let text = compared(&datastore("file"), &datastore(kind), width).unwrap();
                assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
                assert!(text.contains("12 µs per I/O on average"), "{text}");
            }
        }
    }
}
