//! The JSON of reports against its schema, and the schema against the committed file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod study_fixture;

use std::path::Path;

use serde_json::{Value, json};
use stormeter_report::{Report, SCHEMA_VERSION, derived_schema, json, metric_unit};
use stormeter_results::FinishReason;
use stormeter_statistics::{Comparison, Fact, Interval, LawFinding, Touched};
use stormeter_study::{Blocks, EqualLoad, Metric, Order, Prepare, Reset, Unit, WorkloadKind};
use stormeter_testkit::{assert_golden, undescribed, violations};
use stormeter_trial::{Burst, Distribution, FlushEvery, Verified};
use study_fixture::{Shape, comparison, disturbed, fixed_work, made, on_guests, study, usual};

fn parsed_schema() -> Value {
    serde_json::from_str(&derived_schema()).unwrap()
}

fn check(value: &Value) -> Vec<String> {
    violations(&parsed_schema(), value)
}

/// Reports that between them take every branch of the schema.
fn reports() -> Vec<Report> {
    let mut odd = study();
    odd.header.plan.design.blocks = Blocks::Auto { min: 5, max: 50 };
    odd.header.plan.design.order = Order::Abba;
    odd.header.plan.design.reset = Reset::Command("zfs rollback tank/vm@start".into());
    odd.header.plan.design.unit = Unit::Interval;
    odd.header.plan.design.time_limit_ns = None;
    odd.header.plan.prepare = Prepare::Zero;
    odd.header.plan.workloads[0].disk_bytes = Some(1 << 30);
    odd.header.plan.seed = u64::MAX;
    odd.header.environment = Default::default();
    odd.status.reason = Some(FinishReason::Failed { reason: "the disk is full".into() });
    odd.ceilings[0].times_measured = None;
    odd.analysis.cells[1].relative[0].comparison = None;
    odd.analysis.cells[1].verified = Some(Verified { blocks: 9, ..Verified::default() });
    odd.analysis.cells[1].touched = Some(Touched {
        trial_share: 0.1,
        run_share: 0.6,
        again_share: 0.2,
        working_set_bytes: 1 << 30,
    });
    odd.analysis.cells[2].values[0].interval = None;
    odd.analysis.answers[0].estimate.as_mut().unwrap().interval = None;
    odd.analysis.answers[1].estimate.as_mut().unwrap().interval.as_mut().unwrap().high =
        f64::INFINITY;
    let empty = made(&Shape { blocks: 0, ..usual() }, |analysis| analysis.power = None);
    let mut killed = study();
    killed.status.reason = None;
    killed.header.datastores.clear();
    let mut unlike = comparison();
    let plan = &mut unlike.header.plan;
    plan.design.equal_load = Some(EqualLoad::Rate { rate_per_s: 1000.0 });
    let WorkloadKind::Io(workload) = &mut plan.workloads[0].kind else { unreachable!() };
    workload.distribution = Distribution::Zipf { exponent: 1.1 };
    workload.burst = Some(Burst { length: 8, delay_ns: 1_000_000 });
    workload.alignment_bytes = Some(8192);
    workload.durable = true;
    workload.flush = Some(FlushEvery::Writes { writes: 8 });
    let first = unlike.analysis.cells[1].relative[0].comparison.as_mut().unwrap();
    first.interval.high = f64::INFINITY;
    first.bootstrap = Some(Interval { low: 0.7, high: 0.8, level: 0.95 });
    let mut rated = comparison();
    rated.header.plan.design.equal_load = Some(EqualLoad::Auto);
    rated.findings.clear();
    rated.analysis.cells[1].relative.clear();
    let predicted = study_fixture::predicted();
    let of_studies =
        [study(), odd, empty, killed, fixed_work(), predicted, disturbed(), on_guests()];
    of_studies.into_iter().chain([comparison(), unlike, rated]).collect()
}

/// A promise to scripts: a change of what is printed shows in the diff of this file.
#[test]
fn the_committed_schema_is_the_derived_one() {
    let path = "../../docs/schema/report.schema.json";
    assert_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &derived_schema());
}

#[test]
fn every_key_is_described() {
    assert_eq!(undescribed(&parsed_schema()), Vec::<String>::new());
}

