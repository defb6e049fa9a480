//! A free port for the monitor, whose address is in the configuration of every client.
//!
//! It is chosen below the range that the kernel uses for outgoing connections: a restarted monitor
//! must get its port back. All other daemons tell the monitor their ports, and choose them themselves.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{Ipv4Addr, TcpListener};

use crate::CephError;

const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// A port on which nothing listens now. That may change at any time: the caller must be prepared
/// to try another.
pub(crate) fn free() -> Result<u16, CephError> {
    // Concurrent processes must not try the same ports.
    let start = RandomState::new().hash_one(std::process::id());
    let count = u64::from(LAST - FIRST) + 1;
    (0..count)
        .map(|step| FIRST + u16::try_from((start % count + step) % count).unwrap_or_default())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .ok_or(CephError::NoPort { first: FIRST, last: LAST })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_had_and_is_below_those_for_outgoing_connections() {
        let port = free().unwrap();
        assert!((FIRST..=LAST).contains(&port));
    }
}
