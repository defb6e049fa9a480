//! One connection through the proxy: its two sockets, what passed through, and how it ends.
//!
//! A reset needs care: RST is sent when the last owner of a socket with a linger time of 0 closes
//! it, and its threads are blocked in reads. Shutting down the read side wakes them and sends
//! nothing.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::libc::linger;
use nix::sys::socket::{setsockopt, sockopt::Linger};

use super::digests::Digests;
use super::fault::Direction;
use super::iscsi::Login;
use super::rpc::Calls;

/// The most bytes kept per direction.
const RECORD_MAX_BYTES: usize = 1 << 20;
/// How long a write may block before checking whether it still makes sense.
const LOOK: Duration = Duration::from_millis(100);

/// What passed through one connection, as the client saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// What the client sent.
    pub from_client: Vec<u8>,
    /// What the client received, faults included.
    pub to_client: Vec<u8>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) number: u64,
    client: TcpStream,
    /// `None` if there is no server behind the proxy.
    server: Option<TcpStream>,
    is_reset: AtomicBool,
    to_server_bytes: AtomicU64,
    to_client_bytes: AtomicU64,
    /// Shared knowledge about the conversation, for both directions.
    pub(crate) talk: Mutex<Talk>,
    pub(crate) recording: std::sync::Arc<Mutex<Recording>>,
}

/// What one direction must know about the other.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    pub(crate) calls: Calls,
    pub(crate) login: Login,
    pub(crate) digests: Digests,
}

impl Link {
    pub(crate) fn new(
        number: u64,
        client: TcpStream,
        server: Option<TcpStream>,
    ) -> std::io::Result<Self> {
        for socket in std::iter::once(&client).chain(&server) {
            socket.set_nodelay(true)?;
            socket.set_write_timeout(Some(LOOK))?;
        }
        Ok(Self {
            number,
            client,
            server,
            is_reset: AtomicBool::new(false),
            to_server_bytes: AtomicU64::new(0),
            to_client_bytes: AtomicU64::new(0),
            talk: Mutex::default(),
            recording: std::sync::Arc::default(),
        })
    }

    /// The socket that a direction reads from.
    pub(crate) fn source(&self, direction: Direction) -> Option<&TcpStream> {
        match direction {
            Direction::ToServer => Some(&self.client),
            Direction::ToClient => self.server.as_ref(),
        }
    }

    fn sink(&self, direction: Direction) -> Option<&TcpStream> {
        match direction {
            Direction::ToServer => self.server.as_ref(),
            Direction::ToClient => Some(&self.client),
        }
    }

    fn passed(&self, direction: Direction) -> &AtomicU64 {
        match direction {
            Direction::ToServer => &self.to_server_bytes,
            Direction::ToClient => &self.to_client_bytes,
        }
    }

    /// Number of bytes that have passed through.
    pub(crate) fn passed_bytes(&self, direction: Direction) -> u64 {
        self.passed(direction).load(Ordering::SeqCst)
    }

    pub(crate) fn is_reset(&self) -> bool {
        self.is_reset.load(Ordering::SeqCst)
    }

    /// Passes bytes on; returns whether that succeeded.
    pub(crate) fn write(&self, direction: Direction, mut bytes: &[u8]) -> bool {
        let Some(mut sink) = self.sink(direction) else { return true };
        if direction == Direction::ToClient {
            keep(&mut lock(&self.recording).to_client, bytes);
        }
        // Before the write: when a receiver has the bytes, they must have been counted.
        self.passed(direction).fetch_add(bytes.len() as u64, Ordering::SeqCst);
        while !bytes.is_empty() {
            if self.is_reset() {
                return false;
            }
            match sink.write(bytes) {
                Ok(0) => return false,
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if is_passing(error.kind()) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Records what the client sent.
    pub(crate) fn record_request(&self, bytes: &[u8]) {
        keep(&mut lock(&self.recording).from_client, bytes);
    }

    /// Ends one direction in an orderly way.
    pub(crate) fn finish(&self, direction: Direction) {
        if let Some(sink) = self.sink(direction) {
            let _ = sink.shutdown(Shutdown::Write);
        }
    }

    /// Sends RST to both sides, as soon as the threads of this connection have released the
    /// sockets.
    pub(crate) fn reset(&self) {
        self.is_reset.store(true, Ordering::SeqCst);
        for socket in std::iter::once(&self.client).chain(&self.server) {
            // A socket that is closed already cannot be reset, and need not be.
            let _ = setsockopt(socket, Linger, &linger { l_onoff: 1, l_linger: 0 });
            let _ = socket.shutdown(Shutdown::Read);
        }
    }
}

/// Errors of a socket with a time limit that can be ignored.
pub(crate) fn is_passing(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(kind, Interrupted | TimedOut | WouldBlock)
}

fn keep(record: &mut Vec<u8>, bytes: &[u8]) {
    let room = RECORD_MAX_BYTES.saturating_sub(record.len()).min(bytes.len());
    record.extend(bytes.iter().take(room));
}

/// What another thread left when it panicked is still useful.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
