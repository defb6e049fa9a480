//! A distributed datastore that lost a node or a device: what is copied again, where to, and how the
//! load is affected.

mod common;

use common::device::device;
use common::single::*;
use stormeter_disk::{Disks, Kind, Operation};
use stormeter_simulator::{ComponentKind, Machine, ResyncUse};
use stormeter_site::*;
use stormeter_trial::ModelNote;
use stormeter_units::format_bytes;

const SECOND: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

/// This many nodes with two capacity devices each behind one flash, two replicas, repaired at once.
fn cluster(nodes: u32) -> Site {
    let mut site = common::fibre_channel();
    let cost = Cost { per_read_cycles: 25_000.0, per_write_cycles: 25_000.0, ..Cost::default() };
    site.hosts[0].count = nodes;
    site.hosts[0].name = "server".into();
    site.hosts[0].adapters = vec![Adapter {
        name: "nic".into(),
        kind: PortKind::Ethernet { mtu_bytes: 9000 },
        rate_bytes_per_s: 1250e6,
        count: 1,
        aggregation: Aggregation::ActiveBackup,
        latency_ns: 10_000.0,
        coalescing: Coalescing::default(),
    }];
    site.stacks[0] = Stack { protocol: Protocol::Local, cost, ..site.stacks[0].clone() };
    site.clusters = vec![Cluster {
        capacity_per_group: 2,
        cache: device(8, 50_000.0, 1.0),
        capacity: device(1, 100_000.0, 2.0),
        hits: Hits::Share(0.0),
        write_buffer_bytes: 8 << 30,
        ..common::cluster::bare_cluster(cost)
    }];
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes: 1, replicas: 2 };
    site
}

/// The notes about bytes; the note that a lost node's VMs continue is separate.
fn said(machine: &Machine) -> Vec<ModelNote> {
    let is_of_bytes = |note: &ModelNote| !matches!(note, ModelNote::NodeLost { .. });
    machine.notes().into_iter().filter(is_of_bytes).collect()
}

/// A machine with this many VMs, of 1 GiB each, with faults.
fn broken(site: &Site, vms: u32, faults: &[&str]) -> Machine {
    let mut machine = machine(site, vms);
    let read = |text: &&str| site_fault(text, site).expect("a fault");
    machine.schedule(&faults.iter().map(read).collect::<Vec<_>>()).expect("scheduled");
    machine
}

/// Waits until a time without any load.
fn idle(machine: &mut Machine, until_ns: u64) {
    let left_ns = until_ns - machine.time().now_ns();
    assert!(reap(machine, left_ns).is_empty());
}

fn resync_use(machine: &Machine) -> ResyncUse {
    machine.resync().expect("a distributed datastore")
}

/// Completions per tenth of a second at queue depth one per VM, and how many failed.
fn seen(machine: &mut Machine, vms: u32, kind: Kind, until_ns: u64) -> (Vec<u32>, u32) {
    let mut ended = vec![0; (until_ns / (SECOND / 10)) as usize + 1];
    let (mut failed, mut turn) = (0, 0);
    let mut operation = |slot: u32| {
        turn += 1;
        let offset_bytes = turn * 7919 % 262_144 * 4096;
        Operation { slot, disk: slot, kind, offset_bytes, length_bytes: 4096, buffer: 0 }
    };
    let first: Vec<Operation> = (0..vms).map(&mut operation).collect();
    machine.submit(&first).expect("submitted");
    while machine.time().now_ns() < until_ns {
        let left_ns = until_ns - machine.time().now_ns();
        for done in reap(machine, left_ns) {
            ended[(machine.time().now_ns() / (SECOND / 10)) as usize] += 1;
            failed += u32::from(done.result < 0);
            machine.submit(&[operation(done.slot)]).expect("submitted");
        }
    }
    (ended, failed)
}

fn visits(machine: &Machine, name: &str) -> u64 {
    let uses = machine.usage();
    uses.iter().filter(|usage| usage.name == name).map(|usage| usage.visits).sum()
}

