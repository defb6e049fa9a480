//! Stores a payload in a fixed order: every byte, then the fsync, and only then the acknowledgement.

use std::fs::File;
use std::io::{self, Write};

use crate::ProbeError;
use crate::folder::Folder;
use crate::memory::Memory;

/// Stores bytes.
pub(crate) trait Store {
    /// Appends these bytes.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes all of them durable against a power failure.
    fn sync(&mut self) -> io::Result<()>;
}

/// The memory into which bytes were received is where they stay.
pub(crate) struct InMemory;

impl Store for InMemory {
    fn put(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file, created when the first bytes come, so that its creation is part of the transfer.
pub(crate) struct InFile<'a> {
    folder: &'a Folder,
    file: Option<File>,
}

impl<'a> InFile<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self { folder, file: None }
    }
}

impl Store for InFile<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.folder.create_file()?);
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }
}

/// The result of receiving a payload.
pub(crate) struct Kept {
    pub(crate) length_bytes: u64,
    /// Why it could not be stored, although all of it was received.
    pub(crate) failure: Option<io::Error>,
}

/// Receives a payload into a store. After a failure the store is not used again, but the payload is
/// received to its end, so that the sender gets the error instead of a broken connection.
pub(crate) fn keep(
    mut receive: impl FnMut(&mut [u8]) -> Result<(), ProbeError>,
    memory: &mut Memory,
    store: &mut impl Store,
    length_bytes: u64,
    sync: bool,
) -> Result<Kept, ProbeError> {
    let mut kept = Kept { length_bytes: 0, failure: None };
    while kept.length_bytes < length_bytes {
        let chunk = memory.next(length_bytes - kept.length_bytes);
        receive(chunk)?;
        kept.length_bytes += chunk.len() as u64;
        if kept.failure.is_none() {
            kept.failure = store.put(chunk).err();
        }
    }
    if sync && kept.failure.is_none() {
        kept.failure = store.sync().err();
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the calls, and fails at a given one.
    #[derive(Default)]
    struct Log {
        steps: Vec<String>,
        fails_at: Option<usize>,
    }

    impl Log {
        fn step(&mut self, text: String) -> io::Result<()> {
            self.steps.push(text);
            match self.fails_at {
                Some(at) if at + 1 == self.steps.len() => Err(io::ErrorKind::StorageFull.into()),
                _ => Ok(()),
            }
        }
    }

    impl Store for Log {
        fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.step(format!("put {}", bytes.len()))
        }

        fn sync(&mut self) -> io::Result<()> {
            self.step("sync".into())
        }
    }

    fn keep_in(log: &mut Log, length_bytes: u64, sync: bool) -> (Kept, u64) {
        let mut received_bytes = 0;
        let receive = |chunk: &mut [u8]| {
            received_bytes += chunk.len() as u64;
            Ok(())
        };
        let kept = keep(receive, &mut Memory::new(), log, length_bytes, sync).unwrap();
        (kept, received_bytes)
    }

    #[test]
    fn the_fsync_comes_once_and_after_the_last_byte() {
        let mut log = Log::default();
        let (kept, _) = keep_in(&mut log, 600_000, true);
        assert_eq!(log.steps, ["put 262144", "put 262144", "put 75712", "sync"]);
        assert_eq!((kept.length_bytes, kept.failure.is_none()), (600_000, true));
    }

    #[test]
    fn without_the_option_there_is_none() {
        let mut log = Log::default();
        keep_in(&mut log, 5, false);
        assert_eq!(log.steps, ["put 5"]);
    }

    #[test]
    fn a_failure_is_reported_after_the_whole_payload_was_received() {
        for fails_at in [0, 2, 3] {
            let mut log = Log { fails_at: Some(fails_at), ..Log::default() };
            let (kept, received_bytes) = keep_in(&mut log, 600_000, true);
            assert!(kept.failure.is_some(), "{fails_at}");
            assert_eq!(received_bytes, 600_000);
            assert_eq!(log.steps.len(), fails_at + 1, "a store that failed is not asked again");
        }
    }

    #[test]
    fn a_file_holds_what_came() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::create(directory.path()).unwrap();
        let mut store = InFile::new(&folder);
        let mut next = 0_u8;
        let receive = |chunk: &mut [u8]| {
            next += 1;
            chunk.fill(next);
            Ok(())
        };
        let kept = keep(receive, &mut Memory::new(), &mut store, 300_000, true).unwrap();
        assert!(kept.failure.is_none());
        let name = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(name.join("payload")).unwrap();
        assert_eq!(bytes.len(), 300_000);
        assert!(bytes.iter().take(262_144).all(|&byte| byte == 1));
        assert!(bytes.iter().skip(262_144).all(|&byte| byte == 2));
    }
}
