//! A study with steps, which a lab could carry out too, predicted from the same file: the example whose lab
//! accepts these steps in a test of its own (`lab/src/rack/fault/tests.rs`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_predict::{
    PredictError, PredictRequest, RefusalReason, predict_study, prepare, shortened,
};
use stormeter_results::{Environment, Prediction, ResultsFile, TrialOutcome};
use stormeter_runner::Silent;
use stormeter_site::parse_site;
use stormeter_statistics::metrics;
use stormeter_study::{Metric, parse_study};
use stormeter_trial::{Interval, Sample};

const STUDY: &str = include_str!("../../../examples/faults/study.yaml");
const SITE: &str = include_str!("../../../examples/faults/site.yaml");

fn request(study: &str, output: &Path) -> PredictRequest {
    let plan = parse_study(study).unwrap_or_else(|errors| panic!("{errors}"));
    let (plan, shortened_from) = shortened(plan);
    let read = |_: &[String]| parse_site(SITE).map_err(|errors| errors.to_string());
    let prepared = prepare(plan, "site.yaml", &[], &read).unwrap();
    PredictRequest {
        plan: prepared.plan,
        sites: prepared.sites,
        alternatives: prepared.alternatives,
        places: prepared.places,
        faults: vec![],
        prediction: Prediction {
            site: "test".into(),
            file: "site.yaml".into(),
            text: SITE.into(),
            what_if: vec![],
            faults: vec![],
            shortened_from,
            model_errors: Vec::new(),
        },
        output: output.into(),
        sensitivity: true,
        threads: 2,
        environment: Environment::default(),
        command_line: vec!["stormeter".into()],
        version: "0".into(),
    }
}

fn predicted(study: &str, output: &Path) -> Result<ResultsFile, PredictError> {
    predict_study(&request(study, output), &AtomicBool::new(false), &mut Silent)
}

fn samples(file: &ResultsFile) -> Vec<Sample> {
    let measured = |outcome| match outcome {
        TrialOutcome::Measured { sample, .. } => sample,
        failed => panic!("{failed:?}"),
    };
    file.trials().unwrap().into_iter().map(|trial| measured(trial.outcome)).collect()
}

/// Mean I/Os a second of the intervals between two times of the window.
fn iops(sample: &Sample, from_ms: u64, to_ms: u64) -> f64 {
    let is_within = |row: &&Interval| {
        row.start_ns >= from_ms * 1_000_000 && row.start_ns + row.length_ns <= to_ms * 1_000_000
    };
    let rows: Vec<f64> = sample.intervals.iter().filter(is_within).map(Interval::iops).collect();
    rows.iter().sum::<f64>() / rows.len() as f64
}

#[test]
fn steps_of_a_lab_are_predicted_and_recorded_as_there() {
    let directory = tempfile::tempdir().unwrap();
    let file = predicted(STUDY, &directory.path().join("predicted.db")).unwrap();
    let samples = samples(&file);
    assert_eq!(samples.len(), 3);
    for sample in &samples {
        let recorded: Vec<(&str, i64)> = sample
            .disturbances
            .iter()
            .map(|step| (step.what.as_str(), step.planned_ns / 1_000_000))
            .collect();
        assert_eq!(
            recorded,
            [
                ("link-down nas", 3000),
                ("link-up nas", 5000),
                ("disk-fail nas.data 1", 8000),
                ("disk-replace nas.data 1", 10_000),
            ]
        );
        // The window opens after a second of ramp: nothing from 3 s to 5 s, degraded from 8 s on.
        let (before, down) = (iops(sample, 0, 3000), iops(sample, 3500, 5000));
        let (again, degraded) = (iops(sample, 5500, 8000), iops(sample, 8000, 10_000));
        assert!(before > 300.0 && down == 0.0, "{before} {down}");
        assert!((again / before - 1.0).abs() < 0.1, "{before} {again}");
        assert!(
            degraded < 0.9 * before,
            "{before} {degraded}: reads of a lost disk are of all others"
        );
        let outage_ns = sample.outage_ns().unwrap();
        assert!((2_000_000_000..=2_500_000_000).contains(&outage_ns), "{outage_ns}");
    }
    assert!(file.elasticities().unwrap().is_empty(), "what more would bring is another trial's");
    let header = file.header().unwrap();
    assert!(header.prediction.unwrap().faults.is_empty());
    assert_eq!(header.plan.timing.duration_ns, 15_000_000_000, "steps have the times of the plan");
}

#[test]
fn a_prediction_with_steps_has_a_recovery() {
    let directory = tempfile::tempdir().unwrap();
    let study = STUDY
        .split("  - {at: 9s")
        .next()
        .map(|first| format!("{first}design: {{blocks: 2, metric: recovery}}\n"))
        .unwrap();
    let file = predicted(&study, &directory.path().join("predicted.db")).unwrap();
    for (sample, trial) in samples(&file).iter().zip(file.trials().unwrap()) {
        let recovery = metrics::value_of(Metric::Recovery, sample, trial.cpu().unwrap()).unwrap();
        // Of the link that is up: the first whole interval after it is already as good as before.
        assert!((4e8..=1.1e9).contains(&recovery), "{recovery}");
    }
}

#[test]
fn what_the_site_cannot_do_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("predicted.db");
    let refused = |step: &str| {
        let link = "do: link-down nas}\n  - {at: 6s, do: link-up nas}";
        let study = STUDY.replace(link, &format!("do: {step}}}"));
        assert_ne!(study, STUDY);
        let error = predicted(&study, &path).unwrap_err();
        assert!(!path.exists(), "{step}");
        error
    };
    for (step, said) in [
        ("link-loss nas 5%", "link-loss nas 5% at 4.00s: a site has no model of link-loss"),
        ("link-down san", "link-down san at 4.00s: the site has no network or controller \"san\""),
        ("disk-fail nas.data 9", "there is no disk 9: there are 4"),
        ("{command: 'ip link'}", "`ip link` at 4.00s: it is a command"),
    ] {
        let message = refused(step).to_string();
        assert!(message.contains(said), "{step}: {message}");
    }
    let error = refused("pause nas");
    let PredictError::Fault(refused) = &error else { panic!("{error}") };
    assert!(matches!(*refused.why, RefusalReason::Name(_)), "{error}");
    // A network that no datastore uses.
    let site = SITE.replace("networks:\n", "networks:\n  spare: {latency: 1us}\n");
    let mut idle = request(
        &STUDY.replace("k-down nas", "k-down spare").replace("k-up nas", "k-up spare"),
        &path,
    );
    idle.sites = vec![parse_site(&site).unwrap().site];
    let error = predict_study(&idle, &AtomicBool::new(false), &mut Silent).unwrap_err();
    let PredictError::IdleFault { fault } = &error else { panic!("{error}") };
    assert!(fault.starts_with("link-down spare") && !path.exists(), "{fault}");
}
