//! Faults at given times: the effect of failing paths, lines, disks and nodes.

mod common;

use common::device::device;
use common::single::*;
use stormeter_disk::{Disks, Kind, Operation};
use stormeter_fault::FaultSpec;
use stormeter_simulator::{Broken, FaultError, FaultNameError, Machine, SiteFault, Window};
use stormeter_site::*;
use stormeter_trial::{Loss, ModelNote};

const SECOND: u64 = 1_000_000_000;

/// One host and one controller with two ports each, failures noticed after half a second.
fn fibre_channel(policy: PathPolicy) -> Site {
    let mut site = common::fibre_channel();
    site.hosts[0].count = 1;
    site.controllers[0].count = 1;
    site.networks[0].failover_ns = SECOND / 2;
    site.datastores[0].policy = policy;
    site.groups[0].device = device(8, 1e6, 0.0);
    site
}

fn with_fault(site: &Site, fault: &str) -> Machine {
    let mut machine = machine(site, 2);
    let fault = site_fault(fault, site).expect("a fault");
    machine.schedule(&[fault]).expect("scheduled");
    machine
}

/// How a load with queue depth eight fared until three seconds: completions per tenth of a second,
/// the longest request, and how many failed.
fn seen(machine: &mut Machine, kind: Kind) -> (Vec<u32>, u64, u32) {
    let mut ended = vec![0; 31];
    let (mut longest_ns, mut failed) = (0, 0);
    let mut started_ns = [0; 8];
    let operation = |slot: u32, turn: u64| Operation {
        slot,
        disk: slot % 2,
        kind,
        offset_bytes: turn * 7919 % 4096 * 65536,
        length_bytes: 4096,
        buffer: 0,
    };
    for slot in 0..8 {
        machine.submit(&[operation(slot, u64::from(slot))]).expect("submitted");
    }
    let mut turn = 8;
    while machine.time().now_ns() < 3 * SECOND {
        let left_ns = 3 * SECOND - machine.time().now_ns();
        for done in reap(machine, left_ns) {
            let now_ns = machine.time().now_ns();
            ended[(now_ns / (SECOND / 10)) as usize] += 1;
            failed += u32::from(done.result < 0);
            let slot = done.slot as usize;
            longest_ns = longest_ns.max(now_ns - started_ns[slot]);
            started_ns[slot] = now_ns;
            turn += 1;
            machine.submit(&[operation(done.slot, turn)]).expect("submitted");
        }
    }
    (ended, longest_ns, failed)
}

fn about(found_ns: u64, expected_ns: u64) {
    let far = found_ns.abs_diff(expected_ns);
    assert!(far < 20_000_000, "{found_ns} is not about {expected_ns}");
}

#[test]
fn a_fixed_path_that_fails_is_silent_until_the_other_takes_over() {
    for fault in ["path-down host.hba 0 at 1s", "path-down filer.fc 0 at 1s for 1s"] {
        let mut machine = with_fault(&fibre_channel(PathPolicy::Fixed), fault);
        let (ended, longest_ns, failed) = seen(&mut machine, Kind::Read);
        about(longest_ns, SECOND / 2);
        assert_eq!(failed, 0);
        assert_eq!(ended[11..14], [0; 3], "{fault}: {ended:?}");
        let (before, after) = (ended[5], ended[20]);
        assert!(before > 500 && after.abs_diff(before) < before / 20, "{fault}: {ended:?}");
    }
}

#[test]
fn a_path_without_another_waits_until_it_is_back() {
    let mut site = fibre_channel(PathPolicy::Fixed);
    site.hosts[0].adapters[0].count = 1;
    let mut machine = with_fault(&site, "path-down host.hba 0 at 1s for 1s");
    let (ended, longest_ns, _) = seen(&mut machine, Kind::Write);
    about(longest_ns, SECOND);
    assert_eq!(ended[11..19], [0; 8], "{ended:?}");
    assert!(ended[25] > 500, "{ended:?}");
}

#[test]
fn round_robin_continues_over_the_path_that_is_left() {
    for fault in ["path-down host.hba 1 at 1s for 1s", "path-down filer.fc 1 at 1s for 1s"] {
        let mut machine = with_fault(&fibre_channel(PathPolicy::RoundRobin), fault);
        let (ended, longest_ns, failed) = seen(&mut machine, Kind::Read);
        // Requests on the path restart; others continue.
        about(longest_ns, SECOND / 2);
        assert_eq!(failed, 0);
        assert!(ended[11..14].iter().all(|&ended| ended > 50), "{fault}: {ended:?}");
        assert!(ended[11] < ended[5] && ended[25].abs_diff(ended[5]) < 50, "{fault}: {ended:?}");
    }
}

