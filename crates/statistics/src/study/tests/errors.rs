//! How often an answer is wrong where the truth is on the edge of the claim: no more than 5 %, for
//! every kind of question, for yes and for no.

use super::*;
use crate::stopping::Decision;
use crate::study::decide;

const SEEDS: u64 = 1000;
/// 5 % of the seeds and three SDs of the binomial: 50 + 3 √(1000 × 0.05 × 0.95).
const MOST: usize = 71;

/// How many seeds of a question are answered (yes, no).
fn count(
    plan: &StudyPlan,
    text: &str,
    blocks: u32,
    effect: impl Fn(usize) -> f64,
) -> (usize, usize) {
    let (mut yes, mut no) = (0, 0);
    let mut trials = Trials::of(plan, blocks, |_, _| 1.0);
    for seed in 0..SEEDS {
        trials.refill(iops_of(blocks, 0.03, seed, &effect));
        match trials.ask(plan, text).reply {
            Reply::Yes => yes += 1,
            Reply::No => no += 1,
            Reply::Inconclusive => {}
            Reply::NotAnswered => panic!("{text} is not answered"),
        }
    }
    (yes, no)
}

/// The edge is where the claim starts to be true: neither yes nor no may be frequent. Where a claim
/// has another edge for no, `yes_only`.
#[track_caller]
fn holds(plan: &StudyPlan, text: &str, effect: impl Fn(usize) -> f64, yes_only: bool) {
    let (yes, no) = count(plan, text, 6, effect);
    assert!(yes <= MOST, "{text}: {yes} yes of {SEEDS}");
    assert!(yes_only || no <= MOST, "{text}: {no} no of {SEEDS}");
    // A test that never decides anything is useless: at the edge one of the two replies occurs.
    assert!(yes + no >= 20, "{text}: only {yes} yes and {no} no of {SEEDS}");
}

/// The second datastore's log IOPS are higher by this.
fn second(by: f64) -> impl Fn(usize) -> f64 {
    move |cell| if cell % 2 == 1 { by } else { 0.0 }
}

#[test]
fn one_load() {
    let plan = plan(&["a", "b"], &["w"], &[1]);
    holds(&plan, "b is faster than a", second(0.0), false);
    holds(&plan, "b is slower than a", second(0.0), false);
    holds(&plan, "b is at least 10% faster than a", second(1.1f64.ln()), false);
    holds(&plan, "b is at most 10% slower than a", second(0.9f64.ln()), false);
    holds(&plan, "b is within 10% of a", second(1.1f64.ln()), false);
    holds(&plan, "b is within 10% of a", second(-1.1f64.ln()), false);
    holds(&plan, "iops of b is at least 8103.083927575384", second(0.0), false);
}

#[test]
fn the_same_and_different_have_two_edges() {
    let plan = plan(&["a", "b"], &["w"], &[1]);
    let margin = 1.05f64.ln();
    holds(&plan, "b differs from a", second(0.0), true);
    holds(&plan, "b is equal to a", second(margin), true);
    let (_, no) = count(&plan, "b differs from a", 6, second(margin));
    assert!(no <= MOST, "{no} no");
    let (_, no) = count(&plan, "b is equal to a", 6, second(0.0));
    assert!(no <= MOST, "{no} no");
}

#[test]
fn several_loads() {
    let plan = plan(&["a", "b"], &["w", "x"], &[1, 4]);
    holds(&plan, "b is faster than a", second(0.0), false);
    // Opposite at two loads: on average no difference.
    let opposite = |cell: usize| match cell {
        1 => 0.2,
        3 => -0.2,
        _ => 0.0,
    };
    holds(&plan, "b is faster than a", opposite, false);
    // Faster at three loads and level at the fourth: not everywhere.
    let but_one = |cell: usize| if cell % 2 == 1 && cell > 1 { 0.5 } else { 0.0 };
    holds(&plan, "b is faster than a everywhere", but_one, true);
    // Level at all: a no at one of four loads must not come four times as often.
    let (yes, no) = count(&plan, "b is faster than a everywhere", 6, second(0.0));
    assert!(yes <= MOST && no <= MOST, "{yes} yes, {no} no");
}

