//! Whether CPU time per I/O is compared at about the same rate.
//!
//! It depends on the rate even if nothing but I/Os is counted: completions that arrive together are reaped by
//! one system call, and a thread that waits between two of them is put to sleep and woken. So where one
//! datastore serves many times as many I/Os as the other, a part of the difference is due to the load.

use stormeter_study::Metric;

use crate::finding::{Fact, LawFinding};

/// Rates further apart than this factor are not the same load.
const FACTOR: f64 = 2.0;

/// The finding about a candidate whose trials had this mean rate, compared with the baseline's, in I/Os a second:
/// a warning where CPU time carries the verdict, else a note. `metric` carries the verdict.
pub(crate) fn uneven_load(
    metric: Metric,
    candidate_per_s: f64,
    baseline_per_s: f64,
) -> Option<LawFinding> {
    let apart = (candidate_per_s / baseline_per_s).max(baseline_per_s / candidate_per_s);
    (apart.is_finite() && apart > FACTOR).then(|| {
        let fact = Fact::UnevenLoad { candidate_per_s, baseline_per_s };
        match metric.is_of_cpu_per_io() {
            true => LawFinding::warning(fact),
            false => LawFinding::note(fact),
        }
    })
}
