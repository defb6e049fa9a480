//! File tests and deployments.

use std::fs;
use std::sync::atomic::Ordering;

use stormeter_runner::RunError;
use stormeter_study::WorkloadKind;
use stormeter_trial::{Deployment, Ended, FileOperation, FileTest};

use crate::fixture::*;

const RECORD: u32 = 16 << 10;
const DISK: u64 = 1 << 20;
const RECORDS: u64 = DISK / RECORD as u64;
const VMS: u32 = 3;

fn file(operation: FileOperation, client_cache: bool) -> WorkloadKind {
    let record_bytes = RECORD;
    WorkloadKind::File(FileTest {
        operation,
        record_bytes,
        outstanding: 1,
        client_cache,
        flush_at_end: false,
    })
}

#[test]
fn every_file_test_moves_every_record_of_every_file() {
    for kind in KINDS {
        let write = file(FileOperation::Write, false);
        let mut place = Place::prepared(kind, &fixed_work(&write, VMS, DISK));
        for operation in FileOperation::ALL {
            for outstanding in [None, Some(4)] {
                let workload = file(operation, false);
                let mut run = fixed_work(&workload, VMS, DISK);
                run.outstanding = outstanding;
                assert_eq!(run.wants_fresh_files(), operation == FileOperation::Write);
                if run.wants_fresh_files() {
                    place.store.make_fresh(0..VMS).unwrap();
                    assert_eq!(fs::metadata(place.file(0)).unwrap().len(), 0);
                }
                let before = place.disk(1);
                let end = place.run(&run).unwrap();
                assert_complete(&end, VMS);
                assert_laws(&end.sample, u64::from(RECORD));
                assert_eq!(end.sample.operations(), u64::from(VMS) * RECORDS);
                let moved = if operation.reads() { &end.sample.reads } else { &end.sample.writes };
                assert_eq!(moved.bytes, u64::from(VMS) * DISK);
                let step = &end.sample.steps[0];
                assert_eq!((step.name.as_str(), step.times), (operation.name(), u64::from(VMS)));
                assert!(step.max_ns <= end.sample.window_ns);
                let after = place.disk(1);
                assert_eq!(after.len() as u64, DISK);
                assert_eq!(before == after, operation.reads());
            }
        }
        assert_eq!(place.store.remove(), None);
    }
}

#[test]
fn the_client_cache_is_had_where_there_is_one() {
    let workload = file(FileOperation::Rewrite, true);
    let run = fixed_work(&workload, VMS, DISK);
    let end = Place::prepared(Kind::Directory, &run).run(&run).unwrap();
    assert_complete(&end, VMS);
    let error = Place::prepared(Kind::Nfs, &run).run(&run).unwrap_err();
    assert!(matches!(error, RunError::Datastore { .. }));
    assert!(error.to_string().contains("without a client cache"), "{error}");
}

fn deployment(boot_reads: u32) -> WorkloadKind {
    let (copy_bytes, outstanding) = (64 << 10, 2);
    WorkloadKind::Deploy(Deployment {
        copy_bytes,
        clone: false,
        outstanding,
        customise_writes: 20,
        boot_reads,
    })
}

#[test]
fn vms_are_deployed_from_the_template_behind_them() {
    for kind in KINDS {
        let workload = deployment(30);
        let run = fixed_work(&workload, VMS, DISK);
        assert_eq!((run.disks(), run.granularity_bytes()), (VMS + 1, 4096));
        let place = Place::prepared(kind, &run);
        let template = place.disk(VMS);
        let end = place.run(&run).unwrap();
        assert_complete(&end, VMS);
        let vm_bytes = 2 * DISK + (20 + 30) * 4096;
        assert_laws(&end.sample, vm_bytes);
        assert_eq!(end.sample.writes.operations, u64::from(VMS));
        let steps: Vec<_> =
            end.sample.steps.iter().map(|step| (step.name.as_str(), step.times)).collect();
        let times = u64::from(VMS);
        assert_eq!(steps, [("copy", times), ("customise", times), ("boot", times)]);
        let sum: u64 = end.sample.steps.iter().map(|step| step.total_ns).sum();
        assert_eq!(sum, end.sample.writes.latency_sum_ns);

        assert!(place.disk(VMS) == template, "the template was written to");
        for vm in 0..VMS {
            let disk = place.disk(vm);
            let blocks = disk.chunks(4096).zip(template.chunks(4096));
            let customised = blocks.filter(|(own, original)| own != original).count();
            assert!((1..=20).contains(&customised), "{customised} blocks of VM {vm} differ");
        }
        assert_eq!(place.store.remove(), None);
    }
}

#[test]
fn threads_share_the_work_and_change_nothing_of_it() {
    let workload = file(FileOperation::RandomWrite, false);
    for threads in [0, 1, 3, 50] {
        let mut run = fixed_work(&workload, VMS, DISK);
        run.threads = threads;
        let end = Place::prepared(Kind::Directory, &run).run(&run).unwrap();
        assert_complete(&end, VMS);
        assert_eq!(end.sample.operations(), u64::from(VMS) * RECORDS);
    }
}

#[test]
fn it_stops_when_asked_to_and_reports_its_rows() {
    let workload = deployment(u32::MAX);
    let run = fixed_work(&workload, VMS, DISK);
    let place = Place::prepared(Kind::Directory, &run);
    let mut rows = 0;
    let (end, reported) = place.run_with(&run, |cancel| {
        rows += 1;
        if rows == 3 {
            cancel.store(true, Ordering::Relaxed);
        }
    });
    let sample = end.unwrap().sample;
    assert_eq!(sample.ended, Ended::Cancelled);
    assert_eq!(sample.operations(), 0);
    assert!(reported >= 3 && sample.intervals.len() >= 3, "{reported}");
    // What is not deployed yet is outstanding all the same.
    let mean = sample.carried_ns as f64 / sample.window_ns as f64;
    assert!((sample.outstanding_mean / mean - 1.0).abs() < 0.01, "{mean}");
    assert!(mean > 1.0 && mean <= f64::from(VMS), "{mean}");
}
