//! Faults in real guests.
//!
//! Each test looks at what a client of the storage sees over its protocol: that nothing is served while
//! the fault lasts, and that the same blocks are served after it is undone.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use stormeter_fault::FaultSpec;
use stormeter_lab::Faults;

use crate::place::{Place, said};

/// A mirror behind a LUN, and a mirror behind an export.
const LAB: &str = "networks: {lan: {delay: 100us}}\n\
                   storage: {nas: {network: lan, disks: {mirror: {size: 64MiB, count: 2, raid: 1}, \
                   pair: {size: 96MiB, count: 2, raid: 1, latency: 1ms, lvm: true}}, \
                   luns: {vm: mirror}, exports: {files: pair}}}\n\
                   vms: {vm: {disk: {datastore: local, size: 8MiB}}}\n";

/// Longer than any step takes on a machine that also does other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// A lab for fault injection.
struct Lab {
    place: Place,
    faults: Faults,
}

impl Lab {
    fn apply(&mut self, fault: &str) {
        self.faults.apply(&fault.parse::<FaultSpec>().unwrap()).unwrap();
    }

    /// A datastore of the lab, whose user waits longer than all faults of a test last: on a starved machine each takes
    /// seconds, TCP backs off meanwhile, and a single I/O may see several of them.
    fn url(&self, protocol: &str) -> String {
        let mut urls = self.place.guests().into_iter().flat_map(|guest| guest.urls);
        let url = urls.find(|url| url.starts_with(protocol)).unwrap();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}timeout={}s", PATIENCE.as_secs())
    }

    fn state(&self, name: &str) -> String {
        self.place.guest(name).state
    }

    /// A study of one datastore under load, with every read verified against what was written.
    fn load(&self, url: &str, duration: &str) -> Child {
        let text = format!(
            "datastores: {{it: \"{url}\"}}\ndisk: {{size: 8MiB}}\nload: {{outstanding: 2}}\n\
             measure: {{ramp: 0, duration: {duration}, interval: 250ms, verify: true}}\n\
             design: {{blocks: 1}}\n"
        );
        self.place.write("load.yaml", &text);
        let _ = std::fs::remove_file(self.place.path("load.db"));
        self.place
            .command(&["run", "load.yaml", "--destroy-data", url, "--output", "load.db"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// Waits for the end of a load: every byte that it read must be the one written. Its trial may be
/// invalid because the machine is busy, as in [`Place::ran`].
fn ended(child: Child) {
    let (code, text) = said(child.wait_with_output().unwrap());
    assert!(matches!(code, Some(0 | 5)), "{text}");
    assert!(text.contains("Ended after 1 block ("), "{text}");
    assert!(!text.contains("not what was written"), "{text}");
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn every_fault_is_felt_and_undone() {
    let Some(place) = Place::new() else { return };
    place.up(LAB);
    let faults = Faults::open(&place.directory()).unwrap();
    let mut lab = Lab { place, faults };
    let (lun, export) = (lab.url("iscsi:"), lab.url("nfs:"));

    // Under load, a pause and a cut link stop it, and it resumes: no I/O is lost and none is wrong.
    let mut load = lab.load(&lun, "6s");
    let mut rounds = 0;
    // A link that is never up for long lets nothing through, which is correct and ends the load.
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

    // A mirror keeps working with one disk, and is complete again when the restore has ended.
    let load = lab.load(&lun, "3s");
    lab.apply("disk-fail nas.mirror 1");
    let again = lab.faults.apply(&"disk-fail nas.mirror 1".parse().unwrap());
    assert!(again.is_err(), "a disk that was pulled out cannot fail");
    ended(load);
    lab.apply("disk-fail nas.pair 0");
    lab.apply("disk-replace nas.pair 0");
    lab.faults.restore().unwrap();
    // Only a complete mirror can lose the other disk.
    lab.apply("disk-fail nas.mirror 0");
    lab.apply("disk-fail nas.pair 1");
    lab.faults.restore().unwrap();

    // The next run finds a killed guest and brings it back, with its file system.
    ended(lab.load(&export, "1s"));
    lab.apply("kill nas");
    lab.apply("kill vm");
    wait_until("both are gone", || lab.state("nas") == "gone" && lab.state("vm") == "gone");
    let refused = lab.faults.apply(&"link-down nas".parse().unwrap()).unwrap_err().to_string();
    assert!(refused.contains("does not run"), "{refused}");
    lab.faults = Faults::open(&lab.place.directory()).unwrap();
    lab.faults.restore().unwrap();
    assert_eq!((lab.state("nas").as_str(), lab.state("vm").as_str()), ("running", "running"));
    ended(lab.load(&export, "1s"));
    ended(lab.load(&lun, "1s"));
    assert!(!lab.place.directory().join("lab.json.faults").exists(), "nothing is left to undo");

    lab.place.down();
}
