//! How often steady blocks are flagged of a burst or a trend, and how often those with one are found.

use stormeter_statistics::course::{ERROR, LEAST_CHANGE, Opening, trend};

use crate::noise::{Autoregressive, Noise, three_standard_errors};

const RUNS: u64 = 1000;

/// Whether one of two datastores is flagged in a run of this many blocks, whose values have this SD and this
/// correlation from block to block, and are `change` times as high in the first block.
fn is_flagged(seed: u64, blocks: usize, sd: f64, correlation: f64, change: f64) -> bool {
    (0..2).any(|store| {
        let mut noise = Noise::new(seed * 2 + store);
        let mut series = Autoregressive::new(correlation, &mut noise);
        let values: Vec<f64> = (0..blocks)
            .map(|block| {
                let level = if block == 0 { change } else { 1.0 };
                1000.0 * level * (sd * series.next(&mut noise)).exp()
            })
            .collect();
        let error = ERROR / 4.0;
        Opening::of(&values, error).is_some() || trend(&values, error).is_some()
    })
}

fn share(blocks: usize, sd: f64, correlation: f64, change: f64) -> f64 {
    let flagged =
        (0..RUNS).filter(|&seed| is_flagged(seed, blocks, sd, correlation, change)).count();
    flagged as f64 / RUNS as f64
}

#[test]
fn steady_blocks_are_flagged_no_more_often_than_stated() {
    let mut most: f64 = 0.0;
    for blocks in [5, 8, 12, 30, 100] {
        // Up to noise so large that the least change is no help.
        for sd in [0.01, 0.05, 0.1, 0.3] {
            for (correlation, error) in [(0.0, ERROR), (0.3, 2.0 * ERROR)] {
                let limit = error + three_standard_errors(error, RUNS as usize);
                let share = share(blocks, sd, correlation, 1.0);
                println!("{blocks} blocks, SD {sd}, correlation {correlation}: {share}");
                assert!(share <= limit, "{blocks} blocks, SD {sd}, {correlation}: {share}");
                assert!(sd * 5.0 > LEAST_CHANGE || share == 0.0);
                most = most.max(share);
            }
        }
    }
    // The level is used: a rule that never speaks would pass the rest.
    assert!(most > 0.01, "{most}");
}

#[test]
fn a_burst_of_the_first_block_is_found() {
    for (blocks, sd, change) in [(5, 0.03, 2.0), (8, 0.05, 1.5), (12, 0.1, 4.0)] {
        let share = share(blocks, sd, 0.0, change);
        assert!(share > 0.95, "{blocks} blocks, SD {sd}, × {change}: {share}");
    }
}
