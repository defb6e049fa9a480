//! The TCP sockets of this machine, as the kernel lists them in /proc/net/tcp and tcp6 (proc(5)).
//!
//! A server is found by the socket on which it listens, because only its address is known.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// `TCP_ESTABLISHED` and `TCP_LISTEN` of the kernel's include/net/tcp_states.h.
const ESTABLISHED: u8 = 0x01;
const LISTEN: u8 = 0x0a;

/// A TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Socket {
    local: SocketAddr,
    /// The other end of a connection.
    remote: SocketAddr,
    state: u8,
    /// Identifies it among the open files of processes.
    pub(crate) inode: u64,
}

/// The sockets listed in `text`. Other lines, such as the heading, are skipped.
pub(crate) fn parse(text: &str) -> Vec<Socket> {
    text.lines().filter_map(socket).collect()
}

/// The sockets at the server's end of connections to an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Serving {
    /// Those that listen there.
    pub(crate) listening: Vec<Socket>,
    /// Those of connections from here; a server may have passed them to another of its processes.
    pub(crate) accepted: Vec<Socket>,
    /// There are connections from here whose other ends are not in this network namespace: they are redirected, as with
    /// the published port of a container.
    pub(crate) is_led_elsewhere: bool,
}

/// What serves at `address`.
pub(crate) fn serving(sockets: &[Socket], address: SocketAddr) -> Serving {
    let is_at = |socket: &&Socket, ip: IpAddr, state: u8| {
        socket.state == state && socket.local == SocketAddr::new(ip, address.port())
    };
    let ip = address.ip().to_canonical();
    let at = |ip, state| sockets.iter().filter(move |socket| is_at(socket, ip, state)).copied();
    // A connection goes to the socket that is bound to the address itself before one that is bound
    // to all addresses; one that is bound to all of IPv6 takes IPv4 too, unless another does.
    let mut candidates = vec![ip];
    if ip.is_ipv4() {
        candidates.push(Ipv4Addr::UNSPECIFIED.into());
    }
    candidates.push(Ipv6Addr::UNSPECIFIED.into());
    let listening = candidates
        .into_iter()
        .map(|ip| at(ip, LISTEN).collect::<Vec<_>>())
        .find(|listening| !listening.is_empty())
        .unwrap_or_default();
    let at_server = |socket: &Socket| is_at(&socket, ip, ESTABLISHED);
    let peer = SocketAddr::new(ip, address.port());
    let from_here = |socket: &&Socket| socket.state == ESTABLISHED && socket.remote == peer;
    let mut clients = sockets.iter().filter(from_here).peekable();
    let are_some_from_here = clients.peek().is_some();
    let others = clients.map(|client| (client.remote, client.local)).collect::<HashSet<_>>();
    let is_other_end = |socket: &&Socket| others.contains(&(socket.local, socket.remote));
    let accepted: Vec<Socket> =
        sockets.iter().filter(|socket| at_server(socket)).filter(is_other_end).copied().collect();
    let is_led_elsewhere = are_some_from_here && accepted.is_empty();
    // A connection that was not accepted yet has no inode.
    let accepted = accepted.into_iter().filter(|socket| socket.inode != 0).collect();
    Serving { listening, accepted, is_led_elsewhere }
}

/// Whether the address belongs to this machine: only then can a socket be bound to it.
pub(crate) fn is_own(address: SocketAddr) -> bool {
    let mut anywhere = address;
    anywhere.set_port(0);
    address.ip().to_canonical().is_loopback() || UdpSocket::bind(anywhere).is_ok()
}

/// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`
fn socket(line: &str) -> Option<Socket> {
    let mut words = line.split_whitespace().skip(1);
    let local = socket_address(words.next()?)?;
    let remote = socket_address(words.next()?)?;
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let inode = words.nth(5)?.parse().ok()?;
    Some(Socket { local, remote, state, inode })
}

