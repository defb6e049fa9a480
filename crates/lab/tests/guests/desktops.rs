//! Desktops as machines: made from a template on an export and on a LUN, used, replaced when they die, and taken apart,
//! also by the run after one that was killed.

use serde_json::Value;
use stormeter_lab::desktop_places;

use crate::faults::wait_until;
use crate::place::Place;

const LAB: &str = "\
storage:
  nas:
    disks: {files: {size: 128MiB}, blocks: {size: 64MiB}}
    exports: {files: files}
    luns: {vm: blocks}
desktops:
  nfs: {count: 2, disk: {datastore: nas.files, size: 8MiB}}
  iscsi: {count: 2, disk: {datastore: nas.vm, size: 8MiB}}
";

/// Two users of two desktops, the second of whom comes when the first has one.
const STUDY: &str = "\
study: Desktops
datastores: {nfs: \"lab:nfs\", iscsi: \"lab:iscsi\"}
workloads:
  - name: full
    desktops:
      class: {users: 2, at: 0s}
      deploy: {copy: 1MiB, boot: 20, configure: 10}
      session: {length: 3s, requests: 20, work: {rate: 20}}
load: {vms: 2}
disk: {size: 8MiB}
measure: {ramp: 100ms, duration: 12s, interval: 1s}
design: {blocks: 1}
";

fn cells(text: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(text).unwrap();
    report["desktops"].as_array().unwrap().clone()
}

#[test]
fn desktops_are_made_used_and_taken_apart() {
    let Some(place) = Place::new() else { return };
    place.up(LAB);
    let sets = desktop_places(&place.directory()).unwrap();
    let names: Vec<(&str, u32)> = sets.iter().map(|set| (set.name.as_str(), set.places)).collect();
    assert_eq!(names, [("nfs", 2), ("iscsi", 2)]);
    // A killed run leaves its desktops running.
    place.write("s.yaml", STUDY);
    let mut killed =
        place.command(&["run", "s.yaml", "--output", "killed.db", "--quiet"]).spawn().unwrap();
    wait_until("a desktop runs", || running(&place) > 0);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(running(&place) > 0);
    let output = place.command(&["run", "s.yaml", "--output", "s.db", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 5)), "{said}");
    let cells = cells(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(cells.len(), 2);
    let mut served = 0.0;
    for cell in &cells {
        let number = |key: &str| cell[key].as_f64().unwrap_or(-1.0);
        // How many are served within the window is up to the machine.
        assert_eq!((number("came"), number("served") + number("waiting")), (2.0, 2.0), "{cell}");
        assert_eq!(
            (number("failed"), number("died"), number("replaced")),
            (0.0, 0.0, 0.0),
            "{cell}"
        );
        let steps = cell["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 4);
        let took = |step: &Value| step["mean_ns"].as_f64();
        assert!(steps.iter().all(|step| took(step).is_none_or(|ns| ns > 0.0)), "{cell}");
        assert!(number("served") == 0.0 || steps.iter().all(|step| took(step).is_some()), "{cell}");
        served += number("served");
    }
    assert!(served > 0.0, "{cells:?}");
    // Nothing is left, on this machine or on the storage.
    assert_eq!(running(&place), 0);
    let guests = std::fs::read_dir(place.directory().join("guests")).unwrap();
    let mut left: Vec<String> =
        guests.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    left.sort();
    assert_eq!(left, ["iscsi-template", "nas", "nfs-template"]);
    // What cannot be is said before anything is made.
    place.write("s.yaml", &STUDY.replace("copy: 1MiB", "by: linked"));
    let (code, text) = place.stormeter(&["run", "s.yaml", "--output", "linked.db", "--quiet"]);
    assert!(code != Some(0) && text.contains("cannot be linked"), "{text}");
    place.write("s.yaml", &STUDY.replace("lab:nfs", "lab:ceph"));
    let (code, text) = place.stormeter(&["run", "s.yaml", "--output", "none.db", "--quiet"]);
    assert!(code == Some(2) || code == Some(1), "{code:?}");
    assert!(text.contains("has no desktops ceph; it has nfs, iscsi"), "{text}");
}

/// Desktops whose processes run.
fn running(place: &Place) -> usize {
    let status = stormeter_lab::status(&place.directory()).unwrap();
    let sets = status.guests.iter().filter(|guest| guest.kind == "places");
    sets.filter_map(|set| set.state.split(' ').next()?.parse::<usize>().ok()).sum()
}
