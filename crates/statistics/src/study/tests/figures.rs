//! Small studies whose answers were computed elsewhere: scipy 1.17.1 (`stats.t`) and statsmodels 0.15
//! (`anova_lm`, type II, with the block as a factor).

use super::*;
use crate::study::NumberClaim;
use crate::study::answer_table::RowTerm;
use crate::study::test_used::{TestSides, TestedNumber, TestedOver};

fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-8, "{value} is not {expected}");
}

/// Log-ratios of 0.1, 0.2, 0.3 and 0.2.
fn four_blocks() -> (StudyPlan, Trials) {
    let plan = plan(&["a", "b"], &["w"], &[1]);
    let log_ratio = [0.1, 0.2, 0.3, 0.2];
    let trials = Trials::of(&plan, 4, |block, cell| {
        (1.0 + 0.1 * f64::from(block) + cell as f64 * log_ratio[block as usize]).exp()
    });
    (plan, trials)
}

#[test]
fn a_one_sided_test_of_four_blocks() {
    let (plan, trials) = four_blocks();
    let answer = trials.ask(&plan, "b is faster than a");
    assert_eq!(answer.reply, Reply::Yes);
    close(answer.p_value.unwrap(), 0.008138301729714274);
    let estimate = answer.estimate.unwrap();
    close(estimate.value, 0.2f64.exp());
    let interval = estimate.interval.unwrap();
    close(interval.low, 1.109516505821079);
    close(interval.high, 1.3445718831711029);
    assert!((estimate.level - 0.9).abs() < 1e-12 && answer.unit().is_none());
    let grounds = number(&answer);
    let blocks = Observations::Blocks(4);
    assert_eq!((&grounds.loads, grounds.observations), (&TestedLoads::Only, blocks));
    let NumberClaim::Compared { subject, object, metric: Metric::Iops, .. } = &grounds.claim else {
        panic!("{grounds:?}");
    };
    assert_eq!((subject.as_str(), object.as_str()), ("b", "a"));
    let test = TTest {
        sides: TestSides::One,
        of: TestedNumber::LogRatio,
        over: TestedOver::One,
        df: 3.0,
        observations: blocks,
        is_corrected: false,
    };
    assert_eq!(t_test(&answer), test);
    // The same as a latency: lower by as much, and still faster.
    let latency = trials.ask(&plan, "b is faster than a in latency");
    close(latency.estimate.unwrap().value, (-0.2f64).exp());
    assert_eq!(latency.reply, Reply::Yes);
}

/// The second workload reads so much more than the first on `a`, and twice as much on `b`.
#[test]
fn workloads_are_compared_on_the_same_datastore() {
    let plan = plan(&["a", "b"], &["calm", "busy"], &[1]);
    let log_ratio = [0.1, 0.2, 0.3, 0.2];
    let trials = Trials::of(&plan, 4, |block, cell| {
        let own = &plan.cells()[cell];
        let more = if own.datastore == 1 { 2f64.ln() } else { log_ratio[block as usize] };
        (1.0 + 0.1 * f64::from(block) + own.workload as f64 * more).exp()
    });
    let answer = trials.ask(&plan, "busy is faster than calm on a");
    assert_eq!(answer.reply, Reply::Yes);
    close(answer.p_value.unwrap(), 0.008138301729714274);
    close(answer.estimate.unwrap().value, 0.2f64.exp());
    let load = Load { workload: "a".into(), vms: None, outstanding: None };
    assert_eq!(number(&answer).loads, TestedLoads::One(load));
    // Over both datastores: the mean of the logarithms.
    let both = trials.ask(&plan, "calm has lower iops than busy");
    close(both.estimate.unwrap().value, (-(0.2 + 2f64.ln()) / 2.0).exp());
    assert_eq!(number(&both).loads, TestedLoads::Mean(2));
    // Each by itself: the worse one decides.
    let each = trials.ask(&plan, "busy is at least 50% faster than calm everywhere");
    assert_eq!(each.reply, Reply::No);
}

/// Twelve loud blocks of a study that stops by width, before it is precise: one block does not count, so
/// the interval is √(12/11) times as wide.
#[test]
fn stopping_by_width_widens_the_interval() {
    let mut plan = plan(&["a", "b"], &["w"], &[1]);
    let trials = noisy(&plan, 12, 0.05, 3, |_| 0.0);
    let width = |plan: &StudyPlan, text: &str| {
        let interval = trials.ask(plan, text).estimate.unwrap().interval.unwrap();
        (interval.high / interval.low).ln()
    };
    let f = |plan: &StudyPlan| {
        trials.ask(plan, "iops depends on datastore").table.unwrap().rows[0].f.unwrap()
    };
    let texts = ["b differs from a", "b is faster than a in latency"];
    let fixed = [width(&plan, texts[0]), width(&plan, texts[1])];
    let fixed_f = f(&plan);
    plan.design.blocks = Blocks::Auto { min: 5, max: 100 };
    for (text, fixed) in texts.iter().zip(fixed) {
        close(width(&plan, text) / fixed, (12f64 / 11.0).sqrt());
    }
    close(f(&plan) / fixed_f, 8.0 / 12.0);
    let answer = trials.ask(&plan, texts[0]);
    assert!(t_test(&answer).is_corrected, "{answer:?}");
    assert!(variance_test(&trials.ask(&plan, "iops depends on datastore")).is_corrected);
}

