//! Write amplification by garbage collection.
//!
//! Flash is written page by page and erased block by block, so before a block can be rewritten its
//! valid pages are written elsewhere. Under uniformly random writes, with physical pages alpha times
//! the valid pages, and blocks collected in the order in which they were written, a share v of a
//! block's pages is still valid when its turn comes:
//!
//! v = exp(-alpha (1 - v)),   write amplification A = 1 / (1 - v),
//!
//! in closed form A = alpha / (alpha + W(-alpha exp(-alpha))) with Lambert's W (Xiang and Kurkoski, "An
//! improved analytic expression for write amplification in NAND flash", ICNC 2012, arXiv:1110.4245;
//! Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012, for LRU cleaning). Greedy
//! cleaning of blocks with many pages comes to the same; with few it does a little better. Xiang and
//! Kurkoski give 2.36 for 30 % more pages than count, and 2.35 by simulation.

/// Pages written for each page that the host writes at random.
///
/// `spare_share`: the part of the flash that the host does not see. `filled_share`: the valid part
/// of what it sees. At most `pages_per_block`: a block that is collected has at least one invalid
/// page.
pub(crate) fn amplification(spare_share: f64, filled_share: f64, pages_per_block: u32) -> f64 {
    let counting = filled_share * (1.0 - spare_share);
    let most = f64::from(pages_per_block.max(1));
    if counting <= 0.0 {
        return 1.0;
    }
    let alpha = 1.0 / counting;
    if alpha <= 1.0 {
        return most;
    }
    // The smaller root: the larger one is always 1. It is below 1 / alpha.
    let (mut low, mut high) = (0.0, counting);
    for _ in 0..60 {
        let middle: f64 = (low + high) / 2.0;
        if middle < (-alpha * (1.0 - middle)).exp() {
            low = middle;
        } else {
            high = middle;
        }
    }
    (1.0 / (1.0 - (low + high) / 2.0)).min(most)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn it_is_what_the_papers_say() {
        // Overprovisioning of 0.3: spare is 0.3 / 1.3 of the flash.
        let found = amplification(0.3 / 1.3, 1.0, 256);
        assert!((found - 2.36).abs() < 0.005, "{found}");
        assert_eq!(amplification(0.07, 0.0, 256), 1.0);
        assert_eq!(amplification(0.0, 1.0, 64), 64.0);
        assert!(amplification(0.07, 1.0, 256) > 5.0);
        assert!(amplification(0.07, 0.5, 256) < 1.3);
    }

    /// Flash as a circular log: the oldest page is removed, and written again if it is still valid.
    #[test]
    fn it_is_what_a_log_of_pages_does() {
        const PAGES: usize = 20_000;
        for spare in [0.1, 0.25] {
            let seen = ((1.0 - spare) * PAGES as f64) as u64;
            let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
            let mut version = vec![1_u32; seen as usize];
            // Spare pages contain nothing valid.
            let mut log: VecDeque<(u64, u32)> =
                (0..PAGES as u64).map(|page| (page % seen, u32::from(page < seen))).collect();
            let mut moved = 0_u64;
            const WRITES: u64 = 1_000_000;
            for write in 0..WRITES {
                while let Some((page, of)) = log.pop_front() {
                    if version[page as usize] != of {
                        break;
                    }
                    log.push_back((page, of));
                    moved += u64::from(write >= WRITES / 2);
                }
                let page = random.next_u64() % seen;
                version[page as usize] += 1;
                log.push_back((page, version[page as usize]));
            }
            let found = 1.0 + moved as f64 / (WRITES / 2) as f64;
            let expected = amplification(spare, 1.0, 256);
            assert!((found / expected - 1.0).abs() < 0.02, "{spare}: {found} {expected}");
        }
    }
}
