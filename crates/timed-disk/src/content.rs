//! What is stored on a disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{PoisonError, RwLock};

/// Where the bytes are.
#[derive(Debug)]
pub enum Content {
    /// In memory: nothing else than the schedule takes time.
    Memory(RwLock<Vec<u8>>),
    /// In a file, which has the disk's size and may be sparse.
    File {
        /// The file.
        file: File,
        /// Its size.
        bytes: u64,
    },
}

impl Content {
    /// An empty disk in memory.
    #[must_use]
    pub fn memory(bytes: u64) -> Self {
        Self::Memory(RwLock::new(vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)]))
    }

    /// A disk in a file, which is extended to this size.
    ///
    /// # Errors
    /// The file cannot be extended.
    pub fn file(file: File, bytes: u64) -> io::Result<Self> {
        if file.metadata()?.len() < bytes {
            file.set_len(bytes)?;
        }
        Ok(Self::File { file, bytes })
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Memory(memory) => memory.read().map_or(0, |memory| memory.len() as u64),
            Self::File { bytes, .. } => *bytes,
        }
    }

    /// Reads; at the end of the disk less than was asked for.
    pub(crate) fn read(&self, offset: u64, length: u32) -> io::Result<Vec<u8>> {
        let left = self.bytes().saturating_sub(offset).min(length.into()) as usize;
        match self {
            Self::Memory(memory) => {
                let memory = memory.read().unwrap_or_else(PoisonError::into_inner);
                let first = offset as usize;
                Ok(memory.get(first..first + left).unwrap_or_default().to_vec())
            }
            Self::File { file, .. } => {
                let mut bytes = vec![0; left];
                file.read_exact_at(&mut bytes, offset)?;
                Ok(bytes)
            }
        }
    }

    /// Writes, never beyond the end.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(data.len() as u64);
        if end.is_none_or(|end| end > self.bytes()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        match self {
            Self::Memory(memory) => {
                let mut memory = memory.write().unwrap_or_else(PoisonError::into_inner);
                let first = offset as usize;
                memory[first..first + data.len()].copy_from_slice(data);
                Ok(())
            }
            Self::File { file, .. } => file.write_all_at(data, offset),
        }
    }
}
