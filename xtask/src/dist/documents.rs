//! What accompanies the binary: manual pages, completions, licences and the changelog. Pages and completions are what
//! the binary itself prints, so they fit it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::file::File;
use crate::child::output;
use crate::repository::Repository;

/// The same files for all machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Documents {
    /// One for each command; the path is the name, as `stormeter-compare.1`.
    pub(crate) pages: Vec<File>,
    /// The path is the one that the shell looks for, below /usr/share.
    pub(crate) completions: Vec<File>,
    pub(crate) changelog: File,
    /// Those of this repository.
    pub(crate) licences: Vec<File>,
    /// Those of what is linked.
    pub(crate) third_party: File,
    pub(crate) readme: File,
}

/// The shells, with where each looks for completions of installed programs.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/stormeter"),
    ("zsh", "zsh/vendor-completions/_stormeter"),
    ("fish", "fish/vendor_completions.d/stormeter.fish"),
];

impl Documents {
    /// Those that a binary prints, which must run here, and those of the repository.
    ///
    /// # Errors
    /// The binary does not print them, or a file cannot be read.
    pub(crate) fn of(
        repository: &Repository,
        binary: &Path,
        third_party: String,
    ) -> Result<Self, String> {
        let committed = |name: &str| Ok(File::new(name, read(&repository.root.join(name))?));
        let completion = |(shell, path): (&str, &str)| {
            output(Command::new(binary).args(["completions", shell]))
                .map(|text| File::new(path, text))
        };
        Ok(Self {
            pages: pages(binary, &repository.scratch("pages")?)?,
            completions: SHELLS.into_iter().map(completion).collect::<Result<_, String>>()?,
            changelog: committed("CHANGELOG.md")?,
            licences: ["LICENSE-APACHE", "LICENSE-MIT"]
                .into_iter()
                .map(committed)
                .collect::<Result<_, String>>()?,
            third_party: File::new("THIRD-PARTY.txt", third_party),
            readme: committed("README.md")?,
        })
    }
}

fn pages(binary: &Path, directory: &Path) -> Result<Vec<File>, String> {
    output(Command::new(binary).arg("man").arg("--dir").arg(directory))?;
    let failed = |error| format!("{}: {error}", directory.display());
    let entries = std::fs::read_dir(directory).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    paths.sort();
    let page = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        read(&path).map(|bytes| File::new(name, bytes))
    };
    let pages = paths.into_iter().map(page).collect::<Result<Vec<_>, String>>()?;
    let is_there = |name: &str| pages.iter().any(|page| page.path == name);
    if is_there("stormeter.1") && is_there("stormeter-compare.1") {
        return Ok(pages);
    }
    Err(format!("{} printed no manual pages of its commands", binary.display()))
}

/// A file's content.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}
