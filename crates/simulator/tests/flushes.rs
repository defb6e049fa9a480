//! Flushes and durable writes: what they wait for, layer by layer, by hand counts.

mod common;

use common::device::device;
use common::single::*;
use stormeter_disk::Kind;
use stormeter_simulator::{Load, Machine, Window};
use stormeter_site::*;

const MS: f64 = 1e6;
const KIB: u32 = 1024;

/// A hard disk of 10 000 revolutions per minute, 6 ms each, whose commands cost 100 us.
fn disk(write_cache: bool) -> Device {
    Device::Hdd(Hdd {
        rpm: 10_000.0,
        seek_track_ns: 0.5e6,
        seek_average_ns: 4e6,
        seek_full_ns: 8e6,
        write_settle_ns: 0.0,
        outer_bytes_per_s: 100e6,
        inner_bytes_per_s: 100e6,
        capacity_bytes: 100_000_000_000,
        interface_bytes_per_s: 400e6,
        overhead_ns: 100e3,
        queue_depth: 32,
        buffer_bytes: 16 << 20,
        write_cache,
    })
}

/// Four dies that program a page of 16 KiB in a millisecond.
fn flash(power_loss_protection: bool) -> Device {
    Device::Ssd(Ssd {
        channels: 4,
        page_bytes: 16 * KIB,
        read_ns: 50e3,
        program_ns: 1e6,
        erase_ns: 1.0,
        pages_per_block: 256,
        spare_share: 0.9,
        filled_share: 0.0,
        capacity_bytes: 100_000_000_000,
        interface_bytes_per_s: 1e12,
        overhead_ns: 10e3,
        queue_depth: 64,
        write_buffer_bytes: 4 << 20,
        power_loss_protection,
    })
}

fn local(device: Device) -> Site {
    common::one_device(device)
}

/// Performs one operation; returns how long it took.
fn one(machine: &mut Machine, kind: Kind, offset_bytes: u64, length_bytes: u32) -> f64 {
    let from_ns = machine.time().now_ns();
    submit(machine, 0, kind, offset_bytes, length_bytes);
    let done = reap(machine, 1 << 40);
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].result, length_bytes as i32, "{kind}");
    (machine.time().now_ns() - from_ns) as f64
}

fn flush(machine: &mut Machine) -> f64 {
    one(machine, Kind::Flush, 0, 0)
}

/// A place of 4 KiB that looks random, another for each number.
fn place(number: u64) -> u64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46) * 4096
}

/// Writes of 4 KiB to random places; returns how long they took.
fn scattered(machine: &mut Machine, writes: u64) -> f64 {
    (0..writes).map(|number| one(machine, Kind::Write, place(number), 4 * KIB)).sum()
}

/// The same, all at once: a disk has no time to write any of them before the last is in its cache.
fn together(machine: &mut Machine, writes: u64) {
    (0..writes).for_each(|number| submit(machine, 0, Kind::Write, place(number), 4 * KIB));
    let mut ended = 0;
    while ended < writes as usize {
        ended += reap(machine, 1 << 40).len();
    }
}

/// The mean over several machines, whose platters stand differently.
fn mean(site: &Site, each: impl Fn(&mut Machine) -> f64) -> f64 {
    let seeds = 1..=60;
    let window = Window { from_ns: 0, interval_ns: 250_000_000 };
    let count = seeds.clone().count() as f64;
    let sum: f64 = seeds
        .map(|seed| {
            let load = Load { flushes: true, ..load(1) };
            each(&mut Machine::new(site, 0, load, window, seed).expect("a machine"))
        })
        .sum();
    sum / count
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, expected {expected}");
}

#[test]
fn a_disk_with_its_cache_on_flushes_what_is_in_the_cache_and_one_without_has_nothing_to_flush() {
    let mut machine = machine(&local(disk(true)), 1);
    // Nothing is in the cache: the command alone.
    assert_eq!(flush(&mut machine), 100e3);
    let written_ns = scattered(&mut machine, 64);
    assert!(written_ns < 64.0 * 0.2 * MS, "from the cache: {written_ns}");
    let first_ns = flush(&mut machine);
    // Each of some 60 writes needs a short seek and half of 6 ms on average.
    assert!((60.0 * 3.0 * MS..64.0 * 8.0 * MS).contains(&first_ns), "{first_ns}");
    assert_eq!(flush(&mut machine), 100e3);
    // Twice as many take twice as long: it is the destage of what is there.
    scattered(&mut machine, 128);
    near(flush(&mut machine), 2.0 * first_ns, 0.2);

    let mut through = common::single::machine(&local(disk(false)), 1);
    let written_ns = scattered(&mut through, 64);
    assert!(written_ns > 60.0 * 3.0 * MS, "{written_ns}");
    assert_eq!(flush(&mut through), 100e3);
}

