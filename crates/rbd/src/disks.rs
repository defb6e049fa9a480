//! Images as the disks of one driving thread.
//!
//! Operations are submitted to librbd at once; its threads send them and call back. A callback owns what it needs (where
//! to land, the image, the memory), so nothing dangles if the disks are dropped while the cluster is silent.
//!
//! The library ends a request to a silent cluster after its time limit, but not everything that an operation waits for is a
//! request: a first write waits for the exclusive lock, and a flush for the writes before it. So an operation that is
//! overdue fails here. The library may still use its buffer, which stays taken, with its ticket, until it lands.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};

use crate::buffers::{Buffers, Memory};
use crate::cloning::{CloneSource, Cloning};
use crate::connection::OpenImage;
use crate::image::Image;
use crate::landing::{Landed, Landing};
use crate::library::{Functions, Handle};
use crate::within::within;

/// EINVAL: outside the disk.
const OUT_OF_BOUNDS: DeviceError = DeviceError(22);
/// EAGAIN.
const NO_THREAD: DeviceError = DeviceError(11);
/// ETIMEDOUT.
const TIMED_OUT: DeviceError = DeviceError(110);
/// How many times the library's own limit an operation may take.
const OVERDUE: u32 = 2;

/// Memory and queue depth of the disks of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RbdMemory {
    /// Number of buffers.
    pub buffers: u32,
    /// Bytes of each.
    pub buffer_bytes: u32,
    /// The most operations outstanding at once.
    pub in_flight: u32,
}

/// Open images, each a disk, and their I/O.
pub struct RbdDisks {
    /// `None`: not cloned yet.
    images: Vec<Option<Image>>,
    /// How disks are cloned, if they are.
    cloning: Option<Cloning>,
    size_bytes: u64,
    /// Whether an acknowledged write may be in librbd's cache only.
    cache: bool,
    buffers: Buffers,
    landing: Arc<Landing>,
    /// The operations that are under way, by ticket.
    tickets: Vec<Option<Ticket>>,
    free: Vec<u32>,
    landed: Vec<Landed>,
    /// When it was last looked for overdue operations.
    looked: Instant,
    /// Operations that never reached the library.
    refused: Vec<Completion>,
    has_failed: bool,
    limit: Duration,
}

/// An operation that is under way.
#[derive(Clone, Copy)]
struct Ticket {
    operation: Operation,
    since: Instant,
    /// It was overdue and has failed: nobody waits for it.
    is_abandoned: bool,
}

/// What a callback owns.
struct Flight {
    functions: Arc<Functions>,
    landing: Arc<Landing>,
    ticket: u32,
    /// Keeps the image open.
    image: Arc<OpenImage>,
    /// Keeps the memory alive that the operation uses.
    memory: Arc<Memory>,
}

impl RbdDisks {
    /// Disks on open images of at least `size_bytes` each. `cache`: whether librbd's cache is on. Dropping them waits
    /// at most `limit` for what is under way.
    pub fn new(
        images: Vec<Image>,
        size_bytes: u64,
        cache: bool,
        memory: RbdMemory,
        limit: Duration,
    ) -> Self {
        let tickets = memory.in_flight.max(1);
        Self {
            images: images.into_iter().map(Some).collect(),
            cloning: None,
            size_bytes,
            cache,
            buffers: Buffers::new(memory.buffers, memory.buffer_bytes),
            landing: Landing::new(),
            tickets: vec![None; tickets as usize],
            free: (0..tickets).rev().collect(),
            landed: Vec::new(),
            looked: Instant::now(),
            refused: Vec::new(),
            has_failed: false,
            limit,
        }
    }

    /// Disks that are not there until [`Disks::clone_disk`] has made them as clones of the one template, whose own number
    /// is the one after theirs. The rest is as in [`RbdDisks::new`].
    pub fn to_clone(
        source: CloneSource,
        size_bytes: u64,
        cache: bool,
        memory: RbdMemory,
        limit: Duration,
    ) -> Self {
        let mut disks = Self::new(Vec::new(), size_bytes, cache, memory, limit);
        disks.images.resize_with(source.names.len(), || None);
        disks.cloning = Some(Cloning::new(source));
        disks
    }

