//! Zipf-distributed places on a disk of any size, in constant time and memory.
//!
//! Rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates
//! from monotone discrete distributions", ACM TOMACS 6(3), 1996) needs no table, so a disk of a
//! billion blocks costs no more than one of ten.
//!
//! The hottest places are scattered over the disk by a fixed multiplication modulo its size: real
//! hot spots are not all at the start, where one stripe or one allocation group would serve them.

/// Draws ranks 0 to n-1, the k-th with a probability in proportion to 1/(k+1)^exponent.
#[derive(Debug, Clone)]
pub(crate) struct Zipf {
    n: f64,
    exponent: f64,
    /// H(1.5) - 1 and H(n + 0.5): the range that is inverted.
    h_low: f64,
    h_high: f64,
    /// Values closer than this to the rank are accepted without evaluating the density.
    squeeze: f64,
}

impl Zipf {
    /// `n` at least 1, `exponent` above 0.
    pub(crate) fn new(n: u64, exponent: f64) -> Self {
        let mut zipf = Zipf { n: n as f64, exponent, h_low: 0.0, h_high: 0.0, squeeze: 0.0 };
        zipf.h_low = zipf.integral(1.5) - 1.0;
        zipf.h_high = zipf.integral(n as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank; `uniform` yields values in [0, 1).
    pub(crate) fn rank(&self, mut uniform: impl FnMut() -> f64) -> u64 {
        loop {
            let u = self.h_high + uniform() * (self.h_low - self.h_high);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, self.n);
            if k - x <= self.squeeze || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The integral of x^-exponent from 1 to x, written so that exponent 1 is not a special case.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.exponent) * log) * log
    }

    fn inverse(&self, y: f64) -> f64 {
        // Rounding may carry the argument below -1, where no logarithm exists.
        let t = (y * (1.0 - self.exponent)).max(-1.0);
        (log1p_over(t) * y).exp()
    }
}

/// (e^t - 1) / t, and 1 at 0.
fn expm1_over(t: f64) -> f64 {
    if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
}

/// ln(1 + t) / t, and 1 at 0.
fn log1p_over(t: f64) -> f64 {
    if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 }
}

/// Spreads ranks over `n` places, each rank to a different one.
#[derive(Debug, Clone)]
pub(crate) struct Scatter {
    n: u64,
    factor: u64,
}

impl Scatter {
    pub(crate) fn new(n: u64) -> Self {
        // Near n / golden ratio, neighbouring ranks land far apart; without a common divisor no two
        // ranks share a place.
        let mut factor = ((n as f64 * 0.618_033_988_749_895) as u64).max(1);
        while gcd(factor, n) != 1 {
            factor += 1;
        }
        Self { n, factor }
    }

    pub(crate) fn place(&self, rank: u64) -> u64 {
        (u128::from(rank) * u128::from(self.factor) % u128::from(self.n)) as u64
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, unit};

    /// Observed shares of the first ranks against the exact ones, within five standard deviations.
    #[test]
    fn ranks_follow_the_law_also_at_exponent_one() {
        for exponent in [0.5, 1.0, 1.1, 2.5] {
            let n = 1000;
            let draws = 200_000;
            let zipf = Zipf::new(n, exponent);
            let mut random = Random::new(5);
            let mut counts = vec![0u64; n as usize];
            for _ in 0..draws {
                counts[zipf.rank(|| unit(random.next())) as usize] += 1;
            }
            let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-exponent)).collect();
            let sum: f64 = weights.iter().sum();
            for rank in [0, 1, 2, 9, 99] {
                let p = weights[rank] / sum;
                let expected = p * draws as f64;
                let deviation = (expected * (1.0 - p)).sqrt();
                let observed = counts[rank] as f64;
                assert!(
                    (observed - expected).abs() < 5.0 * deviation + 1.0,
                    "exponent {exponent}, rank {rank}: {observed} instead of {expected}"
                );
            }
        }
    }

    #[test]
    fn scattering_is_a_permutation_even_of_awkward_sizes() {
        for n in [1, 2, 3, 4, 6, 100, 997, 4096] {
            let scatter = Scatter::new(n);
            let mut places: Vec<u64> = (0..n).map(|rank| scatter.place(rank)).collect();
            places.sort_unstable();
            assert!(places.iter().copied().eq(0..n), "{n}");
        }
    }

    #[test]
    fn a_single_place_is_always_drawn() {
        let zipf = Zipf::new(1, 1.2);
        let mut random = Random::new(1);
        assert!((0..100).all(|_| zipf.rank(|| unit(random.next())) == 0));
    }
}
