//! The chore `dist`, tried: all packages, made twice from the same binaries, checked by the tools of their systems, installed
//! where there is no Rust, and run: with the words of the page on installing.

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
use crate::static_binary::Haste;
use crate::steps::Finding;
use crate::target::{AARCH64, ALL, X86_64};

/// The programs that it requires.
pub(crate) const NEEDS: &[&str] = &[
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

/// Makes, checks, installs and runs everything.
pub(crate) fn check(repository: &Repository) -> Finding {
    let release = Release::of(repository)?;
    let binaries = binaries(repository, Haste::for_checks())?;
    let made = made_twice(repository, &release, &binaries)?;
    for target in ALL {
        lint(repository, &made.join(deb::name(&release, target)))?;
        // Its sums, which need no key.
        let mut check = repository.command("rpm");
        output(
            check.args(["--checksig", "--nosignature"]).arg(made.join(rpm::name(&release, target))),
        )?;
    }
    let mut arm = binaries.iter().filter(|(target, _)| *target == AARCH64);
    let (_, arm) = arm.next().ok_or("no binary for 64-bit ARM")?;
    emulated::check(repository, arm)?;
    let blocks = page::read(repository)?;
    let debian = page::run(&blocks, Place::Debian, &root::debian(repository, &made)?)?;
    let from_rpm = root::from_rpm(repository, &made.join(rpm::name(&release, X86_64)))?;
    let rpm = page::run(&blocks, Place::Rpm, &from_rpm)?;
    let container = page::run(&blocks, Place::Container, &podman::place(repository, &made)?)?;
    Ok(format!(
        "{} packages, twice the same; lintian clean; longest command {:.0} s in Debian, {:.0} s from the rpm, \
         {:.0} s in a container; 64-bit ARM compares",
        packages::contents(&made)?.len(),
        debian.as_secs_f64(),
        rpm.as_secs_f64(),
        container.as_secs_f64(),
    ))
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
