//! Faults as callers of the machine describe them, and the actions that each becomes.

use super::map::{Disks, Owner};
use super::{Action, NEVER_NS};
use crate::machine::Machine;
use crate::machine::nodes::Nodes;
use crate::storage::DiskFault;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteFault {
    /// The time at which it starts, in virtual time.
    pub at_ns: u64,
    /// How long it lasts; `None`: until the end.
    pub for_ns: Option<u64>,
    /// The failure.
    pub broken: Broken,
}

/// A failure. Parts are given as indices into the site's lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Broken {
    /// A disk of a group is lost; disks are numbered across all controllers or hosts with such a group.
    DiskLost {
        /// Index into [`stormeter_site::Site::groups`].
        group: usize,
        /// Number of the disk.
        disk: u32,
    },
    /// A lost disk is replaced by a new one, which becomes a spare if a spare already took its place.
    DiskReplaced {
        /// Index into [`stormeter_site::Site::groups`].
        group: usize,
        /// Number of the disk.
        disk: u32,
    },
    /// A disk of a group is slower by a factor.
    DiskSlow {
        /// Index into [`stormeter_site::Site::groups`].
        group: usize,
        /// Number of the disk.
        disk: u32,
        /// The factor by which its requests take longer.
        times: f64,
    },
    /// A capacity device of a distributed datastore is lost; devices are numbered across all nodes.
    CapacityLost {
        /// Index into [`stormeter_site::Site::clusters`].
        cluster: usize,
        /// Number of the device.
        disk: u32,
    },
    /// A capacity device of a distributed datastore is slower by a factor.
    CapacitySlow {
        /// Index into [`stormeter_site::Site::clusters`].
        cluster: usize,
        /// Number of the device.
        disk: u32,
        /// The factor by which its requests take longer.
        times: f64,
    },
    /// A port of every host of a group is down.
    HostPathDown {
        /// Index into [`stormeter_site::Site::hosts`].
        hosts: usize,
        /// Index into its adapters.
        adapter: usize,
        /// Number of the port.
        port: u32,
    },
    /// A port of every controller of a kind is down.
    ControllerPathDown {
        /// Index into [`stormeter_site::Site::controllers`].
        controller: usize,
        /// Index into its ports.
        adapter: usize,
        /// Number of the port.
        port: u32,
    },
    /// Nothing passes a network.
    LinkDown {
        /// Index into [`stormeter_site::Site::networks`].
        network: usize,
    },
    /// The data of a node is lost.
    NodeLost {
        /// Index into [`stormeter_site::Site::hosts`].
        hosts: usize,
        /// Number of the node.
        node: u32,
    },
}

/// The largest factor by which a disk is slow: a request of milliseconds then takes seconds, and hosts give
/// up after tens of seconds.
const MOST_TIMES: f64 = 1000.0;

/// Why a fault cannot be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum FaultError {
    /// Out of range.
    #[error("there is no {what} {number}: there are {count}, counted from 0; name one of them")]
    NoSuch {
        /// Disk, port or node.
        what: &'static str,
        /// The number asked for.
        number: u32,
        /// The number of such parts.
        count: u32,
    },
    /// A lost disk does not return.
    #[error("a lost disk does not come back; leave out how long, or make it slow for that time")]
    NoReturn,
    /// The factor must be at least 1, and not so large that nothing would ever complete.
    #[error(
        "a slow disk takes 1 to {MOST_TIMES} times as long, not {times:?}; write 10x, say, or lost if it \
         does not answer any more"
    )]
    NotSlow {
        /// The factor asked for.
        times: f64,
    },
}

