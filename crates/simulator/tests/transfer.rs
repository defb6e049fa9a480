//! Transfers compared with manual calculations: wire, CPUs, memory and disk, and their sharing.

mod common;

use common::device::device;
use common::single::*;
use stormeter_disk::Kind;
use stormeter_simulator::{
    Machine, MachineError, TransferError, TransferTrial, Window, drive_transfer,
};
use stormeter_site::*;
use stormeter_trial::{
    ComponentUse, Ended, Limits, Sample, Transfer, TransferDirection, TransferSink,
};

const GIGABIT: f64 = 125e6;
/// Of a full packet with its 1448 bytes: 52 bytes of headers, 38 around.
const ON_WIRE: f64 = 1538.0 / 1448.0;
const INTERVAL_NS: u64 = 100_000_000;

fn nic(name: &str, rate_bytes_per_s: f64) -> Adapter {
    let kind = PortKind::Ethernet { mtu_bytes: 1500 };
    let aggregation = Aggregation::ActiveBackup;
    Adapter {
        name: name.into(),
        kind,
        rate_bytes_per_s,
        count: 1,
        aggregation,
        latency_ns: 0.0,
        coalescing: Coalescing::default(),
    }
}

fn network(rate_bytes_per_s: Option<f64>, latency_ns: f64) -> Network {
    Network {
        name: "lan".into(),
        rate_bytes_per_s,
        latency_ns,
        buffer_bytes: None,
        label_bytes: 0,
        failover_ns: 0,
    }
}

/// A host with a disk, and a PC at the other end of a gigabit.
fn local(per_byte_ns: f64) -> Site {
    let mut site = common::one_device(device(1, 1000.0, per_byte_ns));
    site.hosts[0].cores = 8;
    site.hosts[0].adapters = vec![nic("vm", GIGABIT)];
    let pc = HostGroup {
        name: "pc".into(),
        adapters: vec![nic("nic", GIGABIT)],
        ..site.hosts[0].clone()
    };
    site.hosts.push(pc);
    site.networks = vec![network(None, 0.0)];
    site.client = Some(Client {
        hosts: 1,
        adapter: 0,
        server_adapter: 0,
        networks: vec![0],
        per_byte_cycles: 0.0,
        per_message_cycles: 0.0,
        memory_bytes_per_s: 1e15,
    });
    site
}

/// The host's datastore on an NFS server, over the NIC through which clients connect.
fn nfs() -> Site {
    let mut site = local(0.0);
    site.stacks[0].protocol = Protocol::Nfs;
    let of_filer = common::fibre_channel().controllers.remove(0);
    site.controllers = vec![Controller {
        count: 1,
        ports: vec![nic("e0", 10.0 * GIGABIT)],
        costs: vec![(Protocol::Nfs, Cost::default())],
        ..of_filer
    }];
    site.datastores[0].adapter = Some(0);
    site.datastores[0].networks = vec![0];
    site.datastores[0].target = Target::Controller { controller: 0, port: 0 };
    site
}

fn transfer(message_bytes: u64, direction: TransferDirection, sink: TransferSink) -> Transfer {
    Transfer { message_bytes, direction, sink, messages: 5 }
}

fn machine_for(site: &Site, vms: u32) -> Machine {
    let window = Window { from_ns: 0, interval_ns: INTERVAL_NS };
    Machine::with_client(site, 0, load(vms), window, 1).expect("a machine")
}

fn run(site: &Site, vms: u32, transfer: Transfer) -> (Sample, Vec<ComponentUse>) {
    let mut machine = machine_for(site, vms);
    let limits = Limits::default();
    let trial = TransferTrial {
        transfer,
        vms,
        disk_bytes: 1 << 30,
        start: Default::default(),
        interval_ns: INTERVAL_NS,
        limits,
    };
    let sample = drive_transfer(&trial, &mut machine, &mut ()).expect("driven");
    assert_eq!(sample.ended, Ended::Completed);
    machine.end_window();
    (sample, machine.usage())
}

/// The mean time of a message, in seconds.
fn takes(site: &Site, transfer: Transfer) -> f64 {
    let (sample, _) = run(site, 1, transfer);
    sample.total().latency_mean_ns().expect("messages") / 1e9
}

fn close(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found} is not {expected}");
}

fn named<'a>(uses: &'a [ComponentUse], name: &str) -> &'a ComponentUse {
    uses.iter().find(|one| one.name == name).expect("a component")
}

use TransferDirection::{Read, Write};
use TransferSink::{Disk, Memory};

#[test]
fn a_message_to_memory_takes_its_bytes_and_a_round_trip() {
    let mut site = local(0.0);
    site.networks[0].latency_ns = 3e6;
    let expected = 10e6 * ON_WIRE / GIGABIT + 6e-3;
    close(takes(&site, transfer(10_000_000, Write, Memory)), expected, 0.005);
    close(takes(&site, transfer(10_000_000, Read, Memory)), expected, 0.005);
    // A small one is mostly round trip.
    close(takes(&site, transfer(1000, Write, Memory)), 6e-3, 0.01);
}

