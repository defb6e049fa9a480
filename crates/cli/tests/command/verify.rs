//! `--verify`: what is read is what was written, or the run says which block was not.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::place::{Outcome, Place, STEADY, SURE, until};
use crate::results::{one, trials};
use crate::schema;

const DISK_BYTES: usize = 8 << 20;
const VERIFY: &str = "--verify --max-blocks 5 --seed 1 --output r.db";

#[test]
fn a_clean_run_says_how_much_was_verified() {
    let place = Place::new();
    let outcome = place.run_until(
        &[0],
        &format!("compare a b --vms 3 --threads 2 {STEADY} {SURE} --verify --output r.db"),
    );
    assert!(outcome.said().contains("Verified: a: "), "{outcome:?}");
    assert!(outcome.said().contains("blocks read back, none wrong; b: "), "{outcome:?}");
    let json = place.run("report r.db --json").expect(&[0]).json();
    schema::check(&place, &json);
    assert_eq!(json["plan"]["verify"], true);
    for datastore in json["cells"].as_array().unwrap() {
        let verified = &datastore["verified"];
        assert!(verified["blocks"].as_u64().unwrap() > 0, "{verified}");
        assert_eq!(verified["wrong_blocks"], 0);
        assert_eq!(verified["unknown_blocks"], 0);
    }
    assert!(json["repeat_command"].as_str().unwrap().contains("--verify"));
}

/// Under as much load as there can be, in an open loop, and through the page cache.
#[test]
fn no_load_makes_it_cry_wolf() {
    for load in [
        "a b --outstanding 32 --read 50%",
        "a b --equal-load auto --vms 2",
        "a?direct=0 b?engine=positional --request-size 4KiB:1,64KiB:1 --random 50%",
    ] {
        let place = Place::new();
        // Such trials may tell of the machine what they like, but not that data was wrong.
        let outcome = place.run(&format!("compare {load} {STEADY} {VERIFY}")).expect(&[0, 4, 5]);
        assert!(outcome.said().contains("none wrong; b"), "{load}: {outcome:?}");
        let wrong = one::<i64>(&place.path("r.db"), "SELECT sum(wrong_blocks) FROM verified");
        assert_eq!(wrong, 0, "{load}");
        // The ceiling is measured with the cost of verifying, on disks that keep nothing.
        let ceiling = "SELECT blocks FROM verified JOIN trial ON trial.id = trial_id \
                       WHERE phase = 'ceiling'";
        assert!(one::<i64>(&place.path("r.db"), ceiling) > 0, "{load}");
    }
}

/// The disk of `a` is changed by `damage` after the first block.
fn damaged(damage: impl Fn(&File)) -> (Place, Outcome) {
    let place = Place::new();
    let mut running = place.start(&format!("compare a b {STEADY} --rate 300 {VERIFY}"));
    let disk = place.wait_for_disk(&mut running, "a");
    running.until("the first block", || (trials(&place.path("r.db")).len() >= 2).then_some(()));
    damage(&OpenOptions::new().read(true).write(true).open(&disk).unwrap());
    let outcome = running.wait().expect(&[5]);
    assert!(outcome.said().contains("The result is invalid: a: "), "{outcome:?}");
    assert!(outcome.said().contains("blocks read back w"), "{outcome:?}");
    assert!(outcome.said().contains("b: ") && outcome.said().contains("none wrong"), "{outcome:?}");
    let json = place.run("report r.db --json").expect(&[5]).json();
    schema::check(&place, &json);
    assert_eq!(json["valid"], false);
    assert_eq!(json["cells"][1]["verified"]["wrong_blocks"], 0);
    (place, outcome)
}

fn words(place: &Place) -> String {
    one::<String>(&place.path("r.db"), "SELECT what FROM corruption LIMIT 1")
}

#[test]
fn zeros_of_another_writer_are_found() {
    let (place, outcome) = damaged(|disk| disk.write_all_at(&vec![0; DISK_BYTES], 0).unwrap());
    assert!(outcome.said().contains("no stormeter block but zeros instead of"), "{outcome:?}");
    assert!(words(&place).contains("zeros instead of generation "));
    let page = place.run("report r.db --html p.html").expect(&[5]);
    let html = std::fs::read_to_string(place.path("p.html")).unwrap();
    assert!(html.contains("no stormeter block but zeros"), "{page:?}");
}

#[test]
fn blocks_in_the_place_of_others_are_found() {
    let (place, outcome) = damaged(|disk| {
        let mut bytes = vec![0; DISK_BYTES / 2];
        disk.read_exact_at(&mut bytes, 0).unwrap();
        disk.write_all_at(&bytes, DISK_BYTES as u64 / 2).unwrap();
    });
    assert!(outcome.said().contains(": the block of disk 0 at "), "{outcome:?}");
    assert!(words(&place).contains("instead of its own, generation "));
}

#[test]
fn a_flipped_bit_in_every_block_is_found() {
    let (place, outcome) = damaged(|disk| {
        for offset in (0..DISK_BYTES as u64).step_by(4096) {
            let mut byte = [0];
            disk.read_exact_at(&mut byte, offset + 1000).unwrap();
            byte[0] ^= 4;
            disk.write_all_at(&byte, offset + 1000).unwrap();
        }
    });
    assert!(outcome.said().contains("damaged, checksum 0x"), "{outcome:?}");
    assert!(words(&place).contains("damaged, checksum 0x"));
}

/// Writes of the killed process are no corruption, and generations are not used twice.
#[test]
fn a_killed_run_that_resumes_reports_no_corruption() {
    let place = Place::new();
    let command = format!("compare a b {STEADY} --rate 300 {VERIFY}");
    let path = place.path("r.db");
    let mut running = place.start(&command);
    let disk = place.wait_for_disk(&mut running, "b");
    running.until("a trial", || (!trials(&path).is_empty()).then_some(()));
    running.kill();
    let first = highest_generation(&disk);
    assert!(first < 1 << 40);
    let mut running = place.start(&format!("{command} --resume"));
    running.until("more trials", || (trials(&path).len() >= 5).then_some(()));
    running.kill();
    let second = highest_generation(&disk);
    assert!(second > 1 << 40 && second < 2 << 40, "{second:#x} after {first:#x}");
    let other = place.run(&format!("{command} --resume").replace("--verify", "")).expect(&[2]);
    assert!(other.stderr.contains("another verification"), "{other:?}");
    let outcome = place.run(&format!("{command} --resume")).expect(&[0, 4]);
    assert!(outcome.said().contains("by offset and checksum only, after resuming"), "{outcome:?}");
    assert!(outcome.said().contains("none wrong"), "{outcome:?}");
}

/// Of all blocks on a disk: its last eight bytes of the header.
fn highest_generation(disk: &Path) -> u64 {
    let bytes = until("the disk", || std::fs::read(disk).ok());
    let generations =
        bytes.chunks(4096).map(|block| u64::from_le_bytes(block[32..40].try_into().unwrap()));
    generations.max().unwrap()
}
