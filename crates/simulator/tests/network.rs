//! The network between initiator and storage: round trips, packets, bytes and paths compared with
//! hand counts.

mod common;

use common::single::*;
use stormeter_disk::Kind;
use stormeter_simulator::{ComponentKind, ComponentUse, Machine};
use stormeter_site::*;

/// So quick that a gigabyte takes a microsecond.
const QUICK: f64 = 1e15;

fn ethernet(name: &str, rate_bytes_per_s: f64, count: u32, aggregation: Aggregation) -> Adapter {
    let kind = PortKind::Ethernet { mtu_bytes: 1500 };
    Adapter {
        name: name.into(),
        kind,
        rate_bytes_per_s,
        count,
        aggregation,
        latency_ns: 0.0,
        coalescing: Coalescing::default(),
    }
}

/// One host and one controller over networks; nothing costs CPU, disks take a microsecond.
fn site(protocol: Protocol, port: Adapter, networks: Vec<Network>) -> Site {
    let mut site = common::fibre_channel();
    site.hosts[0].count = 1;
    site.hosts[0].adapters = vec![port.clone()];
    site.stacks[0] = Stack { protocol, cost: Cost::default(), ..site.stacks[0].clone() };
    site.controllers[0].count = 1;
    site.controllers[0].costs = vec![(protocol, Cost::default())];
    site.controllers[0].ports = vec![port];
    site.groups[0] = DiskGroup {
        disks: 1,
        groups: 1,
        stripe_bytes: 1 << 40,
        device: Device::Queue(Queue {
            servers: 64,
            read_ns: 1000.0,
            write_ns: 1000.0,
            per_byte_ns: 0.0,
            per_written_byte_ns: 0.0,
            shared_per_byte_ns: 0.0,
            shared_per_written_byte_ns: 0.0,
            shared_per_io_ns: 0.0,
            shared_per_write_ns: 0.0,
            spread: Spread::Constant,
            service: Service::Single,
            write_cache: None,
            flush_ns: 0.0,
        }),
        ..site.groups[0].clone()
    };
    site.datastores[0].networks = (0..networks.len()).collect();
    site.networks = networks;
    site
}

fn network(rate_bytes_per_s: Option<f64>, latency_ns: f64) -> Network {
    let name = "line".into();
    Network {
        name,
        rate_bytes_per_s,
        latency_ns,
        buffer_bytes: None,
        label_bytes: 0,
        failover_ns: 0,
    }
}

fn quick(protocol: Protocol, networks: Vec<Network>) -> Site {
    site(protocol, ethernet("nic", QUICK, 1, Aggregation::ActiveBackup), networks)
}

fn of(machine: &Machine, kind: ComponentKind) -> ComponentUse {
    machine.usage().into_iter().find(|usage| usage.kind == kind).expect("a component")
}

fn close(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found} is not {expected}");
}

#[test]
fn each_r2t_is_one_round_trip() {
    let mut site = quick(Protocol::Iscsi, vec![network(None, 1e6)]);
    let mut takes = |initial_r2t, immediate_data, length_bytes| {
        let options = &mut site.stacks[0].options;
        *options = ProtocolOptions { initial_r2t, immediate_data, ..ProtocolOptions::default() };
        latency_ns(&site, Kind::Write, length_bytes) as f64 / 2e6
    };
    // 64 KiB unsolicited, 256 KiB an R2T.
    close(takes(false, true, 65536), 1.0, 0.002);
    close(takes(false, true, 65537), 2.0, 0.002);
    close(takes(false, true, 65536 + 262_144), 2.0, 0.002);
    close(takes(false, true, 65537 + 262_144), 3.0, 0.002);
    close(takes(true, false, 512), 2.0, 0.002);
    close(takes(true, true, 4096), 1.0, 0.002);
    assert!((latency_ns(&site, Kind::Read, 1 << 20) as f64 / 2e6 - 1.0).abs() < 0.002);
}