#[test]
fn the_slowest_on_the_way_decides_and_messages_cost_both_ends() {
    let mut site = local(0.0);
    let client = site.client.as_mut().expect("a client");
    client.per_message_cycles = 4e6;
    // 10 ns per byte at both ends, in addition to 8.5 on the wire: both concurrently, and the wire
    // after them.
    client.per_byte_cycles = 10.0;
    let messages = 2.0 * 4e-3;
    close(takes(&site, transfer(10_000_000, Write, Memory)), 0.1 + messages, 0.015);
    close(takes(&site, transfer(10_000_000, Read, Memory)), 0.1 + messages, 0.015);
    // The same holds for a small one.
    close(takes(&site, transfer(100_000, Write, Memory)), 0.001 + messages, 0.015);
    // A copy is done by the server's thread.
    let client = site.client.as_mut().expect("a client");
    client.memory_bytes_per_s = 1e8;
    close(takes(&site, transfer(10_000_000, Write, Memory)), 0.2 + messages, 0.015);
    let (sample, uses) = run(&site, 1, transfer(10_000_000, Write, Memory));
    let client_ns = 5.0 * (4e-3 + 0.1) * 1e9;
    let window = sample.window_ns as f64;
    close(named(&uses, "pc cpu").busy_ns as f64, client_ns, 0.001);
    close(named(&uses, "host cpu").busy_ns as f64, client_ns + 5.0 * 1e8, 0.001);
    close(named(&uses, "pc nic").utilisation, 0.5 * 5e7 * ON_WIRE / GIGABIT * 1e9 / window, 0.01);
}

#[test]
fn the_sample_has_the_form_of_a_measured_one() {
    let (sample, _) = run(&local(0.0), 3, transfer(10_000_000, Write, Disk));
    assert_eq!((sample.writes.operations, sample.reads.operations), (15, 0));
    assert_eq!(sample.bytes(), 150_000_000);
    assert_eq!(sample.disks.len(), 3);
    let rows: u64 = sample.intervals.iter().map(|row| row.writes.bytes).sum();
    assert_eq!(rows, sample.bytes());
    assert_eq!((sample.steps.len(), sample.steps[0].times), (1, 15));
    assert_eq!(sample.steps[0].total_ns, sample.writes.latency_sum_ns);
    // Little's law, exactly: nothing is in progress at start and end.
    let sum = sample.outstanding_mean * sample.window_ns as f64;
    close(sum, sample.writes.latency_sum_ns as f64, 1e-9);
}

#[test]
fn a_disk_that_is_slower_than_the_wire_decides_and_a_quicker_one_hides_behind_it() {
    let wire = 10e6 * ON_WIRE / GIGABIT;
    let chunk = 262_144.0;
    for direction in [Write, Read] {
        // 20 ns per byte compared with 8.5: the disk is always busy, except while its first or last
        // chunk waits.
        let found = takes(&local(20.0), transfer(10_000_000, direction, Disk));
        let first = if direction == Write { chunk } else { 10e6 % chunk } * ON_WIRE / GIGABIT;
        close(found, 10e6 * 20e-9 + first, 0.01);
        // 2 ns: only one chunk is noticeable.
        let found = takes(&local(2.0), transfer(10_000_000, direction, Disk));
        close(found, wire + if direction == Write { 10e6 % chunk } else { chunk } * 2e-9, 0.005);
    }
}

#[test]
fn ports_are_full_duplex_so_passing_on_to_nfs_over_the_same_nic_halves_nothing() {
    let (memory, disk) = (transfer(10_000_000, Write, Memory), transfer(10_000_000, Write, Disk));
    let site = nfs();
    let (of_memory, of_disk) = (takes(&site, memory), takes(&site, disk));
    assert!(of_disk > of_memory && of_disk < 1.2 * of_memory, "{of_memory} {of_disk}");
    let (_, uses) = run(&site, 1, disk);
    // One NIC carries both: what arrives, and what is sent on.
    let nics: Vec<_> = uses.iter().filter(|one| one.name == "host vm").collect();
    assert_eq!((nics.len(), nics[0].units), (1, 2));
    assert!(nics[0].utilisation > 0.85, "{}", nics[0].utilisation);
}

#[test]
fn what_goes_the_same_way_over_the_same_nic_halves_the_rate() {
    // The client is another VM of the host: its message leaves through the port over which NFS is
    // written.
    let mut site = nfs();
    let client = site.client.as_mut().expect("a client");
    (client.hosts, client.adapter) = (0, 0);
    let memory = takes(&site, transfer(20_000_000, Write, Memory));
    let disk = takes(&site, transfer(20_000_000, Write, Disk));
    close(memory, 20e6 * ON_WIRE / GIGABIT, 0.01);
    close(disk, 2.0 * memory, 0.05);
}

