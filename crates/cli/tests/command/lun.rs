//! A LUN whose run was killed: the leftovers are recognised as those of the run, not taken for user data.

use stormeter_peers::{Tgt, TgtOptions};

use crate::place::{Place, STEADY, SURE};
use crate::results::{rows, trials};

#[test]
fn what_a_killed_run_left_on_a_lun_is_overwritten_by_the_next_and_used_by_its_own() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    let place = Place::new();
    let compare = format!("compare a {} {STEADY} {SURE} --max-blocks 5 --verify", tgt.url(1));
    let kill_early = |output: &str| {
        let mut running = place.start(&format!("{compare} --output {output}"));
        running.until("a trial", || (!trials(&place.path(output)).is_empty()).then_some(()));
        // Who is alive is not disturbed.
        let other = place.run(&format!("{compare} --output other.db")).expect(&[1]);
        assert!(other.stderr.contains("is in use by stormeter, process"), "{other:?}");
        running.kill();
    };
    kill_early("killed.db");
    let compared = place.run(&format!("{compare} --output next.db")).expect(&[0, 4, 5]);
    assert!(compared.stderr.contains("still held the disks of run"), "{compared:?}");
    let wrong = "SELECT coalesce(sum(wrong_blocks), -1) FROM verified";
    let is_right = |output: &str| {
        assert_eq!(rows(&place.path(output), wrong, |row| row.get::<_, i64>(0)), [0]);
    };
    is_right("next.db");

    kill_early("again.db");
    let resume = format!("{compare} --output again.db --resume");
    let compared = place.run(&resume).expect(&[0, 4, 5]);
    let note = format!("{}: the disks of the interrupted run are used again", tgt.url(1));
    let said = compared.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&note), "{compared:?}");
    is_right("again.db");
    let unit = std::fs::read(tgt.unit_file(1)).unwrap();
    assert!(unit[..1 << 20].iter().all(|byte| *byte == 0), "the header is still there");
}
