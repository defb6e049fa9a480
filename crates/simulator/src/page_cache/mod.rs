//! The page cache of a client in front of a machine's disks: writes are copied to memory and written back in larger
//! requests, reads are answered from it and read ahead.
//!
//! What an operating system does, as far as a file test can tell: a write completes when it is copied, unless too much is
//! dirty, then it waits for the storage; when half of that much is dirty, or a flush asks for it, adjacent dirty bytes are
//! written back together, in the order of the file (Linux: vm.dirty_ratio and half of it, vm.dirty_background_ratio); a
//! file that is read in its order is read one request ahead. Its parameters, with sources, are those of
//! [`stormeter_site::PageCache`]. Memory is never reclaimed: files larger than it are refused.

mod ranges;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_site::PageCache;

use crate::time::VirtualTime;
use ranges::Ranges;

/// A cache between a driver's loop and the disks below. An error of the disks is passed on to the operations that wait for
/// its bytes; bytes that could not be written back fail the next flush of their file.
#[derive(Debug)]
pub struct CachedDisks<'a, D> {
    disks: &'a mut D,
    time: VirtualTime,
    plan: PageCache,
    /// Where files end.
    file_bytes: u64,
    /// By number of the disk, which holds one file.
    files: Vec<File>,
    /// Bytes that are dirty or on their way to the storage.
    dirty_bytes: u64,
    /// Writes that wait until less is dirty.
    throttled: VecDeque<Operation>,
    /// When each core of the hosts is free to copy.
    cores: BinaryHeap<Reverse<u64>>,
    /// Completions by their time; the counter keeps those of one time in order.
    ending: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    ended: u64,
    /// Requests to the disks, by their slot there.
    requests: Vec<Option<Request>>,
    idle: Vec<u32>,
}

/// One file.
#[derive(Debug, Default)]
struct File {
    /// What is in memory.
    held: Ranges,
    dirty: Ranges,
    /// Where writing back continues.
    written_to: u64,
    /// How many requests write back.
    writing: u32,
    /// What is being read.
    reading: Ranges,
    /// Where the last read ended.
    read_to: u64,
    /// Up to where a file that is read in its order was read ahead.
    ahead_to: u64,
    /// Reads that wait for bytes.
    waiting: Vec<Operation>,
    /// Flushes that wait until nothing is dirty.
    flushes: Vec<u32>,
    /// The error that bytes could not be written back with.
    lost: Option<i32>,
}

#[derive(Debug, Clone)]
enum Request {
    Back { file: usize, bytes: u64 },
    Ahead { file: usize, range: Range<u64> },
    Flush { slot: u32 },
}

