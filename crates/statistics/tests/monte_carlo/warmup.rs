//! How often MSER refuses a series that is steady, and whether it finds a ramp in noise.

use crate::noise::{Autoregressive, Noise};
use stormeter_statistics::Warmup;

const RUNS: usize = 2000;

/// Share of series for which `says` holds: AR(1) noise of SD 1 about a level, which the first
/// `ramp` of `count` intervals approach from 10 below.
fn share(count: usize, correlation: f64, ramp: usize, says: impl Fn(Warmup) -> bool) -> f64 {
    let mut noise = Noise::new(count as u64);
    let hits = (0..RUNS)
        .filter(|_| {
            let mut process = Autoregressive::new(correlation, &mut noise);
            let values: Vec<f64> = (0..count)
                .map(|i| {
                    let missing = 10.0 * (1.0 - i as f64 / ramp.max(1) as f64).max(0.0);
                    100.0 - if ramp > 0 { missing } else { 0.0 } + process.next(&mut noise)
                })
                .collect();
            says(Warmup::find(&values).expect("enough finite values"))
        })
        .count();
    hits as f64 / RUNS as f64
}

#[test]
fn steady_series_are_seldom_refused() {
    for (count, correlation, allowed) in
        [(20, 0.0, 0.05), (60, 0.0, 0.05), (300, 0.0, 0.02), (60, 0.5, 0.10)]
    {
        let refused = share(count, correlation, 0, |warmup| !warmup.settled);
        assert!(refused < allowed, "{refused} of {count} intervals at {correlation}");
    }
}

#[test]
fn a_short_ramp_is_cut_and_a_long_one_refused() {
    let cut = share(60, 0.0, 15, |warmup| warmup.settled && warmup.drop_intervals >= 10);
    assert!(cut > 0.9, "{cut}");
    let refused = share(60, 0.0, 60, |warmup| !warmup.settled);
    assert!(refused > 0.9, "{refused}");
}
