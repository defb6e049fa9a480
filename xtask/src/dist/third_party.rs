//! The notices of what is linked into the binary: names, versions and licences, and the texts of the licences as the
//! packages bring them, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::linked::{Id, Linked};

/// What no package of cargo brings: the standard library, the C library and SQLite.
const BUILT_IN: &str = include_str!("built_in.txt");
/// How names of files with licences start, in small letters.
const STARTS: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];
const RULE: &str =
    "--------------------------------------------------------------------------------\n";

/// The notices of all packages that are not ours; `directories` are where they are.
///
/// # Errors
/// A package or a text cannot be read.
pub(crate) fn notices(
    packages: &BTreeMap<Id, Linked>,
    directories: &BTreeMap<Id, PathBuf>,
) -> Result<String, String> {
    let mut text =
        String::from("Stormeter is linked with the following, each under its own licence.\n\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (id, package) in packages.iter().filter(|(_, package)| !package.ours) {
        let name = format!("{} {}", id.0, id.1);
        text.push_str(&format!("{name}: {}\n", package.licence));
        let directory =
            directories.get(id).ok_or_else(|| format!("the source of {name} is not known"))?;
        for licence in licences(directory)? {
            texts.entry(licence).or_default().insert(name.clone());
        }
    }
    text.push_str(&format!("\n{RULE}{BUILT_IN}"));
    // In the order of their packages, and not of their own words.
    let mut texts: Vec<_> = texts.into_iter().map(|(licence, names)| (names, licence)).collect();
    texts.sort();
    for (names, licence) in texts {
        let names: Vec<String> = names.into_iter().collect();
        text.push_str(&format!("\n{RULE}{}:\n\n{}\n", names.join(", "), licence.trim_end()));
    }
    Ok(text)
}

/// The texts in files of a directory whose names say so.
fn licences(directory: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("{}: {error}", directory.display());
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_program = name.ends_with(".rs") || name.ends_with(".toml");
        if !path.is_file() || is_program || !STARTS.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        texts.push(text.trim_end().to_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::super::linked::tests::packages;
    use super::*;

    #[test]
    fn each_text_occurs_once_with_all_its_packages() {
        let directory =
            std::env::temp_dir().join(format!("stormeter-notices-{}", std::process::id()));
        let mut directories = BTreeMap::new();
        for (name, version, files) in [
            ("libc", "0.2.1", &[("LICENSE-MIT", "MIT text\r\n"), ("lib.rs", "code")][..]),
            ("sum", "2.0.0", &[("license.md", "MIT text"), ("NOTICE", "Sum notice")]),
        ] {
            let place = directory.join(name);
            std::fs::create_dir_all(&place).unwrap();
            for (file, text) in files {
                std::fs::write(place.join(file), text).unwrap();
            }
            directories.insert((name.to_owned(), version.to_owned()), place);
        }
        let text = notices(&packages(), &directories).unwrap();
        directories.pop_first();
        let missing = notices(&packages(), &directories).unwrap_err();
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(missing.contains("libc 0.2.1"), "{missing}");
        assert!(text.contains("\nlibc 0.2.1: MIT OR Apache-2.0\nsum 2.0.0: ISC\n"), "{text}");
        assert_eq!(text.matches("MIT text").count(), 1);
        assert!(text.contains("libc 0.2.1, sum 2.0.0:\n\nMIT text\n"), "{text}");
        assert!(text.contains("sum 2.0.0:\n\nSum notice\n") && !text.contains("code"), "{text}");
        assert!(text.contains("musl") && !text.contains("stormeter-a"), "{text}");
    }
}
