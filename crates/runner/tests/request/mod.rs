//! A study to be carried out, as the tests of this crate begin it.

use std::path::Path;

use stormeter_runner::StudyRequest;
use stormeter_study::parse_study;

/// The study of this text, with its results in `directory`.
pub(crate) fn request(directory: &Path, text: &str) -> StudyRequest {
    StudyRequest {
        plan: parse_study(text).unwrap_or_else(|errors| panic!("{errors}")),
        output: directory.join("r.db"),
        destroy_data: vec![],
        passwords: vec![],
        addresses: vec![],
        redo_invalid: false,
        command_line: vec![],
        version: "test".into(),
    }
}
