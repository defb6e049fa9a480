//! The full validation of the simulator against known truths: exact theory, published findings that were left out of
//! the fit, and storage that is measured. The tests include short forms of the first two.

use crate::child::{output, succeed};
use crate::measured;
use crate::repository::Repository;

/// The page with the figures of published findings.
const PAGE: &str = "docs/model-error.md";
/// Where its generated part begins.
const GENERATED: &str = "<!-- What follows is written by `cargo xtask truth published`. -->\n";

/// The chore `truth`: all parts, or the named one.
pub(crate) fn run(repository: &Repository, only: Option<&str>) -> Result<(), String> {
    match only.map(|word| word.trim_start_matches('-')) {
        None => theory(repository)
            .and_then(|()| published(repository))
            .and_then(|()| measured::machine(repository))
            .and_then(|()| measured::lab(repository)),
        Some("theory") => theory(repository),
        Some("machine") => measured::machine(repository),
        Some("lab") => measured::lab(repository),
        Some("published") => published(repository),
        Some(other) => {
            Err(format!("{other} is no truth; there are theory, published, machine and lab"))
        }
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
