//! Roots to install packages in: a clean Debian, and an empty one for RPM. Commands see /proc, /sys and /dev there,
//! mounted for each command and for nobody else.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages;
use super::page::{Runner, SHELL};
use crate::child::{output, succeed};
use crate::repository::Repository;

/// Makes /bin a link to /usr/bin before anything is installed.
const MERGED: &str = "--hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr";
/// Where the downloads are in Debian.
const DOWNLOADS: &str = "root/downloads";

/// A Debian with its essential packages from the machine's own source of packages, and the packages in it.
///
/// # Errors
/// This machine has no source of Debian's packages, or the packages cannot be installed.
pub(super) fn debian(repository: &Repository, made: &Path) -> Result<Runner, String> {
    let root = repository.scratch("debian")?;
    let (site, release) = source(repository)?;
    let mut bootstrap = repository.command("mmdebstrap");
    // Root may be all that there is in a container, so not even a namespace of its own.
    bootstrap.args(["--mode=root", "--variant=essential", "--quiet"]);
    // Without the package that would convert it, and its Perl.
    bootstrap.args(["--include=usr-is-merged", MERGED]);
    // It is thrown away: nothing has to be on disk.
    bootstrap.args(["--dpkgopt=force-unsafe-io", &release]).arg(&root).arg(&site);
    succeed(&mut bootstrap)?;
    for absent in ["usr/bin/cargo", "usr/bin/rustc", "usr/lib/x86_64-linux-gnu/librbd.so.1"] {
        if root.join(absent).exists() {
            return Err(format!("{absent} is not expected in a clean Debian"));
        }
    }
    packages::copy(made, &root.join(DOWNLOADS))?;
    Ok(inside(root, |line| {
        let mut words: Vec<String> = SHELL.map(str::to_owned).into();
        words.extend(["-c".to_owned(), format!("cd /{DOWNLOADS}; {line}")]);
        words
    }))
}

/// An empty root in which `rpm` installs; everything else is a single command of what was installed.
///
/// # Errors
/// The root cannot be made.
pub(super) fn from_rpm(repository: &Repository, package: &Path) -> Result<Runner, String> {
    let root = repository.scratch("rpm-root")?;
    for directory in ["proc", "sys", "dev", "tmp", "root"] {
        let directory = root.join(directory);
        std::fs::create_dir(&directory)
            .map_err(|error| format!("{} cannot be made: {error}", directory.display()))?;
    }
    let packages = package.parent().unwrap_or(package).to_path_buf();
    let in_root = inside(root.clone(), |line| line.split(' ').map(str::to_owned).collect());
    Ok(Box::new(move |line| match line.strip_prefix("rpm ") {
        Some(arguments) => {
            let mut rpm = Command::new("rpm");
            rpm.arg("--root").arg(&root).args(arguments.split(' ')).current_dir(&packages);
            rpm
        }
        None => in_root(line),
    }))
}

/// Runs words in a root.
fn inside(root: PathBuf, words: impl Fn(&str) -> Vec<String> + 'static) -> Runner {
    // The mounts end with the namespace. In it the root is moved only by chroot, which any machine has.
    let script = "for of in proc sys dev; do mount --rbind \"/$of\" \"$0/$of\"; done; exec chroot \"$0\" \"$@\"";
    Box::new(move |line| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-euc", script]).arg(&root);
        command.args(words(line)).env_clear();
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", "/root").env("LC_ALL", "C.UTF-8");
        command
    })
}

/// The address and the name of the release that this machine's packages come from.
fn source(repository: &Repository) -> Result<(String, String), String> {
    let mut apt_get = repository.command("apt-get");
    let format = "$(LABEL)|$(COMPONENT)|$(CREATED_BY)|$(SITE)|$(RELEASE)";
    let text = output(apt_get.args(["indextargets", "--format", format]))?;
    chosen(&text).ok_or_else(|| "apt-get knows no source of Debian's packages".into())
}

/// The release itself, not its updates.
fn chosen(targets: &str) -> Option<(String, String)> {
    targets.lines().find_map(|line| {
        let rest = line.strip_prefix("Debian|main|Packages|")?;
        let (site, release) = rest.split_once('|')?;
        (!release.contains('-')).then(|| (site.to_owned(), release.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_that_of_the_release() {
        let targets = "Other|main|Packages|http://a/x|stable\n\
                       Debian|main|Sources|http://a/debian|trixie\n\
                       Debian|main|Packages|http://a/debian|trixie-updates\n\
                       Debian|main|Packages|http://a/debian|trixie\n";
        assert_eq!(chosen(targets), Some(("http://a/debian".into(), "trixie".into())));
        assert_eq!(chosen("Ubuntu|main|Packages|http://a/ubuntu|noble\n"), None);
    }
}
