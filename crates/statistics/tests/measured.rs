//! A verdict comes with what was really measured: percentiles that are known no better than their buckets, first
//! blocks that differ from the rest, a memory that holds the disks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use stormeter_simulator::Service;
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{
    Analysis, CellTrial, Comparison, Fact, Severity, Surroundings, Verdict, analyse, decide,
};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan};
use stormeter_trial::{CpuUsage, Memory, MemoryPlace, Sample};

const BLOCKS: u32 = 12;

fn plan(precision: f64) -> ComparisonPlan {
    let metric = Metric::LatencyP50;
    ComparisonPlan { metric, precision, min_blocks: 5, ..common::plan(BLOCKS) }
}

/// What is concluded from blocks whose trials take so long for an I/O, and whether the precision is reached.
fn conclude(
    plan: &ComparisonPlan,
    surroundings: &Surroundings,
    service_ns: impl Fn(u32, usize) -> u64,
) -> (Analysis, bool) {
    let cpu = CpuUsage::default();
    let places = (0..BLOCKS).flat_map(|block| [(block, 0), (block, 1)]);
    let samples: Vec<(u32, usize, Sample)> = places
        .map(|(block, datastore)| {
            let service = Service::Constant { ns: service_ns(block, datastore) };
            (block, datastore, common::sample(plan, plan.seed, service))
        })
        .collect();
    let views: Vec<CellTrial<'_>> = samples
        .iter()
        .map(|(block, datastore, sample)| CellTrial {
            block: *block,
            cell: *datastore,
            sample,
            cpu: &cpu,
        })
        .collect();
    let plan = StudyPlan::from(plan);
    let reached = decide(&plan, &views) == Decision::PrecisionReached;
    (analyse(&plan, &views, surroundings), reached)
}

/// The median of B against that of A, equal in all blocks, and whether the precision is reached.
fn compare(precision: f64, service_ns: [u64; 2]) -> (Comparison, bool) {
    let around = Surroundings::default();
    let (analysis, reached) =
        conclude(&plan(precision), &around, |_, datastore| service_ns[datastore]);
    let primary = &analysis.cells[1].relative[0];
    assert_eq!(primary.metric, Metric::LatencyP50);
    let own = analysis.cells[0].values.iter().find(|it| it.metric == primary.metric).unwrap();
    let interval = own.interval.unwrap();
    assert!(interval.high > interval.low, "{interval:?}");
    (primary.comparison.clone().unwrap(), reached)
}

fn found(analysis: &Analysis, is_one: fn(&Fact) -> bool) -> Vec<(Option<usize>, Severity)> {
    let own = analysis.findings.iter().filter(|(_, finding)| is_one(&finding.fact));
    own.map(|(datastore, finding)| (*datastore, finding.severity)).collect()
}

fn is_of_course(fact: &Fact) -> bool {
    matches!(fact, Fact::UnlikeFirstBlocks { .. } | Fact::Trend { .. })
}

#[test]
fn medians_in_one_bucket_or_in_neighbours_are_not_told_apart() {
    // Buckets below 2^20 ns are 1024 ns wide, and one begins here.
    let edge_ns = (1 << 20) - (1 << 16);
    for service_ns in [[edge_ns + 10; 2], [edge_ns - 10, edge_ns + 10]] {
        let (comparison, reached) = compare(0.02, service_ns);
        let width = comparison.interval.high / comparison.interval.low;
        assert!(width > 1.002, "{comparison:?}");
        assert!(comparison.interval.contains(1.0), "{comparison:?}");
        assert_eq!((comparison.verdict, comparison.p_value), (Verdict::Equivalent, 1.0));
        assert!(reached, "2 % are much more than a bucket");
    }
    // Ten buckets apart are different, with a p-value.
    let (comparison, _) = compare(0.02, [edge_ns, edge_ns + 10_240]);
    assert_eq!(comparison.verdict, Verdict::Slower);
    assert!(comparison.p_value > 0.0 && comparison.p_value < 1e-3, "{comparison:?}");
}

#[test]
fn a_precision_below_the_buckets_is_never_reached() {
    let (comparison, reached) = compare(0.001, [1_000_000; 2]);
    assert!(!reached && !comparison.precision_reached, "{comparison:?}");
}

#[test]
fn a_first_block_unlike_the_rest_is_a_warning_about_its_datastore() {
    let plan = ComparisonPlan { metric: Metric::Iops, ..plan(0.02) };
    let around = Surroundings::default();
    let burst = |block, datastore| match (block, datastore) {
        (0, 1) => 250_000,
        // A little noise.
        _ => 1_000_000 + 1000 * u64::from((block * 7 + datastore as u32) % 5),
    };
    let (analysis, _) = conclude(&plan, &around, burst);
    assert_eq!(found(&analysis, is_of_course), [(Some(1), Severity::Warning)]);
    let (steady, _) = conclude(&plan, &around, |block, datastore| burst(block + 1, datastore));
    assert_eq!(found(&steady, is_of_course), []);
}

#[test]
fn disks_that_fit_into_a_memory_on_the_way_are_a_warning_about_its_datastore() {
    let memory =
        Memory { place: MemoryPlace::ServerHere, name: "::1".into(), bytes: Some(24 << 30) };
    let around =
        Surroundings { memories: vec![Vec::new(), vec![memory]], ..Surroundings::default() };
    let (analysis, _) = conclude(&plan(0.02), &around, |_, _| 1_000_000);
    assert_eq!(found(&analysis, |fact| fact.law() == Some(9)), [(Some(1), Severity::Warning)]);
    let touched = analysis.cells[0].touched.unwrap();
    assert!(touched.run_share > touched.trial_share && touched.run_share < 0.1, "{touched:?}");
}
