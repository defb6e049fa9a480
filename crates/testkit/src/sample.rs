//! What a trial measured, for tests that are about something else.

use stormeter_trial::{DiskTotals, Ended, Histogram, Interval, IntervalTotals, KindTotals, Sample};

/// A trial of this many IOPS that obeys the laws: 200 I/Os of 4 KiB in ten equal rows, 4 outstanding.
pub fn sample(iops: f64) -> Sample {
    let operations = 200u64;
    let window_ns = (operations as f64 * 1e9 / iops).round() as u64;
    let latency_ns = 4 * window_ns / operations;
    let mut histogram = Histogram::default();
    (0..operations).for_each(|_| histogram.record(latency_ns));
    let reads = KindTotals {
        operations,
        bytes: operations * 4096,
        latency_sum_ns: operations * latency_ns,
        latency_min_ns: latency_ns,
        latency_max_ns: latency_ns,
        histogram,
        ..KindTotals::default()
    };
    let rows = (0..10).map(|row| interval(row * window_ns / 10, window_ns / 10, operations / 10));
    Sample {
        window_ns,
        interval_ns: window_ns / 10,
        reads,
        writes: KindTotals::default(),
        durable: KindTotals::default(),
        flushes: KindTotals::default(),
        intervals: rows.collect(),
        disks: vec![DiskTotals { operations, ..DiskTotals::default() }],
        outstanding_mean: 4.0,
        carried_ns: 0,
        turn_wait_ns: Some(0),
        flush_wait_ns: 0,
        spun_ns: 0,
        issue: None,
        outstanding_configured: Some(4),
        offered_rate_per_s: None,
        ramp_operations: 0,
        due_operations: 0,
        backlog_operations: 0,
        io_failures: Vec::new(),
        verified: None,
        disturbances: vec![],
        settled_ns: 0,
        touched_bytes: None,
        updates: None,
        desktops: None,
        steps: Vec::new(),
        ended: Ended::Completed,
    }
}

/// A row of a trial.
pub fn interval(start_ns: u64, length_ns: u64, operations: u64) -> Interval {
    let reads = IntervalTotals {
        operations,
        bytes: operations * 4096,
        latency_sum_ns: operations * 1000,
        latency_max_ns: 1000,
    };
    Interval { start_ns, length_ns, reads, writes: IntervalTotals::default() }
}
