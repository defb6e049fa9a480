//! A whole study predicted: into a results file and out of it again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_disk::Acknowledged;
use stormeter_predict::{PredictError, PredictRequest, predict_study, prepare, shortened};
use stormeter_results::{
    Environment, Event, EventKind, FinishReason, Phase, Prediction, ResultsFile, TrialOutcome,
    TrialRecord,
};
use stormeter_runner::{RunError, Silent};
use stormeter_simulator::example;
use stormeter_site::{Site, SiteFile};
use stormeter_statistics::{Analysis, CellTrial, Reply, Severity, Surroundings, analyse};
use stormeter_study::{Metric, parse_study};
use stormeter_trial::ComponentKind;

/// Today's site with two datastores: one path, and one through an HBA that is much slower.
fn site() -> Site {
    let mut site = example::fibre_channel();
    site.datastores[0].name = "fast".into();
    let mut slow = site.hosts[0].adapters[0].clone();
    slow.name = "old".into();
    slow.rate_bytes_per_s = 2e6;
    site.hosts[0].adapters.push(slow);
    let mut other = site.datastores[0].clone();
    other.name = "slow".into();
    other.also = vec!["nas".into()];
    other.adapter = Some(1);
    site.datastores.push(other);
    site
}

const STUDY: &str = "\
study: Which way to the filer?
datastores: {fast: /srv/vm, nas: /mnt/nas}
workloads:
  - vm-4k
  - {name: record, file-test: write, record: 64KiB, size: 4MiB}
load: {vms: [1, 16], outstanding: 4}
disk: {size: 256MiB}
measure: {ramp: 200ms, duration: 1s, interval: 100ms}
design: {blocks: 3}
questions:
  - nas is slower than fast in iops
";

fn request(study: &str, output: &Path, threads: usize) -> PredictRequest {
    let plan = parse_study(study).unwrap_or_else(|errors| panic!("{errors}"));
    let (plan, shortened_from) = shortened(plan);
    let prepared =
        prepare(plan, "site.yaml", &[], &|_| Ok(SiteFile { site: site(), ..SiteFile::default() }))
            .unwrap();
    PredictRequest {
        plan: prepared.plan,
        sites: prepared.sites,
        alternatives: prepared.alternatives,
        places: prepared.places,
        prediction: Prediction {
            site: "test".into(),
            file: "site.yaml".into(),
            text: "site: test".into(),
            what_if: vec![],
            faults: vec![],
            shortened_from,
            model_errors: Vec::new(),
        },
        faults: vec![],
        output: output.into(),
        sensitivity: true,
        threads,
        environment: Environment::default(),
        command_line: vec!["stormeter".into()],
        version: "0".into(),
    }
}

fn predicted(study: &str, output: &Path, threads: usize) -> ResultsFile {
    let cancel = AtomicBool::new(false);
    predict_study(&request(study, output, threads), &cancel, &mut Silent).unwrap()
}

fn analysed(file: &ResultsFile) -> Analysis {
    let (plan, trials) = (file.header().unwrap().plan, file.trials().unwrap());
    let cells = plan.cells().len();
    let views: Vec<CellTrial<'_>> = trials
        .iter()
        .map(|trial| match &trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                CellTrial { block: trial.block, cell: trial.cell.unwrap(), sample, cpu }
            }
            failed => panic!("{failed:?}"),
        })
        .collect();
    let surroundings = Surroundings {
        ceilings: Vec::new(),
        is_null: vec![false; plan.datastores.len()],
        failed: vec![None; cells],
        verified: vec![None; cells],
        again: Vec::new(),
        memories: Vec::new(),
        promises: Vec::new(),
        is_predicted: true,
    };
    analyse(&plan, &views, &surroundings)
}

/// Without the moment at which it was predicted.
fn timeless(file: &ResultsFile) -> Vec<TrialRecord> {
    let mut trials = file.trials().unwrap();
    let begin_ms = file.header().unwrap().created_unix_ms;
    trials.iter_mut().for_each(|trial| trial.started_unix_ms -= begin_ms);
    trials
}

