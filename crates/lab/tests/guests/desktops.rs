//! Desktops as machines: made from a template on this machine, an export and a LUN, used, and taken apart, also by the run
//! after one that was killed; and what can go wrong with them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use stormeter_datastore::RealClock;
use stormeter_disk::{DesktopChange, DesktopEvent, DesktopStep, Desktops as _, DeviceError, Wait};
use stormeter_lab::{LabError, RackDesktops, desktop_places, prepare_template};
use stormeter_testkit::workload;
use stormeter_trial::{
    Arrivals, BrokerRules, DesktopCopy, DesktopDeployment, DesktopLoad, DesktopSession,
    DesktopTrial, Limits, Resources,
};

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
  near: {count: 2, disk: {datastore: local, size: 8MiB}}
";
const SEED: u64 = 11;
/// Longer than anything takes on a machine that also does other things.
const LONG_NS: u64 = 120_000_000_000;

/// Two users of two desktops, the second of whom comes when the first has one.
const STUDY: &str = "\
study: Desktops
datastores: {nfs: \"lab:nfs\"}
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
    assert_eq!(names, [("nfs", 2), ("iscsi", 2), ("near", 2)]);
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
    let [cell] = &cells[..] else { panic!("{cells:?}") };
    let number = |key: &str| cell[key].as_f64().unwrap_or(-1.0);
    // How many are served within the window is up to the machine.
    assert_eq!((number("came"), number("served") + number("waiting")), (2.0, 2.0), "{cell}");
    assert!(number("served") > 0.0, "{cell}");
    assert_eq!((number("failed"), number("died"), number("replaced")), (0.0, 0.0, 0.0), "{cell}");
    let steps = cell["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert!(steps.iter().all(|step| step["mean_ns"].as_f64().is_some_and(|ns| ns > 0.0)), "{cell}");
    // Nothing is left, on this machine or on the storage.
    assert_eq!(running(&place), 0);
    let guests = std::fs::read_dir(place.directory().join("guests")).unwrap();
    let mut left: Vec<String> =
        guests.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    left.sort();
    assert_eq!(left, ["nas", "nfs-template"]);
    // What cannot be is said before anything is made.
    let linked = STUDY.replace("lab:nfs", "lab:iscsi").replace("copy: 1MiB", "by: linked");
    place.write("s.yaml", &linked);
    let (code, text) = place.stormeter(&["run", "s.yaml", "--output", "linked.db", "--quiet"]);
    assert!(code != Some(0) && text.contains("cannot be linked"), "{text}");
    place.write("s.yaml", &STUDY.replace("lab:nfs", "lab:ceph"));
    let (code, text) = place.stormeter(&["run", "s.yaml", "--output", "none.db", "--quiet"]);
    assert!(code == Some(2) || code == Some(1), "{code:?}");
    assert!(text.contains("has no desktops ceph; it has nfs, iscsi, near"), "{text}");
    faults(&place);
    place.down();
}

/// Desktops whose processes run.
fn running(place: &Place) -> usize {
    let status = stormeter_lab::status(&place.directory()).unwrap();
    let sets = status.guests.iter().filter(|guest| guest.kind == "places");
    sets.filter_map(|set| set.state.split(' ').next()?.parse::<usize>().ok()).sum()
}

/// For desktops that are ordered one by one: there is no broker.
pub(crate) fn trial(copy: DesktopCopy) -> DesktopTrial {
    let desktop = Resources { cpus: 1, memory_bytes: 96 << 20, storage_bytes: 8 << 20 };
    let capacity = Resources { cpus: 2, memory_bytes: 1 << 30, storage_bytes: 1 << 30 };
    DesktopTrial {
        load: DesktopLoad {
            arrivals_per_s: 1.0,
            users: Some(2),
            class: None,
            broker: BrokerRules {
                pool: 0,
                deploying_most: 2,
                waiting_most: None,
                patience_ns: None,
                deploy_most_ns: LONG_NS,
                idle_ns: LONG_NS,
                capacity,
                desktop,
            },
            deployment: DesktopDeployment {
                copy,
                copy_bytes: 1 << 20,
                outstanding: 4,
                setting_ns: 0,
                boot_reads: 20,
                configure_writes: 20,
            },
            session: DesktopSession {
                log_on_requests: 20,
                log_on: workload(Arrivals::Closed { outstanding: 4 }),
                work: workload(Arrivals::Poisson { rate_per_s: 20.0 }),
                length_ns: 4 * LONG_NS,
                idle_percent: 0.0,
            },
        },
        desktops: 2,
        seed: 7,
        ramp_ns: 100_000_000,
        duration_ns: LONG_NS,
        interval_ns: 1_000_000_000,
        limits: Limits { stall_ns: LONG_NS, ..Limits::default() },
    }
}

pub(crate) fn prepared(place: &Place, set: &str) {
    prepare_template(&place.directory(), set, SEED, &AtomicBool::new(false)).unwrap();
}

pub(crate) fn open(
    place: &Place,
    set: &str,
    trial: &DesktopTrial,
) -> Result<RackDesktops, LabError> {
    let never = AtomicBool::new(false);
    let version = env!("CARGO_PKG_VERSION");
    RackDesktops::open(&place.directory(), set, trial, version, RealClock::new(), &never)
}

/// What is heard of desktop 0, up to a change that `is_it`.
pub(crate) fn until(
    desktops: &mut RackDesktops,
    is_it: impl Fn(&DesktopChange) -> bool,
) -> Vec<DesktopChange> {
    let (mut all, mut events) = (Vec::new(), Vec::new());
    wait_until("something else is heard of the desktop", || {
        desktops.wait(Wait::AtMost(50_000_000), &mut events).unwrap();
        all.extend(events.drain(..).map(|DesktopEvent { what, .. }| what));
        all.iter().any(&is_it)
    });
    all
}

/// The step and the error of a desktop that is made and fails.
fn failed(desktops: &mut RackDesktops) -> (Option<DesktopStep>, DeviceError) {
    let is_failure = |what: &DesktopChange| matches!(what, DesktopChange::Failed { .. });
    let heard = until(desktops, is_failure);
    let Some(DesktopChange::Failed { step, error, .. }) = heard.last() else {
        panic!("{heard:?}");
    };
    (*step, *error)
}

/// The next desktop of place 0, up to the end of its second step.
fn set(desktops: &mut RackDesktops) {
    desktops.deploy(0).unwrap();
    let is_set = |what: &DesktopChange| {
        matches!(what, DesktopChange::StepEnded { step: DesktopStep::Setting, .. })
    };
    until(desktops, is_set);
}

pub(crate) fn tear_down(desktops: &mut RackDesktops) {
    desktops.tear_down(0).unwrap();
    until(desktops, |what| *what == DesktopChange::TornDown);
}

fn first_guest(place: &Place, set: &str) -> PathBuf {
    place.directory().join("guests").join(format!("{set}-1"))
}

fn signal(guest: &std::path::Path, which: &str) {
    let pid = std::fs::read_to_string(guest.join("pid")).unwrap();
    assert!(Command::new("kill").args([which, pid.trim()]).status().unwrap().success());
}

fn faults(place: &Place) {
    on_a_lun(place);
    storage_is_full_or_its_template_is_gone(place);
    a_machine_does_not_start_answer_or_live(place);
    assert_eq!(running(place), 0);
}

fn on_a_lun(place: &Place) {
    prepared(place, "iscsi");
    let mut desktops = open(place, "iscsi", &trial(DesktopCopy::Full)).unwrap();
    desktops.deploy(0).unwrap();
    let heard = until(&mut desktops, |what| *what == DesktopChange::Deployed);
    let of_step = |step: DesktopStep| move |what: &&DesktopChange| matches!(what, DesktopChange::StepEnded { step: ended, .. } if *ended == step);
    for step in DesktopStep::ALL {
        assert_eq!(heard.iter().filter(of_step(step)).count(), 1, "{heard:?}");
    }
    desktops.log_on(0, 0).unwrap();
    until(&mut desktops, |what| *what == DesktopChange::Usable);
    tear_down(&mut desktops);
}

fn storage_is_full_or_its_template_is_gone(place: &Place) {
    prepared(place, "nfs");
    let full = trial(DesktopCopy::Full);
    let mut desktops = open(place, "nfs", &full).unwrap();
    assert!(matches!(open(place, "nfs", &full), Err(LabError::DesktopsInUse { .. })));
    let fill = "dd if=/dev/zero of=/export/files/full bs=1M || true";
    assert_eq!(place.script("nas", &[fill]), "ready");
    desktops.deploy(0).unwrap();
    let copy = Some(DesktopStep::Copy);
    assert_eq!(failed(&mut desktops), (copy, DeviceError::NO_SPACE));
    tear_down(&mut desktops);
    // What was made has been taken apart.
    let left = "[ -z \"$(ls /export/files | grep nfs-1)\" ]";
    assert_eq!(place.script("nas", &["rm /export/files/full", left]), "ready");
    // Another can be made then, and is gone before it has been.
    set(&mut desktops);
    tear_down(&mut desktops);
    // It was changed in between: the next trial does not begin.
    drop(desktops);
    let template = "/export/files/nfs-template-disk.raw";
    let spoil = format!("[ -e {template} ] && echo spoilt | dd of={template} conv=notrunc");
    assert_eq!(place.script("nas", &[&spoil]), "ready");
    assert!(matches!(open(place, "nfs", &full), Err(LabError::OtherTemplate { .. })));
    // It is written again for the next run.
    prepared(place, "nfs");
    let mut desktops = open(place, "nfs", &full).unwrap();
    assert_eq!(place.script("nas", &[&format!("rm {template}")]), "ready");
    desktops.deploy(0).unwrap();
    const NOT_THERE: DeviceError = DeviceError(2);
    assert_eq!(failed(&mut desktops), (copy, NOT_THERE));
    tear_down(&mut desktops);
    drop(desktops);
    assert!(matches!(open(place, "nfs", &full), Err(LabError::NoTemplate { .. })));
    prepared(place, "nfs");
    assert!(open(place, "nfs", &full).is_ok());
}

fn a_machine_does_not_start_answer_or_live(place: &Place) {
    const TIMED_OUT: DeviceError = DeviceError(110);
    prepared(place, "near");
    let guest = first_guest(place, "near");
    let mut impatient = trial(DesktopCopy::Linked);
    impatient.load.broker.deploy_most_ns = 1_000_000_000;
    let mut desktops = open(place, "near", &impatient).unwrap();
    // Something else has the name of its socket.
    std::fs::create_dir_all(guest.join("qmp")).unwrap();
    desktops.deploy(0).unwrap();
    assert_eq!(failed(&mut desktops).0, Some(DesktopStep::Setting));
    tear_down(&mut desktops);
    set(&mut desktops);
    signal(&guest, "-STOP");
    assert_eq!(failed(&mut desktops), (Some(DesktopStep::Deployment), TIMED_OUT));
    tear_down(&mut desktops);
    drop(desktops);
    let mut desktops = open(place, "near", &trial(DesktopCopy::Linked)).unwrap();
    set(&mut desktops);
    signal(&guest, "-KILL");
    assert_eq!(failed(&mut desktops).0, Some(DesktopStep::Deployment));
    tear_down(&mut desktops);
    // One that is in use.
    desktops.deploy(0).unwrap();
    until(&mut desktops, |what| *what == DesktopChange::Deployed);
    desktops.log_on(0, 0).unwrap();
    until(&mut desktops, |what| *what == DesktopChange::Usable);
    signal(&guest, "-KILL");
    assert_eq!(failed(&mut desktops), (None, DeviceError::IO));
    tear_down(&mut desktops);
    assert_eq!(desktops.close().remains, Vec::<String>::new());
    assert!(!guest.exists());
}
