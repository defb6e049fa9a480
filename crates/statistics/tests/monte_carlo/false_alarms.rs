//! The promise about equal datastores: sequential comparison calls them different in at most 5 %.
//!
//! Each case runs the stopping rule, look by look, on simulated log-ratios of two equal
//! datastores and counts the runs whose final interval excludes 1. The noise is measured in units
//! of the wanted precision, since only their quotient matters. Runs end when the precision is
//! reached or at a time limit, here a number of blocks that has nothing to do with the data.

use crate::noise::{Autoregressive, Noise, three_standard_errors};
use stormeter_statistics::stopping::{Looks, Reached};
use stormeter_statistics::{
    BlockPair, Comparison, ComparisonInput, Decision, Direction, LogRatios, StopRule, Verdict,
};
use stormeter_study::Metric;

const LOOKS: Looks = Looks { precision: 0.02, min_blocks: 5, level: 0.95, resolution: 0.0 };

/// SDs of a block's log-ratio, as multiples of the precision: from "settled at the first look"
/// to "needs two hundred blocks".
const SD_IN_PRECISIONS: [f64; 8] = [0.4, 0.8, 1.2, 1.6, 2.0, 2.5, 3.5, 5.0];

/// Numbers of blocks at which time may be up.
const TIME_LIMITS: [usize; 6] = [5, 7, 10, 16, 25, 120];

/// Noise of a block's log-ratio with SD (about) 1.
trait BlockNoise {
    fn start(noise: &mut Noise) -> Self;
    fn next(&mut self, noise: &mut Noise) -> f64;
}

struct Normal;

impl BlockNoise for Normal {
    fn start(_: &mut Noise) -> Self {
        Self
    }
    fn next(&mut self, noise: &mut Noise) -> f64 {
        noise.normal()
    }
}

/// Student's t with 3 degrees of freedom, whose SD is √3: now and then a wild block.
struct HeavyTails;

impl BlockNoise for HeavyTails {
    fn start(_: &mut Noise) -> Self {
        Self
    }
    fn next(&mut self, noise: &mut Noise) -> f64 {
        let chi_squared: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
        noise.normal() / chi_squared.sqrt()
    }
}

/// What disturbs both datastores is correlated from trial to trial and drifts; the two trials of
/// a block are in random order.
struct SharedWeather {
    process: Autoregressive,
}

impl BlockNoise for SharedWeather {
    fn start(noise: &mut Noise) -> Self {
        Self { process: Autoregressive::new(0.6, noise) }
    }
    fn next(&mut self, noise: &mut Noise) -> f64 {
        let first = self.process.next(noise);
        let drift = 0.3;
        let second = self.process.next(noise) + drift;
        let difference = second - first;
        if noise.coin() { difference } else { -difference }
    }
}

/// Each datastore has correlated noise of its own, interval by interval; a trial is the mean of
/// 20 intervals, and the trials are in random order.
struct OwnWeather {
    processes: [Autoregressive; 2],
}

impl BlockNoise for OwnWeather {
    fn start(noise: &mut Noise) -> Self {
        Self { processes: [Autoregressive::new(0.5, noise), Autoregressive::new(0.5, noise)] }
    }
    fn next(&mut self, noise: &mut Noise) -> f64 {
        const INTERVALS: usize = 20;
        let mut means = [0.0; 2];
        let first = usize::from(noise.coin());
        for running in [first, 1 - first] {
            for _ in 0..INTERVALS {
                for (index, process) in self.processes.iter_mut().enumerate() {
                    let value = process.next(noise);
                    if index == running {
                        means[index] += value / INTERVALS as f64;
                    }
                }
            }
        }
        // Variance of such a mean: 3/20 but for the ends.
        (means[1] - means[0]) / 0.53
    }
}

/// The outcome of runs at one SD, for each time limit.
struct Outcome {
    false_alarms: [f64; TIME_LIMITS.len()],
    blocks: f64,
}

/// Runs the rule `runs` times at the SD `sd_in_precisions`. `judge` gives the standard error and
/// whether to stop from (looks, sd, blocks, t quantile).
fn run<N: BlockNoise>(
    runs: usize,
    sd_in_precisions: f64,
    seed: u64,
    judge: impl Fn(&Looks, f64, usize, f64) -> (f64, Reached),
) -> Outcome {
    let mut noise = Noise::new(seed);
    let most = TIME_LIMITS[TIME_LIMITS.len() - 1];
    let quantiles: Vec<f64> = (0..=most).map(|blocks| LOOKS.t_quantile(blocks.max(2))).collect();
    let sd = sd_in_precisions * LOOKS.precision;
    let mut alarms = [0usize; TIME_LIMITS.len()];
    let mut all_blocks = 0;
    for _ in 0..runs {
        let mut process = N::start(&mut noise);
        let (mut mean, mut squares) = (0.0, 0.0);
        for (blocks, &t) in quantiles.iter().enumerate().skip(1) {
            // Welford's update of mean and sum of squares.
            let value = sd * process.next(&mut noise);
            let delta = value - mean;
            mean += delta / blocks as f64;
            squares += delta * (value - mean);
            if blocks < LOOKS.min_blocks {
                continue;
            }
            let (error, reached) = judge(&LOOKS, (squares / (blocks - 1) as f64).sqrt(), blocks, t);
            let alarm = usize::from(mean.abs() > t * error);
            let stopped = reached == Reached::Yes;
            for (limit, count) in TIME_LIMITS.iter().zip(&mut alarms) {
                // A run that stops here is final for this and every later limit.
                if blocks == *limit || (stopped && blocks < *limit) {
                    *count += alarm;
                }
            }
            if stopped || blocks == most {
                all_blocks += blocks;
                break;
            }
        }
    }
    Outcome {
        false_alarms: alarms.map(|count| count as f64 / runs as f64),
        blocks: all_blocks as f64 / runs as f64,
    }
}

