//! An array alone under load, for tests of its behaviour: no host, no wire.

use std::rc::Rc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use stormeter_disk::Kind;
use stormeter_site::{Cache, DiskGroup, Hits, Layout, Raid, WriteCache};

use super::super::tests::group;
use super::super::{Array, DiskFault, FAILED, Geometry, IN_FRONT, Place, Request};
use crate::device::{Access, Bench};
use crate::machine::{EventQueue, Load};
use crate::noise::unit_open;
use crate::slab::Slab;

const DISK_BYTES: u64 = 1 << 30;
const DISKS: u32 = 1;
const MEMORY: u32 = 2;

/// An array and its events.
struct Rig {
    array: Array,
    now_ns: u64,
    events: EventQueue,
    accesses: Slab<Access>,
    random: Xoshiro256PlusPlus,
    done: Vec<u32>,
    ready: Vec<u32>,
    /// Completed requests: the time, and the job with its bits.
    ended: Vec<(u64, u32)>,
    /// For offsets, so that they do not depend on the array's random draws.
    places: Xoshiro256PlusPlus,
}

impl Rig {
    fn new(group: &DiskGroup, cache: Option<&Cache>) -> Self {
        Self::under(1.0, group, cache)
    }

    /// Under a load of which this share is random.
    fn under(random: f64, group: &DiskGroup, cache: Option<&Cache>) -> Self {
        let load = Load {
            vms: 1,
            disk_bytes: DISK_BYTES,
            working_set_bytes: DISK_BYTES,
            random,
            zipf: None,
            flushes: false,
        };
        let places = Rc::from([0]);
        let place = Place { number: 0, disks: DISKS, memory: MEMORY, places, load };
        Self {
            array: Array::new(place, group, cache),
            now_ns: 0,
            events: EventQueue::default(),
            accesses: Slab::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            done: Vec::new(),
            ready: Vec::new(),
            ended: Vec::new(),
            places: Xoshiro256PlusPlus::seed_from_u64(2),
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Array, &mut Bench<'_>, &mut Vec<u32>) -> T) -> T {
        let mut bench = Bench {
            now_ns: self.now_ns,
            accesses: &mut self.accesses,
            events: &mut self.events,
            random: &mut self.random,
            done: &mut self.done,
        };
        let result = act(&mut self.array, &mut bench, &mut self.ready);
        self.ended.extend(self.ready.drain(..).map(|job| (self.now_ns, job)));
        result
    }

    fn submit(&mut self, job: u32, kind: Kind, offset_bytes: u64, length_bytes: u32) {
        let request = Request { job, kind, disk: 0, offset_bytes, length_bytes, background: false };
        self.with(|array, bench, ready| array.arrive(request, bench, ready));
    }

    fn fault(&mut self, fault: DiskFault) {
        self.with(|array, bench, ready| array.fault(fault, bench, ready));
    }

    /// Executes the next event; `false` if there is none until then.
    fn step(&mut self, until_ns: u64) -> bool {
        if self.events.next_ns() > until_ns {
            self.now_ns = self.now_ns.max(until_ns);
            return false;
        }
        let (at_ns, token) = self.events.pop().unwrap();
        self.now_ns = at_ns;
        let access = token & ((1 << 30) - 1);
        self.with(|array, bench, ready| array.event(access, bench, ready));
        true
    }

    fn run(&mut self, until_ns: u64) {
        while self.step(until_ns) {}
    }

    fn random_place(&mut self, length: u64) -> u64 {
        let places = DISK_BYTES / length;
        ((unit_open(&mut self.places) * places as f64) as u64).min(places - 1) * length
    }

    /// Keeps this many requests outstanding until then; returns how many ended and how many of them
    /// failed.
    fn closed(&mut self, kind: Kind, length: u32, outstanding: u32, for_ns: u64) -> (u64, u64) {
        let until_ns = self.now_ns + for_ns;
        self.ended.clear();
        for job in 0..outstanding {
            let place = self.random_place(length.into());
            self.submit(job, kind, place, length);
        }
        let (mut count, mut failed, mut next) = (0, 0, 0);
        loop {
            while next < self.ended.len() {
                let (_, job) = self.ended[next];
                next += 1;
                count += 1;
                failed += u64::from(job & FAILED != 0);
                let place = self.random_place(length.into());
                self.submit(job & !(FAILED | IN_FRONT), kind, place, length);
            }
            self.ended.clear();
            next = 0;
            if !self.step(until_ns) {
                return (count, failed);
            }
        }
    }

    /// Number of accesses to all disks so far.
    fn accesses(&self) -> u64 {
        let mut accesses = 0;
        self.array.usage(self.now_ns, &mut |component, usage| {
            accesses += if component == DISKS { usage.accesses } else { 0 };
        });
        accesses
    }
}

fn back(bytes: u64, start_share: f64, depth: u32, layout: Layout) -> Cache {
    let write = WriteCache::Back { battery: true, bytes, start_share, depth };
    Cache { read_bytes: 0, hits: Hits::WorkingSet, write, layout }
}

/// 8 disks need 1 ms for a read and 2 ms for a write.
const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn throughput_is_what_the_disks_give_with_the_cost_of_the_level() {
    // Disk time of a request in ms: reads 1, writes 2; half of the writes of RAID 1+0 are copies.
    let cases = [
        (Raid::Raid0, Kind::Read, 1.0),
        (Raid::Raid0, Kind::Write, 2.0),
        (Raid::Raid10, Kind::Read, 1.0),
        (Raid::Raid10, Kind::Write, 4.0),
        (Raid::Raid5, Kind::Write, 6.0),
        (Raid::Raid6, Kind::Write, 9.0),
    ];
    for (raid, kind, cost_ms) in cases {
        let mut rig = Rig::new(&group(raid, 8, 2), None);
        let (count, failed) = rig.closed(kind, 4096, 1000, 20 * SECOND_NS);
        let expected = 16.0 / (cost_ms / 1e3) * 20.0;
        let ratio = count as f64 / expected;
        assert!(failed == 0 && (0.96..1.005).contains(&ratio), "{raid:?} {kind} {ratio}");
    }
}

#[test]
fn a_small_write_takes_a_read_and_a_write_one_after_the_other() {
    let mut rig = Rig::new(&group(Raid::Raid6, 8, 1), None);
    rig.submit(7, Kind::Write, 0, 4096);
    rig.run(SECOND_NS);
    assert_eq!(rig.ended, [(3_000_000, 7)]);
    assert_eq!(rig.accesses(), 6);
    // A whole stripe and half of the next one: 8 writes; 3 reads and 5 writes (reconstructed).
    rig.submit(8, Kind::Write, 6 * 65_536, 9 * 65_536);
    rig.run(2 * SECOND_NS);
    assert_eq!(rig.accesses(), 6 + 8 + 3 + 5);
    assert_eq!(rig.ended.len(), 2);
}

#[test]
fn a_degraded_group_reads_all_that_is_left() {
    let mut rig = Rig::new(&group(Raid::Raid5, 8, 1), None);
    rig.fault(DiskFault::Lost(3));
    let (count, failed) = rig.closed(Kind::Read, 4096, 8, 20 * SECOND_NS);
    // One read in eight is of the lost disk and needs seven.
    let each = rig.accesses() as f64 / count as f64;
    assert!(failed == 0 && (each / (14.0 / 8.0) - 1.0).abs() < 0.02, "{each}");
    let (_, failed) = rig.closed(Kind::Write, 4096, 8, SECOND_NS);
    assert_eq!(failed, 0);
}

/// What ended since the last call: how many, and how many of them failed.
fn ended(rig: &mut Rig) -> (usize, usize) {
    let failed = rig.ended.iter().filter(|(_, job)| job & FAILED != 0).count();
    (std::mem::take(&mut rig.ended).len(), failed)
}

#[test]
fn an_array_that_lost_more_than_it_bears_is_offline() {
    // The last of the disks is one too many.
    let table: [(Raid, &[u32]); 6] = [
        (Raid::Raid0, &[5]),
        (Raid::Raid1, &[0, 1, 2, 3, 4, 6, 7, 5]),
        (Raid::Raid10, &[0, 2, 7, 5, 4]),
        (Raid::Raid5, &[3, 11, 5]),
        (Raid::Raid5, &[3, 3, 11, 5]),
        (Raid::Raid6, &[0, 1, 9, 8, 2]),
    ];
    for (raid, lost) in table {
        let mut rig = Rig::new(&group(raid, 8, 2), None);
        let (last, before) = lost.split_last().unwrap();
        for &disk in before {
            rig.fault(DiskFault::Lost(disk));
            let (_, failed) = rig.closed(Kind::Write, 4096, 8, SECOND_NS / 10);
            assert_eq!((failed, rig.array.outage()), (0, None), "{raid:?} {disk}");
        }
        rig.run(rig.now_ns + SECOND_NS);
        rig.ended.clear();
        (0..16).for_each(|unit| rig.submit(unit, Kind::Write, u64::from(unit) * 65_536, 4096));
        let at_ns = rig.now_ns;
        rig.fault(DiskFault::Lost(*last));
        // Requests at the disks fail when the disks are done with them; new ones at once.
        rig.run(rig.now_ns + SECOND_NS);
        assert_eq!(ended(&mut rig), (16, 16), "{raid:?}");
        let accesses = rig.accesses();
        (0..16).for_each(|unit| rig.submit(unit, Kind::Read, u64::from(unit) * 65_536, 4096));
        assert_eq!((ended(&mut rig), rig.accesses()), ((16, 16), accesses), "{raid:?}");
        let outage = rig.array.outage().unwrap();
        assert_eq!((outage.since_ns, outage.disks), (at_ns, outage.bears + 1), "{raid:?}");
        let in_use = [rig.array.operations.in_use(), rig.accesses.in_use()];
        assert_eq!(in_use, [0, 0], "{raid:?}");
    }
}

#[test]
fn memory_does_not_hide_that_the_disks_are_gone() {
    for layout in [Layout::InPlace, Layout::WriteAnywhere] {
        let mut description = group(Raid::Raid5, 8, 1);
        description.spares = 2;
        let mut rig = Rig::new(&description, Some(&back(1 << 20, 0.5, 4, layout)));
        // More than there is space for: some wait.
        let (_, failed) = rig.closed(Kind::Write, 16 << 10, 128, SECOND_NS);
        rig.fault(DiskFault::Lost(2));
        assert_eq!((failed, rig.array.rebuilds.len()), (0, 1), "{layout:?}");
        rig.fault(DiskFault::Lost(6));
        let (count, failed) = ended(&mut rig);
        assert!(count > 0 && failed == count, "{layout:?} {count} {failed}");
        assert!(rig.array.outage().unwrap().dirty_bytes > 0, "{layout:?}");
        let accesses = rig.accesses();
        rig.run(rig.now_ns + SECOND_NS);
        (0..8).for_each(|job| rig.submit(job, Kind::Write, 0, 4096));
        assert_eq!(ended(&mut rig), (8, 8), "{layout:?}");
        // Nothing is destaged or rebuilt any more.
        assert_eq!((rig.array.rebuilds.len(), rig.accesses.in_use()), (0, 0), "{layout:?}");
        let after = rig.accesses();
        rig.run(rig.now_ns + 10 * SECOND_NS);
        assert!(after == rig.accesses() && after - accesses < 200, "{layout:?}");
    }
}

#[test]
fn what_a_disk_had_in_hand_when_it_was_lost_is_read_elsewhere() {
    for (raid, fails) in [(Raid::Raid0, true), (Raid::Raid5, false), (Raid::Raid10, false)] {
        let mut rig = Rig::new(&group(raid, 8, 1), None);
        rig.submit(1, Kind::Read, 0, 4096);
        rig.submit(2, Kind::Write, 0, 4096);
        rig.now_ns = 500_000;
        rig.fault(DiskFault::Lost(0));
        rig.run(SECOND_NS);
        let mut failed: Vec<bool> = rig.ended.iter().map(|(_, job)| job & FAILED != 0).collect();
        failed.sort_unstable();
        assert_eq!(failed, [fails, fails], "{raid:?}");
        assert_eq!(rig.accesses.in_use() + rig.array.queued.iter().sum::<u32>() as usize, 0);
    }
}

#[test]
fn a_spare_is_rebuilt_at_the_rate_asked_for_and_what_is_there_is_used() {
    let mut description = group(Raid::Raid5, 8, 1);
    description.spares = 1;
    let used = Geometry::new(&description).used_bytes(DISK_BYTES);
    description.rebuild_bytes_per_s = Some(used as f64 / 200.0);
    let mut rig = Rig::new(&description, None);
    rig.fault(DiskFault::Lost(3));
    let mut each = Vec::new();
    for _ in 0..5 {
        let before = rig.accesses();
        let (count, failed) = rig.closed(Kind::Read, 4096, 4, 50 * SECOND_NS);
        assert_eq!(failed, 0);
        // In addition the rebuild: 8 accesses for each unit of the disk, in 200 seconds.
        let rebuild = if each.len() < 4 { (used / 65_536) as f64 * 8.0 / 4.0 } else { 0.0 };
        each.push(((rig.accesses() - before) as f64 - rebuild) / count as f64);
    }
    // The share of the disk that is still missing, on average over each quarter.
    for (quarter, found) in each.iter().enumerate() {
        let missing = [0.875, 0.625, 0.375, 0.125, 0.0][quarter];
        let expected = 1.0 + 6.0 / 8.0 * missing;
        assert!((found / expected - 1.0).abs() < 0.02, "{quarter}: {each:?}");
    }
    assert!(rig.array.rebuilds.is_empty() && rig.array.health.is_well(0));
    // There is no second spare.
    rig.fault(DiskFault::Lost(3));
    assert!(rig.array.rebuilds.is_empty());
}

#[test]
fn a_new_disk_is_rebuilt_or_is_a_spare_and_brings_nothing_back() {
    let mut rig = Rig::new(&group(Raid::Raid5, 8, 1), None);
    rig.fault(DiskFault::Lost(3));
    assert!(rig.array.rebuilds.is_empty());
    rig.fault(DiskFault::Replaced(3));
    assert_eq!((rig.array.rebuilds.len(), rig.array.spares), (1, 0));
    // It is there already: the second one waits.
    rig.fault(DiskFault::Replaced(3));
    assert_eq!((rig.array.rebuilds.len(), rig.array.spares), (1, 1));
    rig.fault(DiskFault::Lost(3));
    assert_eq!((rig.array.rebuilds.len(), rig.array.spares), (1, 0));
    rig.fault(DiskFault::Lost(5));
    rig.fault(DiskFault::Replaced(5));
    assert!(rig.array.outage().is_some() && rig.array.rebuilds.is_empty());
}

#[test]
fn a_rebuild_without_limit_is_as_quick_as_the_disks() {
    let mut description = group(Raid::Raid5, 8, 1);
    description.spares = 1;
    let mut rig = Rig::new(&description, None);
    rig.fault(DiskFault::Lost(3));
    let units = Geometry::new(&description).used_bytes(DISK_BYTES) / 65_536;
    rig.run(units * 2_000_000 - 3_000_000);
    assert_eq!(rig.array.rebuilds.len(), 1);
    // The spare writes one piece after another: 2 ms each.
    rig.run(units * 2_000_000 + 2_000_000);
    assert!(rig.array.rebuilds.is_empty());
}

#[test]
fn a_burst_is_absorbed_and_then_writes_are_as_slow_as_the_disks() {
    // Few writes and many stripes: hardly two are in one.
    let mut description = group(Raid::Raid6, 8, 2);
    description.stripe_bytes = 4096;
    let room = 512;
    let cache = back(room * 4096, 0.5, 64, Layout::InPlace);
    let mut rig = Rig::new(&description, Some(&cache));
    // Half of it is there from before.
    for job in 0..room as u32 / 2 {
        let place = rig.random_place(4096);
        rig.submit(job, Kind::Write, place, 4096);
    }
    assert_eq!(rig.ended.len(), room as usize / 2, "all at once");
    assert!(rig.ended.iter().all(|&(at_ns, job)| at_ns == 0 && job & IN_FRONT == 0));
    // Left alone, it works until it is less than half full.
    rig.run(rig.now_ns + SECOND_NS);
    assert_eq!(rig.array.write_back.as_ref().unwrap().dirty() / 4096, room / 2 - 1);
    let (count, _) = rig.closed(Kind::Write, 4096, 32, 20 * SECOND_NS);
    assert!(rig.array.write_back.as_ref().unwrap().usage(rig.now_ns).waited_ns > 0);
    // 9 ms of 16 disks each.
    let ratio = count as f64 / (16.0 / 9e-3 * 20.0);
    assert!((0.96..1.02).contains(&ratio), "{ratio}");
}

#[test]
fn destaging_begins_with_the_first_write() {
    for (random, layout) in
        [(1.0, Layout::InPlace), (0.0, Layout::InPlace), (1.0, Layout::WriteAnywhere)]
    {
        // So large that the load does not fill a hundredth of it.
        let bytes = DISK_BYTES / 2;
        let mut rig =
            Rig::under(random, &group(Raid::Raid5, 8, 1), Some(&back(bytes, 0.5, 2, layout)));
        let dirty = |rig: &Rig| rig.array.write_back.as_ref().unwrap().dirty();
        rig.submit(0, Kind::Read, 0, 4096);
        rig.run(SECOND_NS);
        assert_eq!((dirty(&rig), rig.accesses()), (0, 1), "reads bring nothing");
        let at_ns = rig.now_ns;
        rig.submit(1, Kind::Write, 0, 4096);
        assert_eq!(rig.ended.last(), Some(&(at_ns, 1)));
        assert!(rig.accesses() > 1, "{layout:?} {random}: destaging has started");
        let share = dirty(&rig) as f64 / bytes as f64;
        assert!((0.42..0.5001).contains(&share), "{layout:?} {random} {share}");
        // As much arrives as leaves.
        rig.closed(Kind::Write, 4096, 1, SECOND_NS / 100);
        let fill = rig.array.fill().unwrap();
        assert!(fill.out_bytes > 0 && fill.component == MEMORY, "{fill:?}");
    }
}

#[test]
fn what_is_dirty_at_once_shares_parity_by_how_dense_it_is() {
    // Accesses for each page that left.
    let run = |bytes| {
        let cache = back(bytes, 0.5, 16, Layout::InPlace);
        let mut rig = Rig::new(&group(Raid::Raid5, 8, 2), Some(&cache));
        rig.closed(Kind::Write, 4096, 64, 10 * SECOND_NS);
        let (accesses, left) = (rig.accesses(), rig.array.fill().unwrap().out_bytes);
        rig.closed(Kind::Write, 4096, 64, 20 * SECOND_NS);
        let pages = (rig.array.fill().unwrap().out_bytes - left) as f64 / 4096.0;
        (rig.accesses() - accesses) as f64 / pages
    };
    let alone = run(1 << 20);
    assert!((alone - 4.0).abs() < 0.02, "{alone}");
    // A page is dirty with 1 - e^-au where the sweep has been a share u of a round ago; that is a sixteenth on
    // average, and 12.2 % where it comes to.
    let dense: f64 = 0.122;
    let binomial = |k: i32| {
        let ways = [1.0, 7.0, 21.0, 35.0, 35.0, 21.0, 7.0, 1.0][k as usize];
        ways * dense.powi(k) * (1.0 - dense).powi(7 - k)
    };
    // Of k of a row's seven pages: k and parity are read and written, or the others are read.
    let of_row = |k: i32| f64::from((k + 1).min(7 - k) + k + 1);
    let accesses: f64 = (1..=7).map(|k| binomial(k) * of_row(k)).sum();
    // Neighbours are one access.
    let expected = accesses / (7.0 * dense) * (1.0 - dense);
    let dense = run(64 << 20);
    assert!((dense / expected - 1.0).abs() < 0.03, "{dense} {expected}");
}

#[test]
fn writing_anywhere_beats_writing_in_place() {
    let run = |layout| {
        let cache = back(16 << 20, 0.25, 4, layout);
        let mut rig = Rig::new(&group(Raid::Raid6, 8, 2), Some(&cache));
        rig.closed(Kind::Write, 4096, 64, 5 * SECOND_NS);
        rig.closed(Kind::Write, 4096, 64, 10 * SECOND_NS).0
    };
    let (place, anywhere) = (run(Layout::InPlace), run(Layout::WriteAnywhere));
    // Eight writes of 2 ms for six units of 16 blocks; what is overwritten in time is saved: the
    // share of the volume that is dirty, here at most 1.6 %.
    let ratio = anywhere as f64 / (16.0 / 16e-3 * 96.0 * 10.0);
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
    assert!(anywhere > 20 * place, "{anywhere} against {place}");
}

#[test]
fn sequential_writes_become_whole_stripes() {
    let cache = back(64 << 20, 0.5, 4, Layout::InPlace);
    let mut rig = Rig::under(0.0, &group(Raid::Raid5, 8, 2), Some(&cache));
    for job in 0..200_000u64 {
        rig.submit(0, Kind::Write, job * 4096 % DISK_BYTES, 4096);
        if job % 64 == 0 {
            rig.run(rig.now_ns + 5_000_000);
        }
    }
    let destaged = rig.array.fill().unwrap().out_bytes;
    // Eight accesses for seven units of 64 KiB.
    let each = rig.accesses() as f64 / (destaged as f64 / 65_536.0);
    assert!((each / (8.0 / 7.0) - 1.0).abs() < 0.02, "{each}");
}

#[test]
fn reads_hit_by_share_and_streams_by_read_ahead() {
    let mut cache = back(1 << 20, 1.0, 4, Layout::InPlace);
    cache.write = WriteCache::Through;
    cache.read_bytes = DISK_BYTES / 4;
    let mut rig = Rig::new(&group(Raid::Raid5, 8, 1), Some(&cache));
    let (count, _) = rig.closed(Kind::Read, 4096, 8, 20 * SECOND_NS);
    let misses = rig.accesses() as f64 / count as f64;
    assert!((misses - 0.75).abs() < 0.01, "{misses}");
    rig.run(rig.now_ns + SECOND_NS);
    // One request after another: of 7 units read at once each disk has one.
    let before = (rig.accesses(), rig.now_ns);
    for unit in 0..700 {
        rig.ended.clear();
        rig.submit(unit, Kind::Read, u64::from(unit) * 65_536, 65_536);
        while rig.ended.is_empty() {
            rig.step(u64::MAX - 1);
        }
    }
    // Without read-ahead 700 ms; with it the stream waits for the disks at most once per segment.
    let took_ms = (rig.now_ns - before.1) / 1_000_000;
    assert!(took_ms <= 110, "{took_ms}");
    // At the end as much is in flight as the stream keeps ahead, at most eight stripes and the rest of one.
    let accesses = rig.accesses() - before.0;
    assert!((700..=700 + 9 * 7).contains(&accesses), "{accesses}");
}

#[test]
fn dirty_bytes_are_read_from_memory() {
    let cache = back(DISK_BYTES / 2, 0.5, 4, Layout::InPlace);
    let mut rig = Rig::new(&group(Raid::Raid5, 8, 1), Some(&cache));
    rig.submit(0, Kind::Write, 0, 65_536);
    rig.run(20 * SECOND_NS);
    let dirty = rig.array.write_back.as_ref().unwrap().dirty() as f64 / DISK_BYTES as f64;
    assert!((0.2..=0.25).contains(&dirty), "{dirty}");
    let before = rig.accesses();
    let (count, _) = rig.closed(Kind::Read, 4096, 8, 10 * SECOND_NS);
    let misses = (rig.accesses() - before) as f64 / count as f64;
    assert!((misses - (1.0 - dirty)).abs() < 0.01, "{misses} {dirty}");
}

#[test]
fn nothing_is_kept_of_what_is_over() {
    let mut cache = back(4 << 20, 0.5, 4, Layout::InPlace);
    cache.read_bytes = DISK_BYTES / 8;
    let mut rig = Rig::new(&group(Raid::Raid6, 8, 2), Some(&cache));
    rig.closed(Kind::Write, 1 << 20, 16, 5 * SECOND_NS);
    rig.closed(Kind::Read, 1 << 20, 16, 5 * SECOND_NS);
    rig.run(rig.now_ns + 60 * SECOND_NS);
    let in_use = [rig.array.operations.in_use(), rig.array.spans.in_use(), rig.accesses.in_use()];
    assert_eq!(in_use, [0; 3]);
    assert!(rig.array.queued.iter().all(|&queued| queued == 0));
}

#[test]
fn a_cache_smaller_than_a_stripe_still_works() {
    for layout in [Layout::InPlace, Layout::WriteAnywhere] {
        let cache = back(16 << 10, 0.9, 1, layout);
        let mut rig = Rig::new(&group(Raid::Raid6, 8, 2), Some(&cache));
        let (count, _) = rig.closed(Kind::Write, 4096, 8, SECOND_NS);
        assert!(count > 500, "{count}");
        // Larger than all of it: written through.
        rig.run(rig.now_ns + SECOND_NS);
        rig.ended.clear();
        rig.submit(1, Kind::Write, 0, 65_536);
        rig.run(rig.now_ns + SECOND_NS);
        assert_eq!(rig.ended.len(), 1);
    }
}

#[test]
fn what_is_all_in_memory_never_reaches_the_disks() {
    let mut cache = back(0, 0.0, 1, Layout::InPlace);
    (cache.write, cache.read_bytes) = (WriteCache::Through, DISK_BYTES);
    let mut rig = Rig::new(&group(Raid::Raid5, 8, 1), Some(&cache));
    (0..100).for_each(|unit| rig.submit(0, Kind::Read, unit * 65_536, 65_536));
    assert_eq!((rig.ended.len(), rig.accesses()), (100, 0));
}

#[test]
fn a_disk_lost_under_a_write_back_cache_fails_nothing() {
    for layout in [Layout::InPlace, Layout::WriteAnywhere] {
        let cache = back(1 << 20, 0.5, 4, layout);
        let mut description = group(Raid::Raid6, 8, 1);
        description.spares = 1;
        let mut rig = Rig::new(&description, Some(&cache));
        for (disk, kind) in [(2, Kind::Write), (5, Kind::Read), (2, Kind::Write)] {
            let (_, failed) = rig.closed(kind, 4096, 16, SECOND_NS);
            assert_eq!(failed, 0, "{layout:?}");
            rig.fault(DiskFault::Lost(disk));
        }
        let (count, failed) = rig.closed(Kind::Read, 4096, 16, SECOND_NS);
        assert!(count > 0 && failed == 0, "{layout:?} {count} {failed}");
        rig.fault(DiskFault::Slow(1, 10.0));
        let (slower, _) = rig.closed(Kind::Read, 4096, 16, SECOND_NS);
        assert!(slower < count / 2, "{slower} {count}");
    }
}
