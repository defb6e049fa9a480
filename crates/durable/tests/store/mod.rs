//! A disk with a volatile cache whose power can be cut.

use stormeter_disk::{Clock, Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};
use stormeter_durable::{Ring, fill};

/// What is wrong with the storage.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// Flushes and durable writes complete and leave everything in the cache.
    pub(crate) flush_lies: bool,
    /// A flush leaves a tenth of the places in the cache.
    pub(crate) flush_forgets: bool,
    /// One write in twenty goes to a random place.
    pub(crate) misdirects: bool,
    /// The third flush fails.
    pub(crate) third_flush_fails: bool,
    /// Nothing ever completes.
    pub(crate) silent: bool,
}

/// A write that the stable part does not have yet.
#[derive(Debug)]
struct Cached {
    offset: usize,
    bytes: Vec<u8>,
    /// It was completed; otherwise it is under way.
    is_complete: bool,
    slot: u32,
}

/// The disk. Operations complete in random order; what is in the cache reaches the stable part at random moments.
pub(crate) struct Store {
    faults: Faults,
    stable: Vec<u8>,
    /// The oldest first.
    cache: Vec<Cached>,
    pending: Vec<Operation>,
    buffers: Vec<Vec<u8>>,
    block_bytes: usize,
    /// Operations until the power goes.
    left: Option<u64>,
    flushes: u32,
    random: Random,
}

/// SplitMix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }

    fn is_one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// A clock that advances by itself.
#[derive(Debug, Default)]
pub(crate) struct Ticks(u64);

impl Clock for Ticks {
    fn now_ns(&mut self) -> u64 {
        self.0 += 100_000_000;
        self.0
    }
}

impl Store {
    /// A disk on which every place is marked as empty.
    pub(crate) fn new(ring: &Ring, faults: Faults, seed: u64) -> Self {
        let block_bytes = ring.block_bytes as usize;
        let mut stable = vec![0; ring.disk_bytes as usize];
        for (place, block) in (0..).zip(stable.chunks_exact_mut(block_bytes)) {
            fill(block, ring.run, 0, ring.offset_bytes(place));
        }
        Self {
            faults,
            stable,
            cache: Vec::new(),
            pending: Vec::new(),
            buffers: vec![vec![0; block_bytes]; 16],
            block_bytes,
            left: None,
            flushes: 0,
            random: Random(seed),
        }
    }

    /// The power goes after this many operations.
    pub(crate) fn cut_after(&mut self, operations: u64) {
        self.left = Some(operations);
    }

    /// The power goes and comes back: of what only the cache had, a random part was written, some of it in part.
    pub(crate) fn power_cycle(&mut self) {
        for write in std::mem::take(&mut self.cache) {
            match self.random.below(3) {
                0 => {}
                1 => self.write_through(&write, |_| true),
                _ => {
                    let sectors = 0..self.block_bytes / 512;
                    let sectors: Vec<bool> = sectors.map(|_| self.random.is_one_in(2)).collect();
                    self.write_through(&write, |sector| sectors[sector]);
                }
            }
        }
        self.pending.clear();
        self.left = None;
    }

    fn write_through(&mut self, write: &Cached, is_written: impl Fn(usize) -> bool) {
        for (sector, bytes) in write.bytes.chunks_exact(512).enumerate() {
            if is_written(sector) {
                let at = write.offset + sector * 512;
                self.stable[at..at + 512].copy_from_slice(bytes);
            }
        }
    }

    /// Takes writes out of the cache and puts them on the stable part.
    fn drain(&mut self, is_meant: impl Fn(&Cached) -> bool) {
        let cache = std::mem::take(&mut self.cache);
        let (meant, kept): (Vec<Cached>, Vec<Cached>) = cache.into_iter().partition(is_meant);
        self.cache = kept;
        for write in &meant {
            self.write_through(write, |_| true);
        }
    }

    fn start(&mut self, operation: Operation) {
        if operation.kind.is_write() {
            let mut offset = operation.offset_bytes as usize;
            if self.faults.misdirects && self.random.is_one_in(20) {
                offset = self.random.below(self.stable.len() / self.block_bytes) * self.block_bytes;
            }
            let bytes = self.buffers[operation.buffer as usize].clone();
            self.cache.push(Cached { offset, bytes, is_complete: false, slot: operation.slot });
        }
        self.pending.push(operation);
    }

    fn complete(&mut self, operation: Operation) -> Completion {
        let Operation { slot, length_bytes, .. } = operation;
        match operation.kind {
            Kind::Read => {
                let at = operation.offset_bytes as usize;
                let mut block = self.stable[at..at + self.block_bytes].to_vec();
                for write in self.cache.iter().filter(|write| write.offset == at) {
                    block.copy_from_slice(&write.bytes);
                }
                self.buffers[operation.buffer as usize] = block;
            }
            Kind::Write | Kind::DurableWrite => {
                let is_it = |write: &&mut Cached| write.slot == slot && !write.is_complete;
                if let Some(write) = self.cache.iter_mut().find(is_it) {
                    write.is_complete = true;
                }
                if operation.kind == Kind::DurableWrite && !self.faults.flush_lies {
                    self.drain(|write| write.slot == slot && write.is_complete);
                }
            }
            Kind::Flush => {
                self.flushes += 1;
                if self.faults.third_flush_fails && self.flushes == 3 {
                    return Completion::failed(slot, DeviceError::IO);
                }
                if !self.faults.flush_lies {
                    let forgets = self.faults.flush_forgets;
                    let forgotten = self.random.below(10);
                    let block_bytes = self.block_bytes;
                    let is_forgotten =
                        |w: &Cached| forgets && w.offset / block_bytes % 10 == forgotten;
                    self.drain(|write| write.is_complete && !is_forgotten(write));
                }
            }
        }
        Completion::moved(slot, length_bytes)
    }
}

impl Disks for Store {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for &operation in operations {
            if self.left == Some(0) {
                return Err(DisksError { action: "writing", reason: "no power".into() });
            }
            self.left = self.left.map(|left| left - 1);
            self.start(operation);
            // The cache writes something back now and then.
            if !self.cache.is_empty() && self.random.is_one_in(20) {
                let offset = self.cache[self.random.below(self.cache.len())].offset;
                self.drain(|write| write.offset == offset && write.is_complete);
            }
        }
        Ok(())
    }

    fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        if self.faults.silent || self.pending.is_empty() {
            return Ok(());
        }
        for _ in 0..=self.random.below(self.pending.len()) {
            let next = self.random.below(self.pending.len());
            let operation = self.pending.swap_remove(next);
            completions.push(self.complete(operation));
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        // As with real disks, the buffer of a write is in use for a moment longer now and then.
        let is_busy = self.left.is_some() && self.random.is_one_in(10);
        (!is_busy).then(|| self.buffers[buffer as usize].as_mut_slice())
    }
}
