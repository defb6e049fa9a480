//! Another suite of Debian, such as `trixie`, of which a host runs the kernel.
//!
//! Its lists are kept in the cache, so this machine's own sources stay as they are, and root is not needed. The mirror is
//! that of this machine. Of a suite only the kernel is used: its name is read from the package that depends on the
//! newest one, because apt would refuse to install a kernel without what its package needs.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::packages::{APT_GET, Apt, Package, last_words};
use super::recipe::KERNEL;
use crate::error::{LabError, at, tool};

/// The keys that sign Debian's lists; where the file is missing, apt's own keys are used.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Fetches today's lists of a suite, and returns apt with these alone.
///
/// # Errors
/// This machine has no sources of Debian, or the suite does not exist on its mirror.
pub(super) fn open(suite: &str, root: &Path) -> Result<Apt, LabError> {
    let mirror = mirror()?;
    let folder = root.join("suites").join(suite);
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(folder.join(part)).map_err(at(&folder))?;
    }
    let signed =
        if Path::new(KEYS).exists() { format!("[signed-by={KEYS}] ") } else { String::new() };
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map(|()| path.clone()).map_err(at(&path))
    };
    let sources = write("sources.list", &format!("deb {signed}{mirror} {suite} main\n"))?;
    let status = write("status", "")?;
    let mut apt = Apt::default();
    let (lists, cache) = (folder.join("lists"), folder.join("cache"));
    for (key, path) in [
        ("Dir::Etc::sourcelist", sources.as_path()),
        ("Dir::Etc::sourceparts", Path::new("-")),
        ("Dir::State::lists", &lists),
        ("Dir::State::status", &status),
        ("Dir::Cache", &cache),
        // As the calling user; apt's own user may not write here.
        ("APT::Sandbox::User", Path::new("")),
    ] {
        let mut option = OsString::from(format!("{key}="));
        option.push(path);
        apt.options.extend(["-o".into(), option]);
    }
    // An error of the mirror fails the update instead of leaving old lists or none.
    let mut update = apt.command(APT_GET);
    update.args(["-qq", "-o", "APT::Update::Error-Mode=any", "update"]);
    let output = update.output().map_err(|source| tool(APT_GET, source))?;
    if output.status.success() {
        return Ok(apt);
    }
    Err(LabError::NoSuite { suite: suite.into(), mirror, said: first_error(&output.stderr) })
}

/// The kernel of the suite.
///
/// # Errors
/// It has none of that name.
pub(super) fn kernel(apt: &Apt) -> Result<Package, LabError> {
    const APT_CACHE: &str = "apt-cache";
    let mut show = apt.command(APT_CACHE);
    show.args(["-o", "APT::Cache::AllVersions=0", "show", KERNEL]);
    let output = show.output().map_err(|source| tool(APT_CACHE, source))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let name = depends(&text).ok_or_else(|| LabError::Fetch {
        package: KERNEL.into(),
        said: last_words(&output.stderr),
    })?;
    apt.only(name)
}

/// The first package that a package's record depends on.
fn depends(record: &str) -> Option<&str> {
    record.lines().find_map(|line| line.strip_prefix("Depends: "))?.split([' ', ',']).next()
}

/// The mirror of Debian's main archive, which has all suites but those for security.
fn mirror() -> Result<String, LabError> {
    let mut command = Apt::default().command(APT_GET);
    command.args(["indextargets", "-o", "APT::Get::IndexTargets::Format=$(REPO_URI)"]);
    command.args(["Created-By: Packages", "Origin: Debian", "Label: Debian", "Component: main"]);
    let output = command.output().map_err(|source| tool(APT_GET, source))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned).ok_or(LabError::NoMirror)
}

/// The first error that apt reports: the last one is about the lists in general.
fn first_error(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let error = text.lines().find_map(|line| line.strip_prefix("E: "));
    error.map_or_else(|| last_words(said), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_newest_kernel() {
        let record = "Package: linux-image-amd64\nPre-Depends: x\n\
                      Depends: linux-image-6.12.1-amd64 (= 6.12.1-1), y\n";
        assert_eq!(depends(record), Some("linux-image-6.12.1-amd64"));
        assert_eq!(depends("Package: linux-image-amd64\n"), None);
    }

    #[test]
    fn the_first_error_is_the_reason() {
        let said = b"W: old\nE: The repository has no Release file.\nE: Some index files failed\n";
        assert_eq!(first_error(said), "The repository has no Release file.");
        assert_eq!(first_error(b""), last_words(b""));
    }
}
