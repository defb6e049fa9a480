//! A lab from its templates: it comes up, loses a guest, and goes down without a trace.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stormeter_lab::{
    AcceleratorChoice, Cache, LabError, Status, UpOptions, down, parse_lab, status, up,
};

use crate::place::{Place, said};

/// A storage guest, and a VM whose disk is on its LUN: booted, frozen, cloned and connected over
/// iSCSI.
const LAB: &str = "storage: {nas: {disks: {slow: {size: 64MiB, iops: 300}}, luns: {vm: slow}}}\n\
                   vms: {vm: {disk: {datastore: nas.vm, size: 32MiB, controller: virtio-scsi}}}\n";

fn states(status: &Status) -> Vec<(&str, &str)> {
    status.guests.iter().map(|guest| (guest.name.as_str(), guest.state.as_str())).collect()
}

fn pid(status: &Status, name: &str) -> i32 {
    status.guests.iter().find(|guest| guest.name == name).and_then(|guest| guest.pid).unwrap()
}

#[test]
fn a_lab_comes_up_loses_a_guest_and_goes_without_a_trace() {
    let Some(place) = Place::new() else { return };
    let mut say = |what: &str| println!("{what}");
    let images = Cache::at(None).build(place.binary(), &[], &mut say).unwrap();
    let directory = place.directory();
    let (lab, cancel) = (parse_lab(LAB).unwrap(), AtomicBool::new(false));
    let options =
        UpOptions { accelerator: AcceleratorChoice::Tcg, cold: false, logs_writes: false };

    let started = up(&lab, &directory, &images, options, &mut say, &cancel).unwrap();
    println!("up in {:?}, after {:?} of freezing", started.took, started.froze);
    let found = status(&directory).unwrap();
    assert_eq!(states(&found), [("nas", "running"), ("vm", "running")]);
    let nas = pid(&found, "nas");

    let again = up(&lab, &directory, &images, options, &mut say, &cancel);
    assert!(matches!(again, Err(LabError::Running { guests: 2, .. })), "{again:?}");
    assert_eq!(pid(&status(&directory).unwrap(), "nas"), nas, "the lab that ran still runs");

    kill(Pid::from_raw(pid(&found, "vm")), Signal::SIGKILL).unwrap();
    let gone = || states(&status(&directory).unwrap()).contains(&("vm", "gone"));
    while !gone() {
        std::thread::yield_now();
    }
    assert_eq!(down(&directory).unwrap().guests, 1);
    assert!(!directory.exists());
    // A process that has ended but has not been waited for has no command line.
    let line = std::fs::read(format!("/proc/{nas}/cmdline")).unwrap_or_default();
    assert!(line.is_empty(), "process {nas} is still there");

    let cancelled = up(&lab, &directory, &images, options, &mut say, &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(LabError::Interrupted)), "{cancelled:?}");
    assert!(!directory.exists(), "what was started is ended again");
}

/// A host with an agent in addition to its own programs, and a VM that contains nothing else.
const BOTH: &str = "storage: {nas: {disks: {a: {size: 64MiB}}, exports: {files: a}}}\n\
                    hosts: {esx: {mounts: {files: {datastore: nas.files}}}}\n\
                    vms: {vm: {disk: {datastore: local, size: 16MiB, iops: 100}}}\n";

#[test]
fn stormeter_runs_in_guests_whatever_it_was_built_for() {
    let Some(place) = Place::of_any_build() else { return };
    let file = std::fs::read(place.binary()).unwrap();
    let loader = b"/ld-linux-x86-64.so.2\0";
    let wants_it = file.windows(loader.len()).any(|window| window == loader);
    assert!(wants_it, "a static one says nothing of others");
    place.up(BOTH);
    for (host, datastore) in [("vm", "/dev/lab/disk"), ("esx", "/lab/files")] {
        let study = format!(
            "hosts: {{{host}: 'lab:{host}'}}\ndatastores: {{it: {datastore}}}\ndisk: {{size: 4MiB}}\n\
             measure: {{ramp: 0, duration: 1s, interval: 250ms}}\ndesign: {{blocks: 1}}\n"
        );
        place.write("study.yaml", &study);
        let text = place.ran(&["run", "study.yaml", "--output", &format!("{host}.db")], "1 block");
        assert!(text.contains(&format!("{host}: a guest of the lab")), "{text}");
    }
    place.down();
}

