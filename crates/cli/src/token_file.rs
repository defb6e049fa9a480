//! Files with a token, for those who watch a run from elsewhere.

use std::path::Path;

use crate::exit::Failure;

/// The longest file of a token that is read.
const MOST_BYTES: u64 = 4096;

/// The text of a token file.
pub(crate) fn token_text(path: &Path) -> Result<String, Failure> {
    let wrong = |why: String| {
        Failure::Usage(format!("the token file {} cannot be read: {why}", path.display()))
    };
    let found = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(wrong("it is no small file".into()));
    }
    std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))
}
