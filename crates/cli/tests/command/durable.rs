//! `durable`: what was acknowledged is written down elsewhere, and read back.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::place::{Outcome, Place, not_run};

/// A datastore on one storage, and a journal on another.
struct Rig {
    place: Place,
    elsewhere: TempDir,
}

impl Rig {
    /// `None` where this machine has one storage only.
    fn new() -> Option<Self> {
        let (place, memory) = (Place::on_disk(), Path::new("/dev/shm"));
        let number = |path: &Path| fs::metadata(path).map(|it| it.dev()).ok();
        let elsewhere =
            TempDir::new_in(memory).ok().filter(|it| number(it.path()) != number(place.root()));
        if elsewhere.is_none() {
            not_run("a journal needs storage of its own, and /dev/shm is none");
        }
        Some(Self { place, elsewhere: elsewhere? })
    }

    fn journal(&self, name: &str) -> String {
        self.elsewhere.path().join(name).display().to_string()
    }

    /// Writes records on `a` for a moment, with options.
    fn write(&self, journal: &str, options: &str) -> Outcome {
        let journal = self.journal(journal);
        self.place
            .run(&format!("durable write a --journal {journal} --size 1MiB --for 1s {options}"))
    }

    fn check(&self, journal: &str, options: &str) -> Outcome {
        self.place.run(&format!("durable check a --journal {} {options}", self.journal(journal)))
    }

    fn checked(&self, journal: &str, code: i32) -> Value {
        let outcome = self.check(journal, "--json").expect(&[code]);
        outcome.json()
    }

    /// The file that holds the records.
    fn disk(&self) -> PathBuf {
        self.place.folders("a").pop().unwrap().join("disk-00000")
    }

    /// The last acknowledged record.
    fn acknowledged(&self, journal: &str) -> u64 {
        let text = fs::read_to_string(self.journal(journal)).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["up_to"].as_u64()).next_back().unwrap()
    }

    /// Where a record is on a disk of 1 MiB.
    fn offset(number: u64) -> u64 {
        (number - 1) % 256 * 4096
    }
}

#[test]
fn what_is_there_is_kept_and_the_disk_goes_when_it_is_told_to() {
    let Some(rig) = Rig::new() else { return };
    for options in ["", "--durable"] {
        let written = rig.write("j", options).expect(&[0]);
        let told =
            if options.is_empty() { "acknowledged as flushed" } else { "acknowledged as durable" };
        assert!(written.stdout.contains(told), "{written:?}");
        assert!(written.stdout.contains("stormeter durable check a --journal"), "{written:?}");
        let kept = rig.check("j", "").expect(&[0]);
        assert!(kept.stdout.starts_with("Nothing lost: all "), "{kept:?}");
        assert!(kept.stdout.contains("this machine was not restarted"), "{kept:?}");
        let verdict = &rig.checked("j", 0)["verdict"];
        assert_eq!(verdict["outcome"], "kept");
        assert_eq!(verdict["acknowledged"], rig.acknowledged("j"));
        assert!(verdict["judged"].as_u64().unwrap() > 0, "{verdict}");
        assert!(rig.disk().exists());
        rig.check("j", "--remove").expect(&[0]);
        assert_eq!(rig.place.folders("a"), Vec::<PathBuf>::new());
        fs::remove_file(rig.journal("j")).unwrap();
    }
}

#[test]
fn lost_and_torn_records_are_found_with_their_order() {
    let Some(rig) = Rig::new() else { return };
    rig.write("j", "--flush 4").expect(&[0]);
    let last = rig.acknowledged("j");
    assert!(last > 20, "{last}");
    let disk = File::options().read(true).write(true).open(rig.disk()).unwrap();
    // The first sectors of one record, and all of the one after it.
    disk.write_all_at(&[0; 1024], Rig::offset(last - 9)).unwrap();
    disk.write_all_at(&[0; 4096], Rig::offset(last - 8)).unwrap();
    let lost = rig.check("j", "").expect(&[3]);
    assert!(lost.stdout.starts_with("LOST: 2 of "), "{lost:?}");
    for part in ["order is violated", "1 × a torn record, 1 × zeros", "acknowledged at 20"] {
        assert!(lost.stdout.contains(part), "{part}: {lost:?}");
    }
    let verdict = &rig.checked("j", 3)["verdict"];
    assert_eq!((&verdict["lost"], &verdict["causes"]["torn"]), (&2.into(), &1.into()));
    assert_eq!(verdict["order"]["missing"], last - 9);
    assert_eq!(verdict["order"]["present"], last);

    // A write that went to the place after its own.
    let mut record = vec![0; 4096];
    disk.read_exact_at(&mut record, Rig::offset(last - 1)).unwrap();
    disk.write_all_at(&record, Rig::offset(last)).unwrap();
    let verdict = &rig.checked("j", 3)["verdict"];
    assert_eq!((&verdict["misplaced_count"], &verdict["lost"]), (&1.into(), &3.into()));
    assert_eq!(verdict["misplaced"][0]["number"], last - 1);
    rig.check("j", "--remove").expect(&[3]);
}

