//! One client's connection: it sends a request, gets a response, and is closed, all before a deadline.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use crate::feed::{Fed, Feed};
use crate::pages::Pages;
use crate::request::{MOST_BYTES, Request, RequestError};
use crate::response::{Body, Response};

/// How long a client may take to send its request, to take the response, and to close.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client of a growing body may take nothing of what there is for it.
const FEED_PATIENCE: Duration = Duration::from_secs(30);
/// The most bytes that are read at once.
const PIECE: usize = 4096;

/// What is happening on a connection.
enum State {
    /// The request arrives.
    Reading(Vec<u8>),
    /// The response leaves; this number of its bytes have left.
    Writing { bytes: Vec<u8>, left: usize, is_last: bool },
    /// A body grows; this number of the last bytes from its feed have left.
    Feeding { feed: Box<dyn Feed>, bytes: Vec<u8>, left: usize, is_last: bool },
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

    /// Whether its body grows: it is to be advanced from time to time.
    pub(crate) fn is_fed(&self) -> bool {
        matches!(self.state, State::Feeding { .. })
    }

    /// Does what can be done without waiting.
    pub(crate) fn advance(&mut self, pages: &dyn Pages, now: Instant) -> Next {
        let mut delivered = false;
        loop {
            let step = match &mut self.state {
                State::Reading(_) => self.read(pages),
                State::Writing { .. } => self.write(&mut delivered),
                State::Feeding { .. } => self.feed(&mut delivered, now),
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
        let bytes = response.bytes(is_head);
        self.state = match response.body {
            Body::Growing(feed) if !is_head => State::Feeding { feed, bytes, left: 0, is_last },
            _ => State::Writing { bytes, left: 0, is_last },
        };
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

    fn feed(&mut self, delivered: &mut bool, now: Instant) -> std::io::Result<()> {
        let State::Feeding { feed, bytes, left, is_last } = &mut self.state else { return Ok(()) };
        // A client that has gone is noticed also while there is nothing for it.
        match self.stream.read(&mut [0; PIECE]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        if *left == bytes.len() {
            self.deadline = now + FEED_PATIENCE;
            match feed.next(now) {
                Fed::Bytes(new) => (*bytes, *left) = (new, 0),
                Fed::Later => return Err(ErrorKind::WouldBlock.into()),
                Fed::End => {
                    *delivered = *is_last;
                    self.state = State::Closing;
                    self.deadline = now + PATIENCE;
                    return self.stream.shutdown(Shutdown::Write);
                }
            }
        }
        *left += self.stream.write(&bytes[*left..])?;
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
