//! A host's own kernel as the client of a storage guest, for real: every protocol is written and read by the
//! agent in the host. Slow, like `boot.rs`, and run by the same step.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use stormeter_lab::{Faults, down};

#[path = "common/shell.rs"]
mod shell;

const EXAMPLE: &str = include_str!("../../../examples/lab/kernel-path.yaml");

/// What is asked of each datastore of the example: some writes and reads.
const STUDY: &str = "hosts: {esx: 'lab:esx'}\n\
    datastores:\n  \
      nfs3: /lab/nfs3\n  \
      nfs4: /lab/nfs4\n  \
      iscsi: /dev/lab/iscsi\n  \
      fixed: /dev/lab/fc-fixed\n  \
      turns: /dev/lab/fc-round-robin\n  \
      nvme: /dev/lab/nvme\n\
    load: {vms: [1], outstanding: 4}\n\
    disk: {size: 4MiB}\n\
    measure: {ramp: 200ms, duration: 1s, interval: 200ms}\n\
    design: {blocks: 1}\n";

const BLOCKS: [&str; 4] =
    ["/dev/lab/iscsi", "/dev/lab/fc-fixed", "/dev/lab/fc-round-robin", "/dev/lab/nvme"];

/// Ends a lab that a failed test leaves.
struct Place {
    folder: tempfile::TempDir,
    binary: PathBuf,
}

