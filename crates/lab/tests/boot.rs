//! Guests are booted for real. Slow, and in need of QEMU, packages and a static stormeter: the step
//! `lab` of `cargo xtask test` runs this and says where that is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stormeter_lab::{
    AcceleratorChoice, Cache, LabError, Status, UpOptions, down, parse_lab, status, up,
};

/// A storage guest, and a VM whose disk is on its LUN: booted, frozen, cloned and joined over iSCSI.
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
    let Some(binary) = std::env::var_os("STORMETER_LAB_BINARY") else {
        println!("NOT RUN: boots guests; cargo xtask test --only lab");
        return;
    };
    let mut say = |what: &str| println!("{what}");
    let images = Cache::at(None).build(Path::new(&binary), &mut say).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let directory: PathBuf = parent.path().join("lab");
    let (lab, cancel) = (parse_lab(LAB).unwrap(), AtomicBool::new(false));
    let options = UpOptions { accelerator: AcceleratorChoice::Tcg, cold: false };

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
    // One that has ended and that nobody has waited for yet has no command line.
    let line = std::fs::read(format!("/proc/{nas}/cmdline")).unwrap_or_default();
    assert!(line.is_empty(), "process {nas} is still there");

    let cancelled = up(&lab, &directory, &images, options, &mut say, &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(LabError::Interrupted)), "{cancelled:?}");
    assert!(!directory.exists(), "what was started is ended again");
}
