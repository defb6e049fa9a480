//! Where the server of a transfer keeps messages on its virtual disk: chunk after chunk, some of them
//! outstanding at once, as a file system reads ahead and writes behind.
//!
//! Only the rules: which I/O comes next, where, and in which slot. Servers on real sockets and servers in
//! virtual time follow the same ones, so that a prediction has the I/Os of a measurement.

use stormeter_disk::{Completion, Kind, Operation};
use stormeter_trial::{IoFailure, IoFailureOutcome, Start, Transfer};

use super::payload::Payload;

const SLOTS: usize = MessageStore::OUTSTANDING as usize;

/// Messages on the disk of a server, one behind the other.
#[derive(Debug)]
pub struct MessageStore {
    disk: MessageDisk,
    chunk_bytes: u64,
    /// Where the next I/O goes.
    at_bytes: u64,
    slots: [Option<Operation>; SLOTS],
    /// Within the message: the chunk that the server's thread works on, and the number of chunks that reads
    /// were issued for.
    chunk: u64,
    read: u64,
}

/// The disk of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageDisk {
    /// The number of the server, which is that of its disk over all servers.
    pub server: u32,
    /// The number of the disk where operations are submitted.
    pub disk: u32,
    /// Its size.
    pub bytes: u64,
    /// Where on their disks the servers start.
    pub start: Start,
    /// The number of the first of its [`MessageStore::OUTSTANDING`] slots.
    pub first_slot: u32,
}

impl MessageStore {
    /// The most outstanding I/Os of a server.
    pub const OUTSTANDING: u32 = 4;

    /// An empty store, with its first message where the trial starts.
    pub fn new(disk: MessageDisk) -> Self {
        let chunk_bytes = u64::from(Self::chunk_bytes(disk.bytes));
        let places = disk.bytes / chunk_bytes.max(1);
        Self {
            disk,
            chunk_bytes,
            at_bytes: disk.start.place(disk.server, places) * chunk_bytes,
            slots: [None; SLOTS],
            chunk: 0,
            read: 0,
        }
    }

    /// Length of each I/O on a disk of this size, except for the last of a message.
    pub fn chunk_bytes(disk_bytes: u64) -> u32 {
        let chunk = disk_bytes.min(Payload::CHUNK_BYTES as u64) as u32;
        chunk - chunk % Transfer::BLOCK_BYTES
    }

    /// A message starts.
    pub fn begin(&mut self) {
        (self.chunk, self.read) = (0, 0);
    }

    /// Length of the chunk that the server's thread works on; `None` behind the last one.
    pub fn length(&self, message_bytes: u64) -> Option<u64> {
        let begin = self.chunk * self.chunk_bytes;
        (begin < message_bytes).then(|| (message_bytes - begin).min(self.chunk_bytes))
    }

    /// The place of that chunk's slot among those of the store.
    pub fn place(&self) -> u32 {
        (self.chunk % u64::from(Self::OUTSTANDING)) as u32
    }

    /// The slot of that chunk, which is also the number of its buffer.
    pub fn slot(&self) -> u32 {
        self.disk.first_slot + self.place()
    }

    /// Whether nothing is outstanding in that slot: the chunk has been read, or can be written.
    pub fn is_ready(&self) -> bool {
        self.slots[self.place() as usize].is_none()
    }

    /// How far into the message the server's thread can go now: to the end of its chunk, or to the chunk's
    /// start while it waits for the disk.
    pub fn reach_bytes(&self, message_bytes: u64) -> u64 {
        ((self.chunk + u64::from(self.is_ready())) * self.chunk_bytes).min(message_bytes)
    }

    /// Whether this byte of the message is the end of the thread's chunk.
    pub fn is_end(&self, at_bytes: u64, message_bytes: u64) -> bool {
        self.length(message_bytes)
            .is_some_and(|length| self.chunk * self.chunk_bytes + length == at_bytes)
    }

    /// The thread has received its chunk, which is now written, and turns to the next one. `None` behind
    /// the last one.
    pub fn write(&mut self, message_bytes: u64) -> Option<Operation> {
        let length = self.length(message_bytes)?;
        let operation = self.operation(Kind::Write, self.place(), length);
        self.chunk += 1;
        Some(operation)
    }

    /// The thread has sent its chunk and turns to the next one.
    pub fn sent(&mut self) {
        self.chunk += 1;
    }

    /// The next chunk to read ahead, if its slot is not needed for an earlier one.
    pub fn read_ahead(&mut self, message_bytes: u64) -> Option<Operation> {
        let chunks = message_bytes.div_ceil(self.chunk_bytes);
        if self.read >= chunks.min(self.chunk + u64::from(Self::OUTSTANDING)) {
            return None;
        }
        let length = (message_bytes - self.read * self.chunk_bytes).min(self.chunk_bytes);
        let place = (self.read % u64::from(Self::OUTSTANDING)) as u32;
        self.read += 1;
        Some(self.operation(Kind::Read, place, length))
    }

