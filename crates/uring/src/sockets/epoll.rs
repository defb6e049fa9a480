//! Connections over epoll, used where io_uring is refused.
//!
//! Sockets are watched for changes only (`EPOLLET`), so that each wait is one call for all of them,
//! and readiness is remembered here until a call finds otherwise. Every transfer is a system call,
//! made within [`EpollSockets::send`] or the wait; the kernel uses no memory in between. Buffers
//! are nevertheless refused while a transfer is unfinished, as with the ring.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use super::incoming::Incoming;
use super::outgoing::Outgoing;
use super::poller::Poller;
use super::pool::Pool;
use super::socket::{self, Address};
use super::transfer;
use super::{SocketError, SocketEvent, SocketOptions, SocketPiece, SocketSpan};
use crate::{EngineError, Note, ReapError};

/// One place: its connection, if there is one, and memory that is reused.
struct Seat {
    socket: Option<OwnedFd>,
    is_connected: bool,
    /// Whether a receive may return something, and a send may be accepted.
    is_readable: bool,
    is_writable: bool,
    /// Whether the peer has closed its side: nothing will wake a later receive.
    is_ended: bool,
    incoming: Incoming,
    outgoing: Outgoing,
}

impl Seat {
    fn descriptor(&self) -> RawFd {
        self.socket.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    fn may_receive(&self) -> bool {
        self.is_connected && self.is_readable && self.incoming.is_armed()
    }

    fn may_send(&self) -> bool {
        self.is_connected && self.is_writable && self.outgoing.is_active()
    }

    /// Ends the connection; received data stays.
    fn end(&mut self, pool: &mut Pool) {
        self.socket = None;
        self.is_connected = false;
        if self.incoming.is_armed() {
            self.incoming.complete(0, pool);
        }
        self.outgoing.end(pool);
    }
}

/// Connections by epoll.
pub struct EpollSockets {
    poller: Poller,
    pool: Pool,
    seats: Vec<Seat>,
    /// Events that happened outside a wait.
    happened: Vec<SocketEvent>,
    send_buffer_bytes: Option<u32>,
    notes: Vec<Note>,
}

impl EpollSockets {
    /// Maps the buffers and makes the epoll instance.
    pub fn open(options: SocketOptions) -> Result<Self, EngineError> {
        options.check()?;
        let pool = Pool::new(options.buffers, options.buffer_bytes)?;
        let poller = Poller::new(options.places as usize);
        let poller = poller.map_err(|source| EngineError::Epoll { source })?;
        let mut seats = Vec::new();
        for _ in 0..options.places {
            let bytes = u64::from(options.receive_bytes);
            let incoming = Incoming::new(options.receive_bytes)
                .map_err(|source| EngineError::Memory { bytes, source })?;
            seats.push(Seat {
                socket: None,
                is_connected: false,
                is_readable: false,
                is_writable: false,
                is_ended: false,
                incoming,
                outgoing: Outgoing::new(options.knobs.pieces_a_call),
            });
        }
        Ok(Self {
            poller,
            pool,
            seats,
            happened: Vec::new(),
            send_buffer_bytes: options.knobs.send_buffer_bytes,
            notes: vec![Note::Epoll],
        })
    }

    /// Adds a note before the others.
    pub(super) fn note_first(&mut self, note: Note) {
        self.notes.insert(0, note);
    }