#[test]
fn trends() {
    let plan = plan(&["a", "b"], &["w"], &[1, 4, 16]);
    holds(&plan, "iops of b grows with vms", |_| 0.0, false);
    holds(&plan, "iops of b falls with vms", second(0.4), false);
}

#[test]
fn factors() {
    let plan = plan(&["a", "b"], &["w", "x"], &[1]);
    // One of the two factors has no effect.
    holds(&plan, "iops depends on datastore and workload", second(0.3), true);
    holds(&plan, "iops depends on datastore, workload and their interaction", second(0.3), true);
    let margin = 1.05f64.ln();
    holds(&plan, "iops does not depend on datastore", second(margin), true);
    let (yes, no) = count(&plan, "iops does not depend on datastore and workload", 6, |_| 0.0);
    assert!(no <= MOST && yes > 750, "{no} no, {yes} yes");
    // Both factors at the margin: it is not claimed too often that one of them has no effect.
    let both = |cell: usize| margin * ((cell % 2) as f64 + (cell / 2) as f64);
    let (_, no) = count(&plan, "iops depends on datastore and workload", 3, both);
    assert!(no <= MOST, "{no} no");
}

/// The tests must find what is there.
#[test]
fn true_claims_are_found() {
    let plan = plan(&["a", "b"], &["w", "x"], &[1, 4]);
    for (text, effect) in [
        ("b is faster than a on w at 1 vms", 0.1),
        ("b is at least 10% faster than a on w at 1 vms", 0.2),
        ("b is within 10% of a on w at 1 vms", 0.0),
        ("b is at most 10% slower than a on w at 1 vms", 0.0),
        ("b differs from a on w at 1 vms", 0.1),
        ("b is faster than a everywhere", 0.12),
        ("iops depends on datastore", 0.05),
        ("iops does not depend on datastore", 0.0),
    ] {
        let (yes, no) = count(&plan, text, 8, second(effect));
        assert!(yes >= 850 && no <= 5, "{text}: {yes} yes, {no} no");
    }
    let (yes, _) = count(&plan, "iops of b grows with vms", 8, |cell| 0.06 * (cell / 2 % 2) as f64);
    assert!(yes >= 850, "{yes} yes");
}

/// A study that stops when its intervals are narrow is wrong no more often than one that does not.
#[test]
fn stopping_by_width_keeps_the_error() {
    let mut plan = plan(&["a", "b"], &["w"], &[1]);
    plan.design.blocks = Blocks::Auto { min: 5, max: 60 };
    plan.design.precision = 0.03;
    let wrong = ["b is faster than a", "b differs from a", "iops depends on datastore"];
    let mut counts = [0; 3];
    let mut all = Trials::of(&plan, 60, |_, _| 1.0);
    for seed in 0..SEEDS {
        all.refill(iops_of(60, 0.03, seed, |_| 0.0));
        let views = all.views();
        // Blocks come in order, two cells each.
        let stop = (5..=60).find(|blocks| {
            !matches!(decide(&plan, &views[..2 * blocks]), Decision::Continue { .. })
        });
        let seen = &views[..2 * stop.unwrap()];
        for (count, text) in counts.iter_mut().zip(wrong) {
            let question = parse(text, &Vocabulary::of(&plan)).unwrap();
            let answer = answer_of(&Measured::new(&plan, seen), &question, text.into());
            *count += usize::from(answer.reply == Reply::Yes);
        }
    }
    assert!(counts.iter().all(|&count| count <= MOST), "{counts:?}");
    assert!(counts.iter().all(|&count| count >= 20), "{counts:?}");
}
