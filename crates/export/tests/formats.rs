//! Each format read back: by this project's own reader of fio's results, by its rules, by eye.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_export::{
    Case, CaseOutcome, Cell, Results, Trial, csv, fio_json, hdr_log, junit, markdown, open_metrics,
};
use stormeter_study::Metric;
use stormeter_testkit::{sample, workload};
use stormeter_trial::{Arrivals, CpuUsage, Histogram, Sample};

fn samples() -> Vec<Sample> {
    [1000.0, 1100.0, 2000.0].map(sample).to_vec()
}

fn results<'a>(samples: &'a [Sample], cpu: &'a CpuUsage) -> Results<'a> {
    let cell = |datastore: &str, iops: f64| Cell {
        datastore: datastore.into(),
        workload: "vm-4k".into(),
        vms: 1,
        outstanding: Some(4),
        io: None,
        values: vec![(Metric::Iops, iops), (Metric::LatencyMean, 4e9 / iops)],
    };
    let trials = samples.iter().enumerate();
    Results {
        run: "r1",
        version: "0.1.0",
        began_unix_ms: 1_700_000_000_000,
        cells: vec![cell("nas, \"old\"", 1050.0), cell("a|b", 2000.0)],
        trials: trials
            .map(|(index, sample)| Trial {
                cell: index / 2,
                block: index as u32 % 2,
                began_unix_ms: 1_700_000_000_000 + 1500 * index as u64,
                sample,
                cpu,
            })
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
    assert_eq!((&*read.tool, read.runs.len()), ("fio", 3));
    let run = read.runs.get(1).unwrap();
    let reads = &run.directions[0];
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

/// Latencies of all sizes; the reader knows nothing of how they were written.
#[test]
fn a_hdr_log_is_read_back_to_the_bucket() {
    let mut samples = samples();
    let mut histogram = Histogram::default();
    for exponent in 0..45 {
        for (part, count) in [(1u64 << exponent, 1), ((1 << exponent) | ((1 << exponent) / 3), 300)]
        {
            (0..count).for_each(|_| histogram.record(part));
        }
    }
    samples[0].reads.histogram = histogram.clone();
    let cpu = CpuUsage::default();
    let text = hdr_log(&results(&samples, &cpu)).unwrap();
    let read = stormeter_import::read(&text).unwrap().unwrap();
    assert_eq!((&*read.tool, read.runs.len()), ("HdrHistogram", 2));
    let first = &read.runs.get(0).unwrap();
    assert_eq!(first.name, "nas%2C%20\"old\"/vm-4k/vms=1/outstanding=4");
    assert_eq!(first.began_s, Some(1_700_000_000.0));
    let starts: Vec<f64> = first.intervals.iter().map(|interval| interval.start_s).collect();
    assert_eq!(starts, [0.0, 1.5]);
    histogram.merge(&samples[1].reads.histogram);
    let slots = &first.directions[0].latency.histogram;
    // A value keeps to within half a bucket of where it was.
    for bucket in histogram.buckets() {
        let middle_ns = (bucket.low_ns + bucket.high_ns - 1) as f64 / 2.0;
        let slot = slots.iter().find(|slot| slot.low_ns <= middle_ns && middle_ns < slot.high_ns);
        let slot = slot.unwrap_or_else(|| panic!("{bucket:?}"));
        assert_eq!(slot.count, bucket.count, "{bucket:?}");
        assert!(bucket.low_ns as f64 <= slot.low_ns && slot.high_ns <= bucket.high_ns as f64);
    }
    assert_eq!(slots.iter().map(|slot| slot.count).sum::<u64>(), histogram.count());
    // The unit is recognised by the longest latency of each interval.
    assert!(read.left_out.iter().all(|note| note.contains("read as nanoseconds")), "{read:?}");
}

#[test]
fn a_test_report_counts_its_cases_and_is_xml_whatever_is_said() {
    let case = |name: &str, outcome| Case { class: "a.b".into(), name: name.into(), outcome };
    let cases = [
        case("x < \"y\" & z", CaseOutcome::Failed("no:\u{1b}[31m it is not".into())),
        case("p", CaseOutcome::Passed("5 < 6".into())),
        case("s", CaseOutcome::Skipped("not decided".into())),
        case("e", CaseOutcome::Broken("it's broken".into())),
    ];
    let text = junit("a study", &cases);
    let head = "<testsuite name=\"a study\" tests=\"4\" failures=\"1\" skipped=\"1\" errors=\"1\">";
    assert!(text.contains(head), "{text}");
    assert!(
        text.contains("name=\"x &lt; &quot;y&quot; &amp; z\"><failure message=\"no:[31m it"),
        "{text}"
    );
    assert!(text.contains("<system-out>5 &lt; 6</system-out>"), "{text}");
    assert!(text.contains("<error message=\"it&apos;s broken\"/>"), "{text}");
}

/// fio's default engine waits for every I/O, and its default depth is 1.
#[test]
fn fio_json_states_as_many_outstanding_as_there_were() {
    let (samples, cpu) = (samples(), CpuUsage::default());
    let outstanding = |arrivals, own| {
        let mut results = results(&samples, &cpu);
        results.cells[0].io = Some(workload(arrivals));
        results.cells[0].outstanding = own;
        let read = stormeter_import::read(&fio_json(&results).to_string()).unwrap().unwrap();
        read.runs.get(0).unwrap().load.outstanding
    };
    assert_eq!(outstanding(Arrivals::Closed { outstanding: 4 }, None), Some(4));
    assert_eq!(outstanding(Arrivals::Closed { outstanding: 4 }, Some(16)), Some(16));
    assert_eq!(outstanding(Arrivals::Constant { rate_per_s: 300.0 }, None), None);
}
