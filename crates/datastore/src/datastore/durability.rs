//! Whether storage can put acknowledged writes on stable storage when asked to, found by asking it once.
//!
//! A storage that refuses flushes would fail every trial of a workload that needs them. One try on a prepared disk, before
//! the first trial, says so once and says what it means.

use serde::{Deserialize, Serialize};
use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};

use super::Datastore;
use crate::{DatastoreError, DiskSpec, OpenDisks};

/// How long one wait for a completion is before giving up is considered.
const WAIT_NS: u64 = 100_000_000;

/// EINVAL, EOPNOTSUPP and ENOSYS: the answers to an operation that storage does not know.
const UNSUPPORTED: [DeviceError; 3] =
    [DeviceError(22), DeviceError::NOT_SUPPORTED, DeviceError(38)];

/// What workloads ask of storage in addition to reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// Flushes.
    pub flushes: bool,
    /// Durable writes.
    pub durable_writes: bool,
}

impl Durability {
    /// What either asks for.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            flushes: self.flushes || other.flushes,
            durable_writes: self.durable_writes || other.durable_writes,
        }
    }
}

impl Datastore {
    /// Tries once, on the first prepared disk, what is asked for: a flush, and a durable write of what is read from the
    /// same place. Does nothing if nothing is asked for. `give_up` is polled while the storage is slow.
    ///
    /// # Errors
    /// [`DatastoreError::FlushUnsupported`] if the storage does not know the operation; another failure of it;
    /// [`DatastoreError::NotPrepared`]; [`DatastoreError::Cancelled`] if it was given up.
    pub fn check_flush(
        &self,
        asked: Durability,
        give_up: &dyn Fn() -> bool,
    ) -> Result<(), DatastoreError> {
        if asked == Durability::default() {
            return Ok(());
        }
        let spec = self.prepared().ok_or(DatastoreError::NotPrepared { first: 0, last: 0 })?;
        let block_bytes = block_bytes(&spec);
        let open = OpenDisks { buffers: 1, buffer_bytes: block_bytes, in_flight: 1 };
        // These disks measure nothing: what their engine notes is not about the trials.
        let engine = self.engine_state();
        let mut disks = self.disks(0..1, open)?;
        self.restore_engine_state(engine);
        let name = self.url.to_string();
        let tried = try_out(&mut disks, (&name, asked), block_bytes, give_up);
        // What was written was read from there, so nothing of it can be lost.
        disks.finish(give_up);
        tried
    }
}

/// The unit of requests, which each store accepts.
fn block_bytes(spec: &DiskSpec) -> u32 {
    u32::try_from(spec.size_bytes).unwrap_or(u32::MAX).min(spec.granularity_bytes)
}

fn try_out(
    disks: &mut impl Disks,
    (name, asked): (&str, Durability),
    block_bytes: u32,
    give_up: &dyn Fn() -> bool,
) -> Result<(), DatastoreError> {
    let mut one = |kind: Kind| {
        let done = carry_out(disks, kind, block_bytes, give_up)
            .map_err(|error| failed(kind, name, std::io::Error::other(error.to_string())))?
            .ok_or(DatastoreError::Cancelled)?;
        match done.outcome() {
            Ok(bytes) if bytes == length_of(kind, block_bytes) => Ok(()),
            Ok(_) => Err(failed(kind, name, std::io::ErrorKind::UnexpectedEof.into())),
            Err(error) if !matches!(kind, Kind::Read) && UNSUPPORTED.contains(&error) => {
                Err(DatastoreError::FlushUnsupported { name: name.into(), operation: kind, error })
            }
            Err(error) => Err(failed(kind, name, std::io::Error::from_raw_os_error(error.0))),
        }
    };
    if asked.flushes {
        one(Kind::Flush)?;
    }
    if asked.durable_writes {
        one(Kind::Read)?;
        one(Kind::DurableWrite)?;
    }
    Ok(())
}

/// Carries out one operation at the start of the first disk; `None` if it was given up.
fn carry_out(
    disks: &mut impl Disks,
    kind: Kind,
    block_bytes: u32,
    give_up: &dyn Fn() -> bool,
) -> Result<Option<Completion>, DisksError> {
    let length_bytes = length_of(kind, block_bytes);
    disks.submit(&[Operation {
        offset_bytes: 0,
        length_bytes,
        disk: 0,
        slot: 0,
        buffer: 0,
        kind,
    }])?;
    let mut done = Vec::new();
    loop {
        disks.reap(Wait::AtMost(WAIT_NS), &mut done)?;
        if let Some(&done) = done.first() {
            return Ok(Some(done));
        }
        if give_up() {
            return Ok(None);
        }
    }
}

