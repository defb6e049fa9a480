//! A study that brings a Ceph cluster, and disks with a computed speed, and lets an OSD die.

use std::path::Path;

use crate::place::Place;
use crate::results::trials;

/// Prints why the test cannot run here, which is a failure in CI.
fn is_missing() -> bool {
    let there = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .chain(["/usr/sbin".into()])
        .any(|folder| folder.join("ceph-osd").is_file());
    let able = nix::unistd::geteuid().is_root() && Path::new("/dev/fuse").exists();
    if there && able {
        return false;
    }
    let why = "it needs root, FUSE and Ceph; for the latter run cargo xtask peers";
    assert!(std::env::var_os("CI").is_none(), "{why}");
    println!("NOT RUN: {why}");
    true
}

#[test]
fn a_study_brings_a_cluster_and_lets_its_osds_die() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let text = "study: An OSD dies\n\
        datastores:\n\
        \x20 disk: \"embedded:local?disk=20us,100MB/s\"\n\
        \x20 array: \"embedded:iscsi?disk=1ms,100MB/s&raid-10=4\"\n\
        \x20 ceph: \"embedded:ceph?nodes=2&disk=20us,100MB/s&stripe-unit=64KiB\"\n\
        workloads: [{profile: vm-4k}]\n\
        disk: {size: 8MiB, stripes: 3}\n\
        measure: {ramp: 100ms, duration: 2s, interval: 100ms, verify: true}\n\
        steps:\n\
        - {at: 500ms, do: disk-slow ceph 0 3x}\n\
        - {at: 700ms, do: kill ceph.1}\n\
        - {at: 1500ms, do: restart ceph.1}\n\
        design: {blocks: 1}\n";
    std::fs::write(place.path("s.yaml"), text).unwrap();
    let outcome = place.run("run s.yaml --output s.db --json").expect(&[0, 5]);
    let all = trials(&place.path("s.db"));
    assert_eq!(all.len(), 3, "{outcome:?}");
    assert!(all.iter().all(|trial| trial.outcome == "measured"), "{outcome:?}");
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let urls = report["plan"]["datastores"].to_string();
    assert!(urls.contains("stripe-unit=64KiB&stripes=3"), "{urls}");
    for step in ["disk-slow ceph 0 3x", "kill ceph.1", "restart ceph.1"] {
        assert!(outcome.stdout.contains(step), "{step}: {outcome:?}");
    }
    assert!(!outcome.stdout.contains("\"failure\": \""), "every step was done: {outcome:?}");
    assert!(!place.path("stormeter-embedded").exists(), "what was brought is gone");
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let own = place.path("stormeter-embedded").display().to_string();
    assert!(!mounts.contains(&own), "{mounts}");
}
