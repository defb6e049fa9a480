//! The images that contain stormeter: the worker guest's, where it is init and the only program, and the
//! host's, to which it is appended.

use std::fs;
use std::path::{Path, PathBuf};

use super::cpio::Archive;
use super::program::Program;
use super::system::{INITIATOR, MODULES, ORDER, SERVICES};
use crate::error::{LabError, at};

/// The host's image for this system and this program, made if it does not exist; with the services of the system
/// `services`, if there is one. The kernel unpacks one archive after the other.
pub(super) fn host(
    system: &Path,
    services: Option<&Path>,
    program: &Program,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, LabError> {
    let layer = services.map(|system| system.join(SERVICES));
    let path = system.join(match services.and_then(Path::file_name) {
        Some(other) => format!("server-{}-{}.img", program.key(), other.to_string_lossy()),
        None => format!("host-{}.img", program.key()),
    });
    if path.exists() {
        return Ok(path);
    }
    let what = if layer.is_some() { "host with services" } else { "host" };
    say(&format!("putting stormeter into the {what}"));
    let first = system.join(INITIATOR);
    let mut image = fs::read(&first).map_err(at(&first))?;
    if let Some(layer) = layer {
        image.extend(fs::read(&layer).map_err(at(&layer))?);
    }
    let mut archive = Archive::default();
    program.put_as_command(&mut archive);
    image.extend(archive.finish());
    keep(system, &path, &image)?;
    Ok(path)
}

/// The worker guest's image for this system and this program, made if it does not exist.
pub(super) fn image(
    system: &Path,
    program: &Program,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, LabError> {
    let path = system.join(format!("worker-{}.img", program.key()));
    if path.exists() {
        return Ok(path);
    }
    say("making the worker guest");
    let mut archive = Archive::default();
    program.put_as_init(&mut archive);
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

/// A killed process leaves a file that is never taken for an image.
fn keep(system: &Path, path: &Path, image: &[u8]) -> Result<(), LabError> {
    let half = system.join(format!(".image-{}", std::process::id()));
    fs::write(&half, image).map_err(at(&half))?;
    fs::rename(&half, path).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_made_once_for_each_program() {
        let system = tempfile::tempdir().unwrap();
        fs::create_dir(system.path().join(MODULES)).unwrap();
        fs::write(system.path().join(MODULES).join("a.ko"), "module").unwrap();
        fs::write(system.path().join(ORDER), "base: a.ko\n").unwrap();
        let binary = system.path().join("binary");
        let program = |end: &str| {
            let mut file = super::super::elf::STATIC.to_vec();
            file.extend(end.as_bytes());
            fs::write(&binary, file).unwrap();
            Program::read(&binary, system.path()).unwrap()
        };
        let mut said = 0;
        let mut make =
            |program: &Program| image(system.path(), program, &mut |_| said += 1).unwrap();
        let one = program("one");
        let first = make(&one);
        assert_eq!(make(&one), first);
        let second = make(&program("other"));
        assert_ne!(first, second);
        assert_eq!(said, 2);
        let bytes = fs::read(&second).unwrap();
        assert!(bytes.windows(5).any(|window| window == b"other"));
    }
}