#[test]
fn a_line_of_both_ways_is_one_line() {
    let mut site = nfs();
    site.networks[0].rate_bytes_per_s = Some(50e6);
    let (sample, uses) = run(&site, 1, transfer(10_000_000, Write, Disk));
    let lines: Vec<_> = uses.iter().filter(|one| one.name == "lan").collect();
    assert_eq!(lines.len(), 1);
    assert!(sample.window_ns as f64 > 5.0 * 0.2e9 && lines[0].utilisation > 0.85, "{lines:?}");
}

#[test]
fn several_vms_share_the_wire() {
    let one = takes(&local(0.0), transfer(10_000_000, Write, Memory));
    let (sample, _) = run(&local(0.0), 4, transfer(10_000_000, Write, Memory));
    close(sample.total().latency_mean_ns().expect("messages") / 1e9, 4.0 * one, 0.02);
    close(sample.bytes_per_s(), GIGABIT / ON_WIRE, 0.01);
    for of_vm in &sample.disks {
        close(of_vm.latency_sum_ns as f64 / 5e9, 4.0 * one, 0.03);
    }
}

#[test]
fn labels_and_a_narrow_line_with_a_buffer_are_as_on_the_wire() {
    let mut site = local(0.0);
    let line = &mut site.networks[0];
    (line.rate_bytes_per_s, line.label_bytes, line.buffer_bytes) = (Some(12.5e6), 8, Some(262_144));
    for vms in [1, 3] {
        let (sample, uses) = run(&site, vms, transfer(10_000_000, Write, Memory));
        close(sample.bytes_per_s(), 12.5e6 * 1448.0 / 1546.0, 0.01);
        // Connections in their steady state lose nothing.
        assert_eq!(named(&uses, "lan").lost, 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_sample() {
    let mut site = nfs();
    let mut device = device(2, 1e6, 1.0);
    if let Device::Queue(queue) = &mut device {
        queue.spread = Spread::Exponential;
    }
    site.groups[0].device = device;
    let job = transfer(3_000_000, Read, Disk);
    assert_eq!(run(&site, 3, job).0, run(&site, 3, job).0);
}

#[test]
fn a_fault_of_the_disk_ends_the_transfer() {
    let site = local(0.0);
    let mut machine = machine_for(&site, 1);
    let fault = site_fault("disk-fail disk 0 at 100ms", &site);
    machine.schedule(&[fault.expect("a fault")]).expect("scheduled");
    let trial = TransferTrial {
        transfer: transfer(10_000_000, Write, Disk),
        vms: 1,
        disk_bytes: 1 << 30,
        start: Default::default(),
        interval_ns: INTERVAL_NS,
        limits: Limits::default(),
    };
    let sample = drive_transfer(&trial, &mut machine, &mut ()).expect("driven");
    assert_eq!(sample.ended, Ended::TooManyErrors);
    assert_eq!((sample.io_failures.len(), sample.io_failures[0].kind), (1, Kind::Write));
}

#[test]
fn what_cannot_be_driven_says_why() {
    let mut site = local(0.0);
    let mut machine = machine(&site, 1);
    let mut trial = TransferTrial {
        transfer: transfer(1000, Write, Memory),
        vms: 1,
        disk_bytes: 1 << 30,
        start: Default::default(),
        interval_ns: INTERVAL_NS,
        limits: Limits::default(),
    };
    let error = drive_transfer(&trial, &mut machine, &mut ());
    assert_eq!(error, Err(TransferError::NoClient));
    trial.vms = 2;
    let error = drive_transfer(&trial, &mut machine_for(&site, 1), &mut ());
    assert_eq!(error, Err(TransferError::TooManyVms { vms: 2, room: 1 }));
    site.client = None;
    let window = Window { from_ns: 0, interval_ns: INTERVAL_NS };
    let error = Machine::with_client(&site, 0, load(1), window, 1);
    assert_eq!(error.err(), Some(MachineError::NoClient));
}

#[test]
fn nodes_of_a_cluster_take_transfers_by_the_ports_that_they_have() {
    let mut site = local(0.0);
    site.hosts[0].count = 3;
    let port = Adapter { count: 2, aggregation: Aggregation::RoundRobin, ..nic("vm", GIGABIT) };
    site.hosts[0].adapters = vec![port.clone()];
    site.hosts[1].adapters = vec![Adapter { name: "nic".into(), ..port }];
    site.clusters = vec![common::cluster::bare_cluster(Cost::default())];
    site.datastores[0].adapter = Some(0);
    site.datastores[0].networks = vec![0];
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes: 1, replicas: 2 };
    // Two ports of each end, segment by segment.
    let (sample, _) = run(&site, 1, transfer(10_000_000, Write, Memory));
    close(sample.bytes_per_s(), 2.0 * GIGABIT / ON_WIRE, 0.02);
    let (sample, uses) = run(&site, 3, transfer(10_000_000, Write, Disk));
    assert_eq!(sample.bytes(), 150_000_000);
    let units = |name| uses.iter().filter(|one| one.name == name).map(|one| one.units).collect();
    let found: [Vec<u32>; 3] = ["host vm", "host cpu", "lan"].map(units);
    // Three nodes with two ports in two directions each, and nothing twice.
    assert_eq!(found, [vec![12], vec![3], vec![0]]);
}
