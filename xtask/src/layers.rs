//! Which package may depend on which: the boundaries of the design, as a table that is checked.
//!
//! Everything that only computes is below everything that touches the machine; that is why the same
//! loop can run in virtual time and an analysis can be proved on synthetic samples.

use crate::metadata::Package;
use crate::tidy::Finding;

/// One package of the workspace.
pub(crate) struct Layer {
    pub(crate) package: &'static str,
    /// Which of our packages it may use.
    uses: Uses,
    /// Computes only: no clock, no files, no network, no threads.
    pub(crate) pure: bool,
}

/// Which of our packages a package may use.
enum Uses {
    These(&'static [&'static str]),
    All,
}

use Uses::{All, These};

/// In the order of the design, from the boundary up to the command line.
pub(crate) const LAYERS: &[Layer] = &[
    Layer { package: "stormeter-units", uses: These(&[]), pure: true },
    Layer { package: "stormeter-schema", uses: These(&[]), pure: true },
    Layer { package: "stormeter-disk", uses: These(&[]), pure: true },
    Layer { package: "stormeter-trial", uses: These(&["units", "disk"]), pure: true },
    Layer { package: "stormeter-driver", uses: These(&["disk", "trial"]), pure: true },
    Layer { package: "stormeter-import", uses: These(&["units", "trial"]), pure: true },
    Layer { package: "stormeter-fault", uses: These(&["units"]), pure: true },
    Layer { package: "stormeter-yaml", uses: These(&["units"]), pure: true },
    Layer { package: "stormeter-site", uses: These(&["units", "yaml"]), pure: true },
    Layer {
        package: "stormeter-simulator",
        uses: These(&["units", "disk", "trial", "driver", "fault", "site"]),
        pure: true,
    },
    Layer { package: "stormeter-wire", uses: These(&["disk"]), pure: true },
    Layer { package: "stormeter-service", uses: These(&["disk", "trial", "wire"]), pure: false },
    Layer { package: "stormeter-nfs", uses: These(&["disk", "wire"]), pure: true },
    Layer { package: "stormeter-iscsi", uses: These(&["disk", "wire"]), pure: true },
    Layer { package: "stormeter-uring", uses: These(&[]), pure: false },
    Layer { package: "stormeter-rbd", uses: These(&["disk"]), pure: false },
    Layer { package: "stormeter-server", uses: These(&[]), pure: false },
    Layer { package: "stormeter-probe", uses: These(&[]), pure: false },
    Layer { package: "stormeter-peers", uses: These(&[]), pure: false },
    Layer { package: "stormeter-timed-disk", uses: These(&["units"]), pure: false },
    Layer { package: "stormeter-ceph", uses: These(&["timed-disk"]), pure: false },
    Layer { package: "stormeter-durable", uses: These(&["disk"]), pure: false },
    Layer {
        package: "stormeter-datastore",
        uses: These(&["units", "disk", "uring", "rbd", "wire", "nfs", "iscsi"]),
        pure: false,
    },
    Layer {
        package: "stormeter-study",
        uses: These(&["units", "trial", "fault", "yaml"]),
        pure: true,
    },
    Layer {
        package: "stormeter-statistics",
        uses: These(&["units", "disk", "trial", "study"]),
        pure: true,
    },
    Layer {
        package: "stormeter-results",
        uses: These(&["disk", "import", "trial", "study"]),
        pure: false,
    },
    Layer {
        package: "stormeter-conclude",
        uses: These(&["trial", "study", "statistics", "results"]),
        pure: true,
    },
    Layer {
        package: "stormeter-report",
        uses: These(&["units", "schema", "trial", "study", "statistics", "results"]),
        pure: true,
    },
    Layer {
        package: "stormeter-kept",
        uses: These(&["units", "schema", "results", "report"]),
        pure: false,
    },
    Layer {
        package: "stormeter-replicate",
        uses: These(&["schema", "yaml", "study", "statistics"]),
        pure: true,
    },
    Layer {
        package: "stormeter-export",
        uses: These(&["disk", "trial", "study", "statistics"]),
        pure: true,
    },
    Layer {
        package: "stormeter-gate",
        uses: These(&[
            "units",
            "schema",
            "disk",
            "import",
            "study",
            "statistics",
            "results",
            "conclude",
            "report",
            "export",
        ]),
        pure: true,
    },
    Layer {
        package: "stormeter-audit",
        uses: These(&["schema", "import", "statistics", "replicate"]),
        pure: true,
    },
    Layer {
        package: "stormeter-runner",
        uses: These(&[
            "units",
            "disk",
            "trial",
            "driver",
            "fault",
            "service",
            "datastore",
            "study",
            "statistics",
            "results",
            "conclude",
        ]),
        pure: false,
    },
    Layer {
        package: "stormeter-predict",
        uses: These(&[
            "units",
            "disk",
            "trial",
            "driver",
            "fault",
            "site",
            "simulator",
            "study",
            "statistics",
            "results",
            "runner",
        ]),
        pure: false,
    },
    Layer {
        package: "stormeter-watch",
        uses: These(&["trial", "study", "statistics", "results", "conclude", "export", "runner"]),
        pure: false,
    },
    Layer {
        package: "stormeter-live",
        uses: These(&["trial", "study", "results", "report", "runner", "watch"]),
        pure: false,
    },
    Layer {
        package: "stormeter-agent",
        uses: These(&["disk", "trial", "datastore", "study", "results", "runner"]),
        pure: false,
    },
    Layer {
        package: "stormeter-lab",
        uses: These(&[
            "units",
            "disk",
            "trial",
            "driver",
            "fault",
            "rbd",
            "datastore",
            "yaml",
            "agent",
        ]),
        pure: false,
    },
    Layer {
        package: "stormeter-truth",
        uses: These(&["yaml", "site", "study", "statistics", "predict"]),
        pure: false,
    },
    Layer { package: "stormeter-testkit", uses: These(&["trial", "yaml"]), pure: false },
    Layer { package: "stormeter", uses: All, pure: false },
    Layer { package: "stormeter-bench", uses: All, pure: false },
    Layer { package: "xtask", uses: These(&[]), pure: false },
];

