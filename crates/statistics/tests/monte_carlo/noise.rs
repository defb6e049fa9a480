//! Seeded noise for the Monte Carlo tests.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::f64::consts::PI;

/// A source of noise, the same for the same seed.
pub(crate) struct Noise {
    random: Xoshiro256PlusPlus,
    spare: Option<f64>,
}

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed), spare: None }
    }

    /// Uniform over (0, 1].
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// True or false, evenly.
    pub(crate) fn coin(&mut self) -> bool {
        self.random.next_u64() >> 63 == 0
    }

    /// Standard normal (Box & Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (2.0 * PI * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }
}

/// First-order autoregressive noise with standard deviation 1.
pub(crate) struct Autoregressive {
    correlation: f64,
    value: f64,
}

impl Autoregressive {
    pub(crate) fn new(correlation: f64, noise: &mut Noise) -> Self {
        Self { correlation, value: noise.normal() }
    }

    pub(crate) fn next(&mut self, noise: &mut Noise) -> f64 {
        let innovation = (1.0 - self.correlation * self.correlation).sqrt();
        self.value = self.correlation * self.value + innovation * noise.normal();
        self.value
    }
}

/// Three standard errors of a share `p` counted in `runs` runs.
pub(crate) fn three_standard_errors(p: f64, runs: usize) -> f64 {
    3.0 * (p * (1.0 - p) / runs as f64).sqrt()
}
