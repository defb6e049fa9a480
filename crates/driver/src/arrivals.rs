//! When the requests of an open loop fall due.

use crate::random::{Random, below, unit};
use stormeter_trial::Arrivals;

/// The due times of one thread's requests, for all its disks together.
///
/// The superposition of Poisson processes is a Poisson process with the sum of the rates, whose
/// events belong to the disks at random; that of evenly staggered constant streams takes the disks
/// in turn.
#[derive(Debug)]
pub(crate) struct DueTimes {
    gap_ns: f64,
    poisson: bool,
    disks: u32,
    random: Random,
    /// Kept as a float offset from the start so that a gap of 33.3 ns does not drift.
    offset_ns: f64,
    start_ns: u64,
    turn: u32,
}

impl DueTimes {
    /// `None` for a closed loop.
    pub(crate) fn new(arrivals: Arrivals, disks: u32, seed: u64) -> Option<Self> {
        let rate_per_s = arrivals.rate_per_s()? * f64::from(disks);
        let poisson = matches!(arrivals, Arrivals::Poisson { .. });
        let mut due = Self {
            gap_ns: 1e9 / rate_per_s,
            poisson,
            disks,
            random: Random::stream(seed, 0xa441),
            offset_ns: 0.0,
            start_ns: 0,
            turn: 0,
        };
        due.advance();
        Some(due)
    }

    /// Makes times count from this moment.
    pub(crate) fn begin_at(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// When the next request is due.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.start_ns + self.offset_ns as u64
    }

    /// Takes the next request and returns the number of its disk.
    #[inline]
    pub(crate) fn take(&mut self) -> u32 {
        let disk = if self.poisson {
            below(self.random.next(), u64::from(self.disks)) as u32
        } else {
            self.turn = if self.turn + 1 == self.disks { 0 } else { self.turn + 1 };
            self.turn
        };
        self.advance();
        disk
    }

    fn advance(&mut self) {
        self.offset_ns += if self.poisson {
            // 1 - u is in (0, 1], where the logarithm is finite.
            -(1.0 - unit(self.random.next())).ln() * self.gap_ns
        } else {
            self.gap_ns
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(arrivals: Arrivals, n: usize) -> Vec<u64> {
        let mut due = DueTimes::new(arrivals, 3, 1).unwrap();
        (0..n)
            .map(|_| {
                let at = due.next_ns();
                due.take();
                at
            })
            .collect()
    }

    #[test]
    fn constant_arrivals_keep_their_distance_without_drift() {
        // 3 disks at 1e7/s: a gap of 33.3 ns, 1 ms for 30 000.
        let times = offsets(Arrivals::Constant { rate_per_s: 1e7 }, 30_000);
        assert_eq!(*times.last().unwrap(), 1_000_000);
        assert!(times.windows(2).all(|w| (33..=34).contains(&(w[1] - w[0]))));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let times = offsets(Arrivals::Poisson { rate_per_s: 1e4 }, 100_000);
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let expected = 1e9 / 3e4;
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn disks_get_equal_shares() {
        for arrivals in
            [Arrivals::Poisson { rate_per_s: 10.0 }, Arrivals::Constant { rate_per_s: 10.0 }]
        {
            let mut due = DueTimes::new(arrivals, 3, 1).unwrap();
            let mut counts = [0u32; 3];
            (0..9000).for_each(|_| counts[due.take() as usize] += 1);
            assert!(counts.iter().all(|&n| (2770..=3230).contains(&n)), "{counts:?}");
        }
    }

    #[test]
    fn a_closed_loop_has_no_due_times() {
        assert!(DueTimes::new(Arrivals::Closed { outstanding: 1 }, 1, 1).is_none());
    }
}
