//! Every check, in order: `cargo xtask test`.
//!
//! Quick and informative checks come first. The order also saves building: clippy and the
//! documentation reuse what cargo has checked; the README and the benchmarks share the release
//! build.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::child::{succeed, watch};
use crate::peers::{self, MUSL};
use crate::repository::Repository;
use crate::steps::{Conditions, Finding, Step, run as run_steps};
use crate::test_programs::Manner;
use crate::{bench, dist, lab, readme, static_binary, studies, test_programs, tidy, unpacked};

const STEPS: [Step; 12] = [
    Step {
        name: "peers",
        what: "programs that the checks need, installed if they are missing",
        needs: &[],
        run: peers_step,
    },
    Step { name: "fmt", what: "cargo fmt --all --check", needs: &["rustfmt"], run: fmt },
    Step { name: "tidy", what: "layers, clocks, lengths, licences", needs: &[], run: tidy::check },
    Step {
        name: "clippy",
        what: "cargo clippy --workspace --all-targets",
        needs: &["clippy"],
        run: clippy,
    },
    Step { name: "tests", what: "cargo test --workspace", needs: &[], run: tests },
    Step { name: "doc", what: "cargo doc --workspace --no-deps", needs: &[], run: doc },
    Step {
        name: "static",
        what: "the static binary, built and tried",
        needs: &["musl-gcc", MUSL],
        run: static_binary::check,
    },
    Step {
        name: "packages",
        what: "deb and image for this machine, made, installed and used",
        needs: dist::NEEDS_HERE,
        run: dist::check_here,
    },
    Step {
        name: "lab",
        what: "a lab of guests, built, booted, cloned and ended",
        needs: &["musl-gcc", MUSL, "qemu-system-x86_64", "apt-get", "xz"],
        run: lab::check,
    },
    Step { name: "readme", what: "every command of the README", needs: &[], run: readme::check },
    Step {
        name: "studies",
        what: "the published studies at the scale that runs here, measured and predicted",
        needs: &["tgtd"],
        run: studies::check,
    },
    Step {
        name: "bench",
        what: "instructions per I/O compared with fio's",
        needs: &["fio", "valgrind"],
        run: bench::check,
    },
];

/// The chore `test`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    let only = chosen(arguments)?;
    let steps: Vec<Step> = STEPS
        .into_iter()
        .filter(|step| only.is_empty() || only.contains(&step.name))
        // The package may be absent from a source archive.
        .filter(|step| step.name != "bench" || repository.has("crates/bench/Cargo.toml"))
        .collect();
    let missing = |needs: &[&'static str]| peers::missing(repository, needs);
    let strict = is_ci();
    run_steps(repository, &steps, &Conditions { missing: &missing, strict })
}

/// The steps requested by name; an empty list means all.
fn chosen(arguments: &[String]) -> Result<Vec<&'static str>, String> {
    let names = STEPS.map(|step| step.name);
    let mut only = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let name = match argument.strip_prefix("--only") {
            Some("") => arguments.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        let step = names.iter().find(|step| Some(**step) == name);
        only.push(*step.ok_or_else(|| {
            let given = [argument.as_str(), name.unwrap_or_default()].join(" ");
            format!("'{}': use --only STEP, a step is one of {}", given.trim(), names.join(", "))
        })?);
    }
    Ok(only)
}

/// In CI nothing is skipped silently.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Outside CI the user may not be able to install anything: the steps that need it report that.
fn peers_step(repository: &Repository) -> Finding {
    match peers::install(repository) {
        Err(error) if !is_ci() => {
            println!("{error}");
            Ok("some are missing; what needs them is not run".into())
        }
        other => other,
    }
}

fn fmt(repository: &Repository) -> Finding {
    succeed(&mut repository.cargo(&["fmt", "--all", "--check"]))
        .map(|()| String::new())
        .map_err(|error| format!("{error}; run cargo fmt --all"))
}

/// Counts warnings instead of denying them: a denied warning would hide those of every crate above.
fn clippy(repository: &Repository) -> Finding {
    let warnings = AtomicUsize::new(0);
    let see = |line: &str| {
        warnings.fetch_add(usize::from(line.starts_with("warning")), Ordering::Relaxed);
    };
    let arguments = ["clippy", "--workspace", "--all-targets", "--keep-going", "--quiet"];
    watch(&mut repository.cargo(&arguments), &see)?;
    match warnings.into_inner() {
        0 => Ok(String::new()),
        _ => Err("clippy warns; fix what it reports above".into()),
    }
}

