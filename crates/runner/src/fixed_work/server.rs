//! The server of a transfer: receives or sends messages, and keeps them in memory or on a virtual disk.

use stormeter_datastore::DiskSet;
use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::{FixedWorkLog, Observer, Payload};
use stormeter_trial::{
    Ended, IoFailure, IoFailureOutcome, Limits, Sample, Start, Transfer, TransferDirection,
};

use super::BLOCK_BYTES;
use super::stream::Stream;
use crate::watcher::Watcher;

/// The most outstanding I/Os of a server: as a file system would read ahead or write behind.
pub(super) const OUTSTANDING: u32 = 4;
/// The longest wait for the disk before the socket and cancellation are polled.
const LOOK_UP_NS: u64 = 50_000_000;

/// The server of one pair.
pub(super) struct Server {
    pub(super) stream: Stream,
    pub(super) transfer: Transfer,
    pub(super) number: u32,
    pub(super) disk_bytes: u64,
    pub(super) start: Start,
    pub(super) seed: u64,
    pub(super) interval_ns: u64,
    pub(super) limits: Limits,
}

/// Where messages are stored.
pub(super) enum Keeper {
    /// In memory.
    Memory {
        /// One message.
        bytes: Vec<u8>,
    },
    /// On the one disk of the set.
    Disk(Box<DiskSet>),
}

/// The size of each I/O on a disk of this size.
pub(super) fn chunk_bytes(disk_bytes: u64) -> u32 {
    let chunk = disk_bytes.min(Payload::CHUNK_BYTES as u64) as u32;
    chunk - chunk % BLOCK_BYTES
}

impl Server {
    /// Serves all messages. Its work is in the client's sample; its own sample has only failures.
    pub(super) fn work(
        mut self,
        start: impl FnOnce() -> Option<u64>,
        keeper: &mut Keeper,
        watcher: &mut Watcher<'_>,
    ) -> Sample {
        let mut log = FixedWorkLog::new(self.number, 0, self.interval_ns);
        if start().is_none() {
            return log.close(0, Vec::new(), Ended::Cancelled, watcher);
        }
        // The window of the sample is the client's; this one only measures the CPU time of the thread.
        watcher.window_opened();
        let served = match keeper {
            Keeper::Memory { bytes } => self.keep_in_memory(bytes, watcher),
            Keeper::Disk(disks) => {
                let mut files = Files::new(disks.as_mut(), &self, watcher);
                let served = self.keep_on_disk(&mut files);
                files.io_failures.drain(..).for_each(|failure| log.io_failed(failure));
                served
            }
        };
        watcher.window_closed();
        let ended = match served {
            // The client reports why it closed.
            Err(Ended::QueueBroken { .. }) if self.stream.is_gone() => Ended::Completed,
            served => served.err().unwrap_or(Ended::Completed),
        };
        log.close(0, Vec::new(), ended, watcher)
    }

