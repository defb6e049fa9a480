//! One client's connection: it sends a request, gets a response, and is closed, all before a deadline.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use crate::pages::Pages;
use crate::request::{MOST_BYTES, Request, RequestError};
use crate::response::Response;

/// How long a client may take to send its request, to take the response, and to close.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes that are read at once.
const PIECE: usize = 4096;

/// What is happening on a connection.
enum State {
    /// The request arrives.
    Reading(Vec<u8>),
    /// The response leaves; this number of its bytes have left.
    Writing { bytes: Vec<u8>, left: usize, is_last: bool },
    /// All has left, and the client is to close. Closing first would lose the response if bytes of a client that sends
    /// more than a request were unread.
    Closing,
}

/// What is to be done with a connection after it was looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It waits for the client.
    Wait,
    /// The same, and a client has just been sent the end of the run.
    WaitDelivered,
    /// It is to be dropped.
    Drop,
}

/// See above.
pub(crate) struct Connection {
    stream: TcpStream,
    state: State,
    /// When it is dropped, whatever it is doing.
    pub(crate) deadline: Instant,
}

impl Connection {
    /// A connection that was accepted at this time.
    pub(crate) fn new(stream: TcpStream, now: Instant) -> Self {
        Self { stream, state: State::Reading(Vec::new()), deadline: now + PATIENCE }
    }

    /// The socket, for the poll.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether its client has not sent its request.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, State::Reading(_))
    }

    /// Does what can be done without waiting.
    pub(crate) fn advance(&mut self, pages: &dyn Pages) -> Next {
        let mut delivered = false;
        loop {
            let step = match &mut self.state {
                State::Reading(_) => self.read(pages),
                State::Writing { .. } => self.write(&mut delivered),
                State::Closing => self.drain(),
            };
            match step {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return if delivered { Next::WaitDelivered } else { Next::Wait };
                }
                Err(_) => return if delivered { Next::WaitDelivered } else { Next::Drop },
            }
        }
    }

    /// Reads a piece, and prepares the response once the request is complete.
    fn read(&mut self, pages: &dyn Pages) -> std::io::Result<()> {
        let State::Reading(bytes) = &mut self.state else { return Ok(()) };
        let mut piece = [0; PIECE];
        let room = PIECE.min(MOST_BYTES.saturating_sub(bytes.len()));
        let got = self.stream.read(&mut piece[..room])?;
        if got == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..got]);
        let (response, is_head) = match Request::read(bytes) {
            Ok(None) => return Ok(()),
            Ok(Some(request)) => (pages.answer(&request), request.method == "HEAD"),
            Err(RequestError::Malformed) => (Response::error(400), false),
            Err(RequestError::TooLarge) => (Response::error(431), false),
        };
        let is_last = response.is_last && !is_head;
        self.state = State::Writing { bytes: response.bytes(is_head), left: 0, is_last };
        Ok(())
    }

    fn write(&mut self, delivered: &mut bool) -> std::io::Result<()> {
        let State::Writing { bytes, left, is_last } = &mut self.state else { return Ok(()) };
        let wrote = self.stream.write(&bytes[*left..])?;
        if wrote == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        *left += wrote;
        if *left == bytes.len() {
            *delivered = *is_last;
            self.state = State::Closing;
            self.stream.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// Takes what the client still sends, until it closes.
    fn drain(&mut self) -> std::io::Result<()> {
        match self.stream.read(&mut [0; PIECE])? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
