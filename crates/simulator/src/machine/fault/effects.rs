//! The effects of faults that a reader of a trial must know: whether they affected anything, which bytes were
//! lost, and what was assumed about the VMs of a lost node.

use stormeter_units::{format_bytes, format_duration_ns};

use super::{FaultError, SiteFault};
use crate::machine::Machine;
use crate::machine::parts::Fork;
use crate::storage::Outage;

impl Machine {
    /// Whether a fault affects a part that this datastore uses.
    ///
    /// # Errors
    /// As [`Machine::schedule`].
    pub fn concerns(&self, fault: &SiteFault) -> Result<bool, FaultError> {
        Ok(!self.planned(fault)?.is_empty())
    }

    /// A line for each storage that lost bytes that VMs had written: requests for them fail.
    pub fn losses(&self) -> Vec<String> {
        let mut losses = self.outages();
        if let Some(nodes) = &self.nodes {
            let is_gone = |&place| nodes.is_lost(place);
            let stripes = nodes.places.chunks(nodes.replicas.max(1) as usize);
            let gone = stripes.filter(|replicas| replicas.iter().all(is_gone)).count() as u64;
            if gone > 0 {
                let (name, bytes) = (&nodes.resync.name, format_bytes(gone * nodes.piece_bytes));
                losses.push(format!("{name}: no replica is there of {bytes} of virtual disks"));
            }
        }
        losses
    }

    /// Arrays that went offline.
    pub(in crate::machine) fn outages(&self) -> Vec<String> {
        let described = |outage: Outage| {
            let Outage { component, since_ns, disks, bears, dirty_bytes } = outage;
            let name = &self.components[component as usize].name;
            let memory = match dirty_bytes {
                0 => String::new(),
                bytes => format!(", and {} that only its memory had", format_bytes(bytes)),
            };
            format!(
                "{name}: offline since {}, {disks} of the disks that keep each other's bytes are lost or \
                 not rebuilt and they bear {bears}; what they had is gone{memory}",
                format_duration_ns(since_ns as f64)
            )
        };
        self.stores.iter().filter_map(|store| store.outage()).map(described).collect()
    }

    /// Nodes that were lost while VMs ran on them.
    pub(in crate::machine) fn node_notes(&self) -> Vec<String> {
        let Some(nodes) = &self.nodes else { return Vec::new() };
        let runs_vms = |node: u32| {
            self.forks.iter().any(|fork| match fork {
                Fork::Nodes(parts) => parts.own.is_some() && parts.host == node,
                Fork::Calls { .. } => false,
            })
        };
        let lost = self.lost_nodes.iter().filter(|(node, _)| runs_vms(*node));
        let notes = lost.map(|&(node, at_ns)| {
            format!(
                "{}: node {node} was lost at {}; its VMs are taken to go on at once, on a host like it \
                 without data",
                nodes.resync.name,
                format_duration_ns(at_ns as f64)
            )
        });
        notes.collect()
    }
}
