//! A device of which only its times are known: servers behind a queue, and what all of them share.

use stormeter_disk::Kind;
use stormeter_site::{Queue as Description, Spread};

use super::{Bench, DeviceUse};
use crate::machine::Station;
use crate::weather::{normal, unit_open};

/// Such a device at work.
#[derive(Debug)]
pub(crate) struct Queue {
    description: Description,
    /// A bus or a cap in front of the servers.
    shared: Station,
    servers: Station,
}

impl Queue {
    pub(crate) fn new(description: Description) -> Self {
        let servers = Station::new(description.servers);
        Self { description, shared: Station::new(1), servers }
    }

    pub(crate) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        let about = bench.accesses[access];
        let length = f64::from(about.length_bytes);
        let description = &self.description;
        let shared_ns = description.shared_per_io_ns + description.shared_per_byte_ns * length;
        let mut mean_ns = description.per_byte_ns * length;
        mean_ns += match about.kind {
            Kind::Read => description.read_ns,
            Kind::Write => description.write_ns,
        };
        let service_ns = match description.spread {
            Spread::Constant => mean_ns,
            Spread::Exponential => -unit_open(bench.random).ln() * mean_ns,
            // The mean of a log-normal is its median times exp(sigma^2 / 2).
            Spread::LogNormal(sigma) => {
                mean_ns * (sigma * normal(bench.random) - sigma * sigma / 2.0).exp()
            }
        };
        // A server and the shared part work at the same time; the later of the two ends it.
        let mut end_ns = bench.now_ns;
        if shared_ns > 0.0 {
            let (start_ns, taken_ns) = self.shared.visit(bench.now_ns, shared_ns as u64);
            end_ns = start_ns + taken_ns;
        }
        let (start_ns, taken_ns) = self.servers.visit(bench.now_ns, service_ns as u64);
        bench.at(end_ns.max(start_ns + taken_ns), access);
    }

    pub(crate) fn slow_down(&mut self, slowness: f64) {
        self.shared.slow_down(slowness);
        self.servers.slow_down(slowness);
    }

    pub(crate) fn usage(&self, now_ns: u64) -> DeviceUse {
        let servers = self.servers.usage(now_ns);
        let shared = self.shared.usage(now_ns);
        let count = self.servers.servers();
        DeviceUse {
            servers: count,
            // What is shared limits all servers at once.
            busy_ns: servers.busy_ns.max(shared.busy_ns * u64::from(count)),
            waited_ns: servers.waited_ns.max(shared.waited_ns),
            accesses: servers.visits,
        }
    }
}
