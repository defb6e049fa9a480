//! Guests lose their power while records are written: storage that lies is caught, honest storage is not accused.

use serde_json::Value;

use crate::place::Place;

/// Honest: a disk that is flushed when the guest asks, an export that waits for its disk, LUNs with and without a write
/// cache, one of them mounted by a host's own kernel. Not: a disk whose flushes are ignored, an export that answers
/// from memory.
const LAB: &str = "\
storage:
  nas:
    disks: {kept: {size: 64MiB}, hurried: {size: 64MiB}, behind: {size: 64MiB}, plain: {size: 64MiB}}
    exports: {sync: kept, async: {disks: hurried, writes: async}}
    luns: {cached: {disks: behind, write-cache: on}, direct: {disks: plain, write-cache: off}}
hosts: {esx: {mounts: {direct: {datastore: nas.direct}}}}
vms:
  honest: {disk: {datastore: local, size: 32MiB, controller: virtio-blk}}
  unsafe: {disk: {datastore: local, size: 32MiB, controller: virtio-blk, cache: unsafe}}
";

#[test]
fn power_cuts_tell_storage_that_lies_from_storage_that_does_not() {
    let Some(place) = Place::new() else { return };
    place.write("durable.yaml", LAB);
    let arguments =
        ["lab", "durable", "durable.yaml", "--cuts", "2", "--accelerator", "tcg", "--json"];
    let output = place.command(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(!place.directory().exists(), "the lab is stopped");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = printed["datastores"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["datastore"].as_str().unwrap()).collect();
    let expected =
        ["honest.disk", "unsafe.disk", "esx.direct", "nas.sync", "nas.async", "nas.cached"];
    assert_eq!(names, expected);
    for (row, name) in rows.iter().zip(names) {
        let count = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(count("cuts"), 2, "{row}");
        assert!(count("acknowledged") > 0 && count("judged") > 0, "{row}");
        let lies = ["unsafe.disk", "nas.async"].contains(&name);
        assert_eq!(count("cuts_with_loss"), if lies { 2 } else { 0 }, "{row}\n{said}");
        assert_eq!(count("lost") > 0, lies, "{row}");
    }
    let promise = |at: usize| rows[at]["promise"]["acknowledged"].as_str().unwrap_or_default();
    assert_eq!((promise(0), promise(5)), ("volatile-cache", "volatile-cache"));
}
