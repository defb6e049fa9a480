//! A lab's snapshot for real: what is written after it is gone after a rollback, for clients that stay connected,
//! over iSCSI, FC and both versions of NFS, from arrays and behind a cache. Slow, like `boot.rs`, and run by the
//! same step.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use stormeter_lab::{
    AcceleratorChoice, Cache, LabError, Snapshots, UpOptions, down, parse_lab, up,
};

#[path = "common/shell.rs"]
mod shell;

const LAB: &str = "\
storage:
  nas:
    disks:
      files: {size: 96MiB, iops: 500}
      four: {size: 96MiB}
      mirror: {size: 64MiB, count: 2, raid: 1, latency: 1ms}
      parity: {size: 64MiB, count: 3, raid: 5}
      slow: {size: 64MiB, iops: 500, ssd-cache: {size: 32MiB}}
    exports: {files: files, four: four}
    luns: {mirror: {disks: mirror, protocol: fc}, parity: parity, slow: slow}
hosts:
  esx:
    mounts:
      files: {datastore: nas.files}
      four: {datastore: nas.four, version: 4.2}
      mirror: {datastore: nas.mirror, paths: 1}
      parity: {datastore: nas.parity}
      slow: {datastore: nas.slow}
vms: {vm: {disk: {datastore: local, size: 8MiB}}}
";

const STUDY: &str = "hosts: {esx: 'lab:esx'}\n\
    datastores: {files: /lab/files, four: /lab/four, parity: /dev/lab/parity}\n\
    load: {vms: [1], outstanding: 4}\n\
    disk: {size: 4MiB}\n\
    measure: {ramp: 200ms, duration: 600ms, interval: 200ms}\n\
    design: {blocks: 1, reset: snapshot}\n";

/// Ends a lab that a failed test leaves.
struct Lab(PathBuf);

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = down(&self.0);
    }
}

impl Lab {
    /// Has the host write a word to all that it has mounted: at two places of each LUN, and into two files of
    /// each export, one of them new.
    fn write(&self, word: &str) {
        let lines = [
            "for lun in mirror parity slow; do for at in 0 3000; do",
            &format!("echo {word} $lun $at > /tmp/block"),
            "dd if=/tmp/block of=/dev/lab/$lun bs=4096 seek=$at conv=sync oflag=direct; done; done",
            "for export in files four; do for file in old new; do",
            &format!("echo {word} > /lab/$export/$file; done; done"),
            "sync",
        ];
        assert_eq!(shell::script(&self.0, "esx", &lines), "ready");
    }

    /// Asks the host whether all has this word, and files that are new are there or not.
    fn has(&self, word: &str, new: bool) {
        let not = if new { "" } else { "! " };
        let lines = [
            "for lun in mirror parity slow; do for at in 0 3000; do",
            "found=$(dd if=/dev/lab/$lun bs=4096 skip=$at count=1 | tr -d '\\0')",
            &format!(
                "[ \"$found\" = \"{word} $lun $at\" ] || {{ echo $lun has $found; exit 1; }}; done; done"
            ),
            "for export in files four; do",
            "found=$(cat /lab/$export/old)",
            &format!("[ \"$found\" = {word} ] || {{ echo $export has $found; exit 1; }}"),
            &format!("{not}[ -e /lab/$export/new ] || {{ echo $export/new; exit 1; }}; done"),
        ];
        assert_eq!(shell::script(&self.0, "esx", &lines), "ready");
    }
}

#[test]
fn what_is_written_after_a_snapshot_is_gone_after_a_rollback() {
    let Some(binary) = std::env::var_os("STORMETER_LAB_BINARY").map(PathBuf::from) else {
        println!("NOT RUN: boots guests; cargo xtask test --only lab");
        return;
    };
    let mut say = |what: &str| println!("{what}");
    let images = Cache::at(None).build(&binary, &mut say).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let lab = Lab(parent.path().join("lab"));
    let options = UpOptions { accelerator: AcceleratorChoice::Tcg, cold: false };
    let never = AtomicBool::new(false);
    up(&parse_lab(LAB).unwrap(), &lab.0, &images, options, &mut say, &never).unwrap();
    let mut snapshots = Snapshots::open(&lab.0).unwrap();
    assert!(matches!(snapshots.roll_back(), Err(LabError::NoSnapshot)));

    lab.write("one");
    let forget_new = ["rm /lab/files/new /lab/four/new", "sync"];
    assert_eq!(shell::script(&lab.0, "esx", &forget_new), "ready");
    snapshots.take().unwrap();
    lab.has("one", false);
    for word in ["two", "three"] {
        lab.write(word);
        lab.has(word, true);
        snapshots.roll_back().unwrap();
        lab.has("one", false);
    }

    // Another snapshot keeps what was written since the first.
    lab.write("four");
    snapshots.take().unwrap();
    lab.write("five");
    snapshots.roll_back().unwrap();
    lab.has("four", true);

    std::fs::write(parent.path().join("study.yaml"), STUDY).unwrap();
    let output = Command::new(&binary)
        .current_dir(parent.path())
        .args(["run", "study.yaml", "--lab", "lab"])
        .output()
        .unwrap();
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{said:?}");
    assert!(said.concat().contains("a snapshot of the storage was taken"), "{said:?}");
    assert_eq!(down(&lab.0).unwrap().guests, 3);
}
