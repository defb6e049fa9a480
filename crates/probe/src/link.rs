//! A connection on which every wait has a limit.
//!
//! Each system call on the socket times out every tick, so that a wait notices both its own limit
//! and the stop flag of this end. While data flows, this costs one check of the flag and at most
//! one reading of the clock per call.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ProbeError;

/// How often a wait checks its limit and the stop flag.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// A wait: its purpose and its limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// What is being done, for messages.
    pub(crate) during: &'static str,
    /// The time limit.
    pub(crate) limit: Duration,
    /// When it started, if the limit applies to the whole wait; `None` if it applies to each
    /// silence.
    pub(crate) since: Option<Instant>,
}

impl Wait {
    /// A limit on each silence.
    pub(crate) fn silence(during: &'static str, limit: Duration) -> Self {
        Self { during, limit, since: None }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    stream: TcpStream,
    stop: Arc<AtomicBool>,
}

impl Link {
    /// Configures a stream: written data is sent at once (TCP_NODELAY). The socket buffers are
    /// sized by the kernel, which grows them with the path's delay.
    pub(crate) fn new(stream: TcpStream, stop: Arc<AtomicBool>) -> Result<Self, ProbeError> {
        let set_up = || -> io::Result<()> {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TICK))?;
            stream.set_write_timeout(Some(TICK))
        };
        set_up().map_err(|source| ProbeError::Socket { during: "setting it up", source })?;
        Ok(Self { stream, stop })
    }

    /// Fills the buffer.
    pub(crate) fn read(&self, buffer: &mut [u8], wait: Wait) -> Result<(), ProbeError> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            filled += self.move_some(wait, |mut stream| stream.read(rest))?;
        }
        Ok(())
    }

    /// Reads what is available, at least one byte.
    pub(crate) fn read_some(&self, buffer: &mut [u8], wait: Wait) -> Result<usize, ProbeError> {
        self.move_some(wait, |mut stream| stream.read(buffer))
    }

    /// Writes all of the bytes.
    pub(crate) fn write(&self, bytes: &[u8], wait: Wait) -> Result<(), ProbeError> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            written += self.move_some(wait, |mut stream| stream.write(rest))?;
        }
        Ok(())
    }

    /// Shuts the connection down, waking every thread that waits on it.
    pub(crate) fn shut_down(&self) {
        // It may be closed already, which is fine.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn move_some(
        &self,
        wait: Wait,
        mut transfer: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Result<usize, ProbeError> {
        let during = wait.during;
        let since = wait.since.unwrap_or_else(Instant::now);
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ProbeError::Stopped { during });
            }
            if wait.since.is_some() && since.elapsed() >= wait.limit {
                return Err(ProbeError::Silent { during, limit: wait.limit });
            }
            match transfer(&self.stream) {
                Ok(0) => return Err(ProbeError::Closed { during }),
                Ok(moved_bytes) => return Ok(moved_bytes),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        if since.elapsed() >= wait.limit {
                            return Err(ProbeError::Silent { during, limit: wait.limit });
                        }
                    }
                    ErrorKind::ConnectionReset
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::BrokenPipe => return Err(ProbeError::Closed { during }),
                    _ => return Err(ProbeError::Socket { during, source: error }),
                },
            }
        }
    }
}