#[test]
fn what_was_lost_is_copied_once_over_the_wire_into_flash_and_on() {
    // Eight VMs: 16 pieces of 1 GiB over four nodes with two devices.
    for (fault, lost) in [("kill server.1 at 1s", 4 * GIB), ("disk-fail vsan 3 at 1s", 2 * GIB)] {
        let mut machine = broken(&cluster(4), 8, &[fault]);
        idle(&mut machine, SECOND - 1);
        assert_eq!(resync_use(&machine), ResyncUse::default());
        idle(&mut machine, 30 * SECOND);
        machine.end_window();
        let all = ResyncUse { lost_bytes: lost, copied_bytes: lost, ..ResyncUse::default() };
        assert_eq!(resync_use(&machine), all, "{fault}");
        assert_eq!(said(&machine), []);
        // Each chunk is read once and written once to a capacity device, and in between written to
        // flash and read from it.
        let chunks = lost >> 20;
        assert_eq!(visits(&machine, "vsan capacity"), 2 * chunks);
        assert_eq!(visits(&machine, "vsan flash"), 2 * chunks);
        let uses = machine.usage();
        let busy_of = |kind| {
            let mut of_kind = uses.iter().filter(|usage| usage.kind == kind);
            of_kind.next().map_or(0.0, |usage| usage.busy_ns as f64 / 1e9)
        };
        // Sent and received, with headers.
        let wire_s = 2.0 * lost as f64 / 1250e6;
        let ports = busy_of(ComponentKind::HostPort);
        assert!((1.0..1.03).contains(&(ports / wire_s)), "{ports} {wire_s}");
        assert!(busy_of(ComponentKind::HostCpu) > 0.0);
        // It is not part of any response time.
        assert!(uses.iter().all(|usage| usage.response_share <= 0.0), "{uses:?}");
    }
}

#[test]
fn nodes_copy_among_themselves_where_others_are_the_hosts() {
    let mut site = cluster(4);
    let client = HostGroup { name: "client".into(), ..site.hosts[0].clone() };
    site.hosts.push(client);
    site.datastores[0].hosts = 1;
    let mut machine = broken(&site, 8, &["kill server.1 at 1s"]);
    idle(&mut machine, 30 * SECOND);
    assert_eq!(resync_use(&machine).copied_bytes, 4 * GIB);
    machine.end_window();
    let [of_nodes, of_clients] = ["server nic", "client nic"].map(|name| visits(&machine, name));
    assert!(of_nodes > 0 && of_clients == 0, "{of_nodes} {of_clients}");
}

#[test]
fn after_it_any_other_node_may_be_lost() {
    for next in [0, 2, 3] {
        let second = format!("kill server.{next} at 40s");
        for kind in [Kind::Read, Kind::Write] {
            let faults = ["kill server.1 at 1s", second.as_str()];
            let mut machine = broken(&cluster(4), 8, &faults);
            idle(&mut machine, 39 * SECOND);
            let (_, failed) = seen(&mut machine, 8, kind, 41 * SECOND);
            assert_eq!(failed, 0, "{second}");
        }
    }
    // While the first is still waited for, some bytes were only there.
    let mut site = cluster(4);
    site.clusters[0].repair_delay_ns = 3600 * SECOND;
    let mut failed = 0;
    for next in [0, 2, 3] {
        let second = format!("kill server.{next} at 40s");
        let mut machine = broken(&site, 8, &["kill server.1 at 1s", second.as_str()]);
        idle(&mut machine, 39 * SECOND);
        failed += seen(&mut machine, 8, Kind::Read, 41 * SECOND).1;
        assert_eq!(resync_use(&machine).copied_bytes, 0);
    }
    assert!(failed > 0);
}

#[test]
fn writes_go_to_a_copy_as_far_as_it_has_come() {
    let mut site = cluster(4);
    site.clusters[0].resync_bytes_per_s = Some(1e6);
    let flash = |offset_bytes: Option<u64>| {
        let mut machine = broken(&site, 8, &["kill server.1 at 1s"]);
        idle(&mut machine, 4 * SECOND);
        for disk in 0..8 {
            let Some(offset_bytes) = offset_bytes else { continue };
            submit(&mut machine, disk, Kind::Write, offset_bytes, 4096);
            assert_eq!(reap(&mut machine, SECOND / 100).len(), 1);
        }
        idle(&mut machine, 5 * SECOND);
        machine.end_window();
        visits(&machine, "vsan flash")
    };
    let (alone, far, near) = (flash(None), flash(Some(GIB / 2)), flash(Some(0)));
    // Eight writes to two replicas, four of which are lost; each is written to flash and read from it.
    assert_eq!(far - alone, 2 * (16 - 4));
    // Three nodes copy one piece each.
    assert_eq!(near - far, 2 * 3);
}

