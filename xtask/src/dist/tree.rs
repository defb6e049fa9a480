//! Files written below a directory as they are to be installed, for the programs that make packages of a directory.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::file::File;

/// Writes the files below the directory, with one time and their permissions, whatever the user's mask.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(files: &[File], directory: &Path, epoch: u64) -> Result<(), String> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(epoch);
    for file in files {
        let path = directory.join(&file.path);
        let failed = |error| format!("{} cannot be written: {error}", path.display());
        let above = path.parent().unwrap_or(directory);
        std::fs::create_dir_all(above).map_err(failed)?;
        std::fs::write(&path, &file.bytes).map_err(failed)?;
        std::fs::set_permissions(&path, Permissions::from_mode(file.mode())).map_err(failed)?;
        let opened = std::fs::File::open(&path).map_err(failed)?;
        opened.set_modified(time).map_err(failed)?;
        for parent in above.ancestors().take_while(|parent| parent.starts_with(directory)) {
            std::fs::set_permissions(parent, Permissions::from_mode(0o755)).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_their_time_and_permissions() {
        let directory = std::env::temp_dir().join(format!("stormeter-tree-{}", std::process::id()));
        let files = [File::program("usr/bin/a", "x"), File::new("usr/b", "y")];
        write(&files, &directory, 77).unwrap();
        let seen = |path: &str| {
            let metadata = std::fs::metadata(directory.join(path)).unwrap();
            let since = metadata.modified().unwrap().duration_since(SystemTime::UNIX_EPOCH);
            (metadata.permissions().mode() & 0o777, since.unwrap().as_secs())
        };
        let found = [seen("usr/bin/a"), seen("usr/b")];
        let above = seen("usr/bin").0;
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!((found, above), ([(0o755, 77), (0o644, 77)], 0o755));
    }
}
