//! Disks that are files, or extents of one file, behind one I/O engine.
//!
//! What durability means here is what Linux makes of it:
//! - A flush is `fdatasync(2)`. It covers the writes that completed before it was submitted: those in the page cache are
//!   written, and a device empties its volatile cache. Of writes that are outstanding meanwhile, direct
//!   ones may or may not be covered, and nothing tells which.
//! - On a device that holds several disks, a flush of one flushes the device, and so the completed writes of all.
//!   Disks that are files are flushed one by one; what else the file system and the device empty with them is up to
//!   those.
//! - A durable write is a write with `RWF_DSYNC`. The kernel sends a direct one past the device's cache (FUA) where
//!   neither the file's size nor its blocks change and the device can; otherwise it flushes the device after the write.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;

use stormeter_disk::{
    Completion, DeviceError, Disks, DisksError, EngineNote, Kind, Operation, Wait,
};
use stormeter_uring::{
    Engine, EngineChoice, EngineError, EngineOptions, RawCompletion, RawOperation,
};

use crate::engine_note::engine_notes;

/// EINVAL: the kernel's answer to an offset that a device does not have.
const OUT_OF_BOUNDS: DeviceError = DeviceError(22);

/// The location of a disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Index among the engine's files.
    pub(crate) file: u32,
    /// The offset in the file at which the disk starts.
    pub(crate) base_bytes: u64,
}

/// Disks on real storage. Created on the thread that drives them, and kept there.
pub struct FileDisks {
    engine: Engine,
    extents: Vec<Extent>,
    size_bytes: u64,
    /// The numbers of the operations so far, or-ed: zero if nothing was written or flushed, so that there is nothing to
    /// settle.
    kinds_seen: u8,
    /// Operations that would exceed their disk: they fail here and never reach the storage.
    refused: Vec<Completion>,
}

impl FileDisks {
    pub(crate) fn open(
        choice: EngineChoice,
        files: Vec<File>,
        extents: Vec<Extent>,
        size_bytes: u64,
        options: impl FnOnce(EngineOptions) -> EngineOptions,
    ) -> Result<Self, EngineError> {
        let engine = Engine::open(choice, options(EngineOptions::new(files)))?;
        Ok(Self { engine, extents, size_bytes, kinds_seen: 0, refused: Vec::new() })
    }

    /// The one disk that is this whole device, which must be the caller's: nothing marks it as used.
    ///
    /// # Errors
    /// It cannot be opened without the page cache, or the engine does not start.
    pub fn of_device(
        path: &std::path::Path,
        size_bytes: u64,
        open: crate::open::OpenDisks,
    ) -> std::io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).custom_flags(nix::libc::O_DIRECT);
        let file = options.open(path)?;
        let extents = vec![Extent { file: 0, base_bytes: 0 }];
        Self::open(EngineChoice::Auto, vec![file], extents, size_bytes, |options| {
            options.buffers(open.buffers, open.buffer_bytes).in_flight(open.in_flight)
        })
        .map_err(std::io::Error::other)
    }

    /// `io_uring` or `positional`.
    pub fn engine_name(&self) -> &'static str {
        match self.engine {
            Engine::Ring(_) => "io_uring",
            Engine::Positional(_) => "positional",
        }
    }

    /// Waits until written data is on storage, and no longer in this host's memory or in a device
    /// cache that loses it with the power: anything left there would be written while the next trial is
    /// measured. Calls `give_up` before each file.
    pub(crate) fn settle(&mut self, give_up: &dyn Fn() -> bool) -> std::io::Result<()> {
        if std::mem::take(&mut self.kinds_seen) == 0 { Ok(()) } else { self.engine.sync(give_up) }
    }

    /// What the engine was asked for and did not get.
    pub fn notes(&self) -> Vec<EngineNote> {
        engine_notes(self.engine.notes())
    }
}

