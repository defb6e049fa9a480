//! `stormeter compare` of results that exist, and `stormeter report` of those of other tools.

use std::path::{Path, PathBuf};

use stormeter_gate::{GateRun, NamedRuns, SidesOptions, by_datastore, compared_metrics, sides};
use stormeter_report::sides as shown;
use stormeter_statistics::Verdict;
use stormeter_study::Metric;

use crate::arguments_compare::CompareOptions;
use crate::arguments_show::ShowOptions;
use crate::color::Color;
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, layout, present};
use crate::results_place::found;
use crate::sources::{self, Source};

/// Confidence level of the intervals.
pub(super) const LEVEL: f64 = 0.95;
/// The margin of equivalence where none was given.
pub(super) const MARGIN: f64 = 0.05;

/// Whether these are files with results rather than datastores: no datastore is a regular file.
pub(crate) fn are_files(urls: &[String]) -> Result<bool, Failure> {
    let is_file = |url: &&String| found(Path::new(url)).is_file();
    let (files, others): (Vec<&String>, Vec<&String>) = urls.iter().partition(is_file);
    let Some(other) = others.first() else { return Ok(true) };
    for file in files {
        // Any other file is no datastore either, which is said when it is opened as one.
        if !matches!(sources::read(&found(Path::new(file)))?, Source::Text(_)) {
            return Err(Failure::Usage(format!(
                "{file} is a file with results, and {other} is none; compare results with results, or \
                 datastores with datastores"
            )));
        }
    }
    Ok(false)
}

/// Compares the runs in files: those of one name are repetitions.
pub(crate) fn run(
    options: &CompareOptions,
    (names, files): (&[Option<String>], &[String]),
    color: Color,
) -> Result<Exit, Failure> {
    let mut named: Vec<NamedRuns> = Vec::new();
    for (name, file) in names.iter().zip(files) {
        let runs = sources::runs(&found(Path::new(file)))?;
        let name = name.clone().unwrap_or_else(|| stem(file, files));
        match named.iter_mut().find(|side| side.name == name) {
            Some(side) => side.runs.extend(runs),
            None => named.push(NamedRuns { name, runs }),
        }
    }
    if named.len() < 2 {
        return Err(Failure::Usage(format!(
            "all results are of {}; name another side to compare it with",
            named[0].name
        )));
    }
    if let Some(baseline) = &options.measurement.baseline {
        let place = named.iter().position(|side| side.name == *baseline).ok_or_else(|| {
            let known: Vec<&str> = named.iter().map(|side| side.name.as_str()).collect();
            Failure::Usage(format!("no side is called {baseline}; there are {}", known.join(", ")))
        })?;
        named[..=place].rotate_right(1);
    }
    let sides_options = SidesOptions {
        primary: options.measurement.metric.unwrap_or(Metric::Iops),
        metrics: compared_metrics(),
        margin: options.measurement.margin,
        level: LEVEL,
        may_differ: options.may_differ.iter().copied().collect(),
    };
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    show(&named, &sides_options, (&options.show, &files), color)
}

/// Shows runs of other tools: what they say of each target, side by side.
pub(crate) fn report(
    runs: &[GateRun],
    (options, file): (&ShowOptions, &Path),
    color: Color,
) -> Result<Exit, Failure> {
    let (named, sides_options) = targets(runs, file)?;
    show(&named, &sides_options, (options, &[file.to_owned()]), color)
}

/// The same as a page.
pub(super) fn page(runs: &[GateRun], file: &Path) -> Result<String, Failure> {
    let (named, options) = targets(runs, file)?;
    let sides = sides(&named, &options).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(shown::html(&sides, env!("CARGO_PKG_VERSION")))
}

/// The targets of runs as sides.
fn targets(runs: &[GateRun], file: &Path) -> Result<(Vec<NamedRuns>, SidesOptions), Failure> {
    let options = SidesOptions {
        primary: Metric::Iops,
        metrics: compared_metrics(),
        margin: MARGIN,
        level: LEVEL,
        may_differ: [].into(),
    };
    match by_datastore(runs) {
        named if named.is_empty() => {
            Err(Failure::Usage(format!("{} has no figures that are known", file.display())))
        }
        named => Ok((named, options)),
    }
}

fn show(
    named: &[NamedRuns],
    options: &SidesOptions,
    (show, files): (&ShowOptions, &[PathBuf]),
    color: Color,
) -> Result<Exit, Failure> {
    for file in files {
        check_outputs(show, Some(file))?;
    }
    let sides = sides(named, options).map_err(|error| Failure::Usage(error.to_string()))?;
    present(
        show,
        || shown::json(&sides),
        || shown::terminal(&sides, layout(color)),
        || shown::html(&sides, env!("CARGO_PKG_VERSION")),
    )?;
    Ok(exit(sides.verdicts().into_iter().map(|(.., verdict)| verdict)))
}

/// By the most severe verdict; without any there was nothing to decide.
pub(super) fn exit(verdicts: impl Iterator<Item = Verdict>) -> Exit {
    let of = |verdict| match verdict {
        Verdict::Faster | Verdict::Slower | Verdict::Equivalent => Exit::Done,
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::Invalid => Exit::Invalid,
    };
    verdicts.map(of).max_by_key(|exit| *exit as u8).unwrap_or(Exit::Done)
}

/// The name of a file without its ending; the whole path where two would have one name.
pub(super) fn stem(file: &str, all: &[String]) -> String {
    let stem = |file: &str| {
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| file.to_owned())
    };
    let own = stem(file);
    match all.iter().filter(|other| stem(other) == own).count() {
        0 | 1 => own,
        _ => file.to_owned(),
    }
}
