//! A study whose datastores are driven at one rate: of the slowest's capacity, load by load.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{Phase, TrialRecord};
use stormeter_runner::Silent;

/// Two loads on a file system and on nothing, which could do far more.
fn run(directory: &Path, blocks: u32) -> Conclusion {
    let text = format!(
        "datastores: {{file: {}, nothing: \"null:\"}}\n\
         workloads: [vm-4k]\n\
         load: {{vms: [1, 2], outstanding: 1, equal: auto}}\n\
         disk: {{size: 4MiB}}\n\
         measure: {{ramp: 20ms, duration: 200ms, interval: 20ms}}\n\
         design: {{blocks: {blocks}}}\n",
        directory.display()
    );
    let request = request::request(directory, &text);
    stormeter_runner::run(&request, &RealClock::new(), &AtomicBool::new(false), &mut Silent)
        .unwrap()
}

fn of(conclusion: &Conclusion, phase: Phase, cell: usize) -> Vec<&TrialRecord> {
    let own = |trial: &&TrialRecord| (trial.phase, trial.cell) == (phase, Some(cell));
    conclusion.trials.iter().filter(own).collect()
}

#[test]
fn all_datastores_of_a_load_have_one_rate_which_the_slowest_bears() {
    let directory = tempfile::tempdir().unwrap();
    let conclusion = run(directory.path(), 1);
    for first in [0, 2] {
        let capacity = |cell: usize| {
            let [trial] = of(&conclusion, Phase::Capacity, cell)[..] else { panic!("{cell}") };
            trial.sample().unwrap().iops()
        };
        let expected = 0.7 * capacity(first).min(capacity(first + 1));
        for cell in [first, first + 1] {
            let [trial] = of(&conclusion, Phase::Main, cell)[..] else { panic!("{cell}") };
            let offered = trial.sample().unwrap().offered_rate_per_s.unwrap();
            assert!((offered / expected - 1.0).abs() < 1e-6, "{offered} of {expected}");
        }
    }
    // What was found is kept: a study that is resumed drives what it drove.
    let resumed = run(directory.path(), 2);
    for cell in 0..4 {
        assert_eq!(of(&resumed, Phase::Capacity, cell).len(), 1);
        let offered = of(&resumed, Phase::Main, cell);
        let offered: Vec<_> =
            offered.iter().map(|trial| trial.sample().unwrap().offered_rate_per_s).collect();
        assert_eq!(offered.len(), 2);
        assert_eq!(offered[0], offered[1]);
    }
}
