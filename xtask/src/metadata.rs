//! What cargo knows about the workspace and its dependencies.
//!
//! Our own reader: it needs seven fields, and the crate cargo_metadata would bring types for everything,
//! and its own dependencies.

use serde_json::Value;

use crate::child::output;
use crate::repository::Repository;

/// One package, of the workspace or a dependency.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Whether it belongs to the workspace.
    pub(crate) ours: bool,
    /// Relative to the root for packages of the workspace.
    pub(crate) manifest: String,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency that a package declares.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// A dependency of tests only.
    pub(crate) dev: bool,
}

/// All packages that are built on this machine.
///
/// # Errors
/// cargo fails or prints something unexpected.
pub(crate) fn packages(repository: &Repository) -> Result<Vec<Package>, String> {
    let version = output(repository.command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    packages_for(repository, host.ok_or("rustc -vV names no host")?)
}

/// All packages that are built for a target.
///
/// # Errors
/// cargo fails or prints something unexpected.
pub(crate) fn packages_for(repository: &Repository, triple: &str) -> Result<Vec<Package>, String> {
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", triple];
    let text = output(&mut repository.cargo(&arguments))?;
    let value = serde_json::from_str(&text)
        .map_err(|error| format!("cargo metadata cannot be read: {error}"))?;
    parse(&value).ok_or_else(|| "cargo metadata has another form than expected".into())
}

fn parse(metadata: &Value) -> Option<Vec<Package>> {
    let root = format!("{}/", metadata["workspace_root"].as_str()?);
    let members = metadata["workspace_members"].as_array()?;
    // Packages for other platforms are listed but not built.
    let built: Vec<&Value> =
        metadata["resolve"]["nodes"].as_array()?.iter().map(|node| &node["id"]).collect();
    let packages = metadata["packages"].as_array()?.iter();
    packages
        .filter(|package| built.contains(&&package["id"]))
        .map(|p| package(p, members, &root))
        .collect()
}

fn package(value: &Value, members: &[Value], root: &str) -> Option<Package> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let manifest = text("manifest_path")?;
    let dependency = |value: &Value| {
        let name = value["name"].as_str()?.to_owned();
        Some(Dependency { name, dev: value["kind"].as_str() == Some("dev") })
    };
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        ours: members.contains(&value["id"]),
        manifest: manifest.strip_prefix(root).unwrap_or(&manifest).to_owned(),
        description: text("description"),
        license: text("license"),
        dependencies: value["dependencies"]
            .as_array()?
            .iter()
            .map(dependency)
            .collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn packages_are_read_and_those_of_other_platforms_left_out() {
        let package = |name: &str, kind: Value| {
            json!({
                "id": name, "name": name, "version": "1.0.0", "license": "MIT",
                "description": null, "manifest_path": format!("/r/crates/{name}/Cargo.toml"),
                "dependencies": [{"name": "b", "kind": kind}],
            })
        };
        let metadata = json!({
            "workspace_root": "/r", "workspace_members": ["a"],
            "packages": [
                package("a", json!("dev")),
                package("b", Value::Null),
                package("win", Value::Null),
            ],
            "resolve": {"nodes": [{"id": "a"}, {"id": "b"}]},
        });
        let packages = parse(&metadata).unwrap();
        assert_eq!(packages.len(), 2);
        assert!(packages[0].ours && packages[0].dependencies[0].dev);
        assert_eq!(packages[0].manifest, "crates/a/Cargo.toml");
        assert!(!packages[1].ours && !packages[1].dependencies[0].dev);
        assert_eq!(
            (&packages[0].description, packages[0].license.as_deref()),
            (&None, Some("MIT"))
        );
        assert!(parse(&json!({})).is_none());
    }
}
