//! What the host did during a comparison's trials is in its results file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use stormeter_datastore::RealClock;
use stormeter_results::{Phase, ResultsFile, TrialOutcome};
use stormeter_runner::{Request, Silent, run};
use stormeter_study::{ComparisonPlan, Metric, StudyPlan, Timing};

#[test]
fn every_trial_says_what_the_host_did() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("results.db");
    let datastores = ["a", "b"].map(|name| {
        let path = directory.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let timing = Timing { ramp_ns: 10_000_000, duration_ns: 250_000_000, interval_ns: 10_000_000 };
    let plan = ComparisonPlan {
        datastores: datastores.to_vec(),
        baseline: 0,
        workload: stormeter_study::profile("vm-4k").unwrap().workload,
        vms: 1,
        disk_bytes: 1 << 20,
        threads: 0,
        timing,
        metric: Metric::Iops,
        precision: 1.0,
        margin: 0.05,
        level: 0.95,
        min_blocks: 2,
        max_blocks: 2,
        time_limit_ns: 60_000_000_000,
        equal_load: None,
        seed: 1,
        verify: false,
    };
    let request = Request::new(StudyPlan::from(&plan), output.clone());
    let clock = RealClock::new();
    run(&request, &clock, &AtomicBool::new(false), &mut Silent).unwrap();

    let trials = ResultsFile::open(&output).unwrap().trials().unwrap();
    assert_eq!(trials.iter().filter(|trial| trial.phase == Phase::Main).count(), 4);
    for trial in &trials {
        let rows = &trial.monitor;
        assert!(matches!(trial.outcome, TrialOutcome::Measured { .. }), "{:?}", trial.outcome);
        assert_eq!(rows.first().map(|row| row.at_ns), Some(0), "trial {}", trial.id);
        for (row, next) in rows.iter().zip(&rows[1..]) {
            assert_eq!(row.at_ns + row.length_ns, next.at_ns);
        }
        // Not every 10 ms, as the driver's rows: at least half of the least interval each.
        assert!(rows.iter().all(|row| row.length_ns >= 50_000_000), "{rows:?}");
        let end_ns = rows.last().map_or(0, |row| row.at_ns + row.length_ns);
        assert!(end_ns <= trial.elapsed_ns, "{end_ns} of {}", trial.elapsed_ns);
    }
    assert!(trials.iter().flat_map(|trial| &trial.monitor).any(|row| row.cpu_busy > 0.0));
}
