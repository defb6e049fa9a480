//! A proxy between a client and a server that does to the stream what networks and faulty servers
//! do.
//!
//! A real server rarely misbehaves when a test wants it to. The proxy passes bytes on, recognizes
//! messages, and injects exactly the faults that the test has planned, counting those that really
//! happened: a test that never met its fault proves nothing.

mod crc32c;
mod digests;
mod fault;
mod framing;
mod iscsi;
mod link;
mod messages;
mod pump;
mod rpc;
mod shared;

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use fault::{Direction, Fault, nfs_procedure};
pub use framing::Framing;
pub use link::Recording;

use crate::PeerError;
use shared::Shared;

/// A running proxy; ends, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    framing: Framing,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and passes everything on to `server`. The seed
    /// determines whatever a fault leaves open: which bit, which number.
    ///
    /// # Errors
    /// No socket is available.
    pub fn start(server: SocketAddr, framing: Framing, seed: u64) -> Result<Self, PeerError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared::new(server, framing, seed));
        let mut proxy = Self { address, framing, shared, listening: None };
        proxy.listen(listener);
        Ok(proxy)
    }

    fn listen(&mut self, listener: TcpListener) {
        let shared = Arc::clone(&self.shared);
        self.listening = Some(std::thread::spawn(move || pump::accept(&listener, &shared)));
    }

    /// The address for clients.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Plans a fault that happens once: on the next connection, message or byte that it fits.
    ///
    /// # Errors
    /// The fault concerns messages that the proxy does not know.
    pub fn plan(&self, fault: Fault) -> Result<(), PeerError> {
        self.plan_times(fault, 1)
    }

    /// Plans a fault that happens `times` times: on that many connections, messages or chunks.
    /// Faults at a byte happen once per connection.
    ///
    /// # Errors
    /// As [`Proxy::plan`].
    pub fn plan_times(&self, fault: Fault, times: u64) -> Result<(), PeerError> {
        self.plan_after(fault, 0, times)
    }

    /// Plans a fault that happens `times` times after skipping the first `skip` opportunities.
    ///
    /// # Errors
    /// As [`Proxy::plan`].
    pub fn plan_after(&self, fault: Fault, skip: u64, times: u64) -> Result<(), PeerError> {
        if !fault.fits(self.framing) {
            return Err(PeerError::Framing {
                fault: format!("{fault:?}"),
                framing: format!("{:?}", self.framing),
            });
        }
        self.shared.plan(fault, skip, times);
        Ok(())
    }

    /// Drops all faults that have not happened yet, and passes everything on from now on.
    /// Connections that a fault has silenced stay silent.
    pub fn clear(&self) {
        self.shared.clear();
    }

    /// Number of faults that have really happened.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.shared.fired()
    }

    /// Number of connections so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.shared.connections()
    }

    /// Breaks all connections with RST to both sides. A connection that has not reached the server
    /// yet may still be made afterwards.
    pub fn reset_all(&self) {
        self.shared.reset_all();
    }

    /// Sets the server for new connections.
    pub fn set_server(&self, server: SocketAddr) {
        self.shared.set_server(server);
    }

    /// Stops listening: the kernel refuses connections until [`Proxy::open`]. Existing connections
    /// stay.
    pub fn close(&mut self) {
        self.shared.stop_listening(true);
        if let Some(thread) = self.listening.take() {
            // Wakes the accepting thread.
            let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
            let _ = thread.join();
        }
    }

    /// Listens again on the same port.
    ///
    /// # Errors
    /// The port has been taken meanwhile.
    pub fn open(&mut self) -> Result<(), PeerError> {
        if self.listening.is_none() {
            self.shared.stop_listening(false);
            self.listen(TcpListener::bind(self.address).map_err(failed)?);
        }
        Ok(())
    }

    /// What passed through the connections, in order: the first megabyte of each direction of the
    /// first hundred.
    #[must_use]
    pub fn recordings(&self) -> Vec<Recording> {
        self.shared.recordings()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.close();
        self.shared.end();
    }
}

fn failed(source: std::io::Error) -> PeerError {
    PeerError::Proxy { source }
}
