//! Open loops: Poisson arrivals at one device.

use stormeter_simulator::example;
use stormeter_site::{Device, Queue, Service, Spread};
use stormeter_trial::Arrivals;

use crate::RAMP_RELAXATIONS;
use crate::queues::Open;
use crate::replications::{Case, Expected, Extent};

/// Mean service time in all cases.
const SERVICE_S: f64 = 1e-3;
/// Window length of the short form, in service times.
const WINDOW_SERVICES: f64 = 4000.0;

/// Requests of `vms` VMs, some of them reads, to one device; with the given theory.
fn case<'a>(name: &'a str, vms: u32, read_percent: f64, queue: Queue, theory: Open) -> Case<'a> {
    Case {
        name,
        site: example::one_device(Device::Queue(queue)),
        vms,
        arrivals: Arrivals::Poisson { rate_per_s: theory.rate_per_s / f64::from(vms) },
        read_percent,
        disk_bytes: 1 << 30,
        ramp_s: theory.relaxation_s() * RAMP_RELAXATIONS,
        window_s: SERVICE_S * WINDOW_SERVICES / f64::from(theory.servers),
        expected: vec![
            Expected::response_s(theory.response_s()),
            Expected::throughput_per_s(theory.rate_per_s),
            Expected::utilisation("disk", theory.utilisation()),
            Expected::queue("disk", theory.queue()),
            Expected::new("outstanding", theory.queue(), |observed| crate::replications::Ratio {
                of: observed.sample.outstanding_mean,
                over: 1.0,
            }),
        ],
    }
}

fn queue(servers: u32, read_s: f64, write_s: f64, spread: Spread) -> Queue {
    Queue {
        servers,
        read_ns: read_s * 1e9,
        write_ns: write_s * 1e9,
        per_byte_ns: 0.0,
        per_written_byte_ns: 0.0,
        shared_per_byte_ns: 0.0,
        shared_per_written_byte_ns: 0.0,
        shared_per_io_ns: 0.0,
        shared_per_write_ns: 0.0,
        spread,
        service: Service::Single,
        write_cache: None,
        flush_ns: 0.0,
    }
}

fn one_exponential(extent: Extent) {
    let queue = queue(1, SERVICE_S, SERVICE_S, Spread::Exponential);
    case("M/M/1", 1, 75.0, queue, Open::exponential(700.0, SERVICE_S, 1)).hold(extent);
}

fn four_exponential(extent: Extent) {
    let queue = queue(4, SERVICE_S, SERVICE_S, Spread::Exponential);
    case("M/M/4 of 8 VMs", 8, 75.0, queue, Open::exponential(3200.0, SERVICE_S, 4)).hold(extent);
}

fn constant(extent: Extent) {
    let queue = queue(1, SERVICE_S, SERVICE_S, Spread::Constant);
    let theory = Open::general(700.0, SERVICE_S, SERVICE_S * SERVICE_S);
    case("M/D/1", 1, 75.0, queue, theory).hold(extent);
}

fn log_normal(extent: Extent) {
    // The mean square of a log-normal is the square of its mean times exp(sigma^2).
    const SIGMA: f64 = 0.8;
    let queue = queue(1, SERVICE_S, SERVICE_S, Spread::LogNormal(SIGMA));
    let theory = Open::general(600.0, SERVICE_S, SERVICE_S * SERVICE_S * (SIGMA * SIGMA).exp());
    case("M/G/1, log-normal", 1, 75.0, queue, theory).hold(extent);
}

fn reads_and_writes(extent: Extent) {
    // Three of four take 0.5 ms, the fourth 2.5 ms.
    let queue = queue(1, 0.5e-3, 2.5e-3, Spread::Constant);
    let square = 0.75 * 0.5e-3 * 0.5e-3 + 0.25 * 2.5e-3 * 2.5e-3;
    let theory = Open::general(600.0, SERVICE_S, square);
    case("M/G/1, reads and writes", 4, 75.0, queue, theory).hold(extent);
}

fn paths_of_vms(extent: Extent) {
    // Each of two VMs has its own path; behind them is a device with enough servers for all.
    const DEVICE_S: f64 = 0.4e-3;
    let theory = Open::general(700.0, SERVICE_S, SERVICE_S * SERVICE_S);
    let wide = queue(1000, DEVICE_S, DEVICE_S, Spread::Constant);
    let mut case = case("M/D/1, the paths of two VMs", 2, 75.0, wide, theory);
    let host = &mut case.site.hosts[0];
    host.vm_path_cycles = SERVICE_S * host.clock_hz;
    case.arrivals = Arrivals::Poisson { rate_per_s: theory.rate_per_s };
    case.expected = vec![
        Expected::response_s(theory.response_s() + DEVICE_S),
        Expected::throughput_per_s(2.0 * theory.rate_per_s),
        Expected::utilisation("host vm path", theory.utilisation()),
        Expected::queue("host vm path", 2.0 * theory.queue()),
    ];
    case.hold(extent);
}

#[test]
fn an_exponential_server_is_as_theory_says() {
    one_exponential(Extent::short(200));
}

#[test]
fn several_exponential_servers_are_as_erlang_says() {
    four_exponential(Extent::short(40));
}

#[test]
fn other_service_times_are_as_pollaczek_and_khinchine_say() {
    constant(Extent::short(40));
    log_normal(Extent::short(40));
    reads_and_writes(Extent::short(40));
    paths_of_vms(Extent::short(40));
}

#[test]
#[ignore = "minutes: cargo xtask truth"]
fn full_open_loops_are_as_theory_says() {
    one_exponential(Extent::full(200));
    four_exponential(Extent::full(40));
    constant(Extent::full(40));
    log_normal(Extent::full(40));
    reads_and_writes(Extent::full(40));
    paths_of_vms(Extent::full(40));
}