impl Layer {
    /// Short names of our packages that it may use; `None`: all of them.
    pub(crate) fn names(&self) -> Option<&'static [&'static str]> {
        match self.uses {
            All => None,
            These(names) => Some(names),
        }
    }
}

/// A package's name as in the table and in its folder.
pub(crate) fn short(package: &str) -> &str {
    package.strip_prefix("stormeter-").unwrap_or(package)
}

/// What the tests of any package may use in addition.
const FOR_TESTS: [&str; 6] = ["driver", "simulator", "server", "peers", "ceph", "testkit"];

/// What the tests of a single package may use in addition: the simulator's proofs against queueing theory
/// need intervals; faults of a datastore show in what trials and numbered records see of them; what is imported as a
/// study must be read as one; a results file has a plan.
const FOR_TESTS_OF: [(&str, &str); 6] = [
    ("simulator", "statistics"),
    ("datastore", "trial"),
    ("datastore", "durable"),
    ("import", "study"),
    ("export", "import"),
    ("kept", "study"),
];

/// What only tests may use: it is in nothing that is shipped.
const FOR_TESTS_ONLY: [&str; 1] = ["testkit"];

/// Packages that access the machine: no pure package may use them outside its tests.
const MACHINE: &[&str] = &["io-uring", "libc", "nix", "quanta", "signal-hook", "tempfile"];

/// Checks the packages against the table.
pub(crate) fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ours: Vec<&Package> = packages.iter().filter(|package| package.ours).collect();
    for package in &ours {
        let found = |text: String| Finding::in_file(&package.manifest, 1, text);
        let Some(layer) = LAYERS.iter().find(|layer| layer.package == package.name) else {
            findings.push(found(format!(
                "{} is not in the table of layers; give it a row in xtask/src/layers.rs",
                package.name
            )));
            continue;
        };
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            let is_ours = ours.iter().any(|other| other.name == name);
            if is_ours && !may_use(layer, name, dependency.dev) {
                findings.push(found(format!(
                    "{} may not use {name}; turn the dependency round, or change the table in \
                     xtask/src/layers.rs and the design with it",
                    package.name
                )));
            }
            if layer.pure && !dependency.dev && MACHINE.contains(&name) {
                findings.push(found(format!(
                    "{} computes only and may not use {name}; pass in what it needs",
                    package.name
                )));
            }
        }
    }
    for layer in LAYERS.iter().filter(|l| ours.iter().all(|p| p.name != l.package)) {
        let text = format!("{} is in the table but not in the workspace", layer.package);
        findings.push(Finding::in_file("xtask/src/layers.rs", 1, text));
    }
    findings
}

/// Reports what the table allows but no package uses: such a row makes the picture wrong.
pub(crate) fn check_unused(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package.ours) {
        let layer = LAYERS.iter().find(|layer| layer.package == package.name);
        let has = |name: &str| package.dependencies.iter().any(|one| short(&one.name) == name);
        for name in
            layer.and_then(Layer::names).unwrap_or_default().iter().filter(|name| !has(name))
        {
            let text =
                format!("{} may use {name} and does not; take it out of its row", package.name);
            findings.push(Finding::in_file("xtask/src/layers.rs", 1, text));
        }
    }
    findings
}