#[test]
fn a_line_that_is_down_is_silent_for_as_long_or_until_another_takes_over() {
    let mut site = fibre_channel(PathPolicy::Fixed);
    let mut longest = |failover_ns, rate| {
        site.networks[0].failover_ns = failover_ns;
        site.networks[0].rate_bytes_per_s = rate;
        let mut machine = with_fault(&site, "link-down fabric at 1s for 200ms");
        let (_, longest_ns, failed) = seen(&mut machine, Kind::Read);
        assert_eq!(failed, 0);
        longest_ns
    };
    about(longest(0, None), 200_000_000);
    about(longest(0, Some(1e9)), 200_000_000);
    about(longest(50_000_000, Some(1e9)), 50_000_000);
}

#[test]
fn a_slow_disk_is_slow_while_it_is() {
    let mut site = fibre_channel(PathPolicy::Fixed);
    site.groups[0].disks = 1;
    site.groups[0].groups = 1;
    let mut machine = with_fault(&site, "disk-slow disk 0 10x at 1s for 1s");
    let (ended, longest_ns, _) = seen(&mut machine, Kind::Read);
    assert!((9_000_000..13_000_000).contains(&longest_ns), "{longest_ns}");
    assert!(ended[15] * 8 < ended[5] && ended[25].abs_diff(ended[5]) < 50, "{ended:?}");
}

fn cluster(replicas: u32) -> Site {
    let mut site = fibre_channel(PathPolicy::Fixed);
    site.hosts[0].count = 4;
    site.hosts[0].name = "server".into();
    site.stacks[0].protocol = Protocol::Local;
    site.hosts[0].adapters[0].kind = PortKind::Ethernet { mtu_bytes: 1500 };
    site.clusters = vec![Cluster {
        capacity_per_group: 2,
        cache: device(8, 1e5, 0.0),
        capacity: device(8, 1e6, 0.0),
        hits: Hits::Share(0.0),
        // Copying again is tested elsewhere.
        repair_delay_ns: 3600 * SECOND,
        resync_bytes_per_s: Some(1e6),
        ..common::cluster::bare_cluster(site.stacks[0].cost)
    }];
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes: 4, replicas };
    site
}

#[test]
fn a_lost_node_is_replaced_by_the_other_replica() {
    for kind in [Kind::Read, Kind::Write] {
        for fault in ["kill server.1 at 1s", "disk-fail vsan 3 at 1s"] {
            let mut machine = with_fault(&cluster(2), fault);
            let (ended, longest_ns, failed) = seen(&mut machine, kind);
            assert_eq!(failed, 0, "{fault}");
            assert!(longest_ns < SECOND / 2 + 20_000_000, "{fault}: {longest_ns}");
            assert!(ended[20] > ended[5] / 2, "{fault}: {ended:?}");
        }
        let mut machine = with_fault(&cluster(2), "kill server.1 at 1s");
        about(seen(&mut machine, kind).1, SECOND / 2);
    }
    let mut machine = with_fault(&cluster(1), "kill server.1 at 1s for 1s");
    let (_, _, failed) = seen(&mut machine, Kind::Read);
    assert!(failed > 0);
}

#[test]
fn what_became_of_a_lost_nodes_vms_is_noted() {
    let reported = |site: &Site, vms: u32| {
        let mut machine = machine(site, vms);
        let fault = site_fault("kill server.1 at 1s", site).expect("a fault");
        machine.schedule(&[fault]).expect("scheduled");
        assert!(reap(&mut machine, 2 * SECOND).is_empty());
        machine.end_window();
        let notes = machine.notes();
        let is_of_node = |note: &ModelNote| matches!(note, ModelNote::NodeLost { .. });
        (notes.into_iter().find(is_of_node), machine.losses())
    };
    let mut site = cluster(2);
    let storage = || "vsan".to_owned();
    let note = ModelNote::NodeLost { storage: storage(), node: 1, at_ns: SECOND };
    assert_eq!(reported(&site, 2), (Some(note), vec![]));
    // It has no VMs, or they are elsewhere.
    assert_eq!(reported(&site, 1), (None, vec![]));
    let mut clients = site.hosts[0].clone();
    clients.name = "client".into();
    site.hosts.push(clients);
    site.datastores[0].hosts = 1;
    assert_eq!(reported(&site, 2), (None, vec![]));
    // Without a replica its data is lost.
    let (_, losses) = reported(&cluster(1), 2);
    assert_eq!(losses, [Loss::NoReplica { storage: storage(), bytes: 512 << 20 }]);
}