#[test]
fn every_study_follows_the_schema() {
    for report in reports() {
        let found = check(&json(&report));
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn what_does_not_follow_the_schema_is_noticed() {
    let sound = json(&study());
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 12] = [
        (|v| v["answers"][0]["reply"] = json!("maybe"), "/answers/0/reply"),
        (|v| v["cells"][1]["metrics"][0]["value"] = json!("7"), "/cells/1/metrics/0/value"),
        (|v| v["cells"][1]["extra"] = json!(1), "/cells/1"),
        (|v| _ = v["cells"][1].as_object_mut().unwrap().remove("steps"), "/cells/1"),
        (|v| v["plan"]["vms"] = json!([]), "/plan/vms"),
        (|v| v["schema_version"] = json!(1), "/schema_version"),
        (|v| v["comparisons"][0]["verdict"] = json!("better"), "/comparisons/0/verdict"),
        (|v| v["comparisons"][0]["ratio"] = json!("0.76"), "/comparisons/0/ratio"),
        (|v| v["comparisons"][0]["extra"] = json!(1), "/comparisons/0"),
        (|v| _ = v["comparisons"][1].as_object_mut().unwrap().remove("ci_low"), "/comparisons/1"),
        (|v| v["plan"]["timing"]["ramp_ns"] = json!(-1), "/plan/timing/ramp_ns"),
        (|v| v["ceilings"] = json!(5), "/ceilings"),
    ];
    for (change, at) in changes {
        let mut value = sound.clone();
        change(&mut value);
        let found = check(&value);
        assert!(found.iter().any(|f| f.starts_with(&format!("{at}:"))), "{at}: {found:?}");
    }
}

#[test]
fn the_schema_knows_every_metric_and_a_cell_says_what_it_is() {
    let schema = parsed_schema();
    let known = schema["$defs"]["Metric"]["oneOf"].as_array().unwrap();
    let is_known = |metric: &Metric| known.iter().any(|one| one["const"] == metric.name());
    assert!(Metric::ALL.iter().all(is_known));
    let units = &schema["$defs"]["Comparison"]["properties"]["unit"]["enum"];
    let has_unit =
        |metric: &Metric| units.as_array().unwrap().contains(&json!(metric_unit(*metric)));
    assert!(Metric::ALL.iter().all(has_unit), "{units}");
    let value = json(&study());
    assert_eq!(value["schema_version"], json!(SCHEMA_VERSION));
    let cell = &value["cells"][4];
    assert_eq!((&cell["datastore"], &cell["vms"]), (&json!("nas"), &json!(4)));
    assert_eq!((&cell["trials"], &cell["failed_trials"]), (&json!(9), &json!(1)));
    assert_eq!(cell["failure"], json!("nas1: connection reset by peer"));
    let iops = &cell["metrics"][0];
    assert_eq!(iops["metric"], json!("iops"));
    assert_eq!(iops["relative"]["verdict"], json!("slower"));
    assert!(
        value["cells"][0]["metrics"][0]["relative"].is_null(),
        "the baseline is relative to nothing"
    );
}

#[test]
fn the_verdicts_come_first_with_what_scripts_need() {
    let value = json(&comparison());
    let comparisons = value["comparisons"].as_array().unwrap();
    for (index, comparison) in comparisons.iter().enumerate() {
        assert_eq!(comparison["primary"], json!(index < 1));
        assert_eq!(comparison["baseline"], json!("/srv/vm"));
        assert_eq!(comparison["workload"], json!("vm-4k"));
        assert_eq!(comparison["vms"], json!(4));
    }
    let first = &comparisons[0];
    assert_eq!((&first["metric"], &first["verdict"]), (&json!("iops"), &json!("slower")));
    let sentence = first["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("nas is ") && sentence.contains("slower than local in IOPS"));
    assert_eq!(value["headline"], json!([sentence]));
    // Of a study each load has its own.
    let value = json(&study());
    let comparisons = value["comparisons"].as_array().unwrap();
    let primaries = comparisons.iter().filter(|it| it["primary"] == json!(true)).count();
    assert_eq!(primaries, 2 * 2 * 3, "two candidates, two workloads, three loads");
}

/// A study is continued for the loads that are sound, so each verdict has a reason of its own.
#[test]
fn what_is_invalid_is_explained_by_its_own_cells() {
    let mut report = study();
    report.analysis.findings.clear();
    for (cell, fact) in [(4, Fact::NoIo), (10, Fact::ReadsOfZeros)] {
        report.analysis.findings.push((Some(cell), LawFinding::invalid(fact)));
        for relative in &mut report.analysis.cells[cell].relative {
            relative.comparison = relative.comparison.take().map(Comparison::invalidated);
        }
    }
    let value = json(&report);
    let comparisons = value["comparisons"].as_array().unwrap().iter();
    let invalid: Vec<_> = comparisons.filter(|it| it["verdict"] == json!("invalid")).collect();
    assert!(invalid.iter().any(|it| it["cell"] == json!(4)), "{invalid:?}");
    assert!(invalid.iter().any(|it| it["cell"] == json!(10)), "{invalid:?}");
    for it in invalid {
        let sentence = it["sentence"].as_str().unwrap();
        assert_eq!(
            sentence.contains("not one I/O completed"),
            it["cell"] == json!(4),
            "{sentence}"
        );
    }
}

#[test]
fn a_study_survives_being_written_and_read() {
    let report = study();
    let text = serde_json::to_string(&report).unwrap();
    let back: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}
