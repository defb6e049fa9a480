//! The servers as tests use them, and the proxy's faults on real sockets.
//!
//! One binary with a module per topic, because each binary would link everything again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bytes;
mod ganesha;
mod iscsi_faults;
mod messages;
mod nfs_faults;
mod tgt;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use stormeter_peers::{Framing, Proxy, listeners};

/// Nothing takes this long unless it has failed.
const PATIENCE: Duration = Duration::from_secs(20);

fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether a port has listeners, all of them on the loopback device.
fn is_on_loopback_only(port: u16) -> bool {
    let mut on_port = listeners().unwrap();
    on_port.retain(|address| address.port() == port);
    !on_port.is_empty() && on_port.iter().all(|address| address.ip().is_loopback())
}

/// Bytes of which no two neighbours are equal.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| u8::try_from(index * 7 % 251).unwrap()).collect()
}

/// A test's own server behind a proxy.
struct Behind {
    proxy: Proxy,
    listener: TcpListener,
}

impl Behind {
    fn start(framing: Framing) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::start(listener.local_addr().unwrap(), framing, 1).unwrap();
        Self { proxy, listener }
    }

    /// The two ends of a connection: client and server.
    fn pair(&self) -> (TcpStream, TcpStream) {
        let client = connect(self.proxy.address());
        let (server, _) = self.listener.accept().unwrap();
        server.set_read_timeout(Some(PATIENCE)).unwrap();
        server.set_nodelay(true).unwrap();
        (client, server)
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.set_nodelay(true).unwrap();
    client
}
