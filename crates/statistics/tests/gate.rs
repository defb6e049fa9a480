//! Simulated gates: how often a slowdown that is allowed is reported, and how often a true one is found.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_statistics::Direction;
use stormeter_statistics::gate::{GateInput, GateVerdict, judge};
use stormeter_statistics::quantile::normal_quantile;

/// Gates of each case.
const GATES: usize = 1000;
const LIMIT: f64 = 0.03;
const ALPHA: f64 = 0.05;

fn normal(draw: &mut Xoshiro256PlusPlus) -> f64 {
    let share = ((draw.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    normal_quantile(share)
}

/// How many of the gates say so, with this spread between runs and within them (10 trials a run).
struct Case {
    between: f64,
    history: usize,
    new: usize,
}

impl Case {
    /// Shares of regressions and of "no regression", and the median of the smallest slowdown that is found.
    fn shares(&self, slowdown: f64) -> (f64, f64, f64) {
        const WITHIN: f64 = 0.02;
        const TRIALS: usize = 10;
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(
            (1e5 * self.between) as u64 * 100_000 + self.history as u64 * 1000 + self.new as u64,
        );
        let mut run = |level: f64| {
            let level = level * (self.between * normal(&mut draw)).exp();
            let trials = (0..TRIALS).map(|_| level * (WITHIN * normal(&mut draw)).exp());
            trials.sum::<f64>() / TRIALS as f64
        };
        let (mut regressions, mut fine, mut smallest) = (0, 0, Vec::new());
        for _ in 0..GATES {
            let history: Vec<f64> = (0..self.history).map(|_| run(1e4)).collect();
            let new: Vec<f64> = (0..self.new).map(|_| run(1e4 / (1.0 + slowdown))).collect();
            let input = GateInput {
                history: &history,
                new: &new,
                direction: Direction::HigherIsBetter,
                max_slowdown: LIMIT,
                alpha: ALPHA,
            };
            let found = judge(&input).unwrap();
            regressions += usize::from(found.verdict == GateVerdict::Regression);
            fine += usize::from(found.verdict == GateVerdict::Fine);
            smallest.extend(found.smallest_found);
        }
        smallest.sort_by(f64::total_cmp);
        let share = |count: usize| count as f64 / GATES as f64;
        (share(regressions), share(fine), smallest[smallest.len() / 2])
    }
}

#[test]
fn allowed_slowdowns_are_reported_at_most_at_the_level_and_true_ones_are_found() {
    // Four standard errors of a share of 5 %: there are 24 cases.
    let most = ALPHA + 4.0 * (ALPHA * (1.0 - ALPHA) / GATES as f64).sqrt();
    println!(
        "| between runs | history | new | none: reported | 3 %: reported | 5 %: found | none: fine | smallest found |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut allowed = 0;
    for between in [0.002, 0.005, 0.01, 0.02] {
        for (history, new) in [(3, 1), (5, 1), (10, 1), (20, 1), (10, 3), (20, 5)] {
            let case = Case { between, history, new };
            let (none, fine, smallest) = case.shares(0.0);
            let (at_limit, ..) = case.shares(LIMIT);
            let (found, ..) = case.shares(0.05);
            println!(
                "| {:.1} % | {history} | {new} | {:.1} % | {:.1} % | {:.0} % | {:.0} % | {:.1} % |",
                100.0 * between,
                100.0 * none,
                100.0 * at_limit,
                100.0 * found,
                100.0 * fine,
                100.0 * smallest,
            );
            assert!(none <= ALPHA, "{between} {history} {new}: {none}");
            assert!(at_limit <= most, "{between} {history} {new}: {at_limit}");
            // What the history allows is what the judgement itself says that it could have found.
            if smallest <= 0.049 {
                allowed += 1;
                assert!(found >= 0.8, "{between} {history} {new}: {found}, {smallest}");
            }
        }
    }
    assert!(allowed >= 3, "{allowed}");
}