impl Place {
    fn directory(&self) -> PathBuf {
        self.folder.path().join(".stormeter-lab")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Runs stormeter here; its exit code and all that it said.
    fn stormeter(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(&self.binary);
        let output = command.current_dir(self.folder.path()).args(arguments).output().unwrap();
        let text =
            [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
        (output.status.code(), text.concat())
    }

    /// The host writes there and reads it back.
    fn uses(&self, path: &str) {
        let written = [
            &format!("dd if=/bin/busybox of={path} bs=64k count=4 oflag=direct"),
            &format!("dd if={path} of=/tmp/back bs=64k count=4 iflag=direct"),
            "cmp -n 262144 /bin/busybox /tmp/back",
        ];
        assert_eq!(self.script("esx", &written), "ready", "{path}");
    }

    /// Has a guest carry out a script, and returns its last word.
    fn script(&self, guest: &str, lines: &[&str]) -> String {
        shell::script(&self.directory(), guest, lines)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = down(&self.directory());
    }
}

fn place() -> Option<Place> {
    let Some(binary) = std::env::var_os("STORMETER_LAB_BINARY") else {
        println!("NOT RUN: boots guests; cargo xtask test --only lab");
        return None;
    };
    let place =
        Place { folder: tempfile::tempdir().unwrap(), binary: Path::new(&binary).to_owned() };
    let (code, text) = place.stormeter(&["lab", "build"]);
    assert_eq!(code, Some(0), "{text}");
    Some(place)
}

/// Fails the script unless the map of a mount was written over so many of its paths.
fn paths_written(mount: &str, expected: &str) -> String {
    // The seventh figure of a disk's statistics is how many sectors were written to it.
    format!(
        "name=$(grep -lx fc-{mount} /sys/block/dm-*/dm/name); used=0; \
         for path in ${{name%/dm/name}}/slaves/*; do \
         set -- $(cat $path/stat); [ $7 = 0 ] || used=$((used + 1)); done; \
         [ $used = {expected} ] || {{ echo {mount} was written over $used paths; exit 1; }}"
    )
}

#[test]
fn a_study_runs_on_every_protocol_of_a_hosts_kernel() {
    let Some(place) = place() else { return };
    place.write("lab.yaml", EXAMPLE);
    place.write("study.yaml", STUDY);
    let (code, text) = place.stormeter(&["lab", "up", "lab.yaml", "--accelerator", "tcg"]);
    assert_eq!(code, Some(0), "{text}");
    let (_, text) = place.stormeter(&["lab", "status"]);
    for path in BLOCKS.iter().chain(&["/lab/nfs3", "/lab/nfs4"]) {
        assert!(text.contains(path), "{path}: {text}");
    }
    // The lab's own devices need nobody's leave to be written.
    let (code, text) = place.stormeter(&["run", "study.yaml", "--output", "a.db"]);
    assert_eq!(code, Some(0), "{text}");

    // What a script says when it fails is told, and the port serves on.
    let said = place.script("esx", &["echo no such thing", "false"]);
    assert_eq!(said, "failed no such thing");
    let mounted = ["grep -q '/lab/nfs3 nfs .*vers=3' /proc/mounts"];
    assert_eq!(place.script("esx", &mounted), "ready");
    let mounted = ["grep -q '/lab/nfs4 nfs4 .*vers=4.2' /proc/mounts"];
    assert_eq!(place.script("esx", &mounted), "ready");
    assert_eq!(place.script("esx", &[&paths_written("fc-round-robin", "2")]), "ready");
    assert_eq!(place.script("esx", &[&paths_written("fc-fixed", "1")]), "ready");

    // The host goes on over the other path under both policies, and takes the first again when it is back.
    let mut faults = Faults::open(&place.directory()).unwrap();
    faults.apply(&"path-down esx.fc-fixed 0".parse().unwrap()).unwrap();
    for mount in ["fc-fixed", "fc-round-robin"] {
        place.uses(&format!("/dev/lab/{mount}"));
        let failed = format!("dmsetup status fc-{mount} | grep -q '[0-9]*:[0-9]* F'");
        assert_eq!(place.script("esx", &[&failed]), "ready", "{mount}");
    }
    faults.restore().unwrap();
    for mount in ["fc-fixed", "fc-round-robin"] {
        let whole = format!("! dmsetup status fc-{mount} | grep -q '[0-9]*:[0-9]* F'");
        assert_eq!(place.script("esx", &[&whole]), "ready", "{mount}");
    }

    // A storage guest that is started again is found again by a host that lives.
    let files = ["/lab/nfs3/file", "/lab/nfs4/file"];
    faults.apply(&"restart nas".parse().unwrap()).unwrap();
    BLOCKS.iter().chain(&files).for_each(|path| place.uses(path));
    // And both are brought back, in the order that they need.
    for action in ["kill nas", "kill esx"] {
        faults.apply(&action.parse().unwrap()).unwrap();
    }
    faults.restore().unwrap();
    BLOCKS.iter().chain(&files).for_each(|path| place.uses(path));

    assert_eq!(place.stormeter(&["lab", "down"]).0, Some(0));
    assert!(!place.directory().exists());
}

#[test]
fn chap_lets_in_who_knows_the_password_and_tells_who_does_not() {
    let Some(place) = place() else { return };
    place.write("right", "rightpassword1\n");
    place.write("wrong", "wrongpassword1\n");
    let lab = |file: &str| {
        let chap = |file: &str| {
            let path = place.folder.path().join(file);
            format!("chap: {{user: esx, password-file: \"{}\"}}", path.display())
        };
        let (ours, theirs) = (chap("right"), chap(file));
        format!(
            "networks: {{lan: {{aggregation: {{ports: 2, mode: 802.3ad}}, loss: 0.1%, mtu: 9000}}}}\n\
             storage: {{nas: {{network: lan, disks: {{slow: {{size: 32MiB, iops: 300}}}}, luns: \
             {{vm: {{disks: slow, {ours}}}}}}}}}\n\
             hosts: {{esx: {{mounts: {{vm: {{datastore: nas.vm, {theirs}}}}}}}}}\n"
        )
    };
    place.write("lab.yaml", &lab("wrong"));
    let up = ["lab", "up", "lab.yaml", "--accelerator", "tcg"];
    let (code, text) = place.stormeter(&up);
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("esx") && text.contains("authorization"), "{text}");
    assert!(!place.directory().exists(), "what was started is ended again");

    place.write("lab.yaml", &lab("right"));
    let (code, text) = place.stormeter(&up);
    assert_eq!(code, Some(0), "{text}");
    let written = [
        "dd if=/bin/busybox of=/dev/lab/vm bs=64k count=4 oflag=direct",
        "dd if=/dev/lab/vm of=/tmp/back bs=64k count=4 iflag=direct",
        "cmp -n 262144 /bin/busybox /tmp/back",
        "grep -q 'Number of ports: 2' /proc/net/bonding/bond1",
    ];
    assert_eq!(place.script("esx", &written), "ready");
    assert_eq!(place.stormeter(&["lab", "down"]).0, Some(0));
}
