//! `stormeter list`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stormeter_conclude::conclude;
use stormeter_kept::{Cache, Content, Kept, PrintedList, Summary, candidates, read_all, terminal};
use stormeter_report::index::{self, Index};
use stormeter_report::{brief, subject, wrap};
use stormeter_results::{Header, ResultsError, ResultsFile};

use crate::arguments_kept::ListOptions;
use crate::commands::list_reports::rows;
use crate::exit::{Exit, Failure};
use crate::output::{check_outputs, present, report_of, terminal_width};
use crate::repeat;
use crate::results_place::{VARIABLE, directory};
use crate::settings::of_header;
use crate::user_directory::{self, Kind};

/// Columns of what is not printed on a terminal.
const WIDTH: usize = 100;

pub(crate) fn run(options: &ListOptions) -> Result<Exit, Failure> {
    check_outputs(&options.show, None)?;
    let directories = match options.directories.as_slice() {
        [] => vec![own_directory()?],
        given => given.to_vec(),
    };
    let mut files = Vec::new();
    for directory in &directories {
        files.extend(files_in(directory, !options.directories.is_empty())?);
    }
    let place = cache_place();
    let mut cache = place.as_deref().map(|path| Cache::read(path, &build())).unwrap_or_default();
    let all = read_all(&files, threads(), &cache, &concluded);
    if let Some(place) = &place {
        cache.add(&all);
        // Without it the next list takes longer.
        let _ = cache.write(place);
    }
    let rows = match &options.show.html {
        Some(index) => rows(&all, index, options.reports.then(threads))?,
        None => Vec::new(),
    };
    present(
        &options.show,
        || serde_json::to_value(PrintedList::of(&all)).expect("all keys are strings"),
        || text(&all, &directories, terminal_width().unwrap_or(WIDTH)),
        || {
            let directories = directories.iter().map(|it| it.display().to_string()).collect();
            index::html(&Index { directories, rows }, env!("CARGO_PKG_VERSION"))
        },
    )?;
    Ok(Exit::Done)
}

/// Where it is remembered what files say; `None` without a home.
fn cache_place() -> Option<PathBuf> {
    let own = user_directory::of(Kind::Cache, |name| std::env::var_os(name));
    own.map(|own| own.join("list.json"))
}

/// This build of the program: another one may conclude or word something else.
fn build() -> String {
    let program = std::env::current_exe().and_then(std::fs::metadata);
    let made = program.and_then(|found| Ok((found.len(), found.modified()?)));
    format!("{} {made:?}", env!("CARGO_PKG_VERSION"))
}

fn text(all: &[Kept], directories: &[PathBuf], width: usize) -> String {
    if all.is_empty() {
        let places = directories.iter().map(|directory| directory.display().to_string());
        let places = places.collect::<Vec<_>>().join(", ");
        return format!("No results in {places}\n");
    }
    let mut text = terminal(all, width);
    if all.iter().any(|one| one.content.as_ref().is_ok_and(Content::is_resumable)) {
        let advice = "An interrupted, killed or failed run is resumed by the command that started it; a \
                      comparison also needs --resume.";
        text += &format!("\n{}\n", wrap(advice, width, "", "").join("\n"));
    }
    text
}

/// The directory of results.
pub(super) fn own_directory() -> Result<PathBuf, Failure> {
    directory().ok_or_else(|| {
        Failure::Usage(format!(
            "HOME is not set, so there is no directory of results; name one, here or in {VARIABLE}"
        ))
    })
}

/// The results files of a directory. Before the first run its own directory is missing, which is no mistake.
pub(super) fn files_in(directory: &Path, is_given: bool) -> Result<Vec<PathBuf>, Failure> {
    match candidates(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound && !is_given => Ok(Vec::new()),
        found => found.map_err(|error| {
            Failure::Usage(format!("{} cannot be read: {error}", directory.display()))
        }),
    }
}

/// Results are independent of each other: one thread a processor.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What a file is of, and what it says.
fn concluded(file: &ResultsFile) -> Result<Summary, ResultsError> {
    let conclusion = conclude(file)?;
    let names = of_header(&conclusion.header);
    let report = report_of(conclusion, names);
    Ok(Summary {
        subject: subject_of(&report.header),
        verdict: brief(&report),
        trials: report.status.trials,
        failed_trials: report.status.failed_trials,
        elapsed_ns: report.status.elapsed_ns,
    })
}

/// What a file is of. The servers of a demonstration have other addresses each time.
pub(super) fn subject_of(header: &Header) -> String {
    match repeat::name(&header.command_line) {
        Some("demo") => "demonstration".into(),
        _ => subject(header),
    }
}
