//! The cache hit rate of reads, from the sizes of cache and working set and from skew.
//!
//! The cache replaces the least recently used block (LRU). By Che's approximation a block is in it if
//! it was used within the last *t* requests, where *t* is the same for all blocks and such that the
//! blocks used within it fill the cache (H. Che, Y. Tung and Z. Wang, "Hierarchical web caching
//! systems", IEEE JSAC 20(7), 2002, equations 5 to 7; on its accuracy: C. Fricker, P. Robert and J.
//! Roberts, "A versatile and accurate approximation for LRU cache performance", ITC 24, 2012).
//! Sequential requests pass over the working set repeatedly: in *t* requests they touch their share
//! of it, each block once, in addition to what the random ones touch.
//!
//! Blocks with about the same rank are counted together, so that billions take no longer than
//! thousands.

use stormeter_site::Hits;

use crate::machine::Load;

/// The cache's block size; the skew of ranks applies to such blocks.
const BLOCK_BYTES: u64 = 4096;
/// Ranks that are counted individually.
const SINGLE_RANKS: u64 = 256;
/// Each bucket of ranks is wider than the previous one by this factor.
const WIDER: f64 = 1.02;

/// Cache hit rates of reads, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct HitShare {
    /// Of random reads.
    pub(crate) random: f64,
    /// Of reads that continue where the previous one ended, from what remains of the last pass;
    /// read-ahead comes in addition.
    pub(crate) sequential: f64,
}

/// The hit rate in a cache shared by `load.vms` virtual disks, once it has filled.
pub(crate) fn hit_share(hits: Hits, cache_bytes: u64, load: &Load) -> HitShare {
    if let Hits::Share(share) = hits {
        return HitShare { random: share, sequential: share };
    }
    let blocks = load.working_set_bytes.div_ceil(BLOCK_BYTES).max(1);
    let vms = f64::from(load.vms.max(1));
    // All virtual disks are alike: each has its part of the cache.
    let room = cache_bytes as f64 / BLOCK_BYTES as f64 / vms;
    if room >= blocks as f64 {
        return HitShare { random: 1.0, sequential: 1.0 };
    }
    if cache_bytes == 0 {
        return HitShare::default();
    }
    let ranks = Ranks::new(blocks, load.zipf.unwrap_or(0.0));
    let random = load.random.clamp(0.0, 1.0);
    // The time in which the used blocks fill the cache: found by bisection, on a logarithmic scale.
    let (mut low, mut high) = (-5.0_f64, 200.0_f64);
    for _ in 0..70 {
        let middle = (low + high) / 2.0;
        match ranks.used(middle.exp(), random).blocks < room {
            true => low = middle,
            false => high = middle,
        }
    }
    let used = ranks.used(low.exp(), random);
    HitShare {
        random: used.random.clamp(0.0, 1.0),
        sequential: match used.passed >= 1.0 {
            true => 1.0,
            // The scan has not touched what comes next since its last pass.
            false => used.by_random.clamp(0.0, 1.0),
        },
    }
}

/// Blocks by request frequency.
#[derive(Debug)]
struct Ranks {
    /// By bucket: number of blocks, and the probability of each.
    buckets: Vec<(f64, f64)>,
    blocks: f64,
}

/// What was used within a time.
#[derive(Debug, Clone, Copy)]
struct Used {
    /// Number of blocks.
    blocks: f64,
    /// The probability that a random request finds its block among them.
    random: f64,
    /// Share of the working set that the sequential requests passed; 1 and more: all.
    passed: f64,
    /// Share of blocks that random requests touched.
    by_random: f64,
}

impl Ranks {
    /// This many blocks, the k-th with a probability in proportion to k^-exponent.
    fn new(blocks: u64, exponent: f64) -> Self {
        let mut buckets = Vec::new();
        if exponent == 0.0 {
            buckets.push((blocks as f64, 1.0));
        } else {
            let single = blocks.min(SINGLE_RANKS);
            buckets.extend((1..=single).map(|rank| (1.0, (rank as f64).powf(-exponent))));
            let mut from = single as f64 + 0.5;
            let end = blocks as f64 + 0.5;
            while from < end {
                // At least one rank wide, and the last one up to the end.
                let to = (from * WIDER).max(from + 1.0).min(end);
                let count = to - from;
                // By the midpoint rule over each rank; the weight is the integral's.
                buckets.push((count, integral(from, to, exponent) / count));
                from = to;
            }
        }
        let sum: f64 = buckets.iter().map(|(count, weight)| count * weight).sum();
        buckets.iter_mut().for_each(|(_, weight)| *weight /= sum);
        Self { buckets, blocks: blocks as f64 }
    }

    /// What is used within this many requests, a share `random` of which is random.
    fn used(&self, requests: f64, random: f64) -> Used {
        let passed = ((1.0 - random) * requests / self.blocks).min(1.0);
        let mut used = Used { blocks: 0.0, random: 0.0, passed, by_random: 0.0 };
        for &(count, probability) in &self.buckets {
            let touched = -(-random * requests * probability).exp_m1();
            let there = touched + (1.0 - touched) * passed;
            used.blocks += count * there;
            used.random += count * probability * there;
            used.by_random += count * touched / self.blocks;
        }
        used
    }
}

