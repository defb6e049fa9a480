//! A distributed datastore: the effect of its nodes, links, stripes and replicas.

mod common;

use common::device::device;
use common::single::*;
use stormeter_disk::Kind;
use stormeter_simulator::{ComponentKind, ComponentUse, Machine, MachineError, Window};
use stormeter_site::*;
use stormeter_trial::ModelNote;

const SECOND: u64 = 1_000_000_000;

/// Four nodes of two disk groups with three capacity devices; all flash.
fn cluster(nics: u32, stripes: u32, replicas: u32) -> Site {
    let mut site = common::fibre_channel();
    let cost = Cost { per_read_cycles: 25_000.0, per_write_cycles: 25_000.0, ..Cost::default() };
    site.hosts[0].count = 4;
    site.hosts[0].name = "server".into();
    site.hosts[0].adapters = vec![Adapter {
        name: "nic".into(),
        kind: PortKind::Ethernet { mtu_bytes: 1500 },
        rate_bytes_per_s: 125e6,
        count: nics,
        aggregation: Aggregation::RoundRobin,
        latency_ns: 10_000.0,
        coalescing: Coalescing::default(),
    }];
    site.stacks[0] = Stack { protocol: Protocol::Local, cost, ..site.stacks[0].clone() };
    site.clusters = vec![Cluster {
        groups_per_node: 2,
        capacity_per_group: 3,
        cache: device(8, 50_000.0, 1.0),
        capacity: device(1, 100_000.0, 2.0),
        ..common::cluster::bare_cluster(cost)
    }];
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes, replicas };
    site
}

fn rate(site: &Site, (vms, outstanding): (u32, u32), kind: Kind, bytes: u32) -> (f64, Machine) {
    let mut machine = machine(site, vms);
    let rate = closed(&mut machine, (vms, outstanding), kind, bytes, SECOND / 2);
    (rate, machine)
}

#[test]
fn another_link_brings_nothing_where_the_node_is_the_limit() {
    let with = |nics, bytes, cycles| {
        let mut site = cluster(nics, 1, 2);
        site.clusters[0].cost.per_read_cycles = cycles;
        rate(&site, (16, 8), Kind::Read, bytes).0
    };
    // 2 ms of CPU per request: 8 cores of 4 nodes give 16000 per second, far below the links.
    let (two, three) = (with(2, 4096, 5e6), with(3, 4096, 5e6));
    assert!((three / two - 1.0).abs() < 0.02, "{two} {three}");
    assert!(two > 14_000.0 && two < 16_000.0, "{two}");
    // Where the links are the limit, more of them help.
    let (one, two) = (with(1, 262_144, 0.0), with(2, 262_144, 0.0));
    assert!(two > 1.3 * one, "{one} {two}");
}

#[test]
fn stripes_raise_large_reads_over_several_nodes() {
    let with = |stripes| {
        let mut site = cluster(4, stripes, 1);
        site.hosts[0].adapters[0].rate_bytes_per_s = 1250e6;
        rate(&site, (1, 1), Kind::Read, 4 << 20).0
    };
    let (one, three, many) = (with(1), with(3), with(12));
    assert!(three > 1.5 * one, "{one} {three}");
    assert!(many >= three, "{three} {many}");
    // Small ones have one stripe and gain nothing.
    let small = |stripes| rate(&cluster(4, stripes, 1), (1, 1), Kind::Read, 4096).0;
    assert!(small(3) < 1.2 * small(1), "{} {}", small(1), small(3));
}

#[test]
fn reads_from_the_first_replica_use_one_device_of_two() {
    let with = |reads, distribution| {
        let mut site = cluster(4, 1, 2);
        site.clusters[0].reads = reads;
        site.clusters[0].distribution = distribution;
        site.clusters[0].capacity = device(1, 10_000_000.0, 0.0);
        site.clusters[0].hits = Hits::Share(0.0);
        rate(&site, (1, 8), Kind::Read, 4096).0
    };
    for distribution in [Distribution::Even, Distribution::Hash] {
        let all = with(ReplicaReads::All, distribution);
        let first = with(ReplicaReads::Primary, distribution);
        assert!((1.8..2.05).contains(&(all / first)), "{all} {first}");
    }
}

#[test]
fn replicas_make_writes_slower() {
    let with = |replicas| rate(&cluster(2, 1, replicas), (40, 2), Kind::Write, 65536).0;
    let (one, two) = (with(1), with(2));
    assert!(two < 0.8 * one, "{one} {two}");
    let three = with(3);
    assert!(three < two, "{two} {three}");
}

