//! Data that the server has accepted and may still lose: kept until a COMMIT confirms it.
//!
//! Entries are in the order in which their WRITEs completed. If any was lost, all that were unstable are written
//! again, with the newest bytes of each place: otherwise an old block would replace a newer one, for a moment or,
//! if a break comes at that moment, for good. What was stable at once is kept for its bytes.

use std::collections::VecDeque;

use crate::data::WriteVerifier;

/// A WRITE that completed and is not known to be stable.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) file: u32,
    pub(super) offset_bytes: u64,
    pub(super) data: Vec<u8>,
    verifier: WriteVerifier,
    /// Stable at once.
    durable: bool,
    /// Written again, stably, or needs not be.
    rewritten: bool,
    /// Has to be written again whatever a COMMIT says: the server refused to commit it.
    doubted: bool,
}

/// What the answer to a COMMIT shows about the data that it covers; the worst comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It is stable.
    Kept,
    /// It may be, and was in doubt before.
    Doubted,
    /// Some of it was accepted by an earlier instance of the server, and may be lost.
    Restarted,
}

impl Entry {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let end = |entry: &Self| entry.offset_bytes.saturating_add(entry.data.len() as u64);
        self.file == other.file && self.offset_bytes < end(other) && other.offset_bytes < end(self)
    }

    /// Takes over what a newer entry has of the same places.
    fn renew(&mut self, newer: &Self) {
        let from = self.offset_bytes.max(newer.offset_bytes);
        let own = self.data.get_mut((from - self.offset_bytes) as usize..).unwrap_or_default();
        let bytes = newer.data.get((from - newer.offset_bytes) as usize..).unwrap_or_default();
        for (place, byte) in own.iter_mut().zip(bytes) {
            *place = *byte;
        }
    }

    fn is_covered(&self, file: u32, upto: u64) -> bool {
        self.file == file && self.sequence <= upto
    }

    fn is_unsettled(&self) -> bool {
        !self.rewritten && !self.durable
    }

    fn verdict(&self, verifier: WriteVerifier) -> Verdict {
        if !self.is_unsettled() {
            Verdict::Kept
        } else if self.verifier != verifier {
            Verdict::Restarted
        } else if self.doubted {
            Verdict::Doubted
        } else {
            Verdict::Kept
        }
    }
}

/// The log.
#[derive(Debug)]
pub(super) struct Log {
    entries: VecDeque<Entry>,
    spare: Vec<Vec<u8>>,
    logged_bytes: usize,
    /// Reserved for WRITEs that have not completed.
    reserved_bytes: usize,
    limit_bytes: usize,
    last_sequence: u64,
}

impl Log {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            spare: Vec::new(),
            logged_bytes: 0,
            reserved_bytes: 0,
            limit_bytes,
            last_sequence: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn logged_bytes(&self) -> usize {
        self.logged_bytes
    }

    pub(super) fn is_half_full(&self) -> bool {
        self.logged_bytes * 2 >= self.limit_bytes
    }

    /// Reserves memory for a WRITE, if there is any.
    pub(super) fn reserve(&mut self, length: u32) -> bool {
        let sum = self.logged_bytes + self.reserved_bytes + length as usize;
        let fits = sum <= self.limit_bytes;
        if fits {
            self.reserved_bytes += length as usize;
        }
        fits
    }

    /// Releases the reservation.
    pub(super) fn release(&mut self, length: u32) {
        self.reserved_bytes = self.reserved_bytes.saturating_sub(length as usize);
    }

    pub(super) fn push(
        &mut self,
        file: u32,
        offset_bytes: u64,
        bytes: &[u8],
        verifier: WriteVerifier,
        durable: bool,
    ) {
        self.release(bytes.len() as u32);
        self.logged_bytes += bytes.len();
        self.last_sequence += 1;
        let mut data = self.spare.pop().unwrap_or_default();
        data.extend_from_slice(bytes);
        let sequence = self.last_sequence;
        let (rewritten, doubted) = (false, false);
        self.entries.push_back(Entry {
            sequence,
            file,
            offset_bytes,
            data,
            verifier,
            durable,
            rewritten,
            doubted,
        });
    }

    pub(super) fn last_sequence(&self) -> u64 {
        self.last_sequence
    }

    /// Whether the last entry was accepted by another instance of the server than `verifier`'s.
    pub(super) fn last_differs(&self, verifier: WriteVerifier) -> bool {
        self.entries.back().is_some_and(|entry| entry.verifier != verifier)
    }

