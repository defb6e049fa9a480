//! A device described only by its service times: servers behind a queue, and a shared part.

use rand_xoshiro::Xoshiro256PlusPlus;
use stormeter_disk::Kind;
use stormeter_site::{Queue as Description, Spread};

use super::{Access, Bench, DeviceUse};
use crate::machine::Station;
use crate::noise::{normal, unit_open};

/// Such a device.
#[derive(Debug)]
pub(crate) struct Queue {
    times: Times,
    /// A bus or a rate limit in front of the servers.
    shared: Station,
    servers: Station,
}

/// The service times of an access.
#[derive(Debug)]
pub(super) struct Times(Description);

impl Times {
    pub(super) fn new(description: Description) -> Self {
        Self(description)
    }

    /// The time of the shared part.
    pub(super) fn shared_ns(&self, about: &Access) -> f64 {
        let times = &self.0;
        let (each_ns, byte_ns) = match about.kind {
            Kind::Read | Kind::Flush => (times.shared_per_io_ns, times.shared_per_byte_ns),
            Kind::Write | Kind::DurableWrite => {
                (times.shared_per_write_ns, times.shared_per_written_byte_ns)
            }
        };
        each_ns + byte_ns * f64::from(about.length_bytes)
    }

    /// The time on its own server, drawn at random.
    pub(super) fn own_ns(&self, about: &Access, random: &mut Xoshiro256PlusPlus) -> f64 {
        let byte_ns = match about.kind {
            Kind::Read | Kind::Flush => self.0.per_byte_ns,
            Kind::Write | Kind::DurableWrite => self.0.per_written_byte_ns,
        };
        let mut mean_ns = byte_ns * f64::from(about.length_bytes);
        mean_ns += match about.kind {
            Kind::Read => self.0.read_ns,
            Kind::Write => self.0.write_ns,
            // A write, and then the flush that puts it on the medium.
            Kind::DurableWrite if self.0.write_cache == Some(true) => {
                self.0.write_ns + self.0.flush_ns
            }
            Kind::DurableWrite => self.0.write_ns,
            Kind::Flush => self.0.flush_ns,
        };
        match self.0.spread {
            Spread::Constant => mean_ns,
            Spread::Exponential => -unit_open(random).ln() * mean_ns,
            // The mean of a log-normal is its median times exp(sigma^2 / 2).
            Spread::LogNormal(sigma) => {
                mean_ns * (sigma * normal(random) - sigma * sigma / 2.0).exp()
            }
        }
    }
}

impl Queue {
    pub(super) fn new(description: Description) -> Self {
        let servers = Station::new(description.servers);
        Self { times: Times::new(description), shared: Station::new(1), servers }
    }

    pub(super) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        let about = bench.accesses[access];
        let shared_ns = self.times.shared_ns(&about);
        let own_ns = self.times.own_ns(&about, bench.random);
        // A server and the shared part work concurrently; the later of the two determines the end.
        let mut end_ns = bench.now_ns;
        if shared_ns > 0.0 {
            let (start_ns, taken_ns) = self.shared.visit(bench.now_ns, shared_ns as u64);
            end_ns = start_ns + taken_ns;
        }
        let (start_ns, taken_ns) = self.servers.visit(bench.now_ns, own_ns as u64);
        bench.at(end_ns.max(start_ns + taken_ns), access);
    }

    pub(super) fn slow_down(&mut self, slowness: f64) {
        self.shared.slow_down(slowness);
        self.servers.slow_down(slowness);
    }

    pub(super) fn usage(&self, now_ns: u64) -> DeviceUse {
        let servers = self.servers.usage(now_ns);
        let shared = self.shared.usage(now_ns);
        let count = self.servers.servers();
        DeviceUse {
            servers: count,
            // The shared part limits all servers at once.
            busy_ns: servers.busy_ns.max(shared.busy_ns * u64::from(count)),
            waited_ns: servers.waited_ns.max(shared.waited_ns),
            accesses: servers.visits,
        }
    }
}
