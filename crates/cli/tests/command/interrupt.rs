//! Ctrl-C and its like: what is finished is kept and said, and nothing stays on the datastores.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::place::{Outcome, Place, SHORT, until};
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
        for words in ["it was interrupted", "blocks", "maximum latency", "To continue: "] {
            assert!(stdout.contains(words), "{signal}: {words:?} is not in {stdout}");
        }
        assert!(!stdout.contains("Repeat it"), "{signal}: {stdout}");
        let kept = trials(&place.path("r.db"));
        assert!((6..40).contains(&kept.len()), "{signal}: {}", kept.len());
        assert!(kept.iter().all(|trial| trial.outcome == "measured"), "{signal}: {kept:?}");
        let finished: String =
            one(&place.path("r.db"), "SELECT value FROM meta WHERE key = 'finished'");
        assert!(finished.contains("interrupted"), "{finished}");
        assert!(place.folders("a").is_empty() && place.folders("b").is_empty(), "{signal}");

        // The command that it names resumes it, with new disks.
        let named = stdout.lines().find_map(|line| line.strip_prefix("To continue: stormeter "));
        let named = named.unwrap_or_else(|| panic!("{signal}: {stdout}")).to_owned();
        assert_eq!(named, format!("{command} --resume"), "{signal}");
        let resumed = named.replace("--max-blocks 20", "--max-blocks 5");
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
    // Nothing was measured, so there is no table to show.
    let words = "Interrupted before the first trial; nothing was measured.";
    let resume = format!("To continue: stormeter {command} --resume");
    assert_eq!(outcome.stdout, format!("{words}\n{resume}\n"), "{outcome:?}");
    assert!(trials(&place.path("r.db")).is_empty());
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}

#[test]
fn an_interrupted_demonstration_leaves_the_results_of_an_earlier_one_alone() {
    let place = Place::new();
    let earlier = place.path("stormeter-demo.db");
    let limits = "--rate 300 --max-blocks 5 --output stormeter-demo.db";
    place.run(&format!("compare a b {SHORT} {limits}")).expect(&[0, 4, 5]);
    let results = std::fs::read(&earlier).unwrap();
    std::fs::write(place.path("stormeter-demo.html"), "its page").unwrap();
    let mut running = place.start("demo");
    let own = place.path("stormeter-demo-2.db");
    running.until("its results file", || own.exists().then_some(()));
    running.signal(Signal::SIGINT);
    let outcome = running.wait().expect(&[130]);
    assert_eq!(std::fs::read(&earlier).unwrap(), results);
    assert_eq!(std::fs::read(place.path("stormeter-demo.html")).unwrap(), b"its page");
    // Where nothing was measured, nothing of it stays.
    let nothing = outcome.stdout.contains("nothing was measured");
    assert_eq!(own.exists(), !nothing, "{outcome:#?}");
}

/// `timeout` signals the process and then its group, which reaches the process twice within microseconds.
#[test]
fn a_signal_that_comes_twice_at_once_is_one_request() {
    let place = Place::new();
    for attempt in 0..5 {
        let command = format!("compare a b {SHORT} {COMPARE}").replace("8MiB", "256MiB");
        let mut running = place.start(&command);
        running.until("a disk", || {
            let folder = place.folders("a").pop()?;
            folder.join("disk-00000").exists().then_some(())
        });
        let id = running.id();
        running.signal(Signal::SIGTERM);
        // Until then a second one would be the same to the kernel, too.
        running.until("the first to arrive", || {
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
            let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"))?;
            let pending = u64::from_str_radix(pending.trim(), 16).ok()?;
            (pending & (1 << (Signal::SIGTERM as u64 - 1)) == 0).then_some(())
        });
        running.signal(Signal::SIGTERM);
        let outcome = running.wait().expect(&[130]);
        assert!(outcome.stdout.contains("Interrupted"), "attempt {attempt}: {outcome:?}");
        assert!(place.folders("a").is_empty() && place.folders("b").is_empty(), "{attempt}");
        std::fs::remove_file(place.path("r.db")).unwrap();
    }
}

/// How often the program has waited for a signal; `None` when it has ended.
fn waits_for_signals(id: Pid) -> Option<u64> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).ok()?;
    let mut statuses =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok());
    let status = statuses.find(|status| status.starts_with("Name:\tsignals\n"))?;
    let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    waits.trim().parse().ok()
}

#[test]
fn a_second_request_ends_it_at_once_and_says_what_it_leaves() {
    let place = Place::new();
    // It may have ended in order before it is stopped; so there are several attempts.
    let at_once = (0..20).any(|_| {
        let mut running =
            place.start(&format!("compare a b {SHORT} {COMPARE}").replace("r.db", "s.db"));
        place.wait_for_disk(&mut running, "b");
        let waits = waits_for_signals(running.id());
        running.signal(Signal::SIGINT);
        // Seen when it waits for the next one; stopped before that, it would see both at once.
        // One that has ended in order meanwhile waits for nothing.
        until("the first to be seen", || {
            let now = waits_for_signals(running.id());
            (now.is_none() || now != waits).then_some(())
        });
        // It must not end in order before the second comes.
        running.signal(Signal::SIGSTOP);
        let moment = Instant::now() + Duration::from_millis(600);
        until("a moment", || (Instant::now() >= moment).then_some(()));
        running.signal(Signal::SIGTERM);
        running.signal(Signal::SIGCONT);
        let outcome = running.wait().expect(&[130, 0, 4]);
        // On a busy machine it may be stopped before it has written any results.
        match std::fs::remove_file(place.path("s.db")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
        // Of either: it may be ended while it tidies.
        let left = [place.folders("a"), place.folders("b")].concat();
        let says = left.iter().all(|folder| {
            let name = folder.file_name().unwrap().to_str().unwrap();
            outcome.stderr.contains("Left behind") && outcome.stderr.contains(name)
        });
        if outcome.stdout.is_empty() && !left.is_empty() && says {
            return true;
        }
        // The next attempt would take them for its own.
        left.iter().for_each(|folder| std::fs::remove_dir_all(folder).unwrap());
        false
    });
    assert!(at_once, "it always took its time for a report and for tidying");
    // The next run tidies.
    place.run_until(&[0, 4], &format!("compare a b {SHORT} --rate 300 --max-blocks 5"));
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}
