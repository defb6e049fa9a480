//! Files with results, of this program or of others, recognised by their content.

use std::path::{Path, PathBuf};

use stormeter_conclude::{Conclusion, conclude};
use stormeter_import::{FioLogKind, Imported};
use stormeter_results::ResultsFile;

use crate::exit::Failure;

/// What a file is.
pub(crate) enum Source {
    /// A results file of this program.
    Results(Box<Conclusion>),
    /// Results of another tool.
    Imported(Imported),
    /// Some other text.
    Text(String),
}

/// Reads a file of any kind.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if bytes.starts_with(b"SQLite format 3") {
        return Ok(Source::Results(Box::new(conclude(&ResultsFile::open(path)?)?)));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| wrong("is neither text nor a results file".into()))?;
    // The lines of fio's logs are numbers; what they are of is in the file's name alone.
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let log =
        FioLogKind::of_file_name(name).and_then(|kind| stormeter_import::read_fio_log(&text, kind));
    match log.or_else(|| stormeter_import::read(&text)) {
        Some(read) => Ok(Source::Imported(read.map_err(|error| wrong(error.to_string()))?)),
        None => Ok(Source::Text(text)),
    }
}

/// The files that are named: a directory stands for the files in it, in the order of their names.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
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
