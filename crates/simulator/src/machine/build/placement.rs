//! Where a distributed datastore places the pieces of virtual disks.
//!
//! An object (a virtual disk) has a number of stripes, and each stripe a number of replicas. A
//! piece (one replica of one stripe) is on one capacity device. Replicas of a stripe are never on
//! the same node; beyond that each piece goes to the node with the fewest pieces of this object,
//! then the fewest of all, then at random; and there to the device with the fewest pieces. Or it goes to
//! any node and device, as a hash decides.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_site::Distribution;

/// The place of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: u16,
    /// Index of the node's capacity device.
    pub(crate) device: u16,
    /// Number of pieces before it on that device.
    pub(crate) before: u32,
}

/// The pieces to place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces {
    pub(super) objects: u32,
    pub(super) stripes: u32,
    pub(super) replicas: u32,
    pub(super) nodes: u32,
    /// Capacity devices per node.
    pub(super) devices: u32,
    pub(super) distribution: Distribution,
}

/// The most pieces in a machine: each takes some twenty bytes, and its number has 32 bits. A thousand
/// hosts with a hundred VMs of twelve stripes and two replicas each have 2.4 million.
pub(super) const MOST_PIECES: u64 = 16_000_000;

impl Pieces {
    /// Number of pieces; `None` if there are more than [`MOST_PIECES`].
    pub(super) fn count(&self) -> Option<usize> {
        let Pieces { objects, stripes, replicas, .. } = *self;
        let count = u128::from(objects) * u128::from(stripes) * u128::from(replicas);
        usize::try_from(count).ok().filter(|&count| count as u64 <= MOST_PIECES)
    }
}

/// By object, stripe and replica. There are at least as many nodes as replicas, and no more pieces than
/// the limit.
pub(super) fn placed(pieces: Pieces, seed: u64) -> Vec<Place> {
    let Pieces { objects, stripes, replicas, nodes, devices, distribution } = pieces;
    let fewest = |count: u32| if distribution == Distribution::Even { count } else { 0 };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x706c_6163_656d_656e);
    let mut on_node = vec![0u32; nodes as usize];
    let mut on_device = vec![0u32; nodes as usize * devices as usize];
    let mut of_object = vec![0u32; nodes as usize];
    let mut places = Vec::with_capacity(pieces.count().unwrap_or_default());
    for _ in 0..objects {
        of_object.fill(0);
        for _ in 0..stripes {
            let stripe = places.len();
            for _ in 0..replicas {
                let taken = |node: u32, places: &[Place]| {
                    places[stripe..].iter().any(|place| u32::from(place.node) == node)
                };
                let free = (0..nodes).filter(|&node| !taken(node, &places));
                let node = free
                    .map(|node| {
                        let (here, all) = (of_object[node as usize], on_node[node as usize]);
                        (fewest(here), fewest(all), random.next_u64(), node)
                    })
                    .min()
                    .map_or(0, |(.., node)| node);
                let first = node as usize * devices as usize;
                let device = (0..devices)
                    .map(|device| {
                        (fewest(on_device[first + device as usize]), random.next_u64(), device)
                    })
                    .min()
                    .map_or(0, |(.., device)| device);
                let before = on_device[first + device as usize];
                on_device[first + device as usize] += 1;
                on_node[node as usize] += 1;
                of_object[node as usize] += 1;
                places.push(Place { node: node as u16, device: device as u16, before });
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: Pieces = Pieces {
        objects: 1,
        stripes: 3,
        replicas: 2,
        nodes: 4,
        devices: 3,
        distribution: Distribution::Even,
    };

    #[test]
    fn pieces_are_counted_without_overflow() {
        let of =
            |objects, stripes, replicas| Pieces { objects, stripes, replicas, ..PIECES }.count();
        assert_eq!(of(100_000, 12, 2), Some(2_400_000));
        assert_eq!(of(4_000_000, 2, 2), Some(16_000_000));
        assert_eq!(of(4_000_001, 2, 2), None);
        // 2^32 and 2^33: would be zero if counted in 32 bits.
        assert_eq!(of(1 << 16, 1 << 16, 1), None);
        assert_eq!(of(1 << 31, 1, 4), None);
        assert_eq!(of(u32::MAX, u32::MAX, u32::MAX), None);
    }

    #[test]
    fn replicas_are_apart_and_pieces_spread() {
        let pieces = Pieces { objects: 30, ..PIECES };
        let places = placed(pieces, 5);
        assert!(places.chunks(2).all(|pair| pair[0].node != pair[1].node), "{places:?}");
        let mut counts = [0; 12];
        for place in &places {
            counts[usize::from(place.node) * 3 + usize::from(place.device)] += 1;
        }
        assert!(counts.iter().all(|count| (13..=17).contains(count)), "{counts:?}");
        // Six pieces of an object over four nodes: two or one on each.
        for object in places.chunks(6) {
            let on = |node| object.iter().filter(|place| place.node == node).count();
            assert!((0..4).all(|node| (1..=2).contains(&on(node))), "{object:?}");
        }
        assert_eq!(places, placed(pieces, 5));
        assert_ne!(places, placed(pieces, 6));
    }

    #[test]
    fn a_hash_lets_stripes_share_devices_and_keeps_replicas_apart() {
        let pieces = Pieces { objects: 4000, distribution: Distribution::Hash, ..PIECES };
        let places = placed(pieces, 5);
        assert!(places.chunks(2).all(|pair| pair[0].node != pair[1].node));
        // Three primaries over four nodes: all on different ones in 4 * 3 * 2 / 64 of objects.
        let nodes_of = |object: &[Place]| {
            let mut nodes: Vec<u16> = object.iter().step_by(2).map(|place| place.node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes.len()
        };
        let apart = places.chunks(6).filter(|object| nodes_of(object) == 3).count();
        assert!((1400..1600).contains(&apart), "{apart} of 4000");
        assert_eq!(places, placed(pieces, 5));
    }
}
