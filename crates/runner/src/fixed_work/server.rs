//! The server of a transfer: receives or sends messages, and keeps them in memory or on a virtual disk.

use stormeter_datastore::DiskSet;
use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};
use stormeter_driver::{FixedWorkLog, MessageDisk, MessageStore, Observer, Payload};
use stormeter_trial::{Ended, IoFailure, Limits, Sample, Start, Transfer, TransferDirection};

use super::stream::Stream;
use crate::watcher::Watcher;

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

/// Messages on a disk: what [`MessageStore`] asks for, on disks that exist.
struct Files<'a, 'b, D> {
    disks: &'a mut D,
    watcher: &'a mut Watcher<'b>,
    store: MessageStore,
    chunk_bytes: u32,
    stall_ns: u64,
    done: Vec<Completion>,
    io_failures: Vec<IoFailure>,
}

impl<'a, 'b, D: Disks> Files<'a, 'b, D> {
    fn new(disks: &'a mut D, server: &Server, watcher: &'a mut Watcher<'b>) -> Self {
        Self {
            disks,
            watcher,
            store: MessageStore::new(MessageDisk {
                server: server.number,
                // The only one of its set.
                disk: 0,
                bytes: server.disk_bytes,
                start: server.start,
                first_slot: 0,
            }),
            chunk_bytes: MessageStore::chunk_bytes(server.disk_bytes),
            stall_ns: server.limits.stall_ns,
            done: Vec::new(),
            io_failures: Vec::new(),
        }
    }

    /// Receives a message, and writes it as it comes.
    fn take(&mut self, stream: &mut Stream, message_bytes: u64) -> Result<(), Ended> {
        let mut copy = vec![0; self.chunk_bytes as usize];
        self.store.begin();
        while let Some(length) = self.store.length(message_bytes) {
            self.wait_until(MessageStore::is_ready)?;
            let chunk = &mut copy[..length as usize];
            // Not directly into the disk's buffer: completions are reaped while waiting for the socket, and no buffer
            // may be borrowed then.
            stream.receive(chunk, &mut || self.look())?;
            if let Some(buffer) = self.disks.buffer(self.store.slot()) {
                buffer[..chunk.len()].copy_from_slice(chunk);
            }
            if let Some(operation) = self.store.write(message_bytes) {
                self.submit(operation)?;
            }
        }
        self.wait_until(|store| store.outstanding() == 0)
    }

    /// Reads a message and sends it, in order, while the next chunks are being read.
    fn give(&mut self, stream: &mut Stream, message_bytes: u64) -> Result<(), Ended> {
        let mut copy = vec![0; self.chunk_bytes as usize];
        self.store.begin();
        while let Some(length) = self.store.length(message_bytes) {
            while let Some(operation) = self.store.read_ahead(message_bytes) {
                self.submit(operation)?;
            }
            self.wait_until(MessageStore::is_ready)?;
            let chunk = &mut copy[..length as usize];
            if let Some(buffer) = self.disks.buffer(self.store.slot()) {
                chunk.copy_from_slice(&buffer[..chunk.len()]);
            }
            stream.send(chunk, &mut || self.look())?;
            self.store.sent();
        }
        Ok(())
    }

    fn submit(&mut self, operation: Operation) -> Result<(), Ended> {
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

    /// Waits until the store is as wanted.
    fn wait_until(&mut self, is_so: impl Fn(&MessageStore) -> bool) -> Result<(), Ended> {
        let mut waited_ns = 0;
        while !is_so(&self.store) {
            let before = self.store.outstanding();
            let started = std::time::Instant::now();
            self.reap(Wait::AtMost(LOOK_UP_NS))?;
            waited_ns += started.elapsed().as_nanos() as u64;
            let outstanding = self.store.outstanding();
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

    /// Reaps completions. A message is worth nothing if one of its I/Os failed, so the first failure ends the trial.
    fn reap(&mut self, wait: Wait) -> Result<(), Ended> {
        self.disks.reap(wait, &mut self.done).map_err(broken)?;
        let store = &mut self.store;
        self.io_failures.extend(self.done.drain(..).filter_map(|done| store.completed(done)));
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

    use stormeter_disk::Kind;
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
            let buffers = vec![vec![0; CHUNK]; MessageStore::OUTSTANDING as usize];
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
                    _ => place.copy_from_slice(buffer),
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
        let (cancel, (events, _)) = (AtomicBool::new(false), mpsc::channel());
        let mut watcher = Watcher::new(&cancel, &events, false, None);
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
            assert_eq!(files.store.outstanding(), 0);
        });
        assert!(disk.waiting.is_empty() && disk.bytes[..message.len()] == message);
        assert_eq!(disk.deepest, MessageStore::OUTSTANDING as usize);
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
        assert_eq!(disk.deepest, MessageStore::OUTSTANDING as usize);
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
}