/// A study of two VMs with a disk each on a local file that is limited to 120 requests per second.
const STUDY: &str = "hosts: {vm1: 'lab:vm1', vm2: 'lab:vm2'}\n\
                     datastores: {limited: /dev/lab/limited}\n\
                     load: {vms: [2], outstanding: 2}\n\
                     disk: {size: 8MiB}\n\
                     measure: {ramp: 500ms, duration: 2s, interval: 500ms}\n\
                     design: {blocks: 2}\n";
const VMS: &str = "vms: {vm: {count: 2, network: user, disks: {\
                   limited: {datastore: local, size: 16MiB, controller: lsi, iops: 120},\
                   other: {datastore: local, size: 8MiB, controller: ide}}}}\n";
/// Messages to servers in these VMs.
const TRANSFERS: &str = "hosts: {vm1: 'lab:vm1', vm2: 'lab:vm2'}\n\
                         datastores: {limited: /dev/lab/limited}\n\
                         workloads:\n\
                         - {name: up, transfer: {size: 1MB, direction: write, sink: disk, messages: 4}}\n\
                         - {name: down, transfer: {size: 1MB, direction: read, sink: memory, messages: 4}}\n\
                         load: {vms: [2]}\n\
                         disk: {size: 8MiB}\n\
                         design: {blocks: 2}\n";

#[test]
fn a_study_runs_in_vms_and_ends_with_the_reason_when_one_is_killed() {
    let Some(place) = Place::new() else { return };
    place.write("study.yaml", STUDY);
    let run = ["run", "study.yaml", "--output", "a.db"];
    let (code, text) = place.stormeter(&run);
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("lab up"), "without a lab the error says how to start one: {text}");

    place.up(VMS);
    let text = place.ran(&run, "2 blocks");
    assert!(text.contains("vm1, vm2: a guest of the lab, run under tcg"), "{text}");
    let json = place.command(&["report", "a.db", "--json"]).output().unwrap().stdout;
    let report: serde_json::Value = serde_json::from_slice(&json).unwrap();
    for host in report["hosts"].as_array().unwrap() {
        // Half a second's requests may exceed the limit (QEMU's throttling is a leaky bucket).
        let iops = host["cells"][0]["iops"].as_f64().unwrap();
        assert!(iops > 10.0 && iops < 120.0 * 1.3, "{iops}");
    }

    for vm in place.guests() {
        // What fills an emulator's translation cache, or a guest's memory, shows once it has done
        // work.
        let bytes = vm.private_bytes.unwrap();
        assert!(bytes <= 40 << 20, "{} has {bytes} bytes of its own", vm.name);
    }

    place.write("transfers.yaml", TRANSFERS);
    let output = place.command(&["run", "transfers.yaml", "--json"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}"));
    for host in report["hosts"].as_array().unwrap() {
        let cells = host["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 2, "both ways into {}: {text}", host["name"]);
    }

    let mut run = place.command(&["run", "study.yaml", "--output", "b.db"]);
    let mut child = run.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    kill(Pid::from_raw(place.guest("vm2").pid.unwrap()), Signal::SIGKILL).unwrap();
    let (code, _) = said(child.wait_with_output().unwrap());
    assert_ne!(code, Some(0));
    let (_, text) = place.stormeter(&["report", "b.db"]);
    assert!(text.contains("vm2"), "the host that is gone is named: {first} {text}");
    place.down();
}
