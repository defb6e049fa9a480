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
    const ATTEMPTS: u32 = 64;
    for attempt in 0..ATTEMPTS {
        let digits = key(&[seed.as_bytes(), guest.as_bytes(), &attempt.to_le_bytes()]);
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(1);
        // Low addresses are what others listen on; the last part is neither the net nor its broadcast.
        let address = Ipv4Addr::new(127, 64 | part(0), part(2), part(4).clamp(1, 254));
        let text = address.to_string();
        if !taken.contains(&text)
            && ports.iter().all(|&port| TcpListener::bind((address, port)).is_ok())
        {
            return Ok(text);
        }
    }
    Err(LabError::NoAddress { guest: guest.into() })
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
        let find =
            |taken: &[String]| free_address("nas", "a test", &storage_ports(false), taken).unwrap();
        let first = find(&[]);
        assert_eq!(find(&[]), first);
        let address: Ipv4Addr = first.parse().unwrap();
        assert!(address.is_loopback() && address.octets()[1] >= 64, "{address}");
        let other = find(std::slice::from_ref(&first));
        assert_ne!(other, first);
        let _busy = TcpListener::bind((address, 3260)).unwrap();
        assert_eq!(find(&[]), other);
    }

    #[test]
    fn every_port_is_forwarded() {
        assert_eq!(forwards("127.64.0.1", &storage_ports(false)).len(), 3);
        assert_eq!(forwards("127.64.0.1", &storage_ports(true))[3], "tcp:127.64.0.1:111-:111");
    }
}
