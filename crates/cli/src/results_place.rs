//! Where results files are kept unless the command line names a place: in one directory of the user, so that `list`
//! finds them all and no working directory fills with them.
//!
//! The directory is the user's for data, unless STORMETER_RESULTS names another. Commands name results after studies,
//! and the same names occur in many working directories; relative datastores mean something else in each. Therefore a
//! name there has the working directory's mark: `farm.db` is `farm.1a2b3c4d.db`. The name alone is found again by
//! commands that run in the same directory.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::user_directory::{self, Kind};

/// The variable that names the directory.
pub(crate) const VARIABLE: &str = "STORMETER_RESULTS";
/// Permissions of a directory that is made, as the specification has them.
const MODE: u32 = 0o700;

/// The directory of results; `None` if the environment says nothing of a home.
pub(crate) fn directory() -> Option<PathBuf> {
    directory_of(|name| std::env::var_os(name))
}

fn directory_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = variable(VARIABLE).filter(|value| !value.is_empty());
    named.map(PathBuf::from).or_else(|| user_directory::of(Kind::Data, variable))
}

/// The directory of results, made if it is missing; the working directory, with a message, without a home.
///
/// # Errors
/// It cannot be made.
pub(crate) fn place() -> Result<PathBuf, Failure> {
    let Some(directory) = directory() else {
        eprintln!(
            "HOME is not set: results go to the working directory ({VARIABLE} names another)"
        );
        return Ok(PathBuf::new());
    };
    let made = std::fs::DirBuilder::new().recursive(true).mode(MODE).create(&directory);
    made.map_err(|error| {
        Failure::File(format!(
            "the directory of results {} cannot be made: {error}; give --output a file, or name another \
             directory in {VARIABLE}",
            directory.display()
        ))
    })?;
    Ok(directory)
}

/// The results file of a command: `given`, `name` in it if it is a directory, or `name` in the directory of results,
/// marked by `whose` directory it is.
///
/// # Errors
/// See [`place`].
pub(crate) fn placed(given: Option<&Path>, name: &str, whose: &Path) -> Result<PathBuf, Failure> {
    match given {
        Some(directory) if is_directory(directory) => Ok(directory.join(name)),
        Some(file) => Ok(file.to_owned()),
        None => {
            let place = place()?;
            let name = marked(name, &place, whose);
            // Without the dot it is the name that a user would type.
            Ok(if place == Path::new(".") { name.into() } else { place.join(name) })
        }
    }
}

/// Whether a path for a results file means a directory for it.
pub(crate) fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/") || path.is_dir()
}

/// The file that a path means: a name alone that is no file here is one in the directory of results, with this
/// directory's mark or as it is.
pub(crate) fn found(path: &Path) -> PathBuf {
    match (path.file_name() == Some(path.as_os_str()), directory()) {
        (true, Some(directory)) if !path.exists() => found_in(&directory, path),
        _ => path.to_owned(),
    }
}

fn found_in(directory: &Path, name: &Path) -> PathBuf {
    let marked = marked(&name.to_string_lossy(), directory, Path::new(""));
    let known = [directory.join(marked), directory.join(name)].into_iter().find(|it| it.is_file());
    known.unwrap_or_else(|| name.to_owned())
}

/// The shortest name by which commands run here find a results file.
pub(crate) fn named_here(path: &Path) -> PathBuf {
    let short = directory().and_then(|directory| {
        let end = marked(".db", &directory, Path::new(""));
        let name = path.file_name()?.to_string_lossy().strip_suffix(&end)?.to_owned();
        Some(PathBuf::from(format!("{name}.db")))
    });
    short.filter(|short| found(short) == path).unwrap_or_else(|| path.to_owned())
}

/// The files that commands run here may have written: those of the given directory, or those with this directory's mark
/// in the directory of results and all of this directory.
pub(crate) fn from_here(given: Option<&Path>) -> Vec<PathBuf> {
    let files = |directory: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let here = files(given.unwrap_or(Path::new(".")));
    let Some(directory) = directory().filter(|_| given.is_none()) else { return here };
    let end = marked(".db", &directory, Path::new(""));
    let is_marked = |path: &PathBuf| path.as_os_str().as_bytes().ends_with(end.as_bytes());
    files(&directory).into_iter().filter(is_marked).chain(here).collect()
}

/// A name with the mark of a directory before its extension; without one in the directory itself.
fn marked(name: &str, place: &Path, whose: &Path) -> String {
    let whose = if whose.as_os_str().is_empty() { Path::new(".") } else { whose };
    match (whose.canonicalize(), place.canonicalize()) {
        (Ok(whose), Ok(place)) if whose == place => name.to_owned(),
        (Err(_), _) => name.to_owned(),
        (Ok(whose), _) => {
            let mark = crc32c::crc32c(whose.as_os_str().as_bytes());
            let stem = name.strip_suffix(".db").unwrap_or(name);
            format!("{stem}.{mark:08x}.db")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where() {
        let of = |variables: &[(&str, &str)]| {
            let variable = |name: &str| variables.iter().find(|(known, _)| *known == name);
            directory_of(|name| variable(name).map(|(_, value)| value.into()))
        };
        let home = ("HOME", "/users/me");
        assert_eq!(of(&[home]), Some("/users/me/.local/share/stormeter".into()));
        assert_eq!(of(&[home, (VARIABLE, "")]), of(&[home]));
        assert_eq!(of(&[home, (VARIABLE, "here")]), Some("here".into()));
        assert_eq!(of(&[(VARIABLE, ""), ("HOME", "")]), None);
    }

    #[test]
    fn equal_names_of_different_directories_are_different_files() {
        let place = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| place.path().join(name));
        for directory in [&one, &other] {
            std::fs::create_dir(directory).unwrap();
        }
        let name = |whose: &Path| marked("farm.db", place.path(), whose);
        assert_ne!(name(&one), name(&other));
        assert_eq!(name(&one), name(&one.join("../one")));
        assert!(name(&one).starts_with("farm.") && name(&one).ends_with(".db"), "{}", name(&one));
        assert_eq!(name(place.path()), "farm.db", "a file of that directory itself");
    }

    #[test]
    fn a_directory_given_for_the_file_holds_it_under_its_own_name() {
        let place = tempfile::tempdir().unwrap();
        let placed = |given: &Path| placed(Some(given), "farm.db", Path::new("")).unwrap();
        assert_eq!(placed(place.path()), place.path().join("farm.db"));
        assert_eq!(placed(&place.path().join("x.db")), place.path().join("x.db"));
        assert_eq!(placed(Path::new("./")), Path::new("./farm.db"));
        assert_eq!(placed(Path::new("new/")), Path::new("new/farm.db"));
    }

    #[test]
    fn a_name_alone_is_found_where_results_are() {
        let place = tempfile::tempdir().unwrap();
        let found = |name: &str| found_in(place.path(), Path::new(name));
        assert_eq!(found("farm.db"), Path::new("farm.db"), "nowhere");
        std::fs::write(place.path().join("farm.db"), "").unwrap();
        assert_eq!(found("farm.db"), place.path().join("farm.db"));
        let own = place.path().join(marked("farm.db", place.path(), Path::new("")));
        std::fs::write(&own, "").unwrap();
        assert_eq!(found("farm.db"), own, "that of this directory comes first");
    }
}
