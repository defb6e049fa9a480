//! One connection of the ring: its socket, what the kernel does for it, and its memory.
//!
//! A line serves one connection and is not used for another before the kernel has ended every
//! operation of it. A late completion therefore always finds the line that it belongs to, though the
//! place may long have another.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::SocketOptions;
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use super::socket::Address;

/// What a completion is about.
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

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Connecting,
    Connected,
    /// Closed by either end, or failed: completions say nothing any more.
    Ended,
}

/// One connection.
pub(super) struct Line {
    /// Kept until no operation is left: an entry not yet submitted names it by number.
    pub(super) socket: Option<OwnedFd>,
    pub(super) address: Address,
    /// Where it is to be found; none once it is closed there.
    pub(super) place: Option<u32>,
    pub(super) phase: Phase,
    /// Operations handed to the ring and not ended, cancellations among them.
    pub(super) operations: u32,
    /// Whether more is known to have come in already.
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

    /// The place that wants to hear of this connection, if it still lives.
    #[inline]
    pub(super) fn lively_place(&self) -> Option<u32> {
        self.place.filter(|_| self.phase != Phase::Ended)
    }

    /// Begins another connection's life.
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