#[test]
fn disks_lost_beyond_what_is_borne_take_the_array_offline() {
    for write in [
        WriteCache::Through,
        WriteCache::Back { battery: true, bytes: 64 << 20, start_share: 0.5, depth: 2 },
    ] {
        let mut site = fibre_channel(PathPolicy::Fixed);
        site.groups[0].raid = Raid::Raid5;
        site.groups[0].groups = 1;
        site.controllers[0].cache.write = write;
        let mut machine = with_fault(&site, "disk-fail disk 0 at 1s");
        let second = site_fault("disk-fail disk 4 at 2s", &site).expect("a fault");
        machine.schedule(&[second]).expect("scheduled");
        let mut outcomes = [[0u32; 2]; 3];
        for slot in 0..8 {
            submit(&mut machine, slot % 2, Kind::Write, u64::from(slot) << 20, 4096);
        }
        let mut turn = 8u64;
        while machine.time().now_ns() < 3 * SECOND && outcomes[2][1] < 100 {
            let left_ns = 3 * SECOND - machine.time().now_ns();
            for done in reap(&mut machine, left_ns) {
                let second = (machine.time().now_ns() / SECOND).min(2) as usize;
                outcomes[second][usize::from(done.result < 0)] += 1;
                turn += 1;
                let offset_bytes = turn * 7919 % 4096 * 65536;
                submit(&mut machine, turn as u32 % 2, Kind::Write, offset_bytes, 4096);
            }
        }
        let [first, degraded, offline] = outcomes;
        assert!(first[0] > 100 && degraded[0] > 100, "{outcomes:?}");
        assert_eq!((first[1], degraded[1], offline[1]), (0, 0, 100), "{outcomes:?}");
        assert!(offline[0] <= 8, "{outcomes:?}");
        machine.end_window();
        let losses = machine.losses();
        let [Loss::Offline { since_ns, disks: 2, dirty_bytes, .. }] = losses[..] else {
            panic!("{losses:?}");
        };
        assert!((2 * SECOND..2 * SECOND + SECOND / 200).contains(&since_ns), "{since_ns}");
        let noted = ModelNote::Lost { loss: losses[0].clone() };
        assert!(machine.notes().contains(&noted), "{:?}", machine.notes());
        let is_back = matches!(write, WriteCache::Back { .. });
        assert_eq!(dirty_bytes > 0, is_back, "{losses:?}");
    }
}

#[test]
fn a_nodes_port_that_fails_is_passed_over() {
    let mut machine = with_fault(&cluster(2), "path-down server.hba 0 at 1s for 1s");
    let (ended, longest_ns, failed) = seen(&mut machine, Kind::Read);
    assert_eq!(failed, 0);
    about(longest_ns, SECOND / 2);
    assert!(ended[20] > ended[5] / 2, "{ended:?}");
}

#[test]
fn each_sender_chooses_its_port_of_a_hash() {
    let mut site = fibre_channel(PathPolicy::Fixed);
    for port in [&mut site.hosts[0].adapters[0], &mut site.controllers[0].ports[0]] {
        port.aggregation = Aggregation::Hash;
    }
    // How many of an end's two ports one flow of a seed uses: those whose failure it notices.
    let needs = |seed, end: &str| -> usize {
        let sees = |port: &u32| {
            let window = Window { from_ns: 0, interval_ns: SECOND };
            let mut machine = Machine::new(&site, 0, load(2), window, seed).expect("a machine");
            let fault = site_fault(&format!("path-down {end} {port} at 1s"), &site);
            machine.schedule(&[fault.expect("a fault")]).expect("scheduled");
            seen(&mut machine, Kind::Read).1 > SECOND / 4
        };
        (0..2).filter(sees).count()
    };
    for end in ["host.hba", "filer.fc"] {
        let counts: Vec<usize> = (0..12).map(|seed| needs(seed, end)).collect();
        // In some test beds it arrives on the port it left by, in others not.
        assert!(counts.contains(&1) && counts.contains(&2), "{end}: {counts:?}");
        assert!(!counts.contains(&0), "{end}: {counts:?}");
    }
}