#[test]
fn a_study_is_predicted_and_its_file_says_so_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("predicted.db");
    let file = predicted(STUDY, &path, 2);
    let analysis = analysed(&file);
    let invalid = |severity| severity == Severity::Invalid;
    assert!(
        analysis.findings.iter().all(|(_, finding)| !invalid(finding.severity)),
        "{:?}",
        analysis.findings
    );
    assert_eq!(analysis.answers[0].reply, Reply::Yes, "{:?}", analysis.answers);
    let trials = timeless(&file);
    assert_eq!(trials.len(), 3 * 8);
    for description in &file.header().unwrap().datastores {
        // Its controller writes through to disks of which only times are known.
        let promise = description.promise.as_ref().unwrap();
        assert_eq!((promise.acknowledged, promise.evidence.len()), (Acknowledged::Unknown, 2));
    }
    let plan = file.header().unwrap().plan;
    for trial in &trials {
        let cell = plan.cells()[trial.cell.unwrap()];
        let port = trial.components.iter().find(|one| one.kind == ComponentKind::HostPort).unwrap();
        assert_eq!(port.name, ["esx hba", "esx old"][cell.datastore].replace("esx", "host"));
        let shares: f64 = trial.components.iter().map(|one| one.response_share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        let (sample, cpu) = (trial.sample().unwrap(), trial.cpu().unwrap());
        assert_eq!(cpu.host.cpus, 64);
        let capacity_ns = 64 * sample.window_ns;
        assert_eq!(cpu.host.busy_ns() + cpu.host.idle_ns, capacity_ns);
        assert!(cpu.process_ns > 0 && cpu.target_ns > Some(0));
        assert_eq!(trial.monitor.len(), sample.intervals.len());
        let busy: f64 =
            trial.monitor.iter().map(|row| row.cpu_busy * 64.0 * row.length_ns as f64).sum::<f64>();
        let apart = busy / cpu.process_ns as f64 - 1.0;
        assert!(apart.abs() < 0.05, "{apart}: the host over time is the host");
    }
    let elasticities = file.elasticities().unwrap();
    // The slow port with sixteen VMs has nothing to spare: a tenth more brings nearly a tenth.
    let cell = plan.cells().iter().position(|c| (c.datastore, c.vms) == (1, 16)).unwrap();
    let of_cell: Vec<_> = elasticities.iter().filter(|one| one.cell == cell).collect();
    assert_eq!(of_cell[0].kind, ComponentKind::HostPort, "{of_cell:?}");
    // Both ends of the wire, in one rerun.
    assert!(of_cell[0].component.starts_with("host old and "), "{of_cell:?}");
    assert!(of_cell.iter().all(|one| one.kind != ComponentKind::ControllerPort), "{of_cell:?}");
    assert!((of_cell[0].gain() - 0.1).abs() < 0.02, "{of_cell:?}");
    assert!(of_cell.iter().skip(1).all(|one| one.gain().abs() < 0.03), "{of_cell:?}");
    drop(file);

    let again = ResultsFile::open(&path).unwrap();
    assert_eq!(analysed(&again), analysis);
    assert_eq!(timeless(&again), trials);
    assert_eq!(again.elasticities().unwrap(), elasticities);
    let header = again.header().unwrap();
    assert_eq!(header.prediction.unwrap().text, "site: test");
    assert_eq!(header.datastores[1].url, "sim:site.yaml#slow");
    assert_eq!(again.finished().unwrap().unwrap().reason, FinishReason::MaxBlocks);
}

#[test]
fn one_thread_and_two_predict_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let one = predicted(STUDY, &directory.path().join("one.db"), 1);
    let two = predicted(STUDY, &directory.path().join("two.db"), 2);
    assert_eq!(timeless(&one), timeless(&two));
    assert_eq!(one.elasticities().unwrap(), two.elasticities().unwrap());
    let other = STUDY.replace("design:", "seed: 2\ndesign:");
    let other = predicted(&other, &directory.path().join("other.db"), 2);
    assert_ne!(timeless(&one), timeless(&other));
}

#[test]
fn a_prediction_is_replaced_and_measured_results_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let short = STUDY.replace("blocks: 3", "blocks: 1");
    let first = timeless(&predicted(&short, &path, 2));
    assert_eq!(timeless(&predicted(&short, &path, 2)), first);
    let mut header = ResultsFile::open(&path).unwrap().header().unwrap();
    header.prediction = None;
    std::fs::remove_file(&path).unwrap();
    drop(ResultsFile::create(&path, &header).unwrap());
    let cancel = AtomicBool::new(false);
    let error = predict_study(&request(&short, &path, 1), &cancel, &mut Silent).unwrap_err();
    assert!(matches!(error, PredictError::Run(RunError::Measured { .. })), "{error}");
    assert!(ResultsFile::open(&path).is_ok());
}

#[test]
fn what_the_site_cannot_bear_is_reported_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let mut request = request(STUDY, &path, 1);
    request.sites[0].hosts[0].vms_per_host = Some(1);
    let cancel = AtomicBool::new(false);
    let error = predict_study(&request, &cancel, &mut Silent).unwrap_err().to_string();
    assert!(error.starts_with("fast, vm-4k, 16 VMs × 4: 16 VMs do not fit"), "{error}");
    assert!(!path.exists());
    request.sites[0].hosts[0].vms_per_host = None;
    cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    let file = predict_study(&request, &cancel, &mut Silent).unwrap();
    assert_eq!(file.finished().unwrap().unwrap().reason, FinishReason::Interrupted);
}