    /// See [`Sockets::connect`](crate::Sockets::connect).
    pub fn connect(&mut self, place: u32, address: SocketAddr) -> Result<(), SocketError> {
        let system = |errno| SocketError::System { errno };
        let places = self.seats.len() as u32;
        let Some(seat) = self.seats.get_mut(place as usize) else {
            return Err(SocketError::Place { place, places });
        };
        if seat.socket.is_some() {
            return Err(SocketError::InUse { place });
        }
        let address = Address::new(address);
        let socket = socket::open(&address, libc::SOCK_NONBLOCK, self.send_buffer_bytes);
        let socket = socket.map_err(system)?;
        let (raw, length) = address.as_raw();
        // SAFETY: the address has that length and lives through the call.
        let outcome = unsafe { libc::connect(socket.as_raw_fd(), raw, length) };
        let errno = if outcome == 0 { 0 } else { socket::errno() };
        seat.incoming.clear();
        (seat.is_readable, seat.is_writable, seat.is_ended) = (false, false, false);
        self.happened.retain(|event| event.place() != place);
        if matches!(errno, 0 | libc::EINPROGRESS | libc::EINTR) {
            // The poller reports the rest, even for a connection that is established at once.
            self.poller.add(socket.as_raw_fd(), place).map_err(system)?;
            seat.socket = Some(socket);
        } else {
            self.happened.push(SocketEvent::Closed { place, errno });
        }
        Ok(())
    }

    /// See [`Sockets::close`](crate::Sockets::close).
    pub fn close(&mut self, place: u32) {
        let Self { seats, pool, happened, .. } = self;
        if let Some(seat) = seats.get_mut(place as usize) {
            seat.end(pool);
            seat.incoming.clear();
            happened.retain(|event| event.place() != place);
        }
    }

    /// See [`Sockets::send`](crate::Sockets::send).
    pub fn send(
        &mut self,
        place: u32,
        bytes: &mut Vec<u8>,
        pieces: impl Iterator<Item = SocketPiece>,
    ) -> Result<(), SocketError> {
        let index = self.connected(place)?;
        let seat = &mut self.seats[index];
        if seat.outgoing.is_active() {
            return Err(SocketError::Sending { place });
        }
        seat.outgoing.begin(bytes, pieces, &mut self.pool)?;
        let mut happened = std::mem::take(&mut self.happened);
        self.go_on_sending(index, &mut happened);
        self.happened = happened;
        Ok(())
    }

    /// See [`Sockets::is_sending`](crate::Sockets::is_sending).
    pub fn is_sending(&self, place: u32) -> bool {
        self.connected(place).is_ok_and(|index| self.seats[index].outgoing.is_active())
    }

    /// See [`Sockets::receive`](crate::Sockets::receive).
    pub fn receive(&mut self, place: u32, direct: Option<SocketSpan>) -> Result<(), SocketError> {
        let index = self.connected(place)?;
        self.seats[index].incoming.arm(place, direct, &mut self.pool).map(drop)
    }

    /// See [`Sockets::received`](crate::Sockets::received).
    pub fn received(&mut self, place: u32) -> (&[u8], &mut Pool) {
        let seat = self.seats.get(place as usize);
        (seat.map_or(&[], |seat| seat.incoming.filled()), &mut self.pool)
    }

    /// See [`Sockets::consume`](crate::Sockets::consume).
    pub fn consume(&mut self, place: u32, bytes: usize) {
        if let Some(seat) = self.seats.get_mut(place as usize) {
            seat.incoming.consume(bytes);
        }
    }

    /// See [`Sockets::pool`](crate::Sockets::pool).
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
    pub fn wait(
        &mut self,
        wait_ns: Option<u64>,
        out: &mut Vec<SocketEvent>,
    ) -> Result<(), ReapError> {
        let is_news = self.happened.iter().any(SocketEvent::ends_a_wait);
        out.append(&mut self.happened);
        let before = out.len();
        let wait_ns = wait_ns.unwrap_or(0);
        let started = (wait_ns > 0).then(Instant::now);
        let mut left_ns = wait_ns;
        loop {
            // Polled in any case, so that one connection that is always ready hides no other.
            let is_ready = self.seats.iter().any(|seat| seat.may_receive() || seat.may_send());
            let sleep_ns = if is_news || is_ready { 0 } else { left_ns };
            let count = self.poller.wait(sleep_ns).map_err(|errno| ReapError { errno })?;
            self.carry_out(out);
            // Nothing at all after a sleep: the time is over, or a signal arrived.
            if is_news || out.len() > before || (count == 0 && sleep_ns > 0) {
                return Ok(());
            }
            // A part of a send was transferred, or data arrived without a receive.
            let elapsed = started.map_or(Duration::MAX, |started| started.elapsed()).as_nanos();
            left_ns = wait_ns.saturating_sub(u64::try_from(elapsed).unwrap_or(u64::MAX));
            if left_ns == 0 {
                return Ok(());
            }
        }
    }