#[test]
fn a_hash_takes_flows_off_a_port_that_fails_and_gives_them_back() {
    let mut site = cluster(2);
    site.hosts[0].adapters[0].aggregation = Aggregation::Hash;
    // Ports are the bottleneck.
    site.hosts[0].adapters[0].rate_bytes_per_s = 2e6;
    for fault in ["path-down server.hba 0 at 1s for 1s", "path-down server.hba 1 at 1s for 1s"] {
        let mut machine = with_fault(&site, fault);
        let (ended, longest_ns, failed) = seen(&mut machine, Kind::Read);
        assert_eq!(failed, 0);
        // Some flow used the port at one of its ends, and none waited until the port was back.
        about(longest_ns, SECOND / 2);
        let rate = |from: usize| ended[from..from + 4].iter().sum::<u32>();
        let (before, while_down, after) = (rate(5), rate(16), rate(25));
        assert!(while_down < before * 3 / 4 && while_down > before / 3, "{fault}: {ended:?}");
        assert!(after > before * 9 / 10, "{fault}: {ended:?}");
    }
}

#[test]
fn the_same_faults_give_the_same_run() {
    let run = || seen(&mut with_fault(&cluster(2), "kill server.1 at 1s"), Kind::Write);
    assert_eq!(run(), run());
}

#[test]
fn what_the_machine_does_not_have_cannot_fail() {
    let site = fibre_channel(PathPolicy::Fixed);
    let mut machine = machine(&site, 1);
    let mut error = |text: &str| {
        let fault = site_fault(text, &site).expect("a fault");
        machine.schedule(&[fault]).expect_err("no such thing")
    };
    let what = error("path-down host.hba 2 at 1s");
    assert_eq!(what, FaultError::NoSuch { what: "port", number: 2, count: 2 });
    assert_eq!(
        error("disk-fail disk 80 at 1s"),
        FaultError::NoSuch { what: "disk", number: 80, count: 80 }
    );
    assert_eq!(error("disk-fail disk 1 at 1s for 1s"), FaultError::NoReturn);
    for (text, times) in [("0x", 0.0), ("0.5x", 0.5), ("1001x", 1001.0), ("1e300x", 1e300)] {
        let found = error(&format!("disk-slow disk 1 {text} at 1s"));
        assert_eq!(found, FaultError::NotSlow { times });
        assert!(found.to_string().contains("1 to 1000 times"), "{found}");
    }
    for text in ["nanx", "infx"] {
        let found = error(&format!("disk-slow disk 1 {text} at 1s"));
        assert!(matches!(found, FaultError::NotSlow { .. }), "{found}");
    }
}

#[test]
fn faults_name_parts_of_the_site() {
    let site = cluster(2);
    let read = |text: &str| site_fault(text, &site);
    assert_eq!(
        read("path-down  server.hba 1 at 10s for 200ms"),
        Ok(SiteFault {
            at_ns: 10 * SECOND,
            for_ns: Some(SECOND / 5),
            broken: Broken::HostPathDown { hosts: 0, adapter: 0, port: 1 },
        })
    );
    let broken = |text: &str| read(text).map(|fault| fault.broken);
    let slow = Broken::DiskSlow { group: 0, disk: 3, times: 2.5 };
    assert_eq!(broken("disk-slow disk 3 2.5x at 1s"), Ok(slow));
    assert_eq!(broken("disk-slow filer.disk 3 2.5x at 1s"), Ok(slow));
    let lost = Broken::CapacityLost { cluster: 0, disk: 7 };
    assert_eq!(broken("disk-fail vsan 7 at 1min"), Ok(lost));
    assert_eq!(broken("disk-fail server.vsan 7 at 1min"), Ok(lost));
    let new = Broken::DiskReplaced { group: 0, disk: 3 };
    assert_eq!(broken("disk-replace disk 3 at 2s"), Ok(new));
    let line = Broken::LinkDown { network: 0 };
    assert_eq!(broken("link-down fabric at 0s for 50us"), Ok(line));
    let node = Broken::NodeLost { hosts: 0, node: 1 };
    assert_eq!(broken("kill server.1 at 1s"), Ok(node));
    let text = |text: &str| read(text).expect_err("no fault").to_string();
    assert!(text("link-down wan at 1s").contains("\"wan\"; it has fabric, filer"));
    assert!(text("link-down nas.fabric at 1s").contains("no controller \"nas\"; it has filer"));
    assert!(text("path-down server.nic 0 at 1s").contains("it has hba"));
    assert!(text("path-down filer.nic 0 at 1s").contains("it has fc"));
    assert!(text("path-down pc.hba 0 at 1s").contains("\"pc\"; it has server, filer"));
    assert!(text("disk-fail other 0 at 1s").contains("\"other\"; it has disk, vsan"));
    let owned = text("disk-fail filer.other 0 at 1s");
    assert!(owned.contains("\"filer.other\"; it has filer.disk, server.vsan"), "{owned}");
    assert!(text("disk-replace vsan 0 at 1s").contains("leave disk-replace out"));
    assert!(text("kill server at 1s").contains("name one of them: kill server.3"));
    assert!(text("restart server.one at 1s").contains("restart server.3"));
    for kind in ["pause server", "resume server", "link-loss fabric 5%"] {
        let message = text(&format!("{kind} at 1s"));
        assert!(message.contains("what can be done there is disk-fail, disk-replace"), "{message}");
    }
    let mut others = site.clone();
    others.hosts.push(HostGroup { name: "pc".into(), ..site.hosts[0].clone() });
    let no_nodes =
        |site: &Site| site_fault("kill pc.0 at 1s", site).expect_err("no nodes").to_string();
    assert!(no_nodes(&others).contains("\"pc\" are no nodes"), "{}", no_nodes(&others));
    assert!(no_nodes(&others).contains("name one of server"), "{}", no_nodes(&others));
    others.clusters.clear();
    assert!(no_nodes(&others).contains("the site has none"), "{}", no_nodes(&others));
}

