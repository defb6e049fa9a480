//! Visits every place once, in an order that looks random, without storing what was visited.
//!
//! A Feistel network is a permutation whatever its round function is (Luby and Rackoff, SIAM Journal on
//! Computing 17(2), 1988, who also use four rounds). It permutes 2^(2k) numbers; a result beyond the
//! last place is permuted again until it is in range ("cycle walking": Black and Rogaway, *Ciphers with
//! Arbitrary Finite Domains*, CT-RSA 2002, section 3). As 2^(2k) is less than 4n, that takes fewer than
//! four iterations on average. A file of a billion records needs some forty bytes of memory.

use crate::random::Random;

const ROUNDS: usize = 4;

/// A permutation of the numbers below `n`, which follows from a random stream.
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// `n` is at most 2^62, which no number of records reaches.
    pub(crate) fn new(n: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        Self { n, half_bits, keys: std::array::from_fn(|_| random.next()) }
    }

    /// The image of `number`, which is below `n`.
    pub(crate) fn place(&self, number: u64) -> u64 {
        let mut place = self.walk(number);
        while place >= self.n {
            place = self.walk(place);
        }
        place
    }

    fn walk(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): each bit of the result depends
/// on each bit of the word.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(n: u64, seed: u64) -> Vec<u64> {
        let permutation = Permutation::new(n, &mut Random::new(seed));
        (0..n).map(|number| permutation.place(number)).collect()
    }

    #[test]
    fn every_place_comes_once_whatever_their_number() {
        for n in [1, 2, 3, 4, 5, 7, 16, 17, 100, 255, 256, 257, 1000, 4097, 65_536, 100_003] {
            for seed in 0..3 {
                let mut places = places(n, seed);
                places.sort_unstable();
                assert!(places.iter().copied().eq(0..n), "{n} with seed {seed}");
            }
        }
    }

    #[test]
    fn the_order_follows_from_the_seed_and_is_not_that_of_the_places() {
        let (one, other) = (places(10_000, 1), places(10_000, 2));
        assert_eq!(one, places(10_000, 1));
        assert_ne!(one, other);
        // In a random permutation one place in n is expected to follow its neighbour, and one to
        // stay where it was: Poisson with mean 1, so more than 12 has a probability below 1e-10.
        let followers = one.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        let fixed = one.iter().enumerate().filter(|&(at, &place)| at as u64 == place).count();
        assert!(followers <= 12 && fixed <= 12, "{followers} {fixed}");
        // The first tenth of the visits reaches all tenths of the file equally: 100 of 1000 each,
        // with a standard deviation of 9.
        let mut tenths = [0; 10];
        one[..1000].iter().for_each(|&place| tenths[place as usize / 1000] += 1);
        assert!(tenths.iter().all(|count| (46..=154).contains(count)), "{tenths:?}");
    }

    #[test]
    fn it_reaches_far() {
        let n = (1 << 40) + 12_345;
        let permutation = Permutation::new(n, &mut Random::new(3));
        let mut places: Vec<u64> = (0..1000).map(|number| permutation.place(number)).collect();
        assert!(places.iter().all(|&place| place < n));
        assert!(places.iter().any(|&place| place > n / 2));
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 1000);
    }
}
