//! Whole trials on simulated disks.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_driver::{DiskDesktops, drive_desktops};
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, Stall, VirtualTime,
};
use stormeter_trial::{
    Arrivals, BrokerRules, DesktopTotals, DesktopTrial, Ended, Sample, UserClass,
};

use crate::{MS, S, assert_sound, io, trial};

/// On disks that serve four requests at a time, in half a millisecond each.
pub(crate) fn run_on(trial: &DesktopTrial, faults: FaultPlan) -> Sample {
    let service = Service::Exponential { mean_ns: 500_000 };
    run_with(trial, Model { servers: 4, service, faults })
}

fn run_with(trial: &DesktopTrial, model: Model) -> Sample {
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let mut disks = SimulatedDisks::new(time.clone(), model, noise, trial.seed);
    let mut desktops = DiskDesktops::new(trial, 1 << 20, 1, &mut disks, time.clock());
    let sample = drive_desktops(trial, || Some(0), &mut desktops, &mut time.clock(), &mut ());
    assert_sound(&sample);
    sample
}

pub(crate) fn run(trial: &DesktopTrial) -> (Sample, DesktopTotals) {
    let sample = run_on(trial, FaultPlan::default());
    let totals = *sample.desktops.clone().unwrap();
    (sample, totals)
}

#[test]
fn a_class_is_served_in_turn_and_its_steps_are_timed() {
    let mut trial = trial();
    trial.load.class = Some(UserClass { users: 4, at_ns: 2 * S });
    trial.load.broker.deploying_most = 2;
    let (sample, totals) = run(&trial);
    assert_eq!(sample.ended, Ended::Completed);
    assert_eq!((totals.came, totals.usable, totals.waiting), (4, 4, 0));
    assert_eq!((totals.at_once, totals.deployed, totals.failed), (0, 4, 0));
    let names: Vec<&str> = totals.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["copy", "setting", "deployment", "configure"]);
    assert!(totals.steps.iter().all(|step| step.times == 4 && step.max_ns > 0));
    assert_eq!(totals.steps[1].total_ns / 4, 100 * MS);
    // Two at a time: the last has waited for another.
    let waits = sample.total();
    assert!(waits.latency_max_ns > 3 * waits.latency_min_ns / 2);
    assert!(waits.latency_min_ns > 100 * MS);
    // A copy is read and written; boots and configurations move 4 KiB a request.
    assert!(waits.bytes >= 4 * (2 * (1 << 20) + 30 * 4096));
    assert_eq!(totals.storage_most_bytes, 4 << 20);
    // The class's own work is not that of those who were there before.
    assert_eq!(totals.work().operations, 0);
}

#[test]
fn a_pool_shortens_the_wait_of_those_who_come_one_by_one() {
    let mut trial = trial();
    trial.load.arrivals_per_s = 0.5;
    trial.duration_ns = 200 * S;
    let (without, alone) = run(&trial);
    trial.load.broker.pool = 2;
    let (with, pooled) = run(&trial);
    assert_eq!(alone.came, pooled.came, "the same users, whatever the broker does");
    assert!(alone.came > 70, "{}", alone.came);
    assert_eq!(alone.at_once, 0);
    assert!(pooled.at_once > pooled.came / 2);
    let median = |sample: &Sample| sample.total().histogram.percentile_ns(0.5).unwrap();
    assert!(median(&with) < median(&without) / 5.0, "{} {}", median(&with), median(&without));
    // Twenty requests a second for two seconds each.
    let per_user = pooled.work().operations as f64 / pooled.usable as f64;
    assert!((per_user - 40.0).abs() < 8.0, "{per_user}");
    assert!(pooled.rows.iter().any(|row| row.ready > 1.5));
    assert!(pooled.rows.iter().all(|row| row.desktops() <= 4.0 + 1e-9));
}

