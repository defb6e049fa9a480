//! What was there before is there afterwards, byte for byte, and nothing else is: after success,
//! after an error, after a signal, and after the run that follows a killed one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::place::{Place, SHORT, SURE};
use crate::results::trials;

/// Everything below a directory: what it is and what it holds.
fn everything(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_str().unwrap().to_owned();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_symlink() {
            found.insert(name, fs::read_link(&path).unwrap().to_str().unwrap().into());
        } else if kind.is_dir() {
            found.extend(everything(&path));
            found.insert(name, b"directory".into());
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Files of another user, some of them with names like ours.
fn fill(place: &Place) {
    let a = place.path("a");
    fs::write(a.join("disk-00000"), "another user's disk").unwrap();
    fs::write(a.join("owner.json"), "{}").unwrap();
    fs::write(a.join(".stormeter-file"), "not a folder").unwrap();
    let similar = a.join(".stormeter-0123456789abcdef-0");
    fs::create_dir(&similar).unwrap();
    fs::write(similar.join("disk-00000"), "without a mark of ours").unwrap();
    fs::write(similar.join("owner.json"), "{\"magic\": \"other\"}").unwrap();
    symlink(place.path("b"), a.join(".stormeter-link")).unwrap();
    fs::write(place.path("b").join("holiday.jpg"), vec![7; 100_000]).unwrap();
}

#[test]
fn other_files_stay_as_they_are_whatever_happens() {
    let place = Place::new();
    fill(&place);
    let state = || (everything(&place.path("a")), everything(&place.path("b")));
    let before = state();
    let compare = format!("compare a b {SHORT} --rate 300");

    place.run_until(&[0], &format!("compare a b {SHORT} {SURE}"));
    assert!(state() == before, "after success: {:?}", state());

    place.run(&compare.replace("8MiB", "4096TiB")).expect(&[1]);
    assert!(state() == before, "after too little space: {:?}", state());
    place.run(&compare.replace("a b", "a missing")).expect(&[1]);
    assert!(state() == before, "after a missing neighbour: {:?}", state());
    place.run("doctor a b").expect(&[0]);
    assert!(state() == before, "after the doctor: {:?}", state());

    let mut running = place.start(&format!("{compare} --precision 0.1% --output interrupted.db"));
    running.until("a trial", || (!trials(&place.path("interrupted.db")).is_empty()).then_some(()));
    running.signal(Signal::SIGINT);
    running.wait().expect(&[130]);
    assert!(state() == before, "after a signal: {:?}", state());

    let mut running = place.start(&format!("{compare} --output killed.db"));
    place.wait_for_disk(&mut running, "b");
    running.kill();
    assert!(state() != before, "a killed run cannot tidy");
    let outcome = place.run(&format!("{compare} --max-blocks 5")).expect(&[0, 4, 5]);
    assert!(state() == before, "after the next run: {:?}", state());
    assert!(outcome.stderr.contains("was removed"), "{outcome:?}");
}

#[test]
fn a_file_that_was_put_into_our_folder_stays_and_is_reported() {
    let place = Place::new();
    let mut running = place.start(&format!("compare a b {SHORT} --rate 300 --max-blocks 5"));
    let folder = place.wait_for_disk(&mut running, "a").parent().unwrap().to_path_buf();
    fs::write(folder.join("precious.txt"), "mine").unwrap();
    let outcome = running.wait().expect(&[0, 4, 5]);
    assert!(outcome.stderr.contains("did not make"), "{outcome:?}");
    assert_eq!(fs::read_to_string(folder.join("precious.txt")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "our own files are gone");
}

#[test]
fn runs_at_the_same_time_leave_each_other_alone() {
    let place = Place::new();
    let command = format!("compare a b {SHORT} --rate 300 --precision 0.1% --metric latency-max");
    let mut running = place.start(&format!("{command} --output first.db"));
    let disk = place.wait_for_disk(&mut running, "b");
    let second = place.run_until(&[0], &format!("compare a b {SHORT} {SURE} --output second.db"));
    assert!(disk.exists(), "the disk of a run in progress");
    let other = "another run of stormeter (process";
    assert!(second.said().contains(other), "{second:?}");

    // The same results file cannot be shared.
    let outcome = place.run(&format!("{command} --output first.db --resume")).expect(&[1]);
    assert!(outcome.stderr.contains("being written by another run"), "{outcome:?}");
    // Reading it is allowed.
    running.until("a trial", || (!trials(&place.path("first.db")).is_empty()).then_some(()));
    let outcome = place.run("report first.db").expect(&[0, 4]);
    assert!(outcome.stdout.contains("Not finished"), "{outcome:?}");
    // The first run reports it too, however short the second run was.
    running.until("a trial that knows of the second run", || {
        place.run("report first.db").said().contains(other).then_some(())
    });
    running.signal(Signal::SIGINT);
    running.wait().expect(&[130]);
}

#[test]
fn an_existing_results_file_is_not_overwritten() {
    let place = Place::new();
    fs::write(place.path("thesis.txt"), "years of work").unwrap();
    let compare = format!("compare a b {SHORT} {SURE} --output");
    let outcome = place.run(&format!("{compare} thesis.txt")).expect(&[1]);
    assert!(outcome.stderr.contains("exists already"), "{outcome:?}");
    assert_eq!(fs::read_to_string(place.path("thesis.txt")).unwrap(), "years of work");
    let outcome = place.run(&format!("{compare} thesis.txt --resume")).expect(&[1]);
    assert!(outcome.stderr.contains("not a stormeter results file"), "{outcome:?}");
    assert_eq!(fs::read_to_string(place.path("thesis.txt")).unwrap(), "years of work");
}
