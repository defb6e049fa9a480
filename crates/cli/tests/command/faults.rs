//! Storage that fails while it is measured: the trial says so, the result is invalid, and the
//! program ends in order.

use std::fs::{self, File, OpenOptions};

use nix::fcntl::{FallocateFlags, fallocate};

use crate::loop_device::{LoopDevice, Mount};
use crate::place::{Outcome, Place, STEADY};
use crate::results::{rows, trials};
use crate::schema;

const FIVE_BLOCKS: &str = "--max-blocks 5 --seed 1 --output r.db";

/// Why the result is invalid, as the report says it.
fn invalid(place: &Place) -> String {
    let json = place.run("report r.db --json").expect(&[5]).json();
    schema::check(place, &json);
    assert_eq!(json["valid"], false, "{json:#}");
    json["headline"].to_string()
}

#[test]
fn a_disk_that_becomes_shorter_gives_short_reads_and_no_verdict() {
    let place = Place::new();
    // Few enough that the trial itself runs to its end.
    let mut running =
        place.start(&format!("compare a b {STEADY} {FIVE_BLOCKS} --read 100% --rate 300"));
    let disk = place.wait_for_disk(&mut running, "a");
    running.until("the first block", || (trials(&place.path("r.db")).len() >= 2).then_some(()));
    OpenOptions::new().write(true).open(&disk).unwrap().set_len(0).unwrap();
    let outcome = running.wait().expect(&[5]);
    assert!(outcome.stdout.contains("result is invalid"), "{outcome:?}");
    assert!(outcome.said().contains("came back short"), "{outcome:?}");
    assert!(invalid(&place).contains("short"));
    let shorts = rows(&place.path("r.db"), "SELECT sum(short_operations) FROM total", |row| {
        row.get::<_, i64>(0)
    });
    assert!(shorts[0] > 0, "they are counted");
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}

#[test]
fn a_datastore_that_always_fails_ends_the_run_and_is_named() {
    let place = Place::new();
    let mut running = place.start(&format!("compare a b {STEADY} {FIVE_BLOCKS} --read 100%"));
    let disk = place.wait_for_disk(&mut running, "a");
    OpenOptions::new().write(true).open(&disk).unwrap().set_len(0).unwrap();
    let outcome = running.wait().expect(&[5]);
    assert!(outcome.stdout.contains("invalid: a:"), "{outcome:?}");
    assert!(outcome.stdout.contains("only 0 bytes moved"), "{outcome:?}");
    // The block was still finished, and no further one was started.
    let all = trials(&place.path("r.db"));
    assert!(all.iter().any(|trial| trial.datastore == 1 && trial.outcome == "measured"));
    assert!(place.run("report r.db").expect(&[5]).stdout.contains("invalid: a:"));
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}

#[test]
fn a_disk_that_is_taken_away_fails_its_trials() {
    let place = Place::new();
    let mut running = place.start(&format!("compare a b {STEADY} {FIVE_BLOCKS} --rate 300"));
    let disk = place.wait_for_disk(&mut running, "a");
    fs::remove_file(&disk).unwrap();
    let outcome = running.wait().expect(&[5]);
    assert!(outcome.stderr.contains("changed by another process"), "{outcome:?}");
}

#[test]
fn a_device_error_is_named_with_its_cause() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, "disk", 32 << 20) else { return };
    let name = &device.name;
    let mut running = place.start(&format!("compare a {name} {STEADY} {FIVE_BLOCKS} --rate 300"));
    running.until("the first block", || (trials(&place.path("r.db")).len() >= 2).then_some(()));
    // Behind the device there is no storage any more.
    OpenOptions::new().write(true).open(&device.backing).unwrap().set_len(0).unwrap();
    // What the page cache still holds is read without it, so the block may be sound when it is measured again.
    let outcome = running.wait().expect(&[0, 4, 5]);
    for report in [outcome.said(), place.run("report r.db").said()] {
        assert!(report.contains("Input/output error"), "{report}");
        assert!(report.contains("measured again because a trial broke"), "{report}");
    }
}

#[test]
fn a_file_system_that_runs_full_is_named_as_such() {
    let place = Place::new();
    let small = place.path("small");
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "-o", "size=16m"], "none", &small) else {
        return;
    };
    let mut running =
        place.start(&format!("compare a small {STEADY} {FIVE_BLOCKS} --read 0% --rate 300"));
    let disk = place.wait_for_disk(&mut running, "small");
    running.until("the first block", || (trials(&place.path("r.db")).len() >= 2).then_some(()));
    // The disk's blocks are freed, as a thin store does, and another process takes the space.
    let file = OpenOptions::new().write(true).open(&disk).unwrap();
    let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    fallocate(&file, hole, 0, 8 << 20).unwrap();
    let filler = File::create(small.join("filler")).unwrap();
    for size in [1 << 20, 64 << 10, 4096] {
        let mut at = fs::metadata(small.join("filler")).unwrap().len() as i64;
        while fallocate(&filler, FallocateFlags::empty(), at, size).is_ok() {
            at += size;
        }
    }
    let outcome = running.wait().expect(&[5]);
    assert_invalid_with(&outcome, "No space left on device");
}

#[track_caller]
fn assert_invalid_with(outcome: &Outcome, cause: &str) {
    assert!(outcome.said().contains("result is invalid"), "{outcome:?}");
    assert!(outcome.said().contains(cause), "{cause}: {outcome:?}");
}
