//! The network interface on the way to a server: its speed and MTU, as the kernel reports them.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use nix::ifaddrs::getifaddrs;

use crate::machine::line_of;

/// The interface that packets to a server leave by.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Link {
    /// The server's address, which was looked up.
    pub server: IpAddr,
    /// The kernel's name: `eth0`, `lo`.
    pub interface: String,
    /// The server is this machine, or is reached through it: nothing leaves it.
    pub is_loopback: bool,
    /// In Mbit/s; `None` where the driver reports none, as most virtual ones do.
    pub speed_mbit_per_s: Option<u32>,
    /// The longest packet of this end, in bytes. The way may have less.
    pub mtu_bytes: Option<u32>,
}

/// The link to a server. `None` without a route.
pub(super) fn link_to(server: SocketAddr) -> Option<Link> {
    let local = local_address(server)?;
    let interface = interface_of(local)?;
    let read = |name: &str| line_of(&format!("/sys/class/net/{interface}/{name}"));
    Some(Link {
        server: server.ip(),
        is_loopback: local.to_canonical().is_loopback() || local == server.ip(),
        speed_mbit_per_s: read("speed").and_then(|text| speed(&text)),
        mtu_bytes: read("mtu").and_then(|text| text.parse().ok()),
        interface,
    })
}

/// The address of this end. Connecting a datagram socket chooses the route and sends nothing.
fn local_address(server: SocketAddr) -> Option<IpAddr> {
    let anywhere = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(anywhere).ok()?;
    socket.connect(server).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

fn interface_of(local: IpAddr) -> Option<String> {
    let is_local = |address: &nix::sys::socket::SockaddrStorage| {
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        let v6 = address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip()));
        v4.or(v6) == Some(local)
    };
    let found = getifaddrs().ok()?.find(|one| one.address.as_ref().is_some_and(is_local));
    // All of 127.0.0.0/8 is on the loopback interface, which has one address of it.
    found.map(|one| one.interface_name).or_else(|| local.is_loopback().then(|| "lo".into()))
}

/// Mbit/s as sysfs has them; -1 and 0 stand for unknown (Linux, Documentation/ABI/testing/sysfs-class-net).
fn speed(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|speed| (1..u32::MAX).contains(speed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_speed_is_none() {
        assert_eq!(
            ["10000", "-1", "0", "4294967295", ""].map(speed),
            [Some(10_000), None, None, None, None]
        );
    }

    #[test]
    fn this_machine_is_reached_by_its_loopback_interface() {
        let link = link_to("127.0.0.1:2049".parse().unwrap()).unwrap();
        assert_eq!((link.interface.as_str(), link.is_loopback), ("lo", true));
        assert!(link.mtu_bytes.is_some_and(|bytes| bytes >= 1280), "{link:?}");
        assert_eq!(link_to("127.0.0.9:1".parse().unwrap()).unwrap().interface, "lo");
    }
}
