//! Comparisons: studies of one load, which have a verdict for each candidate.

use super::*;
use crate::finding::Fact;
use crate::stopping::Decision;
use crate::study::{Analysis, Surroundings, analyse, decide};

fn comparison(datastores: &[&str], metric: Metric) -> StudyPlan {
    let mut plan = plan(datastores, &["w"], &[1]);
    plan.design.blocks = Blocks::Auto { min: 5, max: 40 };
    plan.design.metric = metric;
    assert!(plan.is_comparison());
    plan
}

fn analysed(plan: &StudyPlan, trials: &Trials) -> Analysis {
    analyse(plan, &trials.views(), &Surroundings::default())
}

fn few_blocks(analysis: &Analysis) -> Vec<(Option<usize>, u32)> {
    let found = analysis.findings.iter();
    let few = found.filter_map(|(cell, found)| match found.fact {
        Fact::FewBlocks(blocks) => Some((*cell, blocks)),
        _ => None,
    });
    few.collect()
}

#[test]
fn the_metric_that_carries_the_verdict_has_a_value() {
    for (metric, has_host_cpu) in [(Metric::HostCpu, true), (Metric::Iops, false)] {
        let plan = comparison(&["a", "b"], metric);
        let mut trials = noisy(&plan, 6, 0.005, 1, |_| 0.0);
        for (block, cell) in (0..6).flat_map(|block| [(block, 0), (block, 1)]) {
            let host = &mut trials.at(block, cell).1.host;
            (host.user_ns, host.idle_ns) = (1_000_000 + u64::from(block), 3_000_000);
        }
        for cell in analysed(&plan, &trials).cells {
            let has = |metric| cell.values.iter().any(|value| value.metric == metric);
            assert_eq!((has(metric), has(Metric::HostCpu)), (true, has_host_cpu));
        }
    }
}

#[test]
fn blocks_without_a_value_are_few_blocks_and_do_not_end_it() {
    let plan = comparison(&["a", "b"], Metric::TargetCpuPerIo);
    let known_in = |known: u32| {
        let mut trials = noisy(&plan, 8, 0.005, 1, |_| 0.0);
        for (block, cell) in (0..known).flat_map(|block| [(block, 0), (block, 1)]) {
            trials.at(block, cell).1.target_ns = Some(1_000_000);
        }
        trials
    };
    assert_eq!(few_blocks(&analysed(&plan, &known_in(3))), [(Some(1), 3)]);
    assert_eq!(few_blocks(&analysed(&plan, &known_in(8))), []);
    let decided = |known| decide(&plan, &known_in(known).views());
    assert_eq!(decided(8), Decision::PrecisionReached);
    for known in [0, 3] {
        assert!(matches!(decided(known), Decision::Continue { .. }), "{known}");
    }
    // Too few of all are said once.
    let plan = comparison(&["a", "b"], Metric::Iops);
    let trials = noisy(&plan, 3, 0.005, 1, |_| 0.0);
    assert_eq!(few_blocks(&analysed(&plan, &trials)), [(None, 3)]);
}

#[test]
fn several_candidates_share_the_error_also_in_what_could_have_been_found() {
    let detectable = |datastores: &[&str]| {
        let plan = comparison(datastores, Metric::Iops);
        // Each candidate differs from the baseline in the same way.
        let mut noise = iops_of(8, 0.02, 5, |_| 0.0);
        let of_block: Vec<[f64; 2]> =
            (0..8).map(|block| [noise(block, 0), noise(block, 1)]).collect();
        let trials = Trials::of(&plan, 8, |block, cell| of_block[block as usize][cell.min(1)]);
        let analysis = analysed(&plan, &trials);
        let ratio = analysis.cells[1].relative[0].comparison.as_ref().unwrap();
        (ratio.interval.level, analysis.power.unwrap().detectable)
    };
    let (one, two) = (detectable(&["a", "b"]), detectable(&["a", "b", "c"]));
    assert!((one.0 - 0.95).abs() < 1e-12 && (two.0 - 0.975).abs() < 1e-12, "{one:?} {two:?}");
    assert!(two.1 > one.1, "{one:?} {two:?}");
}
