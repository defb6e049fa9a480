//! When a disk with programmed service times answers: first come, first served, at one of several
//! servers. The service time of a request follows from its place, so all generators that access the
//! same places are served alike, and a twin in virtual time knows the correct measurement. The time
//! of a flush follows from how many there were before it. Pure: no disk is needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stormeter_timed_disk::Access;

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

    /// The time that belongs to a number: each quantile once in [`QUANTILES`] consecutive numbers.
    fn time_ns(self, mean_ns: u64, number: u64) -> u64 {
        let quantile = number.wrapping_mul(STRIDE) % QUANTILES;
        let share = (quantile as f64 + 0.5) / QUANTILES as f64;
        let times = match self {
            Spread::Constant => 1.0,
            Spread::Uniform => 0.5 + share,
            Spread::Exponential => -(1.0 - share).ln(),
        };
        (mean_ns as f64 * times) as u64
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
    /// Mean time of a flush, which is uniform from half of it to one and a half times; 0: none.
    pub(crate) flush_ns: u64,
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
        self.spread.time_ns(self.mean_ns, offset_bytes / UNIT_BYTES)
    }

    /// The time of the flush with this number. Any hundred consecutive ones have nearly the same distribution, so
    /// whose flushes they are makes no difference.
    pub(crate) fn flush_time_ns(&self, number: u64) -> u64 {
        Spread::Uniform.time_ns(self.flush_ns, number)
    }
}

/// The state of the servers.
#[derive(Debug)]
pub(crate) struct Schedule {
    service: Service,
    /// When each server is free.
    free: BinaryHeap<Reverse<u64>>,
    flushes: u64,
    /// When the last flush ends.
    flushed_ns: u64,
}

impl Schedule {
    pub(crate) fn new(service: Service) -> Self {
        let free = (0..service.servers.max(1)).map(|_| Reverse(0)).collect();
        Self { service, free, flushes: 0, flushed_ns: 0 }
    }

    /// Accepts a request that arrived at `arrived_ns`, which must not decrease, and returns the moment
    /// at which its service ends.
    pub(crate) fn admit(&mut self, arrived_ns: u64, offset_bytes: u64) -> u64 {
        let free_ns = self.free.pop().map_or(0, |Reverse(free_ns)| free_ns);
        let served_ns = arrived_ns.max(free_ns) + self.service.time_ns(offset_bytes);
        self.free.push(Reverse(served_ns));
        served_ns
    }

    /// Accepts a flush likewise. It covers only what was served when it arrived, so it waits for no request and
    /// occupies no server, but flushes follow one another.
    pub(crate) fn flush(&mut self, arrived_ns: u64) -> u64 {
        let time_ns = self.service.flush_time_ns(self.flushes);
        self.flushes += 1;
        self.flushed_ns = arrived_ns.max(self.flushed_ns) + time_ns;
        self.flushed_ns
    }
}

impl stormeter_timed_disk::Schedule for Schedule {
    fn admit(&mut self, arrived_ns: u64, access: Access) -> u64 {
        Schedule::admit(self, arrived_ns, access.offset_bytes)
    }

    fn flush(&mut self, arrived_ns: u64) -> u64 {
        Schedule::flush(self, arrived_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(servers: u32, spread: Spread) -> Service {
        Service { servers, mean_ns: 1_000_000, spread, flush_ns: 3_000_000 }
    }

    #[test]
    fn requests_wait_for_a_free_server_in_their_order() {
        let mut schedule = Schedule::new(service(2, Spread::Constant));
        let served: Vec<u64> = [0, 0, 0, 5_000_000].map(|at_ns| schedule.admit(at_ns, 0)).into();
        assert_eq!(served, [1_000_000, 1_000_000, 2_000_000, 6_000_000]);
    }

    #[test]
    fn flushes_follow_one_another_beside_the_requests() {
        let service = service(1, Spread::Constant);
        let [first_ns, second_ns, third_ns] = [0, 1, 2].map(|number| service.flush_time_ns(number));
        let mut schedule = Schedule::new(service);
        assert_eq!(schedule.admit(0, 0), 1_000_000);
        assert_eq!(schedule.flush(0), first_ns);
        assert_eq!(schedule.flush(0), first_ns + second_ns);
        assert_eq!(schedule.flush(20_000_000), 20_000_000 + third_ns);
        assert_eq!(schedule.admit(0, 0), 2_000_000);
    }

    #[test]
    fn any_few_hundred_flushes_have_the_same_percentiles() {
        for first in [0, 777, 50_000] {
            let mut times: Vec<u64> = (first..first + 500)
                .map(|n| service(1, Spread::Constant).flush_time_ns(n))
                .collect();
            times.sort_unstable();
            for (share, expected_ns) in [(0.5, 3.0e6), (0.99, 4.47e6)] {
                let ratio = times[(share * times.len() as f64) as usize] as f64 / expected_ns;
                assert!((ratio - 1.0).abs() < 0.01, "{share} from {first}: {ratio}");
            }
        }
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
