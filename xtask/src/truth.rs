//! The full validation of the simulator against known truths: exact theory, this machine, and published findings that
//! were left out of the fit. The tests include short forms of the first and of the last.

use std::process::Command;

use serde_json::Value;

use crate::child::{output, succeed};
use crate::repository::Repository;

/// The largest median of the errors of predictions for cells that the fit has not seen.
const MOST_MEDIAN: f64 = 0.15;
/// The largest error of nine of ten of them.
const MOST_OF_NINE_TENTHS: f64 = 0.30;
/// The metrics that are predicted.
const METRICS: [&str; 2] = ["latency-mean", "iops"];

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

/// This machine's storage: a site made from the short measurements of `measure-site`, and its predictions of loads
/// that the fit has never seen. Other work on the machine affects the measurements: leave the machine alone meanwhile.
fn machine(repository: &Repository) -> Result<(), String> {
    succeed(&mut repository.cargo(&["build", "--release", "--quiet", "--package", "stormeter"]))?;
    let program = repository.target.join("release/stormeter");
    let kept_back = repository.root.join("examples/calibration/kept-back.yaml");
    let kept_back = kept_back.display().to_string();
    let directory = repository.scratch("truth")?;
    let stormeter = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(&directory).args(words);
        command
    };
    let measure = ["measure-site", "local=embedded:local", "nfs=embedded:nfs"];
    let how = ["iscsi=embedded:iscsi", "--write", "site.yaml", "--threads", "1", "--quiet"];
    print!("{}", output(&mut stormeter(&[&measure[..], &how[..]].concat()))?);
    let run = ["run", &kept_back, "--output", "seen.db", "--quiet", "--json"];
    let seen = cells(&output(&mut stormeter(&run))?)?;
    let predict = ["predict", &kept_back, "--site", "site.yaml", "--output", "predicted.db"];
    let how = ["--no-elasticity", "--quiet", "--json"];
    let predicted = cells(&output(&mut stormeter(&[&predict[..], &how[..]].concat()))?)?;
    let _ = std::fs::remove_dir_all(&directory);
    judged(&seen, &predicted)
}

/// The figures of a cell by name of the metric.
struct SeenCell {
    label: String,
    figures: Vec<(String, f64)>,
}

/// The cells of a report with their figures.
fn cells(report: &str) -> Result<Vec<SeenCell>, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let cells = report["cells"].as_array().ok_or("the report has no cells")?;
    let read = |cell: &Value| {
        let word = |key: &str| cell[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| cell[key].as_u64().unwrap_or_default();
        let metrics = cell["metrics"].as_array().into_iter().flatten();
        let figures = metrics.filter_map(|metric| {
            Some((metric["metric"].as_str()?.to_owned(), metric["value"].as_f64()?))
        });
        SeenCell {
            label: format!(
                "{}, {}, {} x {}",
                word("datastore"),
                word("workload"),
                number("vms"),
                number("outstanding")
            ),
            figures: figures.filter(|(name, _)| METRICS.contains(&name.as_str())).collect(),
        }
    };
    Ok(cells.iter().map(read).collect())
}

/// Prints each cell with its prediction, and compares the errors with their limits.
fn judged(seen: &[SeenCell], predicted: &[SeenCell]) -> Result<(), String> {
    let mut failed = Vec::new();
    for metric in METRICS {
        let figure = |cells: &[SeenCell], label: &str| {
            let cell = cells.iter().find(|cell| cell.label == label)?;
            cell.figures.iter().find(|(name, _)| name == metric).map(|(_, value)| *value)
        };
        let mut errors: Vec<f64> = Vec::new();
        println!("{metric}: measured, predicted");
        for cell in seen {
            let both = (figure(seen, &cell.label), figure(predicted, &cell.label));
            let (Some(was), Some(said)) = both else {
                return Err(format!("{} has no {metric} in both; look at the run", cell.label));
            };
            let error = said / was - 1.0;
            errors.push(error.abs());
            println!("  {:32} {was:>12.0} {said:>12.0} {:+8.1} %", cell.label, 100.0 * error);
        }
        errors.sort_by(f64::total_cmp);
        let (median, nine_of_ten) = (at(&errors, 0.5), at(&errors, 0.9));
        println!(
            "{metric} of {} unseen cells: median error {:.1} %, nine of ten within {:.1} %, largest {:.1} %",
            errors.len(),
            100.0 * median,
            100.0 * nine_of_ten,
            100.0 * at(&errors, 1.0)
        );
        if errors.is_empty() || median > MOST_MEDIAN || nine_of_ten > MOST_OF_NINE_TENTHS {
            failed.push(metric);
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        metrics => Err(format!(
            "{} of unseen cells: the median error may be {:.0} %, and {:.0} % in nine of ten; was the machine busy?",
            metrics.join(" and "),
            100.0 * MOST_MEDIAN,
            100.0 * MOST_OF_NINE_TENTHS
        )),
    }
}

/// The smallest of these sorted errors that this share of them does not exceed.
fn at(errors: &[f64], share: f64) -> f64 {
    let rank = (share * errors.len() as f64).ceil() as usize;
    errors.get(rank.max(1) - 1).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(number: usize, iops: f64) -> SeenCell {
        let figures = METRICS.map(|metric| (metric.to_owned(), iops)).to_vec();
        SeenCell { label: number.to_string(), figures }
    }

    #[test]
    fn one_cell_in_ten_may_be_far_off_and_two_may_not() {
        let seen: Vec<SeenCell> = (0..10).map(|number| cell(number, 1000.0)).collect();
        let predicted = |far: usize| -> Vec<SeenCell> {
            let value = |number| if number < far { 2000.0 } else { 1100.0 };
            (0..10).map(|number| cell(number, value(number))).collect()
        };
        assert!(judged(&seen, &predicted(1)).is_ok());
        assert!(judged(&seen, &predicted(2)).is_err());
        let biased: Vec<SeenCell> = (0..10).map(|number| cell(number, 1160.0)).collect();
        assert!(judged(&seen, &biased).is_err());
        assert!(judged(&[], &[]).is_err());
        assert!(judged(&seen, &[]).is_err());
    }
}