impl Disks for FileDisks {
    // Inlined into the I/O loop, which submits one operation at a time: as a call of its own, half of it
    // would be saving registers and storing the operation for it to read again.
    #[inline(always)]
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for one in operations {
            // On a device, the neighbouring extent or the last MiB, which is not ours, starts where a disk ends.
            let end = one.offset_bytes.saturating_add(u64::from(one.length_bytes));
            let extent = match self.extents.get(one.disk as usize) {
                Some(extent) if end <= self.size_bytes => *extent,
                _ => {
                    self.refused.push(Completion::failed(one.slot, OUT_OF_BOUNDS));
                    continue;
                }
            };
            let kind = match one.kind {
                Kind::Read => stormeter_uring::Kind::Read,
                Kind::Write => stormeter_uring::Kind::Write,
                Kind::DurableWrite => stormeter_uring::Kind::DurableWrite,
                Kind::Flush => stormeter_uring::Kind::Flush,
            };
            // Without a branch: a read is 0.
            self.kinds_seen |= one.kind as u8;
            let raw = RawOperation {
                user: one.slot,
                file: extent.file,
                kind,
                offset: extent.base_bytes + one.offset_bytes,
                length: one.length_bytes,
                buffer: one.buffer,
            };
            if let Err(refusal) = self.engine.push(raw) {
                return Err(broken("submitting an operation", &refusal));
            }
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let mut wait_ns = match wait {
            Wait::No => None,
            Wait::AtMost(ns) => Some(ns),
        };
        if !self.refused.is_empty() {
            completions.append(&mut self.refused);
            wait_ns = None;
        }
        let made = |raw: RawCompletion| Completion { slot: raw.user, result: raw.result };
        let reaped = self.engine.reap(wait_ns, completions, made);
        reaped.map_err(|error| broken("waiting for completions", &error))
    }

    #[inline]
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.engine.buffer_mut(buffer)
    }
}

