//! The reports that an index of results links to: pages next to it, named after the results files.
//!
//! A page is written where it is missing or older than its result, so that the next index takes no time. Only pages of
//! this program are replaced: the name may be that of something else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use stormeter_conclude::conclude;
use stormeter_kept::{Content, Kept, State, index_row};
use stormeter_report::index::IndexRow;
use stormeter_report::{HEAD_BYTES, is_page, printable};
use stormeter_results::ResultsFile;

use crate::commands::compare_files;
use crate::exit::Failure;
use crate::output::{escaped_for_url, is_stdout, report_of};
use crate::settings::of_header;
use crate::sources;

/// The rows of an index, with links to the reports that are there; with `threads` these are made first.
pub(super) fn rows(
    all: &[Kept],
    index: &Path,
    threads: Option<usize>,
) -> Result<Vec<IndexRow>, Failure> {
    if is_stdout(index) {
        return match threads.is_some() {
            true => Err(Failure::Usage(
                "--reports writes pages next to the index; give --html a file".into(),
            )),
            false => Ok(all.iter().map(|one| index_row(one, None)).collect()),
        };
    }
    let directory = index.parent().unwrap_or(Path::new(""));
    let names = names(all);
    if let Some(threads) = threads {
        write_all(all, &names, directory, threads);
    }
    let row = |(one, name): (&Kept, &OsString)| {
        let is_there = has_report(one) && is_ours(&directory.join(name)) == Some(true);
        index_row(one, is_there.then(|| escaped_for_url(name)))
    };
    Ok(all.iter().zip(&names).map(row).collect())
}

/// Whether a result has a report of its own: a run that is running has one later.
fn has_report(one: &Kept) -> bool {
    one.content.as_ref().is_ok_and(|content| content.state != State::Running)
}

/// The name of each page. Files of one name in several directories have a number that stands for their path.
fn names(all: &[Kept]) -> Vec<OsString> {
    let stem = |one: &Kept| one.path.file_stem().unwrap_or_default().to_owned();
    let mut count: BTreeMap<OsString, usize> = BTreeMap::new();
    for one in all {
        *count.entry(stem(one)).or_default() += 1;
    }
    let name = |one: &Kept| {
        let mut name = stem(one);
        if count.get(&name).is_some_and(|count| *count > 1) {
            let full = std::path::absolute(&one.path).unwrap_or_else(|_| one.path.clone());
            name.push(format!(".{:08x}", crc32c::crc32c(full.as_os_str().as_bytes())));
        }
        name.push(".report.html");
        name
    };
    all.iter().map(name).collect()
}

/// Writes the pages that are due. One that cannot be made holds up no other.
fn write_all(all: &[Kept], names: &[OsString], directory: &Path, threads: usize) {
    let due: Vec<(&Kept, PathBuf)> = all
        .iter()
        .zip(names)
        .map(|(one, name)| (one, directory.join(name)))
        .filter(|(one, page)| has_report(one) && is_due(one, page))
        .collect();
    let next = AtomicUsize::new(0);
    let some = || {
        while let Some((one, page)) = due.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(reason) = write_one(one, page) {
                let text = format!("no report of {}: {reason}", one.path.display());
                eprintln!("{}", printable(&text));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(due.len()) {
            scope.spawn(some);
        }
        some();
    });
}

fn is_due(one: &Kept, page: &Path) -> bool {
    let written = std::fs::metadata(page).and_then(|found| found.modified());
    let since = written.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let result = one.modified_unix_ms.max(one.log_modified_unix_ms);
    since.is_none_or(|since| (since.as_millis() as u64) < result)
}

fn write_one(one: &Kept, page: &Path) -> Result<(), Failure> {
    if is_ours(page) == Some(false) {
        return Err(Failure::File(format!("{} is another page, and stays", page.display())));
    }
    let is_imported = one.content.as_ref().is_ok_and(|it: &Content| it.state == State::Imported);
    let text = match is_imported {
        true => compare_files::page(&sources::runs(&one.path)?, &one.path)?,
        false => {
            let conclusion = conclude(&ResultsFile::open(&one.path)?)?;
            let names = of_header(&conclusion.header);
            stormeter_report::html(&report_of(conclusion, names))
        }
    };
    std::fs::write(page, text)
        .map_err(|error| Failure::File(format!("{} cannot be written: {error}", page.display())))
}

/// Whether a file is a page of this program; `None` if there is none.
fn is_ours(path: &Path) -> Option<bool> {
    let mut head = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(_) => Some(false),
        Ok(_) => Some(is_page(&head)),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn kept(path: &str) -> Kept {
        Kept {
            path: path.into(),
            bytes: 1,
            modified_unix_ms: 0,
            log_modified_unix_ms: 0,
            content: Err("damaged".into()),
        }
    }

    #[test]
    fn pages_have_names_of_their_own_that_are_safe_in_urls() {
        let all = [kept("/a/x.db"), kept("/b/x.db"), kept("/a/1: <ü>?#%.db")];
        let names = names(&all);
        assert_ne!(names[0], names[1]);
        assert!(names[0].to_string_lossy().starts_with("x."), "{names:?}");
        let href = escaped_for_url(&names[2]);
        assert_eq!(href, "1%3A%20%3C%C3%BC%3E%3F%23%25.report.html");
        assert_eq!(names[2], OsStr::new("1: <ü>?#%.report.html"));
    }
}