#[test]
fn a_journal_on_the_storage_under_test_is_refused() {
    let Some(rig) = Rig::new() else { return };
    for journal in ["j", "a/j", "b/j"] {
        let refused =
            rig.place.run(&format!("durable write a --journal {journal} --for 100ms")).expect(&[2]);
        assert!(refused.stderr.contains("would lie on the storage under test"), "{refused:?}");
        assert!(!rig.place.path(journal).exists());
    }
    assert_eq!(rig.place.folders("a"), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_checked_says_why() {
    let Some(rig) = Rig::new() else { return };
    let refused = |outcome: Outcome, code: i32, parts: &[&str]| {
        let outcome = outcome.expect(&[code]);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{part}: {outcome:?}");
        }
    };
    refused(rig.write("j", "--flush 100"), 2, &["holds 256 records", "--size"]);
    refused(rig.write("j", "--block 1000B"), 2, &["power of two"]);
    refused(rig.write("j", "--flush 0"), 2, &["flushes nothing"]);
    refused(rig.check("none", ""), 2, &["none", "cannot be read"]);
    let null = format!("durable write null: --journal {}", rig.journal("j"));
    refused(rig.place.run(&null), 2, &["keeps nothing"]);
    assert!(!Path::new(&rig.journal("j")).exists(), "a refusal leaves no journal");

    rig.write("j", "").expect(&[0]);
    refused(rig.write("j", ""), 2, &["exists", "new file"]);
    // Before the storage is back.
    let (there, away) = (rig.place.folders("a").pop().unwrap(), rig.place.path("away"));
    fs::rename(&there, &away).unwrap();
    refused(rig.check("j", "--wait 600ms"), 1, &["has no disks of run", "is the storage back"]);
    assert_eq!(rig.place.folders("a"), Vec::<PathBuf>::new(), "nothing is created");
    let checking =
        rig.place.start(&format!("durable check a --journal {} --wait 2m", rig.journal("j")));
    fs::rename(&away, &there).unwrap();
    checking.wait().expect(&[0]);

    // The records of one run by the journal of another.
    rig.place.make("c");
    let journal = rig.journal("other");
    let other = format!("durable write c --journal {journal} --size 1MiB --for 500ms");
    rig.place.run(&other).expect(&[0]);
    refused(rig.check("other", ""), 1, &["has no disks of run"]);
    let c = rig.place.folders("c").pop().unwrap().join("disk-00000");
    fs::copy(c, rig.disk()).unwrap();
    refused(rig.check("j", ""), 2, &["the journal is of run"]);

    // Damage.
    let text = fs::read_to_string(rig.journal("other")).unwrap();
    fs::write(rig.journal("other"), text.replacen("\"up_to\":16", "\"up_to\":17", 1)).unwrap();
    let damaged = rig.place.run(&format!("durable check c --journal {journal}"));
    refused(damaged, 1, &["line 3", "damaged"]);
    fs::write(rig.journal("other"), "hello\n").unwrap();
    let none = rig.place.run(&format!("durable check c --journal {journal}"));
    refused(none, 2, &["is not a journal"]);
}

#[test]
fn a_writer_that_is_killed_has_kept_what_was_acknowledged_and_other_runs_leave_it_alone() {
    let Some(rig) = Rig::new() else { return };
    let command = format!("durable write a --journal {} --size 1MiB", rig.journal("j"));
    let mut writing = rig.place.start(&command);
    writing.until("acknowledgements", || {
        let text = fs::read_to_string(rig.journal("j")).unwrap_or_default();
        (text.lines().count() > 100).then_some(())
    });
    // While it writes, nobody reads.
    let busy = rig.check("j", "").expect(&[1]);
    assert!(busy.stderr.contains("in use by stormeter"), "{busy:?}");
    writing.kill();
    let other =
        format!("durable write a --journal {} --size 1MiB --for 50ms", rig.journal("other"));
    rig.place.run(&other).expect(&[0]);
    assert_eq!(rig.place.folders("a").len(), 2);
    let verdict = &rig.checked("j", 0)["verdict"];
    assert!(verdict["acknowledged"].as_u64().unwrap() >= 800, "{verdict}");
    rig.check("j", "--remove").expect(&[0]);
    rig.check("other", "--remove").expect(&[0]);
    assert_eq!(rig.place.folders("a"), Vec::<PathBuf>::new());
}