    fn keep_in_memory(&mut self, bytes: &mut [u8], watcher: &mut Watcher<'_>) -> Result<(), Ended> {
        let mut look = || if watcher.cancelled() { Err(Ended::Cancelled) } else { Ok(()) };
        let mut payload = Payload::new(self.seed, 2 * self.number + 1);
        for _ in 0..self.transfer.messages {
            match self.transfer.direction {
                TransferDirection::Write => {
                    self.stream.receive(bytes, &mut look)?;
                    self.stream.send(&[1], &mut look)?;
                }
                TransferDirection::Read => {
                    self.stream.receive(&mut [0], &mut look)?;
                    for part in bytes.chunks_mut(Payload::CHUNK_BYTES) {
                        part.copy_from_slice(payload.chunk(part.len() as u64));
                        self.stream.send(part, &mut look)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn keep_on_disk(&mut self, files: &mut Files<'_, '_, impl Disks>) -> Result<(), Ended> {
        for _ in 0..self.transfer.messages {
            match self.transfer.direction {
                TransferDirection::Write => {
                    files.take(&mut self.stream, self.transfer.message_bytes)?;
                    self.stream.send(&[1], &mut || files.look())?;
                }
                TransferDirection::Read => {
                    self.stream.receive(&mut [0], &mut || files.look())?;
                    files.give(&mut self.stream, self.transfer.message_bytes)?;
                }
            }
        }
        Ok(())
    }
}

/// Messages on a disk, one after another.
struct Files<'a, 'b, D> {
    disks: &'a mut D,
    watcher: &'a mut Watcher<'b>,
    disk: u32,
    disk_bytes: u64,
    chunk_bytes: u32,
    stall_ns: u64,
    /// The place of the next chunk.
    at_bytes: u64,
    /// The outstanding I/Os, by slot.
    slots: [Option<Operation>; OUTSTANDING as usize],
    done: Vec<Completion>,
    io_failures: Vec<IoFailure>,
}

impl<'a, 'b, D: Disks> Files<'a, 'b, D> {
    fn new(disks: &'a mut D, server: &Server, watcher: &'a mut Watcher<'b>) -> Self {
        let chunk_bytes = chunk_bytes(server.disk_bytes);
        let places = server.disk_bytes / u64::from(chunk_bytes.max(1));
        Self {
            disks,
            watcher,
            disk: server.number,
            disk_bytes: server.disk_bytes,
            chunk_bytes,
            stall_ns: server.limits.stall_ns,
            at_bytes: server.start.place(server.number, places) * u64::from(chunk_bytes),
            slots: [None; OUTSTANDING as usize],
            done: Vec::new(),
            io_failures: Vec::new(),
        }
    }

    /// Receives a message, and writes it as it comes.
    fn take(&mut self, stream: &mut Stream, message_bytes: u64) -> Result<(), Ended> {
        let mut left = message_bytes;
        let mut chunk = vec![0; self.chunk_bytes as usize];
        for slot in (0..OUTSTANDING).cycle() {
            if left == 0 {
                break;
            }
            self.wait_for(slot)?;
            let length = left.min(u64::from(self.chunk_bytes)) as usize;
            // Not directly into the disk's buffer: completions are reaped while waiting for the socket, and no buffer may
            // be borrowed then.
            stream.receive(&mut chunk[..length], &mut || self.look())?;
            if let Some(buffer) = self.disks.buffer(slot) {
                buffer[..length].copy_from_slice(&chunk[..length]);
            }
            self.submit(Kind::Write, slot, length)?;
            left -= length as u64;
        }
        (0..OUTSTANDING).try_for_each(|slot| self.wait_for(slot))
    }

    /// Reads a message and sends it, in order, while the next chunks are being read.
    fn give(&mut self, stream: &mut Stream, message_bytes: u64) -> Result<(), Ended> {
        let chunk_bytes = u64::from(self.chunk_bytes);
        let chunks = message_bytes.div_ceil(chunk_bytes);
        let length = |chunk: u64| (message_bytes - chunk * chunk_bytes).min(chunk_bytes) as usize;
        let mut asked = 0;
        let mut copy = vec![0; self.chunk_bytes as usize];
        for chunk in 0..chunks {
            while asked < chunks && asked < chunk + u64::from(OUTSTANDING) {
                self.submit(Kind::Read, (asked % u64::from(OUTSTANDING)) as u32, length(asked))?;
                asked += 1;
            }
            let slot = (chunk % u64::from(OUTSTANDING)) as u32;
            self.wait_for(slot)?;
            let bytes = &mut copy[..length(chunk)];
            if let Some(buffer) = self.disks.buffer(slot) {
                bytes.copy_from_slice(&buffer[..bytes.len()]);
            }
            stream.send(bytes, &mut || self.look())?;
        }
        Ok(())
    }

    fn submit(&mut self, kind: Kind, slot: u32, length: usize) -> Result<(), Ended> {
        let length_bytes = (length as u32).next_multiple_of(BLOCK_BYTES);
        if self.at_bytes + u64::from(length_bytes) > self.disk_bytes {
            self.at_bytes = 0;
        }
        let operation = Operation {
            offset_bytes: self.at_bytes,
            length_bytes,
            disk: 0,
            slot,
            buffer: slot,
            kind,
        };
        self.at_bytes += u64::from(length_bytes);
        self.slots[slot as usize] = Some(operation);
        self.disks.submit(&[operation]).map_err(broken)?;
        // Submitted at once: the next wait is for the socket.
        self.reap(Wait::No)
    }

    /// Reaps completions while waiting for something else.
    fn look(&mut self) -> Result<(), Ended> {
        if self.watcher.cancelled() {
            return Err(Ended::Cancelled);
        }
        self.reap(Wait::No)
    }

    /// Waits until nothing is outstanding on the slot.
    fn wait_for(&mut self, slot: u32) -> Result<(), Ended> {
        let mut waited_ns = 0;
        while self.slots[slot as usize].is_some() {
            let before = self.outstanding();
            let started = std::time::Instant::now();
            self.reap(Wait::AtMost(LOOK_UP_NS))?;
            waited_ns += started.elapsed().as_nanos() as u64;
            let outstanding = self.outstanding();
            if outstanding < before {
                waited_ns = 0;
            }
            if self.watcher.cancelled() {
                return Err(Ended::Cancelled);
            }
            if outstanding > 0 && waited_ns >= self.stall_ns {
                return Err(Ended::Stalled { outstanding });
            }
        }
        Ok(())
    }

    fn outstanding(&self) -> u64 {
        self.slots.iter().flatten().count() as u64
    }

    /// Reaps completions. A message is worth nothing if one of its I/Os failed, so the first failure ends the trial.
    fn reap(&mut self, wait: Wait) -> Result<(), Ended> {
        self.disks.reap(wait, &mut self.done).map_err(broken)?;
        for completion in self.done.drain(..) {
            let place = self.slots.get_mut(completion.slot as usize);
            let Some(operation) = place.and_then(Option::take) else { continue };
            let outcome = match completion.outcome() {
                Ok(bytes) if bytes == operation.length_bytes => continue,
                Ok(bytes) => IoFailureOutcome::Short(bytes),
                Err(error) => IoFailureOutcome::Failed(error),
            };
            self.io_failures.push(IoFailure {
                disk: self.disk,
                kind: operation.kind,
                offset_bytes: operation.offset_bytes,
                length_bytes: operation.length_bytes,
                outcome,
            });
        }
        if self.io_failures.is_empty() { Ok(()) } else { Err(Ended::TooManyErrors) }
    }
}

fn broken(error: DisksError) -> Ended {
    Ended::QueueBroken { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    use stormeter_trial::TransferSink;

    use super::*;
    use crate::fixed_work::pair::connected;

    const CHUNK: usize = Payload::CHUNK_BYTES;

    /// A slow disk: an operation completes after three waits. It stores its bytes, and records the most outstanding
    /// operations.
    struct SlowDisk {
        bytes: Vec<u8>,
        buffers: Vec<Vec<u8>>,
        waiting: Vec<(Operation, u32)>,
        deepest: usize,
    }

    impl SlowDisk {
        fn new(bytes: Vec<u8>) -> Self {
            let buffers = vec![vec![0; CHUNK]; OUTSTANDING as usize];
            Self { bytes, buffers, waiting: Vec::new(), deepest: 0 }
        }
    }

    impl Disks for SlowDisk {
        fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
            self.waiting.extend(operations.iter().map(|&one| (one, 3)));
            self.deepest = self.deepest.max(self.waiting.len());
            Ok(())
        }

        fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), DisksError> {
            if wait == Wait::No {
                return Ok(());
            }
            for (one, waits) in &mut self.waiting {
                *waits -= 1;
                if *waits > 0 {
                    continue;
                }
                let buffer = &mut self.buffers[one.buffer as usize][..one.length_bytes as usize];
                let place = &mut self.bytes[one.offset_bytes as usize..][..buffer.len()];
                match one.kind {
                    Kind::Read => buffer.copy_from_slice(place),
                    Kind::Write => place.copy_from_slice(buffer),
                }
                done.push(Completion::moved(one.slot, one.length_bytes));
            }
            self.waiting.retain(|&(_, waits)| waits > 0);
            Ok(())
        }

        fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
            let is_used = self.waiting.iter().any(|(one, _)| one.buffer == buffer);
            (!is_used).then(|| self.buffers[buffer as usize].as_mut_slice())
        }
    }

    /// The server's part of one message of this size, and the client's end.
    fn with_message<T>(
        disk: &mut SlowDisk,
        start: Start,
        act: impl FnOnce(&mut Files<'_, '_, SlowDisk>, &mut Stream, &mut Stream) -> T,
    ) -> T {
        let (client, server) = connected().unwrap();
        let direction = TransferDirection::Write;
        let mut server = Server {
            stream: Stream::new(server, u64::MAX).unwrap(),
            transfer: Transfer {
                message_bytes: 1,
                direction,
                sink: TransferSink::Disk,
                messages: 1,
            },
            number: 0,
            disk_bytes: disk.bytes.len() as u64,
            start,
            seed: 1,
            interval_ns: 1,
            limits: Limits::default(),
        };
        let (cancel, (told, _)) = (AtomicBool::new(false), mpsc::channel());
        let mut watcher = Watcher::new(&cancel, &told, 0, None);
        let mut files = Files::new(disk, &server, &mut watcher);
        act(&mut files, &mut server.stream, &mut Stream::new(client, u64::MAX).unwrap())
    }

    fn message(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at / 251 + at % 253) as u8).collect()
    }

    #[test]
    fn a_message_counts_as_taken_when_the_disk_has_all_of_it() {
        let mut disk = SlowDisk::new(vec![0; 8 * CHUNK]);
        let message = message(6 * CHUNK + 100);
        with_message(&mut disk, Start::default(), |files, server, client| {
            std::thread::scope(|scope| {
                scope.spawn(|| client.send(&message, &mut || Ok(())).unwrap());
                files.take(server, message.len() as u64).unwrap();
            });
            assert_eq!(files.outstanding(), 0);
        });
        assert!(disk.waiting.is_empty() && disk.bytes[..message.len()] == message);
        assert_eq!(disk.deepest, OUTSTANDING as usize);
    }

    #[test]
    fn a_message_is_given_in_order_while_what_follows_is_read() {
        let message = message(6 * CHUNK + 100);
        let mut bytes = message.clone();
        bytes.resize(8 * CHUNK, 0);
        let mut disk = SlowDisk::new(bytes);
        let mut received = vec![0; message.len()];
        with_message(&mut disk, Start::default(), |files, server, client| {
            std::thread::scope(|scope| {
                scope.spawn(|| client.receive(&mut received, &mut || Ok(())).unwrap());
                files.give(server, message.len() as u64).unwrap();
            });
        });
        assert!(received == message);
        assert_eq!(disk.deepest, OUTSTANDING as usize);
    }

    #[test]
    fn messages_of_another_trial_are_elsewhere_on_the_disk() {
        let written = |start| {
            let mut disk = SlowDisk::new(vec![0; 8 * CHUNK]);
            let message = vec![7; 2 * CHUNK];
            with_message(&mut disk, start, |files, server, client| {
                std::thread::scope(|scope| {
                    scope.spawn(|| client.send(&message, &mut || Ok(())).unwrap());
                    files.take(server, message.len() as u64).unwrap();
                });
            });
            disk.bytes.chunks(CHUNK).map(|chunk| chunk[0] == 7).collect::<Vec<_>>()
        };
        let (first, next) = (written(Start::default()), written(Start::default().of_trial(1)));
        let both: Vec<bool> = first.iter().zip(&next).map(|(a, b)| *a && *b).collect();
        assert_eq!(first.iter().chain(&next).filter(|it| **it).count(), 4);
        assert!(both.iter().all(|both| !both), "{first:?} {next:?}");
    }

    #[test]
    fn chunks_are_whole_blocks_that_the_disk_holds() {
        assert_eq!(chunk_bytes(1 << 40), 256 << 10);
        assert_eq!(chunk_bytes(10_000), 8192);
        assert_eq!(chunk_bytes(4096), 4096);
    }
}
