//! A station: servers behind one queue, first come, first served.
//!
//! Jobs arrive in order of time, so the start and end of a job's service are known on its arrival:
//! the queue itself need not be stored, and a visit is one event.

/// Servers behind one queue.
#[derive(Debug, Clone)]
pub(crate) struct Station {
    /// When each is free: a heap, the first to be free in front.
    free_at_ns: Vec<u64>,
    /// Nothing is served before this time.
    down_until_ns: u64,
    /// Service times are multiplied by this: more than 1 for a slow station.
    slowness: f64,
    busy_ns: u64,
    waited_ns: u64,
    visits: u64,
}

/// What a station has done until some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StationUse {
    /// Time its servers were busy, summed.
    pub(crate) busy_ns: u64,
    /// Time that jobs waited for a server, summed.
    pub(crate) waited_ns: u64,
    /// Jobs.
    pub(crate) visits: u64,
}

impl Station {
    pub(crate) fn new(servers: u32) -> Self {
        Self {
            free_at_ns: vec![0; servers.max(1) as usize],
            down_until_ns: 0,
            slowness: 1.0,
            busy_ns: 0,
            waited_ns: 0,
            visits: 0,
        }
    }

    /// A job arrives and needs `service_ns`; returns when its service starts and how long it takes.
    #[inline]
    pub(crate) fn visit(&mut self, now_ns: u64, service_ns: u64) -> (u64, u64) {
        let service_ns = match self.slowness {
            1.0 => service_ns,
            slowness => (service_ns as f64 * slowness) as u64,
        };
        let start_ns = self.free_at_ns[0].max(now_ns).max(self.down_until_ns);
        self.busy_ns += service_ns;
        self.waited_ns += start_ns - now_ns;
        self.visits += 1;
        self.take_first(start_ns + service_ns);
        (start_ns, service_ns)
    }

    /// The server that is free first is busy until then.
    #[inline]
    fn take_first(&mut self, until_ns: u64) {
        let servers = &mut self.free_at_ns;
        let mut hole = 0;
        loop {
            let mut least = 2 * hole + 1;
            if least >= servers.len() {
                break;
            }
            if least + 1 < servers.len() && servers[least + 1] < servers[least] {
                least += 1;
            }
            if servers[least] >= until_ns {
                break;
            }
            servers[hole] = servers[least];
            hole = least;
        }
        servers[hole] = until_ns;
    }

    /// Work that is waiting or in progress, as time until the first server is free.
    pub(crate) fn backlog_ns(&self, now_ns: u64) -> u64 {
        self.free_at_ns[0].max(self.down_until_ns).saturating_sub(now_ns)
    }

    /// Serves nothing until then.
    pub(crate) fn fail_until(&mut self, until_ns: u64) {
        self.down_until_ns = self.down_until_ns.max(until_ns);
    }

    /// Everything takes this many times as long from now on.
    pub(crate) fn slow_down(&mut self, slowness: f64) {
        self.slowness = slowness.max(0.0);
    }

    /// How many servers.
    pub(crate) fn servers(&self) -> u32 {
        self.free_at_ns.len() as u32
    }

    /// What has been done until now; reservations for later do not count.
    pub(crate) fn usage(&self, now_ns: u64) -> StationUse {
        let later_ns: u64 = self.free_at_ns.iter().map(|free| free.saturating_sub(now_ns)).sum();
        StationUse {
            // While it is down, a reservation has a gap in front, which is not work.
            busy_ns: self.busy_ns.saturating_sub(later_ns),
            waited_ns: self.waited_ns,
            visits: self.visits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_served_in_order_by_the_first_free_server() {
        let mut station = Station::new(2);
        assert_eq!(station.visit(0, 10), (0, 10));
        assert_eq!(station.visit(0, 4), (0, 4));
        assert_eq!(station.visit(1, 4), (4, 4));
        assert_eq!(station.visit(2, 4), (8, 4));
        assert_eq!(station.visit(20, 4), (20, 4));
        let usage = station.usage(22);
        assert_eq!(usage, StationUse { busy_ns: 24, waited_ns: 9, visits: 5 });
    }

    #[test]
    fn a_station_that_is_down_serves_later_and_a_slow_one_longer() {
        let mut station = Station::new(1);
        station.fail_until(100);
        assert_eq!(station.visit(50, 10), (100, 10));
        station.slow_down(3.0);
        assert_eq!(station.visit(120, 10), (120, 30));
        assert_eq!(station.backlog_ns(140), 10);
    }
}
