//! The package for RPM, made by rpmbuild from the files of the other packages.
//!
//! Not by cargo-generate-rpm: building that takes minutes, most of them for signatures, which are not made here.

use std::path::Path;
use std::process::Stdio;

use super::documents::Documents;
use super::file::File;
use super::release::Release;
use super::{installed, tree};
use crate::child::output;
use crate::repository::Repository;
use crate::target::Target;

const RELEASE: u32 = 1;
const LICENCES: &str = "usr/share/licenses/stormeter";

/// The name of the package's file.
pub(crate) fn name(release: &Release, target: Target) -> String {
    format!("stormeter-{}-{RELEASE}.{}.rpm", release.version, target.machine)
}

/// Makes the package in a directory.
///
/// # Errors
/// A file cannot be written, or rpmbuild fails.
pub(crate) fn make(
    repository: &Repository,
    release: &Release,
    target: Target,
    (binary, documents): (&[u8], &Documents),
    into: &Path,
) -> Result<(), String> {
    let top = repository.scratch("rpm")?;
    let files = files(binary, documents)?;
    let stage = top.join("stage");
    tree::write(&files, &stage, release.date.epoch)?;
    let spec = top.join("stormeter.spec");
    std::fs::write(&spec, self::spec(release, &files, &stage))
        .map_err(|error| format!("{} cannot be written: {error}", spec.display()))?;
    let mut build = repository.command("rpmbuild");
    build.args(["-bb", "--quiet", "--target", target.machine]);
    let here = [("_topdir", top.as_path()), ("_rpmdir", into)];
    for (name, value) in here {
        build.arg("--define").arg(format!("{name} {}", value.display()));
    }
    for define in DEFINES {
        build.args(["--define", define]);
    }
    build.env("SOURCE_DATE_EPOCH", release.date.epoch.to_string()).env("LC_ALL", "C");
    output(build.arg(&spec).stdin(Stdio::null())).map(|_| ())
}

/// What would differ from one machine to the next, and steps that change files: they are as they are to be.
const DEFINES: [&str; 9] = [
    "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
    "_buildhost stormeter",
    "use_source_date_epoch_as_buildtime 1",
    "clamp_mtime_to_source_date_epoch 1",
    "source_date_epoch_from_changelog 0",
    "_binary_payload w9.gzdio",
    "__os_install_post %{nil}",
    "debug_package %{nil}",
    "_build_id_links none",
];

fn files(binary: &[u8], documents: &Documents) -> Result<Vec<File>, String> {
    let mut files = installed::common(binary, documents)?;
    for file in &mut files {
        // Where zsh looks on Fedora and SUSE.
        file.path = file.path.replace("zsh/vendor-completions", "zsh/site-functions");
    }
    let licences = documents.licences.iter().chain([&documents.third_party]);
    files.extend(licences.map(|file| file.at(format!("{LICENCES}/{}", file.name()))));
    files.push(documents.changelog.at("usr/share/doc/stormeter/CHANGELOG.md"));
    Ok(files)
}

fn spec(release: &Release, files: &[File], stage: &Path) -> String {
    let line = |file: &File| {
        let kind = match &file.path {
            path if path.starts_with(LICENCES) => "%license ",
            path if path.starts_with("usr/share/doc") || path.starts_with("usr/share/man") => {
                "%doc "
            }
            _ => "",
        };
        format!("%attr(0{:o}, root, root) {kind}/{}\n", file.mode(), file.path)
    };
    let list: String = files.iter().map(line).collect();
    let Release { version, repository, date, .. } = release;
    format!(
        "\
Name: stormeter
Version: {version}
Release: {RELEASE}
Summary: Compare datastores for virtual machines
License: MIT OR Apache-2.0
URL: {repository}
AutoReqProv: no

%description
Stormeter measures real storage the way a hypervisor uses it, and says which
datastore is better, by how much, at what CPU cost, and how sure that is.

%install
cp -a '{}/.' '%{{buildroot}}/'

%files
%dir /{LICENCES}
%dir /usr/share/doc/stormeter
{list}
%changelog
* {} Stormeter contributors <stormeter@users.noreply.github.com> - {version}-{RELEASE}
- Version {version}; see /usr/share/doc/stormeter/CHANGELOG.md
",
        stage.display(),
        date.day,
    )
}

#[cfg(test)]
mod tests {
    use super::super::release::tests::release;
    use super::*;
    use crate::target::X86_64;

    #[test]
    fn the_specification_lists_every_file_with_its_permissions() {
        let files = [
            File::program("usr/bin/stormeter", ""),
            File::new("usr/share/licenses/stormeter/LICENSE-MIT", ""),
            File::new("usr/share/man/man1/stormeter.1.gz", ""),
        ];
        let spec = spec(&release(), &files, Path::new("/s"));
        for line in [
            "Version: 1.2.3",
            "cp -a '/s/.' '%{buildroot}/'",
            "%attr(0755, root, root) /usr/bin/stormeter",
            "%attr(0644, root, root) %license /usr/share/licenses/stormeter/LICENSE-MIT",
            "%attr(0644, root, root) %doc /usr/share/man/man1/stormeter.1.gz",
        ] {
            assert!(spec.lines().any(|it| it == line), "{line}: {spec}");
        }
        assert!(spec.contains("* Sat Nov 28 2026 "), "{spec}");
        assert_eq!(name(&release(), X86_64), "stormeter-1.2.3-1.x86_64.rpm");
    }
}
