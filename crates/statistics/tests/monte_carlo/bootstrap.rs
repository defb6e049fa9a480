//! The bootstrap interval of skewed blocks covers the truth about as often as it says.

use crate::noise::{Noise, three_standard_errors};
use stormeter_statistics::{BlockPair, LogRatios};

/// Log-ratios from an exponential law, whose skewness is 2 and whose mean is known.
#[test]
fn coverage_of_skewed_blocks() {
    let (runs, blocks) = (600, 12);
    let mut noise = Noise::new(11);
    let (mut bootstrap, mut plain) = (0usize, 0usize);
    for seed in 0..runs {
        let pairs: Vec<BlockPair> = (0..blocks)
            .map(|_| (-0.1 * noise.uniform().ln()).exp())
            .map(|candidate| BlockPair { baseline: 1.0, candidate })
            .collect();
        let ratios = LogRatios::of_blocks(&pairs).unwrap();
        let truth = 0.1f64.exp();
        let interval = ratios.bootstrap(0.95, seed as u64).unwrap();
        bootstrap += usize::from(interval.contains(truth));
        let error = ratios.sd() / (blocks as f64).sqrt();
        plain += usize::from(ratios.interval(error, 0.0, 0.95).contains(truth));
    }
    let (bootstrap, plain) = (bootstrap as f64 / runs as f64, plain as f64 / runs as f64);
    assert!(bootstrap > 0.95 - three_standard_errors(0.05, runs), "bootstrap {bootstrap}");
    assert!(bootstrap > plain, "bootstrap {bootstrap}, t {plain}");
}
