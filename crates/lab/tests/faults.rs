//! Faults in guests that run for real: the step `lab` of `cargo xtask test` runs this, as `boot.rs`.
//!
//! What is asked each time is what a client of the storage sees over its protocol: that nothing is served
//! while the fault lasts, and that after its mending the same blocks are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stormeter_fault::Action;
use stormeter_lab::{AcceleratorChoice, Cache, Faults, UpOptions, down, parse_lab, status, up};

/// A mirror behind a LUN, and a mirror behind an export.
const LAB: &str = "networks: {lan: {delay: 100us}}\n\
                   storage: {nas: {network: lan, disks: {mirror: {size: 64MiB, count: 2, raid: 1}, \
                   pair: {size: 96MiB, count: 2, raid: 1, latency: 1ms}}, \
                   luns: {vm: mirror}, exports: {files: pair}}}\n\
                   vms: {vm: {disk: {datastore: local, size: 8MiB}}}\n";

/// Longer than any step takes on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(120);

struct Lab {
    directory: PathBuf,
    faults: Faults,
    binary: PathBuf,
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = down(&self.directory);
    }
}

impl Lab {
    fn apply(&mut self, action: &str) {
        self.faults.apply(&action.parse::<Action>().unwrap()).unwrap();
    }

    fn url(&self, protocol: &str) -> String {
        let found = status(&self.directory).unwrap();
        let urls = found.guests.iter().flat_map(|guest| &guest.urls);
        urls.into_iter().find(|url| url.starts_with(protocol)).unwrap().clone()
    }

    fn state(&self, name: &str) -> String {
        let found = status(&self.directory).unwrap();
        found.guests.iter().find(|guest| guest.name == name).unwrap().state.clone()
    }

    /// A study of one datastore under load, every read held against what was written.
    fn load(&self, place: &Path, url: &str, duration: &str) -> Child {
        let text = format!(
            "datastores: {{it: \"{url}\"}}\ndisk: {{size: 8MiB}}\nload: {{outstanding: 2}}\n\
             measure: {{ramp: 0, duration: {duration}, interval: 250ms, verify: true}}\n\
             design: {{blocks: 1}}\n"
        );
        std::fs::write(place.join("load.yaml"), text).unwrap();
        let output = place.join("load.db");
        let _ = std::fs::remove_file(&output);
        Command::new(&self.binary)
            .current_dir(place)
            .args(["run", "load.yaml", "--destroy-data", url, "--output"])
            .arg(&output)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// Waits for the end of a load; what it said, if it ended well.
fn ended(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn every_fault_is_felt_and_mended() {
    let Some(binary) = std::env::var_os("STORMETER_LAB_BINARY").map(PathBuf::from) else {
        println!("NOT RUN: boots guests; cargo xtask test --only lab");
        return;
    };
    let mut say = |what: &str| println!("{what}");
    let images = Cache::at(None).build(&binary, &mut say).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let place = parent.path();
    let directory = place.join("lab");
    let options = UpOptions { accelerator: AcceleratorChoice::Tcg, cold: false };
    let cancel = AtomicBool::new(false);
    up(&parse_lab(LAB).unwrap(), &directory, &images, options, &mut say, &cancel).unwrap();
    let faults = Faults::open(&directory).unwrap();
    let mut lab = Lab { directory: directory.clone(), faults, binary };
    let (lun, export) = (lab.url("iscsi:"), lab.url("nfs:"));

    // Under load a pause and a cut link stop it, and it goes on: no I/O is lost and none is wrong.
    let mut load = lab.load(place, &lun, "6s");
    let mut rounds = 0;
    // A link that is never up for long lets nothing through, which is right and ends the load.
    while rounds < 3 && load.try_wait().unwrap().is_none() {
        lab.apply("pause nas");
        assert_eq!(lab.state("nas"), "paused");
        lab.apply("resume nas");
        assert_eq!(lab.state("nas"), "running");
        lab.apply("link-down nas");
        lab.apply("link-up nas");
        rounds += 1;
    }
    lab.apply("link-flap nas.lan 300ms");
    lab.apply("link-loss nas 1%");
    assert!(rounds > 0);
    ended(load);
    lab.faults.restore().unwrap();

    // A mirror goes on with one disk, and is whole again when restoring has ended.
    let load = lab.load(place, &lun, "3s");
    lab.apply("disk-fail nas.mirror 1");
    let again = lab.faults.apply(&"disk-fail nas.mirror 1".parse().unwrap());
    assert!(again.is_err(), "a disk that was pulled out cannot fail");
    ended(load);
    lab.apply("disk-fail nas.pair 0");
    lab.apply("disk-replace nas.pair 0");
    lab.faults.restore().unwrap();
    // Only a whole mirror can lose the other disk.
    lab.apply("disk-fail nas.mirror 0");
    lab.apply("disk-fail nas.pair 1");
    lab.faults.restore().unwrap();

    // What is killed is found and brought back by whoever comes next, with its file system.
    ended(lab.load(place, &export, "1s"));
    lab.apply("kill nas");
    lab.apply("kill vm");
    wait_until("both are gone", || lab.state("nas") == "gone" && lab.state("vm") == "gone");
    let refused = lab.faults.apply(&"link-down nas".parse().unwrap()).unwrap_err().to_string();
    assert!(refused.contains("does not run"), "{refused}");
    lab.faults = Faults::open(&directory).unwrap();
    lab.faults.restore().unwrap();
    assert_eq!((lab.state("nas").as_str(), lab.state("vm").as_str()), ("running", "running"));
    ended(lab.load(place, &export, "1s"));
    ended(lab.load(place, &lun, "1s"));
    assert!(!directory.join("lab.json.faults").exists(), "nothing is left to undo");

    assert_eq!(down(&directory).unwrap().guests, 2);
    assert!(!directory.exists());
}
