//! A control connection: one call after another, each with a time limit.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use stormeter_nfs::{Assembler, Auth, NfsError, NfsStatus, Procedure, call_bytes, decode_reply};

/// The longest reply of a control call: a directory listing, or a page of a small file.
const MAX_REPLY_BYTES: u32 = 1 << 20;

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The NFS server refused it.
    #[error(transparent)]
    Status(NfsStatus),
    /// A refusal by another part of the server, or bytes that are no answer.
    #[error(transparent)]
    Protocol(NfsError),
    /// The connection broke, or never was.
    #[error(transparent)]
    Connection(#[from] io::Error),
}

impl From<NfsError> for Refused {
    fn from(error: NfsError) -> Self {
        match error {
            NfsError::Status(status) => Self::Status(status),
            other => Self::Protocol(other),
        }
    }
}

/// One connection to one service.
pub(super) struct Dialog {
    stream: TcpStream,
    assembler: Assembler,
    timeout: Duration,
}

impl Dialog {
    pub(super) fn connect(address: SocketAddr, timeout: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(timeout))?;
        Ok(Self { stream, assembler: Assembler::new(MAX_REPLY_BYTES), timeout })
    }

    /// Sends a call and awaits its reply; late replies to earlier calls are passed over.
    pub(super) fn call<P: Procedure>(
        &mut self,
        xid: u32,
        auth: &Auth,
        procedure: &P,
    ) -> Result<P::Reply, Refused> {
        self.stream.write_all(&call_bytes(xid, auth, procedure))?;
        let until = Instant::now() + self.timeout;
        let mut bytes = [0; 16 << 10];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            self.stream.set_read_timeout(Some(left))?;
            let count = match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What a read with a time limit answers when the limit is over.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            };
            let mut part = &bytes[..count];
            while let Some(record) = self.assembler.feed(&mut part).map_err(NfsError::from)? {
                match decode_reply::<P>(&record, xid) {
                    Err(NfsError::OtherReply { .. }) => {}
                    reply => return Ok(reply?),
                }
            }
        }
    }
}