impl Machine {
    /// The actions of a fault in this machine, with their times.
    pub(super) fn planned(&self, fault: &SiteFault) -> Result<Vec<(u64, Action)>, FaultError> {
        let at_ns = fault.at_ns;
        let end_ns = fault.for_ns.map_or(NEVER_NS, |for_ns| at_ns.saturating_add(for_ns));
        let end_ns = end_ns.min(NEVER_NS);
        match fault.broken {
            Broken::DiskLost { .. } | Broken::CapacityLost { .. } if fault.for_ns.is_some() => {
                Err(FaultError::NoReturn)
            }
            Broken::DiskSlow { times, .. } | Broken::CapacitySlow { times, .. }
                if !(1.0..=MOST_TIMES).contains(&times) =>
            {
                Err(FaultError::NotSlow { times })
            }
            Broken::DiskLost { group, disk } => {
                let found = self.group_disk(group, disk)?;
                let lost = |(store, disk)| (at_ns, Action::Disk(store, DiskFault::Lost(disk)));
                Ok(found.map(lost).into_iter().collect())
            }
            Broken::DiskReplaced { group, disk } => {
                let found = self.group_disk(group, disk)?;
                let new = |(store, disk)| (at_ns, Action::Disk(store, DiskFault::Replaced(disk)));
                Ok(found.map(new).into_iter().collect())
            }
            Broken::DiskSlow { group, disk, times } => {
                Ok(slow(self.group_disk(group, disk)?, times, at_ns, end_ns))
            }
            Broken::CapacityLost { cluster, disk } => {
                let Some((_, node, disk)) = self.capacity(cluster, disk)? else {
                    return Ok(Vec::new());
                };
                // A lost device does not return, so it is given up without delay.
                Ok(self.data_lost((node, Some(disk)), at_ns, NEVER_NS, 0))
            }
            Broken::CapacitySlow { cluster, disk, times } => {
                let found = self.capacity(cluster, disk)?;
                Ok(slow(found.map(|(store, _, disk)| (store, disk)), times, at_ns, end_ns))
            }
            Broken::HostPathDown { hosts, adapter, port } => {
                self.path_down(Owner::Hosts(hosts, adapter), port, at_ns, end_ns)
            }
            Broken::ControllerPathDown { controller, adapter, port } => {
                self.path_down(Owner::Controllers(controller, adapter), port, at_ns, end_ns)
            }
            Broken::LinkDown { network } => {
                let Some(line) = self.map.line(network) else { return Ok(Vec::new()) };
                let until_ns = match self.map.failover_ns {
                    0 => end_ns,
                    failover_ns => end_ns.min(at_ns.saturating_add(failover_ns)),
                };
                Ok(vec![(at_ns, Action::LinkDown { line, until_ns })])
            }
            Broken::NodeLost { hosts, node } => {
                let found = self.map.disks.iter().find_map(|disks| match *disks {
                    Disks::Cluster { hosts: of, nodes, .. } if of == hosts => Some(nodes),
                    _ => None,
                });
                let Some(count) = found else { return Ok(Vec::new()) };
                in_range("node", node, count)?;
                let delay = |nodes: &Nodes| nodes.resync.repair_delay_ns;
                let delay_ns = self.nodes.as_ref().map_or(NEVER_NS, delay);
                Ok(self.data_lost((node, None), at_ns, end_ns, delay_ns))
            }
        }
    }

    /// The data of a node or of one of its devices stops answering, is then known to be lost, is given up
    /// after a delay unless it returned before, and returns.
    fn data_lost(
        &self,
        (node, device): (u32, Option<u32>),
        at_ns: u64,
        end_ns: u64,
        delay_ns: u64,
    ) -> Vec<(u64, Action)> {
        let noticed_ns = at_ns.saturating_add(self.map.failover_ns).min(end_ns);
        let mut actions = vec![
            (at_ns, Action::Silent { node, device }),
            (noticed_ns, Action::Data { node, device, lost: true }),
        ];
        let given_up_ns = noticed_ns.saturating_add(delay_ns);
        if given_up_ns < end_ns {
            actions.push((given_up_ns, Action::GiveUp { node, device }));
        }
        actions.push((end_ns, Action::Data { node, device, lost: false }));
        actions
    }

    /// The storage and its disk; `None` if the datastore does not use the group.
    fn group_disk(&self, of: usize, disk: u32) -> Result<Option<(u32, u32)>, FaultError> {
        for disks in &self.map.disks {
            if let Disks::Group { group, store, stores, each } = *disks
                && group == of
            {
                in_range("disk", disk, stores * each)?;
                return Ok(Some((store + disk / each, disk % each)));
            }
        }
        Ok(None)
    }

    /// The storage, node and device; `None` if the datastore is not on this cluster.
    fn capacity(&self, of: usize, disk: u32) -> Result<Option<(u32, u32, u32)>, FaultError> {
        for disks in &self.map.disks {
            if let Disks::Cluster { cluster, store, nodes, each, .. } = *disks
                && cluster == of
            {
                in_range("disk", disk, nodes * each)?;
                return Ok(Some((store + disk / each, disk / each, disk % each)));
            }
        }
        Ok(None)
    }

    fn path_down(
        &self,
        owner: Owner,
        port: u32,
        at_ns: u64,
        until_ns: u64,
    ) -> Result<Vec<(u64, Action)>, FaultError> {
        let noticed_ns = at_ns.saturating_add(self.map.failover_ns).min(until_ns);
        let mut actions = Vec::new();
        for (set, about) in self.map.sets.iter().enumerate() {
            if about.owner == owner {
                in_range("port", port, about.count)?;
                let set = set as u32;
                actions.push((at_ns, Action::PortDown { set, port, until_ns }));
                actions.push((until_ns, Action::PortUp { set, port }));
            }
        }
        if !actions.is_empty() {
            actions.push((noticed_ns, Action::FailOver));
        }
        // In order of time: a failure that is noticed at once is noticed after it happened.
        actions.sort_by_key(|(at_ns, _)| *at_ns);
        Ok(actions)
    }
}

fn in_range(what: &'static str, number: u32, count: u32) -> Result<(), FaultError> {
    match number < count {
        true => Ok(()),
        false => Err(FaultError::NoSuch { what, number, count }),
    }
}

fn slow(found: Option<(u32, u32)>, times: f64, at_ns: u64, end_ns: u64) -> Vec<(u64, Action)> {
    let Some((store, disk)) = found else { return Vec::new() };
    vec![
        (at_ns, Action::Disk(store, DiskFault::Slow(disk, times))),
        (end_ns, Action::Disk(store, DiskFault::Slow(disk, 1.0))),
    ]
}
