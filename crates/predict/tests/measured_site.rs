//! A site in the place of a machine is measured, and the site made from that predicts loads that it has not seen.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use stormeter_predict::calibrate::Outcome;
use stormeter_predict::measured_site::{
    Caveat, FittedStore, Form, Host, MeasuredSiteError, Model, Reached, SiteMeasurement,
    SiteReport, Store, fit_store, site_file, site_plan, summary,
};
use stormeter_predict::predict_cells;
use stormeter_site::{Site, parse_site};
use stormeter_study::{Cell, NamedDatastore, StudyPlan, Timing};
use stormeter_trial::{Memory, MemoryPlace};

const HOST: Host = Host { cores: 4, clock_hz: Some(2e9) };

/// Storage whose writes cost more than its reads, each alone and all together.
fn truth(device: &str) -> Site {
    let text = format!(
        "hosts: {{here: {{cores: 4, clock: 2GHz}}}}\n\
         stacks: {{disk: {{protocol: local, clock: 2GHz, per-read: 4us, per-write: 6us, per-byte: 0.02ns}}}}\n\
         disk-groups: {{disk: {{device: {{kind: queue, servers: 128, {device}}}}}}}\n\
         datastores: {{disk: {{hosts: here, stack: disk, disks: disk}}}}\n"
    );
    parse_site(&text).unwrap_or_else(|errors| panic!("{errors}")).site
}

const BULK: &str = "service: bulk, read: 80us, write: 150us, per-byte: 0.3ns, per-written-byte: 0.5ns, \
                    shared-per-io: 6us, shared-per-write: 11us, shared-per-byte: 0.4ns, \
                    shared-per-written-byte: 0.7ns";
const VARYING: &str = "spread: exponential, read: 80us, write: 300us, per-byte: 0.3ns, \
                       per-written-byte: 0.5ns, shared-per-io: 6us, shared-per-write: 20us, \
                       shared-per-byte: 0.3ns, shared-per-written-byte: 0.5ns";

fn plan() -> StudyPlan {
    let datastore = NamedDatastore {
        name: "disk".into(),
        url: "/srv/vm".into(),
        site_changes: Vec::new(),
        ceiling: None,
        hosts: Vec::new(),
    };
    let timing = Timing { ramp_ns: 20_000_000, duration_ns: 100_000_000, interval_ns: 25_000_000 };
    let measurement =
        SiteMeasurement { disk_bytes: 64 << 20, timing, blocks: 1, threads: 0, seed: 1 };
    site_plan(vec![datastore], &measurement).unwrap()
}

fn store() -> Store {
    let server = Memory { place: MemoryPlace::ServerHere, name: "127.0.0.1".into(), bytes: None };
    Store {
        name: "disk".into(),
        url: "/srv/vm".into(),
        reached: Reached::Local,
        volatile_cache: None,
        memories: vec![server],
    }
}

fn outcomes(plan: &StudyPlan, site: &Site) -> Vec<(usize, Outcome)> {
    let found = predict_cells(plan, site, &plan.cells(), &AtomicBool::new(false)).unwrap();
    let outcomes = found.into_iter().map(|(sample, cpu)| Outcome { sample, cpu });
    outcomes.enumerate().collect()
}

fn fitted(trials: &[(usize, Outcome)]) -> Result<FittedStore, MeasuredSiteError> {
    let cancel = AtomicBool::new(false);
    let model = Model { host: HOST, cancel: &cancel, on_run: &|_| () };
    fit_store((&plan(), 0), &store(), trials, &model)
}

/// Loads of other sizes, mixtures, depths and numbers of VMs.
fn unseen() -> (StudyPlan, Vec<Cell>) {
    let mut plan = plan();
    plan.workloads.truncate(2);
    for (workload, (bytes, read)) in
        plan.workloads.iter_mut().zip([(16 << 10, 70.0), (4 << 10, 70.0)])
    {
        let stormeter_study::WorkloadKind::Io(io) = &mut workload.kind else { panic!() };
        io.sizes[0].bytes = bytes;
        io.read_percent = read;
    }
    plan.vms = vec![1, 2];
    plan.outstanding = vec![4, 8];
    let cells = plan.cells();
    (plan, cells)
}

/// The largest relative error of mean latency on loads that were not measured.
fn error_on_unseen(truth: &Site, written: &str) -> f64 {
    let made = parse_site(written).unwrap_or_else(|errors| panic!("{errors}\n{written}")).site;
    let (plan, cells) = unseen();
    let mean = |site: &Site| -> Vec<f64> {
        let found = predict_cells(&plan, site, &cells, &AtomicBool::new(false)).unwrap();
        let means = found.iter().map(|(sample, cpu)| {
            let metric = stormeter_study::Metric::LatencyMean;
            stormeter_statistics::metrics::value_of(metric, sample, cpu).unwrap()
        });
        means.collect()
    };
    let pairs = mean(truth).into_iter().zip(mean(&made));
    pairs.map(|(was, said)| (said / was - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn what_served_the_measurements_is_found_and_predicts_other_loads() {
    let truth = truth(BULK);
    let fitted = fitted(&outcomes(&plan(), &truth)).unwrap();
    assert_eq!(fitted.form, Form::Bulk, "{fitted:#?}");
    let expected = [80e3, 150e3, 0.3, 0.5, 6e3, 11e3, 0.4, 0.7];
    for (found, expected) in fitted.device.fit.parameters.iter().zip(expected) {
        // The time per byte of the first of a group is a small part of what is seen.
        let within = if found.name.contains(".per-") { 0.5 } else { 0.1 };
        assert!((found.value / expected - 1.0).abs() < within, "{found:?} {expected}");
    }
    let (plan, store) = (plan(), store());
    let written = site_file(&HOST, &plan, &[(&store, &fitted)]);
    assert!(error_on_unseen(&truth, &written) < 0.05, "{written}");
    for words in ["# Unknown:", "# measured: ", "# assumed", "flushes are predicted as free"] {
        let written = written.replace("\n#   ", " ");
        assert!(written.contains(words), "{words}: {written}");
    }
    let report = SiteReport::new(&plan, &[(&store, &fitted)], &written);
    let is_memory = |caveat: &Caveat| matches!(caveat, Caveat::Memory { of_server: true, .. });
    assert!(report.unknown.iter().any(is_memory), "{:?}", report.unknown);
    let words = summary(&report);
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
    assert!(words.contains("waiting requests served together"), "{words}");
}

#[test]
fn requests_served_one_by_one_are_recognised() {
    let truth = truth(VARYING);
    let fitted = fitted(&outcomes(&plan(), &truth)).unwrap();
    assert_eq!(fitted.form, Form::Varying, "{fitted:#?}");
    let written = site_file(&HOST, &plan(), &[(&store(), &fitted)]);
    assert!(error_on_unseen(&truth, &written) < 0.1, "{written}");
}

#[test]
fn too_few_sound_cells_make_no_site_and_missing_ones_are_named() {
    let mut trials = outcomes(&plan(), &truth(BULK));
    let missing = trials.remove(0).0;
    assert_eq!(missing, 0);
    let found = fitted(&trials).unwrap();
    assert_eq!(found.missing, ["disk, read-4k, 1 VM x 1"]);
    trials.truncate(9);
    let refused = fitted(&trials).unwrap_err();
    assert_eq!(refused, MeasuredSiteError::TooFew { store: "disk".into(), found: 9, least: 10 });
}
