//! Whether trials were steady: warm-up, drift and autocorrelation, judged over all trials of a
//! datastore together.
//!
//! One trial in twenty looks unsteady by chance; what matters is whether most of them are. So
//! a warning needs more unsteady trials than chance explains.

use stormeter_trial::Sample;

use crate::finding::{Fact, LawFinding, SeenIn};
use crate::series::{Drift, effective_sample_size, lag1_autocorrelation};
use crate::warmup::Warmup;

/// Drift below this share of the mean does not matter.
const DRIFT_THAT_MATTERS: f64 = 0.05;
/// A drift is counted at this p-value…
const DRIFT_P: f64 = 0.01;
/// … and reported when at least this share of the trials shows it.
const SHARE_OF_TRIALS: f64 = 0.25;
/// Fewer independent intervals than this in a trial are too few to average out its swings.
pub const FEWEST_EFFECTIVE: f64 = 5.0;

/// Warnings about the steadiness of the trials of one datastore.
pub fn check_steadiness(samples: &[&Sample]) -> Vec<LawFinding> {
    let series: Vec<Vec<f64>> = samples
        .iter()
        .map(|sample| sample.intervals.iter().map(|row| row.iops()).collect())
        .filter(|series: &Vec<f64>| series.len() >= 5)
        .collect();
    if series.is_empty() {
        return Vec::new();
    }
    [warmup(&series), drift(&series), swings(&series)].into_iter().flatten().collect()
}

/// The trials in which something was found, if they are more than chance explains.
fn often(count: usize, series: &[Vec<f64>]) -> Option<SeenIn> {
    // A single trial is never a rule.
    let is_often = count >= 2 && count as f64 >= SHARE_OF_TRIALS * series.len() as f64;
    is_often.then_some(SeenIn { trials: count as u32, of: series.len() as u32 })
}

fn warmup(series: &[Vec<f64>]) -> Option<LawFinding> {
    let unsettled = series
        .iter()
        .filter_map(|intervals| Warmup::find(intervals))
        .filter(|warmup| !warmup.settled)
        .count();
    Some(LawFinding::warning(Fact::NotSettled(often(unsettled, series)?)))
}

fn drift(series: &[Vec<f64>]) -> Option<LawFinding> {
    let changes: Vec<f64> = series
        .iter()
        .filter_map(|intervals| Drift::of(intervals))
        .filter(|d| d.p_value < DRIFT_P && d.relative_change.abs() > DRIFT_THAT_MATTERS)
        .map(|drift| drift.relative_change)
        .collect();
    let seen_in = often(changes.len(), series)?;
    let most = changes.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    Some(LawFinding::warning(Fact::Drift { seen_in, most }))
}

fn swings(series: &[Vec<f64>]) -> Option<LawFinding> {
    let few = series
        .iter()
        .filter(|intervals| intervals.len() >= 10)
        .filter_map(|s| Some(effective_sample_size(s.len(), lag1_autocorrelation(s)?)))
        .filter(|&effective| effective < FEWEST_EFFECTIVE)
        .count();
    Some(LawFinding::warning(Fact::SlowFluctuation(often(few, series)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use stormeter_driver::drive as run;
    use stormeter_simulator::{
        FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
    };
    use stormeter_trial::{Limits, Trial};

    fn samples(plan: NoisePlan, ramp_ns: u64) -> Vec<Sample> {
        (0..12)
            .map(|seed| {
                let trial = Trial {
                    workload: stormeter_study::profile("vm-4k").unwrap().workload,
                    first_disk: 0,
                    disks: 1,
                    disk_bytes: 1 << 30,
                    seed,
                    start: Default::default(),
                    content_seed: 0,
                    ramp_ns,
                    duration_ns: 2_000_000_000,
                    interval_ns: 50_000_000,
                    limits: Limits::default(),
                    verify: false,
                };
                let time = VirtualTime::new();
                let noise = Rc::new(RefCell::new(HostNoise::new(plan, seed)));
                let service = Service::LogNormal { median_ns: 500_000, sigma: 0.3 };
                let model = Model { servers: 4, service, faults: FaultPlan::default() };
                let mut disks = SimulatedDisks::new(time.clone(), model, noise, seed);
                run(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap()
            })
            .collect()
    }

    fn warnings(plan: NoisePlan) -> Vec<Fact> {
        let samples = samples(plan, 0);
        let references: Vec<&Sample> = samples.iter().collect();
        check_steadiness(&references).into_iter().map(|finding| finding.fact).collect()
    }

    #[test]
    fn steady_trials_raise_no_warning() {
        assert_eq!(warnings(NoisePlan::QUIET), []);
    }

    #[test]
    fn drift_is_seen_and_named() {
        let found =
            warnings(NoisePlan { drift_per_s: 0.15, step_ns: 10_000_000, ..NoisePlan::QUIET });
        assert!(
            found.iter().any(|fact| matches!(fact, Fact::Drift { most, .. } if *most < -0.2)),
            "{found:?}"
        );
    }

    #[test]
    fn slow_swings_are_seen() {
        let plan =
            NoisePlan { noise: 0.3, correlation: 0.98, step_ns: 20_000_000, drift_per_s: 0.0 };
        let found = warnings(plan);
        assert!(found.iter().any(|fact| matches!(fact, Fact::SlowFluctuation(_))), "{found:?}");
    }
}
