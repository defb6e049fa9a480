//! The archive that is unpacked anywhere: the binary with its pages, completions and licences.

use tar::{Builder, EntryType, Header};

use super::file::{File, gzip};

/// A compressed archive of the files, in a directory. All have the same time and belong to root.
///
/// # Errors
/// A path is too long for an archive.
pub(crate) fn pack(directory: &str, files: &[File], epoch: u64) -> Result<Vec<u8>, String> {
    let mut entries: Vec<File> =
        files.iter().map(|file| file.at(format!("{directory}/{}", file.path))).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    gzip(&archive(&[], &entries, epoch)?)
}

/// An archive of directories, each with its permissions, and files, in this order.
///
/// # Errors
/// A path is too long for an archive.
pub(crate) fn archive(
    directories: &[(&str, u32)],
    files: &[File],
    epoch: u64,
) -> Result<Vec<u8>, String> {
    let mut builder = Builder::new(Vec::new());
    let mut append = |kind: EntryType, path: &str, mode: u32, bytes: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(epoch);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, path, bytes).map_err(|error| format!("{path}: {error}"))
    };
    for (path, mode) in directories {
        append(EntryType::Directory, path, *mode, &[])?;
    }
    for file in files {
        append(EntryType::Regular, &file.path, file.mode(), &file.bytes)?;
    }
    builder.into_inner().map_err(|error| format!("tar: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_what_was_packed_whatever_its_order() {
        let files = [File::program("stormeter", "ELF"), File::new("man/a.1", "page")];
        let packed = pack("d", &files, 77).unwrap();
        let turned: Vec<File> = files.iter().rev().cloned().collect();
        assert_eq!(packed, pack("d", &turned, 77).unwrap());
        let bytes = archive(&[("tmp/", 0o1777)], &files, 77).unwrap();
        let mut archive = tar::Archive::new(bytes.as_slice());
        let entries: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().to_string_lossy().into_owned();
                (path, header.mode().unwrap(), header.mtime().unwrap(), header.size().unwrap())
            })
            .collect();
        let expected = [
            ("tmp/".to_owned(), 0o1777, 77, 0),
            ("stormeter".to_owned(), 0o755, 77, 3),
            ("man/a.1".to_owned(), 0o644, 77, 4),
        ];
        assert_eq!(entries, expected);
    }
}