fn product(looks: &Looks, sd: f64, blocks: usize, t: f64) -> (f64, Reached) {
    looks.standard_error(sd, blocks, t)
}

/// The rule without its correction: stop when the ordinary t interval is narrow.
fn uncorrected(looks: &Looks, sd: f64, blocks: usize, t: f64) -> (f64, Reached) {
    let error = sd / (blocks as f64).sqrt();
    let narrow = t * error <= looks.log_precision();
    (error, if narrow { Reached::Yes } else { Reached::NotYet })
}

fn assert_promise<N: BlockNoise>(runs: usize, level: f64) {
    let allowed = level + three_standard_errors(level, runs);
    for (index, sd) in SD_IN_PRECISIONS.into_iter().enumerate() {
        let outcome = run::<N>(runs, sd, index as u64, product);
        for (limit, share) in TIME_LIMITS.iter().zip(outcome.false_alarms) {
            assert!(share <= allowed, "{share} > {allowed}: SD {sd} precisions, limit {limit}");
        }
    }
}

#[test]
fn normal_noise() {
    assert_promise::<Normal>(20_000, 0.05);
}

#[test]
fn heavy_tails() {
    assert_promise::<HeavyTails>(20_000, 0.05);
}

#[test]
fn correlated_and_drifting_noise_that_both_share() {
    assert_promise::<SharedWeather>(20_000, 0.05);
}

/// Noise that lasts from one trial of a datastore into its next cannot be distinguished from a difference;
/// a correlation of 0.5 from interval to interval is short enough to cost next to nothing.
#[test]
fn correlated_noise_of_each_datastore() {
    assert_promise::<OwnWeather>(8_000, 0.05);
}

#[test]
fn the_uncorrected_rule_breaks_the_promise_and_the_correction_costs_few_blocks() {
    let runs = 20_000;
    let naive = run::<Normal>(runs, 2.0, 4, uncorrected);
    let ours = run::<Normal>(runs, 2.0, 4, product);
    let longest = TIME_LIMITS.len() - 1;
    assert!(naive.false_alarms[longest] > 0.07, "{}", naive.false_alarms[longest]);
    let price = ours.blocks - naive.blocks;
    assert!((3.0..4.5).contains(&price), "{price} blocks more than {}", naive.blocks);
    // Where the first look settles it, the correction is free.
    let easy = run::<Normal>(runs, 0.4, 4, product);
    assert!(easy.blocks < 5.1, "{}", easy.blocks);
}

/// The whole path that a user's run takes (rule, comparison, verdict), over 1000 seeds.
#[test]
fn the_whole_path_keeps_the_promise_and_finds_a_true_difference() {
    let runs = 1000;
    let rule = StopRule::new(LOOKS, 60).unwrap();
    let different = |true_ratio: f64| {
        (0..runs)
            .filter(|seed| {
                let mut noise = Noise::new(*seed as u64);
                let mut host_noise = Autoregressive::new(0.6, &mut noise);
                let mut input = ComparisonInput {
                    baseline: "a".into(),
                    candidate: "b".into(),
                    metric: Metric::Iops,
                    direction: Direction::HigherIsBetter,
                    blocks: Vec::new(),
                    margin: 0.05,
                    looks: rule.looks(),
                };
                let mut sd = None;
                let mut trial = 0.0;
                while matches!(rule.decide(input.blocks.len(), sd), Decision::Continue { .. }) {
                    let mut rates = [0.0; 2];
                    let first = usize::from(noise.coin());
                    for (index, truth) in [(first, 1.0), (1 - first, 1.0)] {
                        let truth = if index == 1 { true_ratio } else { truth };
                        // 3 % of noise and a drift of 0.2 % from trial to trial.
                        let disturbance = 0.03 * host_noise.next(&mut noise) + 0.002 * trial;
                        rates[index] = 50_000.0 * truth * disturbance.exp();
                        trial += 1.0;
                    }
                    let [baseline, candidate] = rates;
                    input.blocks.push(BlockPair { baseline, candidate });
                    sd = LogRatios::of_blocks(&input.blocks).ok().map(|ratios| ratios.sd());
                }
                let verdict = Comparison::of(&input, *seed as u64).unwrap().verdict;
                matches!(verdict, Verdict::Faster | Verdict::Slower)
            })
            .count() as f64
            / runs as f64
    };
    let false_alarms = different(1.0);
    assert!(false_alarms <= 0.05 + three_standard_errors(0.05, runs), "{false_alarms}");
    let found = different(1.05);
    assert!(found >= 0.8, "{found}");
}
