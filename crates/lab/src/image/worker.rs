//! The images that stormeter itself is in: the worker guest's, where it is init and there is nothing else
//! but modules, and the host's, which it is put behind.

use std::fs;
use std::path::{Path, PathBuf};

use super::closure;
use super::cpio::Archive;
use super::key::key;
use super::system::{INITIATOR, MODULES, ORDER};
use crate::error::{LabError, at};

/// Whether the program can be a guest's init, where there is no library.
pub(super) fn check(binary: &Path) -> Result<(), LabError> {
    let file = fs::read(binary).map_err(at(binary))?;
    match closure::needs(&file) {
        Some(needs) if needs.is_empty() => Ok(()),
        _ => Err(LabError::NotStatic { path: binary.to_owned() }),
    }
}

/// The host's image of this system and this binary, made if it is not there. The kernel unpacks one
/// archive after the other.
pub(super) fn host(
    system: &Path,
    binary: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, LabError> {
    let program = fs::read(binary).map_err(at(binary))?;
    let path = system.join(format!("host-{}.img", key(&[&program])));
    if path.exists() {
        return Ok(path);
    }
    say("putting stormeter into the host");
    let first = system.join(INITIATOR);
    let mut image = fs::read(&first).map_err(at(&first))?;
    let mut archive = Archive::default();
    archive.file("bin/stormeter", 0o755, &program);
    image.extend(archive.finish());
    keep(system, &path, &image)?;
    Ok(path)
}

/// The worker guest's image of this system and this binary, made if it is not there.
pub(super) fn image(
    system: &Path,
    binary: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, LabError> {
    let program = fs::read(binary).map_err(at(binary))?;
    let path = system.join(format!("worker-{}.img", key(&[&program])));
    if path.exists() {
        return Ok(path);
    }
    say("making the worker guest");
    let mut archive = Archive::default();
    archive.file("init", 0o755, &program);
    for folder in ["proc", "sys", "dev", "tmp"] {
        archive.folder(folder);
    }
    let modules = system.join(MODULES);
    for entry in fs::read_dir(&modules).map_err(at(&modules))? {
        let file = entry.map_err(at(&modules))?.path();
        let last = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        archive.file(&format!("modules/{last}"), 0o644, &fs::read(&file).map_err(at(&file))?);
    }
    let order = system.join(ORDER);
    archive.file("modules/order", 0o644, &fs::read(&order).map_err(at(&order))?);
    keep(system, &path, &archive.finish())?;
    Ok(path)
}

/// Whoever is killed here leaves a file that nobody takes for an image.
fn keep(system: &Path, path: &Path, image: &[u8]) -> Result<(), LabError> {
    let half = system.join(format!(".image-{}", std::process::id()));
    fs::write(&half, image).map_err(at(&half))?;
    fs::rename(&half, path).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_made_once_for_each_binary() {
        let system = tempfile::tempdir().unwrap();
        fs::create_dir(system.path().join(MODULES)).unwrap();
        fs::write(system.path().join(MODULES).join("a.ko"), "module").unwrap();
        fs::write(system.path().join(ORDER), "base: a.ko\n").unwrap();
        let binary = system.path().join("binary");
        fs::write(&binary, "one").unwrap();
        let mut said = 0;
        let mut make = || image(system.path(), &binary, &mut |_| said += 1).unwrap();
        let first = make();
        assert_eq!(make(), first);
        fs::write(&binary, "other").unwrap();
        let second = make();
        assert_ne!(first, second);
        assert_eq!(said, 2);
        let bytes = fs::read(&second).unwrap();
        assert!(bytes.windows(5).any(|window| window == b"other"));
    }
}