    fn operation(&mut self, kind: Kind, place: u32, length: u64) -> Operation {
        let length_bytes = (length as u32).next_multiple_of(Transfer::BLOCK_BYTES);
        if self.at_bytes + u64::from(length_bytes) > self.disk.bytes {
            self.at_bytes = 0;
        }
        let slot = self.disk.first_slot + place;
        let operation = Operation {
            offset_bytes: self.at_bytes,
            length_bytes,
            disk: self.disk.disk,
            slot,
            buffer: slot,
            kind,
        };
        self.at_bytes += u64::from(length_bytes);
        self.slots[place as usize] = Some(operation);
        operation
    }

    /// An I/O has completed. Returns how it failed: a message with a failed I/O is worthless, so the first
    /// failure ends a transfer.
    pub fn completed(&mut self, completion: Completion) -> Option<IoFailure> {
        let place = completion.slot.checked_sub(self.disk.first_slot)?;
        let operation = self.slots.get_mut(place as usize)?.take()?;
        let outcome = match completion.outcome() {
            Ok(bytes) if bytes == operation.length_bytes => return None,
            Ok(bytes) => IoFailureOutcome::Short(bytes),
            Err(error) => IoFailureOutcome::Failed(error),
        };
        Some(IoFailure {
            disk: self.disk.server,
            kind: operation.kind,
            offset_bytes: operation.offset_bytes,
            length_bytes: operation.length_bytes,
            outcome,
        })
    }

    /// The number of outstanding I/Os.
    pub fn outstanding(&self) -> u64 {
        self.slots.iter().flatten().count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(server: u32, bytes: u64, start: Start) -> MessageStore {
        MessageStore::new(MessageDisk { server, disk: 0, bytes, start, first_slot: 8 })
    }

    #[test]
    fn chunks_are_whole_blocks_that_the_disk_holds() {
        assert_eq!(MessageStore::chunk_bytes(1 << 40), 256 << 10);
        assert_eq!(MessageStore::chunk_bytes(10_000), 8192);
        assert_eq!(MessageStore::chunk_bytes(4096), 4096);
    }

    #[test]
    fn messages_lie_one_behind_the_other_and_restart_at_the_end_of_the_disk() {
        let mut store = on(0, 10_000, Start::default());
        let mut places = Vec::new();
        for message_bytes in [8192, 100, 8192] {
            store.begin();
            let operation = store.write(message_bytes).unwrap();
            places.push((operation.offset_bytes, operation.length_bytes));
            assert_eq!(store.write(message_bytes), None);
        }
        assert_eq!(places, [(0, 8192), (0, 4096), (0, 8192)]);
    }

    #[test]
    fn the_first_chunk_is_where_the_trial_starts() {
        let starts: Vec<u64> =
            (0..4).map(|trial| on(2, 1 << 30, Start(3).of_trial(trial)).at_bytes).collect();
        let far = |(n, &one): (usize, &u64)| {
            starts[..n].iter().all(|other| one.abs_diff(*other) > 50 << 20)
                && one % (256 << 10) == 0
        };
        assert!(starts.iter().enumerate().all(far), "{starts:?}");
    }

    #[test]
    fn four_chunks_are_read_ahead_and_sent_in_order() {
        let mut store = on(0, 1 << 30, Start::default());
        let (message, chunk) = ((6 << 18) + 100, 1 << 18);
        let read_ahead = |store: &mut MessageStore| {
            std::iter::from_fn(|| store.read_ahead(message)).map(|one| one.slot).collect::<Vec<_>>()
        };
        assert_eq!(read_ahead(&mut store), [8, 9, 10, 11]);
        assert_eq!(store.completed(Completion::moved(9, 1 << 18)), None);
        assert_eq!(store.reach_bytes(message), 0);
        assert_eq!(store.completed(Completion::moved(8, 1 << 18)), None);
        assert_eq!(store.reach_bytes(message), chunk);
        assert!(!store.is_end(chunk - 1, message) && store.is_end(chunk, message));
        store.sent();
        assert_eq!(read_ahead(&mut store), [8]);
        assert_eq!((store.outstanding(), store.reach_bytes(message)), (3, 2 * chunk));
    }

    #[test]
    fn an_io_that_moved_less_is_a_failure_of_the_server_s_disk() {
        let mut store = on(3, 1 << 30, Start::default());
        store.write(1 << 18).unwrap();
        let failure = store.completed(Completion::moved(8, 4096)).unwrap();
        assert_eq!((failure.disk, failure.outcome), (3, IoFailureOutcome::Short(4096)));
        assert_eq!((store.outstanding(), store.completed(Completion::moved(8, 4096))), (0, None));
        assert_eq!(store.completed(Completion::moved(1, 4096)), None, "a slot of another store");
    }
}
