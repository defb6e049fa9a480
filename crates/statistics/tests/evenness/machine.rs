//! One machine with two equal datastores, and the memories that make equal ones look different:
//! a cache that both share, pages that a trial left dirty, and a server's cache before one of them.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;

use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_simulator::{HostNoise, NoisePlan, VirtualTime};

const MS: u64 = 1_000_000;
/// Mean time of an I/O that the disk serves.
const DISK_NS: f64 = 800_000.0;
/// Time of an I/O that a cache answers.
const CACHE_NS: f64 = 200_000.0;
/// How much longer the disk takes while dirty pages are written to it.
const DISTURBED: f64 = 1.3;
/// The disk writes a dirty page in this time, next to other work.
const WRITE_BACK_NS: u64 = 250_000;
const SERVERS: usize = 4;

/// The least recently used page leaves first.
#[derive(Debug)]
pub(crate) struct Lru {
    capacity: usize,
    now: u64,
    used: HashMap<(usize, u64), u64>,
    queue: VecDeque<((usize, u64), u64)>,
}

impl Lru {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, now: 0, used: HashMap::new(), queue: VecDeque::new() }
    }

    /// Uses a page; whether it was there.
    pub(crate) fn touch(&mut self, page: (usize, u64)) -> bool {
        self.now += 1;
        let was_there = self.used.insert(page, self.now).is_some();
        self.queue.push_back((page, self.now));
        while self.used.len() > self.capacity {
            let Some((oldest, at)) = self.queue.pop_front() else { break };
            if self.used.get(&oldest) == Some(&at) {
                self.used.remove(&oldest);
            }
        }
        if self.queue.len() > 4 * self.capacity {
            let used = &self.used;
            self.queue.retain(|(page, at)| used.get(page) == Some(at));
        }
        was_there
    }
}

/// What the datastores share.
#[derive(Debug)]
pub(crate) struct Machine {
    noise: HostNoise,
    random: u64,
    /// In front of the disk, for both.
    pub(crate) shared: Option<Lru>,
    /// In front of the first datastore only; it keeps what is read.
    pub(crate) servers: Option<Lru>,
    /// The first datastore acknowledges writes from memory.
    pub(crate) is_buffered: bool,
    dirty_pages: u64,
    written_back_ns: u64,
}

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        // As in the promise without caches: 3 % of noise with a memory, and drift.
        let plan =
            NoisePlan { noise: 0.03, correlation: 0.9, step_ns: 20 * MS, drift_per_s: 0.003 };
        Self {
            noise: HostNoise::new(plan, seed),
            random: seed ^ 0x5eed,
            shared: None,
            servers: None,
            is_buffered: false,
            dirty_pages: 0,
            written_back_ns: 0,
        }
    }

    /// Waits until nothing is dirty; the time at which that is.
    pub(crate) fn settle(&mut self, now_ns: u64) -> u64 {
        self.write_back(now_ns);
        let end_ns = now_ns + self.dirty_pages * WRITE_BACK_NS;
        self.write_back(end_ns);
        end_ns
    }

    fn write_back(&mut self, now_ns: u64) {
        let pages = now_ns.saturating_sub(self.written_back_ns) / WRITE_BACK_NS;
        self.dirty_pages = self.dirty_pages.saturating_sub(pages);
        self.written_back_ns = if self.dirty_pages == 0 {
            now_ns
        } else {
            self.written_back_ns + pages * WRITE_BACK_NS
        };
    }

    fn uniform(&mut self) -> f64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((word ^ (word >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn service_ns(&mut self, store: usize, operation: &Operation, now_ns: u64) -> u64 {
        self.write_back(now_ns);
        let page = (store, operation.offset_bytes / u64::from(operation.length_bytes));
        let is_read = operation.kind == Kind::Read;
        let in_shared = self.shared.as_mut().is_some_and(|cache| cache.touch(page));
        let at_server = store == 0 && self.servers.as_mut().is_some_and(|cache| cache.touch(page));
        let is_acknowledged_early = self.is_buffered && store == 0 && !is_read;
        // A quarter of the time is the same, the rest is exponential.
        let share = 0.25 - 0.75 * self.uniform().ln();
        let mean_ns = if is_read && (in_shared || at_server) { CACHE_NS } else { DISK_NS };
        let mut service_ns = mean_ns * share * self.noise.factor(now_ns);
        if is_acknowledged_early {
            if self.dirty_pages == 0 {
                self.written_back_ns = now_ns;
            }
            self.dirty_pages += 1;
        } else if self.dirty_pages > 0 {
            service_ns *= DISTURBED;
        }
        (service_ns as u64).max(1)
    }
}

/// One datastore.
#[derive(Debug)]
pub(crate) struct Store {
    number: usize,
    time: VirtualTime,
    machine: Rc<RefCell<Machine>>,
    free_at_ns: BinaryHeap<Reverse<u64>>,
    ending: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    served: u64,
}

impl Store {
    pub(crate) fn new(number: usize, time: &VirtualTime, machine: &Rc<RefCell<Machine>>) -> Self {
        Self {
            number,
            time: time.clone(),
            machine: Rc::clone(machine),
            free_at_ns: [Reverse(0); SERVERS].into(),
            ending: BinaryHeap::new(),
            served: 0,
        }
    }
}

impl Disks for Store {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        let now_ns = self.time.now_ns();
        for operation in operations {
            let Some(Reverse(free_ns)) = self.free_at_ns.pop() else { continue };
            let start_ns = free_ns.max(now_ns);
            let service_ns = self.machine.borrow_mut().service_ns(self.number, operation, start_ns);
            let end_ns = start_ns + service_ns;
            self.free_at_ns.push(Reverse(end_ns));
            let (slot, bytes) = (operation.slot, operation.length_bytes);
            self.ending.push(Reverse((end_ns, self.served, slot, bytes)));
            self.served += 1;
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let now_ns = self.time.now_ns();
        let until_ns = match wait {
            Wait::No => now_ns,
            Wait::AtMost(wait_ns) => now_ns.saturating_add(wait_ns),
        };
        let next_ns = self.ending.peek().map_or(u64::MAX, |Reverse((end_ns, ..))| *end_ns);
        self.time.advance_to(next_ns.min(until_ns));
        let now_ns = self.time.now_ns();
        while let Some(&Reverse((end_ns, _, slot, bytes))) = self.ending.peek()
            && end_ns <= now_ns
        {
            self.ending.pop();
            completions.push(Completion::moved(slot, bytes));
        }
        Ok(())
    }

    fn buffer(&mut self, _buffer: u32) -> Option<&mut [u8]> {
        None
    }
}
