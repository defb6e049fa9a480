//! Messages between a client and a server, in memory and onto disks.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use stormeter_study::WorkloadKind;
use stormeter_trial::{Ended, Transfer, TransferDirection, TransferSink};

use crate::fixture::*;

const DISK: u64 = 4 << 20;
/// Messages go to disks in pieces of this, and begin at a multiple of it.
const CHUNK: u64 = 256 << 10;

fn transfer(
    message_bytes: u64,
    direction: TransferDirection,
    sink: TransferSink,
    messages: u32,
) -> WorkloadKind {
    WorkloadKind::Transfer(Transfer { message_bytes, direction, sink, messages })
}

#[test]
fn all_messages_arrive_in_both_directions_and_on_both_sinks() {
    for (kind, vms) in [(Kind::Directory, 1), (Kind::Directory, 3), (Kind::Nfs, 2)] {
        for sink in [TransferSink::Memory, TransferSink::Disk] {
            for direction in [TransferDirection::Write, TransferDirection::Read] {
                // Less than a block, no whole block, and many chunks.
                for (message_bytes, messages) in [(100, 30), (100_000, 20), (1_500_001, 5)] {
                    let workload = transfer(message_bytes, direction, sink, messages);
                    let run = fixed_work(&workload, vms, DISK);
                    let place = Place::prepared(kind, &run);
                    let before = place.disk(vms.min(run.disks()).saturating_sub(1));
                    let end = place.run(&run).unwrap();
                    assert_complete(&end, vms);
                    assert_laws(&end.sample, message_bytes);
                    let count = u64::from(vms * messages);
                    let moved = match direction {
                        TransferDirection::Write => &end.sample.writes,
                        TransferDirection::Read => &end.sample.reads,
                    };
                    assert_eq!((moved.operations, moved.bytes), (count, count * message_bytes));
                    let step = &end.sample.steps[0];
                    assert_eq!((step.name.as_str(), step.times), ("transfer", count));
                    assert_eq!(step.total_ns, moved.latency_sum_ns);
                    let after = place.disk(vms.min(run.disks()).saturating_sub(1));
                    let is_kept =
                        (sink, direction) == (TransferSink::Disk, TransferDirection::Write);
                    assert_eq!(before != after, is_kept, "{sink:?} {direction:?}");
                    assert_eq!(place.store.remove(), None);
                }
            }
        }
    }
}

/// The bytes of a disk are those of the messages, one behind the other in whole blocks, and none twice.
#[test]
fn messages_lie_on_the_disk_one_behind_the_other_and_none_like_another() {
    let workload = transfer(100_000, TransferDirection::Write, TransferSink::Disk, 10);
    let run = fixed_work(&workload, 2, DISK);
    let place = Place::prepared(Kind::Directory, &run);
    // From where the messages of this trial begin on.
    let from_start = |disk: u32| {
        let mut bytes = place.disk(disk);
        bytes.rotate_left(run.start.place(disk, DISK / CHUNK) as usize * CHUNK as usize);
        bytes
    };
    let prepared = [from_start(0), from_start(1)];
    place.run(&run).unwrap();
    let mut seen = HashSet::new();
    for (disk, prepared) in prepared.iter().enumerate() {
        let written = from_start(disk as u32);
        // 25 blocks a message; the last one has 1696 bytes of it.
        let messages = written.chunks(25 * 4096).take(10);
        for (index, message) in messages.enumerate() {
            let old = &prepared[index * 25 * 4096..][..message.len()];
            for (block, old) in message.chunks(4096).zip(old.chunks(4096)) {
                assert!(block != old && seen.insert(block[..64].to_vec()), "message {index}");
            }
        }
        assert!(written[250 * 4096..] == prepared[250 * 4096..], "more was written");
    }
}

#[test]
fn a_message_may_be_larger_than_the_disk() {
    for direction in [TransferDirection::Write, TransferDirection::Read] {
        let workload = transfer(10_000_000, direction, TransferSink::Disk, 2);
        let run = fixed_work(&workload, 1, DISK + 4096);
        let end = Place::prepared(Kind::Directory, &run).run(&run).unwrap();
        assert_complete(&end, 1);
        assert_eq!(end.sample.bytes(), 20_000_000);
    }
}

#[test]
fn it_stops_when_asked_to() {
    for sink in [TransferSink::Memory, TransferSink::Disk] {
        for direction in [TransferDirection::Write, TransferDirection::Read] {
            let workload = transfer(10_000, direction, sink, u32::MAX);
            let run = fixed_work(&workload, 2, DISK);
            let place = Place::prepared(Kind::Directory, &run);
            let (end, _) = place.run_with(&run, |cancel| cancel.store(true, Ordering::Relaxed));
            let end = end.unwrap();
            assert_eq!(end.sample.ended, Ended::Cancelled, "{sink:?} {direction:?}");
            assert!(end.sample.operations() > 0);
            assert!(end.failure().unwrap().to_string().contains("stopped on request"));
        }
    }
}
