//! The full validation of the simulator against known truths: exact theory, and this machine. The tests
//! include the short form of the theory; the third truth, the published studies, is a step of the tests.

use std::process::Command;

use serde_json::Value;

use crate::child::{output, succeed};
use crate::repository::Repository;

/// The largest mean error of predictions for cells that the fit has not seen.
const MOST_ERROR: f64 = 0.15;

/// The chore `truth`: both parts, or the named one.
pub(crate) fn run(repository: &Repository, only: Option<&str>) -> Result<(), String> {
    match only {
        None => theory(repository).and_then(|()| machine(repository)),
        Some("theory") => theory(repository),
        Some("machine") => machine(repository),
        Some(other) => Err(format!("{other} is no truth; there are theory and machine")),
    }
}

/// Queues and closed networks with exact solutions: everything marked as long in
/// crates/simulator/tests/theory.
fn theory(repository: &Repository) -> Result<(), String> {
    succeed(&mut repository.cargo(&[
        "test",
        "--release",
        "--package",
        "stormeter-simulator",
        "--test",
        "theory",
        "--",
        "--ignored",
        "--nocapture",
    ]))
}

/// The study of examples/calibration: measures it, fits a part of the cells and predicts the rest.
/// Other work on the machine affects the measurements: leave the machine alone meanwhile.
fn machine(repository: &Repository) -> Result<(), String> {
    succeed(&mut repository.cargo(&["build", "--release", "--quiet", "--package", "stormeter"]))?;
    let program = repository.target.join("release/stormeter");
    let example = repository.root.join("examples/calibration");
    let directory = repository.scratch("truth")?;
    let stormeter = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(&directory).args(words);
        command
    };
    let path = |name: &str| example.join(name).display().to_string();
    let (study, site) = (path("study.yaml"), path("site.yaml"));
    output(&mut stormeter(&["run", &study, "--output", "measured.db", "--quiet", "--json"]))?;
    let calibrate = ["calibrate", "measured.db", "--site", &site, "--hold-back", "40%"];
    let metrics = ["--metric", "latency-mean", "--metric", "iops", "--quiet"];
    let words = [&calibrate[..], &metrics[..]].concat();
    let text = output(&mut stormeter(&words))?;
    print!("{text}");
    let json = output(&mut stormeter(&[&words[..], &["--json"]].concat()))?;
    let found: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_dir_all(&directory);
    for error in found["errors"].as_array().into_iter().flatten() {
        let mean = error["mean_absolute"].as_f64().unwrap_or(f64::INFINITY);
        if mean > MOST_ERROR {
            return Err(format!(
                "{} of unseen cells is off by {:.1} % on average, more than {:.0} %; was the machine \
                 busy?",
                error["metric"],
                100.0 * mean,
                100.0 * MOST_ERROR
            ));
        }
    }
    Ok(())
}
