//! The cables between hosts and storage guests, derived from what hosts mount.
//!
//! A cable joins one port of a host to one of a storage guest, with nothing in between. Each host has a
//! separate channel to each storage guest for each packet size of TCP/IP; standard and jumbo frames are
//! thus compared on links that differ in nothing else. FC has separate ports, as in a rack.

use crate::model::{Lab, Mounted, Network};

/// The connection of a host and a storage guest for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Channel {
    /// Its index among the lab's channels: addresses are derived from it.
    pub(crate) number: usize,
    /// Index of the host in the lab's list.
    pub(crate) host: usize,
    /// Index of the storage guest.
    pub(crate) storage: usize,
    pub(crate) carries: Carries,
    pub(crate) cables: Vec<Cable>,
}

/// What a channel carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    /// TCP/IP with packets of at most `mtu` bytes; several cables are aggregated.
    Ip { mtu: u32 },
    /// FC; each cable is a path.
    Fc,
}

/// Two ports, as indices among the cabled ports of their guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cable {
    pub(crate) host: usize,
    pub(crate) storage: usize,
}

/// An FC frame with its Ethernet header does not fit into a standard packet (FCoE, FC-BB-5).
pub(crate) const FC_MTU: u32 = 2500;

/// All channels of a lab: ordered by host, then by mount.
pub(crate) fn channels(lab: &Lab) -> Vec<Channel> {
    let mut channels: Vec<Channel> = Vec::new();
    let mut storage_ports = vec![0; lab.storage.len()];
    for (host, of) in lab.hosts.iter().enumerate() {
        let first = channels.len();
        for mount in of.mounts.iter().filter(|mount| mount.network.is_none()) {
            let (carries, cables) = match mount.of {
                Mounted::Fc { paths, .. } => (Carries::Fc, paths as usize),
                _ => (Carries::Ip { mtu: mount.mtu }, ip_cables(lab, mount.storage)),
            };
            let same = |channel: &&mut Channel| {
                channel.storage == mount.storage && channel.carries == carries
            };
            let blank = Cable { host: 0, storage: 0 };
            match channels[first..].iter_mut().find(same) {
                Some(channel) if channel.cables.len() < cables => {
                    channel.cables.resize(cables, blank);
                }
                Some(_) => {}
                None => channels.push(Channel {
                    number: channels.len(),
                    host,
                    storage: mount.storage,
                    carries,
                    cables: vec![blank; cables],
                }),
            }
        }
        let cables = channels[first..].iter_mut().flat_map(|channel| {
            let storage = channel.storage;
            channel.cables.iter_mut().map(move |cable| (storage, cable))
        });
        for (port, (storage, cable)) in cables.enumerate() {
            let Some(next) = storage_ports.get_mut(storage) else { continue };
            *cable = Cable { host: port, storage: *next };
            *next += 1;
        }
    }
    channels
}

fn ip_cables(lab: &Lab, storage: usize) -> usize {
    network(lab, storage).and_then(|network| network.aggregation).map_or(1, |a| a.ports as usize)
}

/// The network of a storage guest.
pub(crate) fn network(lab: &Lab, storage: usize) -> Option<&Network> {
    lab.networks.get(lab.storage.get(storage)?.network?)
}

impl Channel {
    /// The address of the storage guest's end.
    pub(crate) fn storage_address(&self) -> String {
        format!("10.77.{}.1", self.number)
    }

    /// The address of the host's end.
    pub(crate) fn host_address(&self) -> String {
        format!("10.77.{}.2", self.number)
    }

    /// The hardware address of one end of a cable. The first byte marks it as locally administered
    /// (IEEE 802, the universal/local bit).
    pub(crate) fn hardware_address(&self, cable: usize, storage: bool) -> String {
        let end = u8::from(storage);
        format!("02:4c:00:{end:02x}:{:02x}:{cable:02x}", self.number)
    }

    /// The name of an FC port, derived from its hardware address (FC's "IEEE Extended" format).
    pub(crate) fn port_name(&self, cable: usize, storage: bool) -> String {
        format!("20:00:{}", self.hardware_address(cable, storage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;

    const LAB: &str = "
networks: {lan: {aggregation: {ports: 2, mode: active-backup}}}
storage:
  nas: {network: lan, disks: {a: {size: 64MiB}, b: {size: 64MiB}}, exports: {a: a}, luns: {b: b}}
  san: {disks: {c: {size: 64MiB}, d: {size: 64MiB}}, luns: {c: {disks: c, protocol: fc}, d: {disks: d, protocol: fc}}}
hosts:
  esx:
    count: 2
    mounts:
      files: {datastore: nas.a}
      jumbo: {datastore: nas.a, mtu: 9000}
      block: {datastore: nas.b}
      one: {datastore: san.c, paths: 1}
      two: {datastore: san.d, paths: 2, policy: round-robin}
";

    #[test]
    fn each_purpose_has_its_cables_and_no_port_has_two() {
        let lab = parse_lab(LAB).unwrap();
        let channels = channels(&lab);
        let seen: Vec<_> = channels
            .iter()
            .map(|channel| (channel.host, channel.storage, channel.carries, channel.cables.len()))
            .collect();
        let (standard, jumbo) = (Carries::Ip { mtu: 1500 }, Carries::Ip { mtu: 9000 });
        assert_eq!(seen[..3], [(0, 0, standard, 2), (0, 0, jumbo, 2), (0, 1, Carries::Fc, 2)]);
        assert_eq!(seen[3..], [(1, 0, standard, 2), (1, 0, jumbo, 2), (1, 1, Carries::Fc, 2)]);
        for storage in 0..2 {
            let of = channels.iter().filter(|channel| channel.storage == storage);
            let ports: Vec<usize> =
                of.flat_map(|channel| &channel.cables).map(|cable| cable.storage).collect();
            assert_eq!(ports, (0..ports.len()).collect::<Vec<_>>());
        }
        let of = channels.iter().filter(|channel| channel.host == 1);
        let ports: Vec<usize> =
            of.flat_map(|channel| &channel.cables).map(|cable| cable.host).collect();
        assert_eq!(ports, [0, 1, 2, 3, 4, 5]);
        assert_ne!(channels[0].port_name(0, true), channels[0].port_name(0, false));
        assert_ne!(channels[0].storage_address(), channels[1].storage_address());
    }
}
