//! Where the difference comes from, in words: what the table's figures mean for these datastores.

use stormeter_report::Report;
use stormeter_report::compact::{Compact, Datastore};
use stormeter_study::Metric;

/// Some lines for each datastore but the first.
pub(super) fn explanation(report: &Report) -> String {
    let Some(comparison) = Compact::of(report) else { return String::new() };
    let Some((local, others)) = comparison.datastores.split_first() else { return String::new() };
    let lines: Vec<String> = others.iter().filter_map(|other| compared(local, other)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nWhere the difference comes from:\n{}", lines.concat())
}

fn compared(local: &Datastore, other: &Datastore) -> Option<String> {
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
    Some(format!(
        "\n  {}\n    latency  {there:.0} µs an I/O in the mean instead of {here:.0} µs\n    \
         CPU      {its:.1} µs an I/O in the initiator instead of {own:.1} µs ({way}, copied \
         through a socket){target}\n    reads    {reads}\n    writes   {writes}\n",
        other.label
    ))
}

/// A metric in microseconds.
fn us(datastore: &Datastore, metric: Metric) -> Option<f64> {
    let found = datastore.values.iter().find(|value| value.metric == metric)?;
    Some(found.value / 1e3)
}
