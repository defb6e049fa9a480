//! Flushes and durable writes on real storage: in a directory, through both engines, and on a device, whose own count of
//! flushes shows that they arrive.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests too.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use stormeter_datastore::{
    Datastore, DatastoreUrl, DiskSet, DiskSpec, Durability, OpenDisks, OpenOptions, Preparation,
};
use stormeter_disk::{Acknowledged, Completion, Disks, Kind, Operation, PromiseEvidence, Wait};

const RUN: &str = "00000000000000f1";
const SPEC: DiskSpec = DiskSpec { count: 2, size_bytes: 1 << 20, granularity_bytes: 4096 };
const OPEN: OpenDisks = OpenDisks { buffers: 2, buffer_bytes: 4096, in_flight: 3 };
const ALL: Durability = Durability { flushes: true, durable_writes: true };

/// Says so on the real standard error, past the capture of the test harness.
fn not_run(why: &str) {
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

fn prepared(url: &str) -> Datastore {
    let url = DatastoreUrl::parse(url).unwrap();
    let options = OpenOptions { run_id: RUN.into(), ..OpenOptions::default() };
    let mut store = Datastore::open(&url, options).unwrap();
    store
        .prepare(Preparation {
            disks: SPEC,
            content_id: 1,
            fill: &|_, _, bytes: &mut [u8]| bytes.fill(7),
            progress: &mut |_, _| {},
            cancelled: &|| false,
        })
        .unwrap();
    store
}

/// Carries out one operation on disk 1.
fn carry_out(disks: &mut DiskSet, kind: Kind) {
    let length_bytes = if kind == Kind::Flush { 0 } else { 4096 };
    let offset_bytes = if kind == Kind::Flush { 0 } else { 8192 };
    if kind.is_write() {
        disks.buffer(0).unwrap().fill(9);
    }
    let one = Operation { offset_bytes, length_bytes, disk: 1, slot: 3, buffer: 0, kind };
    disks.submit(&[one]).unwrap();
    let mut done = Vec::new();
    for _ in 0..1000 {
        if !done.is_empty() {
            break;
        }
        disks.reap(Wait::AtMost(100_000_000), &mut done).unwrap();
    }
    assert_eq!(done, [Completion::moved(3, length_bytes)], "{kind}");
}

/// Bytes of a file that were in memory and not on storage: the kernel counts, for each thread, those that it need not
/// write any more because the thread cut a file short (proc(5)).
fn dirty_bytes(file: &Path) -> u64 {
    let cancelled = || {
        let text = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("cancelled_write_bytes: "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = cancelled();
    File::options().write(true).open(file).unwrap().set_len(0).unwrap();
    cancelled() - before
}

#[test]
fn a_directory_keeps_what_it_flushed() {
    for engine in ["auto", "positional"] {
        let cases: [(&[Kind], bool); 3] = [
            (&[Kind::Write], true),
            (&[Kind::DurableWrite], false),
            (&[Kind::Write, Kind::Flush], false),
        ];
        for (kinds, is_dirty) in cases {
            let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let place = directory.path().display();
            let store = prepared(&format!("{place}?direct=0&engine={engine}"));
            let mut disks = store.disks(0..2, OPEN).unwrap();
            kinds.iter().for_each(|&kind| carry_out(&mut disks, kind));
            let file = directory.path().join(format!(".stormeter-{RUN}-0/disk-00001"));
            let dirty = dirty_bytes(&file);
            if is_dirty && dirty == 0 {
                return not_run("nothing is dirty on the file system of the build");
            }
            assert_eq!(dirty > 0, is_dirty, "{engine} {kinds:?}");
        }
    }
}

#[test]
fn the_check_passes_and_leaves_no_trace() {
    for options in ["", "?direct=0", "?engine=positional"] {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let store = prepared(&format!("{}{options}", directory.path().display()));
        let before = store.description();
        store.check_flush(ALL, &|| false).unwrap();
        assert_eq!(store.description(), before, "the engine of the check measures nothing");
        let mut disks = store.disks(0..2, OPEN).unwrap();
        carry_out(&mut disks, Kind::Read);
        assert!(disks.buffer(0).unwrap().iter().all(|&byte| byte == 7));
    }
    let null = prepared("null:");
    null.check_flush(ALL, &|| false).unwrap();
    let promise = null.description().promise.unwrap();
    assert_eq!(promise.evidence, [PromiseEvidence::NothingStored]);
}

#[test]
fn nothing_is_opened_unless_something_is_asked_for() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let url = DatastoreUrl::parse(&directory.path().display().to_string()).unwrap();
    let options = OpenOptions { run_id: RUN.into(), ..OpenOptions::default() };
    let store = Datastore::open(&url, options).unwrap();
    store.check_flush(Durability::default(), &|| false).unwrap();
    let error = store.check_flush(ALL, &|| false).unwrap_err().to_string();
    assert!(error.contains("not prepared"), "{error}");
}

#[test]
fn the_page_cache_promises_memory() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = prepared(&format!("{}?direct=0", directory.path().display()));
    let description = store.description();
    let is_sync =
        description.filesystem.is_some_and(|it| it.options.split(',').any(|one| one == "sync"));
    let promise = description.promise.unwrap();
    let is_memory = matches!(promise.evidence[0], PromiseEvidence::FileSystemInMemory { .. });
    if is_sync || is_memory {
        return not_run("the file system of the build is in memory, or synchronous");
    }
    assert_eq!(promise.acknowledged, Acknowledged::Memory);
    assert_eq!(promise.evidence[0], PromiseEvidence::PageCache);
}

/// A loop device over a file, detached when dropped.
struct Loop {
    device: PathBuf,
    _backing: tempfile::NamedTempFile,
}

impl Loop {
    fn new() -> Option<Self> {
        let backing = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        backing.as_file().set_len(16 << 20).unwrap();
        let output =
            Command::new("losetup").args(["--find", "--show"]).arg(backing.path()).output();
        match output {
            Ok(output) if output.status.success() => {
                let device = String::from_utf8(output.stdout).unwrap().trim().into();
                Some(Self { device, _backing: backing })
            }
            _ => {
                not_run("this test needs a loop device (run it as root, with losetup)");
                assert!(std::env::var_os("CI").is_none(), "CI must run this test");
                None
            }
        }
    }

    fn sysfs(&self, file: &str) -> String {
        let name = self.device.file_name().unwrap().to_str().unwrap();
        fs::read_to_string(format!("/sys/block/{name}/{file}")).unwrap()
    }

    /// Flushes that the device has completed (`Documentation/block/stat.rst`), since Linux 5.5.
    fn flushes(&self) -> Option<u64> {
        self.sysfs("stat").split_whitespace().nth(15)?.parse().ok()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

#[test]
fn a_device_is_flushed_when_it_is_asked_to() {
    let Some(device) = Loop::new() else { return };
    let has_cache = device.sysfs("queue/write_cache").trim() == "write back";
    if !has_cache || device.flushes().is_none() {
        return not_run("the loop device has no cache to flush, or does not count flushes");
    }
    for engine in ["auto", "positional"] {
        let store = prepared(&format!("{}?engine={engine}", device.device.display()));
        let mut disks = store.disks(0..2, OPEN).unwrap();
        for (kind, is_flushed) in [
            (Kind::Read, false),
            (Kind::Write, false),
            (Kind::DurableWrite, true),
            (Kind::Flush, true),
        ] {
            let before = device.flushes();
            carry_out(&mut disks, kind);
            assert_eq!(device.flushes() > before, is_flushed, "{engine}: {kind}");
        }
        drop(disks);
        store.check_flush(ALL, &|| false).unwrap();
        let promise = store.description().promise.unwrap();
        let name = device.device.file_name().unwrap().to_str().unwrap().to_owned();
        let through = PromiseEvidence::LoopThroughPageCache { device: name };
        assert_eq!(promise.acknowledged, Acknowledged::Memory);
        assert_eq!(promise.evidence, [PromiseEvidence::Direct, through]);
    }
}