#[test]
fn a_durable_write_waits_for_the_platters_whether_the_cache_is_on_or_off() {
    let durable = |write_cache| {
        mean(&local(disk(write_cache)), |machine| {
            (0..16)
                .map(|number| one(machine, Kind::DurableWrite, place(number), 4 * KIB))
                .sum::<f64>()
                / 16.0
        })
    };
    let (on, off) = (durable(true), durable(false));
    assert_eq!(on, off);
    // A short seek, half a revolution on average, the command and the transfer.
    assert!((0.5 * MS + 3.0 * MS..3.0 * MS + 3.6 * MS).contains(&on), "{on}");
    let cached = mean(&local(disk(true)), |machine| one(machine, Kind::Write, 0, 4 * KIB));
    assert!(cached < 0.2 * MS, "{cached}");
}

#[test]
fn a_flush_does_not_wait_for_writes_that_come_after_it() {
    let mut machine = machine(&local(disk(true)), 1);
    scattered(&mut machine, 16);
    let alone_ns = flush(&mut machine);
    scattered(&mut machine, 16);
    let from_ns = machine.time().now_ns();
    submit(&mut machine, 0, Kind::Flush, 0, 0);
    for place in 0..200 {
        submit(&mut machine, 0, Kind::Write, (512 << 20) + place * 100 * 4096, 4 * KIB);
    }
    while reap(&mut machine, 1 << 40).iter().all(|done| done.result != 0) {}
    near((machine.time().now_ns() - from_ns) as f64, alone_ns, 0.25);
}

#[test]
fn flash_with_power_loss_protection_has_nothing_to_flush_and_flash_without_programs_its_buffer() {
    let fill = |machine: &mut Machine, pages: u64| {
        for page in 0..pages {
            one(machine, Kind::Write, page * 16384, 16 * KIB);
        }
    };
    let mut safe = machine(&local(flash(true)), 1);
    fill(&mut safe, 40);
    assert_eq!(flush(&mut safe), 10e3);
    near(one(&mut safe, Kind::DurableWrite, 0, 16 * KIB), 10e3, 0.05);

    let mut volatile = machine(&local(flash(false)), 1);
    assert_eq!(flush(&mut volatile), 10e3);
    fill(&mut volatile, 40);
    // 40 pages on four dies, since the first of them, which was 0.4 ms ago.
    near(flush(&mut volatile), 10.0 * MS - 0.4 * MS, 0.02);
    assert_eq!(flush(&mut volatile), 10e3);
    // A page that is not full is programmed as it is.
    one(&mut volatile, Kind::Write, 1 << 20, 4 * KIB);
    near(flush(&mut volatile), MS, 0.02);
    assert_eq!(flush(&mut volatile), 10e3);
    near(one(&mut volatile, Kind::DurableWrite, 0, 16 * KIB), MS, 0.02);
}

#[test]
fn flash_has_its_buffer_back_after_a_flush() {
    let Device::Ssd(mut about) = flash(false) else { panic!("flash") };
    // Four pages for each die, of which it programs one while the others wait.
    about.write_buffer_bytes = 256 << 10;
    let mut machine = machine(&local(Device::Ssd(about)), 1);
    for round in 0..50 {
        for page in 0..16 {
            let ns = one(&mut machine, Kind::Write, page * 16384, 16 * KIB);
            assert!(ns < 0.05 * MS, "round {round}: {ns}");
        }
        near(flush(&mut machine), 4.0 * MS, 0.1);
    }
    // A write that needs all of it is admitted when the flush is over.
    for page in 0..16 {
        one(&mut machine, Kind::Write, page * 16384, 16 * KIB);
    }
    submit(&mut machine, 0, Kind::Flush, 0, 0);
    submit(&mut machine, 0, Kind::Write, 0, 256 * KIB);
    let mut ended = 0;
    while ended < 2 {
        let done = reap(&mut machine, 1 << 40);
        assert!(!done.is_empty(), "{ended} have ended, and the others never do");
        ended += done.len();
    }
}

#[test]
fn a_device_described_by_its_times_flushes_in_the_time_given() {
    for service in [Service::Single, Service::Bulk] {
        let with = |write_cache| {
            let Device::Queue(queue) = device(1, 100e3, 0.0) else { panic!("a queue") };
            local(Device::Queue(Queue { service, write_cache, flush_ns: 5e6, ..queue }))
        };
        let volatile = with(Some(true));
        assert_eq!(latency_ns(&volatile, Kind::Write, 4096), 100_000);
        assert_eq!(latency_ns(&volatile, Kind::DurableWrite, 4096), 5_100_000);
        assert_eq!(latency_ns(&volatile, Kind::Flush, 0), 5_000_000);
        assert_eq!(latency_ns(&with(Some(false)), Kind::DurableWrite, 4096), 100_000);
    }
}

