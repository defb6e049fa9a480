//! Connections over io_uring.
//!
//! How it minimizes its cost:
//! - Receives are collected; one system call submits them all and waits.
//! - A receive is not attempted before data has arrived (`IORING_RECVSEND_POLL_FIRST`), unless the
//!   kernel reported with the last one that there is more.
//! - A send is first attempted by a plain system call, which nearly always accepts all of it at once,
//!   since the kernel only copies. Through the ring its completion would arrive during the submission
//!   and end the wait for nothing; entering twice costs more than the call. (To wait for one more
//!   completion, with a short time limit so that a full connection does not block the others, costs
//!   even more: in a virtual machine setting a timer exits to the hypervisor.)
//! - What the kernel does not accept goes through the ring, which continues by itself while the
//!   peer accepts it in parts (`MSG_WAITALL`), and blocks nothing.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode};

use super::line::{Line, Phase, Work};
use super::pool::Pool;
use super::socket::{self, Address};
use super::transfer::{self, Transfer};
use super::{SocketError, SocketEvent, SocketOptions, SocketPiece, SocketSpan};
use crate::setup;
use crate::submission::Submission;
use crate::syscall::Entrance;
use crate::{EngineError, Note, ReapError, Unavailable};

/// `IORING_RECVSEND_POLL_FIRST` of <linux/io_uring.h>.
const POLL_FIRST: u16 = 1;

/// Submission entries per place: a send, a receive, and their cancellations.
const ENTRIES_A_PLACE: u32 = 4;

/// Connections by io_uring.
///
/// Open it on the thread that will use it: the kernel is promised that no other thread will submit.
/// The type is not `Send`, so the compiler enforces this.
///
/// Dropping it ends all connections and waits until the kernel has released their memory, for as
/// long as operations complete and 5 s more; memory still in use then is leaked on purpose.
pub struct RingSockets {
    // Before the memory: fields are dropped in this order.
    pub(super) ring: IoUring,
    pub(super) entrance: Entrance,
    pub(super) pool: Pool,
    /// The line of each place.
    pub(super) places: Box<[Option<u32>]>,
    // Boxed: the kernel reads a line's address in place.
    #[allow(clippy::vec_box)]
    pub(super) lines: Vec<Box<Line>>,
    /// Lines without place or operation.
    pub(super) free: Vec<u32>,
    pub(super) options: SocketOptions,
    /// Operations passed to the ring and not reaped.
    pub(super) in_flight: u32,
    /// Not yet submitted; part of `in_flight`.
    pub(super) pending: u32,
    /// Events that happened outside a wait.
    happened: Vec<SocketEvent>,
    /// The `ioprio` of an idle receive.
    poll_first: u16,
    notes: Vec<Note>,
    _of_one_thread: PhantomData<*mut ()>,
}

impl RingSockets {
    /// Creates the ring and maps the buffers.
    pub fn open(options: SocketOptions) -> Result<Self, EngineError> {
        options.check()?;
        let ring = Self::build(&options)?;
        Self::with(ring, options)
    }

    /// The step of opening in which io_uring as such is refused.
    pub(super) fn build(options: &SocketOptions) -> Result<(IoUring, Option<Note>), Unavailable> {
        let entries = options.places * ENTRIES_A_PLACE;
        setup::build(entries, options.knobs.skip_rungs, options.simulate_refusal)
    }

    /// The rest of opening.
    pub(super) fn with(
        (ring, note): (IoUring, Option<Note>),
        options: SocketOptions,
    ) -> Result<Self, EngineError> {
        let pool = Pool::new(options.buffers, options.buffer_bytes)?;
        // Both came with Linux 5.19; before, a receive refused the flag.
        let polls_first = note != Some(Note::WithoutCooperativeTaskWork);
        Ok(Self {
            entrance: Entrance::new(&ring),
            ring,
            pool,
            places: vec![None; options.places as usize].into_boxed_slice(),
            lines: Vec::new(),
            free: Vec::new(),
            options,
            in_flight: 0,
            pending: 0,
            happened: Vec::new(),
            poll_first: if polls_first { POLL_FIRST } else { 0 },
            notes: note.into_iter().collect(),
            _of_one_thread: PhantomData,
        })
    }

