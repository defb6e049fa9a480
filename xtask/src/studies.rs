//! The published studies at the scale that runs here: every `small.yaml` to its last trial, its page, and
//! the findings held against what it measured; and the same predicted for the study's own site. Of the
//! studies that can only be predicted, those that take no more than seconds.
//!
//! What is judged is that the program does it, not what it finds: verdicts are the machine's, or the
//! model's.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::child::{output, succeed};
use crate::repository::Repository;
use crate::steps::Finding;

const STUDIES: [&str; 5] = ["virtual-physical", "nfs-datastore", "tr3808", "vsan", "mpls-servers"];
/// Studies that can only be predicted, by the study whose findings they ask.
const PREDICTED_ONLY: [(&str, &str); 4] = [
    ("virtual-physical", "adapter"),
    ("virtual-physical", "cache"),
    ("mpls-servers", "adapters"),
    ("vsan", "rates"),
];
/// The page of a study of any size that people open.
const MOST_PAGE_BYTES: u64 = 5_000_000;

/// How a study is carried out.
struct Way {
    /// The command, which also names the files.
    command: &'static str,
    /// Where `replicate` shows what came of it, and its option.
    column: &'static str,
    /// How it may end. Done; a `must` answered no; one that is open; a law broken. A busy machine may do
    /// all of these. A model is never busy: a law that it breaks, or a trial that fails, is a defect.
    codes: &'static [i32],
}

const MEASURED: Way = Way { command: "run", column: "measured", codes: &[0, 3, 4, 5] };
const PREDICTED: Way = Way { command: "predict", column: "predicted", codes: &[0, 3, 4] };

/// Runs them all.
pub(crate) fn check(repository: &Repository) -> Finding {
    succeed(&mut repository.cargo(&["build", "--release", "--quiet", "--package", "stormeter"]))?;
    let program = repository.target.join("release/stormeter");
    let directory = repository.scratch("studies")?;
    let mut trials = [0, 0];
    let mut failures = Vec::new();
    for study in STUDIES {
        let file = repository.root.join("studies").join(study).join("small.yaml");
        // A failure does not hide what else is wrong.
        for (way, trials) in [&MEASURED, &PREDICTED].into_iter().zip(&mut trials) {
            let began = Instant::now();
            let name = format!("stormeter {} of {study}", way.command);
            match carry_out(&program, &directory, &file, study, way) {
                Ok(count) => {
                    *trials += count;
                    println!("{name}: {count} trials, {:.1} s", began.elapsed().as_secs_f64());
                }
                Err(error) => failures.push(format!("{name}: {error}")),
            }
        }
    }
    for (study, name) in PREDICTED_ONLY {
        let file = repository.root.join("studies").join(study).join(name).with_extension("yaml");
        match carry_out(&program, &directory, &file, study, &PREDICTED) {
            Ok(count) => trials[1] += count,
            Err(error) => failures.push(format!("stormeter predict of {study}/{name}: {error}")),
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let [measured, predicted] = trials;
    Ok(format!("{} studies, {measured} trials, {predicted} predicted", STUDIES.len()))
}

/// One study in one way, to its last trial and into the table; gives the number of trials.
fn carry_out(
    program: &Path,
    directory: &Path,
    file: &Path,
    study: &str,
    way: &Way,
) -> Result<usize, String> {
    let results = format!("{study}-{}.db", way.command);
    let page = format!("{study}-{}.html", way.command);
    let mut command = Command::new(program);
    command.current_dir(directory).arg(way.command).arg(file);
    command.args(["--output", &results, "--html", &page, "--quiet", "--json"]);
    let done = command.output().map_err(|error| format!("it cannot be started: {error}"))?;
    if !done.status.code().is_some_and(|code| way.codes.contains(&code)) {
        return Err(format!("{}\n{}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    let report: Value = serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("its JSON cannot be read: {error}"))?;
    let trials = trials(&report, way)?;
    let bytes = std::fs::metadata(directory.join(&page)).map_or(0, |page| page.len());
    if bytes == 0 || bytes > MOST_PAGE_BYTES {
        return Err(format!("its page has {bytes} bytes"));
    }
    let mut replicate = Command::new(program);
    let option = format!("--{}", way.column);
    replicate.current_dir(directory).args(["replicate", study, &option, &results, "--json"]);
    let table: Value = serde_json::from_str(&output(&mut replicate)?)
        .map_err(|error| format!("the table of replicate cannot be read: {error}"))?;
    if answered(&table, way.column) == 0 {
        return Err(format!("no finding could be asked of what was {}", way.column));
    }
    Ok(trials)
}

/// The trials of a report, all of them sound, and for a prediction what holds every cell back.
fn trials(report: &Value, way: &Way) -> Result<usize, String> {
    let count = |name: &str| report["status"][name].as_u64().unwrap_or(u64::MAX);
    if count("failed_trials") != 0 || count("trials") == 0 {
        return Err(format!("trials failed: {}", report["status"]));
    }
    if way.column == PREDICTED.column {
        let list = |value: &Value| value.as_array().map_or(0, Vec::len);
        let (cells, told) = (list(&report["cells"]), list(&report["prediction"]["cells"]));
        if told != cells {
            return Err(format!("{told} of {cells} cells are told what holds them back"));
        }
    }
    Ok(count("trials") as usize)
}

/// Findings that the results answered, whatever they said.
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
        let report = |failed: u32, cells: &[u32], told: &[u32]| {
            json!({
                "status": {"trials": 6, "failed_trials": failed},
                "cells": cells,
                "prediction": {"cells": told},
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