impl<'a, D: Disks> CachedDisks<'a, D> {
    /// An empty cache in front of disks that advance this time; each holds a file of this size. `cores` copy.
    pub fn new(
        (disks, time): (&'a mut D, VirtualTime),
        plan: PageCache,
        cores: u32,
        file_bytes: u64,
    ) -> Self {
        Self {
            disks,
            cores: (0..cores.max(1)).map(|_| Reverse(0)).collect(),
            time,
            plan,
            file_bytes,
            files: Vec::new(),
            dirty_bytes: 0,
            throttled: VecDeque::new(),
            ending: BinaryHeap::new(),
            ended: 0,
            requests: Vec::new(),
            idle: Vec::new(),
        }
    }

    /// The disks below.
    pub fn below(&mut self) -> &mut D {
        self.disks
    }

    fn dirty_most(&self) -> u64 {
        ((self.plan.memory_bytes as f64 * self.plan.dirty_share) as u64).max(1)
    }

    fn end(&mut self, after_ns: u64, slot: u32, result: i32) {
        let at_ns = self.time.now_ns().saturating_add(after_ns);
        self.ending.push(Reverse((at_ns, self.ended, slot, result)));
        self.ended += 1;
    }

    /// Ends an operation once its bytes are copied, by the core that is free first.
    fn copied(&mut self, operation: &Operation) {
        let bytes = operation.length_bytes;
        let per_call_ns = match operation.kind {
            Kind::Read => self.plan.per_read_ns,
            _ => self.plan.per_write_ns,
        };
        let copy_ns = per_call_ns + f64::from(bytes) * 1e9 / self.plan.copy_bytes_per_s;
        let now_ns = self.time.now_ns();
        let free_ns = self.cores.pop().map_or(now_ns, |Reverse(free_ns)| free_ns.max(now_ns));
        let end_ns = free_ns.saturating_add((copy_ns.ceil() as u64).max(1));
        self.cores.push(Reverse(end_ns));
        self.end(end_ns - now_ns, operation.slot, bytes as i32);
    }

    fn file(&mut self, disk: u32) -> usize {
        let at = disk as usize;
        if self.files.len() <= at {
            self.files.resize_with(at + 1, File::default);
        }
        at
    }

    fn take(&mut self, operation: Operation) -> Result<(), DisksError> {
        match operation.kind {
            Kind::Write | Kind::DurableWrite => {
                if self.dirty_bytes >= self.dirty_most() {
                    self.throttled.push_back(operation);
                } else {
                    self.write(&operation);
                }
                self.write_back()
            }
            Kind::Read => self.read(operation),
            Kind::Flush => {
                let file = self.file(operation.disk);
                self.files[file].flushes.push(operation.slot);
                self.write_back()?;
                self.flush_if_clean(file)
            }
        }
    }

    fn write(&mut self, operation: &Operation) {
        let file = self.file(operation.disk);
        let range = range_of(operation);
        self.files[file].held.add(range.clone());
        self.dirty_bytes += self.files[file].dirty.add(range);
        self.copied(operation);
    }

    /// Starts to write back what is due.
    fn write_back(&mut self) -> Result<(), DisksError> {
        let is_much = 2 * self.dirty_bytes >= self.dirty_most();
        for file in 0..self.files.len() {
            let outstanding = self.plan.outstanding;
            while self.files[file].writing < outstanding
                && (is_much || !self.files[file].flushes.is_empty())
            {
                let own = &mut self.files[file];
                let most = u64::from(self.plan.request_bytes);
                let Some(range) = own.dirty.take_from(own.written_to, most) else { break };
                own.written_to = range.end;
                own.writing += 1;
                let request = Request::Back { file, bytes: range.end - range.start };
                self.ask(file, Kind::Write, range, request)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, operation: Operation) -> Result<(), DisksError> {
        let file = self.file(operation.disk);
        let range = range_of(&operation);
        let is_in_order = range.start == self.files[file].read_to;
        self.files[file].read_to = range.end;
        if is_in_order {
            // One request further than what is asked for, so that it arrives meanwhile.
            let request_bytes = u64::from(self.plan.request_bytes);
            let mut ahead_to = self.files[file].ahead_to.max(range.start);
            while ahead_to < range.end + request_bytes {
                self.fetch(file, ahead_to..ahead_to + request_bytes)?;
                ahead_to += request_bytes;
            }
            self.files[file].ahead_to = ahead_to;
        } else {
            self.files[file].ahead_to = 0;
            self.fetch(file, range.clone())?;
        }
        match self.files[file].held.contains(range) {
            true => self.copied(&operation),
            false => self.files[file].waiting.push(operation),
        }
        Ok(())
    }

    /// Reads what is neither in memory nor on its way, in requests of at most the largest size.
    fn fetch(&mut self, file: usize, range: Range<u64>) -> Result<(), DisksError> {
        let most = u64::from(self.plan.request_bytes);
        let range = range.start..range.end.min(self.file_bytes);
        let own = &self.files[file];
        let mut missing = Ranges::default();
        missing.add(range.clone());
        for known in own.held.within(&range).chain(own.reading.within(&range)) {
            missing.remove(known);
        }
        while let Some(range) = missing.take_from(0, most) {
            self.files[file].reading.add(range.clone());
            self.ask(file, Kind::Read, range.clone(), Request::Ahead { file, range })?;
        }
        Ok(())
    }

    /// Passes a request to the disks.
    fn ask(
        &mut self,
        file: usize,
        kind: Kind,
        range: Range<u64>,
        request: Request,
    ) -> Result<(), DisksError> {
        let slot = match self.idle.pop() {
            Some(slot) => slot,
            None => {
                self.requests.push(None);
                self.requests.len() as u32 - 1
            }
        };
        self.requests[slot as usize] = Some(request);
        let operation = Operation {
            offset_bytes: range.start,
            length_bytes: (range.end - range.start) as u32,
            disk: file as u32,
            slot,
            buffer: slot,
            kind,
        };
        self.disks.submit(&[operation])
    }

    /// Passes the flushes of a file on when nothing of it is dirty or on its way.
    fn flush_if_clean(&mut self, file: usize) -> Result<(), DisksError> {
        let own = &mut self.files[file];
        if !own.dirty.is_empty() || own.writing > 0 {
            return Ok(());
        }
        for slot in std::mem::take(&mut own.flushes) {
            match self.files[file].lost.take() {
                Some(error) => self.end(0, slot, error),
                None => self.ask(file, Kind::Flush, 0..0, Request::Flush { slot })?,
            }
        }
        Ok(())
    }

    /// A request to the disks has ended.
    fn answered(&mut self, Completion { slot, result }: Completion) -> Result<(), DisksError> {
        let Some(request) = self.requests.get_mut(slot as usize).and_then(Option::take) else {
            return Ok(());
        };
        self.idle.push(slot);
        match request {
            Request::Back { file, bytes } => {
                let own = &mut self.files[file];
                own.writing -= 1;
                if result < 0 {
                    own.lost = Some(result);
                }
                self.dirty_bytes -= bytes;
                while self.dirty_bytes < self.dirty_most()
                    && let Some(operation) = self.throttled.pop_front()
                {
                    self.write(&operation);
                }
                self.write_back()?;
                self.flush_if_clean(file)
            }
            Request::Ahead { file, range } => {
                let own = &mut self.files[file];
                own.reading.remove(range.clone());
                if result >= 0 {
                    own.held.add(range.clone());
                }
                let waiting = std::mem::take(&mut own.waiting);
                for operation in waiting {
                    let wanted = range_of(&operation);
                    if result < 0 && wanted.start < range.end && range.start < wanted.end {
                        self.end(0, operation.slot, result);
                    } else if self.files[file].held.contains(wanted) {
                        self.copied(&operation);
                    } else {
                        self.files[file].waiting.push(operation);
                    }
                }
                Ok(())
            }
            Request::Flush { slot } => {
                self.end(0, slot, result);
                Ok(())
            }
        }
    }

    /// Passes on what has ended by now.
    fn take_ended(&mut self, completions: &mut Vec<Completion>) {
        let now_ns = self.time.now_ns();
        while let Some(&Reverse((at_ns, _, slot, result))) = self.ending.peek()
            && at_ns <= now_ns
        {
            self.ending.pop();
            completions.push(Completion { slot, result });
        }
    }
}

fn range_of(operation: &Operation) -> Range<u64> {
    operation.offset_bytes..operation.offset_bytes + u64::from(operation.length_bytes)
}

impl<D: Disks> Disks for CachedDisks<'_, D> {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        operations.iter().try_for_each(|operation| self.take(*operation))
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let began_ns = self.time.now_ns();
        let until_ns = match wait {
            Wait::No => began_ns,
            Wait::AtMost(wait_ns) => began_ns.saturating_add(wait_ns),
        };
        let mut answers = Vec::new();
        loop {
            self.take_ended(completions);
            let now_ns = self.time.now_ns();
            if !completions.is_empty() {
                return Ok(());
            }
            let next_ns = self.ending.peek().map_or(u64::MAX, |Reverse((at_ns, ..))| *at_ns);
            let wait_ns = until_ns.min(next_ns).saturating_sub(now_ns);
            self.disks.reap(Wait::AtMost(wait_ns), &mut answers)?;
            let is_over = answers.is_empty() && self.time.now_ns() >= until_ns;
            for answer in answers.drain(..) {
                self.answered(answer)?;
            }
            if is_over {
                self.take_ended(completions);
                return Ok(());
            }
        }
    }

    fn buffer(&mut self, _buffer: u32) -> Option<&mut [u8]> {
        None
    }
}

#[cfg(test)]
mod tests;
