//! When a disk with programmed service times answers: first come, first served, at one of several
//! servers. The service time of a request follows from its place, so all generators that access the
//! same places are served alike, and a twin in virtual time knows the correct measurement. Pure: no
//! disk is needed.

#![cfg_attr(
    not(feature = "agreement"),
    allow(dead_code, reason = "only the server asks for times")
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The distribution of service times about their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Constant.
    Constant,
    /// Uniform from half the mean to one and a half times the mean.
    Uniform,
    /// Exponential.
    Exponential,
}

impl Spread {
    const ALL: [Spread; 3] = [Spread::Constant, Spread::Uniform, Spread::Exponential];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Spread::Constant => "constant",
            Spread::Uniform => "uniform",
            Spread::Exponential => "exponential",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Spread> {
        Self::ALL.into_iter().find(|spread| spread.name() == name)
    }
}

/// The servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Service {
    /// Number of requests served concurrently.
    pub(crate) servers: u32,
    /// Mean service time.
    pub(crate) mean_ns: u64,
    pub(crate) spread: Spread,
}

/// The granularity of places.
const UNIT_BYTES: u64 = 4096;
/// Number of quantiles of service times, each at one place of this many consecutive ones.
const QUANTILES: u64 = 1 << 14;
/// Odd, so that multiplying by it, modulo a power of two, gives each quantile once; near the golden
/// ratio of [`QUANTILES`], so that a few consecutive places are spread evenly too.
const STRIDE: u64 = 10_127;

impl Service {
    /// The service time of a request at this place.
    pub(crate) fn time_ns(&self, offset_bytes: u64) -> u64 {
        let quantile = (offset_bytes / UNIT_BYTES).wrapping_mul(STRIDE) % QUANTILES;
        let share = (quantile as f64 + 0.5) / QUANTILES as f64;
        let times = match self.spread {
            Spread::Constant => 1.0,
            Spread::Uniform => 0.5 + share,
            Spread::Exponential => -(1.0 - share).ln(),
        };
        (self.mean_ns as f64 * times) as u64
    }
}

/// The state of the servers.
#[derive(Debug)]
pub(crate) struct Schedule {
    service: Service,
    /// When each server is free.
    free: BinaryHeap<Reverse<u64>>,
}

impl Schedule {
    pub(crate) fn new(service: Service) -> Self {
        let free = (0..service.servers.max(1)).map(|_| Reverse(0)).collect();
        Self { service, free }
    }

    /// Accepts a request that arrived at `arrived_ns`, which must not decrease, and returns the moment
    /// at which its service ends.
    pub(crate) fn admit(&mut self, arrived_ns: u64, offset_bytes: u64) -> u64 {
        let free_ns = self.free.pop().map_or(0, |Reverse(free_ns)| free_ns);
        let served_ns = arrived_ns.max(free_ns) + self.service.time_ns(offset_bytes);
        self.free.push(Reverse(served_ns));
        served_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(servers: u32, spread: Spread) -> Service {
        Service { servers, mean_ns: 1_000_000, spread }
    }

    #[test]
    fn requests_wait_for_a_free_server_in_their_order() {
        let mut schedule = Schedule::new(service(2, Spread::Constant));
        let served: Vec<u64> = [0, 0, 0, 5_000_000].map(|at_ns| schedule.admit(at_ns, 0)).into();
        assert_eq!(served, [1_000_000, 1_000_000, 2_000_000, 6_000_000]);
    }

    #[test]
    fn spreads_have_the_mean_that_was_asked_for_over_any_part_of_the_disk() {
        for spread in Spread::ALL {
            for (first, places) in [(0, QUANTILES), (256, QUANTILES), (5000, 2000)] {
                let time_ns = |place| service(1, spread).time_ns(place * UNIT_BYTES) as f64;
                let mean = (first..first + places).map(time_ns).sum::<f64>() / places as f64;
                assert!((mean / 1e6 - 1.0).abs() < 0.01, "{spread:?}: {mean}");
            }
            assert_eq!(Spread::from_name(spread.name()), Some(spread));
        }
    }
}
