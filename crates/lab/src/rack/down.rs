//! `lab down`: every guest is ended by its own process id, and what the lab made is removed.

use std::path::Path;

use super::directory::Directory;
use crate::error::LabError;

/// What was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// How many guests ran.
    pub guests: usize,
}

/// Ends the lab in `directory`, however it was left: running, half started, killed.
///
/// # Errors
/// There is none, it is another user's, somebody is starting or ending it, or a process does not end.
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
    fn without_a_lab_one_is_told_how_to_start_one() {
        let parent = tempfile::tempdir().unwrap();
        for path in [parent.path().to_owned(), parent.path().join("none")] {
            let error = down(&path).unwrap_err().to_string();
            assert!(error.contains("no lab") && error.contains("lab up"), "{error}");
        }
    }
}
