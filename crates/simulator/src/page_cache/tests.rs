//! The cache in front of disks that record what is asked of them.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_site::PageCache;

use super::CachedDisks;
use crate::disks::{FaultPlan, Model, Service, SimulatedDisks};
use crate::noise::{HostNoise, NoisePlan};
use crate::time::VirtualTime;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const RECORD: u64 = 4 * KIB;
const MS: u64 = 1_000_000;

/// Records are copied in 4 us, requests have 16 records, and half of a mebibyte may be dirty.
const PLAN: PageCache = PageCache {
    memory_bytes: 4 * MIB,
    dirty_share: 0.125,
    request_bytes: 64 << 10,
    outstanding: 2,
    per_read_ns: 0.0,
    per_write_ns: 0.0,
    copy_bytes_per_s: 1.024e9,
};

/// Disks that record what was submitted to them.
struct Watched {
    disks: SimulatedDisks,
    submitted: Vec<Operation>,
    outstanding: usize,
    deepest: usize,
}

impl Disks for Watched {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.submitted.extend_from_slice(operations);
        self.outstanding += operations.len();
        self.deepest = self.deepest.max(self.outstanding);
        self.disks.submit(operations)
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let before = completions.len();
        self.disks.reap(wait, completions)?;
        self.outstanding -= completions.len() - before;
        Ok(())
    }

    fn buffer(&mut self, _buffer: u32) -> Option<&mut [u8]> {
        None
    }
}

/// Disks on which each request takes a millisecond.
fn watched(faults: FaultPlan) -> (Watched, VirtualTime) {
    let time = VirtualTime::new();
    let model = Model { servers: 8, service: Service::Constant { ns: MS }, faults };
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let disks = SimulatedDisks::new(time.clone(), model, noise, 1);
    (Watched { disks, submitted: Vec::new(), outstanding: 0, deepest: 0 }, time)
}

fn operation(kind: Kind, record: u64) -> Operation {
    let length_bytes = if kind == Kind::Flush { 0 } else { RECORD as u32 };
    Operation { offset_bytes: record * RECORD, length_bytes, disk: 0, slot: 9, buffer: 0, kind }
}

/// What one operation takes, and its result.
fn carried_out(
    cached: &mut CachedDisks<'_, Watched>,
    time: &VirtualTime,
    operation: Operation,
) -> (u64, i32) {
    let began_ns = time.now_ns();
    cached.submit(&[operation]).unwrap();
    let mut completions = Vec::new();
    while completions.is_empty() {
        cached.reap(Wait::AtMost(10 * MS), &mut completions).unwrap();
    }
    assert_eq!((completions.len(), completions[0].slot), (1, 9));
    (time.now_ns() - began_ns, completions[0].result)
}

fn sizes(submitted: &[Operation], kind: Kind) -> Vec<u64> {
    let own = submitted.iter().filter(|one| one.kind == kind);
    own.map(|one| u64::from(one.length_bytes) / RECORD).collect()
}

#[test]
fn records_are_copied_and_written_back_in_large_requests_at_the_flush() {
    let (mut disks, time) = watched(FaultPlan::default());
    let mut cached = CachedDisks::new((&mut disks, time.clone()), PLAN, 2, MIB);
    for record in 0..40 {
        let took = carried_out(&mut cached, &time, operation(Kind::Write, record));
        assert_eq!(took, (4000, RECORD as i32));
    }
    assert!(cached.disks.submitted.is_empty(), "less than half of what may be dirty");
    // Three requests, two at a time, and the flush of the disk.
    let took = carried_out(&mut cached, &time, operation(Kind::Flush, 0));
    assert_eq!(took, (3 * MS, 0));
    assert_eq!(sizes(&disks.submitted, Kind::Write), [16, 16, 8]);
    assert_eq!(disks.submitted.last().map(|one| one.kind), Some(Kind::Flush));
    assert_eq!(disks.deepest, 2);
}

