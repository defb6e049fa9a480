//! Exact distributions of response times in two open queues: what a correct open loop must measure
//! on a disk with programmed service times.

/// Response times of an open queue with Poisson arrivals.
pub(crate) trait ResponseTimes {
    /// The probability of a response time of at most `time_s`.
    fn share_within(&self, time_s: f64) -> f64;
    /// The mean, in seconds.
    fn mean_s(&self) -> f64;
    /// A time of about the length of a service: where the search for percentiles starts.
    fn scale_s(&self) -> f64;

    /// The time within which a share of all responses complete, in seconds, by bisection.
    fn percentile_s(&self, share: f64) -> f64 {
        let mut high_s = self.scale_s();
        while self.share_within(high_s) < share {
            high_s *= 2.0;
        }
        let mut low_s = 0.0;
        for _ in 0..100 {
            let middle_s = (low_s + high_s) / 2.0;
            match self.share_within(middle_s) < share {
                true => low_s = middle_s,
                false => high_s = middle_s,
            }
        }
        high_s
    }
}

/// M/D/1: one server whose services all take the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConstantService {
    /// Arrivals a second.
    pub(crate) rate_per_s: f64,
    /// Service time.
    pub(crate) service_s: f64,
}

impl ResponseTimes for ConstantService {
    /// A. K. Erlang's series of 1909 (Gross and Harris, Fundamentals of Queueing Theory, 1998, section
    /// 5.1). Its terms alternate and grow with the time; up to the 99.9th percentile at a load of 0.9
    /// they lose no significant digit.
    fn share_within(&self, time_s: f64) -> f64 {
        let Self { rate_per_s, service_s } = *self;
        let wait_s = time_s - service_s;
        if wait_s < 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for k in 0..=(wait_s / service_s) as u32 {
            let x = rate_per_s * (wait_s - f64::from(k) * service_s);
            // (-x)^k / k! · e^x, by factors, so that nothing overflows.
            let power = (1..=k).fold(1.0, |power, i| power * -x / f64::from(i));
            sum += power * x.exp();
        }
        (1.0 - rate_per_s * service_s) * sum
    }

    /// Pollaczek 1930, Khinchine 1932.
    fn mean_s(&self) -> f64 {
        let load = self.rate_per_s * self.service_s;
        self.service_s * (1.0 + load / (2.0 * (1.0 - load)))
    }

    fn scale_s(&self) -> f64 {
        self.service_s
    }
}

/// M/M/c: several servers whose service times are exponential.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExponentialService {
    /// Arrivals a second.
    pub(crate) rate_per_s: f64,
    /// Mean service time.
    pub(crate) service_s: f64,
    /// Servers.
    pub(crate) servers: u32,
}

impl ExponentialService {
    /// The probability of waiting: Erlang's C (1917), from Erlang's B by its recursion.
    fn waits(&self) -> f64 {
        let offered = self.rate_per_s * self.service_s;
        let blocked =
            (1..=self.servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
        let load = offered / f64::from(self.servers);
        blocked / (1.0 - load * (1.0 - blocked))
    }

    /// The rate at which waits end.
    fn relief_per_s(&self) -> f64 {
        f64::from(self.servers) / self.service_s - self.rate_per_s
    }
}

impl ResponseTimes for ExponentialService {
    /// Gross and Harris 1998, section 2.4: the wait is exponential for requests that wait, and the
    /// service follows it.
    fn share_within(&self, time_s: f64) -> f64 {
        let (waits, served, relieved) = (self.waits(), 1.0 / self.service_s, self.relief_per_s());
        let no_wait = 1.0 - (-served * time_s).exp();
        let both = match (relieved - served).abs() < 1e-9 * served {
            true => 1.0 - (-served * time_s).exp() * (1.0 + served * time_s),
            false => {
                let (slow, quick) = ((-served * time_s).exp(), (-relieved * time_s).exp());
                1.0 - (relieved * slow - served * quick) / (relieved - served)
            }
        };
        (1.0 - waits) * no_wait + waits * both
    }

    fn mean_s(&self) -> f64 {
        self.service_s + self.waits() / self.relief_per_s()
    }

    fn scale_s(&self) -> f64 {
        self.service_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_exponential_server_is_exponential_itself() {
        let queue = ExponentialService { rate_per_s: 0.7, service_s: 1.0, servers: 1 };
        assert!((queue.mean_s() - 1.0 / 0.3).abs() < 1e-12);
        for share in [0.5f64, 0.95, 0.99] {
            let expected = -(1.0 - share).ln() / 0.3;
            assert!((queue.percentile_s(share) / expected - 1.0).abs() < 1e-9);
        }
    }

    /// The mean is the integral of the complementary distribution: distribution and mean are
    /// separate formulas, and have to agree.
    #[test]
    fn means_are_those_of_the_distributions() {
        let agrees = |queue: &dyn ResponseTimes, beyond_s: f64| {
            const STEPS: u32 = 200_000;
            let step_s = beyond_s / f64::from(STEPS);
            let beyond = |i: u32| 1.0 - queue.share_within((f64::from(i) + 0.5) * step_s);
            let mean_s: f64 = (0..STEPS).map(|i| beyond(i) * step_s).sum();
            assert!((mean_s / queue.mean_s() - 1.0).abs() < 1e-4, "{mean_s} {}", queue.mean_s());
        };
        for load in [0.5, 0.7] {
            agrees(&ConstantService { rate_per_s: load, service_s: 1.0 }, 16.0);
            agrees(
                &ExponentialService { rate_per_s: 4.0 * load, service_s: 1.0, servers: 4 },
                40.0,
            );
        }
    }

    #[test]
    fn no_request_is_served_before_the_service_is_over() {
        let queue = ConstantService { rate_per_s: 0.5, service_s: 1.0 };
        assert_eq!(queue.share_within(0.999), 0.0);
        // A request that finds the queue empty: one minus the load.
        assert!((queue.share_within(1.0) - 0.5).abs() < 1e-12);
    }
}