/// `0100007F:0CBC`: words of four bytes in the processor's byte order, then the port.
fn socket_address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| {
        let digits = ip.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            // An IPv4 connection to a socket that accepts both.
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(local: &str, remote: &str, state: u8, inode: u64) -> Socket {
        Socket { local: local.parse().unwrap(), remote: remote.parse().unwrap(), state, inode }
    }

    fn listens(local: &str, inode: u64) -> Socket {
        let anywhere = if local.starts_with('[') { "[::]:0" } else { "0.0.0.0:0" };
        at(local, anywhere, LISTEN, inode)
    }

    /// The listening sockets, and those of accepted connections.
    fn inodes(sockets: &[Socket], address: &str) -> [Vec<u64>; 2] {
        let found = serving(sockets, address.parse().unwrap());
        [found.listening, found.accepted].map(|of| of.iter().map(|socket| socket.inode).collect())
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn lines_of_the_kernel_are_read() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
                    uid  timeout inode\n   \
                    0: 0100007F:0CBC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 \
                    0 31337 1 ffff9 100 0 0 10 0\n   \
                    1: 00000000000000000000000001000000:0801 00000000000000000000000000000000:0000 \
                    0A 00000000:00000000 00:00000000 00000000     0        0 42 1 ffff8 100 0\n   \
                    2: 0000000000000000FFFF00000100007F:0801 0000000000000000FFFF00000100007F:C001 \
                    01 00000000:00000000 02:00000000 00000000     0        0 43 1 ffff8 100 0\n";
        let expected = [
            listens("127.0.0.1:3260", 31337),
            listens("[::1]:2049", 42),
            at("127.0.0.1:2049", "127.0.0.1:49153", ESTABLISHED, 43),
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn strange_lines_are_passed_over() {
        for line in ["", "x", "0: 0100007F:0CBC", "0: zz:1 x 0A a b c d e 1", "0: 01:02 a 0A"] {
            assert_eq!(parse(line), [], "{line}");
        }
        let euro = "0: €00007F:0CBC 0:0 0A a b c d e 1";
        assert_eq!(parse(euro), []);
    }

    #[test]
    fn the_socket_bound_to_the_address_itself_comes_first() {
        let sockets = [
            listens("0.0.0.0:3260", 1),
            listens("127.0.0.1:3260", 2),
            listens("127.0.0.1:3261", 3),
            listens("[::]:3260", 4),
            listens("[::]:2049", 5),
        ];
        let none = || Vec::<u64>::new();
        assert_eq!(inodes(&sockets, "127.0.0.1:3260"), [vec![2], none()]);
        assert_eq!(inodes(&sockets, "[::ffff:127.0.0.1]:3260"), [vec![2], none()]);
        assert_eq!(inodes(&sockets, "127.0.0.2:3260"), [vec![1], none()]);
        assert_eq!(inodes(&sockets, "127.0.0.2:2049"), [vec![5], none()]);
        assert_eq!(inodes(&sockets, "[::1]:3260"), [vec![4], none()]);
        assert_eq!(inodes(&sockets, "127.0.0.1:1"), [none(), none()]);
    }

    #[test]
    fn the_other_ends_of_connections_from_here_are_found() {
        let (server, client) = ("127.0.0.1:3260", "127.0.0.1:40000");
        let mut sockets = vec![
            listens(server, 1),
            at(client, server, ESTABLISHED, 2),
            at(server, client, ESTABLISHED, 3),
            // From another machine, at another of this machine's addresses, and being closed.
            at(server, "10.0.0.9:40000", ESTABLISHED, 4),
            at("10.0.0.1:3260", client, ESTABLISHED, 5),
            at("127.0.0.1:40001", server, 0x08, 6),
        ];
        assert_eq!(inodes(&sockets, server), [vec![1], vec![3]]);
        assert!(!serving(&sockets, server.parse().unwrap()).is_led_elsewhere);
        // Not accepted yet.
        sockets[2].inode = 0;
        assert_eq!(inodes(&sockets, server), [vec![1], vec![]]);
        assert!(!serving(&sockets, server.parse().unwrap()).is_led_elsewhere);
        // Translated to an address in another namespace.
        sockets.remove(2);
        assert!(serving(&sockets, server.parse().unwrap()).is_led_elsewhere);
    }

    #[test]
    fn own_addresses_are_told_from_others() {
        assert!(is_own("127.8.9.1:3260".parse().unwrap()));
        assert!(is_own("[::1]:3260".parse().unwrap()));
        // Addresses for documentation (RFC 5737, section 3).
        assert!(!is_own("192.0.2.1:3260".parse().unwrap()));
    }
}
