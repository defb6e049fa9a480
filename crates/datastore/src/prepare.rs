//! Writes every byte of every disk before anything is measured.
//!
//! A read of an unwritten place touches no storage, and a thin or compressing store
//! serves zeros for free; so disks are filled with the caller's content through the same path
//! (direct or buffered) as the measurement. Threads write chunks in parallel: filling costs CPU, and
//! one write at a time would leave the storage idle.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use stormeter_disk::DatastoreFact;

use crate::aligned::AlignedBuffer;
use crate::{DatastoreError, DiskSpec};

/// Bytes per write. A multiple of any logical block; large enough for full bandwidth.
const CHUNK_BYTES: u64 = 1 << 20;
/// Writes in flight.
const THREADS: usize = 6;
/// How often to check for cancellation while storage is slow.
const CANCEL_CHECK: Duration = Duration::from_millis(100);

/// Fills a part of a disk with content: disk, offset in bytes, the bytes to fill. Called from
/// several threads at once, in no particular order, once for each part.
pub type Fill<'a> = dyn Fn(u32, u64, &mut [u8]) + Sync + 'a;

/// What to prepare, and whom to report to.
pub struct Preparation<'a> {
    /// The disks.
    pub disks: DiskSpec,
    /// The caller's name for what `fill` writes (such as a hash of its parameters and seed): disks
    /// with other content are not reused.
    pub content_id: u64,
    /// Generates the content.
    pub fill: &'a Fill<'a>,
    /// Called with the bytes written so far and the total.
    pub progress: &'a mut dyn FnMut(u64, u64),
    /// Returns whether to give up.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// The outcome of a preparation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The disks already existed, from an earlier process of the same run.
    pub reused: bool,
    /// What could not be verified about the disks.
    pub notes: Vec<DatastoreFact>,
}

/// A disk that is open for writing: a file and the offset in it at which the disk starts.
pub(crate) struct Target {
    pub(crate) file: File,
    pub(crate) base_bytes: u64,
}

/// Opens a disk, on any thread.
pub(crate) type OpenTarget<'a> = dyn Fn(u32) -> Result<Target, DatastoreError> + Sync + 'a;

/// Writes all disks. Does not sync them.
pub(crate) fn write_all(
    preparation: &mut Preparation<'_>,
    open: &OpenTarget<'_>,
) -> Result<(), DatastoreError> {
    let spec = preparation.disks;
    let chunks_per_disk = spec.size_bytes.div_ceil(CHUNK_BYTES);
    let work = Work {
        spec,
        chunks_per_disk,
        chunks: chunks_per_disk * u64::from(spec.count),
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        fill: preparation.fill,
        open,
    };
    let total = spec.total_bytes();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..THREADS.min(work.chunks.try_into().unwrap_or(THREADS)) {
            let sender = sender.clone();
            scope.spawn(|| work.run(sender));
        }
        drop(sender);
        let mut done = 0;
        let mut outcome = Ok(());
        loop {
            match receiver.recv_timeout(CANCEL_CHECK) {
                Ok(Ok(bytes)) => {
                    done += bytes;
                    (preparation.progress)(done, total);
                }
                // The first failure counts; what other threads saw afterwards follows from it.
                Ok(Err(error)) => {
                    work.stop.store(true, Ordering::Relaxed);
                    if outcome.is_ok() {
                        outcome = Err(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return outcome,
            }
            if outcome.is_ok() && (preparation.cancelled)() {
                work.stop.store(true, Ordering::Relaxed);
                outcome = Err(DatastoreError::Cancelled);
            }
        }
    })
}

/// What the writing threads share.
struct Work<'a> {
    spec: DiskSpec,
    chunks_per_disk: u64,
    chunks: u64,
    next: AtomicU64,
    stop: AtomicBool,
    fill: &'a Fill<'a>,
    open: &'a OpenTarget<'a>,
}

