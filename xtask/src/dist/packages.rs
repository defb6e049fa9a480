//! All packages of a release, made from the binaries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::documents::{Documents, read};
use super::file::File;
use super::release::Release;
use super::{checksums, deb, image, linked, rpm, sbom, tarball, third_party};
use crate::repository::Repository;
use crate::target::{self, Target, X86_64};
use crate::{changelog, metadata};

/// A binary and the machine it is for.
pub(crate) type Binary = (Target, PathBuf);

/// Makes all of them in an empty directory; the last file has the sums of the others.
///
/// # Errors
/// The version has no dated section in CHANGELOG.md, or a package cannot be made.
pub(crate) fn make(
    repository: &Repository,
    release: &Release,
    binaries: &[Binary],
    into: &Path,
) -> Result<(), String> {
    let text = read(&repository.root.join("CHANGELOG.md"))?;
    changelog::check(&String::from_utf8_lossy(&text), &release.version)
        .map_err(|error| format!("CHANGELOG.md {error}"))?;
    let (_, runs_here) =
        binaries.iter().find(|(target, _)| *target == X86_64).ok_or("no binary runs here")?;
    let documents = Documents::of(repository, runs_here, notices(repository)?)?;
    let lock = read(&repository.root.join("Cargo.lock"))?;
    let sums = sbom::sums(&String::from_utf8_lossy(&lock));
    let mut loaded = Vec::new();
    for (target, path) in binaries {
        let binary = read(path)?;
        let stem = format!("{}-{}-linux", release.stem(), target.machine);
        write(into, &format!("{stem}.tar.gz"), &tarball(release, &stem, &binary, &documents)?)?;
        deb::make(repository, release, *target, (&binary, &documents), into)?;
        rpm::make(repository, release, *target, (&binary, &documents), into)?;
        let materials = sbom::text(release, *target, &linked::of(repository, *target)?, &sums);
        write(into, &format!("{stem}.cdx.json"), materials.as_bytes())?;
        loaded.push((*target, binary));
    }
    write(into, &image::name(release), &image::pack(release, &documents, &loaded)?)?;
    let made = contents(into)?;
    let sums = checksums::list(made.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    write(into, &format!("{}.sha256", release.stem()), sums.as_bytes())
}

/// The files of a directory by name.
///
/// # Errors
/// One cannot be read.
pub(crate) fn contents(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let failed = |error| format!("{}: {error}", directory.display());
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), read(&entry.path())?);
    }
    Ok(files)
}

/// Copies them into a directory that is made, as after a download.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn copy(made: &Path, into: &Path) -> Result<(), String> {
    std::fs::create_dir_all(into)
        .map_err(|error| format!("{} cannot be made: {error}", into.display()))?;
    contents(made)?.iter().try_for_each(|(name, bytes)| write(into, name, bytes))
}

fn tarball(
    release: &Release,
    stem: &str,
    binary: &[u8],
    documents: &Documents,
) -> Result<Vec<u8>, String> {
    let mut files = vec![File::program("stormeter", binary)];
    files.extend(documents.pages.iter().map(|page| page.at(format!("man/man1/{}", page.path))));
    let completions = documents.completions.iter();
    files.extend(completions.map(|file| file.at(format!("completions/{}", file.path))));
    files.extend(documents.licences.iter().cloned());
    files
        .extend([&documents.third_party, &documents.readme, &documents.changelog].map(File::clone));
    tarball::pack(stem, &files, release.date.epoch)
}

/// The notices of what is linked on any machine.
fn notices(repository: &Repository) -> Result<String, String> {
    let mut packages = BTreeMap::new();
    let mut directories = BTreeMap::new();
    for target in target::ALL {
        packages.extend(linked::of(repository, target)?);
        for package in metadata::packages_for(repository, target.triple)? {
            let directory = Path::new(&package.manifest).parent().unwrap_or(Path::new(""));
            let directory = repository.root.join(directory);
            directories.insert((package.name, package.version), directory);
        }
    }
    third_party::notices(&packages, &directories)
}

fn write(into: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path = into.join(name);
    std::fs::write(&path, bytes)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}
