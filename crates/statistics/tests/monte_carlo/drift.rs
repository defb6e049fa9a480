//! The drift test on noise without drift, independent and correlated, and on a true drift.

use crate::noise::{Autoregressive, Noise, three_standard_errors};
use stormeter_statistics::Drift;

const RUNS: usize = 4000;

/// Share of series called drifting at 5 %: `count` values of AR(1) noise of SD 1 about 100, with
/// a rise of `rise` from first to last.
fn alarms(count: usize, correlation: f64, rise: f64) -> f64 {
    let mut noise = Noise::new(count as u64);
    let alarms = (0..RUNS)
        .filter(|_| {
            let mut process = Autoregressive::new(correlation, &mut noise);
            let values: Vec<f64> = (0..count)
                .map(|i| 100.0 + rise * i as f64 / (count - 1) as f64 + process.next(&mut noise))
                .collect();
            Drift::of(&values).expect("finite values about 100").p_value < 0.05
        })
        .count();
    alarms as f64 / RUNS as f64
}

#[test]
fn steady_series_are_seldom_called_drifting() {
    let sampling = three_standard_errors(0.05, RUNS);
    for (count, correlation, allowed) in [
        (20, 0.0, 0.05),
        (60, 0.0, 0.05),
        (20, 0.5, 0.065),
        (30, 0.5, 0.055),
        (60, 0.5, 0.05),
        (60, 0.7, 0.055),
    ] {
        let share = alarms(count, correlation, 0.0);
        assert!(share < allowed + sampling, "{share} of {count} values at {correlation}");
    }
}

#[test]
fn a_drift_of_three_standard_deviations_is_seen() {
    assert!(alarms(20, 0.0, 3.0) > 0.8);
    assert!(alarms(60, 0.5, 3.0) > 0.85);
}
