//! Ceilings of ways to datastores: measured once for all that share one, before the first block, and shown
//! apart from the load generator's.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_conclude::{Conclusion, conclude};
use stormeter_datastore::RealClock;
use stormeter_results::{Phase, TrialRecord};
use stormeter_runner::{Request, Silent, run};

/// Two datastores that share a ceiling, and one without.
fn request(directory: &Path) -> Request {
    let url = |name: &str| {
        let path = directory.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.display().to_string()
    };
    let [a, b, c, free] = ["a", "b", "c", "free"].map(url);
    let text = format!(
        "datastores:\n  a: {{url: {a}, ceiling: {free}}}\n  b: {{url: {b}, ceiling: {free}}}\n  c: {c}\n"
    );
    let rest = "workloads: [vm-4k, {profile: vm-8k, rate: 100}]\ndisk: {size: 4MiB}\n\
                load: {vms: [1, 2]}\n\
                measure: {ramp: 20ms, duration: 100ms, interval: 20ms}\ndesign: {blocks: 1}\n";
    request::request(directory, &format!("{text}{rest}"))
}

fn ceilings(conclusion: &Conclusion) -> Vec<(Option<usize>, usize)> {
    conclusion.ceilings.iter().map(|ceiling| (ceiling.datastore, ceiling.workload)).collect()
}

#[test]
fn a_shared_ceiling_is_measured_once_with_each_workload_and_shown_of_all_that_share_it() {
    let directory = tempfile::tempdir().unwrap();
    let request = request(directory.path());
    let never = AtomicBool::new(false);
    let conclusion = run(&request, &RealClock::new(), &never, &mut Silent).unwrap();
    let trials = &conclusion.trials;
    let measured: Vec<&TrialRecord> =
        trials.iter().filter(|trial| trial.phase == Phase::Ceiling).collect();
    // One that the machine disturbed is measured again.
    let mut of: Vec<_> = measured.iter().map(|trial| (trial.datastore, trial.cell)).collect();
    of.dedup();
    let of: Vec<Option<usize>> = of.into_iter().map(|(datastore, _)| datastore).collect();
    assert_eq!(of, [None, None, Some(0), Some(0)], "the generator, then the way");
    let first = trials.iter().position(|trial| trial.phase == Phase::Main).unwrap();
    assert_eq!(first, measured.len(), "before the first block");
    let way = [0, 1].map(|workload| [(Some(0), workload), (Some(1), workload)]).concat();
    assert_eq!(ceilings(&conclusion), [vec![(None, 0), (None, 1)], way].concat());
    // At the workload's own rate there would be 100, and no ceiling.
    let open = conclusion.ceilings.iter().filter(|it| it.workload == 1);
    assert!(open.clone().all(|it| it.iops > 1000.0), "{:?}", conclusion.ceilings);
    assert_eq!(conclusion.header.datastores.len(), 3, "a ceiling is no datastore of the study");
    // The same from the file, a year later.
    let file = stormeter_results::ResultsFile::open(&request.output).unwrap();
    assert_eq!(ceilings(&conclude(&file).unwrap()), ceilings(&conclusion));
}

/// The levels are in the order in which they were written, and the ceiling is that of the highest.
#[test]
fn a_ceiling_is_measured_at_the_highest_load_wherever_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let text = "datastores: {a: 'null:', b: 'null:'}\nworkloads: [vm-4k]\ndisk: {size: 4MiB}\n\
                load: {vms: [2, 4, 1], outstanding: [1, 8, 2]}\n\
                measure: {ramp: 20ms, duration: 100ms, interval: 20ms}\ndesign: {blocks: 1}\n";
    let request = request::request(directory.path(), text);
    let never = AtomicBool::new(false);
    let conclusion = run(&request, &RealClock::new(), &never, &mut Silent).unwrap();
    let cells = request.plan.cells();
    let ceilings = conclusion.trials.iter().filter(|trial| trial.phase == Phase::Ceiling);
    let loads: Vec<_> = ceilings
        .map(|trial| &cells[trial.cell.unwrap()])
        .map(|cell| (cell.vms, cell.outstanding))
        .collect();
    assert!(!loads.is_empty() && loads.iter().all(|load| *load == (4, Some(8))), "{loads:?}");
}