#[test]
fn what_belongs_to_one_storage_is_nothing_to_a_datastore_on_another() {
    let mut site = fibre_channel(PathPolicy::Fixed);
    let mut second = site.controllers[0].clone();
    second.name = "nas".into();
    site.controllers.push(second);
    let mut mount = site.datastores[0].clone();
    mount.name = "vm".into();
    mount.also = vec!["data".into()];
    mount.target = Target::Controller { controller: 1, port: 0 };
    site.datastores.push(mount);
    let broken = |text: &str, datastore: usize| {
        let fault: FaultSpec = text.parse().expect("a fault");
        Broken::by(&fault, &site, datastore).unwrap_or_else(|why| panic!("{text}: {why}"))
    };
    let line = vec![Broken::LinkDown { network: 0 }];
    for text in ["link-down nas", "link-up nas.fabric", "link-flap nas 1s"] {
        assert_eq!((broken(text, 0), broken(text, 1)), (vec![], line.clone()), "{text}");
    }
    assert_eq!(
        (broken("link-down fabric", 0), broken("link-down fabric", 1)),
        (line.clone(), line)
    );
    let port = vec![Broken::HostPathDown { hosts: 0, adapter: 0, port: 1 }];
    for text in ["path-down host.vm 1", "path-up host.data 1"] {
        assert_eq!((broken(text, 0), broken(text, 1)), (vec![], port.clone()), "{text}");
    }
    assert_eq!(broken("path-down host.hba 1", 0), port);
    let unknown = |text: &str| {
        let fault: FaultSpec = text.parse().expect("a fault");
        Broken::by(&fault, &site, 0).expect_err("unknown")
    };
    let message = unknown("path-down host.files 0").to_string();
    assert!(message.contains("\"files\"; it has hba, local, vm"), "{message}");
    let FaultNameError::Unknown { known, .. } = unknown("link-down nas.lan") else { panic!() };
    assert_eq!(known, "fabric");
}

#[test]
fn a_new_disk_is_rebuilt_where_no_spare_was() {
    let mut site = fibre_channel(PathPolicy::Fixed);
    let group = &mut site.groups[0];
    (group.raid, group.groups, group.spares) = (Raid::Raid5, 1, 0);
    (group.disks, group.device) = (4, device(1, 1e6, 0.0));
    let busy = |faults: &[&str]| {
        let mut machine = machine(&site, 2);
        for fault in faults {
            machine.schedule(&[site_fault(fault, &site).expect("a fault")]).expect("scheduled");
        }
        let (ended, _, failed) = seen(&mut machine, Kind::Read);
        assert_eq!(failed, 0);
        ended
    };
    let degraded = busy(&["disk-fail disk 0 at 500ms"]);
    let rebuilding = busy(&["disk-fail disk 0 at 500ms", "disk-replace disk 0 at 1500ms"]);
    assert_eq!(degraded[..15], rebuilding[..15]);
    let after = |ended: &[u32]| ended[16..30].iter().sum::<u32>();
    let (degraded, rebuilding) = (after(&degraded), after(&rebuilding));
    assert!(rebuilding < degraded * 9 / 10, "{degraded} and {rebuilding}: it reads of all others");
}
