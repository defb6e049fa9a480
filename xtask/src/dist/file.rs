//! A file as a package holds it.

use std::io::Write;

use flate2::{Compression, GzBuilder};

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Relative to the root of what is packaged.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// Whether it is a program.
    pub(crate) executable: bool,
}

impl File {
    /// One that is only read.
    pub(crate) fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), executable: false }
    }

    /// A program.
    pub(crate) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { executable: true, ..Self::new(path, bytes) }
    }

    /// One of the same content elsewhere.
    pub(crate) fn at(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self.clone() }
    }

    /// Its content compressed, at its path with `.gz`.
    ///
    /// # Errors
    /// None that memory does not have.
    pub(crate) fn gzipped(&self) -> Result<Self, String> {
        Ok(Self { bytes: gzip(&self.bytes)?, ..self.at(format!("{}.gz", self.path)) })
    }

    /// Its permissions.
    pub(crate) fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }

    /// The last part of its path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// Compressed as much as possible, without name and time.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
    writer.write_all(bytes).and_then(|()| writer.finish()).map_err(|error| format!("gzip: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_files_have_neither_name_nor_time() {
        let file = File::new("a/b.1", "page").gzipped().unwrap();
        assert_eq!((file.path.as_str(), file.name(), file.mode()), ("a/b.1.gz", "b.1.gz", 0o644));
        // RFC 1952: no flags, no time; lintian demands the mark of the best compression.
        assert_eq!(file.bytes[..9], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2]);
        assert_eq!(File::program("x", "").mode(), 0o755);
    }
}