    /// The files that have entries up to a sequence number.
    pub(super) fn dirty_files(&self, upto: u64) -> Vec<u32> {
        let entries = self.entries.iter().take_while(|entry| entry.sequence <= upto);
        let mut files: Vec<u32> = entries.map(|entry| entry.file).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The last entry of a file that is not known to be stable.
    pub(super) fn last_unsettled(&self, file: u32) -> Option<u64> {
        let mut entries = self.entries.iter().rev();
        entries.find(|entry| entry.file == file && entry.is_unsettled()).map(|entry| entry.sequence)
    }

    /// Whether any entry of a file up to a sequence number is not known to be stable.
    pub(super) fn is_unsettled(&self, file: u32, upto: u64) -> bool {
        let mut entries = self.entries.iter().take_while(|entry| entry.sequence <= upto);
        entries.any(|entry| entry.file == file && entry.is_unsettled())
    }

    /// What is unstable of a file is not trusted any longer.
    pub(super) fn doubt(&mut self, file: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.file == file) {
            entry.doubted = true;
        }
    }

    /// Before entries are written again: each gets the newest bytes of its places. Those that were stable at once
    /// need no more.
    pub(super) fn renew(&mut self) {
        let mut older = self.entries.make_contiguous();
        while let Some((newer, rest)) = older.split_last_mut() {
            rest.iter_mut().filter(|one| one.overlaps(newer)).for_each(|one| one.renew(newer));
            older = rest;
        }
        for entry in &mut self.entries {
            entry.rewritten |= entry.durable;
        }
        self.forget_rewritten();
    }

    /// Handles a COMMIT answered with `verifier`: drops what it confirms. If it does not confirm all that it covers,
    /// nothing is dropped.
    #[must_use]
    pub(super) fn confirm(&mut self, file: u32, upto: u64, verifier: WriteVerifier) -> Verdict {
        let covered = |entry: &Entry| entry.is_covered(file, upto);
        let entries = self.entries.iter().filter(|entry| covered(entry));
        let verdict = entries.map(|entry| entry.verdict(verifier)).max().unwrap_or(Verdict::Kept);
        if verdict != Verdict::Kept {
            return verdict;
        }
        let mut kept = VecDeque::with_capacity(self.entries.len());
        for entry in std::mem::take(&mut self.entries) {
            if covered(&entry) {
                self.forget(entry);
            } else {
                kept.push_back(entry);
            }
        }
        self.entries = kept;
        Verdict::Kept
    }

    fn forget(&mut self, entry: Entry) {
        self.logged_bytes -= entry.data.len();
        let mut data = entry.data;
        data.clear();
        self.spare.push(data);
    }

    fn index(&self, sequence: u64) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&sequence, |entry| entry.sequence)
    }

    pub(super) fn entry(&self, sequence: u64) -> Option<&Entry> {
        self.entries.get(self.index(sequence).ok()?)
    }

    /// The first entry from `sequence` on that has not been written again.
    pub(super) fn next_to_rewrite(&self, sequence: u64) -> Option<&Entry> {
        let from = self.index(sequence).unwrap_or_else(|place| place);
        self.entries.range(from..).find(|entry| !entry.rewritten)
    }

    /// Marks an entry as written again, stably. It is dropped once all earlier entries have been,
    /// too.
    pub(super) fn rewritten(&mut self, sequence: u64) {
        if let Ok(index) = self.index(sequence)
            && let Some(entry) = self.entries.get_mut(index)
        {
            entry.rewritten = true;
        }
        self.forget_rewritten();
    }

    fn forget_rewritten(&mut self) {
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.rewritten) {
            self.forget(entry);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self { last_sequence: self.last_sequence, ..Self::new(self.limit_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: WriteVerifier = [1; 8];
    const NEW: WriteVerifier = [2; 8];

    #[test]
    fn memory_is_promised_before_it_is_used() {
        let mut log = Log::new(100);
        assert!(log.reserve(60));
        assert!(!log.reserve(60));
        log.push(0, 0, &[7; 60], OLD, false);
        assert!(log.is_half_full());
        assert!(!log.reserve(60));
        assert_eq!(log.confirm(0, log.last_sequence(), OLD), Verdict::Kept);
        assert!(log.is_empty());
        assert!(log.reserve(100));
    }

    #[test]
    fn nothing_is_forgotten_when_anything_was_lost() {
        let mut log = Log::new(1000);
        log.push(0, 0, b"old", OLD, false);
        log.push(1, 0, b"else", OLD, false);
        log.push(0, 0, b"new", NEW, false);
        assert!(log.last_differs(OLD));
        assert_eq!(log.confirm(0, 3, NEW), Verdict::Restarted);
        assert_eq!(log.logged_bytes(), 10);
        log.rewritten(1);
        // The newer entry may be dropped only after the older one has been written again.
        assert_eq!(log.confirm(0, 3, NEW), Verdict::Kept);
        assert_eq!(log.dirty_files(9), [1]);
        log.rewritten(2);
        assert!(log.is_empty());
    }
}
