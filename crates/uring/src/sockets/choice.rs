//! The choice between the two engines behind one interface.

use std::net::SocketAddr;

use super::{
    EpollSockets, Pool, RingSockets, SocketError, SocketEvent, SocketOptions, SocketPiece,
    SocketSpan,
};
use crate::{EngineChoice, EngineError, Note, ReapError};

/// TCP connections of one thread, each in a numbered slot ("place").
// There is one per thread, so the size of the smaller variant does not matter; a box would cost the
// hot path a load.
#[allow(clippy::large_enum_variant)]
pub enum Sockets {
    /// Over io_uring.
    Ring(RingSockets),
    /// Over epoll.
    Epoll(EpollSockets),
}

/// Calls the same method on either engine.
macro_rules! either {
    ($sockets:expr, $one:ident => $call:expr) => {
        match $sockets {
            Sockets::Ring($one) => $call,
            Sockets::Epoll($one) => $call,
        }
    };
}

impl Sockets {
    /// Opens an engine on the thread that will use it. [`EngineChoice::Positional`] means epoll.
    ///
    /// `Auto` falls back if io_uring as such is refused ([`Unavailable`](crate::Unavailable)), not
    /// if the options are wrong or memory is short.
    pub fn open(choice: EngineChoice, options: SocketOptions) -> Result<Self, EngineError> {
        options.check()?;
        match choice {
            EngineChoice::Uring => RingSockets::open(options).map(Self::Ring),
            EngineChoice::Positional => EpollSockets::open(options).map(Self::Epoll),
            EngineChoice::Auto => match RingSockets::build(&options) {
                Ok(ring) => RingSockets::with(ring, options).map(Self::Ring),
                Err(reason) => {
                    let mut epoll = EpollSockets::open(options)?;
                    epoll.note_first(Note::SocketsRefused(reason));
                    Ok(Self::Epoll(epoll))
                }
            },
        }
    }

    /// Starts a TCP connection from `place`, which must have none (or one that was reported
    /// [`Closed`](SocketEvent::Closed), whose remaining inbox is then discarded). Small requests
    /// are sent at once (`TCP_NODELAY`); keep-alive probes stay off. A later
    /// [`Connected`](SocketEvent::Connected) or `Closed` reports the outcome; the caller decides
    /// how long to wait for it.
    pub fn connect(&mut self, place: u32, address: SocketAddr) -> Result<(), SocketError> {
        either!(self, one => one.connect(place, address))
    }

    /// Ends the place's connection at once and discards its inbox. No wait reports further events
    /// of the place before the next connect, which may follow immediately. Buffers that the kernel
    /// still uses stay in use until it has released them, which takes a wait. Without a connection
    /// it does nothing.
    pub fn close(&mut self, place: u32) {
        either!(self, one => one.close(place));
    }

    /// Sends `pieces` in their order, the own bytes among them taken from `bytes` one after the
    /// other; the pieces must cover all of them. `bytes` is swapped for an empty vector: two
    /// vectors alternate, nothing is copied. A place sends one at a time. Buffers that pieces name
    /// can be read and sent from, but not written to, until the send has ended.
    ///
    /// What the peer does not accept yet is sent during waits, and does not block receives. If
    /// refused, nothing has changed.
    #[inline]
    pub fn send(
        &mut self,
        place: u32,
        bytes: &mut Vec<u8>,
        pieces: impl Iterator<Item = SocketPiece>,
    ) -> Result<(), SocketError> {
        either!(self, one => one.send(place, bytes, pieces))
    }

    /// Whether the place's last send is unfinished.
    #[inline]
    pub fn is_sending(&self, place: u32) -> bool {
        either!(self, one => one.is_sending(place))
    }

    /// Arms one receive. The next bytes go into `direct`, whose buffer must not be used otherwise
    /// meanwhile, and any more are appended to the inbox. Without `direct` it does nothing if such
    /// a receive is already armed.
    ///
    /// Only an armed receive, or a send, notices that the peer has ended the connection.
    #[inline]
    pub fn receive(&mut self, place: u32, direct: Option<SocketSpan>) -> Result<(), SocketError> {
        either!(self, one => one.receive(place, direct))
    }

    /// The contents of the place's inbox (empty, if there is no such place), along with the pool.
    #[inline]
    pub fn received(&mut self, place: u32) -> (&[u8], &mut Pool) {
        either!(self, one => one.received(place))
    }

    /// Removes this many bytes from the front of the inbox, at most all.
    #[inline]
    pub fn consume(&mut self, place: u32, bytes: usize) {
        either!(self, one => one.consume(place, bytes));
    }

    /// The buffers.
    #[inline]
    pub fn pool(&mut self) -> &mut Pool {
        either!(self, one => one.pool())
    }

    /// Starts the receives that were armed, continues sends, and appends events to `out`.
    ///
    /// It returns when something has happened, or after `wait_ns` nanoseconds; `None` (or zero)
    /// never sleeps. A send that was completed when it was submitted is reported but ends no wait,
    /// as nothing can be waiting for it; one that had to wait for the peer does. A time-out or a
    /// signal ends the wait with nothing, and so may the late end of a closed connection; that is
    /// not an error.
    #[inline]
    pub fn wait(
        &mut self,
        wait_ns: Option<u64>,
        out: &mut Vec<SocketEvent>,
    ) -> Result<(), ReapError> {
        either!(self, one => one.wait(wait_ns, out))
    }

    /// Number of buffers.
    pub fn buffer_count(&self) -> u32 {
        either!(self, one => one.shared_pool().buffer_count())
    }

    /// Size of a buffer in bytes.
    pub fn buffer_bytes(&self) -> usize {
        either!(self, one => one.shared_pool().buffer_bytes())
    }

    /// What was requested and not granted.
    pub fn notes(&self) -> &[Note] {
        either!(self, one => one.notes())
    }
}
