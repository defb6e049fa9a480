//! Ctrl-C and its like: what is finished is kept and said, and nothing stays on the datastores.

use nix::sys::signal::Signal;

use crate::place::{Outcome, Place, SHORT};
use crate::results::{one, trials};

const COMPARE: &str = "--rate 300 --precision 0.1% --margin 0.1% --metric latency-max --seed 1 \
                       --output r.db";

#[test]
fn a_signal_keeps_finished_blocks_says_the_verdict_so_far_and_leaves_nothing() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let place = Place::new();
        let command = format!("compare a b {SHORT} {COMPARE} --max-blocks 20");
        let mut running = place.start(&command);
        running.until("three blocks", || (trials(&place.path("r.db")).len() >= 6).then_some(()));
        running.signal(signal);
        let Outcome { stdout, .. } = running.wait().expect(&[130]);
        for words in ["it was interrupted", "blocks", "maximum latency", "Repeat it"] {
            assert!(stdout.contains(words), "{signal}: {words:?} is not in {stdout}");
        }
        let kept = trials(&place.path("r.db"));
        assert!((6..40).contains(&kept.len()), "{signal}: {}", kept.len());
        assert!(kept.iter().all(|trial| trial.outcome == "measured"), "{signal}: {kept:?}");
        let finished: String =
            one(&place.path("r.db"), "SELECT value FROM meta WHERE key = 'finished'");
        assert!(finished.contains("interrupted"), "{finished}");
        assert!(place.folders("a").is_empty() && place.folders("b").is_empty(), "{signal}");

        // It goes on when asked to, with disks made anew.
        let resumed = format!("{command} --resume").replace("--max-blocks 20", "--max-blocks 5");
        place.run(&resumed).expect(&[0, 4, 5]);
        assert!(trials(&place.path("r.db")).starts_with(&kept));
    }
}

#[test]
fn a_signal_while_disks_are_written_removes_them() {
    let place = Place::new();
    let command = format!("compare a b {SHORT} {COMPARE}").replace("8MiB", "512MiB");
    let mut running = place.start(&command);
    running.until("a disk", || {
        let folder = place.folders("a").pop()?;
        folder.join("disk-00000").exists().then_some(())
    });
    running.signal(Signal::SIGINT);
    let outcome = running.wait().expect(&[130]);
    assert!(outcome.stdout.contains("interrupted"), "{outcome:?}");
    assert!(trials(&place.path("r.db")).is_empty());
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let place = Place::new();
    // Two signals that arrive together may reach two threads at one instant, each taking its own
    // for the first; so there are several attempts.
    let at_once = (0..20).any(|_| {
        let mut running =
            place.start(&format!("compare a b {SHORT} {COMPARE}").replace("r.db", "s.db"));
        place.wait_for_disk(&mut running, "b");
        // Both gather while it is stopped, so that it cannot end in order between them.
        running.signal(Signal::SIGSTOP);
        running.signal(Signal::SIGINT);
        running.signal(Signal::SIGTERM);
        running.signal(Signal::SIGCONT);
        let outcome = running.wait().expect(&[130]);
        std::fs::remove_file(place.path("s.db")).unwrap();
        outcome.stdout.is_empty() && !place.folders("a").is_empty()
    });
    assert!(at_once, "it always took its time for a report and for tidying");
    // The next run tidies.
    place.run_until(&[0, 4], &format!("compare a b {SHORT} --rate 300 --max-blocks 5"));
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}
