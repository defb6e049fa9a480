//! The bill of materials: what is linked into a binary, as CycloneDX 1.5 in JSON.
//!
//! Made here and not by cargo-cyclonedx: that lists what the workspace could build, also for tests, with the time and
//! a random number in it, and building it takes longer than everything else in this directory.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::linked::{Id, Linked};
use super::release::Release;
use crate::target::Target;

/// The text. `sums` are the SHA-256 of packages as the registry has them; those of the workspace have none.
pub(crate) fn text(
    release: &Release,
    target: Target,
    packages: &BTreeMap<Id, Linked>,
    sums: &BTreeMap<Id, String>,
) -> String {
    let program = ("stormeter".to_owned(), release.version.clone());
    let others = packages.iter().filter(|(id, _)| **id != program);
    let components: Vec<Value> =
        others.map(|(id, package)| component("library", id, package, sums.get(id))).collect();
    let dependencies: Vec<Value> = packages
        .iter()
        .map(|(id, package)| {
            let needs: Vec<String> = package.needs.iter().map(url).collect();
            json!({"ref": url(id), "dependsOn": needs})
        })
        .collect();
    let itself = packages.get(&program).cloned().unwrap_or_default();
    let mut main = component("application", &program, &itself, None);
    main["properties"] = json!([
        {"name": "target", "value": target.triple},
        {"name": "commit", "value": release.commit},
    ]);
    let value = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": release.date.machine, "component": main},
        "components": components,
        "dependencies": dependencies,
    });
    format!("{value:#}\n")
}

fn component(kind: &str, id: &Id, package: &Linked, sum: Option<&String>) -> Value {
    let mut value = json!({
        "type": kind, "bom-ref": url(id), "name": id.0, "version": id.1, "purl": url(id),
        "licenses": [{"expression": package.licence}],
    });
    if let Some(sum) = sum {
        value["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    value
}

/// The package's URL (purl); a plus sign in a version has another meaning there.
fn url((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// The sums of packages in Cargo.lock.
pub(crate) fn sums(lock: &str) -> BTreeMap<Id, String> {
    let value = |package: &str, key: &str| {
        let start = format!("{key} = \"");
        package
            .lines()
            .find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'))
            .map(str::to_owned)
    };
    let packages = lock.split("[[package]]").skip(1);
    let sum = |package| {
        Some(((value(package, "name")?, value(package, "version")?), value(package, "checksum")?))
    };
    packages.filter_map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::super::linked::tests::packages;
    use super::super::release::tests::release;
    use super::*;
    use crate::target::AARCH64;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"libc\"\nversion = \"0.2.1\"\n\
                        source = \"registry\"\nchecksum = \"ab01\"\n\n[[package]]\nname = \"stormeter\"\n\
                        version = \"1.2.3\"\ndependencies = [\n \"libc\",\n]\n";

    #[test]
    fn every_linked_package_is_a_component_with_licence_and_sum() {
        let text = text(&release(), AARCH64, &packages(), &sums(LOCK));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["metadata"]["component"]["bom-ref"], "pkg:cargo/stormeter@1.2.3");
        assert_eq!(value["metadata"]["timestamp"], "2026-11-28T13:01:01Z");
        let components = value["components"].as_array().unwrap();
        let names: Vec<_> = components.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["libc", "stormeter-a", "sum"]);
        assert_eq!(components[0]["hashes"][0]["content"], "ab01");
        assert_eq!(components[0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(components[1]["hashes"], Value::Null);
        let dependencies = value["dependencies"].as_array().unwrap();
        assert_eq!(dependencies.len(), 4);
        assert_eq!(dependencies[3]["dependsOn"][0], "pkg:cargo/libc@0.2.1");
    }

    #[test]
    fn versions_are_escaped_in_urls() {
        assert_eq!(url(&("a".into(), "1.0.0+x".into())), "pkg:cargo/a@1.0.0%2Bx");
    }
}
