//! Deletes a results file of a directory, and nothing else.

use std::path::{Path, PathBuf};

use stormeter_results::{ResultsError, ResultsFile};

/// A file is not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// It is a link, or lies elsewhere.
    #[error("{} does not lie in {} itself", path.display(), directory.display())]
    Outside {
        /// The file.
        path: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// It is not a results file, in use, or cannot be deleted.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

/// Deletes a results file that lies in the directory itself and that no run writes, with its logs.
///
/// # Errors
/// `Outside` if the file is a symbolic link or lies elsewhere; otherwise those of [`ResultsFile::delete`].
pub fn delete(directory: &Path, path: &Path) -> Result<(), DeleteError> {
    let real = |path: &Path| path.canonicalize().ok();
    let lies_in = real(path).and_then(|path| path.parent().map(Path::to_path_buf));
    let is_inside = lies_in.is_some() && lies_in == real(directory) && !path.is_symlink();
    if !is_inside && path.exists() {
        return Err(DeleteError::Outside { path: path.into(), directory: directory.into() });
    }
    Ok(ResultsFile::delete(path)?)
}
