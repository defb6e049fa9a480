//! Block devices on the command line, on loop devices. Without the permission to create them these tests
//! say that they were not run.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::{Place, SHORT, SURE, not_run, until};
use crate::results::trials;

/// A loop device over a file in a place, detached when dropped.
pub(crate) struct LoopDevice {
    pub(crate) name: String,
    pub(crate) backing: PathBuf,
}

impl LoopDevice {
    /// A device of this size; `None`, and said so, where there can be none.
    pub(crate) fn new(place: &Place, name: &str, bytes: u64) -> Option<Self> {
        let backing = place.path(name);
        File::create(&backing).unwrap().set_len(bytes).unwrap();
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&backing).output();
        match made {
            Ok(output) if output.status.success() => {
                let name = String::from_utf8(output.stdout).unwrap().trim().to_owned();
                Some(Self { name, backing })
            }
            _ => {
                not_run("this test needs a loop device (run it as root, with losetup)");
                None
            }
        }
    }

    fn content(&self) -> Vec<u8> {
        fs::read(&self.backing).unwrap()
    }

    fn format(&self) {
        let done = Command::new("mkfs.ext4").args(["-q", &self.name]).status().unwrap();
        assert!(done.success());
        File::open(&self.name).unwrap().sync_all().unwrap();
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.name]).status();
    }
}

/// Makes sure that a mount ends with the test.
pub(crate) struct Mount(PathBuf);

impl Mount {
    pub(crate) fn new(options: &[&str], source: &str, at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount").args(options).arg(source).arg(at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.into()));
        }
        not_run("this test needs to mount a file system (run it as root)");
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

const BYTES: u64 = 32 << 20;

#[test]
fn an_empty_device_is_compared_and_left_without_a_mark() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, "disk", BYTES) else { return };
    let name = &device.name;
    let outcome = place.run_until(&[0], &format!("compare a {name} {SHORT} {SURE} --json"));
    assert_eq!(outcome.json()["datastores"][1]["kind"], "device");
    let content = device.content();
    let (head, tail) = (&content[..1 << 20], &content[content.len() - (1 << 20)..]);
    assert!(head.iter().chain(tail).all(|&byte| byte == 0), "both ends are empty again");
    // So it can be used again, also against itself.
    let outcome = place.run_until(&[0], &format!("compare {name} {name} {SHORT} {SURE}"));
    assert!(outcome.stdout.contains("A/A test"), "{outcome:?}");
}

#[test]
fn a_device_with_data_is_refused_unless_it_is_named_exactly() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, "disk", BYTES) else { return };
    let Some(other) = LoopDevice::new(&place, "other", BYTES) else { return };
    device.format();
    let before = device.content();
    let compare = format!("compare a {} {SHORT} {SURE}", device.name);
    let link = place.path("link");
    std::os::unix::fs::symlink(&device.name, &link).unwrap();
    let wrong = [
        String::new(),
        format!("--destroy-data {}", other.name),
        format!("--destroy-data {}", link.display()),
        format!("--destroy-data {}", device.backing.display()),
        format!("--destroy-data {}p1", device.name),
    ];
    for option in wrong {
        let outcome = place.run(&format!("{compare} {option}")).expect(&[1]);
        for words in ["holds data", "ext4", &format!("--destroy-data {}", device.name)] {
            assert!(outcome.stderr.contains(words), "{option}: {words} is not in {outcome:?}");
        }
        assert!(device.content() == before, "{option}: the device was changed");
        assert!(place.folders("a").is_empty(), "{option}");
    }
    place.run_until(&[0], &format!("{compare} --destroy-data {}", device.name));
    assert!(device.content() != before);
}

#[test]
fn data_without_a_known_signature_counts_as_data() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, "disk", BYTES) else { return };
    let file = File::options().write(true).open(&device.name).unwrap();
    file.write_all_at(b"another user's raw records", 4096).unwrap();
    file.sync_all().unwrap();
    let before = device.content();
    let outcome = place.run(&format!("compare a {} {SHORT} {SURE}", device.name)).expect(&[1]);
    assert!(outcome.stderr.contains("holds data"), "{outcome:?}");
    assert!(device.content() == before);
}

#[test]
fn a_mounted_device_is_refused_even_if_its_data_may_be_destroyed() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, "disk", BYTES) else { return };
    device.format();
    let Some(_mount) = Mount::new(&[], &device.name, &place.path("mounted")) else { return };
    let name = &device.name;
    let arguments = format!("compare a {name} {SHORT} {SURE} --destroy-data {name}");
    let outcome = place.run(&arguments).expect(&[1]);
    for words in ["in use", "mounted at", "unmount it"] {
        assert!(outcome.stderr.contains(words), "{words} is not in {outcome:?}");
    }
}

#[test]
fn a_device_that_another_run_uses_is_refused() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, "disk", BYTES) else { return };
    let name = &device.name;
    // Trials so long that I/Os end in each: one without would end the run, and the device would be free.
    let mut running = place.start(&format!(
        "compare a {name} --size 8MiB --duration 1s --ramp 20ms --time-limit 60s --rate 300 \
         --precision 0.1% --metric latency-max --output r.db"
    ));
    running.until("a trial", || (!trials(&place.path("r.db")).is_empty()).then_some(()));
    let outcome = place.run(&format!("compare b {name} {SHORT} {SURE}"));
    running.assert_running();
    let outcome = outcome.expect(&[1]);
    assert!(outcome.stderr.contains("in use"), "{outcome:?}");
    running.kill();
    // The kernel ends what was under way on the device a little after the process.
    until("the device to be free", || {
        File::options().read(true).custom_flags(nix::libc::O_EXCL).open(name).ok()
    });
    // What a killed run left on the device is its own and no data.
    // Whatever it finds on a busy machine: a second run would find nothing left.
    let outcome = place.run(&format!("compare b {name} {SHORT} {SURE}")).expect(&[0, 4, 5]);
    assert!(outcome.said().contains("still held the disks of run"), "{outcome:?}");
}
