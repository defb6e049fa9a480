//! The driver's randomness: Xoshiro256++ behind two functions, always from a seed.
//!
//! The algorithm is fixed by name (and not "whatever the library thinks best"), because a seed
//! printed today has to give the same operations with next year's version.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random words.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Stream number `stream` of a seed; streams are independent.
    pub(crate) fn stream(seed: u64, stream: u64) -> Self {
        // The seeding function (SplitMix64) scatters neighbouring seeds; the odd factor keeps
        // (seed, stream) and (seed + 1, stream - 1) apart.
        Self::new(seed ^ stream.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// A random word as a number in [0, 1).
#[inline]
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A random word as one of `n` integers from 0. The bias of the multiplication method is n/2^64.
#[inline]
pub(crate) fn below(word: u64, n: u64) -> u64 {
    ((u128::from(word) * u128::from(n)) >> 64) as u64
}
