//! The full validation of the simulator against known truths: exact theory, this machine, and published findings that
//! were left out of the fit. The tests include short forms of the first and of the last.

use std::process::Command;

use serde_json::Value;

use crate::child::{output, succeed};
use crate::repository::Repository;

/// The largest mean error of predictions for cells that the fit has not seen.
const MOST_ERROR: f64 = 0.15;

/// The page with the figures of published findings.
const PAGE: &str = "docs/model-error.md";
/// Where its generated part begins.
const GENERATED: &str = "<!-- What follows is written by `cargo xtask truth published`. -->\n";

/// The chore `truth`: all parts, or the named one.
pub(crate) fn run(repository: &Repository, only: Option<&str>) -> Result<(), String> {
    match only.map(|word| word.trim_start_matches('-')) {
        None => theory(repository)
            .and_then(|()| published(repository))
            .and_then(|()| machine(repository)),
        Some("theory") => theory(repository),
        Some("machine") => machine(repository),
        Some("published") => published(repository),
        Some(other) => Err(format!("{other} is no truth; there are theory, published and machine")),
    }
}

/// Leaves out each condition of each published study, and each study, and writes what is predicted of it into
/// [`PAGE`].
fn published(repository: &Repository) -> Result<(), String> {
    let text = left_out(repository, &[])?;
    let path = repository.root.join(PAGE);
    let page = read(&path)?;
    let Some((head, _)) = page.split_once(GENERATED) else {
        return Err(format!("{PAGE} has no line {GENERATED}"));
    };
    std::fs::write(&path, format!("{head}{GENERATED}{text}"))
        .map_err(|error| format!("{PAGE}: {error}"))?;
    print!("{text}");
    Ok(())
}

/// The short form: of one study, whose figures have to be those of [`PAGE`], to the last digit.
pub(crate) fn published_in_short(repository: &Repository) -> Result<String, String> {
    let text = left_out(repository, &[SHORT])?;
    let page = read(&repository.root.join(PAGE))?;
    let of_study = format!("| {SHORT} |");
    let rows = || text.lines().filter(|line| line.starts_with(&of_study));
    let missing: Vec<&str> = rows().filter(|row| !page.lines().any(|line| line == *row)).collect();
    match missing.as_slice() {
        [] => Ok(format!("{} figures of {SHORT} as in {PAGE}", rows().count())),
        missing => Err(format!(
            "{PAGE} is out of date; run cargo xtask truth published and look at what changed:\n{}",
            missing.join("\n")
        )),
    }
}

/// The study of the short form: the quickest one.
const SHORT: &str = "virtual-physical";

fn left_out(repository: &Repository, names: &[&str]) -> Result<String, String> {
    let studies = repository.root.join("studies").display().to_string();
    let run = ["run", "--release", "--quiet", "--package", "stormeter-truth", "--", &studies];
    output(&mut repository.cargo(&[&run[..], names].concat()))
}

fn read(path: &std::path::Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
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
