//! Packages tried: checked by the tools of their systems, installed where there is no Rust, and run with the words of the
//! page on installing. The chore `dist --try` tries all of them; the step `packages` those for this machine that most will
//! take, the deb and the image.

use std::path::{Path, PathBuf};

use super::emulated::EMULATOR;
use super::once::{binaries, empty};
use super::page::{self, Place};
use super::release::Release;
use super::{deb, emulated, packages, podman, root, rpm, twice};
use crate::child::output;
use crate::cross::COMPILER;
use crate::peers::{MUSL, MUSL_ARM};
use crate::repository::Repository;
use crate::static_binary::{self, Haste};
use crate::steps::Finding;
use crate::target::{AARCH64, ALL, Target, X86_64};

/// The programs that the step requires.
pub(crate) const NEEDS_HERE: &[&str] =
    &["musl-gcc", MUSL, "dpkg-deb", "lintian", "mmdebstrap", "rpmbuild", "podman", "runc"];

/// The programs that the chore requires.
pub(super) const NEEDS: &[&str] = &[
    "musl-gcc",
    MUSL,
    MUSL_ARM,
    COMPILER,
    EMULATOR,
    "dpkg-deb",
    "lintian",
    "mmdebstrap",
    "rpmbuild",
    "podman",
    "runc",
];

/// Makes the packages for this machine from the binary of the checks, installs the deb, and runs it and the image.
pub(crate) fn check_here(repository: &Repository) -> Finding {
    let release = Release::of(repository)?;
    let binaries = [(X86_64, static_binary::for_checks(repository)?)];
    let made = empty(repository.target.join("dist"))?;
    packages::make(repository, &release, &binaries, &made)?;
    accepted(repository, &release, &made, X86_64)?;
    let used = used(repository, &made)?;
    Ok(format!(
        "{} packages, lintian clean; longest command {used}",
        packages::contents(&made)?.len()
    ))
}

/// Makes, checks, installs and runs everything.
pub(super) fn check_all(repository: &Repository) -> Finding {
    let release = Release::of(repository)?;
    let binaries = binaries(repository, Haste::for_checks())?;
    let made = made_twice(repository, &release, &binaries)?;
    for target in ALL {
        accepted(repository, &release, &made, target)?;
    }
    let mut arm = binaries.iter().filter(|(target, _)| *target == AARCH64);
    let (_, arm) = arm.next().ok_or("no binary for 64-bit ARM")?;
    emulated::check(repository, arm)?;
    let from_rpm = root::from_rpm(repository, &made.join(rpm::name(&release, X86_64)))?;
    let rpm = page::run(&page::read(repository)?, Place::Rpm, &from_rpm)?;
    let used = used(repository, &made)?;
    Ok(format!(
        "{} packages, twice the same; lintian clean; longest command {used}, {:.0} s from the rpm; 64-bit ARM compares",
        packages::contents(&made)?.len(),
        rpm.as_secs_f64(),
    ))
}

/// Checks that the tools of their systems accept the packages for a machine.
fn accepted(
    repository: &Repository,
    release: &Release,
    made: &Path,
    target: Target,
) -> Result<(), String> {
    lint(repository, &made.join(deb::name(release, target)))?;
    // Its sums, which need no key.
    let mut check = repository.command("rpm");
    check.args(["--checksig", "--nosignature"]).arg(made.join(rpm::name(release, target)));
    output(&mut check).map(drop)
}

/// Runs the commands of the page in a clean Debian and in a container; says how long the longest took.
fn used(repository: &Repository, made: &Path) -> Finding {
    let blocks = page::read(repository)?;
    let debian = page::run(&blocks, Place::Debian, &root::debian(repository, made)?)?;
    let container = page::run(&blocks, Place::Container, &podman::place(repository, made)?)?;
    let [debian, container] = [debian, container].map(|took| took.as_secs_f64());
    Ok(format!("{debian:.0} s in Debian, {container:.0} s in a container"))
}

/// The packages from the same binaries, in two directories.
fn made_twice(
    repository: &Repository,
    release: &Release,
    binaries: &[packages::Binary],
) -> Result<PathBuf, String> {
    let one = empty(repository.target.join("dist"))?;
    packages::make(repository, release, binaries, &one)?;
    let other = repository.scratch("dist-again")?;
    packages::make(repository, release, binaries, &other)?;
    twice::compare(&one, &other)?;
    Ok(one)
}

/// Checks a package by Debian's rules; anything that lintian says is a failure.
fn lint(repository: &Repository, package: &Path) -> Result<(), String> {
    let mut lintian = repository.command("lintian");
    lintian
        .args(["--fail-on", "error,warning", "--allow-root"])
        .arg(package)
        .env("LC_ALL", "C.UTF-8");
    let said = output(&mut lintian)?;
    if said.trim().is_empty() {
        Ok(())
    } else {
        Err(format!("lintian on {}:\n{said}", package.display()))
    }
}
