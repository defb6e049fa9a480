//! What a trial wrote into this host's memory is on storage before anything else is measured.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stormeter_datastore::RealClock;
use stormeter_runner::{Place, Progress, run};
use stormeter_trial::{Sample, TrialFailure};

/// Cuts the disks short after the last trial; what was not on storage then need not be written.
struct Watch {
    directory: PathBuf,
    trials: u32,
    dirty_bytes: Option<u64>,
    settled_ns: Vec<u64>,
}

fn cancelled_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("cancelled_write_bytes: "));
    line.unwrap().parse().unwrap()
}

fn cut(file: &Path) {
    std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap();
}

impl Progress for Watch {
    fn trial_ended(&mut self, _place: Option<&Place<'_>>, outcome: Result<&Sample, &TrialFailure>) {
        self.settled_ns.push(outcome.unwrap().settled_ns);
        self.trials -= 1;
        if self.trials > 0 {
            return;
        }
        let before = cancelled_bytes();
        let mut disks = 0;
        for folder in std::fs::read_dir(&self.directory).unwrap() {
            let Ok(files) = std::fs::read_dir(folder.unwrap().path()) else { continue };
            for file in files {
                let path = file.unwrap().path();
                if path.file_name().unwrap().to_string_lossy().starts_with("disk-") {
                    cut(&path);
                    disks += 1;
                }
            }
        }
        assert!(disks > 0);
        self.dirty_bytes = Some(cancelled_bytes() - before);
    }
}

#[test]
fn no_trial_leaves_dirty_pages_to_the_next() {
    // Writes through the page cache, and a file test that is to leave its file there.
    for workload in [
        "{profile: vm-4k, name: w, read: 0%}",
        "{name: w, file-test: [write], record: 64KiB, size: 1MiB, client-cache: true}",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let scratch = directory.path().join("scratch");
        std::fs::File::create(&scratch).unwrap().write_all(&[1; 65_536]).unwrap();
        let before = cancelled_bytes();
        cut(&scratch);
        if cancelled_bytes() == before {
            let _ = writeln!(std::io::stderr(), "NOT RUN: nothing is dirty here");
            return;
        }
        let store = directory.path().join("a");
        std::fs::create_dir(&store).unwrap();
        let text = format!(
            "datastores: {{a: \"{}?direct=0\"}}
workloads: [{workload}]
disk: {{size: 1MiB}}
load: {{vms: [2]}}
measure: {{ramp: 5ms, duration: 100ms, interval: 10ms}}
design: {{blocks: 2}}
",
            store.display()
        );
        let request = request::request(directory.path(), &text);
        let mut watch =
            Watch { directory: store, trials: 2, dirty_bytes: None, settled_ns: Vec::new() };
        run(&request, &RealClock::new(), &AtomicBool::new(false), &mut watch).unwrap();
        assert_eq!(watch.dirty_bytes, Some(0), "{workload}");
        assert!(watch.settled_ns.iter().all(|&ns| ns > 0), "{:?}", watch.settled_ns);
    }
}
