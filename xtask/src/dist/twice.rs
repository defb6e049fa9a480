//! The packages made twice from nothing, in two places whose names differ in length: they must be the same, byte for
//! byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::child::succeed;
use crate::repository::Repository;
use crate::static_binary::Haste;

use super::once;
use super::packages::contents;

/// Makes them from two clones of the commit; returns the second directory.
///
/// # Errors
/// A build fails, or the packages differ.
pub(super) fn make(repository: &Repository, haste: Haste) -> Result<PathBuf, String> {
    let scratch = repository.scratch("twice")?;
    let mut made = Vec::new();
    for name in ["a", "another-place"] {
        let root = scratch.join(name);
        let mut git = repository.command("git");
        git.arg("-c").arg(format!("safe.directory={}", repository.root.display()));
        succeed(git.args(["clone", "--quiet"]).arg(&repository.root).arg(&root))?;
        let target = root.join("target");
        made.push(once::make(&Repository { root, target }, haste)?);
    }
    compare(&made[0], &made[1])?;
    println!("both builds made the same bytes");
    made.pop().ok_or_else(|| "nothing was made".into())
}

/// Checks that two directories have the same files with the same content.
///
/// # Errors
/// Some differ, or are missing in one: their names.
pub(super) fn compare(one: &Path, other: &Path) -> Result<(), String> {
    let different = different(&contents(one)?, &contents(other)?);
    if different.is_empty() {
        return Ok(());
    }
    Err(format!("{} and {} differ in {}", one.display(), other.display(), different.join(", ")))
}

fn different(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_or_are_missing_are_named() {
        let files = |list: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
            list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let one = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
        assert!(different(&one, &one).is_empty());
        assert_eq!(different(&one, &files(&[("a", "1"), ("b", "x"), ("d", "4")])), ["b", "c", "d"]);
    }
}