/// One host and one controller in front of disks with volatile caches, with no costs but a line of a
/// millisecond each way.
fn behind(protocol: Protocol, write: WriteCache) -> Site {
    let mut site = common::fibre_channel();
    let kind = match protocol {
        Protocol::Fc => PortKind::FibreChannel { credits: 1000 },
        _ => PortKind::Ethernet { mtu_bytes: 1500 },
    };
    let port = Adapter {
        kind,
        rate_bytes_per_s: 1e12,
        latency_ns: 0.0,
        count: 1,
        ..site.hosts[0].adapters[0].clone()
    };
    site.hosts[0].count = 1;
    site.hosts[0].adapters = vec![port.clone()];
    site.stacks[0] = Stack { protocol, cost: Cost::default(), ..site.stacks[0].clone() };
    let controller = &mut site.controllers[0];
    controller.count = 1;
    controller.costs = vec![(protocol, Cost::default())];
    controller.ports = vec![port];
    controller.cache.write = write;
    site.networks[0].latency_ns = 1e6;
    site.groups[0] = DiskGroup {
        raid: Raid::Raid0,
        disks: 4,
        groups: 1,
        device: disk(true),
        ..site.groups[0].clone()
    };
    site
}

fn back(battery: bool) -> WriteCache {
    WriteCache::Back { bytes: 64 << 20, battery, start_share: 0.5, depth: 2 }
}

const ROUND_TRIP: f64 = 2.0 * MS;

#[test]
fn memory_with_a_battery_answers_flushes_and_durable_writes_and_memory_without_waits_for_the_disks()
{
    for protocol in [Protocol::Iscsi, Protocol::Fc] {
        let site = behind(protocol, back(true));
        let durable = mean(&site, |machine| one(machine, Kind::DurableWrite, 0, 4 * KIB));
        let plain = mean(&site, |machine| one(machine, Kind::Write, 0, 4 * KIB));
        assert_eq!(durable, plain);
        let flushed = mean(&site, |machine| {
            scattered(machine, 64);
            flush(machine)
        });
        near(flushed, ROUND_TRIP, 0.01);
        let site = behind(protocol, back(false));
        let plain = mean(&site, |machine| one(machine, Kind::Write, 0, 4 * KIB));
        let durable = mean(&site, |machine| one(machine, Kind::DurableWrite, 0, 4 * KIB));
        assert!(durable > plain + 2.0 * MS, "{durable} {plain}");
        let empty = mean(&site, flush);
        near(empty, ROUND_TRIP + 0.1 * MS, 0.01);
        let flushed = |writes| {
            mean(&site, |machine| {
                scattered(machine, writes);
                flush(machine) - empty
            })
        };
        let (some, more) = (flushed(64), flushed(256));
        // Four disks share the writes; each of these needs half a revolution and a short seek.
        assert!((16.0 * 2.0 * MS..16.0 * 8.0 * MS).contains(&some), "{some}");
        assert!((2.5..5.0).contains(&(more / some)), "{some} {more}");
    }
}

#[test]
fn without_memory_a_flush_goes_to_every_disk_and_waits_for_the_slowest() {
    let site = behind(Protocol::Iscsi, WriteCache::Through);
    near(mean(&site, flush), ROUND_TRIP + 0.1 * MS, 0.01);
    let flushed = |disks| {
        let mut site = behind(Protocol::Iscsi, WriteCache::Through);
        site.groups[0].disks = disks;
        mean(&site, |machine| {
            together(machine, 128);
            flush(machine)
        })
    };
    // One disk has all the writes, of which each of four has about a quarter.
    let (alone, four) = (flushed(1), flushed(4));
    assert!((3.0..5.0).contains(&(alone / four)), "{alone} {four}");
}

#[test]
fn nfs_flushes_by_commit_if_writes_are_unstable_and_has_nothing_to_flush_if_they_are_stable() {
    let with = |write, unstable_writes| {
        let mut site = behind(Protocol::Nfs, write);
        site.stacks[0].options.unstable_writes = unstable_writes;
        site
    };
    for write in [back(true), back(false), WriteCache::Through] {
        // Nothing is sent.
        assert_eq!(latency_ns(&with(write, false), Kind::Flush, 0), 0);
    }
    near(latency_ns(&with(back(true), true), Kind::Flush, 0) as f64, ROUND_TRIP, 0.01);
    // Stable writes are durable: from volatile memory they go through to the platters.
    let volatile = with(back(false), false);
    let plain = mean(&volatile, |machine| one(machine, Kind::Write, 0, 4 * KIB));
    let durable = mean(&volatile, |machine| one(machine, Kind::DurableWrite, 0, 4 * KIB));
    assert_eq!(plain, durable);
    assert!(plain > ROUND_TRIP + 2.0 * MS, "{plain}");
    // Unstable ones complete in it, and their COMMIT waits for the disks.
    let unstable = with(back(false), true);
    near(mean(&unstable, |machine| one(machine, Kind::Write, 0, 4 * KIB)), ROUND_TRIP, 0.01);
    let commit = mean(&unstable, |machine| {
        scattered(machine, 64);
        flush(machine)
    });
    assert!(commit > ROUND_TRIP + 16.0 * 2.0 * MS, "{commit}");
}

