//! The published studies at the scale that runs here: every `small.yaml` to its last trial, its page, and
//! the findings held against what it measured.
//!
//! What is judged is that the program does it, not what it finds: verdicts are the machine's.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::child::{output, succeed};
use crate::repository::Repository;
use crate::steps::Finding;

const STUDIES: [&str; 5] = ["virtual-physical", "nfs-datastore", "tr3808", "vsan", "mpls-servers"];
/// The page of a study of any size that people open.
const MOST_PAGE_BYTES: u64 = 5_000_000;
/// Done; a `must` answered no; one that is open; a law broken. A busy machine may do all of these.
const CODES: [i32; 4] = [0, 3, 4, 5];

/// Runs them all.
pub(crate) fn check(repository: &Repository) -> Finding {
    succeed(&mut repository.cargo(&["build", "--release", "--quiet", "--package", "stormeter"]))?;
    let program = repository.target.join("release/stormeter");
    let directory = repository.scratch("studies")?;
    let mut trials = 0;
    for study in STUDIES {
        trials += run(repository, &program, &directory, study)
            .map_err(|error| format!("{study}: {error}"))?;
        println!("{study} ran to its end");
    }
    let _ = std::fs::remove_dir_all(&directory);
    Ok(format!("{} studies, {trials} trials", STUDIES.len()))
}

fn run(
    repository: &Repository,
    program: &Path,
    directory: &Path,
    study: &str,
) -> Result<usize, String> {
    let file = repository.root.join("studies").join(study).join("small.yaml");
    let (results, page) = (format!("{study}.db"), format!("{study}.html"));
    let mut command = Command::new(program);
    command.current_dir(directory).arg("run").arg(&file);
    command.args(["--output", &results, "--html", &page, "--quiet", "--json"]);
    let done = command.output().map_err(|error| format!("it cannot be started: {error}"))?;
    if !done.status.code().is_some_and(|code| CODES.contains(&code)) {
        return Err(format!("{}\n{}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    let report: Value = serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("its JSON cannot be read: {error}"))?;
    let count = |name: &str| report["status"][name].as_u64().unwrap_or(u64::MAX);
    if count("failed_trials") != 0 || count("trials") == 0 {
        return Err(format!("trials failed: {}", report["status"]));
    }
    let bytes = std::fs::metadata(directory.join(&page)).map_or(0, |page| page.len());
    if bytes == 0 || bytes > MOST_PAGE_BYTES {
        return Err(format!("its page has {bytes} bytes"));
    }
    let mut replicate = Command::new(program);
    replicate.current_dir(directory).args(["replicate", study, "--measured", &results, "--json"]);
    let table: Value = serde_json::from_str(&output(&mut replicate)?)
        .map_err(|error| format!("the table of replicate cannot be read: {error}"))?;
    let asked = observed(&table);
    if asked == 0 {
        return Err("no finding could be asked of what was measured".into());
    }
    Ok(count("trials") as usize)
}

/// Findings that the measurements answered, whatever they said.
fn observed(table: &Value) -> usize {
    let findings = table["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let answered = |finding: &&Value| {
        finding["measured"]["answers"]
            .as_array()
            .is_some_and(|answers| answers.iter().any(|answer| !answer["reply"].is_null()))
    };
    findings.iter().filter(answered).count()
}
