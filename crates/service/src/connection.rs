//! A TCP connection that never blocks, with the bytes that it has not sent yet.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use socket2::{SockRef, TcpKeepalive};

use crate::error::Trouble;

/// A peer that is gone is noticed within about this time, whether or not anything is to be sent (RFC 5482).
const GONE: Duration = Duration::from_secs(60);
const PROBE: Duration = Duration::from_secs(10);

/// What a read gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// This many bytes, at least one.
    Bytes(usize),
    /// Nothing for now.
    Nothing,
    /// The other end has closed its side.
    End,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    out: Vec<u8>,
    sent: usize,
    is_open: bool,
}

impl Connection {
    /// Starts to connect; events carry `token`.
    pub(crate) fn start(
        registry: &Registry,
        token: Token,
        address: SocketAddr,
    ) -> Result<Self, Trouble> {
        let trouble = |error: std::io::Error| Trouble::connection("connecting", &error);
        let mut stream = TcpStream::connect(address).map_err(trouble)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut stream, token, interest).map_err(trouble)?;
        let options = SockRef::from(&stream);
        // Commands and keys are small, and a user waits for each.
        options.set_tcp_nodelay(true).map_err(trouble)?;
        options.set_tcp_user_timeout(Some(GONE)).map_err(trouble)?;
        let keepalive = TcpKeepalive::new().with_time(PROBE).with_interval(PROBE);
        options.set_tcp_keepalive(&keepalive).map_err(trouble)?;
        Ok(Self { stream, out: Vec::new(), sent: 0, is_open: false })
    }

    /// Whether the connection is open by now.
    pub(crate) fn is_open(&mut self) -> Result<bool, Trouble> {
        if self.is_open {
            return Ok(true);
        }
        let trouble = |error: std::io::Error| Trouble::connection("connecting", &error);
        if let Some(error) = self.stream.take_error().map_err(trouble)? {
            return Err(trouble(error));
        }
        match self.stream.peer_addr() {
            Ok(_) => self.is_open = true,
            Err(error) if error.kind() == ErrorKind::NotConnected => {}
            Err(error) => return Err(trouble(error)),
        }
        Ok(self.is_open)
    }

    /// Sends bytes, or keeps them until they can be sent.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.out.extend_from_slice(bytes);
        self.flush()
    }

    /// Sends what was kept, as far as possible.
    pub(crate) fn flush(&mut self) -> Result<(), Trouble> {
        while self.sent < self.out.len() {
            match self.send(self.sent..self.out.len())? {
                0 => return Ok(()),
                count => self.sent += count,
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    fn send(&mut self, range: std::ops::Range<usize>) -> Result<usize, Trouble> {
        write(&mut self.stream, &self.out[range])
    }

    /// Sends a part of these bytes that are not kept; returns how many.
    pub(crate) fn offer(&mut self, bytes: &[u8]) -> Result<usize, Trouble> {
        write(&mut self.stream, bytes)
    }

    /// Receives into the buffer.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, Trouble> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Ok(Received::End),
                Ok(count) => return Ok(Received::Bytes(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Received::Nothing);
                }
                Err(error) => return Err(Trouble::connection("receiving", &error)),
            }
        }
    }

    /// Closing the connection drops what the system has not sent yet.
    pub(crate) fn forget_unsent(&self) {
        // Otherwise it is sent, which takes longer.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// Says that nothing more will be sent.
    pub(crate) fn close_writing(&mut self) -> Result<(), Trouble> {
        match self.stream.shutdown(Shutdown::Write) {
            // The other end was faster.
            Err(error) if error.kind() != ErrorKind::NotConnected => {
                Err(Trouble::connection("ending a transfer", &error))
            }
            _ => Ok(()),
        }
    }
}

/// How many bytes the system took; 0: none for now.
fn write(stream: &mut TcpStream, bytes: &[u8]) -> Result<usize, Trouble> {
    loop {
        match stream.write(bytes) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(error) => return Err(Trouble::connection("sending", &error)),
        }
    }
}