fn may_use(layer: &Layer, name: &str, dev: bool) -> bool {
    let name = short(name);
    let for_its_tests =
        || FOR_TESTS.contains(&name) || FOR_TESTS_OF.contains(&(short(layer.package), name));
    if FOR_TESTS_ONLY.contains(&name) && !dev {
        return false;
    }
    layer.names().is_none_or(|names| names.contains(&name) || dev && for_its_tests())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    /// The whole workspace, with one package's dependencies replaced.
    fn workspace(name: &str, dependencies: &[(&str, bool)]) -> Vec<Package> {
        let dependency =
            |(name, dev): &(&str, bool)| Dependency { name: (*name).into(), dev: *dev };
        let package = |layer: &Layer| Package {
            name: layer.package.into(),
            ours: true,
            manifest: format!("{}/Cargo.toml", layer.package),
            dependencies: if layer.package == name {
                dependencies.iter().map(dependency).collect()
            } else {
                vec![]
            },
            ..Package::default()
        };
        LAYERS.iter().map(package).collect()
    }

    #[test]
    fn what_is_allowed_and_not_used_is_found() {
        let used =
            workspace("stormeter-driver", &[("stormeter-disk", false), ("stormeter-trial", false)]);
        let found = |packages: &[Package]| {
            let of_driver = |text: &String| text.contains("stormeter-driver may use");
            check_unused(packages).iter().map(ToString::to_string).filter(of_driver).count()
        };
        assert_eq!(found(&used), 0);
        assert_eq!(found(&workspace("stormeter-driver", &[("stormeter-disk", false)])), 1);
    }

    fn texts(packages: &[Package]) -> Vec<String> {
        check(packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn downwards_is_allowed_and_upwards_is_not() {
        assert_eq!(texts(&workspace("stormeter-driver", &[("stormeter-disk", false)])).len(), 0);
        let found = texts(&workspace("stormeter-disk", &[("stormeter-driver", false)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("stormeter-disk may not use stormeter-driver"), "{found:?}");
    }

    #[test]
    fn the_simulator_is_for_tests() {
        let simulator = "stormeter-simulator";
        assert_eq!(texts(&workspace("stormeter-statistics", &[(simulator, true)])).len(), 0);
        assert_eq!(texts(&workspace("stormeter-statistics", &[(simulator, false)])).len(), 1);
        assert_eq!(texts(&workspace("stormeter-study", &[("stormeter-runner", true)])).len(), 1);
        assert_eq!(texts(&workspace("stormeter", &[(simulator, false)])).len(), 0);
    }

    #[test]
    fn statistics_are_for_the_tests_of_the_simulator_only() {
        let statistics = "stormeter-statistics";
        assert_eq!(texts(&workspace("stormeter-simulator", &[(statistics, true)])).len(), 0);
        assert_eq!(texts(&workspace("stormeter-simulator", &[(statistics, false)])).len(), 1);
        assert_eq!(texts(&workspace("stormeter-site", &[(statistics, true)])).len(), 1);
    }

    #[test]
    fn what_tests_share_is_in_nothing_else() {
        let testkit = "stormeter-testkit";
        for package in ["stormeter-trial", "stormeter-report", "stormeter"] {
            assert_eq!(texts(&workspace(package, &[(testkit, true)])).len(), 0, "{package}");
            let found = texts(&workspace(package, &[(testkit, false)]));
            assert_eq!(found.len(), 1, "{package}");
            assert!(found[0].contains("may not use stormeter-testkit"), "{found:?}");
        }
    }

    #[test]
    fn what_computes_does_not_bring_the_machine_in() {
        assert_eq!(texts(&workspace("stormeter-driver", &[("quanta", false)])).len(), 1);
        assert_eq!(texts(&workspace("stormeter-driver", &[("tempfile", true)])).len(), 0);
        assert_eq!(texts(&workspace("stormeter-datastore", &[("quanta", false)])).len(), 0);
    }

    #[test]
    fn table_and_workspace_name_the_same_packages() {
        let mut packages = workspace("", &[]);
        packages[0].name = "stormeter-new".into();
        let found = texts(&packages);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("stormeter-new is not in the table"), "{found:?}");
        assert!(found[1].contains("stormeter-units is in the table"), "{found:?}");
    }

    #[test]
    fn no_row_uses_a_later_one() {
        for (index, layer) in LAYERS.iter().enumerate() {
            let These(names) = layer.uses else { continue };
            for name in names {
                let place = LAYERS.iter().position(|l| l.package == format!("stormeter-{name}"));
                assert!(place.is_some_and(|place| place < index), "{} uses {name}", layer.package);
            }
        }
    }
}
