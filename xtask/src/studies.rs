//! The published studies at the scale that runs here: runs every `small.yaml` to its last trial, makes
//! its page and compares the published findings with its measurements, then does the same with a
//! prediction for the study's own site. Studies that can only be predicted are included if they take
//! seconds.
//!
//! This checks that the program works, not what it finds: verdicts depend on the machine or the
//! model.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::child::{output, succeed};
use crate::repository::{Repository, without_user};
use crate::steps::Finding;
use crate::truth;

/// More than CI has processors: most of a study's time is waiting for its trials to end.
const AT_ONCE: usize = 3;
const STUDIES: [&str; 5] = ["virtual-physical", "nfs-datastore", "tr3808", "vsan", "mpls-servers"];
/// Studies that can only be predicted, each with the study whose findings it asks about.
const PREDICTED_ONLY: [(&str, &str); 4] = [
    ("virtual-physical", "adapter"),
    ("virtual-physical", "cache"),
    ("mpls-servers", "adapters"),
    ("vsan", "rates"),
];
/// The largest page that people will open.
const MOST_PAGE_BYTES: u64 = 5_000_000;

/// How a study is executed.
struct Way {
    /// The subcommand, which also appears in file names.
    command: &'static str,
    /// Where `replicate` shows the result, and the option for it.
    column: &'static str,
    /// Accepted exit codes: done; a `must` answered no; a `must` left open; a broken law. All of these
    /// can happen on a busy machine. A model is never busy: there, a broken law or a failed trial is a
    /// defect.
    codes: &'static [i32],
}

const MEASURED: Way = Way { command: "run", column: "measured", codes: &[0, 3, 4, 5] };
const PREDICTED: Way = Way { command: "predict", column: "predicted", codes: &[0, 3, 4] };

/// One study file, measured or predicted.
struct FixedWork {
    study: &'static str,
    file: PathBuf,
    way: &'static Way,
}

impl FixedWork {
    fn name(&self) -> String {
        let file = self.file.file_stem().unwrap_or_default().to_string_lossy();
        format!("stormeter {} of {}/{file}", self.way.command, self.study)
    }
}

/// All jobs, the longest first: measurements take real time.
fn fixed_works(root: &Path) -> Vec<FixedWork> {
    let fixed_work = |study, name: &str, way| FixedWork {
        study,
        file: root.join("studies").join(study).join(name).with_extension("yaml"),
        way,
    };
    let measured = STUDIES.map(|study| fixed_work(study, "small", &MEASURED));
    let predicted = STUDIES.map(|study| fixed_work(study, "small", &PREDICTED));
    let only = PREDICTED_ONLY.map(|(study, name)| fixed_work(study, name, &PREDICTED));
    measured.into_iter().chain(predicted).chain(only).collect()
}