    /// See [`Sockets::connect`](crate::Sockets::connect).
    pub fn connect(&mut self, place: u32, address: SocketAddr) -> Result<(), SocketError> {
        let system = |errno| SocketError::System { errno };
        if let Some(index) = self.slot(place)? {
            if self.lines[index as usize].phase != Phase::Ended {
                return Err(SocketError::InUse { place });
            }
            self.close(place);
        }
        self.make_room().map_err(system)?;
        let address = Address::new(address);
        // Blocking: on a non-blocking socket the ring fails where it should wait.
        let socket = socket::open(&address, 0, self.options.knobs.send_buffer_bytes);
        let socket = socket.map_err(system)?;
        let descriptor = socket.as_raw_fd();
        let index = self.free_line(address).map_err(system)?;
        let line = &mut self.lines[index as usize];
        line.reopen(socket, place);
        let (raw, length) = line.address.as_raw();
        self.places[place as usize] = Some(index);
        self.push(
            Work::Connect,
            index,
            Submission {
                code: opcode::Connect::CODE,
                fd: descriptor,
                offset: u64::from(length),
                address: raw as u64,
                ..Submission::ZERO
            },
        );
        // At once, as it takes a while; what is not accepted now is submitted by the next wait.
        if let Ok(submitted) = self.entrance.submit(self.pending) {
            self.pending -= submitted;
        }
        Ok(())
    }

    /// See [`Sockets::close`](crate::Sockets::close).
    pub fn close(&mut self, place: u32) {
        if let Some(index) = self.places.get_mut(place as usize).and_then(Option::take) {
            self.end(index);
            self.lines[index as usize].place = None;
            self.happened.retain(|event| event.place() != place);
            self.tidy(index);
        }
    }

    /// See [`Sockets::send`](crate::Sockets::send).
    #[inline]
    pub fn send(
        &mut self,
        place: u32,
        bytes: &mut Vec<u8>,
        pieces: impl Iterator<Item = SocketPiece>,
    ) -> Result<(), SocketError> {
        let index = self.connected(place)?;
        let line = &mut self.lines[index as usize];
        if line.outgoing.is_active() {
            return Err(SocketError::Sending { place });
        }
        self.make_room().map_err(|errno| SocketError::System { errno })?;
        let line = &mut self.lines[index as usize];
        line.outgoing.begin(bytes, pieces, &mut self.pool)?;
        // SAFETY: an active send owns or has claimed what it sends.
        let sent = unsafe { transfer::send(line.descriptor(), line.outgoing.transfer()) };
        if sent > 0 && line.outgoing.advance(sent as usize) {
            line.outgoing.end(&mut self.pool);
            self.happened.push(SocketEvent::Sent { place });
        } else if sent > 0 || transfer::is_unready(sent) {
            self.push_send(index);
        } else {
            line.outgoing.end(&mut self.pool);
            // Sending nothing without a reason is not known to happen.
            let errno = if sent < 0 { -sent as i32 } else { libc::EPIPE };
            let mut happened = std::mem::take(&mut self.happened);
            self.fail(index, place, errno, &mut happened);
            self.happened = happened;
            self.tidy(index);
        }
        Ok(())
    }

    /// See [`Sockets::is_sending`](crate::Sockets::is_sending).
    #[inline]
    pub fn is_sending(&self, place: u32) -> bool {
        self.connected(place).is_ok_and(|index| self.lines[index as usize].outgoing.is_active())
    }

    /// See [`Sockets::receive`](crate::Sockets::receive).
    #[inline]
    pub fn receive(&mut self, place: u32, direct: Option<SocketSpan>) -> Result<(), SocketError> {
        let index = self.connected(place)?;
        self.make_room().map_err(|errno| SocketError::System { errno })?;
        let line = &mut self.lines[index as usize];
        if line.incoming.arm(place, direct, &mut self.pool)? {
            self.push_receive(index);
        }
        Ok(())
    }

    /// See [`Sockets::received`](crate::Sockets::received).
    #[inline]
    pub fn received(&mut self, place: u32) -> (&[u8], &mut Pool) {
        let Self { places, lines, pool, .. } = self;
        let filled = match places.get(place as usize) {
            Some(Some(index)) => lines[*index as usize].incoming.filled(),
            _ => &[],
        };
        (filled, pool)
    }

    /// See [`Sockets::consume`](crate::Sockets::consume).
    #[inline]
    pub fn consume(&mut self, place: u32, bytes: usize) {
        if let Some(Some(index)) = self.places.get(place as usize) {
            self.lines[*index as usize].incoming.consume(bytes);
        }
    }

