//! Where the clients of a transfer find its servers on a host: an address, and a port to listen on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

use crate::command::{GUEST_PORT, Transport};

/// How a transfer's bytes reach a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// This machine, over its loopback address.
    Here,
    /// Another machine.
    Machine {
        /// Its name or address.
        name: String,
        /// The port on which servers there should listen; `None`: any.
        port: Option<u16>,
    },
    /// A lab guest, by the address of its port.
    Guest(SocketAddr),
    /// Unknown.
    Unknown,
}

impl Destination {
    /// The destination for a host with this transport; `address` is the one in the study.
    pub(crate) fn of(way: &Transport, address: Option<&str>) -> Self {
        if let Some(address) = address {
            let (name, port) = match address.rsplit_once(':') {
                Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                    (name, port.parse().ok())
                }
                _ => (address, None),
            };
            return Self::Machine { name: name.replace(['[', ']'], ""), port };
        }
        match way {
            Transport::Local => Self::Here,
            Transport::Ssh { destination, .. } => {
                let name = destination.rsplit('@').next().unwrap_or_default();
                Self::Machine { name: name.into(), port: None }
            }
            Transport::Guest(guest) => guest.address.map_or(Self::Unknown, Self::Guest),
            Transport::Command(_) => Self::Unknown,
        }
    }

    /// The port on which the servers should listen; 0: any.
    pub(crate) fn listen_port(&self) -> u16 {
        match self {
            Self::Here | Self::Unknown => 0,
            Self::Machine { port, .. } => port.unwrap_or(0),
            Self::Guest(_) => GUEST_PORT,
        }
    }

    /// The addresses at which servers listening on `port` of the host are reached from here. Names
    /// are resolved now.
    ///
    /// # Errors
    /// Why a name does not resolve.
    pub(crate) fn reached(&self, port: u16) -> Result<Vec<SocketAddr>, String> {
        match self {
            Self::Here => Ok(vec![(IpAddr::V4(Ipv4Addr::LOCALHOST), port).into()]),
            Self::Guest(address) => Ok(vec![*address]),
            Self::Machine { name, .. } => {
                let found = (name.as_str(), port).to_socket_addrs();
                let found = found.map(Iterator::collect::<Vec<_>>);
                found.map_err(|error| format!("{name} has no address: {error}"))
            }
            Self::Unknown => Err("it has no address".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_host_says_where_its_servers_are_unless_the_study_does() {
        let of = |way: &str, address| {
            Destination::of(&Transport::of(&way.parse().unwrap(), &[]).unwrap(), address)
        };
        let machine = |name: &str, port| Destination::Machine { name: name.into(), port };
        assert_eq!(of("local", None), Destination::Here);
        assert_eq!(of("ssh:root@esx1:2222", None), machine("esx1", None));
        assert_eq!(of("ssh:root@fe80::1", None), machine("fe80::1", None));
        assert_eq!(of("ssh:alias", Some("10.0.0.5")), machine("10.0.0.5", None));
        assert_eq!(of("command: x", Some("vm:7878")), machine("vm", Some(7878)));
        assert_eq!(of("command: x", Some("[fe80::1]:78")), machine("fe80::1", Some(78)));
        assert_eq!(of("command: x", Some("fe80::1")), machine("fe80::1", None));
        assert_eq!(of("command: x", None), Destination::Unknown);
        assert_eq!(of("command: x", Some("vm:7878")).listen_port(), 7878);
    }

    #[test]
    fn ports_over_there_are_told_from_those_that_lead_to_them() {
        let reached = |to: &Destination| to.reached(5).unwrap();
        assert_eq!(reached(&Destination::Here), ["127.0.0.1:5".parse().unwrap()]);
        let forward: SocketAddr = "127.64.0.1:99".parse().unwrap();
        assert_eq!(reached(&Destination::Guest(forward)), [forward]);
        assert_eq!(Destination::Guest(forward).listen_port(), GUEST_PORT);
        let other = Destination::Machine { name: "10.0.0.5".into(), port: None };
        assert_eq!(reached(&other), ["10.0.0.5:5".parse().unwrap()]);
        assert!(Destination::Unknown.reached(5).is_err());
    }
}
