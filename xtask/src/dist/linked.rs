//! The packages that are linked into the binary, and which needs which: `cargo tree` knows the features that are on.

use std::collections::{BTreeMap, BTreeSet};

use crate::child::output;
use crate::repository::Repository;
use crate::target::Target;

/// A package by name and version.
pub(crate) type Id = (String, String);

/// A linked package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Linked {
    /// An SPDX expression; empty if its manifest has none.
    pub(crate) licence: String,
    /// Whether it is of this workspace.
    pub(crate) ours: bool,
    pub(crate) needs: BTreeSet<Id>,
}

/// All of them, the program included. Tests, build scripts and procedural macros are not linked.
///
/// # Errors
/// cargo fails, or prints something unexpected.
pub(crate) fn of(repository: &Repository, target: Target) -> Result<BTreeMap<Id, Linked>, String> {
    let mut cargo =
        repository.cargo(&["tree", "--package", "stormeter", "--target", target.triple]);
    cargo.args(["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "|{p}|{l}"]);
    parse(&output(&mut cargo)?).ok_or_else(|| "cargo tree has another form than expected".into())
}

/// From lines such as `2|clap v4.6.7|MIT OR Apache-2.0 (*)`: the depth, the package, its licence, and whether the
/// packages below it are listed elsewhere. A package of the workspace has its directory after the version.
fn parse(tree: &str) -> Option<BTreeMap<Id, Linked>> {
    let mut packages: BTreeMap<Id, Linked> = BTreeMap::new();
    let mut above: Vec<Id> = Vec::new();
    for line in tree.lines() {
        let mut fields = line.splitn(3, '|');
        let depth: usize = fields.next()?.parse().ok()?;
        let package = fields.next()?;
        let licence = fields.next()?.trim_end_matches(" (*)");
        let mut words = package.split(' ');
        let id: Id = (words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned());
        let ours = words.next().is_some_and(|place| place.starts_with("(/"));
        above.truncate(depth);
        if let Some(parent) = above.last() {
            packages.get_mut(parent)?.needs.insert(id.clone());
        }
        let entry = packages.entry(id.clone()).or_default();
        // Old manifests write / for OR.
        (entry.licence, entry.ours) = (licence.replace('/', " OR "), ours);
        above.push(id);
    }
    (!packages.is_empty()).then_some(packages)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A program with a crate of its own and two others.
    pub(in crate::dist) fn packages() -> BTreeMap<Id, Linked> {
        let tree = "0|stormeter v1.2.3 (/r/crates/cli)|MIT\n1|stormeter-a v1.2.3 (/r/crates/a)|MIT\n\
                    2|libc v0.2.1|MIT/Apache-2.0\n1|sum v2.0.0|ISC\n2|libc v0.2.1|MIT/Apache-2.0 (*)\n";
        parse(tree).unwrap()
    }

    #[test]
    fn edges_follow_from_depths() {
        let packages = packages();
        let id = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        let needs = |name: &str, version: &str| packages[&id(name, version)].needs.clone();
        assert_eq!(packages.len(), 4);
        assert_eq!(
            needs("stormeter", "1.2.3"),
            [id("stormeter-a", "1.2.3"), id("sum", "2.0.0")].into()
        );
        assert_eq!(needs("stormeter-a", "1.2.3"), [id("libc", "0.2.1")].into());
        assert_eq!(needs("sum", "2.0.0"), [id("libc", "0.2.1")].into());
        assert_eq!(packages[&id("libc", "0.2.1")].licence, "MIT OR Apache-2.0");
        assert!(packages[&id("stormeter-a", "1.2.3")].ours && !packages[&id("sum", "2.0.0")].ours);
        assert_eq!(parse("nonsense"), None);
        assert_eq!(parse(""), None);
    }
}
