//! The connection between a client and its server, over this machine's loopback.
//!
//! One thread creates both ends without waiting: the port is open only until its one connection exists, and no other
//! connection is mistaken for it.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// The number of connections of other programs that are dropped before giving up.
const STRANGERS: u32 = 16;

/// Returns the client's and the server's end.
pub(super) fn connected() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    let own = client.local_addr()?;
    // The connection exists already, so it waits to be accepted, at most behind those of other programs.
    listener.set_nonblocking(true)?;
    for _ in 0..STRANGERS {
        let (server, peer) = listener.accept()?;
        if peer == own {
            // On Linux an accepted socket does not inherit the listener's non-blocking mode.
            server.set_nonblocking(false)?;
            return Ok((client, server));
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, "other programs keep connecting to the port"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn both_ends_are_of_one_connection_and_the_port_is_closed() {
        let (mut client, mut server) = connected().unwrap();
        assert_eq!(client.peer_addr().unwrap(), server.local_addr().unwrap());
        assert_eq!(server.peer_addr().unwrap(), client.local_addr().unwrap());
        assert!(server.local_addr().unwrap().ip().is_loopback());
        client.write_all(b"to and").unwrap();
        let mut bytes = [0; 6];
        server.read_exact(&mut bytes).unwrap();
        server.write_all(&bytes).unwrap();
        client.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"to and");
        let port = server.local_addr().unwrap();
        assert!(TcpStream::connect(port).is_err(), "the port is still open");
    }
}
