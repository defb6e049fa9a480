//! The loop of sessions in virtual time: what is counted, when operations begin, and how a trial ends.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use stormeter_disk::{
    Clock, DeviceError, DisksError, Kind, SessionChange, SessionEvent, Sessions, Wait,
};
use stormeter_driver::drive_sessions;
use stormeter_trial::{Ended, Limits, Sample, SessionTrial};

const MS: u64 = 1_000_000;

#[derive(Clone, Default)]
struct Time(Rc<Cell<u64>>);

impl Clock for Time {
    fn now_ns(&mut self) -> u64 {
        self.0.get()
    }
}

/// Sessions whose operations do what a table says, at times after they began.
struct Scripted<F> {
    time: Time,
    /// What the operation does that begins now: times after now, and changes.
    script: F,
    started: Vec<(u32, u64)>,
    due: BTreeMap<(u64, usize), SessionEvent>,
    count: usize,
}

impl<F: FnMut(u32, u64) -> Vec<(u64, SessionChange)>> Sessions for Scripted<F> {
    fn begin(&mut self, session: u32) -> Result<(), DisksError> {
        let now_ns = self.time.0.get();
        self.started.push((session, now_ns));
        for (after_ns, what) in (self.script)(session, now_ns) {
            self.count += 1;
            self.due.insert((now_ns + after_ns, self.count), SessionEvent { session, what });
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<SessionEvent>) -> Result<(), DisksError> {
        let now_ns = self.time.0.get();
        let until_ns = match wait {
            Wait::No => now_ns,
            // Virtual time must go on, even if the loop polls.
            Wait::AtMost(ns) => now_ns + ns.max(1),
        };
        let next_ns = self.due.keys().next().map_or(until_ns, |(at_ns, _)| (*at_ns).max(now_ns));
        self.time.0.set(next_ns.min(until_ns));
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= self.time.0.get()
        {
            events.push(entry.remove());
        }
        Ok(())
    }
}

fn trial() -> SessionTrial {
    SessionTrial {
        first_session: 4,
        sessions: 2,
        pause_ns: 0,
        seed: 1,
        ramp_ns: 100 * MS,
        duration_ns: 1000 * MS,
        interval_ns: 100 * MS,
        limits: Limits::default(),
    }
}

fn run(
    trial: &SessionTrial,
    script: impl FnMut(u32, u64) -> Vec<(u64, SessionChange)>,
) -> (Sample, Vec<(u32, u64)>) {
    let time = Time::default();
    let mut clock = time.clone();
    let mut sessions =
        Scripted { time, script, started: Vec::new(), due: BTreeMap::new(), count: 0 };
    let sample = drive_sessions(trial, || Some(0), &mut sessions, &mut clock, &mut ());
    (sample, sessions.started)
}

const ENDED: SessionChange = SessionChange::Ended { kind: Kind::Write };

fn moved(bytes: u64) -> SessionChange {
    SessionChange::Moved { kind: Kind::Write, bytes }
}

fn refused() -> SessionChange {
    SessionChange::Failed { kind: Kind::Write, error: DeviceError(104) }
}

/// Little's law and the tallies, which every trial obeys.
fn assert_sound(sample: &Sample) {
    let total = sample.total();
    let busy_ns = total.latency_sum_ns as f64 + sample.carried_ns as f64;
    let outstanding_ns = sample.outstanding_mean * sample.window_ns as f64;
    assert!((busy_ns - outstanding_ns).abs() <= 1000.0, "{busy_ns} {outstanding_ns}");
    let rows = || sample.intervals.iter().flat_map(|row| [row.reads, row.writes]);
    assert_eq!(rows().map(|row| row.operations).sum::<u64>(), total.operations);
    assert_eq!(rows().map(|row| row.bytes).sum::<u64>(), total.bytes);
    assert_eq!(total.histogram.count(), total.operations);
    assert_eq!(sample.disks.iter().map(|disk| disk.operations).sum::<u64>(), total.operations);
    assert_eq!(sample.disks.iter().map(|disk| disk.bytes).sum::<u64>(), total.bytes);
}

#[test]
fn operations_follow_one_another_and_count_in_the_window_only() {
    let (sample, started) = run(&trial(), |_, _| vec![(30 * MS, moved(7)), (50 * MS, ENDED)]);
    assert_eq!(sample.ended, Ended::Completed);
    assert_eq!(sample.window_ns, 1000 * MS);
    assert_sound(&sample);
    // Those that end at the very start of the window are in it, those at its end are not.
    assert_eq!((sample.writes.operations, sample.ramp_operations), (40, 2));
    assert_eq!(sample.writes.bytes, 280);
    assert_eq!(sample.writes.latency_min_ns, 50 * MS);
    assert_eq!(sample.writes.latency_max_ns, 50 * MS);
    assert_eq!(sample.outstanding_mean, 2.0);
    let numbers: Vec<u32> = sample.disks.iter().map(|disk| disk.disk).collect();
    assert_eq!(numbers, [4, 5]);
    assert_eq!(started.iter().filter(|(session, _)| *session == 0).count(), 22);
    assert_eq!(sample.updates, None);
}

#[test]
fn bytes_count_when_they_pass_even_if_no_operation_ends() {
    // One file takes longer than the trial; the other session does nothing.
    let (sample, _) = run(&trial(), |session, _| match session {
        0 => (1..200).map(|number| (number * 10 * MS, moved(1000))).collect(),
        _ => Vec::new(),
    });
    assert_eq!(sample.operations(), 0);
    assert_eq!(sample.bytes(), 100_000);
    assert_eq!(sample.intervals.len(), 10);
    assert!(sample.intervals.iter().all(|row| row.writes.bytes == 10_000));
    assert_sound(&sample);
}

#[test]
fn pauses_are_about_their_mean_and_sessions_do_not_keep_step() {
    let trial = SessionTrial { pause_ns: 40 * MS, duration_ns: 20_000 * MS, ..trial() };
    let (sample, started) = run(&trial, |_, _| vec![(10 * MS, ENDED)]);
    assert_sound(&sample);
    for session in 0..2 {
        let own: Vec<u64> =
            started.iter().filter(|(of, _)| *of == session).map(|(_, at_ns)| *at_ns).collect();
        let gaps = own.windows(2).map(|pair| pair[1] - pair[0] - 10 * MS);
        assert!(gaps.clone().all(|gap| (20 * MS..60 * MS).contains(&gap)));
        let mean = gaps.clone().sum::<u64>() as f64 / (own.len() - 1) as f64;
        assert!((mean / (40 * MS) as f64 - 1.0).abs() < 0.05, "{mean}");
        assert!(own[0] < 40 * MS);
    }
    let times = |session| started.iter().filter(move |(of, _)| *of == session).map(|(_, at)| at);
    assert!(times(0).zip(times(1)).all(|(a, b)| a != b));
    let again = run(&trial, |_, _| vec![(10 * MS, ENDED)]).1;
    assert_eq!(started, again, "a seed gives the same pauses");
}

#[test]
fn failures_are_counted_keep_little_s_law_and_are_not_repeated_at_once() {
    let (sample, started) = run(&trial(), |session, now_ns| match (session, now_ns) {
        (0, 300_000_000..600_000_000) => vec![(20 * MS, moved(3)), (120 * MS, refused())],
        _ => vec![(50 * MS, moved(5)), (50 * MS, ENDED)],
    });
    assert_eq!(sample.ended, Ended::Completed);
    assert_sound(&sample);
    assert_eq!(sample.writes.errors, 1);
    assert_eq!(sample.io_failures.len(), 1);
    assert_eq!(sample.io_failures[0].disk, 4);
    let failing = started.iter().find(|(of, at_ns)| *of == 0 && *at_ns >= 300 * MS).unwrap();
    let after = started.iter().find(|(of, at_ns)| *of == 0 && *at_ns > failing.1).unwrap();
    assert_eq!(after.1 - failing.1, (120 + 250) * MS);
}

#[test]
fn a_trial_without_progress_ends_and_one_with_too_many_failures_too() {
    let limits = Limits { stall_ns: 400 * MS, max_io_failures: 3, ..Limits::default() };
    let trial = SessionTrial { limits, duration_ns: 60_000 * MS, ..trial() };
    let (sample, _) = run(&trial, |_, now_ns| match now_ns {
        0..200_000_000 => vec![(50 * MS, ENDED)],
        _ => Vec::new(),
    });
    assert_eq!(sample.ended, Ended::Stalled { outstanding: 2 });
    assert!((590 * MS..800 * MS).contains(&(sample.window_ns + 100 * MS)), "{}", sample.window_ns);
    assert_sound(&sample);
    let (sample, _) = run(&trial, |_, _| vec![(MS, refused())]);
    assert_eq!(sample.ended, Ended::TooManyErrors);
    assert_sound(&sample);
}

#[test]
fn updates_are_those_of_the_window() {
    let (sample, _) = run(&trial(), |_, _| {
        vec![(10 * MS, SessionChange::Updated), (20 * MS, SessionChange::Updated), (20 * MS, ENDED)]
    });
    assert_eq!(sample.updates, Some(200));
    assert_eq!(sample.updates_per_s(), Some(200.0));
}
