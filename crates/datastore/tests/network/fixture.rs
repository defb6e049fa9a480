//! A datastore opened, filled and driven as the runner does it, in miniature.

use std::time::{Duration, Instant};

use stormeter_datastore::{
    Datastore, DatastoreError, DatastoreUrl, DiskSet, DiskSpec, OpenDisks, OpenOptions, Preparation,
};
use stormeter_disk::{Completion, Disks, Incident, Kind, Operation, Wait};

pub(crate) const RUN: &str = "00112233445566aa";
pub(crate) const MIB: u64 = 1 << 20;

/// What prepared disks hold: every eight bytes tell their disk and place.
pub(crate) fn content(disk: u32, offset: u64, bytes: &mut [u8]) {
    for (index, word) in bytes.chunks_mut(8).enumerate() {
        let place = ((u64::from(disk) << 48) | (offset + index as u64 * 8)).to_le_bytes();
        word.copy_from_slice(&place[..word.len()]);
    }
}

pub(crate) fn open(url: &str) -> Result<Datastore, DatastoreError> {
    let url = DatastoreUrl::parse(url).unwrap();
    Datastore::open(&url, OpenOptions { run_id: RUN.into(), ..OpenOptions::default() })
}

/// Opens and fills disks of `size_bytes` each.
pub(crate) fn prepared(url: &str, count: u32, size_bytes: u64) -> Datastore {
    let mut datastore = open(url).unwrap_or_else(|error| panic!("{url}: {error}"));
    let disks = DiskSpec { count, size_bytes, granularity_bytes: 512 };
    datastore.check(&disks).unwrap();
    let mut reported = 0;
    let prepared = datastore
        .prepare(Preparation {
            disks,
            content_id: 7,
            fill: &content,
            progress: &mut |done, total| {
                assert!(done >= reported && done <= total);
                reported = done;
            },
            cancelled: &|| false,
        })
        .unwrap_or_else(|error| panic!("{url}: {error}"));
    assert!(!prepared.reused);
    assert_eq!(reported, disks.total_bytes());
    datastore
}

/// Disks of a thread, with the memory for its operations.
pub(crate) fn disks(datastore: &Datastore, count: u32, memory: OpenDisks) -> DiskSet {
    datastore.disks(0..count, memory).unwrap()
}

/// Submits operations and waits for all of them, at most so long.
pub(crate) fn drive(set: &mut DiskSet, operations: &[Operation]) -> Vec<Completion> {
    set.submit(operations).unwrap();
    wait(set, operations.len())
}

/// Waits for this number of completions.
pub(crate) fn wait(set: &mut DiskSet, count: usize) -> Vec<Completion> {
    let until = Instant::now() + Duration::from_secs(30);
    let mut done = Vec::new();
    while done.len() < count {
        assert!(Instant::now() < until, "{} of {count} completed", done.len());
        set.reap(Wait::AtMost(50_000_000), &mut done).unwrap();
    }
    done
}

/// An operation whose slot is its buffer.
pub(crate) fn operation(kind: Kind, disk: u32, slot: u32, offset: u64, length: u32) -> Operation {
    Operation { offset_bytes: offset, length_bytes: length, disk, slot, buffer: slot, kind }
}

/// Takes leave of the server.
pub(crate) fn finish(mut set: DiskSet) -> Vec<Incident> {
    let close_summary = set.finish(&|| false);
    assert_eq!(close_summary.lost, None);
    close_summary.incidents
}
