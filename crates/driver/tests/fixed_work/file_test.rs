//! One pass over a file: every record once, in order, in the time that the model takes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use stormeter_disk::{Clock, Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::drive_file_test;
use stormeter_simulator::{HostNoise, NoisePlan, Service, SimulatedDisks, VirtualTime};
use stormeter_trial::{Ended, FileOperation, FileTest, FixedWork, FixedWorkTrial, Limits};

use crate::setting::*;

fn records(submitted: &[Operation], disk: u32) -> Vec<u64> {
    let own = submitted.iter().filter(|one| one.disk == disk);
    own.map(|one| one.offset_bytes / u64::from(RECORD)).collect()
}

#[test]
fn every_record_is_visited_once_in_the_order_of_the_test() {
    let mut orders = Vec::new();
    for operation in FileOperation::ALL {
        for outstanding in [1, 3] {
            let trial = file_test(operation, outstanding, 2);
            let (sample, submitted) = run(&trial, constant(100 * US, 64));
            assert_eq!(sample.ended, Ended::Completed);
            assert_eq!(sample.operations(), 2 * RECORDS);
            let kind = if operation.reads() { Kind::Read } else { Kind::Write };
            assert_eq!(sample.kind(kind).bytes, 2 * DISK);
            for disk in 0..2 {
                let visited = records(&submitted, disk);
                assert_eq!(visited.is_sorted(), !operation.is_random(), "{}", operation.name());
                let mut sorted = visited.clone();
                sorted.sort_unstable();
                assert!(sorted.iter().copied().eq(0..RECORDS), "{}", operation.name());
                if operation.is_random() {
                    orders.push(visited);
                }
            }
            assert!(submitted.iter().all(|one| one.kind == kind && one.length_bytes == RECORD));
        }
    }
    // The order belongs to the worker and depends neither on the test nor on its queue depth.
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 2);
}

#[test]
fn the_order_follows_from_seed_and_worker() {
    let trial = file_test(FileOperation::RandomRead, 1, 2);
    let (_, first) = run(&trial, constant(100 * US, 64));
    assert_eq!(first, run(&trial, constant(100 * US, 64)).1);
    let (_, other) = run(&FixedWorkTrial { seed: 12, ..trial }, constant(100 * US, 64));
    assert_ne!(records(&first, 0), records(&other, 0));
    // The second worker of one thread is the first of the next.
    let (_, next) =
        run(&FixedWorkTrial { first_disk: 4, disks: 1, ..trial }, constant(100 * US, 64));
    assert_eq!(records(&first, 1), records(&next, 0));
}

/// With a server for every outstanding request, a pass takes as long as its rounds; with fewer, the
/// servers are never idle (except in the last round).
#[test]
fn it_takes_the_time_of_the_model() {
    let service_ns = 100 * US;
    for (outstanding, workers, servers) in [(1, 1, 1), (1, 1, 8), (4, 2, 8), (4, 4, 2)] {
        let trial = file_test(FileOperation::Read, outstanding, workers);
        let (sample, watched) = run_watched(&trial, constant(service_ns, servers), &mut ());
        let parallel = u64::from(servers.min(outstanding * workers));
        let expected_ns = RECORDS * u64::from(workers) / parallel * service_ns;
        assert_eq!(sample.window_ns, expected_ns, "{outstanding} {workers} {servers}");
        assert_eq!(watched.deepest as u32, outstanding * workers);
        assert_eq!(sample.intervals.len() as u64, expected_ns.div_ceil(MS));
        let step = &sample.steps[0];
        assert_eq!((step.name.as_str(), step.times), ("read", u64::from(workers)));
        assert_eq!(step.max_ns, expected_ns);
        assert!(step.total_ns <= u64::from(workers) * expected_ns);
        let numbers: Vec<u32> = sample.disks.iter().map(|disk| disk.disk).collect();
        assert!(numbers.into_iter().eq(3..3 + workers));
    }
}

/// The flush is part of the time, of the window and of the step, and no operation.
#[test]
fn a_flush_at_the_end_counts_as_time_and_not_as_an_operation() {
    for (outstanding, workers) in [(1, 1), (4, 3)] {
        let plain = file_test(FileOperation::Write, outstanding, workers);
        let FixedWork::File(test) = plain.fixed_work else { unreachable!() };
        let work = FixedWork::File(FileTest { flush_at_end: true, ..test });
        let (before, _) = run(&plain, constant(100 * US, 64));
        let (sample, submitted) =
            run(&FixedWorkTrial { fixed_work: work, ..plain }, constant(100 * US, 64));
        assert_eq!(sample.ended, Ended::Completed);
        assert_eq!(sample.operations(), before.operations());
        assert_eq!(sample.window_ns, before.window_ns + 100 * US);
        assert_eq!(sample.steps[0].max_ns, before.steps[0].max_ns + 100 * US);
        for disk in 0..workers {
            let own: Vec<Kind> =
                submitted.iter().filter(|one| one.disk == disk).map(|one| one.kind).collect();
            assert_eq!(own.iter().filter(|kind| **kind == Kind::Flush).count(), 1);
            assert_eq!(own.last(), Some(&Kind::Flush), "after all of its records");
        }
    }
}

