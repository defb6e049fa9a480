//! `reset: snapshot`: who can take one is asked first, it is taken when the disks are written, and every trial
//! begins with what they had then.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod request;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stormeter_conclude::Conclusion;
use stormeter_datastore::RealClock;
use stormeter_results::{Phase, TrialOutcome};
use stormeter_runner::{
    Collaborators, RackControl, RackControlError, Request, RunError, Silent, run, run_with,
};
use stormeter_study::FaultSpec;

/// A storage of two directories, whose files it brings back in their places: who has them open sees it.
struct Directories {
    root: PathBuf,
    taken: BTreeMap<PathBuf, Vec<u8>>,
    rollbacks: usize,
    /// How many of these fail, the first ones.
    fails: usize,
    can: bool,
}

fn files(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

impl RackControl for Directories {
    fn check(&mut self, _fault: &FaultSpec) -> Result<(), RackControlError> {
        Ok(())
    }

    fn apply(&mut self, _fault: &FaultSpec) -> Result<(), RackControlError> {
        Ok(())
    }

    fn restore(&mut self) -> Result<(), RackControlError> {
        Ok(())
    }

    fn check_snapshot(&mut self) -> Result<(), RackControlError> {
        if self.can { Ok(()) } else { Err("it is full".into()) }
    }

    fn snapshot(&mut self) -> Result<(), RackControlError> {
        assert!(self.taken.is_empty(), "taken once");
        for store in ["a", "b"] {
            files(&self.root.join(store), &mut self.taken);
        }
        assert!(self.taken.values().any(|bytes| bytes.len() >= 4 << 20), "the disks are written");
        Ok(())
    }

    fn roll_back(&mut self) -> Result<(), RackControlError> {
        self.rollbacks += 1;
        if self.rollbacks <= self.fails {
            return Err("nas does not run".into());
        }
        for (path, bytes) in &self.taken {
            let file = OpenOptions::new().write(true).open(path)?;
            file.write_all_at(bytes, 0)?;
        }
        Ok(())
    }
}

struct Place {
    folder: tempfile::TempDir,
    rack_control: Directories,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for store in ["a", "b"] {
            fs::create_dir(folder.path().join(store)).unwrap();
        }
        let root = folder.path().to_owned();
        let rack_control =
            Directories { root, taken: BTreeMap::new(), rollbacks: 0, fails: 0, can: true };
        Self { folder, rack_control }
    }

    /// Every block that is read is compared with its expected content, also after a rollback.
    fn request(&self) -> Request {
        let root = self.folder.path().display();
        let text = format!(
            "datastores: {{a: \"{root}/a\", b: \"{root}/b\"}}\n\
             workloads: [{{profile: vm-4k, read: 50%}}]\n\
             load: {{outstanding: 4}}\n\
             disk: {{size: 4MiB}}\n\
             measure: {{ramp: 20ms, duration: 200ms, interval: 20ms, verify: true}}\n\
             design: {{blocks: 2, order: as-written, reset: snapshot}}\n"
        );
        request::request(self.folder.path(), &text)
    }

    fn run(&mut self) -> Result<Conclusion, RunError> {
        let request = self.request();
        let collaborators = Collaborators {
            rack_control: Some(&mut self.rack_control),
            ..Collaborators::default()
        };
        let never = AtomicBool::new(false);
        run_with(collaborators, &request, &RealClock::new(), &never, &mut Silent)
    }
}

fn outcomes(conclusion: &Conclusion) -> Vec<Option<String>> {
    let trials = conclusion.trials.iter().filter(|trial| trial.phase == Phase::Main);
    trials
        .map(|trial| match &trial.outcome {
            TrialOutcome::Measured { .. } => None,
            TrialOutcome::Failed { failure, .. } => Some(failure.to_string()),
        })
        .collect()
}

#[test]
fn every_trial_reads_what_the_disks_had_at_the_snapshot() {
    let mut place = Place::new();
    let conclusion = place.run().unwrap();
    assert_eq!(outcomes(&conclusion), vec![None; 4]);
    assert_eq!(place.rack_control.rollbacks, 4, "one before each trial");
}

#[test]
fn a_rollback_that_fails_fails_its_trial_and_the_study_continues() {
    let mut place = Place::new();
    place.rack_control.fails = 1;
    let conclusion = place.run().unwrap();
    let outcomes = outcomes(&conclusion);
    let reason = outcomes[0].clone().unwrap();
    assert!(reason.contains("rollback") && reason.contains("nas does not run"), "{reason}");
    // Its block is measured again.
    assert_eq!(outcomes[1..], vec![None; 5]);
}

#[test]
fn without_anybody_who_can_nothing_is_written() {
    let mut place = Place::new();
    let never = AtomicBool::new(false);
    let lonely = run(&place.request(), &RealClock::new(), &never, &mut Silent);
    let message = lonely.unwrap_err().to_string();
    assert!(message.contains("stormeter lab up") && message.contains("command"), "{message}");
    place.rack_control.can = false;
    let message = place.run().unwrap_err().to_string();
    assert!(message.contains("reset: snapshot") && message.contains("it is full"), "{message}");
    assert_eq!(fs::read_dir(place.folder.path().join("a")).unwrap().count(), 0);
    assert!(!place.request().output.exists());
}