#[test]
fn a_writer_waits_when_too_much_is_dirty_and_every_byte_is_written_back_once() {
    let (mut disks, time) = watched(FaultPlan::default());
    let mut cached = CachedDisks::new((&mut disks, time.clone()), PLAN, 2, 2 * MIB);
    let took: Vec<u64> = (0..512)
        .map(|record| carried_out(&mut cached, &time, operation(Kind::Write, record)).0)
        .collect();
    // 128 records may be dirty; from 64 on they are written back, 32 in a millisecond.
    let first = took.iter().position(|took| *took > 4000).unwrap();
    assert!((128..=140).contains(&first), "{first}");
    let all_ns: u64 = took[first..].iter().sum();
    let expected_ns = (512 - first as u64) * MS / 32;
    assert!(all_ns.abs_diff(expected_ns) < 2 * MS, "{all_ns} {expected_ns}");
    carried_out(&mut cached, &time, operation(Kind::Flush, 0));
    assert_eq!(cached.dirty_bytes, 0);
    let written: u64 = sizes(&disks.submitted, Kind::Write).iter().sum();
    assert_eq!(written, 512);
    let mut starts: Vec<u64> = disks.submitted.iter().map(|one| one.offset_bytes).collect();
    starts.pop();
    starts.dedup();
    assert!(starts.is_sorted(), "in the order of the file: {starts:?}");
}

#[test]
fn a_record_that_is_written_twice_is_written_back_once() {
    let (mut disks, time) = watched(FaultPlan::default());
    let mut cached = CachedDisks::new((&mut disks, time.clone()), PLAN, 2, MIB);
    for _ in 0..5 {
        carried_out(&mut cached, &time, operation(Kind::Write, 3));
    }
    carried_out(&mut cached, &time, operation(Kind::Flush, 0));
    assert_eq!(sizes(&disks.submitted, Kind::Write), [1]);
}

#[test]
fn reads_in_order_are_read_ahead_and_read_again_from_memory() {
    let (mut disks, time) = watched(FaultPlan::default());
    let mut cached = CachedDisks::new((&mut disks, time.clone()), PLAN, 2, 60 * RECORD);
    let first: u64 = (0..60)
        .map(|record| carried_out(&mut cached, &time, operation(Kind::Read, record)).0)
        .sum();
    assert_eq!(sizes(&cached.disks.submitted, Kind::Read), [16, 16, 16, 12]);
    assert!(
        first < 4 * MS,
        "each request but the first arrives while the one before is read: {first}"
    );
    for record in (0..60).rev() {
        let took = carried_out(&mut cached, &time, operation(Kind::Read, record));
        assert_eq!(took, (4000, RECORD as i32));
    }
}

#[test]
fn reads_in_no_order_are_read_by_themselves() {
    let (mut disks, time) = watched(FaultPlan::default());
    let mut cached = CachedDisks::new((&mut disks, time.clone()), PLAN, 2, MIB);
    for record in [7, 3, 90, 41] {
        let took = carried_out(&mut cached, &time, operation(Kind::Read, record));
        assert_eq!(took, (MS + 4000, RECORD as i32));
    }
    assert_eq!(sizes(&disks.submitted, Kind::Read), [1; 4]);
}

#[test]
fn copies_take_turns_on_the_cores_and_each_call_has_its_time() {
    let (mut disks, time) = watched(FaultPlan::default());
    let plan = PageCache { per_write_ns: 1000.0, ..PLAN };
    let mut cached = CachedDisks::new((&mut disks, time.clone()), plan, 2, MIB);
    let all: Vec<Operation> = (0..5).map(|record| operation(Kind::Write, record)).collect();
    cached.submit(&all).unwrap();
    let mut completions = Vec::new();
    while completions.len() < 5 {
        let mut more = Vec::new();
        cached.reap(Wait::AtMost(MS), &mut more).unwrap();
        completions.append(&mut more);
    }
    assert_eq!(time.now_ns(), 3 * 5000, "five records on two cores, 5 us each");
}

#[test]
fn what_could_not_be_written_back_fails_the_flush() {
    let (mut disks, time) = watched(FaultPlan { errors: 1.0, ..FaultPlan::default() });
    let mut cached = CachedDisks::new((&mut disks, time.clone()), PLAN, 2, MIB);
    let took = carried_out(&mut cached, &time, operation(Kind::Write, 0));
    assert_eq!(took.1, RECORD as i32, "it was copied");
    assert!(carried_out(&mut cached, &time, operation(Kind::Flush, 0)).1 < 0);
    assert!(carried_out(&mut cached, &time, operation(Kind::Read, 50)).1 < 0);
}
