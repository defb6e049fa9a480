//! Desktops that do what a table says.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use stormeter_disk::{
    Clock, DesktopChange, DesktopEvent, DesktopStep, Desktops, DeviceError, DisksError, Kind, Wait,
};
use stormeter_driver::drive_desktops;
use stormeter_trial::{DesktopTrial, Ended, Sample, UserClass};

use crate::{MS, S, assert_sound, trial};

#[derive(Clone, Default)]
struct Time(Rc<Cell<u64>>);

impl Clock for Time {
    fn now_ns(&mut self) -> u64 {
        self.0.get()
    }
}

/// Desktops that are made in a second and usable in another, unless they die.
struct Scripted {
    time: Time,
    due: BTreeMap<(u64, usize), DesktopEvent>,
    count: usize,
    /// The log-on, counted from 1, whose desktop dies so long after it.
    dies: Option<(u32, u64)>,
    log_ons: u32,
    asked: Vec<(u64, &'static str, u32)>,
}

impl Scripted {
    fn after(&mut self, after_ns: u64, desktop: u32, what: DesktopChange) {
        self.count += 1;
        let at_ns = self.time.0.get() + after_ns;
        self.due.insert((at_ns, self.count), DesktopEvent { desktop, what });
    }

    fn note(&mut self, what: &'static str, desktop: u32) {
        self.asked.push((self.time.0.get(), what, desktop));
    }
}

impl Desktops for Scripted {
    fn deploy(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.note("deploy", desktop);
        let copied = DesktopChange::StepEnded { step: DesktopStep::Copy, took_ns: S };
        self.after(S, desktop, copied);
        self.after(S, desktop, DesktopChange::Deployed);
        Ok(())
    }

    fn log_on(&mut self, desktop: u32, _: u32) -> Result<(), DisksError> {
        self.note("log on", desktop);
        self.log_ons += 1;
        self.after(S, desktop, DesktopChange::Usable);
        let worked = DesktopChange::Worked { kind: Kind::Read, bytes: 4096, latency_ns: 3 * MS };
        self.after(S + S / 2, desktop, worked);
        if let Some((_, after_ns)) = self.dies.filter(|(log_on, _)| *log_on == self.log_ons) {
            let (step, kind, error) = (None, Kind::Read, DeviceError::IO);
            self.after(after_ns, desktop, DesktopChange::Failed { step, kind, error });
        }
        Ok(())
    }

    fn fall_idle(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.note("fall idle", desktop);
        Ok(())
    }

    fn tear_down(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.note("tear down", desktop);
        self.due.retain(|_, event| event.desktop != desktop);
        self.after(S, desktop, DesktopChange::TornDown);
        Ok(())
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<DesktopEvent>) -> Result<(), DisksError> {
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

fn run(trial: &DesktopTrial, dies: Option<(u32, u64)>) -> (Sample, Vec<(u64, &'static str, u32)>) {
    let time = Time::default();
    let mut clock = time.clone();
    let mut desktops =
        Scripted { time, due: BTreeMap::new(), count: 0, dies, log_ons: 0, asked: Vec::new() };
    let sample = drive_desktops(trial, || Some(0), &mut desktops, &mut clock, &mut ());
    assert_sound(&sample);
    (sample, desktops.asked)
}

fn of_one() -> DesktopTrial {
    let mut trial = trial();
    trial.load.class = Some(UserClass { users: 1, at_ns: 0 });
    trial
}

#[test]
fn a_wait_lasts_from_the_arrival_until_the_desktop_is_usable() {
    let (sample, asked) = run(&of_one(), None);
    assert_eq!(sample.ended, Ended::Completed);
    let total = sample.total();
    assert_eq!((total.operations, total.latency_sum_ns), (1, 2 * S));
    let totals = sample.desktops.unwrap();
    assert_eq!(totals.steps[0].total_ns, S);
    // The user came when the window opened, a second after the start; a session lasts one to three seconds.
    assert_eq!(asked[..2], [(S, "deploy", 0), (2 * S, "log on", 0)]);
    assert!(asked[2].1 == "tear down" && (4 * S..=6 * S).contains(&asked[2].0), "{asked:?}");
    assert_eq!((totals.rows[0].waiting, totals.rows[0].deploying), (1.0, 1.0));
    assert_eq!((totals.rows[1].waiting, totals.rows[1].used), (0.0, 1.0));
}

#[test]
fn a_desktop_that_dies_in_use_is_replaced_and_the_second_wait_counts() {
    let (sample, asked) = run(&of_one(), Some((1, S + S / 4)));
    let totals = sample.desktops.as_ref().unwrap();
    assert_eq!((totals.came, totals.usable, totals.died, totals.replaced), (1, 2, 1, 1));
    assert_eq!(sample.total().latency_sum_ns, 4 * S);
    assert_eq!(sample.writes.errors + sample.reads.errors, 1);
    let made = asked.iter().filter(|(_, what, _)| *what == "deploy").count();
    assert_eq!(made, 2);
}

#[test]
fn a_desktop_that_dies_at_the_log_on_prolongs_the_one_wait() {
    let (sample, _) = run(&of_one(), Some((1, S / 2)));
    let totals = sample.desktops.as_ref().unwrap();
    assert_eq!((totals.came, totals.usable, totals.died, totals.replaced), (1, 1, 1, 0));
    // Half a second, then another desktop.
    assert_eq!(sample.total().latency_sum_ns, S + S / 2 + 2 * S);
}

#[test]
fn work_counts_only_of_those_who_came_one_by_one() {
    let (sample, _) = run(&of_one(), None);
    assert_eq!(sample.desktops.unwrap().work().operations, 0);
    let mut trial = trial();
    (trial.load.arrivals_per_s, trial.load.users) = (10.0, Some(1));
    let (sample, _) = run(&trial, None);
    let work = sample.desktops.unwrap().work();
    assert_eq!((work.operations, work.latency_sum_ns, work.bytes), (1, 3 * MS, 4096));
}
