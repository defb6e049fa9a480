//! The loopback listener that all servers share: a thread per connection, and one way to stop.
//!
//! Nothing polls to find out whether it should stop: stopping shuts down the connections and wakes
//! the listener by connecting to it.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::ServerError;

/// More connections than any test or measurement needs; each costs at least one thread.
const MAX_CONNECTIONS: usize = 256;

/// How long to wait before accepting again when the system has run out of descriptors or memory.
const EXHAUSTED_WAIT: Duration = Duration::from_millis(50);

/// A socket that listens on 127.0.0.1.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    stopper: Stopper,
}

/// Stops a server from another thread. Clones stop the same server.
#[derive(Debug, Clone)]
pub struct Stopper {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    port: u16,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    next: u64,
    connections: HashMap<u64, TcpStream>,
}

/// A server on a separate thread. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Running {
    stopper: Stopper,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

/// One admitted connection; releases its slot when dropped.
struct Admission {
    stopper: Stopper,
    number: u64,
}

impl Listener {
    /// Listens on a port of 127.0.0.1, 0 for a free one.
    pub(crate) fn bind(port: u16) -> Result<Self, ServerError> {
        let failed = |source| ServerError::Bind { port, source };
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let port = socket.local_addr().map_err(failed)?.port();
        let shared = Arc::new(Shared { port, state: Mutex::default() });
        Ok(Self { socket, stopper: Stopper { shared } })
    }

    pub(crate) fn port(&self) -> u16 {
        self.stopper.shared.port
    }

    pub(crate) fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Passes each connection to `handle` on a separate thread, until stopped. Returns when the
    /// last of them has ended.
    pub(crate) fn serve(self, handle: &(impl Fn(&TcpStream) + Sync)) {
        thread::scope(|scope| {
            while !self.stopper.is_stopped() {
                let stream = match self.socket.accept() {
                    Ok((stream, _)) => stream,
                    Err(error) if is_passing(&error) => continue,
                    Err(_) => {
                        thread::sleep(EXHAUSTED_WAIT);
                        continue;
                    }
                };
                let Some(admission) = self.stopper.admit(&stream) else { continue };
                // Answers are small and the other end is waiting for them.
                let _ = stream.set_nodelay(true);
                // Without a thread the connection is closed, which the client notices.
                let _ = thread::Builder::new().spawn_scoped(scope, move || {
                    let _admission = admission;
                    handle(&stream);
                });
            }
        });
    }

    /// Runs `serve` on a separate thread.
    pub(crate) fn spawn(
        self,
        handle: impl Fn(&TcpStream) + Send + Sync + 'static,
    ) -> Result<Running, ServerError> {
        let (stopper, port) = (self.stopper(), self.port());
        let thread = thread::Builder::new()
            .spawn(move || self.serve(&handle))
            .map_err(|source| ServerError::Thread { source })?;
        Ok(Running { stopper, port, thread: Some(thread) })
    }
}

/// Errors of accept that concern only the connection being accepted.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

impl Stopper {
    /// Closes every connection and makes the server return. A second call does nothing.
    pub fn stop(&self) {
        let connections = {
            let mut state = self.state();
            if std::mem::replace(&mut state.stopped, true) {
                return;
            }
            std::mem::take(&mut state.connections)
        };
        for connection in connections.values() {
            // It may be gone already.
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Only to wake the listener; if it no longer exists, there is nothing to wake.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.shared.port));
    }

    fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    fn admit(&self, stream: &TcpStream) -> Option<Admission> {
        let mut state = self.state();
        if state.stopped || state.connections.len() >= MAX_CONNECTIONS {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.connections.insert(number, stream.try_clone().ok()?);
        Some(Admission { stopper: self.clone(), number })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let connection = self.stopper.state().connections.remove(&self.number);
        if let Some(connection) = connection {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Running {
    /// The port of 127.0.0.1 on which the server listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // A panic has been printed by its thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{IpAddr, UdpSocket};

    use super::*;

    #[test]
    fn only_this_machine_can_connect() {
        let listener = Listener::bind(0).unwrap();
        let bound = listener.socket.local_addr().unwrap();
        assert_eq!(bound.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        // Connecting a datagram socket sends nothing; it reveals the address that would be used.
        let probe = UdpSocket::bind("0.0.0.0:0").unwrap();
        if probe.connect("192.0.2.1:9").is_ok() {
            let other = probe.local_addr().unwrap().ip();
            assert!(other.is_loopback() || TcpStream::connect((other, bound.port())).is_err());
        }
    }

    #[test]
    fn stopping_closes_connections_and_returns() {
        let listener = Listener::bind(0).unwrap();
        let running = listener
            .spawn(|mut stream| {
                let _ = stream.read(&mut [0]);
            })
            .unwrap();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, running.port())).unwrap();
        drop(running);
        assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
    }

    #[test]
    fn a_connection_gives_its_place_back() {
        let listener = Listener::bind(0).unwrap();
        let port = listener.port();
        let _running = listener.spawn(|_| {}).unwrap();
        for _ in 0..2 * MAX_CONNECTIONS {
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
        }
    }

    #[test]
    fn a_taken_port_is_named() {
        let first = Listener::bind(0).unwrap();
        let error = Listener::bind(first.port()).unwrap_err().to_string();
        assert!(error.contains(&first.port().to_string()), "{error}");
    }
}
