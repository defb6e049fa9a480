//! Addresses on which guests are reached from this machine.
//!
//! Every storage guest, and every VM with a network, has a loopback address of its own (127.0.0.0/8 is all this machine, RFC 1122,
//! section 3.2.1.3), so protocols have their usual ports and labs do not meet.

use std::net::{Ipv4Addr, TcpListener};

use crate::error::LabError;
use crate::image::key;

/// iSCSI, NFS, MOUNT.
const PORTS: [u16; 3] = [3260, 2049, 20048];
/// Where QEMU's NFS client asks for the others.
pub(super) const PORTMAPPER: u16 = 111;

/// The ports of a storage guest.
pub(super) fn storage_ports(portmapper: bool) -> Vec<u16> {
    PORTS.into_iter().chain(portmapper.then_some(PORTMAPPER)).collect()
}

/// An address on which all `ports` are free at this moment; others are tried when they are not. `seed` is
/// what it is chosen by, so that a lab has the same address each time.
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

/// The first of a guest's addresses that is free.
fn choose(guest: &str, seed: &str, is_free: impl Fn(Ipv4Addr) -> bool) -> Option<Ipv4Addr> {
    const ATTEMPTS: u32 = 64;
    let address = |attempt: u32| {
        let digits = key(&[seed.as_bytes(), guest.as_bytes(), &attempt.to_le_bytes()]);
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(1);
        // Low addresses are what others listen on; the last part is neither the net nor its broadcast.
        Ipv4Addr::new(127, 64 | part(0), part(2), part(4).clamp(1, 254))
    };
    (0..ATTEMPTS).map(address).find(|&address| is_free(address))
}

/// Whether this user may listen on the portmapper's port.
pub(super) fn may_have_portmapper() -> bool {
    // An address that nobody has: what is refused here is the port.
    match TcpListener::bind((Ipv4Addr::new(127, 63, 0, 1), PORTMAPPER)) {
        Err(error) => error.kind() != std::io::ErrorKind::PermissionDenied,
        Ok(_) => true,
    }
}

/// What leads from the address to the guest, as QEMU writes it.
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
