//! The effects of faults that a reader of a trial must know: whether they affected anything, which bytes were
//! lost, and what was assumed about the VMs of a lost node.

use stormeter_trial::{Loss, ModelNote};

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

    /// A loss for each storage that lost bytes that VMs had written: requests for them fail.
    pub fn losses(&self) -> Vec<Loss> {
        let mut losses = self.outages();
        if let Some(nodes) = &self.nodes {
            let is_gone = |&place| nodes.is_lost(place);
            let stripes = nodes.places.chunks(nodes.replicas.max(1) as usize);
            let gone = stripes.filter(|replicas| replicas.iter().all(is_gone)).count() as u64;
            if gone > 0 {
                let (storage, bytes) = (nodes.resync.name.clone(), gone * nodes.piece_bytes);
                losses.push(Loss::NoReplica { storage, bytes });
            }
        }
        losses
    }

    /// Arrays that went offline.
    pub(in crate::machine) fn outages(&self) -> Vec<Loss> {
        let described = |outage: Outage| {
            let Outage { component, since_ns, disks, bears, dirty_bytes } = outage;
            let component = self.components[component as usize].name.clone();
            Loss::Offline { component, since_ns, disks, bears, dirty_bytes }
        };
        self.stores.iter().filter_map(|store| store.outage()).map(described).collect()
    }

    /// Nodes that were lost while VMs ran on them.
    pub(in crate::machine) fn node_notes(&self) -> Vec<ModelNote> {
        let Some(nodes) = &self.nodes else { return Vec::new() };
        let runs_vms = |node: u32| {
            self.forks.iter().any(|fork| match fork {
                Fork::Nodes(parts) => parts.own.is_some() && parts.host == node,
                Fork::Calls { .. } => false,
            })
        };
        let lost = self.lost_nodes.iter().filter(|(node, _)| runs_vms(*node));
        let notes = lost.map(|&(node, at_ns)| {
            let storage = nodes.resync.name.clone();
            ModelNote::NodeLost { storage, node, at_ns }
        });
        notes.collect()
    }
}