fn next(fixed_works: &Mutex<impl Iterator<Item = FixedWork>>) -> Option<FixedWork> {
    fixed_works.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Runs them all.
pub(crate) fn check(repository: &Repository) -> Finding {
    succeed(&mut repository.cargo(&["build", "--release", "--quiet", "--package", "stormeter"]))?;
    let program = repository.target.join("release/stormeter");
    let directory = repository.scratch("studies")?;
    let fixed_works = Mutex::new(fixed_works(&repository.root).into_iter());
    let ended = Mutex::new(Vec::new());
    // They disturb one another, which affects only their verdicts.
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(fixed_work) = next(&fixed_works) {
                    let began = Instant::now();
                    let name = fixed_work.name();
                    let done = carry_out(&program, &directory, &fixed_work);
                    if let Ok(trials) = done {
                        println!("{name}: {trials} trials, {:.1} s", began.elapsed().as_secs_f64());
                    }
                    let done = done.map_err(|error| format!("{name}: {error}"));
                    ended
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((fixed_work.way.column, done));
                }
            });
        }
    });
    let (mut measured, mut predicted, mut failures) = (0, 0, Vec::new());
    // A failure does not hide what else is wrong.
    for (column, done) in ended.into_inner().unwrap_or_else(PoisonError::into_inner) {
        match done {
            Ok(trials) if column == MEASURED.column => measured += trials,
            Ok(trials) => predicted += trials,
            Err(error) => failures.push(error),
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let left_out = truth::published_in_short(repository)?;
    Ok(format!("{} studies, {measured} trials, {predicted} predicted; {left_out}", STUDIES.len()))
}

/// Executes one study in one way, to its last trial and into the table; returns the number of
/// trials.
fn carry_out(program: &Path, directory: &Path, fixed_work: &FixedWork) -> Result<usize, String> {
    let FixedWork { study, file, way } = fixed_work;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    // One directory each: two runs cannot share the datastores in a directory.
    let directory = directory.join(format!("{study}-{stem}-{}", way.command));
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    let (results, page) = ("results.db", "report.html");
    let mut command = Command::new(program);
    command.current_dir(&directory).arg(way.command).arg(file);
    without_user(&mut command, &directory);
    command.args(["--output", results, "--html", page, "--quiet", "--json"]);
    let done = command.output().map_err(|error| format!("it cannot be started: {error}"))?;
    if !done.status.code().is_some_and(|code| way.codes.contains(&code)) {
        return Err(format!("{}\n{}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    let report: Value = serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("its JSON cannot be read: {error}"))?;
    let trials = trials(&report, way)?;
    let bytes = std::fs::metadata(directory.join(page)).map_or(0, |page| page.len());
    if bytes == 0 || bytes > MOST_PAGE_BYTES {
        return Err(format!("its page has {bytes} bytes"));
    }
    let mut replicate = Command::new(program);
    let option = format!("--{}", way.column);
    replicate.current_dir(&directory).args(["replicate", study, &option, results, "--json"]);
    let table: Value = serde_json::from_str(&output(&mut replicate)?)
        .map_err(|error| format!("the table of replicate cannot be read: {error}"))?;
    if answered(&table, way.column) == 0 {
        return Err(format!("no finding could be asked of what was {}", way.column));
    }
    Ok(trials)
}

/// Counts the trials of a report and checks that all are sound and, in a prediction, that every
/// cell names its bottleneck.
fn trials(report: &Value, way: &Way) -> Result<usize, String> {
    let count = |name: &str| report["status"][name].as_u64().unwrap_or(u64::MAX);
    if count("failed_trials") != 0 || count("trials") == 0 {
        return Err(format!("trials failed: {}", report["status"]));
    }
    if way.column == PREDICTED.column {
        let list = |value: &Value| value.as_array().map_or(0, Vec::len);
        let (cells, named) = (list(&report["cells"]), list(&report["prediction"]["cells"]));
        if named != cells {
            return Err(format!("{named} of {cells} cells name their bottleneck"));
        }
    }
    Ok(count("trials") as usize)
}

/// Findings that the results answered, whatever the answer.
fn answered(table: &Value, column: &str) -> usize {
    let findings = table["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let is_answered = |finding: &&Value| {
        finding[column]["answers"]
            .as_array()
            .is_some_and(|answers| answers.iter().any(|answer| !answer["reply"].is_null()))
    };
    findings.iter().filter(is_answered).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn trials_that_fail_and_cells_without_reason_are_seen() {
        let report = |failed: u32, cells: &[u32], named: &[u32]| {
            json!({
                "status": {"trials": 6, "failed_trials": failed},
                "cells": cells,
                "prediction": {"cells": named},
            })
        };
        assert_eq!(trials(&report(0, &[1, 2], &[1, 2]), &PREDICTED), Ok(6));
        assert!(trials(&report(0, &[1, 2], &[1]), &PREDICTED).is_err());
        assert_eq!(trials(&report(0, &[1, 2], &[]), &MEASURED), Ok(6));
        assert!(trials(&report(1, &[], &[]), &MEASURED).is_err());
        assert!(trials(&json!({}), &MEASURED).is_err());
    }

    #[test]
    fn findings_count_in_the_column_that_answered_them() {
        let table = json!({"findings": [
            {"measured": {"answers": [{"reply": null}, {"reply": "yes"}]}, "predicted": null},
            {"measured": {"answers": [{"reply": null}]}, "predicted": {"answers": []}},
        ]});
        assert_eq!((answered(&table, "measured"), answered(&table, "predicted")), (1, 0));
    }
}
