//! From a host's name to its address.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::{DatastoreError, Host};

/// The address of a host; IPv4 first if it has both, since servers on loopback often have only that.
///
/// # Errors
/// The name is unknown, or the resolver is out of reach.
pub(crate) fn resolve(host: &Host, port: u16) -> Result<SocketAddr, DatastoreError> {
    let found = (host.name.as_str(), host.port.unwrap_or(port)).to_socket_addrs();
    let mut addresses: Vec<SocketAddr> = match found {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            return Err(DatastoreError::UnknownHost {
                host: host.name.clone(),
                reason: error.to_string(),
            });
        }
    };
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.first().copied().ok_or_else(|| DatastoreError::UnknownHost {
        host: host.name.clone(),
        reason: "it has no address".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_they_are_and_unknown_names_told() {
        let host = |name: &str, port| Host { name: name.into(), port };
        assert_eq!(resolve(&host("127.0.0.1", None), 2049).unwrap().to_string(), "127.0.0.1:2049");
        assert_eq!(resolve(&host("::1", Some(7)), 2049).unwrap().to_string(), "[::1]:7");
        let error = resolve(&host("no-such-host.invalid", None), 1).unwrap_err().to_string();
        assert!(error.contains("no-such-host.invalid"), "{error}");
    }
}
