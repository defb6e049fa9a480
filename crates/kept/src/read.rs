//! Finds the results files of a directory and reads them, several at a time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use stormeter_results::{FinishReason, ResultsError, ResultsFile, read_imported};

use crate::cache::Cache;
use crate::file::{Content, Kept, State, Summary};

/// The files of a directory that are results or should be: those that start like results, and those called so
/// (`.db`). Nothing below the directory's own directories, no hidden file. In the order of their names.
///
/// # Errors
/// The directory cannot be read. A missing directory is an error, too.
pub fn candidates(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_file = !is_hidden && path.is_file();
        let is_called_so = path.extension().is_some_and(|extension| extension == "db");
        if is_file && (is_called_so || ResultsFile::is_one(&path).unwrap_or(false)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads files on that many threads, the newest first. `summary` says what a file is of; a file that it cannot read is
/// in the list with the reason. What the cache has is not read again.
pub fn read_all(
    paths: &[PathBuf],
    threads: usize,
    cache: &Cache,
    summary: &(impl Fn(&ResultsFile) -> Result<Summary, ResultsError> + Sync),
) -> Vec<Kept> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut read = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            read.push(one(path, cache, summary));
        }
        read
    };
    let mut all: Vec<Kept> = std::thread::scope(|scope| {
        let started: Vec<_> = (1..threads.min(paths.len())).map(|_| scope.spawn(some)).collect();
        let mut all = some();
        for thread in started {
            match thread.join() {
                Ok(read) => all.extend(read),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by(|a, b| b.at_unix_ms().cmp(&a.at_unix_ms()).then_with(|| a.path.cmp(&b.path)));
    all
}

fn one(
    path: &Path,
    cache: &Cache,
    summary: &impl Fn(&ResultsFile) -> Result<Summary, ResultsError>,
) -> Kept {
    // A run that is killed leaves its last trials in the log.
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let (length, modified_unix_ms) = length_and_time(path);
    let (log_length, log_modified_unix_ms) = length_and_time(Path::new(&log));
    let mut kept = Kept {
        path: path.to_owned(),
        bytes: length + log_length,
        modified_unix_ms,
        log_modified_unix_ms,
        content: Err(String::new()),
    };
    kept.content = match cache.content(&kept).filter(|_| !ResultsFile::is_in_use(path)) {
        Some(known) => Ok(known.clone()),
        None => match content(path, summary) {
            Err(ResultsError::Imported { .. }) => imported(&kept),
            read => read,
        }
        .map_err(|error| error.to_string()),
    };
    kept
}

/// The length of a file in bytes, and when it was last written, in milliseconds since 1970-01-01 UTC; zeros if there is
/// none.
fn length_and_time(path: &Path) -> (u64, u64) {
    let Ok(found) = std::fs::metadata(path) else { return (0, 0) };
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (found.len(), since.map_or(0, |since| since.as_millis() as u64))
}

fn content(
    path: &Path,
    summary: &impl Fn(&ResultsFile) -> Result<Summary, ResultsError>,
) -> Result<Content, ResultsError> {
    let file = ResultsFile::open(path)?;
    let header = file.header()?;
    let finished = file.finished()?;
    let state = match finished.as_ref().map(|finished| &finished.reason) {
        _ if ResultsFile::is_in_use(path) => State::Running,
        None => State::Killed,
        Some(FinishReason::Interrupted) => State::Interrupted,
        Some(FinishReason::Failed { .. }) => State::Failed,
        Some(
            FinishReason::PrecisionReached
            | FinishReason::TimeLimit
            | FinishReason::MaxBlocks
            | FinishReason::Invalid,
        ) => State::Complete,
    };
    Ok(Content {
        started_unix_ms: header.created_unix_ms,
        ended_unix_ms: finished.map(|finished| finished.finished_unix_ms),
        state,
        is_predicted: header.prediction.is_some(),
        made_by: format!("stormeter {}", header.stormeter_version),
        summary: summary(&file)?,
    })
}

/// The most files that are named of which results were imported.
const MOST_NAMES: usize = 3;

/// Results of other tools: a file is named after those that it is from.
fn imported(kept: &Kept) -> Result<Content, ResultsError> {
    let sources = read_imported(&kept.path)?;
    let mut names: Vec<String> = Vec::new();
    let mut made_by: Vec<String> = Vec::new();
    for source in &sources {
        let name = Path::new(&source.file).file_name();
        names.push(name.map_or(source.file.clone(), |name| name.to_string_lossy().into_owned()));
        let version = source.imported.version.iter().map(|version| format!(" {version}"));
        let program = format!("{}{}", source.imported.tool, version.collect::<String>());
        if !made_by.contains(&program) {
            made_by.push(program);
        }
    }
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let began =
        sources.iter().flat_map(|source| source.imported.runs.iter().map(|run| run.began_s));
    let first = began.flatten().filter(|began| *began >= 0.0).min_by(f64::total_cmp);
    let runs: usize = sources.iter().map(|source| source.imported.runs.iter().count()).sum();
    Ok(Content {
        started_unix_ms: first.map_or(kept.modified_unix_ms, |began| (began * 1e3) as u64),
        ended_unix_ms: None,
        state: State::Imported,
        is_predicted: false,
        made_by: made_by.join(", "),
        summary: Summary {
            subject: format!("{}{more}", names.join(", ")),
            trials: u32::try_from(runs).unwrap_or(u32::MAX),
            ..Summary::default()
        },
    })
}
