//! Where sequential streams start.
//!
//! A stream that started at the first byte in every trial would read what the previous trial read, and a
//! cache on the path would answer instead of the storage. So each trial of a run starts elsewhere: at the
//! multiples of the golden ratio, modulo the disk, from a place determined by the seed. No two of the first
//! n starts are then nearer to each other than 0.38/n of the disk, whatever n is (the three distance
//! theorem: V. T. Sós, Annales Univ. Sci. Budapest 1, 1958), and no place of the disk is further than 1.9/n
//! before the next start. Short trials therefore read what no earlier trial read; over the trials the whole
//! disk is read; and a place recurs only after about two fifths of the disk at the earliest, without having
//! to know in advance how far a trial gets.
//!
//! A start is a fraction of the disk and depends on nothing that was measured: all datastores of a
//! block, and a resumed run, start at the same places.

use serde::{Deserialize, Serialize};

/// 2^64 times the golden ratio's fractional part.
const NEXT_TRIAL: u64 = 0x9e37_79b9_7f4a_7c15;
/// 2^64 times the inverse of the plastic number, and of its square: multiples of both are spread
/// evenly, independently of the golden ratio's (M. Roberts, *The Unreasonable Effectiveness of
/// Quasirandom Sequences*, 2018).
const NEXT_DISK: u64 = 0xc13f_a9a9_02a6_328f;
const NEXT_HOST: u64 = 0x91e1_0da5_c79e_7b1d;

/// Where the sequential streams of a trial start: a fraction of each disk, in units of 2^-64. Each disk adds its
/// own fraction to it, so that the VMs of a trial are not all at the same place of their disks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Start(pub u64);

impl Start {
    /// The start of trial number `number` among those that use the same disks; the first is at
    /// `self`.
    pub fn of_trial(self, number: u64) -> Self {
        Self(self.0.wrapping_add(number.wrapping_mul(NEXT_TRIAL)))
    }

    /// The start of the same trial on the disks of another host; host 0 has `self`.
    pub fn of_host(self, host: u32) -> Self {
        Self(self.0.wrapping_add(u64::from(host).wrapping_mul(NEXT_HOST)))
    }

    /// Which of `count` places, in the order of the disk, is the first one of disk number `disk`.
    pub fn place(self, disk: u32, count: u64) -> u64 {
        let word = self.0.wrapping_add(u64::from(disk).wrapping_mul(NEXT_DISK));
        ((u128::from(word) * u128::from(count)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

    fn gaps(trials: u64) -> Vec<f64> {
        let mut starts: Vec<u64> = (0..trials).map(|n| Start(77).of_trial(n).0).collect();
        starts.sort_unstable();
        let to_next = |n: usize| starts[(n + 1) % starts.len()].wrapping_sub(starts[n]);
        (0..starts.len()).map(|n| to_next(n) as f64 * SHARE).collect()
    }

    #[test]
    fn starts_are_far_from_each_other_and_leave_nothing_out_however_many_there_are() {
        for trials in 2..2000 {
            let gaps = gaps(trials);
            let (least, most) = gaps
                .iter()
                .fold((1.0_f64, 0.0_f64), |(least, most), &gap| (least.min(gap), most.max(gap)));
            let n = trials as f64;
            assert!(least > 0.38 / n && most < 1.9 / n, "{trials}: {least} {most}");
        }
    }

    #[test]
    fn disks_and_hosts_have_starts_of_their_own() {
        let mut places: Vec<u64> = (0..4)
            .flat_map(|host| (0..16).map(move |disk| Start(5).of_host(host).place(disk, 1000)))
            .collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 60, "{places:?}");
        assert!(places[places.len() - 1] > 950 && places[0] < 50, "{places:?}");
    }

    #[test]
    fn the_default_is_the_disks_begin() {
        assert_eq!(Start::default().place(0, 1 << 40), 0);
        assert!((0..1000).all(|number| Start(u64::MAX).of_trial(number).place(7, 3) < 3));
    }
}