    /// See [`Sockets::pool`](crate::Sockets::pool).
    #[inline]
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }

    pub(super) fn shared_pool(&self) -> &Pool {
        &self.pool
    }

    /// What was requested and not granted.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// See [`Sockets::wait`](crate::Sockets::wait).
    #[inline]
    pub fn wait(
        &mut self,
        wait_ns: Option<u64>,
        out: &mut Vec<SocketEvent>,
    ) -> Result<(), ReapError> {
        let is_news = self.happened.iter().any(SocketEvent::ends_a_wait);
        out.append(&mut self.happened);
        if self.pending == 0 && (self.take(out) || is_news) {
            return Ok(());
        }
        self.enter(if is_news { 0 } else { wait_ns.unwrap_or(0) }, out)
    }

    pub(super) fn slot(&self, place: u32) -> Result<Option<u32>, SocketError> {
        let places = self.places.len() as u32;
        self.places.get(place as usize).copied().ok_or(SocketError::Place { place, places })
    }

    #[inline]
    pub(super) fn connected(&self, place: u32) -> Result<u32, SocketError> {
        self.slot(place)?
            .filter(|index| self.lines[*index as usize].phase == Phase::Connected)
            .ok_or(SocketError::NotConnected { place })
    }

    /// An unused line.
    pub(super) fn free_line(&mut self, address: Address) -> Result<u32, i32> {
        if let Some(index) = self.free.pop() {
            self.lines[index as usize].address = address;
            return Ok(index);
        }
        let line = Line::new(&self.options, address);
        let line = line.map_err(|error| error.raw_os_error().unwrap_or(libc::ENOMEM))?;
        self.lines.push(Box::new(line));
        Ok(self.lines.len() as u32 - 1)
    }

    /// Makes sure that the queue can accept one entry.
    #[inline]
    pub(super) fn make_room(&mut self) -> Result<(), i32> {
        if self.pending < self.ring.params().sq_entries() {
            return Ok(());
        }
        self.pending -= self.entrance.submit(self.pending)?;
        if self.pending < self.ring.params().sq_entries() { Ok(()) } else { Err(libc::EBUSY) }
    }

    /// Passes an entry to the ring; the queue must have space.
    #[inline]
    pub(super) fn push(&mut self, work: Work, index: u32, mut entry: Submission) {
        let line = &mut self.lines[index as usize];
        entry.user_data = work.user_data(index);
        // SAFETY: the entry refers to memory of the line or of the pool that belongs to the kernel
        // until its completion is reaped (an armed receive, an active send, an address that is
        // replaced only in a free line) and outlives the kernel's use, see `drop`; and to a socket
        // that the line keeps open until then.
        let pushed = unsafe { self.ring.submission().push(&entry.into()) };
        debug_assert!(pushed.is_ok(), "room was made");
        line.operations += 1;
        self.in_flight += 1;
        self.pending += 1;
    }

    #[inline]
    pub(super) fn push_send(&mut self, index: u32) {
        let line = &mut self.lines[index as usize];
        let codes = (opcode::Send::CODE, opcode::SendMsg::CODE);
        let entry = Submission {
            fd: line.descriptor(),
            operation_flags: (libc::MSG_NOSIGNAL | libc::MSG_WAITALL) as u32,
            ..moving(codes, line.outgoing.transfer())
        };
        self.push(Work::Send, index, entry);
    }

    #[inline]
    pub(super) fn push_receive(&mut self, index: u32) {
        let line = &mut self.lines[index as usize];
        let codes = (opcode::Recv::CODE, opcode::RecvMsg::CODE);
        let entry = Submission {
            fd: line.descriptor(),
            priority: if line.has_more { 0 } else { self.poll_first },
            ..moving(codes, line.incoming.transfer())
        };
        self.push(Work::Receive, index, entry);
    }
}

#[cfg(test)]
impl RingSockets {
    pub(crate) fn mapping(&self) -> &std::sync::Arc<crate::buffer::Mapping> {
        self.pool.mapping()
    }

    /// As if there were an operation in flight that never ends.
    pub(crate) fn count_one_more_in_flight(&mut self) {
        self.in_flight += 1;
    }

    /// The largest number of lines ever needed at once.
    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }
}

/// The entry that moves these bytes: the first opcode is for one run of them, the second for
/// several.
#[inline]
fn moving((one, many): (u8, u8), transfer: Transfer) -> Submission {
    match transfer {
        Transfer::One { address, length } => Submission {
            code: one,
            address: address as u64,
            // A run is at most 4 GiB minus one byte.
            length: length as u32,
            ..Submission::ZERO
        },
        Transfer::Many(header) => {
            Submission { code: many, address: header as u64, length: 1, ..Submission::ZERO }
        }
    }
}