#[cold]
fn broken(action: &'static str, reason: &dyn std::fmt::Display) -> DisksError {
    DisksError { action, reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const SIZE: u64 = 16_384;

    /// Two disks in one file, with a gap between them and one after, and one disk in another file.
    fn disks(choice: EngineChoice) -> (FileDisks, File, File) {
        let (shared, own) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        shared.write_all_at(&[9; 65_536], 0).unwrap();
        own.write_all_at(&[9; 16_384], 0).unwrap();
        let extents = vec![
            Extent { file: 0, base_bytes: 4096 },
            Extent { file: 0, base_bytes: 32_768 },
            Extent { file: 1, base_bytes: 0 },
        ];
        let files = vec![shared.try_clone().unwrap(), own.try_clone().unwrap()];
        let disks =
            FileDisks::open(choice, files, extents, SIZE, |o| o.buffers(4, 4096).in_flight(8));
        (disks.unwrap(), shared, own)
    }

    fn operation(kind: Kind, disk: u32, offset_bytes: u64, buffer: u32) -> Operation {
        Operation { offset_bytes, length_bytes: 4096, disk, slot: 100 + buffer, buffer, kind }
    }

    fn finish(disks: &mut FileDisks, count: usize) -> Vec<Completion> {
        let mut done = Vec::new();
        for _ in 0..1000 {
            if done.len() >= count {
                break;
            }
            disks.reap(Wait::AtMost(100_000_000), &mut done).unwrap();
        }
        done.sort_by_key(|completion| completion.slot);
        done
    }

    fn both_engines(test: impl Fn(EngineChoice)) {
        test(EngineChoice::Positional);
        test(EngineChoice::Auto);
    }

    #[test]
    fn operations_go_to_their_disk_and_nowhere_else() {
        both_engines(|choice| {
            let (mut disks, shared, own) = disks(choice);
            for buffer in 0..3 {
                disks.buffer(buffer).unwrap().fill(buffer as u8 + 1);
            }
            let writes = [
                operation(Kind::Write, 0, 0, 0),
                operation(Kind::Write, 1, SIZE - 4096, 1),
                operation(Kind::Write, 2, 4096, 2),
            ];
            disks.submit(&writes).unwrap();
            let done = finish(&mut disks, 3);
            assert_eq!(done, [100, 101, 102].map(|slot| Completion::moved(slot, 4096)));

            let mut expected = vec![9; 65_536];
            expected[4096..8192].fill(1);
            expected[32_768 + 12_288..32_768 + 16_384].fill(2);
            let mut bytes = vec![0; 65_536];
            shared.read_exact_at(&mut bytes, 0).unwrap();
            assert!(bytes == expected);
            let mut bytes = vec![0; 16_384];
            own.read_exact_at(&mut bytes, 0).unwrap();
            assert!(bytes[4096..8192].iter().all(|&byte| byte == 3) && bytes[0] == 9);

            disks.submit(&[operation(Kind::Read, 1, SIZE - 4096, 3)]).unwrap();
            assert_eq!(finish(&mut disks, 1), [Completion::moved(103, 4096)]);
            assert!(disks.buffer(3).unwrap()[..4096].iter().all(|&byte| byte == 2));
        });
    }

    #[test]
    fn flushes_and_durable_writes_leave_nothing_in_memory() {
        both_engines(|choice| {
            let cases: [(&[Kind], bool); 3] = [
                (&[Kind::Write], true),
                (&[Kind::DurableWrite], false),
                (&[Kind::Write, Kind::Flush], false),
            ];
            for (kinds, is_dirty) in cases {
                let file = tempfile::tempfile().unwrap();
                let files = vec![file.try_clone().unwrap()];
                let extents = vec![Extent { file: 0, base_bytes: 4096 }];
                let disks = FileDisks::open(choice, files, extents, SIZE, |o| {
                    o.buffers(1, 4096).in_flight(1)
                });
                let mut disks = disks.unwrap();
                for &kind in kinds {
                    let done = if kind == Kind::Flush {
                        let flush = operation(kind, 0, 0, 0);
                        // Beyond all buffers: it needs none.
                        disks
                            .submit(&[Operation { length_bytes: 0, buffer: 99, ..flush }])
                            .unwrap();
                        Completion::moved(100, 0)
                    } else {
                        disks.submit(&[operation(kind, 0, 8192, 0)]).unwrap();
                        Completion::moved(100, 4096)
                    };
                    assert_eq!(finish(&mut disks, 1), [done], "{kind}");
                }
                assert_eq!(file.metadata().unwrap().len(), 4096 + 8192 + 4096);
                let dirty = dirty_bytes(&file);
                if is_dirty && dirty == 0 {
                    eprintln!("NOT RUN: nothing is dirty on the file system of temporary files");
                    return;
                }
                assert_eq!(dirty > 0, is_dirty, "{kinds:?}");
            }
        });
    }

    /// Bytes of a file that were in memory and not on storage: the kernel counts, for each thread, those that it need not
    /// write any more because the thread cut a file short (proc(5)).
    fn dirty_bytes(file: &File) -> u64 {
        let cancelled = || {
            let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("cancelled_write_bytes: "));
            line.unwrap().parse::<u64>().unwrap()
        };
        let before = cancelled();
        file.set_len(0).unwrap();
        cancelled() - before
    }

    #[test]
    fn an_operation_beyond_its_disk_fails_and_touches_nothing() {
        both_engines(|choice| {
            let (mut disks, shared, _own) = disks(choice);
            disks.buffer(0).unwrap().fill(7);
            let beyond = [
                operation(Kind::Write, 0, SIZE, 0),
                operation(Kind::Write, 0, SIZE - 512, 0),
                operation(Kind::Write, 0, u64::MAX, 0),
                operation(Kind::Write, 3, 0, 0),
            ];
            disks.submit(&beyond).unwrap();
            let done = finish(&mut disks, 4);
            assert_eq!(done, [Completion::failed(100, OUT_OF_BOUNDS); 4]);
            let mut bytes = vec![0; 65_536];
            shared.read_exact_at(&mut bytes, 0).unwrap();
            assert!(bytes.iter().all(|&byte| byte == 9));
        });
    }

    #[test]
    fn a_broken_promise_of_the_caller_breaks_the_queue_loudly() {
        let (mut disks, _shared, _own) = disks(EngineChoice::Positional);
        let error = disks.submit(&[operation(Kind::Write, 0, 0, 99)]).unwrap_err();
        assert!(error.to_string().contains("submitting an operation failed"), "{error}");
        assert!(error.to_string().contains("buffer"), "{error}");
        assert_eq!(disks.engine_name(), "positional");
        assert!(!disks.notes().is_empty());
    }
}
