//! Closed loops: product-form networks. A station with enough servers for all is a delay and may have
//! any distribution; stations that are first come, first served, are exponential with one mean for
//! all (Baskett, Chandy, Muntz and Palacios, J. ACM 22, 1975).

use stormeter_simulator::example;
use stormeter_site::{Device, Queue, Service, Site, Spread};
use stormeter_trial::Arrivals;

use crate::mva::{Solution, Station, chains, one_chain};
use crate::replications::{Case, Expected, Extent, Ratio};

/// Mean service time of a disk.
const SERVICE_S: f64 = 5e-3;
/// Time on the host's CPU, a constant.
const CPU_S: f64 = 4e-3;
/// Requests are spread over the stripes of a disk, and stripes over the devices.
const STRIPE_BYTES: u64 = 1 << 20;

fn exponential(servers: u32) -> Device {
    Device::Queue(Queue {
        servers,
        read_ns: SERVICE_S * 1e9,
        write_ns: SERVICE_S * 1e9,
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

/// A host with enough cores for all and a number of devices.
fn local(devices: u32, servers: u32) -> Site {
    let mut site = example::one_device(exponential(servers));
    site.hosts[0].cores = 1000;
    let cycles = CPU_S * site.hosts[0].clock_hz;
    site.stacks[0].cost.per_read_cycles = cycles;
    site.stacks[0].cost.per_write_cycles = cycles;
    site.groups[0].disks = devices;
    site.groups[0].stripe_bytes = STRIPE_BYTES;
    site
}

/// A case with `stripes` per virtual disk.
fn case(name: &str, site: Site, vms: u32, outstanding: u32, stripes: u64) -> Case<'_> {
    Case {
        name,
        site,
        vms,
        arrivals: Arrivals::Closed { outstanding },
        read_percent: 60.0,
        disk_bytes: stripes * STRIPE_BYTES,
        // A closed network forgets its initial state in a few rounds: a request spends at most this
        // long in all queues together.
        ramp_s: 20.0 * (CPU_S + SERVICE_S * f64::from(vms * outstanding)),
        window_s: 4.0,
        expected: vec![],
    }
}

/// The theoretical values of all figures; `cores` and `servers` are those of CPU and devices.
fn expect(case: &mut Case<'_>, solution: &Solution, (cpu_s, cores): (f64, f64), servers: f64) {
    let throughput: f64 = solution.throughput_per_s.iter().sum();
    let Arrivals::Closed { outstanding } = case.arrivals else { return };
    let customers = f64::from(outstanding * case.vms);
    case.expected.extend([
        Expected::throughput_per_s(throughput),
        Expected::response_s(customers / throughput),
        Expected::utilisation("disk", throughput * SERVICE_S / servers),
        Expected::queue("disk", solution.queues.iter().sum()),
    ]);
    if cores > 0.0 {
        case.expected.push(Expected::utilisation("host cpu", throughput * cpu_s / cores));
    }
}

fn several_servers(extent: Extent) {
    // One VM of 12 stripes on three devices with two servers each.
    let mut case = case("closed, three stations of two servers", local(3, 2), 2, 7, 12);
    let station = Station { visits: 1.0 / 3.0, service_s: SERVICE_S, servers: 2 };
    let solution = one_chain(14, CPU_S, &[station; 3]);
    expect(&mut case, &solution, (CPU_S, 1000.0), 6.0);
    case.hold(extent);
}

fn unequal_stations(extent: Extent) {
    // Four stripes on three devices: the first gets half of all.
    let mut case = case("closed, unequal stations", local(3, 1), 1, 8, 4);
    let station = |visits| Station { visits, service_s: SERVICE_S, servers: 1 };
    let solution = one_chain(8, CPU_S, &[station(0.5), station(0.25), station(0.25)]);
    expect(&mut case, &solution, (CPU_S, 1000.0), 3.0);
    // The busiest unit is the first device.
    let busiest = solution.throughput_per_s[0] * 0.5 * SERVICE_S;
    case.expected.push(Expected::new("busiest disk", busiest, |observed| Ratio {
        of: observed
            .uses
            .iter()
            .find(|usage| usage.name == "disk")
            .expect("disks")
            .utilisation_most,
        over: 1.0,
    }));
    case.hold(extent);
}

fn chains_that_meet(extent: Extent) {
    // Three VMs of two stripes on five devices: 0 and 1, 2 and 3, 4 and 0. The first and the last
    // share a device, the second shares none.
    let mut case = case("closed, three chains", local(5, 1), 3, 4, 2);
    let half = SERVICE_S / 2.0;
    let demands = [
        vec![half, half, 0.0, 0.0, 0.0],
        vec![0.0, 0.0, half, half, 0.0],
        vec![half, 0.0, 0.0, 0.0, half],
    ];
    let solution = chains(&[4, 4, 4], CPU_S, &demands);
    expect(&mut case, &solution, (CPU_S, 1000.0), 5.0);
    for (vm, throughput) in solution.throughput_per_s.iter().enumerate() {
        let name = format!("throughput of VM {vm}");
        case.expected.push(Expected::new(name, *throughput, move |observed| Ratio {
            of: observed.sample.disks[vm].operations as f64,
            over: observed.sample.window_ns as f64 / 1e9,
        }));
    }
    case.hold(extent);
}

/// A whole path over Fibre Channel to two controllers, wide enough that requests wait only for
/// disks.
fn a_site(extent: Extent) {
    const VMS: u32 = 16;
    const OUTSTANDING: u32 = 4;
    let wide = |device: Device| {
        let mut site = example::fibre_channel();
        site.hosts[0].cores = 1000;
        site.controllers[0].cores = 1000;
        for adapter in site.hosts[0].adapters.iter_mut().chain(&mut site.controllers[0].ports) {
            adapter.rate_bytes_per_s = 1e18;
            adapter.latency_ns = 400_000.0;
        }
        site.groups[0].disks = 4;
        site.groups[0].groups = 2;
        site.groups[0].stripe_bytes = 4096;
        site.groups[0].device = device;
        site
    };
    // The latency of the path is the time of a request whose disks take no time.
    let none =
        Queue { read_ns: 0.0, write_ns: 0.0, spread: Spread::Constant, ..queue(exponential(1)) };
    let mut empty = case("the way alone", wide(Device::Queue(none)), VMS, 1, 64);
    let way_s = |read_percent: f64, empty: &mut Case<'_>| {
        empty.read_percent = read_percent;
        let total = empty.replicate(0.01, 1).sample.total();
        assert_eq!(total.latency_min_ns, total.latency_max_ns, "something waits on the way");
        total.latency_sum_ns as f64 / total.operations as f64 / 1e9
    };
    let delay_s = 0.6 * way_s(100.0, &mut empty) + 0.4 * way_s(0.0, &mut empty);
    let mut case = case("closed, Fibre Channel", wide(exponential(1)), VMS, OUTSTANDING, 64);
    // Each controller has half of the VMs and its own eight disks.
    let station = Station { visits: 1.0 / 8.0, service_s: SERVICE_S, servers: 1 };
    let half = one_chain(VMS * OUTSTANDING / 2, delay_s, &[station; 8]);
    let both = Solution {
        throughput_per_s: [half.throughput_per_s.clone(), half.throughput_per_s].concat(),
        queues: [half.queues.clone(), half.queues].concat(),
    };
    expect(&mut case, &both, (0.0, 0.0), 16.0);
    case.hold(extent);
}

fn queue(device: Device) -> Queue {
    match device {
        Device::Queue(queue) => queue,
        other => panic!("{other:?} is no queue"),
    }
}

#[test]
fn stations_of_several_servers_are_as_mean_value_analysis_says() {
    several_servers(Extent::short(40));
}

#[test]
fn unequal_stations_are_as_mean_value_analysis_says() {
    unequal_stations(Extent::short(100));
}

#[test]
fn chains_that_meet_are_as_mean_value_analysis_says() {
    chains_that_meet(Extent::short(40));
}

#[test]
fn a_site_without_bottleneck_but_disks_is_as_mean_value_analysis_says() {
    a_site(Extent::short(20));
}

#[test]
#[ignore = "minutes: cargo xtask truth"]
fn full_closed_loops_are_as_mean_value_analysis_says() {
    several_servers(Extent::full(40));
    unequal_stations(Extent::full(100));
    chains_that_meet(Extent::full(40));
    a_site(Extent::full(20));
}
