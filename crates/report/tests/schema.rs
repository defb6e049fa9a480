//! The JSON against its committed schema.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;

use fixture::{LOCAL, LOOPBACK_NFS, MEMORY, NAS, SAN, open_loop, report};
use serde_json::{Value, json};
use stormeter_report::{Report, SCHEMA, SCHEMA_VERSION, WayCeiling};
use stormeter_results::FinishReason;
use stormeter_statistics::{Interval, Touched};
use stormeter_study::EqualLoad;
use stormeter_testkit::violations;
use stormeter_trial::{
    Arrivals, BlockName, Burst, Corruption, Distribution, ExpectedBlock, FoundBlock, Verified,
};

fn check(value: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    violations(&schema, value)
}

/// Reports that between them take every branch of the schema.
/// A block wrong in every way that there is.
fn verified() -> Verified {
    let name = BlockName { disk: 0, offset_bytes: 8192, generation: u64::MAX };
    let ways = [
        FoundBlock::Zeros,
        FoundBlock::OtherData,
        FoundBlock::Damaged { stored_checksum: 1, checksum: u32::MAX },
        FoundBlock::Block(name),
        FoundBlock::Foreign(name),
    ];
    let corruption = |found| Corruption {
        expected: ExpectedBlock { disk: 0, offset_bytes: 0, generations: vec![1, 2] },
        found,
        at_ns: 7,
    };
    let corruptions = ways.map(corruption).to_vec();
    Verified { blocks: 9, unknown_blocks: 1, wrong_blocks: 5, corruptions }
}

fn reports() -> Vec<Report> {
    let plain = report(&[LOCAL, NAS]);
    let mut open = open_loop(report(&[LOCAL, NAS]));
    let way = |datastore, times_measured| WayCeiling { datastore, iops: 66_000.0, times_measured };
    open.way_ceilings = vec![way(0, Some(3.3)), way(1, None)];
    open.ceiling.as_mut().unwrap().times_measured = None;
    let mut odd = report(&[LOCAL, NAS, SAN, MEMORY]);
    odd.header.plan.equal_load = Some(EqualLoad::Rate { rate_per_s: 1000.0 });
    odd.header.plan.workload.distribution = Distribution::Zipf { exponent: 1.1 };
    odd.header.plan.workload.burst = Some(Burst { length: 8, delay_ns: 1_000_000 });
    odd.header.plan.workload.alignment_bytes = Some(8192);
    odd.header.plan.seed = u64::MAX;
    odd.header.environment = Default::default();
    odd.status.reason = Some(FinishReason::Failed { reason: "the disk is full".into() });
    odd.comparisons[0].comparison.interval.high = f64::INFINITY;
    odd.comparisons[0].comparison.bootstrap = Some(Interval { low: 0.7, high: 0.8, level: 0.95 });
    odd.datastores[1].values[0].interval = None;
    odd.datastores[1].verified = Some(verified());
    odd.datastores[1].touched = Some(Touched {
        trial_share: 0.1,
        run_share: 0.6,
        again_share: 0.2,
        working_set_bytes: 1 << 30,
    });
    let mut bare = report(&[LOCAL, NAS]);
    bare.header.plan.equal_load = Some(EqualLoad::Auto);
    bare.header.plan.workload.arrivals = Arrivals::Poisson { rate_per_s: 5.0 };
    bare.status.reason = None;
    bare.comparisons.clear();
    bare.findings.clear();
    bare.ceiling = None;
    vec![plain, open, odd, bare, report(&[LOCAL, LOOPBACK_NFS])]
}

#[test]
fn every_report_follows_the_schema() {
    for report in reports() {
        let found = check(&stormeter_report::json(&report));
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn what_does_not_follow_the_schema_is_noticed() {
    let sound = stormeter_report::json(&report(&[LOCAL, NAS]));
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 7] = [
        (|v| v["comparisons"][0]["verdict"] = json!("better"), "/comparisons/0/verdict"),
        (|v| v["comparisons"][0]["ratio"] = json!("0.76"), "/comparisons/0/ratio"),
        (|v| v["comparisons"][0]["extra"] = json!(1), "/comparisons/0"),
        (|v| _ = v["comparisons"][1].as_object_mut().unwrap().remove("ci_low"), "/comparisons/1"),
        (|v| v["schema_version"] = json!(2), "/schema_version"),
        (|v| v["plan"]["timing"]["ramp_ns"] = json!(-1), "/plan/timing/ramp_ns"),
        (|v| v["ceiling"] = json!(5), "/ceiling"),
    ];
    for (change, at) in changes {
        let mut value = sound.clone();
        change(&mut value);
        let found = check(&value);
        assert!(found.iter().any(|f| f.starts_with(&format!("{at}:"))), "{at}: {found:?}");
    }
}

#[test]
fn the_verdicts_come_first_with_what_scripts_need() {
    let mut shuffled = report(&[LOCAL, NAS, SAN, MEMORY]);
    shuffled.comparisons.reverse();
    let value = stormeter_report::json(&shuffled);
    assert_eq!(value["schema_version"], json!(SCHEMA_VERSION));
    let comparisons = value["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 30);
    for (index, comparison) in comparisons.iter().enumerate() {
        assert_eq!(comparison["primary"], json!(index < 3));
        assert_eq!(comparison["baseline"], json!("/srv/vm"));
        assert_eq!(comparison["workload"], json!("vm-4k"));
    }
    let nas = comparisons.iter().find(|c| c["candidate"] == json!("/mnt/nas/vm")).unwrap();
    assert_eq!(nas["metric"], json!("iops"));
    assert_eq!(nas["verdict"], json!("slower"));
    assert!((nas["ratio"].as_f64().unwrap() - 0.766).abs() < 1e-9);
    assert!(nas["ci_low"].as_f64().unwrap() < 0.766 && nas["ci_high"].as_f64().unwrap() > 0.766);
}

#[test]
fn a_report_survives_being_written_and_read() {
    let report = report(&[LOCAL, NAS]);
    let text = serde_json::to_string(&report).unwrap();
    let back: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}
