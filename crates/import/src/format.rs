//! The formats that are read, recognised by content.

use crate::error::ImportError;
use crate::run::Imported;

/// A format.
struct Format {
    is: fn(&str) -> bool,
    read: fn(&str) -> Result<Imported, ImportError>,
}

/// All formats, the most particular first.
const FORMATS: [Format; 0] = [];

/// Reads results in any format that is known; `None` for other text.
///
/// # Errors
/// The text is of a format that is known and cannot be read to its end: what is wrong, and where.
pub fn read(text: &str) -> Option<Result<Imported, ImportError>> {
    FORMATS.iter().find(|format| (format.is)(text)).map(|format| (format.read)(text))
}
