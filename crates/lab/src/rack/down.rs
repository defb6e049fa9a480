//! `lab down`: ends every guest by its process id and removes what the lab created.

use std::path::Path;

use super::directory::Directory;
use crate::error::LabError;

/// The result of ending a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Number of guests that were running.
    pub guests: usize,
}

/// Ends the lab in `directory`, whatever its state: running, partly started, killed.
///
/// # Errors
/// There is no lab, it belongs to another user, another process is starting or ending it, or a
/// process does not end.
pub fn down(directory: &Path) -> Result<Ended, LabError> {
    let directory = Directory::open(directory)?;
    let guests = directory.end_guests()?;
    directory.clear()?;
    Ok(Ended { guests })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_lab_the_error_says_how_to_start_one() {
        let parent = tempfile::tempdir().unwrap();
        for path in [parent.path().to_owned(), parent.path().join("none")] {
            let error = down(&path).unwrap_err().to_string();
            assert!(error.contains("no lab") && error.contains("lab up"), "{error}");
        }
    }
}
