//! The passive end: accepts connections, each handled by a separate thread, until asked to stop.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::ProbeError;
use crate::disk::Disk;
use crate::handshake::turn_away;
use crate::key::Key;
use crate::limits::Limits;
use crate::link::{Link, TICK};
use crate::session::Session;

/// Options of a listener.
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// The address to listen on; port 0 selects a free one.
    pub address: SocketAddr,
    /// The key that clients must know.
    pub key: Key,
    /// The directory for the files of disk transfers; without it they are refused.
    pub directory: Option<PathBuf>,
    /// Limits on what clients may use.
    pub limits: Limits,
}

/// A connection that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The client's address.
    pub peer: SocketAddr,
    /// How it ended.
    pub result: Result<(), ProbeError>,
}

/// The listening end.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    key: Key,
    disk: Option<Disk>,
    limits: Limits,
}

impl Listener {
    /// Binds the address, and checks that files can be created in the directory.
    ///
    /// # Errors
    /// [`ProbeError::Bind`], [`ProbeError::Disk`].
    pub fn bind(options: ListenerOptions) -> Result<Self, ProbeError> {
        let ListenerOptions { address, key, directory, limits } = options;
        let disk = directory.map(|directory| Disk::open(&directory)).transpose()?;
        let bind = || -> io::Result<(TcpListener, SocketAddr)> {
            let socket = with_patience(TcpListener::bind(address)?)?;
            let address = socket.local_addr()?;
            Ok((socket, address))
        };
        let (socket, address) = bind().map_err(|source| ProbeError::Bind { address, source })?;
        Ok(Self { socket, address, key, disk, limits })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the flag is set, and then until all connections have ended, which takes a
    /// moment. `on_end` is called for each connection that has ended, after everything that
    /// belonged to it was removed.
    pub fn serve(&self, stop: &Arc<AtomicBool>, on_end: &(dyn Fn(Ended) + Sync)) {
        let served = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let (stream, peer) = match self.socket.accept() {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of descriptors or memory: this may improve, and is no reason to end.
                        if !is_passing(&error) {
                            std::thread::sleep(TICK);
                        }
                        continue;
                    }
                };
                let Some(place) = Place::take(&served, self.limits.connections) else {
                    on_end(Ended { peer, result: self.turn_away(stream, stop) });
                    continue;
                };
                let connection = move || {
                    let result = self.connection(stream, stop);
                    // First, so that when the end is reported the slot is free.
                    drop(place);
                    on_end(Ended { peer, result });
                };
                let thread = std::thread::Builder::new().name("stormeter-net".into());
                if let Err(error) = thread.spawn_scoped(scope, connection) {
                    on_end(Ended { peer, result: Err(ProbeError::Thread(error)) });
                }
            }
        });
    }

    fn connection(&self, stream: TcpStream, stop: &Arc<AtomicBool>) -> Result<(), ProbeError> {
        let link = Link::new(stream, stop.clone())?;
        Session::run(&link, &self.key, &self.limits, self.disk.as_ref())
    }

    /// Needs no thread: a greeting always fits into a new socket's buffer.
    fn turn_away(&self, stream: TcpStream, stop: &Arc<AtomicBool>) -> Result<(), ProbeError> {
        turn_away(&Link::new(stream, stop.clone())?, &self.limits)?;
        Err(ProbeError::Busy)
    }
}

/// One slot for a connection.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(served: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let place = Self(served);
        (served.fetch_add(1, Ordering::AcqRel) < limit).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Makes `accept` return every tick, so that it notices the flag (socket(7): SO_RCVTIMEO applies to
/// accept too). The library offers that option on streams only, but both are descriptors.
fn with_patience(socket: TcpListener) -> io::Result<TcpListener> {
    let stream = TcpStream::from(OwnedFd::from(socket));
    stream.set_read_timeout(Some(TICK))?;
    Ok(TcpListener::from(OwnedFd::from(stream)))
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
    )
}
