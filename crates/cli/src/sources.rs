//! Files with results, of this program or of others, recognised by their content.

use std::io::Read;
use std::path::{Path, PathBuf};

use stormeter_conclude::{Conclusion, conclude};
use stormeter_gate::{GateRun, of_import, of_results};
use stormeter_import::FioLogKind;
use stormeter_results::{ImportedSource, ResultsError, ResultsFile, read_imported};

use crate::exit::Failure;
use crate::results_place::found;

/// Enough to recognise a database.
const HEAD_BYTES: u64 = 16;
/// The most that is read of other files, which are held in memory.
const MOST_BYTES: u64 = 1 << 30;

/// What a file is.
pub(crate) enum Source {
    /// A results file of this program.
    Results(Box<Conclusion>),
    /// Results of other tools, each with the file that it is from.
    Imported(Vec<ImportedSource>),
    /// Some other text.
    Text(String),
}

/// Reads a file of any kind.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let unread = |error: std::io::Error| wrong(format!("cannot be read: {error}"));
    let mut file = std::fs::File::open(path).map_err(unread)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.starts_with(b"SQLite format 3") {
        return match ResultsFile::open(path) {
            Ok(file) => Ok(Source::Results(Box::new(conclude(&file)?))),
            Err(ResultsError::Imported { .. }) => Ok(Source::Imported(read_imported(path)?)),
            Err(error) => Err(error.into()),
        };
    }
    // A disk image may be named by mistake.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(wrong("is larger than 1GiB, and no results that are read here are".into()));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| wrong("is neither text nor a results file".into()))?;
    // The lines of fio's logs are numbers; what they are of is in the file's name alone.
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let log =
        FioLogKind::of_file_name(name).and_then(|kind| stormeter_import::read_fio_log(&text, kind));
    match log.or_else(|| stormeter_import::read(&text)) {
        Some(read) => {
            let imported = read.map_err(|error| wrong(error.to_string()))?;
            Ok(Source::Imported(vec![ImportedSource {
                file: path.display().to_string(),
                imported,
            }]))
        }
        None => Ok(Source::Text(text)),
    }
}

/// The files that are named: a directory stands for the files in it, in the order of their names.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(found(path));
            continue;
        }
        let wrong = |error: std::io::Error| {
            Failure::Usage(format!("{} cannot be read: {error}", path.display()))
        };
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if entry.path().is_file() && !is_hidden {
                inside.push(entry.path());
            }
        }
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

/// The runs in a file: its only one, or those that were imported into it.
pub(crate) fn runs(path: &Path) -> Result<Vec<GateRun>, Failure> {
    // The same file has one name, however it is written.
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match read(path)? {
        Source::Results(conclusion) => {
            Ok(vec![of_results(&full.display().to_string(), &conclusion)])
        }
        Source::Imported(sources) => {
            let run = |source: &ImportedSource| of_import(&source.file, &source.imported);
            Ok(sources.iter().map(run).collect())
        }
        Source::Text(_) => Err(unknown(path)),
    }
}

/// A file holds no results.
pub(crate) fn unknown(path: &Path) -> Failure {
    Failure::Usage(format!(
        "{} holds no results in a format that is read: {}",
        path.display(),
        stormeter_import::formats().collect::<Vec<_>>().join(", ")
    ))
}
