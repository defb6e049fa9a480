//! The end that measures: round trips and transfers, timed by this end's monotonic clock.
//!
//! Before the first row each cell has one unrecorded repetition: it opens TCP's window and warms the
//! buffers of both ends.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::cell::{Cell, Layout, Observed};
use crate::content::Content;
use crate::handshake::introduce;
use crate::key::{Key, random_bytes};
use crate::limits::Limits;
use crate::link::Link;
use crate::memory::Memory;
use crate::outgoing::Outgoing;
use crate::refusal::RefusalReason;
use crate::request::{Direction, Request, Sink};
use crate::streams::{Streams, measure};
use crate::{ProbeError, Throughput};

/// The measuring end.
#[derive(Debug, Clone)]
pub struct Client {
    address: String,
    key: Key,
    limits: Limits,
    stop: Arc<AtomicBool>,
}

/// A transfer test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The direction.
    pub direction: Direction,
    /// Memory or disk at the far end.
    pub sink: Sink,
    /// The payload, in bytes.
    pub length_bytes: u64,
    /// Sending to a disk: acknowledge only after an fsync of the file.
    pub sync: bool,
    /// Fetching from a disk: ask the page cache to drop the file before each repetition.
    pub cold: bool,
    /// The number of repetitions.
    pub layout: Layout,
}

impl Client {
    /// A client of the listener at `HOST:PORT`. Only the times in `limits` apply to it. Once `stop`
    /// is set, every call ends with [`ProbeError::Stopped`].
    pub fn new(address: &str, key: Key, limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { address: address.into(), key, limits, stop }
    }

    /// Round trips of each size: a message, and when all of it has arrived, an answer of the same
    /// length.
    ///
    /// # Errors
    /// Any [`ProbeError`] of a client.
    pub fn round_trips(
        &self,
        sizes_bytes: &[u64],
        layout: Layout,
    ) -> Result<Vec<Cell>, ProbeError> {
        let mut session = self.connect()?;
        let mut cells = Vec::new();
        for &length_bytes in sizes_bytes {
            let count = repetitions(length_bytes, layout)?;
            session.request(Request::RoundTrips { length_bytes, count })?;
            let samples_ns = record(layout, || session.round_trip(length_bytes))?;
            cells.push(Cell { observed: Observed::RoundTrip, length_bytes, layout, samples_ns });
        }
        Ok(cells)
    }

    /// A transfer test at one size.
    ///
    /// # Errors
    /// Any [`ProbeError`] of a client.
    pub fn transfer(&self, transfer: &Transfer) -> Result<Cell, ProbeError> {
        let &Transfer { direction, sink, length_bytes, layout, .. } = transfer;
        let sync = transfer.sync && direction == Direction::Send && sink == Sink::Disk;
        let cold = transfer.cold && direction == Direction::Fetch && sink == Sink::Disk;
        let count = repetitions(length_bytes, layout)?;
        let mut session = self.connect()?;
        session.request(match direction {
            Direction::Send => Request::Send { sink, sync, length_bytes, count },
            Direction::Fetch => Request::Fetch { sink, cold, length_bytes, count },
        })?;
        let samples_ns = record(layout, || match direction {
            Direction::Send => session.send(length_bytes),
            Direction::Fetch => session.fetch(length_bytes),
        })?;
        let observed = Observed::Transfer { direction, sink, sync, cold };
        Ok(Cell { observed, length_bytes, layout, samples_ns })
    }

    /// Measures what several streams move within a window, each over its own connection.
    ///
    /// # Errors
    /// Any [`ProbeError`] of a client.
    pub fn throughput(&self, streams: &Streams) -> Result<Throughput, ProbeError> {
        if streams.streams == 0 {
            return Err(ProbeError::Nothing { what: "the number of streams" });
        }
        if streams.window.is_zero() {
            return Err(ProbeError::Nothing { what: "the duration" });
        }
        let mut sessions = Vec::new();
        for _ in 0..streams.streams {
            sessions.push(self.connect()?);
        }
        measure(&mut sessions, streams)
    }

    /// Connects and authenticates.
    fn connect(&self) -> Result<Outgoing, ProbeError> {
        let failed = |source| ProbeError::Connect { address: self.address.clone(), source };
        let addresses = self.address.to_socket_addrs().map_err(failed)?;
        let mut last = std::io::ErrorKind::AddrNotAvailable.into();
        for address in addresses {
            match TcpStream::connect_timeout(&address, self.limits.handshake) {
                Ok(stream) => {
                    let link = Link::new(stream, self.stop.clone())?;
                    introduce(&link, &self.key, &self.limits)?;
                    let content = Content::new(u64::from_ne_bytes(random_bytes()?));
                    return Ok(Outgoing {
                        link,
                        limits: self.limits,
                        memory: Memory::new(),
                        content,
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}

/// The repetitions to request: those of the rows and the one before them.
fn repetitions(length_bytes: u64, layout: Layout) -> Result<u32, ProbeError> {
    if length_bytes == 0 {
        return Err(ProbeError::Nothing { what: "the size" });
    }
    if layout.count() == 0 {
        return Err(ProbeError::Nothing { what: "the number of rows or of repetitions" });
    }
    // More than this exceeds every listener's limit anyway.
    let limit = u64::from(u32::MAX) - 1;
    let too_many = ProbeError::Refused(RefusalReason::TooMany { limit });
    u32::try_from(layout.count() + 1).map_err(|_| too_many)
}

fn record(
    layout: Layout,
    mut repetition: impl FnMut() -> Result<u64, ProbeError>,
) -> Result<Vec<u64>, ProbeError> {
    repetition()?;
    (0..layout.count()).map(|_| repetition()).collect()
}
