//! Addresses at which guests are reached from this machine.
//!
//! Every storage guest, and every VM with a network, has its own loopback address (127.0.0.0/8 is all this machine,
//! RFC 1122, section 3.2.1.3), so protocols use their standard ports and labs do not collide.

use std::net::{Ipv4Addr, TcpListener};

use crate::error::LabError;
use crate::image::key;

/// iSCSI, NFS, MOUNT.
const PORTS: [u16; 3] = [3260, 2049, 20048];
/// Where QEMU's NFS client looks up the other ports.
pub(super) const PORTMAPPER: u16 = 111;

/// The ports of a storage guest.
pub(super) fn storage_ports(portmapper: bool) -> Vec<u16> {
    PORTS.into_iter().chain(portmapper.then_some(PORTMAPPER)).collect()
}

/// An address on which all `ports` are free at this moment, starting from one that is derived from
/// `seed`, so that a lab gets the same address each time.
pub(super) fn free_address(
    guest: &str,
    seed: &str,
    ports: &[u16],
    taken: &[String],
) -> Result<String, LabError> {
    let is_free = |address: Ipv4Addr| {
        !taken.contains(&address.to_string())
            && ports.iter().all(|&port| TcpListener::bind((address, port)).is_ok())
    };
    let address = choose(guest, seed, is_free);
    address.map(|it| it.to_string()).ok_or_else(|| LabError::NoAddress { guest: guest.into() })
}

/// The first of a guest's candidate addresses that is free.
fn choose(guest: &str, seed: &str, is_free: impl Fn(Ipv4Addr) -> bool) -> Option<Ipv4Addr> {
    const ATTEMPTS: u32 = 64;
    let address = |attempt: u32| {
        let digits = key(&[seed.as_bytes(), guest.as_bytes(), &attempt.to_le_bytes()]);
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(1);
        // Low addresses are used by other programs; the last part must not be the network or broadcast
        // address.
        Ipv4Addr::new(127, 64 | part(0), part(2), part(4).clamp(1, 254))
    };
    (0..ATTEMPTS).map(address).find(|&address| is_free(address))
}

/// Whether this user may listen on the portmapper's port.
pub(super) fn may_have_portmapper() -> bool {
    // An address that nothing else uses: if this is refused, the reason is the port.
    match TcpListener::bind((Ipv4Addr::new(127, 63, 0, 1), PORTMAPPER)) {
        Err(error) => error.kind() != std::io::ErrorKind::PermissionDenied,
        Ok(_) => true,
    }
}

/// The forwards from the address to the guest, in QEMU's syntax.
pub(super) fn forwards(address: &str, ports: &[u16]) -> Vec<String> {
    ports.iter().map(|port| format!("tcp:{address}:{port}-:{port}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_each_time_and_another_when_it_is_taken() {
        let first = choose("nas", "a test", |_| true).unwrap();
        assert_eq!(choose("nas", "a test", |_| true), Some(first));
        assert!(first.is_loopback() && first.octets()[1] >= 64, "{first}");
        let other = choose("nas", "a test", |address| address != first).unwrap();
        assert_ne!(other, first);
        assert_eq!(choose("nas", "a test", |_| false), None);
    }

    #[test]
    fn an_address_is_taken_by_a_lab_and_by_whoever_listens() {
        let find = |taken: &[String]| {
            free_address("nas", "another", &storage_ports(false), taken).unwrap()
        };
        let first = find(&[]);
        assert_ne!(find(std::slice::from_ref(&first)), first);
        let address: Ipv4Addr = first.parse().unwrap();
        let _busy = TcpListener::bind((address, 3260)).unwrap();
        assert_ne!(find(&[]), first);
    }

    #[test]
    fn every_port_is_forwarded() {
        assert_eq!(forwards("127.64.0.1", &storage_ports(false)).len(), 3);
        assert_eq!(forwards("127.64.0.1", &storage_ports(true))[3], "tcp:127.64.0.1:111-:111");
    }
}