/// The integral of x^-exponent between two places.
fn integral(from: f64, to: f64, exponent: f64) -> f64 {
    let power = 1.0 - exponent;
    if power.abs() < 1e-9 {
        return (to / from).ln();
    }
    (to.powf(power) - from.powf(power)) / power
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::noise::unit_open;

    fn load(vms: u32, blocks: u64, random: f64, zipf: Option<f64>) -> Load {
        let bytes = blocks * BLOCK_BYTES;
        Load { vms, disk_bytes: bytes, working_set_bytes: bytes, random, zipf, flushes: false }
    }

    /// An LRU cache of this many blocks under the load, block by block: blocks are identified by
    /// the time of their last use, and the least recently used is dropped.
    fn simulated(vms: u32, blocks: u64, room: usize, random: f64, zipf: Option<f64>) -> HitShare {
        let mut words = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut sums: Vec<f64> = Vec::new();
        for rank in 1..=blocks {
            let weight = (rank as f64).powf(-zipf.unwrap_or(0.0));
            sums.push(sums.last().copied().unwrap_or(0.0) + weight);
        }
        let all = sums[sums.len() - 1];
        let mut last_use: Vec<u64> = vec![0; (u64::from(vms) * blocks) as usize];
        let mut by_use = std::collections::BTreeMap::new();
        let mut scans = vec![0; vms as usize];
        let (mut hits, mut asked) = ([0u64; 2], [0u64; 2]);
        let requests = 40 * u64::from(vms) * blocks;
        for now in 1..=requests {
            let vm = (unit_open(&mut words) * f64::from(vms)).ceil() as u64 - 1;
            let sequential = unit_open(&mut words) > random;
            let place = if sequential {
                // Scattered over the ranks, like places on a disk.
                scans[vm as usize] = (scans[vm as usize] + 1) % blocks;
                scans[vm as usize] * 7919 % blocks
            } else {
                let draw = unit_open(&mut words) * all;
                sums.partition_point(|sum| *sum < draw) as u64
            };
            let block = vm * blocks + place;
            let before = std::mem::replace(&mut last_use[block as usize], now);
            let hit = by_use.remove(&before).is_some();
            by_use.insert(now, block);
            if by_use.len() > room {
                let (_, dropped) = by_use.pop_first().unwrap();
                last_use[dropped as usize] = 0;
            }
            if now > requests / 4 {
                asked[usize::from(sequential)] += 1;
                hits[usize::from(sequential)] += u64::from(hit);
            }
        }
        let share = |kind: usize| hits[kind] as f64 / asked[kind].max(1) as f64;
        HitShare { random: share(0), sequential: share(1) }
    }

    #[test]
    fn hits_are_those_of_a_simulated_cache() {
        let cases = [
            (1, 5000, 1000, 1.0, None),
            (4, 1500, 3000, 1.0, None),
            (1, 5000, 500, 1.0, Some(0.8)),
            (1, 5000, 2500, 1.0, Some(1.0)),
            (1, 5000, 100, 1.0, Some(1.2)),
            (4, 1500, 600, 1.0, Some(0.9)),
            (1, 4999, 1500, 0.5, None),
            (1, 4999, 1500, 0.7, Some(1.0)),
            (1, 4999, 4000, 0.2, None),
        ];
        for (vms, blocks, room, random, zipf) in cases {
            let load = load(vms, blocks, random, zipf);
            let found = hit_share(Hits::WorkingSet, room as u64 * BLOCK_BYTES, &load);
            let truth = simulated(vms, blocks, room, random, zipf);
            let near = |found: f64, truth: f64| (found - truth).abs() < 0.012;
            let sequential_near = random == 1.0 || near(found.sequential, truth.sequential);
            assert!(
                near(found.random, truth.random) && sequential_near,
                "{vms} x {blocks} blocks, {room} room, random {random}, {zipf:?}: \
                 {found:?} instead of {truth:?}"
            );
        }
    }

    #[test]
    fn uniform_hits_are_the_share_that_is_cached() {
        let load = load(16, 1 << 18, 1.0, None);
        let share = |bytes| hit_share(Hits::WorkingSet, bytes, &load);
        assert!((share(4 << 30).random - 0.25).abs() < 1e-6);
        assert_eq!(share(16 << 30), HitShare { random: 1.0, sequential: 1.0 });
        assert_eq!(share(0), HitShare::default());
        // A pass over more than there is room for drops every block before it comes again.
        let scan = Load { random: 0.0, ..load };
        assert!(hit_share(Hits::WorkingSet, 15 << 30, &scan).sequential < 1e-6);
    }

    #[test]
    fn buckets_of_ranks_are_as_good_as_single_ones() {
        for exponent in [0.6, 1.0, 1.3] {
            let few = Ranks::new(100_000, exponent);
            let sum: f64 = (1..=100_000).map(|rank| f64::from(rank).powf(-exponent)).sum();
            for requests in [1e3, 1e5, 1e7] {
                let exact: f64 = (1..=100_000)
                    .map(|rank| {
                        let probability = f64::from(rank).powf(-exponent) / sum;
                        -probability * (-requests * probability).exp_m1()
                    })
                    .sum();
                let found = few.used(requests, 1.0).random;
                assert!((found - exact).abs() < 1e-4, "{exponent} {requests}: {found} {exact}");
            }
        }
        // A petabyte takes as few buckets as it has digits.
        assert!(Ranks::new(1 << 38, 0.9).buckets.len() < 1500);
    }

    #[test]
    fn a_known_share_is_taken_as_it_is() {
        let load = load(1, 1000, 1.0, None);
        let share = hit_share(Hits::Share(0.3), 0, &load);
        assert_eq!(share, HitShare { random: 0.3, sequential: 0.3 });
    }
}
