//! Rank tests, shifts and normality.

use super::{agree, field};
use stormeter_statistics::normality::ShapiroFrancia;
use stormeter_statistics::rank::{
    KruskalWallis, MannWhitney, RankMethod, SignedRank, paired_shift, two_sample_shift,
};

fn rounded(values: &[f64]) -> Vec<f64> {
    // To even at the half, as numpy does.
    values.iter().map(|value| value.round_ties_even()).collect()
}

#[test]
fn mann_whitney() {
    let exact = MannWhitney::test(field::RANK_A, field::RANK_B).unwrap();
    agree("mwu.u", exact.u);
    let ties = MannWhitney::test(&rounded(field::RANK_A), &rounded(field::RANK_B)).unwrap();
    for (name, test, method) in
        [("mwu.exact", exact, RankMethod::Exact), ("mwu.ties", ties, RankMethod::Normal)]
    {
        assert_eq!(test.method, method);
        agree(&format!("{name}.two-sided"), test.p_two_sided);
        agree(&format!("{name}.greater"), test.p_greater);
        agree(&format!("{name}.less"), test.p_less);
    }
}

#[test]
fn signed_rank() {
    let exact = SignedRank::of_differences(field::RANK_D).unwrap();
    let ties = SignedRank::of_differences(&rounded(field::RANK_D)).unwrap();
    for (name, test, method) in
        [("wilcoxon.exact", exact, RankMethod::Exact), ("wilcoxon.ties", ties, RankMethod::Normal)]
    {
        assert_eq!(test.method, method);
        agree(&format!("{name}.two-sided"), test.p_two_sided);
        agree(&format!("{name}.greater"), test.p_greater);
        agree(&format!("{name}.less"), test.p_less);
    }
}

#[test]
fn kruskal_wallis() {
    let third: Vec<f64> = rounded(field::RANK_D).iter().map(|value| value + 5.0).collect();
    let samples = [rounded(field::RANK_A), rounded(field::RANK_B), third];
    let test = KruskalWallis::test(&samples).unwrap();
    agree("kruskal.h", test.h);
    agree("kruskal.p", test.p);
}

/// The reference tried all shifts one by one and kept those that the test does not reject.
#[test]
fn shifts() {
    let shift = two_sample_shift(field::RANK_A, field::RANK_B, 0.95).unwrap();
    agree("shift.two", shift.estimate);
    agree("shift.two.low", shift.interval.low);
    agree("shift.two.high", shift.interval.high);
    let shift = paired_shift(field::RANK_D, 0.95).unwrap();
    agree("shift.paired", shift.estimate);
    agree("shift.paired.low", shift.interval.low);
    agree("shift.paired.high", shift.interval.high);
}

#[test]
fn shapiro_francia() {
    let test = ShapiroFrancia::test(field::RANK_A).unwrap();
    agree("francia.w", test.w);
    agree("francia.p", test.p);
}
