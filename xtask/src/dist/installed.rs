//! The files that a package installs, relative to the root of a system.

use super::documents::Documents;
use super::file::File;

/// What deb and rpm have in common: the binary, compressed manual pages, and completions.
///
/// # Errors
/// A page cannot be compressed.
pub(crate) fn common(binary: &[u8], documents: &Documents) -> Result<Vec<File>, String> {
    let mut files = vec![File::program("usr/bin/stormeter", binary)];
    for page in &documents.pages {
        files.push(page.at(format!("usr/share/man/man1/{}", page.path)).gzipped()?);
    }
    let completions = documents.completions.iter();
    files.extend(completions.map(|file| file.at(format!("usr/share/{}", file.path))));
    Ok(files)
}
