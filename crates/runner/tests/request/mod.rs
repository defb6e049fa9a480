//! A study to be carried out, as the tests of this crate begin it.

use std::path::Path;

use stormeter_runner::{Request, Resume};
use stormeter_study::parse_study;

/// The study of this text, with its results in `directory`.
pub(crate) fn request(directory: &Path, text: &str) -> Request {
    let plan = parse_study(text).unwrap_or_else(|errors| panic!("{errors}"));
    Request { resume: Resume::IfPresent, ..Request::new(plan, directory.join("r.db")) }
}