#[test]
fn clones_have_no_model_and_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let study =
        STUDY.replace("  - vm-4k\n", "  - {name: desks, deploy: {clone: true}, size: 4MiB}\n");
    let error = predict_study(&request(&study, &path, 1), &AtomicBool::new(false), &mut Silent);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("desks") && error.contains("no model of storage that clones"),
        "{error}"
    );
    assert!(!path.exists());
}

#[test]
fn changes_of_the_site_are_further_datastores() {
    let study = STUDY.replace("workloads:", "site: {rate: [1, 2]}\nworkloads:");
    let study = study.replace(
        "  - nas is slower than fast in iops\n",
        "  - '\"nas rate=1\" is slower than \"fast rate=2\" in iops'\n",
    );
    let plan = parse_study(&study).unwrap_or_else(|errors| panic!("{errors}"));
    let read = |changes: &[String]| {
        let mut site = site();
        site.name = changes.join(" ");
        Ok(SiteFile { site, ..SiteFile::default() })
    };
    let prepared =
        prepare(plan, "site.yaml", &["nic=40GbE".into(), "nics=2".into()], &read).unwrap();
    let names: Vec<&str> = prepared.plan.datastores.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[..4], ["fast rate=1", "fast rate=2", "nas rate=1", "nas rate=2"]);
    assert_eq!(names[4..6], ["fast rate=1 nic=40GbE nics=2", "fast rate=2 nic=40GbE nics=2"]);
    let of = |number: usize| {
        let place = prepared.places[number];
        (prepared.sites[place.site].name.as_str(), place.datastore)
    };
    assert_eq!(of(3), ("rate=2", 1));
    assert_eq!(of(6), ("rate=1 nic=40GbE nics=2", 1));
    assert_eq!(prepared.sites.len(), 5, "as it is, and each combination once");
}

#[test]
fn both_ends_of_a_wire_are_faster_together() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = request(STUDY, &directory.path().join("results.db"), 2);
    // As slow at both ends: one end alone would bring nothing.
    for site in &mut request.sites {
        for port in &mut site.controllers[0].ports {
            (port.rate_bytes_per_s, port.count) = (2e6, 1);
        }
    }
    let cancel = AtomicBool::new(false);
    let file = predict_study(&request, &cancel, &mut Silent).unwrap();
    let cell = request.plan.cells().iter().position(|c| (c.datastore, c.vms) == (1, 16)).unwrap();
    let elasticities = file.elasticities().unwrap();
    let first = elasticities.iter().find(|one| one.cell == cell).unwrap();
    assert!(first.component.starts_with("host old and "), "{first:?}");
    assert!((first.gain() - 0.1).abs() < 0.02, "{first:?}");
}

#[test]
fn fixed_work_keeps_the_interval_of_the_plan() {
    let directory = tempfile::tempdir().unwrap();
    let long = STUDY.replace("duration: 1s, interval: 100ms", "duration: 60s, interval: 1s");
    let long = long.replace("blocks: 3", "blocks: 1").replace("  - vm-4k\n", "");
    let long = long
        .replace("[1, 16]", "1")
        .replace("nas is slower than fast in iops", "nas is slower than fast");
    let file = predicted(&long, &directory.path().join("results.db"), 2);
    assert_eq!(file.header().unwrap().plan.timing.interval_ns, 100_000_000, "shortened");
    let trials = file.trials().unwrap();
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(trial.sample().unwrap().interval_ns, 1_000_000_000);
    }
}

#[test]
fn a_prediction_has_all_its_blocks_whatever_the_time_limit() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = request(STUDY, &directory.path().join("results.db"), 2);
    // Of a measurement, which would end after its first block.
    request.plan.design.time_limit_ns = Some(1);
    let file = predict_study(&request, &AtomicBool::new(false), &mut Silent).unwrap();
    assert_eq!(file.trials().unwrap().len(), 3 * 8);
    assert_eq!(file.finished().unwrap().unwrap().reason, FinishReason::MaxBlocks);
}

