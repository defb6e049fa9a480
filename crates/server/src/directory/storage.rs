//! The file operations on which the promise of stability rests, behind a trait so that a test can
//! see which ones were done before an answer was sent.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Writing data and making it stable.
pub(crate) trait Storage: Send + Sync {
    /// Writes everything; it may stay in the page cache.
    fn write(&self, file: &File, data: &[u8], offset_bytes: u64) -> io::Result<()>;
    /// Returns when the data, and the metadata needed to read it, are stable.
    fn sync_data(&self, file: &File) -> io::Result<()>;
    /// Returns when everything about the file or directory is stable.
    fn sync_all(&self, file: &File) -> io::Result<()>;
}

/// The kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel;

impl Storage for Kernel {
    fn write(&self, file: &File, data: &[u8], offset_bytes: u64) -> io::Result<()> {
        file.write_all_at(data, offset_bytes)
    }

    fn sync_data(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn sync_all(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
}
