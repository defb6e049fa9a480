//! A lab's snapshot with real guests: what is written after it is gone after a rollback, for clients that stay
//! connected, over iSCSI, FC and both versions of NFS, from arrays, logical volumes and behind a cache.

use stormeter_lab::{LabError, Snapshots};

use crate::place::Place;

const LAB: &str = "\
storage:
  nas:
    disks:
      files: {size: 96MiB, iops: 500, lvm: true}
      four: {size: 96MiB}
      mirror: {size: 64MiB, count: 2, raid: 1, latency: 1ms}
      parity: {size: 64MiB, count: 3, raid: 5, lvm: true}
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

/// Has the host write a word to everything that it has mounted: at two offsets of each LUN, and into two
/// files of each export, one of them new.
fn write(place: &Place, word: &str) {
    let lines = [
        "for lun in mirror parity slow; do for at in 0 3000; do",
        &format!("echo {word} $lun $at > /tmp/block"),
        "dd if=/tmp/block of=/dev/lab/$lun bs=4096 seek=$at conv=sync oflag=direct; done; done",
        "for export in files four; do for file in old new; do",
        &format!("echo {word} > /lab/$export/$file; done; done"),
        "sync",
    ];
    assert_eq!(place.script("esx", &lines), "ready");
}

/// Checks on the host that everything contains this word, and whether new files exist.
fn has(place: &Place, word: &str, new: bool) {
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
    assert_eq!(place.script("esx", &lines), "ready");
}

#[test]
fn what_is_written_after_a_snapshot_is_gone_after_a_rollback() {
    let Some(place) = Place::new() else { return };
    place.up(LAB);
    let mut snapshots = Snapshots::open(&place.directory()).unwrap();
    assert!(matches!(snapshots.roll_back(), Err(LabError::NoSnapshot)));

    write(&place, "one");
    let forget_new = ["rm /lab/files/new /lab/four/new", "sync"];
    assert_eq!(place.script("esx", &forget_new), "ready");
    snapshots.take().unwrap();
    has(&place, "one", false);
    for word in ["two", "three"] {
        write(&place, word);
        has(&place, word, true);
        snapshots.roll_back().unwrap();
        has(&place, "one", false);
    }

    // Another snapshot keeps what was written since the first.
    write(&place, "four");
    snapshots.take().unwrap();
    write(&place, "five");
    snapshots.roll_back().unwrap();
    has(&place, "four", true);

    place.write("study.yaml", STUDY);
    let said = place.ran(&["run", "study.yaml"], "1 block");
    assert!(said.contains("a snapshot of the storage was taken"), "{said}");
    place.down();
}