#[test]
fn the_load_is_slower_while_it_runs_and_as_fast_as_before_when_it_is_over() {
    let rates = |site: &Site, kind| {
        let mut machine = broken(site, 8, &["disk-fail vsan 3 at 1s"]);
        // A light load: a device less is hardly seen, only who is in its way.
        let (ended, failed) = seen(&mut machine, 3, kind, 8 * SECOND);
        assert_eq!(failed, 0);
        let mean = |from: usize, to: usize| {
            ended[from..to].iter().sum::<u32>() as f64 / (to - from) as f64
        };
        (resync_use(&machine), mean(2, 10), mean(12, 17), mean(70, 80))
    };
    for kind in [Kind::Read, Kind::Write] {
        let (resync, before, during, after) = rates(&cluster(4), kind);
        assert_eq!((resync.copied_bytes, resync.left_bytes), (2 * GIB, 0), "{kind:?}");
        assert!(during < 0.9 * before, "{kind:?}: {before} {during}");
        assert!((after / before - 1.0).abs() < 0.08, "{kind:?}: {before} {after}");
    }
    // A lower rate disturbs less, and takes longer.
    let mut slow = cluster(4);
    slow.clusters[0].resync_bytes_per_s = Some(20e6);
    let (resync, before, during, _) = rates(&slow, Kind::Read);
    assert!(during > 0.9 * before, "{before} {during}");
    assert!(resync.left_bytes > 0, "{resync:?}");
}

#[test]
fn a_node_takes_no_more_than_its_rate_and_not_before_the_delay_is_over() {
    let mut site = cluster(4);
    site.clusters[0].resync_bytes_per_s = Some(100e6);
    site.clusters[0].repair_delay_ns = 2 * SECOND;
    let mut machine = broken(&site, 8, &["kill server.1 at 1s"]);
    idle(&mut machine, 3 * SECOND - 1);
    assert_eq!(resync_use(&machine).lost_bytes, 0);
    idle(&mut machine, 5 * SECOND);
    // Three nodes are left, and each takes one or two pieces: 200 MB in two seconds.
    let copied = resync_use(&machine).copied_bytes as f64;
    assert!(copied > 0.97 * 600e6 && copied < 1.01 * 600e6, "{copied}");
    machine.end_window();
    let notes = said(&machine);
    let [ModelNote::Resyncing { storage, bytes }] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!((storage.as_str(), &format_bytes(*bytes)[..3]), ("vsan", "3.4"));
    let mut machine = broken(&site, 8, &["kill server.1 at 1s"]);
    idle(&mut machine, 2 * SECOND);
    machine.end_window();
    assert_eq!(
        said(&machine),
        [ModelNote::RepairDelayed { storage: "vsan".into(), bytes: 4 * GIB }]
    );
    // A broken device does not come back: the cluster does not wait for it.
    let mut machine = broken(&site, 8, &["disk-fail vsan 3 at 1s"]);
    idle(&mut machine, 2 * SECOND);
    assert!(resync_use(&machine).copied_bytes > 0);
}

#[test]
fn a_node_that_is_back_has_what_is_not_copied_yet() {
    let mut site = cluster(4);
    site.clusters[0].repair_delay_ns = 2 * SECOND;
    let mut machine = broken(&site, 8, &["kill server.1 at 1s for 1s"]);
    idle(&mut machine, 10 * SECOND);
    assert_eq!(resync_use(&machine), ResyncUse::default());
    site.clusters[0].resync_bytes_per_s = Some(200e6);
    let mut machine = broken(&site, 8, &["kill server.1 at 1s for 4s"]);
    idle(&mut machine, 5 * SECOND - 1);
    assert!(resync_use(&machine).left_bytes > 0);
    idle(&mut machine, 6 * SECOND);
    let then = resync_use(&machine);
    assert_eq!((then.lost_bytes, then.left_bytes), (4 * GIB, 0));
    let (_, failed) = seen(&mut machine, 8, Kind::Read, 7 * SECOND);
    assert_eq!((resync_use(&machine), failed), (then, 0));
}

