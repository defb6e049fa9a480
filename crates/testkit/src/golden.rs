//! Texts that are compared with committed files, to the letter.

use std::path::Path;

/// Fails unless the file has exactly this text. With `UPDATE_GOLDEN=1` the file is written first; read the
/// difference then.
#[track_caller]
pub fn assert_golden(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    let name = path.display();
    assert!(golden == text, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now:\n{text}");
}