    /// Does what has become possible.
    fn carry_out(&mut self, out: &mut Vec<SocketEvent>) {
        let has = |flags: u32, any: libc::c_int| flags & any as u32 != 0;
        for (place, flags) in self.poller.ready() {
            if let Some(seat) = self.seats.get_mut(place as usize) {
                let over = libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
                seat.is_ended |= has(flags, over);
                seat.is_readable |= has(flags, libc::EPOLLIN | over);
                seat.is_writable |= has(flags, libc::EPOLLOUT | libc::EPOLLHUP | libc::EPOLLERR);
            }
        }
        for index in 0..self.seats.len() {
            if !self.seats[index].is_connected && self.seats[index].is_writable {
                self.finish_connecting(index, out);
            }
            if self.seats[index].may_receive() {
                self.go_on_receiving(index, out);
            }
            if self.seats[index].may_send() {
                self.go_on_sending(index, out);
            }
        }
    }

    fn finish_connecting(&mut self, index: usize, out: &mut Vec<SocketEvent>) {
        let seat = &mut self.seats[index];
        let Some(socket) = &seat.socket else { return };
        match socket::take_error(socket) {
            0 => {
                seat.is_connected = true;
                out.push(SocketEvent::Connected { place: index as u32 });
            }
            errno => self.fail(index, errno, out),
        }
    }

    fn go_on_receiving(&mut self, index: usize, out: &mut Vec<SocketEvent>) {
        let seat = &mut self.seats[index];
        let room = seat.incoming.room();
        // SAFETY: the armed receive has exclusive use of its memory until it is completed.
        let received = unsafe { transfer::receive(seat.descriptor(), seat.incoming.transfer()) };
        match received {
            1.. => {
                let received = received as usize;
                // Less than there was space for: nothing is left, and new data will be reported.
                seat.is_readable = received == room || seat.is_ended;
                let direct = seat.incoming.complete(received, &mut self.pool);
                out.push(SocketEvent::Received { place: index as u32, direct });
            }
            _ if transfer::is_unready(received) => seat.is_readable = false,
            _ => self.fail(index, -received as i32, out),
        }
    }

    fn go_on_sending(&mut self, index: usize, out: &mut Vec<SocketEvent>) {
        let seat = &mut self.seats[index];
        while seat.may_send() {
            // SAFETY: an active send owns or has claimed what it sends.
            let sent = unsafe { transfer::send(seat.descriptor(), seat.outgoing.transfer()) };
            if transfer::is_unready(sent) {
                seat.is_writable = false;
            } else if sent <= 0 {
                // Sending nothing without a reason is not known to happen.
                self.fail(index, if sent < 0 { -sent as i32 } else { libc::EPIPE }, out);
                return;
            } else if seat.outgoing.advance(sent as usize) {
                seat.outgoing.end(&mut self.pool);
                out.push(SocketEvent::Sent { place: index as u32 });
                return;
            }
        }
    }

    /// The connection is gone; its place still shows what was received before.
    fn fail(&mut self, index: usize, errno: i32, out: &mut Vec<SocketEvent>) {
        self.seats[index].end(&mut self.pool);
        out.push(SocketEvent::Closed { place: index as u32, errno });
    }

    fn connected(&self, place: u32) -> Result<usize, SocketError> {
        let places = self.seats.len() as u32;
        match self.seats.get(place as usize) {
            None => Err(SocketError::Place { place, places }),
            Some(seat) if seat.is_connected => Ok(place as usize),
            Some(_) => Err(SocketError::NotConnected { place }),
        }
    }
}

#[cfg(test)]
impl EpollSockets {
    pub(crate) fn mapping(&self) -> &std::sync::Arc<crate::buffer::Mapping> {
        self.pool.mapping()
    }
}
