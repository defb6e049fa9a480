//! One connection of the ring: its socket, its operations in the kernel, and its memory.
//!
//! A line serves one connection and is not reused before the kernel has ended every operation of it.
//! A late completion therefore always finds the line that it belongs to, even if the place has
//! another one by then.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::SocketOptions;
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use super::socket::Address;

/// What a completion belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Connect,
    Send,
    Receive,
    /// A cancellation, whose outcome does not matter.
    Cancel,
}

impl Work {
    /// The completion's `user_data`.
    #[inline]
    pub(super) fn user_data(self, line: u32) -> u64 {
        let code = match self {
            Self::Connect => 0,
            Self::Send => 1,
            Self::Receive => 2,
            Self::Cancel => 3,
        };
        u64::from(line) << 2 | code
    }

    /// Reads a completion's `user_data`.
    #[inline]
    pub(super) fn of(user_data: u64) -> (Self, u32) {
        let work = match user_data & 3 {
            0 => Self::Connect,
            1 => Self::Send,
            2 => Self::Receive,
            _ => Self::Cancel,
        };
        (work, (user_data >> 2) as u32)
    }
}

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Connecting,
    Connected,
    /// Closed by either end, or failed: completions are ignored.
    Ended,
}

/// One connection.
pub(super) struct Line {
    /// Kept until no operation is left: an entry not yet submitted refers to it by number.
    pub(super) socket: Option<OwnedFd>,
    pub(super) address: Address,
    /// Its place; `None` once it is closed there.
    pub(super) place: Option<u32>,
    pub(super) phase: Phase,
    /// Operations passed to the ring and not ended, including cancellations.
    pub(super) operations: u32,
    /// Whether more data is known to have arrived already.
    pub(super) has_more: bool,
    pub(super) incoming: Incoming,
    pub(super) outgoing: Outgoing,
}

impl Line {
    pub(super) fn new(options: &SocketOptions, address: Address) -> io::Result<Self> {
        Ok(Self {
            socket: None,
            address,
            place: None,
            phase: Phase::Ended,
            operations: 0,
            has_more: false,
            incoming: Incoming::new(options.receive_bytes)?,
            outgoing: Outgoing::new(options.knobs.pieces_a_call),
        })
    }

    /// The socket's number.
    #[inline]
    pub(super) fn descriptor(&self) -> RawFd {
        self.socket.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// The place that expects events of this connection, if it is still alive.
    #[inline]
    pub(super) fn lively_place(&self) -> Option<u32> {
        self.place.filter(|_| self.phase != Phase::Ended)
    }

    /// Reuses the line for another connection.
    pub(super) fn reopen(&mut self, socket: OwnedFd, place: u32) {
        debug_assert!(self.operations == 0);
        self.socket = Some(socket);
        self.place = Some(place);
        self.phase = Phase::Connecting;
        self.has_more = false;
        self.incoming.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Work;

    #[test]
    fn user_data_comes_back() {
        for work in [Work::Connect, Work::Send, Work::Receive, Work::Cancel] {
            for line in [0, 1, 63, u32::MAX] {
                assert!(Work::of(work.user_data(line)) == (work, line));
            }
        }
    }
}
