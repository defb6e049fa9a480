//! The form of results files. Each form has its way up to the next one in `upgrade-*.sql`.

/// The form of the tables. A file of a higher number is refused; one of a lower number is read, and
/// brought to this form before a trial is added to it.
pub const FORMAT_VERSION: i32 = 9;
/// "strm" as SQLite's four-byte application id, which identifies the file to us and to `file`.
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"strm");
/// "stri": the file keeps results of other tools.
pub(crate) const IMPORTED_ID: i32 = i32::from_be_bytes(*b"stri");
