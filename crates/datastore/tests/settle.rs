//! What was written through the page cache is on storage when the disks are finished: otherwise it is
//! written while the next trial, of another datastore, is measured.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use stormeter_datastore::{
    Datastore, DatastoreUrl, DiskSet, DiskSpec, OpenDisks, OpenOptions as Options, Preparation,
};
use stormeter_disk::{Disks, Kind, Operation, Wait};

const RUN: &str = "00000000000000fe";
const SPEC: DiskSpec = DiskSpec { count: 2, size_bytes: 1 << 20, granularity_bytes: 4096 };

fn store(directory: &Path, engine: &str) -> Datastore {
    let url = format!("{}?direct=0&engine={engine}", directory.display());
    let url = DatastoreUrl::parse(&url).unwrap();
    let options = Options { run_id: RUN.into(), ..Options::default() };
    let mut store = Datastore::open(&url, options).unwrap();
    let preparation = Preparation {
        disks: SPEC,
        content_id: 1,
        fill: &|_, _, bytes: &mut [u8]| bytes.fill(7),
        progress: &mut |_, _| {},
        cancelled: &|| false,
    };
    store.prepare(preparation).unwrap();
    store
}

fn write(disks: &mut DiskSet) {
    for disk in 0..SPEC.count {
        disks.buffer(0).unwrap().fill(disk as u8);
        let operation = Operation {
            disk,
            kind: Kind::Write,
            offset_bytes: 65_536,
            length_bytes: 65_536,
            slot: 0,
            buffer: 0,
        };
        disks.submit(&[operation]).unwrap();
        let mut done = Vec::new();
        for _ in 0..1000 {
            if !done.is_empty() {
                break;
            }
            disks.reap(Wait::AtMost(100_000_000), &mut done).unwrap();
        }
        assert_eq!(done[0].result, 65_536);
    }
}

fn disk_files(directory: &Path) -> Vec<PathBuf> {
    let folder = directory.join(format!(".stormeter-{RUN}-0"));
    (0..SPEC.count).map(|disk| folder.join(format!("disk-{disk:05}"))).collect()
}

/// Bytes in memory of the files that were not on storage: the kernel counts, for each thread, those that
/// it need not write any more because the thread cut a file short. The files are empty then.
fn dirty_bytes(files: &[PathBuf]) -> u64 {
    let cancelled = || {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("cancelled_write_bytes: "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = cancelled();
    for file in files {
        OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap();
    }
    cancelled() - before
}

#[test]
fn nothing_is_left_in_memory_when_disks_are_finished() {
    for engine in ["auto", "positional"] {
        let directory = tempfile::tempdir().unwrap();
        let open = OpenDisks { buffers: 1, buffer_bytes: 65_536, in_flight: 1 };
        let store = store(directory.path(), engine);
        let files = disk_files(directory.path());
        // Where the file system itself is memory, nothing is ever dirty.
        let scratch = directory.path().join("scratch");
        std::fs::File::create(&scratch).unwrap().write_all(&[1; 65_536]).unwrap();
        if dirty_bytes(&[scratch]) == 0 {
            let _ = writeln!(std::io::stderr(), "NOT RUN: nothing is dirty here");
            return;
        }
        let mut disks = store.disks(0..SPEC.count, open).unwrap();
        write(&mut disks);
        assert_eq!(disks.finish(&|| false).lost, None);
        drop(disks);
        assert_eq!(dirty_bytes(&files), 0, "{engine}");
    }
}

#[test]
fn who_gives_up_does_not_wait_for_storage() {
    let directory = tempfile::tempdir().unwrap();
    let open = OpenDisks { buffers: 1, buffer_bytes: 65_536, in_flight: 1 };
    let store = store(directory.path(), "auto");
    let mut disks = store.disks(0..SPEC.count, open).unwrap();
    write(&mut disks);
    let asked = std::cell::Cell::new(0);
    let give_up = || {
        asked.set(asked.get() + 1);
        true
    };
    assert_eq!(disks.finish(&give_up).lost, None);
    assert_eq!(asked.get(), 1, "no file after the first");
}
