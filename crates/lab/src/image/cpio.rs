//! Archives in the format that the kernel unpacks into its first file system: cpio, "newc" (Linux,
//! Documentation/driver-api/early-userspace/buffer-format.rst).
//!
//! Written here rather than by the program cpio, so that an image depends on its files only: all
//! files belong to root and have time 0, and the inode is the position in the archive.

use std::collections::BTreeSet;

/// An archive being written.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    folders: BTreeSet<String>,
}

/// File types in a mode (stat(2)).
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

impl Archive {
    /// Adds a folder with all its parents; paths start without a slash.
    pub(crate) fn folder(&mut self, path: &str) {
        if path.is_empty() || self.folders.contains(path) {
            return;
        }
        self.parent_of(path);
        self.entry(path, FOLDER | 0o755, &[]);
        self.folders.insert(path.into());
    }

    /// Adds a file; `mode` has its permissions.
    pub(crate) fn file(&mut self, path: &str, mode: u32, contents: &[u8]) {
        self.parent_of(path);
        self.entry(path, FILE | mode & 0o7777, contents);
    }

    /// Adds a symbolic link.
    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.parent_of(path);
        self.entry(path, LINK | 0o777, target.as_bytes());
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn parent_of(&mut self, path: &str) {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
    }

    /// Header, name and contents, each padded to four bytes. Header fields: inode, mode, user, group,
    /// links, time, size, device (two numbers), device it stands for (two), length of the name with
    /// its terminating zero, checksum (unused in this format).
    fn entry(&mut self, path: &str, mode: u32, contents: &[u8]) {
        self.entries += 1;
        let links = if mode & FOLDER == FOLDER { 2 } else { 1 };
        let name_length = path.len() as u32 + 1;
        let size = contents.len() as u32;
        self.bytes.extend_from_slice(b"070701");
        for field in [self.entries, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_length, 0] {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a header field.
    fn field(entry: &[u8], index: usize) -> usize {
        let text = std::str::from_utf8(&entry[6 + index * 8..14 + index * 8]).unwrap();
        usize::from_str_radix(text, 16).unwrap()
    }

    #[test]
    fn entries_are_padded_and_folders_come_first_and_once() {
        let mut archive = Archive::default();
        archive.file("bin/tool", 0o755, b"12345");
        archive.link("bin/sh", "tool");
        archive.folder("bin");
        let bytes = archive.finish();
        let mut at = 0;
        let mut seen = Vec::new();
        while at < bytes.len() {
            let entry = &bytes[at..];
            assert_eq!(&entry[..6], b"070701", "at {at}");
            let (name, size) = (field(entry, 11), field(entry, 6));
            let path = String::from_utf8(entry[110..110 + name - 1].to_vec()).unwrap();
            let start = (110 + name).next_multiple_of(4);
            let contents = entry[start..start + size].to_vec();
            seen.push((path, field(entry, 1), contents));
            at += (start + size).next_multiple_of(4);
        }
        let expected = [
            ("bin", 0o040_755, &b""[..]),
            ("bin/tool", 0o100_755, b"12345"),
            ("bin/sh", 0o120_777, b"tool"),
            ("TRAILER!!!", 0, b""),
        ];
        let expected: Vec<_> =
            expected.map(|(path, mode, bytes)| (path.to_owned(), mode, bytes.to_vec())).into();
        assert_eq!(seen, expected);
    }
}