/// It may have to write the whole file first, which takes longer than any I/O may.
#[test]
fn a_flush_that_takes_longer_than_an_io_may_is_no_stall() {
    let plain = file_test(FileOperation::Write, 1, 1);
    let FixedWork::File(test) = plain.fixed_work else { unreachable!() };
    let trial = FixedWorkTrial {
        fixed_work: FixedWork::File(FileTest { flush_at_end: true, ..test }),
        limits: Limits { stall_ns: 200 * MS, ..plain.limits },
        ..plain
    };
    let ended = |flush_ns: u64| {
        let time = VirtualTime::new();
        let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
        let mut disks = SimulatedDisks::new(time.clone(), constant(100 * US, 1), noise, 1)
            .flushing_in(Service::Constant { ns: flush_ns });
        let mut clock = time.clock();
        drive_file_test(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap().ended
    };
    // The file has 1 MiB, for which a flush has a second more.
    assert_eq!(ended(1000 * MS), Ended::Completed);
    assert_eq!(ended(2000 * MS), Ended::Stalled { outstanding: 1 });
}

#[test]
fn what_is_written_is_random_and_no_block_like_another() {
    for operation in [FileOperation::Write, FileOperation::RandomWrite] {
        let mut trial = file_test(operation, 4, 2);
        // More than the buffers that are taken in turn.
        trial.disk_bytes = 8 * DISK;
        let time = VirtualTime::new();
        let mut disks = MemoryDisks::new(&trial, time.clone(), |_, _| 0);
        let mut clock = time.clock();
        let sample = drive_file_test(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap();
        assert_laws(&sample);
        assert!(clock.now_ns() >= sample.window_ns);
        let mut seen = HashSet::new();
        for disk in &disks.disks {
            for block in disk.chunks(4096) {
                assert!(seen.insert(block[..64].to_vec()), "a block comes twice");
                assert!(block.iter().filter(|&&byte| byte == 0).count() < 64, "a block is empty");
            }
        }
    }
}

#[test]
fn reading_changes_nothing_and_a_rest_behind_the_last_record_is_left_alone() {
    let mut trial = file_test(FileOperation::Rewrite, 2, 1);
    trial.disk_bytes += 4096;
    let time = VirtualTime::new();
    let mut disks = MemoryDisks::new(&trial, time.clone(), |_, _| 7);
    let sample =
        drive_file_test(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    assert_eq!(sample.operations(), RECORDS);
    assert!(disks.disks[0][DISK as usize..].iter().all(|&byte| byte == 7));
    assert!(disks.disks[0][DISK as usize - 4096..DISK as usize].iter().any(|&byte| byte != 7));

    let before = disks.disks.clone();
    let FixedWork::File(test) = &mut trial.fixed_work else { panic!() };
    test.operation = FileOperation::Reread;
    drive_file_test(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap();
    assert!(disks.disks == before);
}

#[test]
fn threads_that_end_one_by_one_are_joined_without_breaking_little_s_law() {
    let trial = file_test(FileOperation::Read, 2, 1);
    let (short, _) = run(&trial, constant(100 * US, 8));
    let (long, _) = run(&FixedWorkTrial { first_disk: 4, ..trial }, constant(330 * US, 8));
    let window_ns = long.window_ns;
    let mut joined = short.over(window_ns);
    joined.merge(long.over(window_ns));
    assert_laws(&joined);
    assert_eq!(joined.operations(), 2 * RECORDS);
    assert_eq!(joined.steps[0].times, 2);
}

/// Disks on which submitting a request takes time, as on a busy machine.
struct SlowlyHandedOver {
    disks: SimulatedDisks,
    time: VirtualTime,
}

impl Disks for SlowlyHandedOver {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.time.advance_to(self.time.now_ns() + 7 * US);
        self.disks.submit(operations)
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        self.disks.reap(wait, completions)
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.disks.buffer(buffer)
    }
}

/// Slots that wait while others are submitted are not outstanding, or the work could violate Little's law.
#[test]
fn what_waits_for_its_turn_is_not_outstanding() {
    let trial = file_test(FileOperation::Read, 4, 2);
    let time = VirtualTime::new();
    let calm = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let disks = SimulatedDisks::new(time.clone(), constant(20 * US, 8), calm, 1);
    let mut clock = time.clock();
    let mut disks = SlowlyHandedOver { disks, time };
    let sample = drive_file_test(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap();
    assert_laws(&sample);
    let waited = sample.turn_wait_ns.unwrap() as f64 / sample.window_ns as f64;
    assert!(waited > 0.5, "{waited} of 8 waited in the mean");
}
