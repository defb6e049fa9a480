//! The nodes of a distributed datastore: which piece of a virtual disk is where, and what is lost.

use stormeter_site::{Distribution, ReplicaReads};

use super::Resync;
use super::build::Place;
use super::mix::mixed;

/// The nodes of a distributed datastore, and the places of all pieces.
#[derive(Debug)]
pub(crate) struct Nodes {
    /// By virtual disk, stripe and replica.
    pub(crate) places: Vec<Place>,
    pub(crate) stripes: u32,
    pub(crate) replicas: u32,
    /// Capacity devices per node.
    pub(crate) devices: u32,
    pub(crate) stripe_bytes: u64,
    /// Where pieces go.
    pub(crate) distribution: Distribution,
    /// Which replicas answer reads.
    pub(crate) reads: ReplicaReads,
    /// Space of a piece on its device.
    pub(crate) piece_bytes: u64,
    /// By node and device: whether the data there is lost.
    pub(crate) lost: Vec<bool>,
    pub(crate) any_lost: bool,
    /// By node and device: whether it has stopped answering without this being noticed yet.
    pub(crate) silent: Vec<bool>,
    pub(crate) any_silent: bool,
    /// First stations of the nodes' ports: send, receive.
    pub(crate) node_ports: (u32, u32),
    pub(crate) ports_per_node: u16,
    /// Copies that are being recreated.
    pub(crate) resync: Resync,
}

/// Reads of one region of this size go to the same replica, so that no two caches contain it.
const REGION_BYTES: u64 = 1 << 20;

impl Nodes {
    pub(crate) fn is_lost(&self, place: Place) -> bool {
        self.any_lost && self.lost[self.device(place)]
    }

    pub(super) fn is_silent(&self, place: Place) -> bool {
        self.any_silent && self.silent[self.device(place)]
    }

    pub(super) fn device(&self, place: Place) -> usize {
        usize::from(place.node) * self.devices as usize + usize::from(place.device)
    }

    /// The devices of a node, or one of them, among those of all nodes.
    pub(crate) fn devices_of(&self, node: u32, device: Option<u32>) -> std::ops::Range<usize> {
        let first = (node * self.devices) as usize;
        match device {
            Some(device) => first + device as usize..first + device as usize + 1,
            None => first..first + self.devices as usize,
        }
    }

    /// Which replica of a stripe answers reads of a region: the index of its place.
    pub(super) fn read_place(&self, stripe: u32, disk: u32, offset_bytes: u64) -> Option<u32> {
        let region = (offset_bytes / REGION_BYTES) as u32;
        let chosen = match self.reads {
            ReplicaReads::All => mixed(region ^ mixed(disk)) % self.replicas,
            ReplicaReads::Primary => 0,
        };
        let first = stripe * self.replicas;
        let all = (0..self.replicas).map(|next| first + (chosen + next) % self.replicas);
        // The chosen one unless it is lost.
        let mut standing = all.filter(|&place| !self.is_lost(self.places[place as usize]));
        standing.next()
    }
}
