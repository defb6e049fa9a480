//! When a study ends.

use super::*;
use crate::stopping::Decision;
use crate::study::decide;

fn auto(min: u32, max: u32) -> StudyPlan {
    let mut plan = plan(&["a", "b", "c"], &["w", "x"], &[1]);
    plan.design.blocks = Blocks::Auto { min, max };
    plan
}

fn decided(plan: &StudyPlan, trials: &Trials) -> Decision {
    decide(plan, &trials.views())
}

#[test]
fn a_fixed_number_of_blocks_is_carried_out() {
    let plan = plan(&["a", "b"], &["w"], &[1]);
    for (done, more) in [(0, 6), (1, 5), (5, 1)] {
        let trials = noisy(&plan, done, 0.0, 1, |_| 0.0);
        assert_eq!(decided(&plan, &trials), Decision::Continue { expected_more_blocks: more });
    }
    assert_eq!(decided(&plan, &noisy(&plan, 6, 0.0, 1, |_| 0.0)), Decision::BlocksExhausted);
}

#[test]
fn auto_ends_when_every_ratio_is_precise() {
    let plan = auto(5, 40);
    let quiet = |blocks| noisy(&plan, blocks, 0.001, 1, |_| 0.0);
    assert_eq!(decided(&plan, &quiet(0)), Decision::Continue { expected_more_blocks: 5 });
    assert_eq!(decided(&plan, &quiet(3)), Decision::Continue { expected_more_blocks: 2 });
    assert_eq!(decided(&plan, &quiet(5)), Decision::PrecisionReached);
    // One noisy cell of six keeps the study going.
    let mut noise = Noise::new(3);
    let one_noisy = Trials::of(&plan, 5, |_, cell| {
        (9.0 + if cell == 5 { noise.normal(0.1) } else { 0.0 }).exp()
    });
    let Decision::Continue { expected_more_blocks } = decided(&plan, &one_noisy) else {
        panic!("it ends");
    };
    assert!(expected_more_blocks > 5, "{expected_more_blocks}");
    let loud = noisy(&plan, 40, 0.5, 1, |_| 0.0);
    assert_eq!(decided(&plan, &loud), Decision::BlocksExhausted);
}

#[test]
fn a_cell_that_always_fails_does_not_keep_a_study_going() {
    let plan = auto(5, 40);
    let trials = noisy(&plan, 5, 0.001, 1, |_| 0.0).without(|_, cell| cell == 5);
    assert_eq!(decided(&plan, &trials), Decision::PrecisionReached);
    // One that fails sometimes has fewer pairs and needs more blocks.
    let trials = noisy(&plan, 5, 0.001, 1, |_| 0.0).without(|block, cell| cell == 5 && block > 2);
    assert_eq!(decided(&plan, &trials), Decision::Continue { expected_more_blocks: 2 });
    let ended = noisy(&plan, 40, 0.5, 1, |_| 0.0).without(|block, cell| cell == 5 && block > 2);
    assert_eq!(decided(&plan, &ended), Decision::BlocksExhausted);
}

#[test]
fn without_anything_to_compare_the_least_blocks_suffice() {
    let mut plan = plan(&["a"], &["w"], &[1, 4]);
    plan.design.blocks = Blocks::Auto { min: 5, max: 40 };
    let decided = |blocks| decided(&plan, &noisy(&plan, blocks, 0.5, 1, |_| 0.0));
    assert_eq!(decided(4), Decision::Continue { expected_more_blocks: 1 });
    assert_eq!(decided(5), Decision::PrecisionReached);
}

#[test]
fn a_maximum_below_the_rule_of_five_is_kept() {
    let plan = auto(2, 3);
    let quiet = |blocks| noisy(&plan, blocks, 0.001, 1, |_| 0.0);
    assert_eq!(decided(&plan, &quiet(2)), Decision::Continue { expected_more_blocks: 1 });
    assert_eq!(decided(&plan, &quiet(3)), Decision::BlocksExhausted);
}
