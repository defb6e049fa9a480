//! Disks that complete at once: they show the most that the load generator itself can do.
//!
//! The loop above pays for everything that it pays for elsewhere, including filling real buffers;
//! only the storage is missing. So this must cost next to nothing: two copies of eight bytes per I/O.
//! Durable writes are as fast as others, and a flush covers everything: nothing is kept anyway.

use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};

use crate::aligned::AlignedBuffer;

/// Disks of `null:`. Reads leave the buffer unchanged, so content cannot be verified on them.
pub struct NullDisks {
    done: Vec<Completion>,
    memory: AlignedBuffer,
    buffer_bytes: usize,
}

impl NullDisks {
    /// Disks with `buffers` buffers of `buffer_bytes` each, zeroed.
    pub fn new(buffers: u32, buffer_bytes: u32) -> Self {
        let buffer_bytes = buffer_bytes as usize;
        let memory = AlignedBuffer::new(buffers as usize * buffer_bytes);
        Self { done: Vec::new(), memory, buffer_bytes }
    }
}

impl Disks for NullDisks {
    #[inline]
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.done.extend(
            operations
                .iter()
                .map(|one| Completion { slot: one.slot, result: one.length_bytes as i32 }),
        );
        Ok(())
    }

    #[inline]
    fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        // With nothing submitted it returns at once even if it may wait: nothing could arrive.
        if completions.is_empty() {
            std::mem::swap(completions, &mut self.done);
        } else {
            completions.append(&mut self.done);
        }
        Ok(())
    }

    #[inline]
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        let start = buffer as usize * self.buffer_bytes;
        self.memory.get_mut(start..start + self.buffer_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_disk::Kind;

    #[test]
    fn every_operation_completes_once_with_its_length() {
        let mut disks = NullDisks::new(2, 4096);
        let operation = |slot, length_bytes| Operation {
            offset_bytes: 0,
            length_bytes,
            disk: 9,
            slot,
            buffer: 0,
            kind: Kind::Read,
        };
        let flush = Operation { kind: Kind::Flush, buffer: 99, ..operation(7, 0) };
        let durable = Operation { kind: Kind::DurableWrite, ..operation(8, 512) };
        disks.submit(&[operation(3, 4096), operation(1, 512), flush, durable]).unwrap();
        let mut done = Vec::new();
        disks.reap(Wait::No, &mut done).unwrap();
        let expected = [(3, 4096), (1, 512), (7, 0), (8, 512)];
        assert_eq!(done, expected.map(|(slot, bytes)| Completion::moved(slot, bytes)));
        disks.reap(Wait::AtMost(1), &mut done).unwrap();
        assert_eq!(done.len(), 4);
    }

    #[test]
    fn buffers_are_apart_and_bounded() {
        let mut disks = NullDisks::new(2, 4096);
        disks.buffer(0).unwrap().fill(1);
        disks.buffer(1).unwrap().fill(2);
        assert!(disks.buffer(0).unwrap().iter().all(|&byte| byte == 1));
        assert_eq!(disks.buffer(1).unwrap().len(), 4096);
        assert!(disks.buffer(2).is_none());
    }
}
