//! Debian's package, made by dpkg-deb.
//!
//! Not by cargo-deb: building that takes a minute and a half each time, and what it adds, control fields from
//! Cargo.toml, is a page.

use std::path::Path;

use super::documents::Documents;
use super::file::File;
use super::release::Release;
use super::{installed, tree};
use crate::child::{output, succeed};
use crate::repository::Repository;
use crate::target::Target;

const MAINTAINER: &str = "Stormeter contributors <stormeter@users.noreply.github.com>";
const DOC: &str = "usr/share/doc/stormeter";
/// Known to lintian, and meant.
const OVERRIDES: &str = "\
# One file that runs on any Linux, also in containers and in guests that have no C library.
stormeter: statically-linked-binary [usr/bin/stormeter]
# The messages of saphyr, a parser of YAML in Rust, are those of libyaml, which is not in it.
stormeter: embedded-library libyaml [usr/bin/stormeter]
";

/// The name of the package's file.
pub(crate) fn name(release: &Release, target: Target) -> String {
    format!("stormeter_{}_{}.deb", release.version, target.architecture)
}

/// Makes the package in a directory.
///
/// # Errors
/// A file cannot be written, or dpkg-deb fails.
pub(crate) fn make(
    repository: &Repository,
    release: &Release,
    target: Target,
    (binary, documents): (&[u8], &Documents),
    into: &Path,
) -> Result<(), String> {
    let stage = repository.scratch("deb")?;
    let mut files = installed::common(binary, documents)?;
    files.extend([
        File::new(format!("{DOC}/changelog"), changelog(release)).gzipped()?,
        documents.changelog.at(format!("{DOC}/CHANGELOG.md")).gzipped()?,
        documents.third_party.at(format!("{DOC}/THIRD-PARTY.txt")).gzipped()?,
        File::new(format!("{DOC}/copyright"), copyright(release, documents)?),
        File::new("usr/share/lintian/overrides/stormeter", OVERRIDES),
    ]);
    let epoch = release.date.epoch;
    tree::write(&files, &stage, epoch)?;
    let mut paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    let sums = output(repository.command("md5sum").args(paths).current_dir(&stage))?;
    let bytes = files.iter().map(|file| file.bytes.len()).sum();
    let control = [
        File::new("DEBIAN/control", control(release, target, bytes)),
        File::new("DEBIAN/md5sums", sums),
    ];
    tree::write(&control, &stage, epoch)?;
    let mut build = repository.command("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", epoch.to_string());
    // With more than one thread, the number of processors would be a part of the result.
    build.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]);
    succeed(
        build.arg(&stage).arg(into.join(name(release, target))).stdout(std::process::Stdio::null()),
    )
}

fn control(release: &Release, target: Target, bytes: usize) -> String {
    format!(
        "\
Package: stormeter
Version: {}
Architecture: {}
Maintainer: {MAINTAINER}
Installed-Size: {}
Section: admin
Priority: optional
Homepage: {}
Description: compare datastores for virtual machines
 Stormeter measures real storage the way a hypervisor uses it: directories,
 block devices, NFS exports and iSCSI LUNs without mount or kernel module. It
 says which datastore is better, by how much, at what CPU cost, and how sure
 that is: blocks in random order, an interval on the ratio, and a verdict that
 may be inconclusive.
",
        release.version,
        target.architecture,
        bytes.div_ceil(1024),
        release.repository,
    )
}

fn changelog(release: &Release) -> String {
    format!(
        "\
stormeter ({0}) unstable; urgency=medium

  * Version {0}; /{DOC}/CHANGELOG.md.gz says what changed.

 -- {MAINTAINER}  {1}
",
        release.version, release.date.letter,
    )
}

/// In the machine-readable form of Debian's copyright format 1.0.
fn copyright(release: &Release, documents: &Documents) -> Result<String, String> {
    let mit = documents.licences.iter().find(|file| file.name() == "LICENSE-MIT");
    let mit = mit.map(|file| String::from_utf8_lossy(&file.bytes)).unwrap_or_default();
    let holder = mit.lines().find_map(|line| line.strip_prefix("Copyright (c) "));
    let holder = holder.ok_or("LICENSE-MIT names no holder of the copyright")?;
    let permission = mit.split_once(holder).map_or("", |(_, rest)| rest.trim());
    // Lines of a field start with a space, and empty ones have a dot.
    let field = |text: &str| -> String {
        let line =
            |line: &str| if line.trim().is_empty() { " .\n".into() } else { format!(" {line}\n") };
        text.lines().map(line).collect()
    };
    let linked = String::from_utf8_lossy(&documents.third_party.bytes);
    // The list at the start of the notices.
    let list = linked.split("\n\n").nth(1).unwrap_or_default();
    Ok(format!(
        "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: stormeter
Source: {}

Files: *
Copyright: {holder}
License: Expat or Apache-2.0
Comment:
 The program is linked with the Rust standard library (MIT or Apache-2.0), musl
 (MIT), SQLite (public domain) and the following; all notices and licences are
 in /{DOC}/THIRD-PARTY.txt.gz.
 .
{}
License: Expat
{}
License: Apache-2.0
 On Debian systems, the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
",
        release.repository,
        field(list),
        field(permission),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::release::tests::release;
    use super::*;
    use crate::target::AARCH64;

    #[test]
    fn the_name_has_version_and_architecture() {
        assert_eq!(name(&release(), AARCH64), "stormeter_1.2.3_arm64.deb");
    }

    #[test]
    fn control_fields_and_changelog_name_the_version() {
        let control = control(&release(), AARCH64, 2049);
        for line in ["Version: 1.2.3", "Architecture: arm64", "Installed-Size: 3"] {
            assert!(control.lines().any(|it| it == line), "{line}: {control}");
        }
        assert!(control.lines().all(|line| line.len() <= 80), "{control}");
        let changelog = changelog(&release());
        assert!(changelog.starts_with("stormeter (1.2.3) unstable;"), "{changelog}");
        assert!(changelog.ends_with(">  Sat, 28 Nov 2026 13:01:01 +0000\n"), "{changelog}");
    }

    #[test]
    fn the_copyright_has_our_licences_and_the_list_of_linked_packages() {
        let documents = Documents {
            pages: Vec::new(),
            completions: Vec::new(),
            changelog: File::new("CHANGELOG.md", ""),
            licences: vec![File::new(
                "LICENSE-MIT",
                "MIT\n\nCopyright (c) 2026 Us\n\nDo.\n\nAs is.\n",
            )],
            third_party: File::new("T", "Linked:\n\nlibc 1: MIT\nsum 2: ISC\n\n---\ntexts\n"),
            readme: File::new("README.md", ""),
        };
        let text = copyright(&release(), &documents).unwrap();
        assert!(text.contains("Copyright: 2026 Us\n"), "{text}");
        assert!(
            text.contains(" .\n libc 1: MIT\n sum 2: ISC\n\nLicense: Expat\n Do.\n .\n As is.\n"),
            "{text}"
        );
        assert!(!text.contains("texts"), "{text}");
    }
}