#[test]
fn a_filer_that_writes_anywhere_has_stable_writes_in_its_nvram() {
    let mut site = behind(Protocol::Iscsi, back(true));
    site.controllers[0].cache.layout = Layout::WriteAnywhere;
    site.groups[0].raid = Raid::Raid5;
    near(mean(&site, |machine| one(machine, Kind::DurableWrite, 0, 4 * KIB)), ROUND_TRIP, 0.01);
    // Without it, what is dirty is less than a stripe, and is written when a flush waits for it.
    let Cache { write, .. } = &mut site.controllers[0].cache;
    *write = back(false);
    let flushed = mean(&site, |machine| {
        scattered(machine, 3);
        flush(machine)
    });
    assert!((ROUND_TRIP + 1.0 * MS..ROUND_TRIP + 30.0 * MS).contains(&flushed), "{flushed}");
}

#[test]
fn a_flush_costs_the_cpus_what_a_write_without_bytes_does() {
    let mut site = behind(Protocol::Iscsi, back(true));
    let free = latency_ns(&site, Kind::Flush, 0);
    site.stacks[0].cost = Cost { per_read_cycles: 9e6, per_write_cycles: 2.5e6, ..Cost::default() };
    site.controllers[0].costs[0].1 = Cost {
        per_read_cycles: 9e6,
        per_write_cycles: 2.6e6,
        per_byte_cycles: 7.0,
        ..Cost::default()
    };
    // A millisecond at 2.5 GHz, and one at 2.6 GHz.
    assert_eq!(latency_ns(&site, Kind::Flush, 0) - free, 2_000_000);
}

/// Nodes of one disk group with flash in front of a capacity device.
fn cluster(replicas: u32, cache: Device) -> Site {
    let mut site = behind(Protocol::Iscsi, WriteCache::Through);
    site.hosts[0].count = 4;
    site.stacks[0].protocol = Protocol::Local;
    site.clusters = vec![Cluster {
        cache,
        capacity: disk(false),
        ..common::cluster::bare_cluster(Cost::default())
    }];
    site.datastores[0].target = Target::Cluster { cluster: 0, stripes: 1, replicas };
    site
}

#[test]
fn a_cluster_flushes_every_replica_and_waits_for_the_slowest() {
    // Each flush takes an exponential time; of three, the longest is 1 + 1/2 + 1/3 times as long on average.
    let with = |replicas| {
        let Device::Queue(queue) = device(8, 1.0, 0.0) else { panic!("a queue") };
        let flash = Queue { flush_ns: 1e9, spread: Spread::Exponential, ..queue };
        let site = cluster(replicas, Device::Queue(flash));
        let flushes = 400;
        let mut machine = machine(&site, 1);
        (0..flushes).map(|_| flush(&mut machine)).sum::<f64>() / f64::from(flushes)
    };
    near(with(1), 1e9, 0.15);
    near(with(3), 1e9 * (1.0 + 1.0 / 2.0 + 1.0 / 3.0), 0.15);
    // Flash that keeps its writes answers at once, whatever is not destaged yet.
    let mut machine = machine(&cluster(2, flash(true)), 1);
    scattered(&mut machine, 64);
    let at_once = flush(&mut machine);
    assert!(at_once < ROUND_TRIP + 0.1 * MS, "{at_once}");
    // Other flash programs every write before its replica is acknowledged: a cluster promises that it is safe.
    let with = |kind, cache| latency_ns(&cluster(2, cache), kind, 16 * KIB) as f64;
    let plain = with(Kind::Write, flash(true));
    near(with(Kind::Write, flash(false)) - plain, MS, 0.02);
    for (kind, cache, as_fast_as) in [
        (Kind::DurableWrite, flash(true), plain),
        (Kind::DurableWrite, flash(false), with(Kind::Write, flash(false))),
    ] {
        near(with(kind, cache), as_fast_as, 1e-9);
    }
}

#[test]
fn all_time_of_a_flush_has_a_component() {
    for site in [behind(Protocol::Iscsi, back(false)), cluster(2, flash(false))] {
        let mut machine = machine(&site, 1);
        for _ in 0..50 {
            scattered(&mut machine, 4);
            flush(&mut machine);
        }
        let shares: f64 = machine.usage().iter().map(|usage| usage.response_share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    }
}