#[test]
fn faults_come_before_trials_end_and_leave_no_room_for_reruns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let group = site().groups[0].name.clone();
    let with = |at: &str| {
        let mut request = request(&STUDY.replace("blocks: 3", "blocks: 1"), &path, 2);
        request.faults = vec![format!("disk-fail {group} 0 at {at}").parse().unwrap()];
        request
    };
    let cancel = AtomicBool::new(false);
    let error = predict_study(&with("1200ms"), &cancel, &mut Silent).unwrap_err();
    let PredictError::LateFault { end, .. } = &error else { panic!("{error}") };
    assert_eq!(end, "1.20s");
    assert!(error.to_string().contains("of the planned length"), "{error}");
    assert!(!path.exists());
    // No VM uses it: every figure would be as without it, and nothing would say so.
    let mut idle = with("500ms");
    let mut site = site();
    let mut spare = site.hosts[0].adapters[0].clone();
    spare.name = "spare".into();
    site.hosts[0].adapters.push(spare);
    let host = site.hosts[0].name.clone();
    idle.sites = vec![site; idle.sites.len()];
    idle.faults.push(format!("path-down {host}.spare 0 at 500ms").parse().unwrap());
    let error = predict_study(&idle, &cancel, &mut Silent).unwrap_err();
    let PredictError::IdleFault { fault } = &error else { panic!("{error}") };
    assert!(fault.starts_with("path") && !path.exists());
    let file = predict_study(&with("1199ms"), &cancel, &mut Silent).unwrap();
    assert!(file.elasticities().unwrap().is_empty());
}

#[test]
fn a_trial_whose_bytes_are_gone_is_none_and_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    // So slow that far fewer I/Os fail than end a trial.
    let study = STUDY.replace("  - vm-4k\n", "  - {name: few, request-size: 4KiB, rate: 50}\n");
    let study = study.replace("blocks: 3", "blocks: 1").replace("[1, 16], outstanding: 4", "1");
    let study = study.replace("is slower than fast in iops", "is slower than fast");
    let mut request = request(&study, &path, 2);
    let group = site().groups[0].name.clone();
    let most = site().groups[0].stripe_units().parity + 1;
    let lost = |disk: u32| format!("disk-fail {group} {disk} at 700ms").parse().unwrap();
    request.faults = (0..most).map(lost).collect();
    let file = predict_study(&request, &AtomicBool::new(false), &mut Silent).unwrap();
    let reasons: Vec<String> = file
        .trials()
        .unwrap()
        .into_iter()
        .filter(|trial| {
            request.plan.workloads[request.plan.cells()[trial.cell.unwrap()].workload].name == "few"
        })
        .map(|trial| match trial.outcome {
            TrialOutcome::Failed { failure, .. } => failure.to_string(),
            TrialOutcome::Measured { .. } => panic!("measured"),
        })
        .collect();
    assert_eq!(reasons.len(), 2, "once each: nothing would be other in another attempt");
    for reason in reasons {
        assert!(reason.starts_with("I/Os failed; first: "), "{reason}");
        assert!(reason.contains("offline since 700"), "{reason}");
    }
}

#[test]
fn an_equal_load_is_that_of_the_slowest_datastore() {
    let directory = tempfile::tempdir().unwrap();
    let study = STUDY.replace("outstanding: 4", "outstanding: 4, equal: auto");
    let study = study.replace("slower than fast in iops", "slower than fast in latency");
    let study = study.replace("vms: [1, 16]", "vms: 16");
    let file = predicted(&study, &directory.path().join("one.db"), 1);
    let (plan, trials) = (file.header().unwrap().plan, file.trials().unwrap());
    let is_timed = |trial: &&TrialRecord| {
        plan.workloads[plan.cells()[trial.cell.unwrap()].workload].name == "vm-4k"
    };
    let of = |phase: Phase| -> Vec<&TrialRecord> {
        trials.iter().filter(is_timed).filter(|trial| trial.phase == phase).collect()
    };
    let capacities = of(Phase::Capacity);
    assert_eq!(capacities.len(), 2);
    let capacity = |trial: &&TrialRecord| trial.sample().unwrap().iops();
    let expected = 0.7 * capacities.iter().map(capacity).fold(f64::INFINITY, f64::min);
    let driven = of(Phase::Main);
    assert_eq!(driven.len(), 3 * 2);
    for trial in &driven {
        let offered = trial.sample().unwrap().offered_rate_per_s.unwrap();
        assert!((offered / expected - 1.0).abs() < 1e-6, "{offered} of {expected}");
    }
    let events = file.events().unwrap();
    let is_it = |event: &Event| matches!(event.kind, EventKind::EqualLoad { .. });
    assert!(events.iter().any(is_it), "{events:?}");
    // It is driven at that rate too when parts of it are made faster.
    let cell = driven[0].cell.unwrap();
    let elasticities = file.elasticities().unwrap();
    let metrics: Vec<Metric> =
        elasticities.iter().filter(|one| one.cell == cell).map(|one| one.metric).collect();
    assert!(!metrics.is_empty() && metrics.iter().all(|it| *it == Metric::LatencyMean));
    let two = predicted(&study, &directory.path().join("two.db"), 2);
    assert_eq!(timeless(&file), timeless(&two));
    assert_eq!(elasticities, two.elasticities().unwrap());
}