impl Work<'_> {
    fn run(&self, sender: Sender<Result<u64, DatastoreError>>) {
        let mut buffer = AlignedBuffer::new(CHUNK_BYTES as usize);
        let mut opened: Option<(u32, Target)> = None;
        while !self.stop.load(Ordering::Relaxed) {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                return;
            }
            let result = self.write(chunk, &mut buffer, &mut opened);
            let failed = result.is_err();
            // Without a receiver, nobody is waiting for more.
            if sender.send(result).is_err() || failed {
                return;
            }
        }
    }

    fn write(
        &self,
        chunk: u64,
        buffer: &mut AlignedBuffer,
        opened: &mut Option<(u32, Target)>,
    ) -> Result<u64, DatastoreError> {
        let disk = (chunk / self.chunks_per_disk) as u32;
        let offset = chunk % self.chunks_per_disk * CHUNK_BYTES;
        let length = CHUNK_BYTES.min(self.spec.size_bytes - offset);
        let target = match opened {
            Some((of, target)) if *of == disk => target,
            _ => &mut opened.insert((disk, (self.open)(disk)?)).1,
        };
        let bytes = &mut buffer[..length as usize];
        (self.fill)(disk, offset, bytes);
        write_whole(&target.file, bytes, target.base_bytes + offset).map_err(|error| {
            DatastoreError::system("write", format!("disk {disk} (disk-{disk:05})"), error)
        })?;
        Ok(length)
    }
}

/// Like `write_all_at`, except that a write of zero bytes means a full device, for which the standard
/// library has no errno.
fn write_whole(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset).map_err(|error| match error.kind() {
        io::ErrorKind::WriteZero => nix::errno::Errno::ENOSPC.into(),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    const SPEC: DiskSpec =
        DiskSpec { count: 3, size_bytes: (2 << 20) + 4096, granularity_bytes: 4096 };

    #[test]
    fn every_byte_is_written_once_and_told() {
        let file = tempfile::tempfile().unwrap();
        let filled = Mutex::new(Vec::new());
        let mut told = Vec::new();
        let open = |disk: u32| {
            let base_bytes = u64::from(disk) * SPEC.size_bytes;
            Ok(Target { file: file.try_clone().unwrap(), base_bytes })
        };
        write_all(
            &mut Preparation {
                disks: SPEC,
                content_id: 0,
                fill: &|disk, offset, bytes| {
                    filled.lock().unwrap().push((disk, offset, bytes.len() as u64));
                    bytes.fill(disk as u8 + 1);
                },
                progress: &mut |done, total| told.push((done, total)),
                cancelled: &|| false,
            },
            &open,
        )
        .unwrap();
        let mut filled = filled.into_inner().unwrap();
        filled.sort_unstable();
        let one = [(0, 1 << 20), (1 << 20, 1 << 20), (2 << 20, 4096)];
        let expected: Vec<_> =
            (0..3).flat_map(|disk| one.map(|(offset, length)| (disk, offset, length))).collect();
        assert_eq!(filled, expected);
        assert_eq!(told.len(), 9);
        assert_eq!(told.last(), Some(&(SPEC.total_bytes(), SPEC.total_bytes())));
        let mut bytes = vec![0; SPEC.total_bytes() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        for (disk, bytes) in bytes.chunks(SPEC.size_bytes as usize).enumerate() {
            assert!(bytes.iter().all(|&byte| byte == disk as u8 + 1), "{disk}");
        }
    }

    fn outcome(cancelled: &dyn Fn() -> bool, open: &OpenTarget<'_>) -> Result<(), DatastoreError> {
        write_all(
            &mut Preparation {
                disks: SPEC,
                content_id: 0,
                fill: &|_, _, _| {},
                progress: &mut |_, _| {},
                cancelled,
            },
            open,
        )
    }

    #[test]
    fn it_stops_when_told_to() {
        let file = tempfile::tempfile().unwrap();
        let open = |_: u32| Ok(Target { file: file.try_clone().unwrap(), base_bytes: 0 });
        let error = outcome(&|| true, &open).unwrap_err();
        assert!(matches!(error, DatastoreError::Cancelled), "{error}");
    }

    #[test]
    fn a_full_device_is_told_as_such() {
        // The kernel's own full device: null(4).
        let open = |_: u32| {
            let file = File::options().write(true).open("/dev/full").unwrap();
            Ok(Target { file, base_bytes: 0 })
        };
        let error = outcome(&|| false, &open).unwrap_err();
        assert!(matches!(error, DatastoreError::Full { .. }), "{error}");
    }
}