#[test]
fn a_taker_that_is_lost_itself_is_replaced() {
    let mut begun_again = 0;
    for disk in [0, 1, 4, 5, 6, 7, 8, 9] {
        let second = format!("disk-fail vsan {disk} at 1500ms");
        let faults = ["kill server.1 at 1s", second.as_str()];
        let mut machine = broken(&cluster(5), 10, &faults);
        idle(&mut machine, 40 * SECOND);
        let then = resync_use(&machine);
        assert_eq!((then.left_bytes, then.no_room_bytes), (0, 0), "{then:?}");
        if then.gone_bytes > 0 {
            // It had the other replica.
            continue;
        }
        assert!(then.copied_bytes >= then.lost_bytes && then.lost_bytes > 4 * GIB, "{then:?}");
        begun_again += u32::from(then.copied_bytes > then.lost_bytes);
        let (_, failed) = seen(&mut machine, 10, Kind::Read, 41 * SECOND);
        assert_eq!(failed, 0);
    }
    assert!(begun_again > 0);
}

#[test]
fn a_port_that_is_down_delays_a_copy_and_no_more() {
    let mut site = cluster(4);
    site.networks[0].failover_ns = SECOND / 10;
    let faults = ["kill server.1 at 1s", "path-down server.nic 0 at 2s for 1s"];
    let mut machine = broken(&site, 8, &faults);
    idle(&mut machine, 30 * SECOND);
    let then = resync_use(&machine);
    assert_eq!((then.lost_bytes, then.copied_bytes, then.left_bytes), (4 * GIB, 4 * GIB, 0));
}

#[test]
fn where_no_other_node_can_take_it_nothing_is_copied_and_that_is_said() {
    let mut machine = broken(&cluster(2), 8, &["kill server.1 at 1s"]);
    let (_, failed) = seen(&mut machine, 8, Kind::Read, 3 * SECOND);
    assert_eq!(failed, 0);
    let expected =
        ResyncUse { lost_bytes: 8 * GIB, no_room_bytes: 8 * GIB, ..ResyncUse::default() };
    assert_eq!(resync_use(&machine), expected);
    machine.end_window();
    assert_eq!(said(&machine), [ModelNote::NoNodeLeft { storage: "vsan".into(), bytes: 8 * GIB }]);
    // The other device of the same node may take what one had.
    let mut machine = broken(&cluster(2), 8, &["disk-fail vsan 3 at 1s"]);
    idle(&mut machine, 30 * SECOND);
    assert_eq!(resync_use(&machine).copied_bytes, 4 * GIB);
    // One replica: nothing is left to copy from.
    let mut site = cluster(4);
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes: 1, replicas: 1 };
    let mut machine = broken(&site, 8, &["disk-fail vsan 3 at 1s"]);
    idle(&mut machine, 2 * SECOND);
    assert_eq!(resync_use(&machine).gone_bytes, resync_use(&machine).lost_bytes);
    machine.end_window();
    let gone = ModelNote::NoReplicaLeft { storage: "vsan".into(), bytes: GIB };
    assert_eq!(said(&machine), [gone]);
}

#[test]
fn a_full_device_takes_nothing() {
    let mut site = cluster(3);
    // Space for three pieces per device; 16 pieces are on six devices, two or three each.
    site.clusters[0].capacity = Device::Ssd(Ssd {
        queue_depth: 32,
        channels: 8,
        page_bytes: 8192,
        read_ns: 60e3,
        program_ns: 600e3,
        erase_ns: 3e6,
        pages_per_block: 256,
        spare_share: 0.07,
        filled_share: 0.5,
        capacity_bytes: 3 * GIB,
        interface_bytes_per_s: 500e6,
        overhead_ns: 15e3,
        write_buffer_bytes: 0,
        power_loss_protection: true,
    });
    let mut machine = broken(&site, 8, &["kill server.1 at 1s"]);
    idle(&mut machine, 60 * SECOND);
    let then = resync_use(&machine);
    // Four devices with space for 12 have 10 or 11.
    assert!(then.copied_bytes <= 2 * GIB && then.copied_bytes > 0, "{then:?}");
    assert_eq!(then.copied_bytes + then.no_room_bytes, then.lost_bytes);
}

#[test]
fn the_same_seed_gives_the_same_copies() {
    let run = || {
        let mut machine = broken(&cluster(4), 8, &["kill server.1 at 1s"]);
        let (ended, _) = seen(&mut machine, 8, Kind::Write, 4 * SECOND);
        (ended, resync_use(&machine), machine.events(), machine.usage())
    };
    assert_eq!(run(), run());
}
