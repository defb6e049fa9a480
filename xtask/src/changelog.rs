//! CHANGELOG.md has a dated section for the version of Cargo.toml: packages are made of what is released.

/// Whether the text has a section of the version with a date, as `## 1.2.3 (2026-11-28)`.
///
/// # Errors
/// It has none: what to add.
pub(crate) fn check(text: &str, version: &str) -> Result<(), String> {
    let start = format!("## {version} (");
    let is_date = |text: &str| {
        let parts: Vec<&str> = text.split('-').collect();
        parts.iter().map(|part| part.len()).eq([4, 2, 2])
            && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let dates = text.lines().filter_map(|line| line.strip_prefix(&start)?.strip_suffix(')'));
    if dates.into_iter().any(is_date) {
        return Ok(());
    }
    Err(format!("has no section '{start}YYYY-MM-DD)' for the version of Cargo.toml; add it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_of_a_version_has_a_date() {
        let text = "# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-11-28)\n";
        assert_eq!(check(text, "0.1.0"), Ok(()));
        for (text, version) in [
            (text, "0.2.0"),
            ("## 0.1.0\n", "0.1.0"),
            ("## 0.1.0 (today)\n", "0.1.0"),
            ("## 0.1.0 (2026-11-2x)\n", "0.1.0"),
            ("See ## 0.1.0 (2026-11-28)\n", "0.1.0"),
        ] {
            assert!(check(text, version).unwrap_err().contains(version), "{text}");
        }
    }
}
