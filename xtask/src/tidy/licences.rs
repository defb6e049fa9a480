//! Licences: ours are declared, and those of dependencies are on the list of allowed ones.
//!
//! The list is that of deny.toml, so that there is only one. This check exists in addition to `cargo deny` because
//! it needs neither network nor cargo-deny, so it runs on every change; expressions are read by the same crate that
//! cargo-deny uses.

use spdx::{Expression, LicenseReq, Licensee, ParseMode};

use super::finding::Finding;
use crate::metadata::Package;

/// Checks the packages against the list in deny.toml.
pub(crate) fn check(packages: &[Package], deny: &str) -> Vec<Finding> {
    let Some((line, allowed)) = allowed(deny) else {
        let text = "no list of allowed licences: allow = [\"MIT\", …] under [licenses]".into();
        return vec![Finding::in_file("deny.toml", 1, text)];
    };
    let mut findings = Vec::new();
    for package in packages {
        let licence = package.license.as_deref().unwrap_or_default();
        if package.ours {
            let missing = [("description", &package.description), ("license", &package.license)];
            for (field, _) in missing.iter().filter(|(_, value)| value.is_none()) {
                let text = format!("the package has no {field}; state it");
                findings.push(Finding::in_file(&package.manifest, 1, text));
            }
        } else if !permits(licence, &allowed) {
            let text = format!(
                "{} {} has the licence '{licence}', which is not allowed; use another package, or \
                 allow the licence if it may be linked into a program under MIT or Apache-2.0",
                package.name, package.version
            );
            findings.push(Finding::in_file("deny.toml", line, text));
        }
    }
    findings
}

/// The list and the line on which it starts.
fn allowed(deny: &str) -> Option<(usize, Vec<&str>)> {
    let section = deny.find("[licenses]")?;
    let start = section + deny[section..].find("\nallow = [")? + 1;
    let list = &deny[start..start + deny[start..].find(']')?];
    let line = deny[..start].lines().count() + 1;
    let names = list.lines().map(|line| line.split('#').next().unwrap_or_default());
    Some((line, names.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()))
}

/// Whether an SPDX licence expression can be met with the allowed licences. `/` is the old way to
/// write OR.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let allowed: Vec<Licensee> =
        allowed.iter().filter_map(|name| Licensee::parse(name).ok()).collect();
    let is_allowed = |wanted: &LicenseReq| allowed.iter().any(|one| one.satisfies(wanted));
    Expression::parse_mode(expression, ParseMode::LAX)
        .is_ok_and(|expression| expression.evaluate(is_allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str =
        "[advisories]\n[licenses]\nallow = [\n  \"MIT\", # \"GPL-3.0\"\n  \"Zlib\",\n]\n";

    fn package(ours: bool, license: Option<&str>) -> Package {
        Package {
            name: "a".into(),
            version: "1.0.0".into(),
            ours,
            manifest: "crates/a/Cargo.toml".into(),
            license: license.map(str::to_owned),
            ..Package::default()
        }
    }

    #[test]
    fn the_list_is_that_of_deny_toml() {
        assert_eq!(allowed(DENY), Some((3, vec!["MIT", "Zlib"])));
        assert_eq!(allowed("[licenses]\nallow = [\"MIT\"]\n"), Some((2, vec!["MIT"])));
        assert_eq!(check(&[], "[licenses]\n").len(), 1);
    }

    #[test]
    fn expressions_are_met_or_not() {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "MIT AND Zlib",
            "(MIT OR GPL-3.0) AND Zlib",
            "GPL-3.0 AND GPL-2.0 OR MIT",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(permits(good, &allowed), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "Apache-2.0",
            "MIT WITH LLVM-exception",
            "(MIT OR GPL-3.0) AND GPL-2.0",
            "(MIT",
            "MIT Zlib",
            "X OR MIT OR",
        ] {
            assert!(!permits(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn a_dependency_without_an_allowed_licence_is_found() {
        assert!(check(&[package(false, Some("MIT"))], DENY).is_empty());
        for license in [Some("GPL-3.0"), None] {
            let found = check(&[package(false, license)], DENY);
            assert_eq!(found.len(), 1);
            assert!(found[0].to_string().starts_with("deny.toml:3: a 1.0.0 has"), "{found:?}");
        }
    }

    #[test]
    fn our_packages_state_what_they_are() {
        let found = check(&[package(true, None)], DENY);
        assert_eq!(found.len(), 2);
        assert!(found[0].to_string().contains("no description"));
        let described = Package { description: Some("a".into()), ..package(true, Some("MIT")) };
        assert!(check(&[described], DENY).is_empty());
    }
}
