//! The promise of the tool for flushes: with a percentile of flush latency as the metric, two equal datastores are called
//! different in no more than 5 % of comparisons, and a true difference is found.
//!
//! A trial has far fewer flushes than I/Os, and their latencies have a long tail, so its percentiles are rough. The
//! latencies are drawn from a seed, on a machine whose speed wanders from trial to trial and drifts; the real stopping
//! rule decides when a comparison ends.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{CellTrial, Surroundings, Verdict, analyse, decide};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, block_order};
use stormeter_testkit::sample;
use stormeter_trial::{CpuUsage, FlushEvery, Sample};

const COMPARISONS: u64 = 300;
/// As a log writer that flushes every 25 ms has in a trial of ten seconds.
const FLUSHES: u64 = 400;

fn plan(metric: Metric, seed: u64) -> StudyPlan {
    let mut plan = ComparisonPlan {
        metric,
        min_blocks: 5,
        max_blocks: 40,
        // A tail is known less well than a median.
        precision: if metric == Metric::FlushP50 { 0.05 } else { 0.15 },
        seed,
        ..common::plan(5)
    };
    plan.workload.read_percent = 0.0;
    plan.workload.flush = Some(FlushEvery::Writes { writes: 8 });
    plan.check().unwrap();
    StudyPlan::from(&plan)
}

/// A machine with two datastores, whose flushes are `slower` on the second.
struct Machine {
    dice: Xoshiro256PlusPlus,
    slower: f64,
    /// The logarithm of its speed.
    speed: f64,
}

impl Machine {
    fn new(seed: u64, slower: f64) -> Self {
        Self { dice: Xoshiro256PlusPlus::seed_from_u64(seed), slower, speed: 0.0 }
    }

    fn uniform(&mut self) -> f64 {
        ((self.dice.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A normal number (Box and Muller, *Annals of Mathematical Statistics* 29 (1958) 610-611).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    fn trial(&mut self, datastore: usize) -> Sample {
        // It remembers for about two trials, and all gets slower.
        self.speed = 0.6 * self.speed + 0.03 * self.normal() + 0.001;
        let own = [1.0, self.slower][datastore] * self.speed.exp();
        let mut sample = sample(1000.0);
        for _ in 0..FLUSHES {
            // One in thirty meets a commit of something else.
            let waits = if self.uniform() < 1.0 / 30.0 { 3e6 * -self.uniform().ln() } else { 0.0 };
            let latency_ns = own * (1e6 * (0.25 * self.normal()).exp() + waits);
            sample.flushes.operations += 1;
            sample.flushes.latency_sum_ns += latency_ns as u64;
            sample.flushes.histogram.record(latency_ns as u64);
        }
        sample
    }
}

/// The verdict of a whole comparison, and the blocks that it took.
fn compare(metric: Metric, seed: u64, slower: f64) -> (Verdict, u32) {
    let plan = plan(metric, seed);
    let mut machine = Machine::new(seed, slower);
    let cpu = CpuUsage::default();
    let mut samples: Vec<(u32, usize, Sample)> = Vec::new();
    for block in 0.. {
        let view = |(block, cell, sample)| CellTrial { block, cell, sample, cpu: &cpu };
        let views: Vec<CellTrial<'_>> =
            samples.iter().map(|(block, cell, sample)| view((*block, *cell, sample))).collect();
        if !matches!(decide(&plan, &views), Decision::Continue { .. }) {
            let analysis = analyse(&plan, &views, &Surroundings::default());
            let of_metric = analysis.cells[1].relative.iter().find(|it| it.metric == metric);
            return (of_metric.unwrap().comparison.as_ref().unwrap().verdict, block);
        }
        for datastore in block_order(seed, block, 2) {
            samples.push((block, datastore, machine.trial(datastore)));
        }
    }
    unreachable!("the stopping rule ends at the largest number of blocks")
}

/// How many comparisons have one of these verdicts, and their blocks on average.
fn count(metric: Metric, comparisons: u64, slower: f64, wanted: &[Verdict]) -> (u64, f64) {
    let (mut counted, mut all_blocks) = (0, 0);
    for seed in 0..comparisons {
        let (verdict, blocks) = compare(metric, seed, slower);
        counted += u64::from(wanted.contains(&verdict));
        all_blocks += blocks;
    }
    (counted, f64::from(all_blocks) / comparisons as f64)
}

#[test]
fn equal_datastores_are_called_different_in_at_most_5_percent() {
    for metric in [Metric::FlushP50, Metric::FlushP99] {
        let different = [Verdict::Faster, Verdict::Slower];
        let (alarms, blocks) = count(metric, COMPARISONS, 1.0, &different);
        println!("{metric:?}: {alarms} false alarms in {COMPARISONS}, {blocks:.1} blocks each");
        // Three standard errors of a share of 5 % in that many comparisons.
        let limit = 0.05 + 3.0 * (0.05f64 * 0.95 / COMPARISONS as f64).sqrt();
        assert!(alarms as f64 <= limit * COMPARISONS as f64, "{metric:?}: {alarms} false alarms");
        // And the noise is real.
        assert!(alarms > 0 && blocks > 5.1, "{metric:?}: {alarms}, {blocks}");
    }
}

#[test]
fn slower_flushes_are_found() {
    for (metric, slower) in [(Metric::FlushP50, 1.1), (Metric::FlushP99, 1.5)] {
        let (found, blocks) = count(metric, 60, slower, &[Verdict::Slower]);
        println!("{metric:?}: found {found} times in 60, after {blocks:.1} blocks on average");
        assert!(found >= 48, "{metric:?}: found {found} times in 60");
    }
}
