//! What flushes and durable writes are part of, in words: which figures contain them.

use stormeter_study::Metric;

/// What flushes and durable writes are part of, of results with such metrics.
pub(crate) fn durability(has: impl Fn(Metric) -> bool) -> Option<String> {
    let parts = [
        (
            Metric::FlushP50,
            "Flushes are no I/Os: IOPS do not count them, and their latency is in no read's or write's.",
        ),
        (
            Metric::DurableWriteP50,
            "Durable writes are I/Os: IOPS and latencies contain them, and their own percentiles are those of the \
             writes alone.",
        ),
    ];
    let shown = parts.into_iter().filter(|(metric, _)| has(*metric)).map(|(_, words)| words);
    let shown: Vec<&str> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}
