//! Open queues in closed form.

/// Poisson arrivals at a station.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    /// Arrivals a second.
    pub(crate) rate_per_s: f64,
    /// Mean service time in seconds.
    pub(crate) service_s: f64,
    /// Servers.
    pub(crate) servers: u32,
    /// Mean wait for a server, in seconds.
    pub(crate) wait_s: f64,
}

impl Open {
    /// M/M/k. The probability of waiting is Erlang's C (Erlang 1917; Kleinrock, Queueing Systems 1,
    /// 1975, section 3.5).
    pub(crate) fn exponential(rate_per_s: f64, service_s: f64, servers: u32) -> Self {
        let offered = rate_per_s * service_s;
        // Erlang's B by its recursion, then C from B.
        let blocked = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
        let load = offered / f64::from(servers);
        let waits = blocked / (1.0 - load * (1.0 - blocked));
        let wait_s = waits * service_s / (f64::from(servers) - offered);
        Self { rate_per_s, service_s, servers, wait_s }
    }

    /// M/G/1 by the mean and the mean square of the service time, in seconds and their square
    /// (Pollaczek 1930, Khinchine 1932; Kleinrock 1975, chapter 5).
    pub(crate) fn general(rate_per_s: f64, service_s: f64, square_s2: f64) -> Self {
        let wait_s = rate_per_s * square_s2 / (2.0 * (1.0 - rate_per_s * service_s));
        Self { rate_per_s, service_s, servers: 1, wait_s }
    }

    /// Mean response time in seconds.
    pub(crate) fn response_s(&self) -> f64 {
        self.wait_s + self.service_s
    }

    /// Busy share of the servers.
    pub(crate) fn utilisation(&self) -> f64 {
        self.rate_per_s * self.service_s / f64::from(self.servers)
    }

    /// Mean number waiting or being served (Little 1961).
    pub(crate) fn queue(&self) -> f64 {
        self.rate_per_s * self.response_s()
    }

    /// Time in which the effect of the initial state falls to 1/e, in seconds: that of M/M/1 (Morse,
    /// Stochastic properties of waiting lines, Operations Research 3, 1955), and of the right order
    /// for the others.
    pub(crate) fn relaxation_s(&self) -> f64 {
        self.service_s / (1.0 - self.utilisation().sqrt()).powi(2)
    }
}

#[test]
fn erlangs_c_is_as_in_the_tables() {
    // Offered 2 to 3 servers: C = 4/9. One server: the load itself.
    let three = Open::exponential(2.0, 1.0, 3);
    assert!((three.wait_s - 4.0 / 9.0).abs() < 1e-12, "{three:?}");
    let one = Open::exponential(0.7, 1.0, 1);
    assert!((one.response_s() - 1.0 / 0.3).abs() < 1e-12, "{one:?}");
    // An exponential's mean square is twice the square of its mean; a constant waits half as long.
    assert!((Open::general(0.7, 1.0, 2.0).wait_s - one.wait_s).abs() < 1e-12);
    assert!((Open::general(0.7, 1.0, 1.0).wait_s - one.wait_s / 2.0).abs() < 1e-12);
}
