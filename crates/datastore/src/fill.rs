//! Writes every byte of disks that are accessed through the network, by the same path as the
//! measurement: one thread keeps a few large writes in flight and fills the next buffer while
//! they travel.

use stormeter_disk::{Completion, DeviceError, Disks, Kind, Operation, Wait};

use crate::prepare::Preparation;
use crate::{DatastoreError, OpenDisks};

/// Bytes per write.
const CHUNK_BYTES: u32 = 256 << 10;
/// Writes in flight.
const IN_FLIGHT: u32 = 16;
/// How often to check for cancellation while the storage is slow.
const CANCEL_CHECK_NS: u64 = 100_000_000;
/// A buffer that is still in use after this many checks, each of which may wait that long, is taken to be lost.
const MOST_HELD: u32 = 100;

/// What [`fill`] needs from the disks.
pub(crate) const MEMORY: OpenDisks =
    OpenDisks { buffers: IN_FLIGHT, buffer_bytes: CHUNK_BYTES, in_flight: IN_FLIGHT };

/// Writes all disks of the preparation; `name` is the datastore's, for messages.
pub(crate) fn fill(
    disks: &mut impl Disks,
    preparation: &mut Preparation<'_>,
    name: &str,
) -> Result<(), DatastoreError> {
    let spec = preparation.disks;
    let chunk_bytes = u64::from(CHUNK_BYTES);
    let per_disk = spec.size_bytes.div_ceil(chunk_bytes);
    let chunks = per_disk * u64::from(spec.count);
    let total = spec.total_bytes();
    let broken = |error: stormeter_disk::DisksError| DatastoreError::Broken {
        name: name.into(),
        reason: error.to_string(),
    };
    let mut free: Vec<u32> = (0..IN_FLIGHT).collect();
    let mut lengths = [0u32; IN_FLIGHT as usize];
    let (mut next, mut written) = (0, 0);
    // How often in a row the buffer of a free slot was still in use.
    let mut held = 0;
    let mut done: Vec<Completion> = Vec::new();
    while written < total {
        if (preparation.cancelled)() {
            return Err(DatastoreError::Cancelled);
        }
        while next < chunks
            && let Some(slot) = free.pop()
        {
            let disk = (next / per_disk) as u32;
            let offset_bytes = next % per_disk * chunk_bytes;
            let length = chunk_bytes.min(spec.size_bytes - offset_bytes) as u32;
            let Some(bytes) = disks.buffer(slot) else {
                // A server may answer a write before the kernel reports that it has released the bytes.
                free.insert(0, slot);
                held += 1;
                break;
            };
            held = 0;
            next += 1;
            (preparation.fill)(disk, offset_bytes, &mut bytes[..length as usize]);
            lengths[slot as usize] = length;
            let operation = Operation {
                offset_bytes,
                length_bytes: length,
                disk,
                slot,
                buffer: slot,
                kind: Kind::Write,
            };
            disks.submit(&[operation]).map_err(broken)?;
            // Sent now rather than with the last of the batch: filling takes as long as writing.
            disks.reap(Wait::No, &mut done).map_err(broken)?;
        }
        if held > MOST_HELD {
            return Err(DatastoreError::Broken {
                name: name.into(),
                reason: "a buffer is in use that no write uses".into(),
            });
        }
        if done.is_empty() {
            disks.reap(Wait::AtMost(CANCEL_CHECK_NS), &mut done).map_err(broken)?;
        }
        for completion in done.drain(..) {
            let length = lengths[completion.slot as usize];
            match completion.outcome() {
                Ok(moved) if moved == length => written += u64::from(moved),
                outcome => return Err(failed(name, outcome)),
            }
            free.push(completion.slot);
        }
        (preparation.progress)(written, total);
    }
    Ok(())
}

fn failed(name: &str, outcome: Result<u32, DeviceError>) -> DatastoreError {
    match outcome {
        Err(error) => {
            DatastoreError::system("write to", name, std::io::Error::from_raw_os_error(error.0))
        }
        Ok(moved) => DatastoreError::Broken {
            name: name.into(),
            reason: format!("a write moved only {moved} bytes"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskSpec;
    use stormeter_disk::DisksError;

    /// Completes at the next reap; a buffer stays in use for some checks after that.
    struct Slow {
        bytes: Vec<u8>,
        asked: Vec<Operation>,
        answered: u32,
        looks: u32,
    }

    impl Disks for Slow {
        fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
            self.asked.extend(operations);
            Ok(())
        }

        fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
            for operation in self.asked.drain(..) {
                self.answered += 1;
                completions.push(Completion::moved(operation.slot, operation.length_bytes));
            }
            Ok(())
        }

        fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
            if self.answered > 0 && self.looks > 0 {
                self.looks -= 1;
                return None;
            }
            Some(&mut self.bytes)
        }
    }

    fn filled(looks: u32) -> Result<u32, DatastoreError> {
        let bytes = vec![0; CHUNK_BYTES as usize];
        let mut disks = Slow { bytes, asked: Vec::new(), answered: 0, looks };
        let size_bytes = 40 * u64::from(CHUNK_BYTES);
        let mut preparation = Preparation {
            disks: DiskSpec { count: 1, size_bytes, granularity_bytes: 512 },
            content_id: 0,
            fill: &|_, _, _| {},
            progress: &mut |_, _| {},
            cancelled: &|| false,
        };
        fill(&mut disks, &mut preparation, "x").map(|()| disks.answered)
    }

    #[test]
    fn a_buffer_that_the_kernel_still_has_is_waited_for() {
        assert_eq!(filled(0).unwrap(), 40);
        assert_eq!(filled(7).unwrap(), 40);
    }

    #[test]
    fn a_buffer_that_never_comes_back_ends_it() {
        let message = filled(u32::MAX).unwrap_err().to_string();
        assert!(message.contains("a buffer is in use"), "{message}");
    }
}