fn length_of(kind: Kind, block_bytes: u32) -> u32 {
    if kind == Kind::Flush { 0 } else { block_bytes }
}

fn failed(kind: Kind, name: &str, source: std::io::Error) -> DatastoreError {
    let action = match kind {
        Kind::Read => "read",
        Kind::Write | Kind::DurableWrite => "write",
        Kind::Flush => "flush",
    };
    DatastoreError::system(action, name, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLUSHES: Durability = Durability { flushes: true, durable_writes: false };
    const DURABLE: Durability = Durability { flushes: false, durable_writes: true };

    /// A disk of one block that fails one kind of operation, or answers never.
    struct Stubborn {
        refuses: Option<(Kind, i32)>,
        answers: bool,
        block: Vec<u8>,
        buffer: Vec<u8>,
        seen: Vec<Kind>,
        done: Vec<Completion>,
    }

    impl Stubborn {
        fn new(refuses: Option<(Kind, i32)>) -> Self {
            let (block, buffer) = (vec![7; 512], vec![0; 512]);
            Self { refuses, answers: true, block, buffer, seen: vec![], done: vec![] }
        }

        fn try_out(&mut self, asked: Durability) -> Result<(), DatastoreError> {
            try_out(self, ("nfs://nas/vm", asked), 512, &|| true)
        }
    }

    impl Disks for Stubborn {
        fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
            for one in operations {
                self.seen.push(one.kind);
                let refused = self.refuses.filter(|(kind, _)| *kind == one.kind);
                let result = match (refused, one.kind) {
                    (Some((_, result)), _) => result,
                    (None, Kind::Flush) => {
                        assert_eq!((one.offset_bytes, one.length_bytes), (0, 0));
                        0
                    }
                    (None, Kind::Read) => {
                        self.buffer.copy_from_slice(&self.block);
                        one.length_bytes as i32
                    }
                    (None, _) => {
                        self.block.copy_from_slice(&self.buffer);
                        one.length_bytes as i32
                    }
                };
                if self.answers {
                    self.done.push(Completion { slot: one.slot, result });
                }
            }
            Ok(())
        }

        fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
            completions.append(&mut self.done);
            Ok(())
        }

        fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
            Some(&mut self.buffer)
        }
    }

    #[test]
    fn only_what_is_asked_for_is_tried_and_nothing_changes() {
        let all = FLUSHES.or(DURABLE);
        let cases: [(Durability, &[Kind]); 3] = [
            (FLUSHES, &[Kind::Flush]),
            (DURABLE, &[Kind::Read, Kind::DurableWrite]),
            (all, &[Kind::Flush, Kind::Read, Kind::DurableWrite]),
        ];
        for (asked, expected) in cases {
            let mut disk = Stubborn::new(None);
            disk.try_out(asked).unwrap();
            assert_eq!(disk.seen, expected);
            assert_eq!(disk.block, [7; 512]);
        }
    }

    #[test]
    fn a_refusal_says_what_it_means() {
        for errno in [22, 95, 38] {
            let error = Stubborn::new(Some((Kind::Flush, -errno))).try_out(FLUSHES).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("nfs://nas/vm refuses a flush ("), "{text}");
            assert!(text.contains("cannot be put on stable storage on demand"), "{text}");
            let mut disk = Stubborn::new(Some((Kind::DurableWrite, -errno)));
            let text = disk.try_out(FLUSHES.or(DURABLE)).unwrap_err().to_string();
            assert!(text.starts_with("nfs://nas/vm refuses a durable write ("), "{text}");
            assert!(text.contains("measure with flushes"), "{text}");
        }
    }

    #[test]
    fn other_failures_are_failures() {
        let cases = [
            (Kind::Flush, -5, "flush"),
            (Kind::Read, -22, "read"),
            (Kind::DurableWrite, 100, "write"),
        ];
        for (kind, result, action) in cases {
            let mut disk = Stubborn::new(Some((kind, result)));
            let error = disk.try_out(FLUSHES.or(DURABLE)).unwrap_err();
            assert!(
                matches!(error, DatastoreError::Io { action: it, .. } if it == action),
                "{error}"
            );
        }
        let mut silent = Stubborn { answers: false, ..Stubborn::new(None) };
        assert!(matches!(silent.try_out(FLUSHES), Err(DatastoreError::Cancelled)));
    }

    #[test]
    fn requests_are_of_the_unit_that_the_disks_have() {
        let spec =
            |size_bytes, granularity_bytes| DiskSpec { count: 1, size_bytes, granularity_bytes };
        assert_eq!(block_bytes(&spec(1 << 40, 4096)), 4096);
        assert_eq!(block_bytes(&spec(1000, 4096)), 1000);
    }
}
