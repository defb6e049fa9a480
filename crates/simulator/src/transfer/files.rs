//! A server's messages on its virtual disk: chunks, one after another, some of them concurrently.
//!
//! The sizes and the order are those of the runner's server.

use stormeter_disk::{Kind, Operation};
use stormeter_driver::Payload;
use stormeter_trial::Start;

/// The most outstanding I/Os of a server: what its file system would read ahead or write behind.
pub(super) const OUTSTANDING: u32 = 4;
/// Offsets and lengths are multiples of this, as direct I/O requires.
pub(super) const BLOCK_BYTES: u32 = 4096;

/// Where the next chunk goes, and what is outstanding.
#[derive(Debug)]
pub(super) struct Files {
    disk: u32,
    disk_bytes: u64,
    chunk_bytes: u64,
    at_bytes: u64,
    /// The number of the first slot.
    first_slot: u32,
    slots: [Option<Operation>; OUTSTANDING as usize],
    /// Within the message: the chunk that the server's thread works on, and how many were
    /// requested.
    chunk: u64,
    asked: u64,
}

impl Files {
    /// On disk number `disk`, of this size, from `start` on.
    pub(super) fn new(disk: u32, (disk_bytes, start): (u64, Start), first_slot: u32) -> Self {
        let chunk = disk_bytes.min(Payload::CHUNK_BYTES as u64);
        let chunk_bytes = chunk - chunk % u64::from(BLOCK_BYTES);
        Self {
            disk,
            disk_bytes,
            chunk_bytes,
            at_bytes: start.place(disk, disk_bytes / chunk_bytes.max(1)) * chunk_bytes,
            first_slot,
            slots: [None; OUTSTANDING as usize],
            chunk: 0,
            asked: 0,
        }
    }

    /// A message starts.
    pub(super) fn begin(&mut self) {
        (self.chunk, self.asked) = (0, 0);
    }

    /// How far into the message the thread can go now: to the end of its chunk, or no further than
    /// the chunk's start while it waits for the disk.
    pub(super) fn reach_bytes(&self, message_bytes: u64) -> u64 {
        let slot = (self.chunk % u64::from(OUTSTANDING)) as usize;
        let chunks = self.chunk + u64::from(self.slots[slot].is_none());
        (chunks * self.chunk_bytes).min(message_bytes)
    }

    /// The thread has reached this byte: at the end of a chunk the next one starts. Returns the length
    /// of the chunk that ended.
    pub(super) fn came_to(&mut self, at_bytes: u64, message_bytes: u64) -> Option<u64> {
        let begin = self.chunk * self.chunk_bytes;
        let end = (begin + self.chunk_bytes).min(message_bytes);
        (at_bytes == end).then(|| {
            self.chunk += 1;
            end - begin
        })
    }

    /// Writes the previous chunk.
    pub(super) fn write(&mut self, length: u64, operations: &mut Vec<Operation>) {
        self.submit(Kind::Write, self.chunk - 1, length, operations);
    }

    /// Reads what is to be read ahead.
    pub(super) fn read(&mut self, message_bytes: u64, operations: &mut Vec<Operation>) {
        let chunks = message_bytes.div_ceil(self.chunk_bytes);
        while self.asked < chunks.min(self.chunk + u64::from(OUTSTANDING)) {
            let length = (message_bytes - self.asked * self.chunk_bytes).min(self.chunk_bytes);
            self.submit(Kind::Read, self.asked, length, operations);
            self.asked += 1;
        }
    }

    fn submit(&mut self, kind: Kind, chunk: u64, length: u64, operations: &mut Vec<Operation>) {
        let place = (chunk % u64::from(OUTSTANDING)) as u32;
        let length_bytes = (length as u32).next_multiple_of(BLOCK_BYTES);
        if self.at_bytes + u64::from(length_bytes) > self.disk_bytes {
            self.at_bytes = 0;
        }
        let slot = self.first_slot + place;
        let operation = Operation {
            offset_bytes: self.at_bytes,
            length_bytes,
            disk: self.disk,
            slot,
            buffer: slot,
            kind,
        };
        self.at_bytes += u64::from(length_bytes);
        self.slots[place as usize] = Some(operation);
        operations.push(operation);
    }

    /// The outstanding operation of a slot.
    pub(super) fn operation(&self, place: u32) -> Option<Operation> {
        self.slots[place as usize]
    }

    /// It is done.
    pub(super) fn done(&mut self, place: u32) {
        self.slots[place as usize] = None;
    }

    /// Whether nothing is outstanding.
    pub(super) fn are_idle(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole_blocks_one_behind_the_other_and_begin_anew_at_the_end() {
        let mut files = Files::new(0, (10_000, Start::default()), 0);
        let mut operations = Vec::new();
        for length in [8192, 100, 8192] {
            files.chunk += 1;
            files.write(length, &mut operations);
        }
        let places: Vec<_> = operations.iter().map(|o| (o.offset_bytes, o.length_bytes)).collect();
        assert_eq!(places, [(0, 8192), (0, 4096), (0, 8192)]);
    }

    #[test]
    fn the_first_chunk_is_where_the_trial_begins() {
        let begins: Vec<u64> = (0..4)
            .map(|trial| Files::new(2, (1 << 30, Start(3).of_trial(trial)), 0).at_bytes)
            .collect();
        let far = |(n, &one): (usize, &u64)| {
            begins[..n].iter().all(|other| one.abs_diff(*other) > 50 << 20)
                && one % (256 << 10) == 0
        };
        assert!(begins.iter().enumerate().all(far), "{begins:?}");
    }

    #[test]
    fn four_chunks_are_read_ahead_and_given_in_order() {
        let mut files = Files::new(0, (1 << 30, Start::default()), 0);
        let (mut operations, message, chunk) = (Vec::new(), (6 << 18) + 100, 1 << 18);
        files.read(message, &mut operations);
        assert_eq!(operations.len(), 4);
        files.done(1);
        assert_eq!(files.reach_bytes(message), 0);
        files.done(0);
        assert_eq!(files.reach_bytes(message), chunk);
        assert_eq!(files.came_to(chunk - 1, message), None);
        assert_eq!(files.came_to(chunk, message), Some(chunk));
        files.read(message, &mut operations);
        assert_eq!((operations.len(), files.reach_bytes(message)), (5, 2 * chunk));
    }
}
