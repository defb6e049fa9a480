//! Debian packages: resolved, fetched and unpacked without installing anything.
//!
//! apt is asked what it would install on an empty machine (an empty status file), which resolves
//! dependencies as an installation would, also for users other than root. Packages are fetched with
//! `apt-get download`, which verifies them against the signed lists.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{LabError, at, tool};

pub(super) const APT_GET: &str = "apt-get";

/// A package that apt would install.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package {
    /// The package name, as in `libc6`.
    pub(crate) name: String,
    /// The version with its epoch, as in `1:1.35.0-4`.
    version: String,
    /// The file name that apt uses.
    pub(crate) file: String,
    /// The checksum that apt prints, `SHA256:…` or another: part of an image's key.
    checksum: String,
}

impl Package {
    /// What identifies it in the key of an image.
    pub(crate) fn identity(&self) -> String {
        format!("{} {}", self.file, self.checksum)
    }
}

/// apt, with certain sources of packages.
#[derive(Debug, Default)]
pub(crate) struct Apt {
    /// Options of each of its programs; none: the sources of this machine.
    pub(super) options: Vec<OsString>,
}

impl Apt {
    /// A program of apt.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.args(["-o", "Debug::NoLocking=true"]).args(&self.options);
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// `wanted` and all their dependencies, except packages whose names start with one of `without`.
    ///
    /// # Errors
    /// apt is missing, or does not know one of the packages; the error names it.
    pub(super) fn resolve(
        &self,
        wanted: &[&str],
        without: &[&str],
        scratch: &Path,
    ) -> Result<Vec<Package>, LabError> {
        let status = scratch.join("status");
        fs::write(&status, "").map_err(at(&status))?;
        let mut command = self.command(APT_GET);
        command.arg("-o").arg(format!("Dir::State::status={}", status.display()));
        command.args(["--print-uris", "--yes", "--no-install-recommends", "install"]).args(wanted);
        let mut packages = listed(command, wanted)?;
        packages.retain(|package| !without.iter().any(|prefix| package.name.starts_with(prefix)));
        packages.sort();
        if packages.is_empty() { Err(LabError::NothingToFetch) } else { Ok(packages) }
    }

    /// One package without its dependencies, in its newest version.
    ///
    /// # Errors
    /// apt is missing, or does not know the package.
    pub(super) fn only(&self, name: &str) -> Result<Package, LabError> {
        let mut command = self.command(APT_GET);
        command.args(["--print-uris", "download", name]);
        listed(command, &[name])?.pop().ok_or(LabError::NothingToFetch)
    }
}

/// The packages in what apt prints instead of fetching them.
fn listed(mut command: Command, wanted: &[&str]) -> Result<Vec<Package>, LabError> {
    let output = command.output().map_err(|source| tool(APT_GET, source))?;
    if !output.status.success() {
        // "Unable to locate package NAME": no other line of the output names one.
        let last_line = last_words(&output.stderr);
        let unknown = wanted.iter().find(|name| last_line.ends_with(**name));
        let package = unknown.map_or_else(|| wanted.join(", "), ToString::to_string);
        return Err(LabError::Fetch { package, said: last_line });
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(package).collect())
}

/// Parses a line like `'http://…' busybox-static_1%3a1.35.0-4_amd64.deb 928188 SHA256:…`.
fn package(line: &str) -> Option<Package> {
    let mut words = line.strip_prefix('\'')?.split(' ').skip(1);
    let file = words.next()?;
    let checksum = words.nth(1).unwrap_or_default();
    let mut parts = file.strip_suffix(".deb")?.split('_');
    let (name, version) = (parts.next()?, parts.next()?);
    Some(Package {
        name: name.into(),
        version: version.replace("%3a", ":"),
        file: file.into(),
        checksum: checksum.into(),
    })
}

impl Apt {
    /// Fetches what is not in `store` yet. A file in the store is always complete.
    pub(super) fn fetch(
        &self,
        packages: &[Package],
        store: &Path,
        scratch: &Path,
    ) -> Result<(), LabError> {
        let missing: Vec<&Package> =
            packages.iter().filter(|package| !store.join(&package.file).exists()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<String> =
            missing.iter().map(|package| format!("{}={}", package.name, package.version)).collect();
        let mut command = self.command(APT_GET);
        // As the calling user; apt's own user may not write here.
        command.args(["-qq", "-o", "APT::Sandbox::User=", "download"]).args(&names);
        let output =
            command.current_dir(scratch).output().map_err(|source| tool(APT_GET, source))?;
        for package in &missing {
            let (from, to) = (scratch.join(&package.file), store.join(&package.file));
            if from.exists() {
                fs::rename(&from, &to).map_err(at(&to))?;
            }
        }
        let lost = missing.iter().find(|package| !store.join(&package.file).exists());
        lost.map_or(Ok(()), |package| {
            let said = last_words(&output.stderr);
            Err(LabError::Fetch { package: package.name.clone(), said })
        })
    }
}

/// Unpacks a package below `root`.
pub(crate) fn unpack(package: &Package, store: &Path, root: &Path) -> Result<(), LabError> {
    let file = store.join(&package.file);
    let output = Command::new("dpkg-deb")
        .arg("--extract")
        .args([&file, &PathBuf::from(root)])
        .stdin(Stdio::null())
        .output()
        .map_err(|source| tool("dpkg-deb", source))?;
    if output.status.success() {
        return Ok(());
    }
    // A broken package is fetched again next time.
    let _ = fs::remove_file(&file);
    Err(LabError::ToolFailed { program: "dpkg-deb".into(), said: last_words(&output.stderr) })
}

/// The last line of a program's output.
pub(crate) fn last_words(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or("it said nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written past the capture of the test harness; in CI a test must not be skipped.
    fn not_run(why: &str) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
        assert!(std::env::var_os("CI").is_none(), "CI must run this test: {why}");
    }

    #[test]
    fn what_apt_prints_is_read() {
        let line = "'http://deb.example/pool/b/busybox-static_1.35_amd64.deb' \
                    busybox-static_1%3a1.35.0-4+b1_amd64.deb 928188 SHA256:12ab";
        let found = package(line).unwrap();
        assert_eq!(
            (found.name.as_str(), found.version.as_str()),
            ("busybox-static", "1:1.35.0-4+b1")
        );
        assert_eq!(found.identity(), "busybox-static_1%3a1.35.0-4+b1_amd64.deb SHA256:12ab");
        for other in ["Reading package lists...", "", "'uri' file.tar 1 SHA256:1", "'uri'"] {
            assert_eq!(package(other), None, "{other}");
        }
    }

    #[test]
    fn a_package_that_does_not_exist_is_named_with_what_to_do() {
        let scratch = tempfile::tempdir().unwrap();
        let wanted = "no-such-package-of-a-lab";
        let message =
            Apt::default().resolve(&[wanted], &[], scratch.path()).unwrap_err().to_string();
        if message.contains("install it") {
            return not_run("this is not Debian");
        }
        for part in [wanted, "cannot be fetched", "apt-get update"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn what_cannot_be_downloaded_is_named_and_nothing_half_is_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let gone = package("'x' gone-package_1.0_amd64.deb 1 SHA256:0").unwrap();
        let message =
            Apt::default().fetch(&[gone], scratch.path(), scratch.path()).unwrap_err().to_string();
        if message.contains("install it") {
            return not_run("this is not Debian");
        }
        assert!(message.contains("gone-package"), "{message}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
