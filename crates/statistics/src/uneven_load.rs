//! Whether CPU time per I/O is compared at about the same rate.
//!
//! It depends on the rate even if nothing but I/Os is counted: completions that come together are reaped by
//! one system call, and a thread that sleeps between two of them is put to sleep and woken. So where one
//! datastore serves many times as many I/Os as the other, a part of the difference is the load's.

use stormeter_study::{ComparisonPlan, Metric};

use crate::analysis::TrialView;
use crate::finding::{Fact, LawFinding};

/// Rates further apart than this factor are not the same load.
const FACTOR: f64 = 2.0;

/// What is to be said of a candidate: a warning where CPU time carries the verdict, else a note.
pub(crate) fn uneven_load(
    plan: &ComparisonPlan,
    trials: &[TrialView<'_>],
    candidate: usize,
) -> Option<LawFinding> {
    if plan.equal_load.is_some() || plan.workload.arrivals.rate_per_s().is_some() {
        return None;
    }
    // Where it is not known there is nothing to compare.
    if trials.iter().all(|trial| trial.cpu.process_ns == 0) {
        return None;
    }
    let rate_of = |datastore: usize| {
        let own: Vec<f64> = trials
            .iter()
            .filter(|trial| trial.datastore == datastore)
            .map(|trial| trial.sample.iops())
            .collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let (baseline_per_s, candidate_per_s) = (rate_of(plan.baseline), rate_of(candidate));
    let apart = (candidate_per_s / baseline_per_s).max(baseline_per_s / candidate_per_s);
    let of_cpu = [Metric::CpuPerIo, Metric::TargetCpuPerIo, Metric::HostCpuPerIo];
    (apart.is_finite() && apart > FACTOR).then(|| {
        let fact = Fact::UnevenLoad { candidate_per_s, baseline_per_s };
        match of_cpu.contains(&plan.metric) {
            true => LawFinding::warning(fact),
            false => LawFinding::note(fact),
        }
    })
}
