//! One measured run of the simulator: a site under the driver's loop in virtual time, reported as one
//! line of JSON. The hidden command `simulate`.

use std::fs;

use nix::time::{ClockId, clock_gettime};
use serde_json::json;
use stormeter_driver::drive;
use stormeter_simulator::{Load, Machine, Window, example};
use stormeter_site::{Device, Queue, Service, Site, Spread};
use stormeter_trial::{Arrivals, Content, Distribution, Ended, Limits, SizeShare, Trial, Workload};

use crate::failure::Failure;
use crate::number::number;

const SEED: u64 = 1;
const DISK_BYTES: u64 = 1 << 30;

/// The simulated model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Poisson arrivals at one device with four servers (M/M/4).
    Open,
    /// Customers that think and then visit one of several disks.
    Closed,
    /// Hosts, Fibre Channel, controllers and disks.
    FibreChannel,
    /// The same with a thousand hosts and a hundred VMs on each.
    Many,
}

/// A run over this much virtual time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Simulate {
    pub(crate) what: What,
    pub(crate) ms: u64,
}

/// The open loop.
pub(crate) const OPEN_SERVERS: u32 = 4;
pub(crate) const OPEN_SERVICE_S: f64 = 1e-3;
pub(crate) const OPEN_RATE_PER_S: f64 = 3200.0;
/// The closed loop.
pub(crate) const CLOSED_CUSTOMERS: u32 = 64;
pub(crate) const CLOSED_DELAY_S: f64 = 1e-3;
pub(crate) const CLOSED_DISKS: u32 = 16;
pub(crate) const CLOSED_SERVICE_S: f64 = 5e-3;
/// The large site.
pub(crate) const MANY_HOSTS: u32 = 1000;
pub(crate) const MANY_VMS_PER_HOST: u32 = 100;
const MANY_CONTROLLERS: u32 = 250;
/// Queue depth of a VM on Fibre Channel.
pub(crate) const OUTSTANDING: u32 = 4;

impl What {
    const ALL: [(What, &'static str); 4] = [
        (What::Open, "open"),
        (What::Closed, "closed"),
        (What::FibreChannel, "fibre-channel"),
        (What::Many, "many"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(what, _)| *what == self).map_or("", |(_, name)| name)
    }

    /// The site, its VMs, and the load of each.
    fn set_up(self) -> (Site, u32, Arrivals) {
        match self {
            What::Open => {
                let site = example::one_device(exponential(OPEN_SERVERS, OPEN_SERVICE_S));
                (site, 1, Arrivals::Poisson { rate_per_s: OPEN_RATE_PER_S })
            }
            What::Closed => {
                let mut site = example::one_device(exponential(1, CLOSED_SERVICE_S));
                let host = &mut site.hosts[0];
                host.cores = CLOSED_CUSTOMERS;
                let cycles = CLOSED_DELAY_S * host.clock_hz;
                site.stacks[0].cost.per_read_cycles = cycles;
                site.stacks[0].cost.per_write_cycles = cycles;
                site.groups[0].disks = CLOSED_DISKS;
                site.groups[0].stripe_bytes = 1 << 20;
                (site, 1, Arrivals::Closed { outstanding: CLOSED_CUSTOMERS })
            }
            What::FibreChannel => {
                (example::fibre_channel(), 160, Arrivals::Closed { outstanding: OUTSTANDING })
            }
            What::Many => {
                let mut site = example::fibre_channel();
                site.hosts[0].count = MANY_HOSTS;
                site.controllers[0].count = MANY_CONTROLLERS;
                let vms = MANY_HOSTS * MANY_VMS_PER_HOST;
                (site, vms, Arrivals::Closed { outstanding: OUTSTANDING })
            }
        }
    }
}

fn exponential(servers: u32, service_s: f64) -> Device {
    Device::Queue(Queue {
        servers,
        read_ns: service_s * 1e9,
        write_ns: service_s * 1e9,
        per_byte_ns: 0.0,
        per_written_byte_ns: 0.0,
        shared_per_byte_ns: 0.0,
        shared_per_written_byte_ns: 0.0,
        shared_per_io_ns: 0.0,
        shared_per_write_ns: 0.0,
        spread: Spread::Exponential,
        service: Service::Single,
        write_cache: None,
        flush_ns: 0.0,
    })
}

impl Simulate {
    /// Parses what [`Simulate::words`] writes.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let name = words.next().unwrap_or_default();
        let what = What::ALL.into_iter().find(|(_, known)| *known == name);
        let (what, _) = what.ok_or_else(|| format!("nothing called {name} is simulated"))?;
        let ms = number(&words.next().unwrap_or_default())?.max(1);
        Ok(Self { what, ms })
    }

    /// The arguments for another process.
    pub(crate) fn words(&self) -> Vec<String> {
        vec!["simulate".into(), self.what.name().into(), self.ms.to_string()]
    }
}

/// Executes it.
pub(crate) fn run(simulate: &Simulate) -> Result<(), Failure> {
    let (site, vms, arrivals) = simulate.what.set_up();
    let trial = Trial {
        workload: Workload {
            name: "bench".into(),
            sizes: vec![SizeShare { bytes: 4096, share: 1.0 }],
            read_percent: 75.0,
            random_percent: 100.0,
            distribution: Distribution::Uniform,
            alignment_bytes: None,
            arrivals,
            burst: None,
            content: Content::default(),
            durable: false,
            flush: None,
        },
        first_disk: 0,
        disks: vms,
        disk_bytes: DISK_BYTES,
        seed: SEED,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: 100_000_000,
        duration_ns: simulate.ms * 1_000_000,
        interval_ns: 1_000_000_000,
        limits: Limits::default(),
        verify: false,
    };
    let load = Load {
        vms,
        disk_bytes: DISK_BYTES,
        working_set_bytes: DISK_BYTES,
        random: 1.0,
        zipf: None,
        flushes: false,
    };
    let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
    let begin_s = cpu_s()?;
    let mut machine =
        Machine::new(&site, 0, load, window, SEED).map_err(|error| error.to_string())?;
    let mut clock = machine.time().clock();
    let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ())
        .map_err(|error| error.to_string())?;
    let cpu_s = cpu_s()? - begin_s;
    if sample.ended != Ended::Completed {
        return Err(sample.ended.to_string());
    }
    let total = sample.total();
    let report = json!({
        "operations": total.operations + sample.ramp_operations,
        "events": machine.events(),
        "cpu_s": cpu_s,
        "response_s": total.latency_sum_ns as f64 / total.operations.max(1) as f64 / 1e9,
        "peak_memory_bytes": fs::read_to_string("/proc/self/status")
            .ok()
            .and_then(|status| crate::process::high_water_bytes(&status)),
    });
    println!("{report}");
    Ok(())
}

/// CPU time of this process: on a shared machine it is what a quiet one would take.
fn cpu_s() -> Result<f64, Failure> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_err(|e| e.to_string())?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_reads_the_same_run() {
        for (what, _) in What::ALL {
            let simulate = Simulate { what, ms: 7 };
            assert_eq!(Simulate::parse(simulate.words().into_iter().skip(1)), Ok(simulate));
        }
        for words in ["", "all 7", "open", "open long"] {
            assert!(Simulate::parse(words.split(' ').map(str::to_owned)).is_err(), "{words}");
        }
    }

    #[test]
    fn all_that_is_measured_runs() {
        for what in [What::Open, What::Closed, What::FibreChannel] {
            run(&Simulate { what, ms: 20 }).unwrap();
        }
    }
}