#[test]
fn all_time_of_a_response_has_a_component() {
    let (_, machine) = rate(&cluster(2, 2, 2), (8, 8), Kind::Write, 2 << 20);
    let uses = machine.usage();
    let shares: f64 = uses.iter().map(|usage| usage.response_share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let slowest = uses.iter().find(|usage| usage.kind == ComponentKind::Parts).expect("parts");
    assert!(slowest.response_share > 0.01 && slowest.response_share < 0.7, "{slowest:?}");
    // Writes complete in flash.
    assert!(named(&machine, "vsan flash").response_share > 0.0);
    assert_eq!(named(&machine, "vsan capacity").response_share, 0.0);
}

#[test]
fn a_full_write_buffer_is_as_fast_as_what_drains_it() {
    let mut site = cluster(4, 1, 1);
    site.clusters[0].write_buffer_bytes = 1 << 20;
    let (full, machine) = rate(&site, (24, 4), Kind::Write, 4096);
    // 24 capacity devices with 108 us per run.
    let most = 24.0 / 108e-6;
    assert!(full < 1.02 * most && full > 0.5 * most, "{full} {most}");
    let disks = named(&machine, "vsan capacity");
    assert!(disks.utilisation_most > 0.95, "{disks:?}");
    // And it is reported: writes spend most of their time in front of a buffer without space.
    let (buffer, flash) = (named(&machine, "vsan cache"), named(&machine, "vsan flash"));
    assert_eq!((buffer.kind, flash.kind), (ComponentKind::Cache, ComponentKind::Disks));
    assert!(buffer.utilisation_most > 0.95 && buffer.response_share > 0.5, "{buffer:?}");
    assert!(buffer.queue_mean > 10.0 && flash.response_share < 0.2, "{buffer:?} {flash:?}");
    site.clusters[0].write_buffer_bytes = 1 << 40;
    let (roomy, machine) = rate(&site, (24, 4), Kind::Write, 4096);
    assert!(roomy > full);
    let buffer = named(&machine, "vsan cache");
    assert!(buffer.utilisation_most < 0.01 && buffer.response_share <= 0.0, "{buffer:?}");
}

#[test]
fn flash_that_answers_all_it_can_is_a_full_device() {
    let mut site = cluster(4, 1, 1);
    site.clusters[0].cache = device(1, 200_000.0, 0.0);
    site.clusters[0].read_cache_bytes = 1 << 30;
    site.clusters[0].hits = Hits::Share(1.0);
    let (found, machine) = rate(&site, (24, 8), Kind::Read, 4096);
    // Eight devices of 200 us.
    assert!(found > 0.9 * 40_000.0 && found <= 40_000.0, "{found}");
    let flash = named(&machine, "vsan flash");
    assert_eq!(flash.kind, ComponentKind::Disks);
    assert!(flash.utilisation_most > 0.95 && flash.response_share > 0.8, "{flash:?}");
    let buffer = named(&machine, "vsan cache");
    assert_eq!((buffer.utilisation_most, buffer.response_share), (0.0, 0.0));
    // Without a buffer there is none to report.
    site.clusters[0].write_buffer_bytes = 0;
    let (_, machine) = rate(&site, (24, 8), Kind::Read, 4096);
    assert!(machine.usage().iter().all(|usage| usage.kind != ComponentKind::Cache));
}

#[test]
fn bytes_move_on_when_the_flash_has_them() {
    let mut site = cluster(4, 1, 1);
    site.clusters[0].cache = device(8, 10e6, 0.0);
    let mut machine = machine(&site, 1);
    submit(&mut machine, 0, Kind::Write, 0, 4096);
    // The path takes far less than the 10 ms of the flash.
    assert_eq!(reap(&mut machine, 9_000_000).len(), 0);
    machine.end_window();
    assert_eq!(named(&machine, "vsan flash").visits, 1);
    // The flash is written, read, and the capacity device written: 10, 10 and 0.1 ms.
    let mut machine = self::machine(&site, 1);
    submit(&mut machine, 0, Kind::Write, 0, 4096);
    assert_eq!(reap(&mut machine, 15_000_000).len(), 1);
    assert!(reap(&mut machine, 4_000_000).is_empty());
    machine.end_window();
    let found = ["vsan flash", "vsan capacity"].map(|name| named(&machine, name).visits);
    assert_eq!(found, [2, 0]);
}

fn named(machine: &Machine, name: &str) -> ComponentUse {
    machine.usage().into_iter().find(|usage| usage.name == name).expect("a component")
}

#[test]
fn a_window_in_which_buffers_fill_says_so() {
    // More arrives than 24 capacity devices of 108 us can take.
    let (_, mut machine) = rate(&cluster(4, 1, 1), (24, 16), Kind::Write, 4096);
    machine.end_window();
    let notes = machine.notes();
    let is_filling = |note: &ModelNote| matches!(note, ModelNote::StillFilling { component, went_bytes: 1.., .. } if component == "vsan cache");
    assert!(notes.len() == 1 && is_filling(&notes[0]), "{notes:?}");
    // One that is full does not fill any more, and one that keeps up never fills.
    let mut site = cluster(4, 1, 1);
    site.clusters[0].write_buffer_bytes = 1 << 16;
    let (_, mut machine) = rate(&site, (24, 16), Kind::Write, 4096);
    machine.end_window();
    assert_eq!(machine.notes(), []);
    let (_, mut machine) = rate(&cluster(4, 1, 1), (1, 1), Kind::Write, 4096);
    machine.end_window();
    assert_eq!(machine.notes(), []);
}

#[test]
fn a_read_cache_answers_its_share() {
    let mut site = cluster(4, 1, 2);
    let misses = |site: &Site| {
        let (rate, machine) = rate(site, (8, 4), Kind::Read, 4096);
        named(&machine, "vsan capacity").visits as f64 / (0.5 * rate)
    };
    assert!((misses(&site) - 1.0).abs() < 0.02);
    // 8 GiB of working set, 8 groups: 512 MiB each are a half.
    site.clusters[0].read_cache_bytes = 512 << 20;
    assert!((misses(&site) - 0.5).abs() < 0.02);
    site.clusters[0].hits = Hits::Share(0.9);
    assert!((misses(&site) - 0.1).abs() < 0.02);
}

#[test]
fn replicas_need_as_many_nodes() {
    let window = Window { from_ns: 0, interval_ns: 1_000_000_000 };
    let error = Machine::new(&cluster(1, 1, 5), 0, load(4), window, 1).expect_err("too few");
    assert!(matches!(error, MachineError::TooFewNodes { nodes: 4, replicas: 5, .. }), "{error}");
}

#[test]
fn pieces_have_a_limit_that_is_reported() {
    // 65536 stripes of 65536 disks: 2^32 pieces.
    let window = Window { from_ns: 0, interval_ns: SECOND };
    let error =
        Machine::new(&cluster(1, 1 << 16, 1), 0, load(1 << 16), window, 1).expect_err("too many");
    assert_eq!(
        error.to_string(),
        "65536 virtual disks of 65536 stripes with 1 replicas on vsan are more than 16000000 pieces, \
         which is what a machine keeps track of; ask for fewer VMs, stripes or replicas"
    );
}

#[test]
fn virtual_disks_need_room_for_all_replicas() {
    let mut site = cluster(1, 1, 2);
    site.clusters[0].capacity = Device::Ssd(Ssd {
        channels: 8,
        page_bytes: 8192,
        read_ns: 60e3,
        program_ns: 600e3,
        erase_ns: 3e6,
        pages_per_block: 256,
        spare_share: 0.07,
        filled_share: 0.5,
        capacity_bytes: 1 << 30,
        interface_bytes_per_s: 500e6,
        overhead_ns: 15e3,
        queue_depth: 32,
        write_buffer_bytes: 0,
        power_loss_protection: true,
    });
    let window = Window { from_ns: 0, interval_ns: SECOND };
    // 24 devices of 1 GiB can hold 12 disks of 1 GiB twice, but not 13.
    let error = Machine::new(&site, 0, load(13), window, 1).expect_err("no room");
    assert_eq!(
        error.to_string(),
        "13 virtual disks of 1GiB do not fit on vsan with 2 replicas, which has 24GiB; make them \
         smaller or add disks"
    );
}

#[test]
fn hosts_need_not_be_nodes() {
    let mut site = cluster(2, 1, 2);
    let mut clients = site.hosts[0].clone();
    clients.name = "client".into();
    clients.count = 2;
    site.hosts.push(clients);
    let (own, _) = rate(&site, (8, 8), Kind::Read, 65536);
    site.datastores[0].hosts = 1;
    let (others, machine) = rate(&site, (8, 8), Kind::Read, 65536);
    // Two hosts with two links: everything goes over them.
    assert!(others < 500e6 / 65536.0 && others < own, "{own} {others}");
    let uses = machine.usage();
    let cpus = uses.iter().filter(|usage| usage.name.ends_with(" cpu"));
    assert_eq!(cpus.map(|usage| usage.units).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        let (rate, machine) = rate(&cluster(2, 3, 2), (8, 4), Kind::Write, 65536);
        (rate, machine.events(), machine.usage())
    };
    assert_eq!(run(), run());
}

#[test]
fn on_a_site_as_it_was_built_every_seed_finds_the_same_ports_and_places() {
    // Three flows of one VM over two ports: which of them share one matters.
    let spread = |as_built| {
        let mut site = cluster(2, 3, 1);
        site.hosts[0].adapters[0].aggregation = Aggregation::Hash;
        site.as_built = as_built;
        let rates = (1..=12).map(|seed| {
            let window = Window { from_ns: 0, interval_ns: SECOND };
            let mut machine = Machine::new(&site, 0, load(1), window, seed).expect("a machine");
            closed(&mut machine, (1, 16), Kind::Read, 65536, SECOND / 2)
        });
        let (least, most) = rates.fold((f64::MAX, 0.0), |(least, most): (f64, f64), rate| {
            (least.min(rate), most.max(rate))
        });
        most / least
    };
    assert!(spread(None) > 1.4, "{}", spread(None));
    for number in [1, 2] {
        assert!(spread(Some(number)) < 1.1, "{}", spread(Some(number)));
    }
}
