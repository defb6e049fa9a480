//! How a shared machine affects everything that runs on it: slow drift and correlated noise.
//!
//! A factor on all service times, as a function of virtual time. It is the same for all disks of a
//! simulation, as neighbours, thermal limits and background jobs are for the datastores of one
//! host: that is why "first A, then B" is misleading and interleaved blocks are not.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// How the noise behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisePlan {
    /// Standard deviation of the logarithm of the factor.
    pub noise: f64,
    /// Correlation of the noise from one step to the next (an AR(1) process), 0 to below 1.
    pub correlation: f64,
    /// Length of a step.
    pub step_ns: u64,
    /// Growth of the logarithm of the factor per second: 0.001 makes everything 0.1 % slower each
    /// second.
    pub drift_per_s: f64,
}

impl NoisePlan {
    /// A quiet machine.
    pub const QUIET: NoisePlan =
        NoisePlan { noise: 0.0, correlation: 0.0, step_ns: 1_000_000_000, drift_per_s: 0.0 };
}

/// The noise of one simulation. Must be called with increasing times.
#[derive(Debug, Clone)]
pub struct HostNoise {
    plan: NoisePlan,
    random: Xoshiro256PlusPlus,
    step: u64,
    /// The noise at `step`, in standard deviations.
    state: f64,
    factor: f64,
}

impl HostNoise {
    /// Noise that follows from the seed.
    pub fn new(plan: NoisePlan, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Starts in the stationary distribution: the first step is like every other.
        let state = normal(&mut random);
        let mut noise = Self { plan, random, step: 0, state, factor: 1.0 };
        noise.update();
        noise
    }

    /// The factor on service times at `now_ns`, constant within a step.
    pub fn factor(&mut self, now_ns: u64) -> f64 {
        let step = now_ns / self.plan.step_ns;
        if step > self.step {
            let innovation = (1.0 - self.plan.correlation * self.plan.correlation).sqrt();
            while self.step < step {
                self.state =
                    self.plan.correlation * self.state + innovation * normal(&mut self.random);
                self.step += 1;
            }
            self.update();
        }
        self.factor
    }

    fn update(&mut self) {
        let elapsed_s = self.step as f64 * self.plan.step_ns as f64 / 1e9;
        self.factor = (self.plan.noise * self.state + self.plan.drift_per_s * elapsed_s).exp();
    }
}

/// A word in (0, 1].
pub(crate) fn unit_open(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// A standard normal variate (Box and Muller, 1958).
pub(crate) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * unit_open(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit_open(random)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = 1_000_000;

    #[test]
    fn noise_has_the_spread_and_correlation_asked_for() {
        let plan = NoisePlan { noise: 0.1, correlation: 0.8, step_ns: STEP, drift_per_s: 0.0 };
        let mut noise = HostNoise::new(plan, 3);
        let logs: Vec<f64> = (0..50_000).map(|i| noise.factor(i * STEP).ln()).collect();
        let variance = logs.iter().map(|x| x * x).sum::<f64>() / logs.len() as f64;
        let lagged = logs.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / (logs.len() - 1) as f64;
        assert!((variance.sqrt() - 0.1).abs() < 0.005, "{}", variance.sqrt());
        assert!((lagged / variance - 0.8).abs() < 0.02, "{}", lagged / variance);
    }

    #[test]
    fn drift_is_exponential_in_time_and_a_skipped_step_is_no_different() {
        let plan = NoisePlan { drift_per_s: 0.01, ..NoisePlan::QUIET };
        let mut noise = HostNoise::new(plan, 1);
        assert!((noise.factor(100_000_000_000).ln() - 1.0).abs() < 1e-9);
    }
}
