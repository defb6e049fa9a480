//! The noncentral t law and power.

use super::{agree, field};
use stormeter_statistics::noncentral::noncentral_t_upper;
use stormeter_statistics::power::{Design, PowerStudy, Sides};

#[test]
fn noncentral_t() {
    for row in field::NONCENTRAL.chunks(4) {
        let value = noncentral_t_upper(row[0], row[1], row[2]);
        let error = (value / row[3] - 1.0).abs();
        assert!(error < 1e-9, "{row:?}: {value:e} ({error:.1e})");
    }
}

#[test]
fn power() {
    let study = |design, sides, alpha| PowerStudy { design, sides, alpha, sd: 1.0 };
    let paired = study(Design::Paired, Sides::Two, 0.05);
    let samples = study(Design::TwoSample, Sides::Two, 0.05);
    let one_sided = study(Design::Paired, Sides::One, 0.05);
    agree("power.paired.two", paired.power(20, 0.5).unwrap());
    agree("power.paired.one", one_sided.power(20, 0.5).unwrap());
    agree("power.samples.two", samples.power(20, 0.5).unwrap());
    agree("power.paired.n", paired.blocks_needed(0.3, 0.9).unwrap() as f64);
    let strict = study(Design::TwoSample, Sides::One, 0.01);
    agree("power.samples.n", strict.blocks_needed(0.3, 0.8).unwrap() as f64);
    agree("power.paired.detectable", paired.detectable_difference(12, 0.8).unwrap());
    agree("power.samples.detectable", samples.detectable_difference(12, 0.8).unwrap());
}