#[test]
fn fibre_channel_asks_for_each_write_and_nfs_for_none() {
    let mut port = ethernet("hba", QUICK, 1, Aggregation::ActiveBackup);
    port.kind = PortKind::FibreChannel { credits: 60_000 };
    let fc = site(Protocol::Fc, port, vec![network(None, 1e6)]);
    close(latency_ns(&fc, Kind::Write, 4096) as f64, 4e6, 0.002);
    close(latency_ns(&fc, Kind::Read, 4096) as f64, 2e6, 0.002);
    let nfs = quick(Protocol::Nfs, vec![network(None, 1e6)]);
    close(latency_ns(&nfs, Kind::Write, 4096) as f64, 2e6, 0.002);
}

#[test]
fn a_long_nfs_request_is_calls_side_by_side() {
    let site = quick(Protocol::Nfs, vec![network(None, 1e6)]);
    close(latency_ns(&site, Kind::Read, 1 << 20) as f64, 2e6, 0.002);
    let mut machine = machine(&site, 1);
    let rate = closed(&mut machine, (1, 4), Kind::Write, 256 << 10, 3_000_000_000);
    close(of(&machine, ComponentKind::Disks).visits as f64, 4.0 * 3.0 * rate, 0.02);
    let shares: f64 = machine.usage().iter().map(|usage| usage.response_share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    // Equal calls take equally long: nothing waits for the slowest.
    assert!(of(&machine, ComponentKind::Parts).response_share < 1e-3);
}

#[test]
fn jumbo_frames_save_the_cpu_packets() {
    let cost = Cost { per_packet_cycles: 2500.0, ..Cost::default() };
    let with = |mtu_bytes| {
        let mut site = quick(Protocol::Iscsi, vec![]);
        site.stacks[0].cost = cost;
        site.hosts[0].adapters[0].kind = PortKind::Ethernet { mtu_bytes };
        site.controllers[0].ports[0].kind = PortKind::Ethernet { mtu_bytes };
        latency_ns(&site, Kind::Read, 8192)
    };
    // 8192 + 48 bytes: 6 packets of 1448 or one of 8948; 2500 cycles at 2.5 GHz are a microsecond.
    assert_eq!(with(1500) - with(9000), 5000);
}

/// Nanoseconds that a request takes longer because the host's packets cost CPU.
fn spent_ns(
    (protocol, kind): (Protocol, Kind),
    coalescing: Coalescing,
    cost: Cost,
    length_bytes: u32,
) -> u64 {
    let port = ethernet("nic", 125e6, 1, Aggregation::ActiveBackup);
    let mut site = site(protocol, Adapter { coalescing, ..port }, vec![]);
    let free_ns = latency_ns(&site, kind, length_bytes);
    site.stacks[0].cost = cost;
    latency_ns(&site, kind, length_bytes) - free_ns
}

#[test]
fn packets_that_share_an_interrupt_cost_less_than_as_many_alone() {
    // A cycle is 0.4 ns.
    let cost = Cost { per_packet_cycles: 500.0, per_batch_cycles: 5000.0, ..Cost::default() };
    let with = |coalescing, length_bytes| {
        spent_ns((Protocol::Iscsi, Kind::Read), coalescing, cost, length_bytes)
    };
    let together = Coalescing { bytes: 65536, moderation_ns: 50e3 };
    // 4144 bytes are 3 packets: two arrive 23 us after the first. 8240 are 6: five arrive in 58 us, and
    // interrupts are 50 us apart. 65584 are 46, the last 545 us after the first.
    for (length_bytes, packets, batches) in [(4096, 3, 2), (8192, 6, 3), (65536, 46, 12)] {
        assert_eq!(with(Coalescing::default(), length_bytes), packets * 2200);
        assert_eq!(with(together, length_bytes), packets * 200 + batches * 2000);
    }
    assert!(with(together, 65536) < 16 * with(together, 4096) / 2, "it is proportional");
}

#[test]
fn what_is_sent_passes_the_stack_in_segments() {
    let cost = Cost { per_batch_cycles: 5000.0, ..Cost::default() };
    let with = |bytes| {
        let coalescing = Coalescing { bytes, moderation_ns: 0.0 };
        spent_ns((Protocol::Nfs, Kind::Write), coalescing, cost, 32768) / 2000
    };
    // The call is 32896 bytes in 23 packets, and the reply one. 64 KiB are 43 packets, 16 KiB ten.
    assert_eq!([with(0), with(65536), with(16384)], [23 + 1, 1 + 1, 3 + 1]);
}

#[test]
fn labels_take_their_share_of_a_line() {
    let with = |label_bytes| {
        let line = Network { label_bytes, ..network(Some(1e9), 0.0) };
        latency_ns(&quick(Protocol::Iscsi, vec![line]), Kind::Read, 65536)
    };
    // One packet of the request, and 65584 bytes in 46 of the answer; two labels are 8 bytes.
    assert_eq!(with(8) - with(0), 47 * 8);
}

#[test]
fn a_second_line_costs_a_packet_and_no_second_serialisation() {
    let over = |lines| {
        let line = network(Some(1e9), 0.0);
        latency_ns(&quick(Protocol::Iscsi, vec![line; lines]), Kind::Read, 65536)
    };
    // 65584 bytes and 90 around each of 46 packets; 48 and 90 of the request.
    close((over(1) - 1000) as f64, (65584 + 46 * 90 + 138) as f64, 1e-3);
    // A full packet of the answer, all of the request.
    assert_eq!(over(2) - over(1), 1538 + 138);
    assert_eq!(over(3) - over(2), 1538 + 138);
}

#[test]
fn a_flow_has_one_link_of_a_hash_and_all_of_round_robin() {
    let rate = |aggregation| {
        let port = ethernet("nic", 125e6, 2, aggregation);
        let mut machine = machine(&site(Protocol::Nfs, port, vec![]), 8);
        let rate = closed(&mut machine, (8, 4), Kind::Read, 65536, 2_000_000_000) * 65536.0;
        (rate, of(&machine, ComponentKind::HostPort))
    };
    let (hash, ports) = rate(Aggregation::Hash);
    assert!((105e6..125e6).contains(&hash), "{hash}");
    assert!(ports.utilisation_most > 0.97 && ports.utilisation < 0.26, "{ports:?}");
    let (both, ports) = rate(Aggregation::RoundRobin);
    assert!((210e6..250e6).contains(&both), "{both}");
    assert!(ports.utilisation > 0.47, "{ports:?}");
}

#[test]
fn flows_of_several_hosts_spread_over_a_hash() {
    let port = ethernet("nic", 125e6, 2, Aggregation::Hash);
    let mut site = site(Protocol::Nfs, port, vec![]);
    site.hosts[0].count = 16;
    let mut machine = machine(&site, 16);
    closed(&mut machine, (16, 4), Kind::Read, 65536, 2_000_000_000);
    let ports = of(&machine, ComponentKind::ControllerPort);
    // Both links send, neither receives much.
    assert!(ports.utilisation > 0.47, "{ports:?}");
}

#[test]
fn hosts_that_are_dealt_to_ports_have_one_each_whatever_the_protocol_and_policy() {
    let used = |hosts, policy, protocol| {
        let mut site = site(protocol, ethernet("nic", QUICK, 2, Aggregation::ActiveBackup), vec![]);
        site.hosts[0].count = hosts;
        site.controllers[0].ports[0] = ethernet("e", 125e6, 4, Aggregation::ByHost);
        site.stacks[0].path_switch_cycles = 25_000.0;
        site.datastores[0].policy = policy;
        let alone_ns = latency_ns(&site, Kind::Read, 4096);
        let mut machine = machine(&site, hosts);
        let bytes = closed(&mut machine, (hosts, 8), Kind::Read, 65536, 1_000_000_000) * 65536.0;
        (bytes, of(&machine, ComponentKind::ControllerPort).utilisation, alone_ns)
    };
    for protocol in [Protocol::Nfs, Protocol::Iscsi] {
        let (fixed, turns) = (PathPolicy::Fixed, PathPolicy::RoundRobin);
        for policy in [fixed, turns] {
            // One host has one port, of four that send and four that receive.
            for (hosts, ports) in [(1, 1.0), (2, 2.0), (3, 3.0), (8, 4.0)] {
                let (bytes, utilisation, _) = used(hosts, policy, protocol);
                assert!((0.9..1.0).contains(&(bytes / 125e6 / ports)), "{bytes} {hosts}");
                assert!((utilisation * 8.0 / ports - 1.0).abs() < 0.1, "{utilisation} {hosts}");
            }
        }
        // Its own ports are still paths.
        assert_eq!(used(1, turns, protocol).2 - used(1, fixed, protocol).2, 10_000);
    }
}

#[test]
fn round_robin_paths_cost_their_switch_and_use_every_port() {
    let with = |policy| {
        let mut site =
            site(Protocol::Iscsi, ethernet("nic", 125e6, 2, Aggregation::ActiveBackup), vec![]);
        site.stacks[0].path_switch_cycles = 25_000.0;
        site.datastores[0].policy = policy;
        site
    };
    let (fixed, turns) = (with(PathPolicy::Fixed), with(PathPolicy::RoundRobin));
    let read = |site| latency_ns(site, Kind::Read, 4096);
    assert_eq!(read(&turns) - read(&fixed), 10_000);
    let rate = |site: &Site| {
        closed(&mut machine(site, 8), (8, 4), Kind::Write, 65536, 1_000_000_000) * 65536.0
    };
    let (one, both) = (rate(&fixed), rate(&turns));
    assert!(one < 125e6 && both > 1.9 * one, "{one} {both}");
}

#[test]
fn paths_reach_every_port_of_a_target_that_has_more() {
    let mut site =
        site(Protocol::Iscsi, ethernet("nic", QUICK, 1, Aggregation::ActiveBackup), vec![]);
    site.controllers[0].ports[0] = ethernet("e", 125e6, 3, Aggregation::ActiveBackup);
    site.datastores[0].policy = PathPolicy::RoundRobin;
    let mut machine = machine(&site, 8);
    closed(&mut machine, (8, 4), Kind::Read, 65536, 2_000_000_000);
    let ports = of(&machine, ComponentKind::ControllerPort);
    assert!(ports.utilisation > 0.47, "{ports:?}");
}

#[test]
fn a_full_buffer_loses_messages_and_credits_do_not() {
    let lossy = Network { buffer_bytes: Some(256 << 10), ..network(Some(125e6), 1e5) };
    let rate = |site: &Site| {
        let mut machine = machine(site, 8);
        let rate = closed(&mut machine, (8, 4), Kind::Write, 65536, 2_000_000_000) * 65536.0;
        (rate, of(&machine, ComponentKind::Network).lost)
    };
    let (full, lost) = rate(&quick(Protocol::Nfs, vec![lossy.clone()]));
    assert!(lost > 0);
    let (enough, none) = rate(&quick(Protocol::Nfs, vec![network(Some(125e6), 1e5)]));
    assert_eq!(none, 0);
    assert!(full <= enough && full > 0.9 * enough, "{full} {enough}");
    let mut port = ethernet("hba", QUICK, 1, Aggregation::ActiveBackup);
    port.kind = PortKind::FibreChannel { credits: 60_000 };
    assert_eq!(rate(&site(Protocol::Fc, port, vec![lossy])).1, 0);
}

#[test]
fn credits_limit_a_long_way() {
    let mut port = ethernet("hba", 425e6, 1, Aggregation::ActiveBackup);
    port.kind = PortKind::FibreChannel { credits: 16 };
    let site = site(Protocol::Fc, port, vec![network(None, 1e6)]);
    let mut machine = machine(&site, 8);
    let rate = closed(&mut machine, (8, 4), Kind::Read, 65536, 4_000_000_000) * 65536.0;
    // 16 frames of 2112 bytes per 2 ms plus a frame's time; the last frame of 32 is not full, and a
    // response is a separate one.
    let frames = 16.0 / (2e-3 + 2172.0 / 425e6);
    close(rate, frames / 33.0 * 65536.0, 0.03);
    // A few frames pass without waiting.
    let alone = latency_ns(&site, Kind::Read, 4096) as f64;
    close(alone, 2e6, 0.02);
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let port = ethernet("nic", 125e6, 2, Aggregation::RoundRobin);
    let lossy = Network { buffer_bytes: Some(64 << 10), ..network(Some(125e6), 1e5) };
    let site = site(Protocol::Nfs, port, vec![lossy]);
    let run = || {
        let mut machine = machine(&site, 4);
        let rate = closed(&mut machine, (4, 4), Kind::Read, 100_000, 1_000_000_000);
        (rate, machine.events(), machine.usage())
    };
    assert_eq!(run(), run());
}
