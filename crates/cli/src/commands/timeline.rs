//! `stormeter report` of several results files: a time line of runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stormeter_gate::{GateRun, NamedRun, SidesOptions, timeline};
use stormeter_report::timeline as shown;
use stormeter_study::Metric;

use crate::arguments::ReportOptions;
use crate::arguments_timeline::TimelineOptions;
use crate::color::Color;
use crate::commands::compare_files::{LEVEL, MARGIN, exit, stem};
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, layout, present};
use crate::results_place::found;
use crate::sources;

pub(crate) fn run(
    options: &ReportOptions,
    (names, files): (&[Option<String>], &[String]),
    color: Color,
) -> Result<Exit, Failure> {
    let mut runs: Vec<NamedRun> = Vec::new();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    for (name, file) in names.iter().zip(files) {
        let path = found(Path::new(file));
        check_outputs(&options.show, Some(&path))?;
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(Failure::Usage(format!("{file} is named twice, and is one run")));
        }
        let name = name.clone().unwrap_or_else(|| stem(file, files));
        runs.extend(named(&name, sources::runs(&path)?));
    }
    for (place, run) in runs.iter().enumerate() {
        if runs[..place].iter().any(|other| other.name == run.name) {
            return Err(Failure::Usage(format!(
                "two runs are called {}; give each a name of its own, as in tue=FILE",
                run.name
            )));
        }
    }
    let TimelineOptions { mark, metric, margin, may_differ } = &options.timeline;
    let of = SidesOptions {
        primary: metric.unwrap_or(Metric::Iops),
        metrics: Vec::new(),
        margin: margin.unwrap_or(MARGIN),
        level: LEVEL,
        may_differ: may_differ.iter().copied().collect(),
    };
    let found = timeline(&runs, mark, &of).map_err(|error| Failure::Usage(error.to_string()))?;
    present(
        &options.show,
        || shown::json(&found),
        || shown::terminal(&found, layout(color)),
        || shown::html(&found, env!("CARGO_PKG_VERSION")),
    )?;
    Ok(exit(found.verdicts()))
}

/// The runs of a file: of several, which were imported, each with the name of the file that it is from.
fn named(name: &str, mut runs: Vec<GateRun>) -> Vec<NamedRun> {
    match (runs.len(), runs.pop()) {
        (1, Some(run)) => vec![NamedRun { name: name.to_owned(), run }],
        (_, last) => {
            let all: Vec<GateRun> = runs.into_iter().chain(last).collect();
            let files: Vec<String> = all.iter().map(|run| run.source.clone()).collect();
            let of = |run: GateRun| NamedRun {
                name: format!("{name}/{}", stem(&run.source, &files)),
                run,
            };
            all.into_iter().map(of).collect()
        }
    }
}