#[test]
fn two_sided_and_equivalence_of_four_blocks() {
    let (plan, trials) = four_blocks();
    let differs = trials.ask(&plan, "b differs from a");
    close(differs.p_value.unwrap(), 0.016276603459428548);
    let interval = differs.estimate.unwrap().interval.unwrap();
    close(interval.low, 1.0725909538056888);
    close(interval.high, 1.3908607865357123);
    let within = trials.ask(&plan, "b is within 25% of a");
    close(within.p_value.unwrap(), 0.3052134413895662);
    assert_eq!(within.reply, Reply::Inconclusive);
}

/// Two datastores, two workloads, three blocks; log IOPS as in the reference.
#[test]
fn an_analysis_of_variance_in_blocks() {
    let plan = plan(&["a", "b"], &["w", "x"], &[1]);
    // Cells in the plan's order: w on a, w on b, x on a, x on b.
    let logs: [[f64; 3]; 4] = [[1.0, 1.2, 1.1], [1.3, 1.2, 1.5], [1.4, 1.5, 1.7], [2.0, 2.3, 2.1]];
    let trials = Trials::of(&plan, 3, |block, cell| logs[cell][block as usize].exp());
    let answer = trials.ask(&plan, "iops depends on datastore, workload and their interaction");
    assert_eq!(answer.reply, Reply::Yes, "{answer:?}");
    let table = answer.table.as_ref().unwrap();
    let row = |term: &RowTerm| table.rows.iter().find(|row| row.term == *term).unwrap();
    let of = |factors: &[Factor]| RowTerm::Factors(factors.to_vec());
    let (datastore, workload) = (Factor::Datastore, Factor::Workload);
    for (term, squares, f, p) in [
        (of(&[datastore]), 0.5208333333333, 32.894736842, 0.001219957),
        (of(&[workload]), 1.1408333333333, 72.052631579, 0.000146203),
        (of(&[datastore, workload]), 0.1008333333333, 6.368421053, 0.045069),
        (RowTerm::Block, 0.065, 2.052631579, 0.209320),
    ] {
        let row = row(&term);
        assert!((row.sum_of_squares - squares).abs() < 1e-8, "{row:?}");
        assert!((row.f.unwrap() / f - 1.0).abs() < 1e-6, "{row:?}");
        assert!((row.p.unwrap() / p - 1.0).abs() < 1e-3, "{row:?}");
    }
    let residual = row(&RowTerm::Residual);
    assert_eq!((residual.df, residual.f), (6.0, None));
    assert!((answer.p_value.unwrap() / 0.045069 - 1.0).abs() < 1e-3);
    let Grounds::Factors(grounds) = &answer.grounds else { panic!("{answer:?}") };
    let [_, _, both] = grounds.terms.as_slice() else { panic!("{grounds:?}") };
    let test = both.test.unwrap();
    assert_eq!(
        (both.factors.as_slice(), test.df, test.residual_df),
        (&[datastore, workload][..], 1.0, 6.0)
    );
    assert!((test.f / 6.368421053 - 1.0).abs() < 1e-6, "{test:?}");
}

/// Values that grow exactly as the square root of the load: × √2 at each doubling.
#[test]
fn a_trend_is_a_change_at_each_doubling() {
    let plan = plan(&["a"], &["w"], &[1, 4, 16]);
    let mut wobble = [0.01, -0.01, 0.02].into_iter().cycle();
    let vms = [1f64, 4.0, 16.0];
    let trials = Trials::of(&plan, 5, |_, cell| {
        let noise: f64 = wobble.next().unwrap();
        // The same noise at both ends leaves the slope as it is.
        let noise = if cell == 1 { noise } else { 0.0 };
        10.0 * vms[cell].sqrt() * noise.exp()
    });
    let answer = trials.ask(&plan, "iops of a grows with vms");
    close(answer.estimate.unwrap().value, 2f64.sqrt());
    assert_eq!((answer.reply, answer.p_value), (Reply::Yes, Some(0.0)));
    let NumberClaim::Trend { along: LoadFactor::Vms, .. } = number(&answer).claim else {
        panic!("{answer:?}");
    };
    assert_eq!(t_test(&answer).of, TestedNumber::Slope);
}

#[test]
fn a_limit_is_compared_with_the_geometric_mean() {
    let plan = plan(&["a"], &["w"], &[1]);
    let values = [90.0, 110.0, 100.0, 120.0];
    let trials = Trials::of(&plan, 4, |block, _| values[block as usize]);
    let answer = trials.ask(&plan, "iops of a is at least 80");
    assert_eq!(answer.reply, Reply::Yes);
    let estimate = answer.estimate.unwrap();
    close(estimate.value, (90.0f64 * 110.0 * 100.0 * 120.0).powf(0.25));
    assert_eq!(answer.unit(), Some(Metric::Iops));
    assert_eq!(trials.ask(&plan, "iops of a is at least 150").reply, Reply::No);
    assert_eq!(trials.ask(&plan, "iops of a is at least 105").reply, Reply::Inconclusive);
    let latency = trials.ask(&plan, "p99 latency of a is at most 1s");
    assert_eq!(latency.reply, Reply::Yes);
    let NumberClaim::Bounded { metric, bound, limit, .. } = number(&latency).claim else {
        panic!("{latency:?}");
    };
    assert_eq!((metric, bound, limit), (Metric::LatencyP99, Bound::AtMost, 1e9));
}
