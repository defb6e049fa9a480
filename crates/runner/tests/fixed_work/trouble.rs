//! Servers that die, disks that shrink, trials of fixed work that cannot be done.

use std::fs::File;

use stormeter_runner::{FixedWorkRun, RunError};
use stormeter_study::{WorkloadKind, profile};
use stormeter_trial::{
    Deployment, Ended, FileOperation, FileTest, Transfer, TransferDirection, TransferSink,
};

use crate::fixture::*;

const DISK: u64 = 2 << 20;

/// More than can be done before the end of the server.
fn endless() -> [WorkloadKind; 3] {
    let transfer = |direction| {
        let (message_bytes, sink, messages) = (200_000, TransferSink::Disk, u32::MAX);
        WorkloadKind::Transfer(Transfer { message_bytes, direction, sink, messages })
    };
    [
        WorkloadKind::Deploy(Deployment {
            clone: false,
            copy_bytes: 64 << 10,
            outstanding: 2,
            customise_writes: 100,
            boot_reads: u32::MAX,
        }),
        transfer(TransferDirection::Write),
        transfer(TransferDirection::Read),
    ]
}

#[test]
fn a_server_that_dies_in_the_middle_fails_the_trial_with_a_reason() {
    for workload in endless() {
        let run = fixed_work(&workload, 2, DISK);
        let mut place = Place::prepared(Kind::Nfs, &run);
        let mut server = place.server.take();
        let (end, _) = place.run_with(&run, |_| drop(server.take()));
        let end = end.unwrap();
        assert_eq!(
            end.sample.ended,
            Ended::TooManyErrors,
            "{workload:?}: {:?}",
            end.sample.io_failures
        );
        let reason = end.failure().unwrap().to_string();
        assert!(reason.contains("first: ") && reason.contains("timed out"), "{reason}");
        // What is left belongs to a server that is gone.
        place.store.keep();
    }
}

#[test]
fn a_file_test_whose_server_dies_ends_likewise() {
    let workload = WorkloadKind::File(FileTest {
        operation: FileOperation::RandomRead,
        record_bytes: 512,
        outstanding: 1,
        client_cache: false,
        flush_at_end: false,
    });
    let run = FixedWorkRun { interval_ns: 1_000_000, ..fixed_work(&workload, 2, 8 << 20) };
    let mut place = Place::prepared(Kind::Nfs, &run);
    let mut server = place.server.take();
    let (end, _) = place.run_with(&run, |_| drop(server.take()));
    let end = end.unwrap();
    assert_eq!(end.sample.ended, Ended::TooManyErrors);
    assert!(end.failure().unwrap().to_string().contains("timed out"), "{:?}", end.failure());
    place.store.keep();
}

#[test]
fn a_disk_that_was_cut_off_fails_the_transfer_that_reads_it() {
    let workload = WorkloadKind::Transfer(Transfer {
        message_bytes: 1 << 20,
        direction: TransferDirection::Read,
        sink: TransferSink::Disk,
        messages: 4,
    });
    let run = fixed_work(&workload, 2, DISK);
    let place = Place::prepared(Kind::Directory, &run);
    File::options().write(true).open(place.file(1)).unwrap().set_len(DISK / 2 + 8192).unwrap();
    let end = place.run(&run).unwrap();
    assert_eq!(end.sample.ended, Ended::TooManyErrors);
    let failure = &end.sample.io_failures[0];
    assert!(failure.disk == 1 && failure.offset_bytes >= DISK / 2, "{failure}");
    assert!(end.failure().unwrap().to_string().contains("bytes moved"), "{:?}", end.failure());
    // The other pair was not disturbed.
    assert_eq!(end.sample.disks[0].operations, 4);
    // That one begins in the part that was cut off.
    assert_eq!(end.sample.disks[1].operations, 0);
}

#[test]
fn what_cannot_be_done_is_refused_before_any_thread_is_started() {
    let place = Place::prepared(Kind::Directory, &fixed_work(&endless()[1], 1, DISK));
    let refused = |workload: &WorkloadKind, change: &dyn Fn(&mut FixedWorkRun<'_>)| {
        let mut run = fixed_work(workload, 1, DISK);
        change(&mut run);
        match place.run(&run) {
            Err(RunError::FixedWork(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let [deploy, write, _] = endless();
    for workload in [&deploy, &write] {
        assert!(refused(workload, &|run| run.vms = 0).contains("at least one VM"));
        assert!(refused(workload, &|run| run.interval_ns = 0).contains("interval"));
        assert!(refused(workload, &|run| run.disk_bytes = 512).contains("larger"));
    }
    assert!(refused(&deploy, &|run| run.outstanding = Some(0)).contains("outstanding"));
    let io = WorkloadKind::Io(profile("vm-4k").unwrap().workload);
    assert!(refused(&io, &|_| {}).contains("timed workload"));
    // Disks that were not prepared are the datastore's to refuse.
    let error = place.run(&fixed_work(&deploy, 5, DISK)).unwrap_err();
    assert!(matches!(error, RunError::Datastore { .. }), "{error}");
    let huge = WorkloadKind::Transfer(Transfer {
        message_bytes: 1 << 50,
        direction: TransferDirection::Write,
        sink: TransferSink::Memory,
        messages: 1,
    });
    assert!(matches!(place.run(&fixed_work(&huge, 1, DISK)), Err(RunError::Memory { .. })));
}
