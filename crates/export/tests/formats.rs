//! Each format read back: by this project's own reader of fio's results, by its rules, by eye.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_export::{Cell, Results, Trial, csv, fio_json, markdown, open_metrics};
use stormeter_study::Metric;
use stormeter_testkit::sample;
use stormeter_trial::{CpuUsage, Sample};

fn samples() -> Vec<Sample> {
    [1000.0, 1100.0, 2000.0].map(sample).to_vec()
}

fn results<'a>(samples: &'a [Sample], cpu: &'a CpuUsage) -> Results<'a> {
    let cell = |datastore: &str, iops: f64| Cell {
        datastore: datastore.into(),
        workload: "vm-4k".into(),
        vms: 1,
        outstanding: Some(4),
        values: vec![(Metric::Iops, iops), (Metric::LatencyMean, 4e9 / iops)],
    };
    let trials = samples.iter().enumerate();
    Results {
        run: "r1",
        version: "0.1.0",
        began_unix_ms: 1_700_000_000_000,
        cells: vec![cell("nas, \"old\"", 1050.0), cell("a|b", 2000.0)],
        trials: trials
            .map(|(index, sample)| Trial { cell: index / 2, block: index as u32 % 2, sample, cpu })
            .collect(),
    }
}

#[test]
fn csv_has_one_observation_a_row_and_quotes_what_needs_it() {
    let (samples, cpu) = (samples(), CpuUsage::default());
    let text = csv(&results(&samples, &cpu));
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "run,datastore,workload,vms,outstanding,block,metric,unit,value"
    );
    assert_eq!(lines.next().unwrap(), "r1,\"nas, \"\"old\"\"\",vm-4k,1,4,0,iops,1/s,1000");
    let iops = text.lines().filter(|line| line.contains(",iops,"));
    assert_eq!(iops.count(), 3);
}

#[test]
fn open_metrics_name_their_base_units_and_end() {
    let (samples, cpu) = (samples(), CpuUsage::default());
    let text = open_metrics(&results(&samples, &cpu));
    let expected = "stormeter_iops_per_second{datastore=\"nas, \\\"old\\\"\",workload=\"vm-4k\",vms=\"1\",\
                    outstanding=\"4\"} 1050\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("# TYPE stormeter_latency_mean_seconds gauge\n# UNIT stormeter_latency_mean_seconds seconds\n"));
    assert!(text.ends_with("\n# EOF\n"));
    // A metric's lines stand together, and each name comes once.
    let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    assert_eq!(types.len(), 2, "{types:?}");
}

#[test]
fn fio_json_is_what_the_reader_of_fio_takes() {
    let (samples, cpu) = (samples(), CpuUsage::default());
    let text = fio_json(&results(&samples, &cpu)).to_string();
    let read = stormeter_import::read(&text).unwrap().unwrap();
    assert_eq!((read.tool, read.runs.len()), ("fio", 3));
    let reads = &read.runs[1].directions[0];
    assert!((reads.iops.unwrap().value - 1100.0).abs() < 0.01, "{reads:?}");
    assert_eq!(reads.operations.unwrap().value, 200.0);
    let counted: u64 = reads.latency.histogram.iter().map(|bucket| bucket.count).sum();
    assert_eq!(counted, 200);
    assert!((reads.latency.mean.unwrap().value - 4e9 / 1100.0).abs() < 10.0);
}

#[test]
fn markdown_is_one_table() {
    let (samples, cpu) = (samples(), CpuUsage::default());
    let text = markdown(&results(&samples, &cpu));
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(
        text.contains("| a\\|b | vm-4k, 4 outstanding | 1 | 1 | 2000 | – | 2.000 ms | – |"),
        "{text}"
    );
}
