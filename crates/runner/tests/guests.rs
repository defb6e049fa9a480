//! The guests of a study's rack are watched while its trials have load: what they did is in the results file, and a
//! source that cannot read them costs a note.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{Phase, TrialOutcome, TrialRecord};
use stormeter_runner::{
    Collaborators, GuestReading, MonitorSource, MonitorSourceError, Silent, ThreadReading, run_with,
};
use stormeter_statistics::{Fact, Severity};
use stormeter_trial::{GuestKind, NoteFact};

/// Two guests. Between two readings a thread of one waits for an hour, so that its share is all of the time; the other
/// runs every second time, each time as another process.
#[derive(Default)]
struct Rack {
    readings: u64,
}

impl MonitorSource for Rack {
    fn read(&mut self) -> Result<Vec<GuestReading>, MonitorSourceError> {
        self.readings += 1;
        let hours_ns = self.readings * 3_600_000_000_000;
        let guest = |name: &str, kind, life, waited_ns| GuestReading {
            name: name.into(),
            kind,
            life,
            cpu_ns: 0,
            threads: vec![(1, ThreadReading { waited_ns, slices: 0 })],
            memory_bytes: 4096,
            disk_bytes: Some([0, 0]),
        };
        let mut guests = vec![guest("pe1", GuestKind::Router, 7, hours_ns)];
        if self.readings % 2 == 1 {
            guests.push(guest("vm1", GuestKind::Vm, self.readings, hours_ns));
        }
        Ok(guests)
    }
}

/// Says why not.
struct Broken;

impl MonitorSource for Broken {
    fn read(&mut self) -> Result<Vec<GuestReading>, MonitorSourceError> {
        Err("the rack is locked".into())
    }
}

/// Ends its thread.
struct Bursting;

impl MonitorSource for Bursting {
    fn read(&mut self) -> Result<Vec<GuestReading>, MonitorSourceError> {
        panic!("a bug, on purpose")
    }
}

/// What two blocks of a timed and a fixed workload come to.
fn concluded(directory: &Path, source: impl MonitorSource + 'static) -> Conclusion {
    let store = directory.join("store");
    std::fs::create_dir(&store).unwrap();
    let text = format!(
        "datastores: {{a: \"{}\"}}\n\
         workloads: [{{profile: vm-4k, rate: 500}}, {{file-test: read, record: 64KiB}}]\n\
         disk: {{size: 1MiB}}\n\
         measure: {{ramp: 20ms, duration: 200ms, interval: 20ms}}\n\
         design: {{blocks: 2}}\n",
        store.display()
    );
    let request = request::request(directory, &text);
    let collaborators =
        Collaborators { guests: Some(Box::new(source)), ..Collaborators::default() };
    let never = AtomicBool::new(false);
    run_with(collaborators, &request, &RealClock::new(), &never, &mut Silent).unwrap()
}

fn main_trials(conclusion: &Conclusion) -> Vec<&TrialRecord> {
    let trials: Vec<_> =
        conclusion.trials.iter().filter(|trial| trial.phase == Phase::Main).collect();
    assert_eq!(trials.len(), 4);
    trials
}

/// The notes about guests, of each trial.
fn notes(conclusion: &Conclusion) -> Vec<Vec<String>> {
    let of = |trial: &&TrialRecord| {
        let TrialOutcome::Measured { notes, .. } = &trial.outcome else {
            panic!("{:?}", trial.outcome)
        };
        let of_guests = notes.iter().filter_map(|note| match &note.fact {
            NoteFact::GuestsUnwatched { said } => Some(said.clone()),
            _ => None,
        });
        of_guests.collect()
    };
    main_trials(conclusion).iter().map(of).collect()
}

#[test]
fn what_guests_did_is_with_every_trial_and_one_that_starved_is_named_once() {
    let directory = tempfile::tempdir().unwrap();
    let conclusion = concluded(directory.path(), Rack::default());
    for trial in main_trials(&conclusion) {
        let of = |name: &str| trial.guests.iter().find(|guest| guest.name == name);
        let router = of("pe1").unwrap();
        assert_eq!(router.kind, GuestKind::Router);
        assert!(!router.rows.is_empty(), "{trial:?}");
        for (row, next) in router.rows.iter().zip(&router.rows[1..]) {
            assert_eq!(row.at_ns + row.length_ns, next.at_ns);
        }
        assert!(router.rows.iter().all(|row| row.waited == 1.0), "{router:?}");
        // It never ran for two readings on end.
        assert!(of("vm1").is_none_or(|guest| guest.rows.is_empty()), "{trial:?}");
    }
    let before = conclusion.trials.iter().filter(|trial| trial.phase != Phase::Main);
    assert!(before.into_iter().all(|trial| trial.guests.is_empty()));
    assert!(notes(&conclusion).iter().all(Vec::is_empty));
    let names: Vec<_> = conclusion.guests.iter().map(|guest| guest.name.as_str()).collect();
    assert_eq!(names, ["pe1"]);
    let found =
        conclusion.analysis.findings.iter().filter_map(|(_, finding)| match &finding.fact {
            Fact::GuestsStarved { seen_in, waits } => Some((finding.severity, *seen_in, waits)),
            _ => None,
        });
    let found: Vec<_> = found.collect();
    let [(Severity::Warning, seen_in, waits)] = found[..] else { panic!("{found:?}") };
    assert_eq!((seen_in.trials, seen_in.of), (4, 4));
    assert_eq!((waits.len(), waits[0].guest.as_str(), waits[0].share), (1, "pe1", 1.0));
}

#[test]
fn a_source_that_fails_costs_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let conclusion = concluded(directory.path(), Broken);
    assert_eq!(notes(&conclusion), vec![vec!["the rack is locked".to_owned()]; 4]);
    assert!(main_trials(&conclusion).iter().all(|trial| trial.guests.is_empty()));
    assert!(conclusion.guests.is_empty());
}

#[test]
fn a_source_that_ends_its_thread_costs_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let conclusion = concluded(directory.path(), Bursting);
    let notes = notes(&conclusion);
    assert!(notes.iter().all(|notes| notes.len() == 1), "{notes:?}");
    assert!(notes[0][0].contains("thread"), "{notes:?}");
}
