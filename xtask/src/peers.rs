//! The programs that the checks need beside Rust, and how they are got.
//!
//! Found by the program and not by the package, so that any distribution will do; installed by
//! Debian's apt where that is possible, else the way is told.

use std::path::PathBuf;
use std::process::Command;

use crate::child::{output, succeed};
use crate::repository::{Repository, search_path};

/// The target of the static binary.
pub(crate) const MUSL: &str = "x86_64-unknown-linux-musl";

/// A program from somewhere else.
struct Peer {
    program: &'static str,
    /// Debian's package.
    package: &'static str,
    what_for: &'static str,
}

const PEERS: &[Peer] = &[
    Peer { program: "fio", package: "fio", what_for: "the figures are held against it" },
    Peer { program: "valgrind", package: "valgrind", what_for: "counts instructions" },
    Peer { program: "musl-gcc", package: "musl-tools", what_for: "SQLite in the static binary" },
    Peer { program: "mkfs.ext4", package: "e2fsprogs", what_for: "devices that hold data" },
    Peer { program: "losetup", package: "mount", what_for: "devices for tests" },
    Peer { program: "mount", package: "mount", what_for: "devices in use" },
    Peer { program: "partx", package: "util-linux", what_for: "devices with partitions" },
    Peer { program: "mkswap", package: "util-linux", what_for: "devices with swap" },
];

/// The chore `peers`: gets what is missing and says what there is.
pub(crate) fn run(repository: &Repository) -> Result<(), String> {
    let got = install(repository);
    for peer in PEERS {
        let state = match find(peer.program) {
            Some(path) => path.display().to_string(),
            None => format!("MISSING (package {})", peer.package),
        };
        println!("{:<10} {state:<24} {}", peer.program, peer.what_for);
    }
    got.map(|_| ())
}

/// Gets what is missing.
///
/// # Errors
/// Something is still missing: what, and how to get it.
pub(crate) fn install(repository: &Repository) -> Result<String, String> {
    let mut problems = Vec::new();
    let packages = missing_packages();
    if !packages.is_empty() {
        println!("missing: {}", packages.join(", "));
        let by_hand = format!("install them: apt-get install {}", packages.join(" "));
        if find("apt-get").is_none() {
            problems.push(format!(
                "this is no Debian; install what corresponds to {}",
                packages.join(", ")
            ));
        } else if !is_root() {
            problems.push(format!("only root can install packages; {by_hand}"));
        } else if let Err(error) = apt(repository, &packages) {
            problems.push(format!("{error}; {by_hand}"));
        }
    }
    for (what, present, arguments) in [
        ("rustfmt", has_component(repository, "fmt"), ["component", "add", "rustfmt"]),
        ("clippy", has_component(repository, "clippy"), ["component", "add", "clippy"]),
        (MUSL, has_musl(repository), ["target", "add", MUSL]),
    ] {
        if present {
            continue;
        }
        println!("missing: {what}");
        if find("rustup").is_none() {
            problems.push(format!("{what} is missing and there is no rustup; install it by hand"));
        } else if let Err(error) = succeed(repository.command("rustup").args(arguments)) {
            problems.push(error);
        }
    }
    if problems.is_empty() { Ok("all there".into()) } else { Err(problems.join("\n")) }
}

fn apt(repository: &Repository, packages: &[&str]) -> Result<(), String> {
    let apt_get = |arguments: &[&str]| {
        let mut command = repository.command("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        succeed(&mut command)
    };
    apt_get(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-qq", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    apt_get(&arguments)
}

/// The packages of the programs that are not there.
fn missing_packages() -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        PEERS.iter().filter(|peer| find(peer.program).is_none()).map(|peer| peer.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Those of the programs that are not there; the static target counts as one.
pub(crate) fn missing(repository: &Repository, needs: &[&'static str]) -> Vec<&'static str> {
    let is_missing = |need: &&'static str| match *need {
        MUSL => !has_musl(repository),
        "rustfmt" => !has_component(repository, "fmt"),
        "clippy" => !has_component(repository, "clippy"),
        program => find(program).is_none(),
    };
    needs.iter().copied().filter(is_missing).collect()
}

fn has_component(repository: &Repository, subcommand: &str) -> bool {
    output(&mut repository.cargo(&[subcommand, "--version"])).is_ok()
}

fn has_musl(repository: &Repository) -> bool {
    let mut rustc = repository.command("rustc");
    rustc.args(["--print", "target-libdir", "--target", MUSL]);
    output(&mut rustc).is_ok_and(|directory| PathBuf::from(directory.trim()).is_dir())
}

/// Where a program is, if it is there.
fn find(program: &str) -> Option<PathBuf> {
    let path = search_path(&[]);
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|p| p.is_file())
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_only_if_they_exist() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-of-stormeter"), None);
        assert!(missing_packages().iter().all(|p| PEERS.iter().any(|peer| peer.package == *p)));
    }

    #[test]
    fn the_missing_are_named() {
        let repository = Repository { root: ".".into(), target: "target".into() };
        let needs = ["sh", "no-such-program-of-stormeter"];
        assert_eq!(missing(&repository, &needs), ["no-such-program-of-stormeter"]);
    }
}