/// The longest program takes five minutes, half as many again on a slow machine. What a browser or a
/// server has started ends a moment after it.
const MANNER: Manner =
    Manner { at_once: 2, limit: Duration::from_secs(900), grace: Duration::from_secs(20) };

/// Tests that could not run print a line saying so, which is counted here.
fn tests(repository: &Repository) -> Finding {
    let (passed, failed, not_run) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let see = |line: &str| {
        let (good, bad) = test_result(line);
        passed.fetch_add(good, Ordering::Relaxed);
        failed.fetch_add(bad, Ordering::Relaxed);
        not_run.fetch_add(usize::from(line.contains("NOT RUN:")), Ordering::Relaxed);
    };
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // Without one the tests that need it are not run, and fail in CI.
    let unpacked = unpacked::ALL.iter().filter_map(|it| match it.directory(repository) {
        Ok(directory) => Some((it.variable, directory)),
        Err(error) => {
            println!("{error}");
            None
        }
    });
    let unpacked: Vec<_> = unpacked.collect();
    let set = |command: &mut Command| {
        command.envs(unpacked.iter().cloned());
        // A test that expects a panic would fill the log. Guests are booted in a separate step.
        command.env("RUST_BACKTRACE", "0").env("STORMETER_LAB_LATER", "lab");
        // Programs from PyPI and Go modules are a chore of their own.
        command.env("STORMETER_READERS_LATER", "readers");
        // Tests that run programs spend half of their time waiting, for a trial to end or a peer to time out.
        if std::env::var_os("RUST_TEST_THREADS").is_none() {
            command.env("RUST_TEST_THREADS", (2 * cpus).to_string());
        }
    };
    let mut commands = Vec::new();
    for program in test_programs::build(repository)? {
        let mut command = program.command();
        set(&mut command);
        commands.push(command);
    }
    let ended = |text: &str| {
        print!("{text}");
        text.lines().for_each(see);
    };
    let programs = test_programs::run_all(commands, MANNER, &ended);
    let mut cargo =
        repository.cargo(&["test", "--workspace", "--doc", "--no-fail-fast", "--quiet"]);
    set(&mut cargo);
    let examples = watch(&mut cargo, &see);
    let [passed, failed, not_run] = [passed, failed, not_run].map(AtomicUsize::into_inner);
    let mut counts = format!("{passed} tests");
    if not_run > 0 {
        counts.push_str(&format!(", {not_run} not run"));
    }
    match programs.and(examples) {
        Ok(()) => Ok(counts),
        Err(error) if failed > 0 => {
            Err(format!("{failed} of {} tests failed\n{error}", passed + failed))
        }
        Err(error) => Err(error),
    }
}

/// Passed and failed counts from a line like `test result: ok. 12 passed; 0 failed; …`.
fn test_result(line: &str) -> (usize, usize) {
    let Some(rest) = line.strip_prefix("test result: ") else { return (0, 0) };
    let words: Vec<&str> = rest.split([' ', ';', '.']).collect();
    let before = |word: &str| {
        let at = words.iter().position(|w| *w == word)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    (before("passed").unwrap_or(0), before("failed").unwrap_or(0))
}

fn doc(repository: &Repository) -> Finding {
    let mut cargo = repository.cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    succeed(&mut cargo).map(|()| String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen_by(arguments: &[&str]) -> Result<Vec<&'static str>, String> {
        chosen(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn steps_are_chosen_by_name() {
        assert_eq!(chosen_by(&[]), Ok(vec![]));
        assert_eq!(chosen_by(&["--only", "tidy", "--only=fmt"]), Ok(vec!["tidy", "fmt"]));
        for wrong in [&["tidy"][..], &["--only"], &["--only", "all"], &["--only="]] {
            assert!(chosen_by(wrong).unwrap_err().contains("readme"), "{wrong:?}");
        }
    }

    #[test]
    fn results_of_tests_are_counted() {
        let line =
            "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 1 filtered out";
        assert_eq!(test_result(line), (12, 3));
        assert_eq!(test_result("running 3 tests"), (0, 0));
        assert_eq!(test_result("test result: nonsense"), (0, 0));
    }
}
