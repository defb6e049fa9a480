//! The disks of all datastores are written in turns, so that a cache that all share does not favour the one written last.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_datastore::RealClock;
use stormeter_runner::{Progress, run};

const MIB: u64 = 1 << 20;
const DISK: u64 = 32 * MIB;
/// Two turns of 1 MiB, and what the threads that write have in hand.
const BEHIND: u64 = (2 + 6) * MIB;

/// Looks at all disks as soon as those of one datastore are written, then ends the run.
struct Watch<'a> {
    directory: PathBuf,
    written: Vec<u64>,
    cancel: &'a AtomicBool,
}

/// Bytes of the disks beneath that hold something.
fn written(directory: &Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes += written(&path);
        } else if path.file_name().unwrap().to_string_lossy().starts_with("disk-") {
            let content = std::fs::read(&path).unwrap();
            let parts = content.chunks(4096).filter(|part| part.iter().any(|&byte| byte != 0));
            bytes += parts.map(|part| part.len() as u64).sum::<u64>();
        }
    }
    bytes
}

impl Progress for Watch<'_> {
    fn preparing(&mut self, _datastore: &str, done: u64, total: u64) {
        if done == total && self.written.is_empty() {
            self.written = ["a", "b", "c"].map(|name| written(&self.directory.join(name))).into();
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn no_datastore_is_written_before_another() {
    let directory = tempfile::tempdir().unwrap();
    let stores = ["a", "b", "c"].map(|name| {
        let path = directory.path().join(name);
        std::fs::create_dir(&path).unwrap();
        format!("{name}: {}", path.display())
    });
    let text = format!(
        "datastores: {{{}}}
workloads: [vm-4k]
disk: {{size: 16MiB}}
load: {{vms: [2]}}
measure: {{ramp: 5ms, duration: 100ms, interval: 10ms}}
design: {{blocks: 2}}
",
        stores.join(", ")
    );
    let request = request::request(directory.path(), &text);
    let cancel = AtomicBool::new(false);
    let mut watch = Watch { directory: directory.path().into(), written: vec![], cancel: &cancel };
    // It was cancelled in the middle.
    let _ = run(&request, &RealClock::new(), &cancel, &mut watch);
    assert_eq!(watch.written.len(), 3);
    assert!(watch.written.iter().all(|&bytes| bytes >= DISK - BEHIND), "{:?}", watch.written);
}