    /// Whether an operation failed that reached the library.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    fn start(&mut self, one: &Operation) -> Result<(), DisksError> {
        let end = one.offset_bytes.saturating_add(u64::from(one.length_bytes));
        let image = match self.images.get(one.disk as usize) {
            Some(Some(image)) if end <= self.size_bytes => image.open(),
            _ => {
                self.refused.push(Completion::failed(one.slot, OUT_OF_BOUNDS));
                return Ok(());
            }
        };
        let address = if one.kind == Kind::Flush {
            ptr::null_mut()
        } else {
            let is_read = one.kind == Kind::Read;
            match self.buffers.claim(one.buffer, one.length_bytes, is_read) {
                Some(address) => address,
                None => {
                    return self.missing(one, "the buffer is in use, too short or does not exist");
                }
            }
        };
        let Some(ticket) = self.free.pop() else {
            if one.kind != Kind::Flush {
                self.buffers.release(one.buffer);
            }
            return self.missing(one, "more operations than agreed");
        };
        let memory = self.buffers.memory();
        let result = launch(image, memory, &self.landing, ticket, one, address);
        if result < 0 {
            self.free.push(ticket);
            if one.kind != Kind::Flush {
                self.buffers.release(one.buffer);
            }
            self.refused.push(Completion { slot: one.slot, result });
            return Ok(());
        }
        let since = Instant::now();
        self.tickets[ticket as usize] =
            Some(Ticket { operation: *one, since, is_abandoned: false });
        Ok(())
    }

    /// An operation lacks its buffer or a ticket. If abandoned operations have them, the cluster is still silent;
    /// otherwise the caller broke its promise.
    #[cold]
    fn missing(&mut self, one: &Operation, reason: &str) -> Result<(), DisksError> {
        if self.tickets.iter().flatten().any(|ticket| ticket.is_abandoned) {
            self.refused.push(Completion::failed(one.slot, TIMED_OUT));
            return Ok(());
        }
        Err(DisksError { action: "submitting to librbd", reason: reason.into() })
    }

    /// Ends an operation that has landed, or sends the flush that makes a durable write durable.
    fn land(&mut self, landed: Landed, completions: &mut Vec<Completion>) {
        let place = &mut self.tickets[landed.ticket as usize];
        let Some(ticket) = place.take() else { return };
        let one = ticket.operation;
        if let Some(cloning) = &mut self.cloning {
            cloning.take(&mut self.images);
        }
        let mut result = landed.result;
        let flushes = one.kind == Kind::DurableWrite && self.cache && !ticket.is_abandoned;
        if flushes
            && result >= 0
            && let Some(image) = &self.images[one.disk as usize]
        {
            let image = image.open();
            let flush = Operation { kind: Kind::Flush, offset_bytes: 0, ..one };
            let memory = self.buffers.memory();
            result = launch(image, memory, &self.landing, landed.ticket, &flush, ptr::null_mut());
            if result >= 0 {
                // As a plain write, so that the flush ends it.
                let operation = Operation { kind: Kind::Write, ..one };
                *place = Some(Ticket { operation, ..ticket });
                return;
            }
        }
        self.free.push(landed.ticket);
        self.has_failed |= result < 0;
        match one.kind {
            // A read says how many bytes it moved; the others say 0.
            Kind::Read => self.buffers.release(one.buffer),
            Kind::Write | Kind::DurableWrite => {
                self.buffers.release(one.buffer);
                result = if result < 0 { result } else { one.length_bytes as i32 };
            }
            Kind::Flush => result = result.min(0),
        }
        if !ticket.is_abandoned {
            completions.push(Completion { slot: one.slot, result });
        }
    }

    /// Fails operations that are overdue.
    fn abandon(&mut self, completions: &mut Vec<Completion>) {
        let now = Instant::now();
        let most = self.limit * OVERDUE;
        if now.duration_since(self.looked) < most / 8 {
            return;
        }
        self.looked = now;
        for ticket in self.tickets.iter_mut().flatten() {
            if !ticket.is_abandoned && now.duration_since(ticket.since) > most {
                ticket.is_abandoned = true;
                self.has_failed = true;
                completions.push(Completion::failed(ticket.operation.slot, TIMED_OUT));
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.tickets.len() - self.free.len()
    }

    /// Waits until nothing is under way, at most for the limit. Whether that is so.
    fn drain(&mut self) -> bool {
        let since = Instant::now();
        let mut completions = Vec::new();
        while self.in_flight() > 0 {
            let left = self.limit.saturating_sub(since.elapsed());
            if left.is_zero() {
                return false;
            }
            self.take(left, &mut completions);
            completions.clear();
        }
        true
    }

    fn take(&mut self, wait: Duration, completions: &mut Vec<Completion>) {
        let mut landed = std::mem::take(&mut self.landed);
        self.landing.take(wait, &mut landed);
        for one in landed.drain(..) {
            self.land(one, completions);
        }
        self.landed = landed;
    }

    /// Puts what librbd's cache holds on stable storage. Blocks, at most for the limit.
    ///
    /// # Errors
    /// What the cluster answers, or that it does not answer: something that was written may be lost.
    pub fn sync(&mut self) -> Result<(), DeviceError> {
        let there = self.images.iter().zip(0..).filter(|(image, _)| image.is_some());
        for disk in Vec::from_iter(there.map(|(_, disk)| disk)) {
            if !self.drain() {
                return Err(TIMED_OUT);
            }
            let flush = Operation {
                offset_bytes: 0,
                length_bytes: 0,
                disk,
                slot: 0,
                buffer: 0,
                kind: Kind::Flush,
            };
            let mut completions = Vec::new();
            let broken = |_| DeviceError::IO;
            self.submit(&[flush]).map_err(broken)?;
            let since = Instant::now();
            while completions.is_empty() {
                let left = self.limit.saturating_sub(since.elapsed());
                if left.is_zero() {
                    return Err(TIMED_OUT);
                }
                let wait = Wait::AtMost(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
                self.reap(wait, &mut completions).map_err(broken)?;
            }
            completions[0].outcome()?;
        }
        Ok(())
    }
}

impl Disks for RbdDisks {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        operations.iter().try_for_each(|one| self.start(one))
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let mut wait = match wait {
            Wait::No => Duration::ZERO,
            Wait::AtMost(ns) => Duration::from_nanos(ns),
        };
        if !self.refused.is_empty() {
            completions.append(&mut self.refused);
            wait = Duration::ZERO;
        }
        self.take(wait, completions);
        self.abandon(completions);
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.buffers.get_mut(buffer)
    }

    fn clone_disk(&mut self, template: u32, disk: u32, slot: u32) -> Result<(), DisksError> {
        // As an operation without a buffer.
        let kind = Kind::Flush;
        let one =
            Operation { offset_bytes: 0, length_bytes: 0, disk, slot, buffer: u32::MAX, kind };
        let place = self.images.get(disk as usize);
        let is_template = template as usize == self.images.len();
        let (Some(cloning), true, Some(None)) = (&mut self.cloning, is_template, place) else {
            let reason = "the disk is there already, or was not opened to be cloned".into();
            return Err(DisksError { action: "cloning an image", reason });
        };
        let Some(ticket) = self.free.pop() else {
            return self.missing(&one, "more operations than agreed");
        };
        if !cloning.start(disk, ticket, &self.landing) {
            self.free.push(ticket);
            self.refused.push(Completion::failed(slot, NO_THREAD));
            return Ok(());
        }
        let since = Instant::now();
        self.tickets[ticket as usize] = Some(Ticket { operation: one, since, is_abandoned: false });
        Ok(())
    }
}

impl Drop for RbdDisks {
    fn drop(&mut self) {
        // An image that is closed while operations are under way waits for them, and one that a callback closed would wait
        // for that callback. So a thread sees all of them land, however late, and closes the images then.
        let images = (std::mem::take(&mut self.images), self.cloning.take());
        let landing = Arc::clone(&self.landing);
        let mut left = self.in_flight();
        within(self.limit, move || {
            let mut landed = Vec::new();
            while left > 0 {
                landing.take(Duration::from_secs(60), &mut landed);
                left = left.saturating_sub(landed.len());
                landed.clear();
            }
            drop(images);
        });
    }
}

/// Submits one operation. Negative: an error number, and there will be no callback.
fn launch(
    image: &Arc<OpenImage>,
    memory: &Arc<Memory>,
    landing: &Arc<Landing>,
    ticket: u32,
    one: &Operation,
    address: *mut u8,
) -> i32 {
    let functions = &image.connection.functions;
    let flight = Box::into_raw(Box::new(Flight {
        functions: Arc::clone(functions),
        landing: Arc::clone(landing),
        ticket,
        image: Arc::clone(image),
        memory: Arc::clone(memory),
    }));
    let mut completion = ptr::null_mut();
    // SAFETY: `landed` takes the flight back, once; the library keeps its address until then.
    let made =
        unsafe { (functions.rbd_aio_create_completion)(flight.cast(), land, &raw mut completion) };
    if made < 0 {
        // SAFETY: the library did not take it, so there will be no callback.
        drop(unsafe { Box::from_raw(flight) });
        return made;
    }
    let (offset, length) = (one.offset_bytes, one.length_bytes as usize);
    // SAFETY: the image is open and stays so, and the first `length` bytes at `address` are this operation's until it lands
    // (`Buffers::claim`); the flight holds both.
    let result = unsafe {
        match one.kind {
            Kind::Read => {
                (functions.rbd_aio_read)(image.handle, offset, length, address.cast(), completion)
            }
            Kind::Write | Kind::DurableWrite => {
                (functions.rbd_aio_write)(image.handle, offset, length, address.cast(), completion)
            }
            Kind::Flush => (functions.rbd_aio_flush)(image.handle, completion),
        }
    };
    if result < 0 {
        // SAFETY: what the library refuses at once has no callback; neither is used any more.
        unsafe {
            (functions.rbd_aio_release)(completion);
            drop(Box::from_raw(flight));
        }
    }
    result
}

/// The library's callback, on one of its threads.
extern "C" fn land(completion: Handle, argument: *mut c_void) {
    // SAFETY: `launch` made the flight for this callback, which comes once.
    let flight = unsafe { Box::from_raw(argument.cast::<Flight>()) };
    // SAFETY: the operation has ended, so it has a result; afterwards nobody uses the completion.
    let result = unsafe {
        let result = (flight.functions.rbd_aio_get_return_value)(completion);
        (flight.functions.rbd_aio_release)(completion);
        result
    };
    let Flight { landing, ticket, image, memory, .. } = *flight;
    // Before it lands: the driving thread, which still has the image, is then the one that closes it. From here,
    // closing would wait for this very callback.
    drop((image, memory));
    landing.bring(Landed { ticket, result: i32::try_from(result).unwrap_or(i32::MAX) });
}
