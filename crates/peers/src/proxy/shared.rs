//! What the test and the proxy's threads share: the planned faults, the connections, the counts.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::fault::{Direction, Fault};
use super::framing::Framing;
use super::link::{Link, Recording, lock};

/// The most connections that are recorded.
const RECORDINGS_MAX: usize = 100;

/// A planned fault.
#[derive(Debug)]
struct Planned {
    fault: Fault,
    /// Number of opportunities to skip first.
    skip: u64,
    /// Number of times that it still has to happen.
    left: u64,
    /// Bytes that had passed through each connection when the fault was planned: (connection, to
    /// server, to client).
    bases: Vec<(u64, u64, u64)>,
    /// Connections on which it has happened, for faults at a byte.
    had: Vec<u64>,
}

impl Planned {
    /// Counts down the skips, or the repetitions; returns whether it happens.
    fn take(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.left = self.left.saturating_sub(1);
        true
    }

    /// The byte of the connection at which it applies.
    fn strikes_at(&self, number: u64) -> Option<(Direction, u64)> {
        let (direction, bytes) = self.fault.at_byte()?;
        let base = self.bases.iter().find(|base| base.0 == number);
        let base = base.map_or(0, |(_, to_server, to_client)| match direction {
            Direction::ToServer => *to_server,
            Direction::ToClient => *to_client,
        });
        Some((direction, base + bytes))
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) framing: Framing,
    server: Mutex<SocketAddr>,
    planned: Mutex<Vec<Planned>>,
    random: Mutex<Xoshiro256PlusPlus>,
    fired: AtomicU64,
    connections: AtomicU64,
    /// Held while a connection is being made: a reset of all must not miss it.
    connecting: Mutex<()>,
    links: Mutex<Vec<Weak<Link>>>,
    recordings: Mutex<Vec<Arc<Mutex<Recording>>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    is_listening_over: AtomicBool,
    is_over: Mutex<bool>,
    end: Condvar,
}

impl Shared {
    pub(crate) fn new(server: SocketAddr, framing: Framing, seed: u64) -> Self {
        Self {
            framing,
            server: Mutex::new(server),
            planned: Mutex::default(),
            random: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)),
            fired: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            connecting: Mutex::default(),
            links: Mutex::default(),
            recordings: Mutex::default(),
            threads: Mutex::default(),
            is_listening_over: AtomicBool::new(false),
            is_over: Mutex::new(false),
            end: Condvar::new(),
        }
    }

    pub(crate) fn plan(&self, fault: Fault, skip: u64, times: u64) {
        let _quiet = self.quiet();
        let bases = lock(&self.links)
            .iter()
            .filter_map(Weak::upgrade)
            .map(|link| {
                let passed = |direction| link.passed_bytes(direction);
                (link.number, passed(Direction::ToServer), passed(Direction::ToClient))
            })
            .collect();
        let planned = Planned { fault, skip, left: times, bases, had: Vec::new() };
        lock(&self.planned).push(planned);
    }

    pub(crate) fn clear(&self) {
        lock(&self.planned).clear();
    }

    /// The next fault that fits, if it happens now; it is counted.
    pub(crate) fn take(&self, fits: impl Fn(Fault) -> bool) -> Option<Fault> {
        let mut planned = lock(&self.planned);
        let fault = planned
            .iter_mut()
            .filter(|planned| planned.left > 0 && fits(planned.fault))
            .find_map(|planned| planned.take().then_some(planned.fault))?;
        planned.retain(|planned| planned.left > 0);
        drop(planned);
        self.count();
        Some(fault)
    }

    /// Whether a fault that fits is planned, without counting: for faults that depend on a further
    /// condition.
    pub(crate) fn is_planned(&self, fault: Fault) -> bool {
        lock(&self.planned).iter().any(|planned| planned.left > 0 && planned.fault == fault)
    }

    /// The next fault at a byte in this range of a connection, which is counted; with the number of
    /// bytes before it.
    pub(crate) fn strike(
        &self,
        link: &Link,
        direction: Direction,
        length: usize,
    ) -> Option<(Fault, usize)> {
        let begin = link.passed_bytes(direction);
        let mut planned = lock(&self.planned);
        let (before, next) = planned
            .iter_mut()
            .filter(|planned| planned.left > 0 && !planned.had.contains(&link.number))
            .filter_map(|planned| {
                let (_, at) = planned.strikes_at(link.number).filter(|at| at.0 == direction)?;
                let before = usize::try_from(at.saturating_sub(begin)).ok()?;
                // A byte to be flipped must be in the range; all other faults apply after a byte.
                let last = if matches!(planned.fault, Fault::FlipBit { .. }) { 1 } else { 0 };
                (before + last <= length).then_some((before, planned))
            })
            .min_by_key(|(before, _)| *before)?;
        next.had.push(link.number);
        let (happens, fault) = (next.take(), next.fault);
        planned.retain(|planned| planned.left > 0);
        drop(planned);
        if !happens {
            return self.strike(link, direction, length);
        }
        self.count();
        Some((fault, before))
    }

    fn count(&self) {
        self.fired.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn fired(&self) -> u64 {
        self.fired.load(Ordering::SeqCst)
    }

    pub(crate) fn random(&self) -> u64 {
        lock(&self.random).next_u64()
    }

    pub(crate) fn server(&self) -> SocketAddr {
        *lock(&self.server)
    }

    pub(crate) fn set_server(&self, server: SocketAddr) {
        *lock(&self.server) = server;
    }

    /// The number of the next connection.
    pub(crate) fn number(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    /// While this is held, no connection is being made.
    pub(crate) fn quiet(&self) -> MutexGuard<'_, ()> {
        lock(&self.connecting)
    }

    /// Registers a new connection.
    pub(crate) fn add(&self, link: &Arc<Link>) {
        let mut links = lock(&self.links);
        links.retain(|link| link.strong_count() > 0);
        links.push(Arc::downgrade(link));
        let mut recordings = lock(&self.recordings);
        if recordings.len() < RECORDINGS_MAX {
            recordings.push(Arc::clone(&link.recording));
        }
    }

    /// Threads to wait for at the end.
    pub(crate) fn keep(&self, threads: Vec<JoinHandle<()>>) {
        let mut all = lock(&self.threads);
        all.retain(|thread| !thread.is_finished());
        all.extend(threads);
    }

    pub(crate) fn recordings(&self) -> Vec<Recording> {
        lock(&self.recordings).iter().map(|recording| lock(recording).clone()).collect()
    }

    pub(crate) fn reset_all(&self) {
        let _quiet = self.quiet();
        for link in lock(&self.links).iter().filter_map(Weak::upgrade) {
            link.reset();
        }
    }

    pub(crate) fn stop_listening(&self, stop: bool) {
        self.is_listening_over.store(stop, Ordering::SeqCst);
    }

    pub(crate) fn is_listening_over(&self) -> bool {
        self.is_listening_over.load(Ordering::SeqCst)
    }

    /// Waits for this time, or until the proxy ends.
    pub(crate) fn pause(&self, length: Duration) {
        let until = Instant::now() + length;
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return };
            is_over = match self.end.wait_timeout(is_over, left) {
                Ok((is_over, _)) => is_over,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Breaks all connections and waits for the threads.
    pub(crate) fn end(&self) {
        *lock(&self.is_over) = true;
        self.end.notify_all();
        self.reset_all();
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            let _ = thread.join();
        }
    }
}
