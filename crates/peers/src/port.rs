//! Free ports, and listening sockets.
//!
//! Ports are chosen below the range that the kernel uses for outgoing connections: a restarted
//! server must get its port back, and an outgoing connection could have taken it meanwhile.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use crate::PeerError;

const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// Different ports on which nothing listens now. That may change at any time: the caller must be
/// prepared to try others.
pub(crate) fn free<const COUNT: usize>() -> Result<[u16; COUNT], PeerError> {
    // Concurrent processes must not try the same ports.
    let start = RandomState::new().hash_one(std::process::id());
    let count = u64::from(LAST - FIRST) + 1;
    let mut ports = [0; COUNT];
    let mut candidates = (0..count)
        .map(|step| FIRST + u16::try_from((start % count + step) % count).unwrap_or_default())
        .filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    for port in &mut ports {
        *port = candidates.next().ok_or(PeerError::NoPort { first: FIRST, last: LAST })?;
    }
    Ok(ports)
}

/// The addresses on which TCP sockets listen on this machine (proc(5), net/tcp). An IPv4-mapped
/// IPv6 address is returned as IPv4.
///
/// # Errors
/// /proc cannot be read.
pub fn listeners() -> Result<Vec<SocketAddr>, PeerError> {
    let mut addresses = Vec::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let path = std::path::Path::new(file);
        // Without IPv6 the file does not exist.
        if path.exists() {
            let table = std::fs::read_to_string(path).map_err(crate::error::at(path))?;
            addresses.extend(table.lines().skip(1).filter_map(listener));
        }
    }
    Ok(addresses)
}

/// The local address of a line of the table, if the socket listens.
fn listener(line: &str) -> Option<SocketAddr> {
    const LISTEN: &str = "0A";
    let mut words = line.split_whitespace();
    let (address, port) = words.nth(1)?.split_once(':')?;
    if words.nth(1)? != LISTEN {
        return None;
    }
    // 32-bit words, each printed as a number in native byte order.
    let word = |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok();
    let ip = if address.len() == 8 {
        IpAddr::V4(Ipv4Addr::from(word(0)?.to_ne_bytes()))
    } else {
        let mut octets = [0; 16];
        for (at, four) in octets.chunks_exact_mut(4).enumerate() {
            four.copy_from_slice(&word(at)?.to_ne_bytes());
        }
        IpAddr::V6(Ipv6Addr::from(octets)).to_canonical()
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_different_and_can_be_had() {
        let ports: [u16; 3] = free().unwrap();
        assert!(ports[0] != ports[1] && ports[1] != ports[2] && ports[0] != ports[2]);
        assert!(ports.iter().all(|port| (FIRST..=LAST).contains(port)));
    }

    #[test]
    fn who_listens_is_found_and_who_does_not_is_not() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        assert!(listeners().unwrap().contains(&address));
        let _client = std::net::TcpStream::connect(address).unwrap();
        assert_eq!(listeners().unwrap().iter().filter(|a| **a == address).count(), 1);
        drop(socket);
        assert!(!listeners().unwrap().contains(&address));
    }

    #[test]
    fn addresses_of_either_kind_are_read() {
        let line = "  0: 0100007F:2001 00000000:0000 0A 0:0 0:0 0 0 0 1";
        assert_eq!(listener(line), Some("127.0.0.1:8193".parse().unwrap()));
        let mapped = "  1: 0000000000000000FFFF00000100007F:500B 0:0 0A 0:0";
        assert_eq!(listener(mapped), Some("127.0.0.1:20491".parse().unwrap()));
        let any = "  1: 00000000000000000000000000000000:006F 0:0 0A 0:0";
        assert_eq!(listener(any), Some("[::]:111".parse().unwrap()));
        assert_eq!(listener("  0: 0100007F:2001 0100007F:0001 01 0:0"), None);
    }
}
