//! Files that are written by hand: studies, sites, defaults.

use std::path::Path;

use crate::exit::Failure;

/// A larger file is something else.
const MOST_BYTES: u64 = 4 << 20;

/// The text of a file written by hand; `what` is its kind, for messages.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String, Failure> {
    let unread = |reason: String| {
        Failure::Usage(format!("the {what} {} cannot be read: {reason}", path.display()))
    };
    let found = std::fs::metadata(path).map_err(|error| unread(error.to_string()))?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(unread("it is not a text file of at most 4MiB".into()));
    }
    let bytes = std::fs::read(path).map_err(|error| unread(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unread("it is not UTF-8; save it as UTF-8 text".into()))
}