#[test]
fn the_idle_keep_their_desktops_for_a_while() {
    let mut trial = trial();
    trial.load.arrivals_per_s = 0.5;
    trial.load.session.idle_percent = 100.0;
    trial.duration_ns = 100 * S;
    let (_, totals) = run(&trial);
    // Four places for sessions of 2 s and idle times of 5 s.
    assert!(totals.idled_out >= 40, "{}", totals.idled_out);
    let idle = totals.rows.iter().map(|row| row.idle).sum::<f64>() / totals.rows.len() as f64;
    assert!(idle > 1.5, "{idle}");
    let before = run(&DesktopTrial { seed: 2, ..trial.clone() }).1;
    assert_ne!(before.came, totals.came);
}

#[test]
fn users_are_refused_or_go_away_where_there_is_no_room() {
    let mut trial = trial();
    trial.load.arrivals_per_s = 5.0;
    trial.load.broker =
        BrokerRules { waiting_most: Some(6), patience_ns: Some(S), ..trial.load.broker };
    let (_, totals) = run(&trial);
    assert!(totals.refused > 0 && totals.gone > 0, "{totals:?}");
    assert!(totals.usable < totals.came);
}

#[test]
fn the_number_of_users_is_limited_and_the_same_seed_is_the_same_trial() {
    let mut trial = trial();
    trial.load.arrivals_per_s = 1.0;
    trial.load.users = Some(5);
    trial.load.class = Some(UserClass { users: 3, at_ns: S });
    let (first, totals) = run(&trial);
    assert_eq!(totals.came, 8);
    assert_eq!(run(&trial).0, first);
}

#[test]
fn users_and_desktops_survive_what_storage_does() {
    let mut seen = (0, 0, 0);
    for seed in 0..1000 {
        let mut trial = trial();
        trial.seed = seed;
        trial.duration_ns = 10 * S;
        trial.load.arrivals_per_s = 1.0;
        trial.load.class = Some(UserClass { users: (seed % 7) as u32 + 1, at_ns: seed % 9 * S });
        trial.load.session.idle_percent = 30.0;
        trial.load.broker = BrokerRules {
            pool: (seed % 3) as u32,
            deploying_most: (seed % 4) as u32 + 1,
            waiting_most: (seed % 2 == 0).then_some(3),
            patience_ns: (seed % 5 == 0).then_some(2 * S),
            deploy_most_ns: if seed % 11 == 0 { 150 * MS } else { 20 * S },
            idle_ns: S,
            ..trial.load.broker
        };
        let faults = match seed % 4 {
            0 => FaultPlan::default(),
            1 => FaultPlan { errors: 0.01, ..FaultPlan::default() },
            2 => FaultPlan { shorts: 0.01, ..FaultPlan::default() },
            _ => {
                let stall = Some(Stall { at_ns: 4 * S, for_ns: 2 * S });
                FaultPlan { stall, full_from: Some(seed), ..FaultPlan::default() }
            }
        };
        let sample = run_on(&trial, faults);
        let totals = sample.desktops.as_ref().unwrap();
        seen.0 += totals.failed;
        seen.1 += totals.died;
        seen.2 += totals.replaced;
        assert!(totals.replaced <= totals.died);
        if faults == FaultPlan::default() && seed % 11 != 0 {
            assert_eq!((totals.failed, totals.died), (0, 0));
        }
    }
    assert!(seen.0 > 100 && seen.1 > 100 && seen.2 > 50, "{seen:?}");
}

#[test]
fn work_that_was_asked_for_is_finished_and_counted_however_slow_the_storage() {
    let mut trial = trial();
    (trial.load.arrivals_per_s, trial.load.users) = (1.0, Some(1));
    trial.load.session.work = io(Arrivals::Poisson { rate_per_s: 200.0 });
    trial.duration_ns = 60 * S;
    let work = |mean_ns| {
        let service = Service::Exponential { mean_ns };
        let sample = run_with(&trial, Model { servers: 4, service, faults: FaultPlan::default() });
        assert_eq!(sample.ended, Ended::Completed);
        sample.desktops.unwrap().work()
    };
    // 4 / 50 ms is 80 requests a second: less than half of what is asked for.
    let (fast, slow) = (work(500_000), work(50 * MS));
    assert_eq!(slow.operations, fast.operations);
    assert!(slow.histogram.percentile_ns(0.99).unwrap() > S as f64);
}
