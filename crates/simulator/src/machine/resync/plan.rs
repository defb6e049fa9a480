//! Which node takes which of the pieces that were given up.
//!
//! The rule is that of the first placement: no two replicas of a stripe on one node, then the node with
//! the fewest pieces of the object, then with the fewest of all, then at random, and there the device
//! with the fewest; or a hash decides, as there. A piece that no node can take waits until something changes, for example a node
//! comes back.

use rand_xoshiro::rand_core::Rng;
use stormeter_site::Distribution;

use super::super::Machine;
use super::super::build::Place;
use super::super::fault::Action;
use super::super::nodes::Nodes;
use super::{NO_NODE, Piece, ResyncUse, Taker};

impl Machine {
    /// A lost device of a node, or all of its devices, are no longer waited for.
    #[cold]
    pub(in crate::machine) fn give_up(&mut self, node: u32, device: Option<u32>) {
        let first_action = self.actions.len() as u32;
        let Some(nodes) = &mut self.nodes else { return };
        let count = (nodes.lost.len() / nodes.devices.max(1) as usize) as u32;
        if nodes.resync.takers.is_empty() {
            nodes.resync.first_action = first_action;
            nodes.resync.takers.resize_with(count as usize, Taker::default);
            nodes.resync.taken_by = vec![NO_NODE; nodes.places.len()];
            nodes.resync.given_up = vec![false; nodes.lost.len()];
            self.actions.extend((0..count).map(|node| Action::Take { node }));
        }
        for device in nodes.devices_of(node, device) {
            if !nodes.lost[device] || nodes.resync.given_up[device] {
                continue;
            }
            nodes.resync.given_up[device] = true;
            let pieces = nodes.places.iter().filter(|&&place| nodes.device(place) == device);
            nodes.resync.usage.lost_bytes += pieces.count() as u64 * nodes.piece_bytes;
        }
        self.plan_resync();
    }

    /// Devices were lost or have come back.
    pub(in crate::machine) fn plan_resync(&mut self) {
        let Some(nodes) = &mut self.nodes else { return };
        if nodes.resync.takers.is_empty() {
            return;
        }
        nodes.forget_stale();
        nodes.give_places();
        for node in 0..nodes.resync.takers.len() as u32 {
            self.take_pieces(node);
        }
    }
}

/// Pieces on nodes and devices.
struct Held {
    /// By node, number of pieces.
    on_node: Vec<u32>,
    /// By device of all nodes, number of used places.
    on_device: Vec<u32>,
}

impl Nodes {
    /// Pieces are not copied if their device is back, their new place is lost, or nothing of them is
    /// left.
    fn forget_stale(&mut self) {
        for device in 0..self.lost.len() {
            self.resync.given_up[device] &= self.lost[device];
        }
        let mut takers = std::mem::take(&mut self.resync.takers);
        for taker in &mut takers {
            taker.waiting.retain(|&piece| self.still(piece));
            taker.copy.take_if(|copy| !self.still(copy.piece));
        }
        self.resync.takers = takers;
        self.resync.taken_by.fill(NO_NODE);
        for (node, taker) in self.resync.takers.iter().enumerate() {
            let copy = taker.copy.iter().map(|copy| copy.piece);
            for piece in taker.waiting.iter().copied().chain(copy) {
                self.resync.taken_by[piece.slot as usize] = node as u16;
            }
        }
    }

    fn still(&self, piece: Piece) -> bool {
        self.is_lost(self.places[piece.slot as usize])
            && !self.is_lost(piece.to)
            && self.source_of(piece.slot, 0).is_some()
    }

    /// All pieces that were given up get a new place, if there is one.
    fn give_places(&mut self) {
        let mut held = self.held();
        let mut usage = ResyncUse { no_room_bytes: 0, gone_bytes: 0, ..self.resync.usage };
        for slot in 0..self.places.len() as u32 {
            let place = self.places[slot as usize];
            let given_up = self.is_lost(place) && self.resync.given_up[self.device(place)];
            if !given_up || self.resync.taken_by[slot as usize] != NO_NODE {
                continue;
            }
            if self.source_of(slot, 0).is_none() {
                usage.gone_bytes += self.piece_bytes;
                continue;
            }
            let Some(to) = self.new_place(slot, &held) else {
                usage.no_room_bytes += self.piece_bytes;
                continue;
            };
            held.on_node[usize::from(to.node)] += 1;
            held.on_device[self.device(to)] += 1;
            self.resync.taken_by[slot as usize] = to.node;
            self.resync.takers[usize::from(to.node)].waiting.push_back(Piece { slot, to });
        }
        self.resync.usage = usage;
    }

    fn held(&self) -> Held {
        let devices = self.devices.max(1) as usize;
        let mut held = Held {
            on_node: vec![0; self.lost.len() / devices],
            on_device: vec![0; self.lost.len()],
        };
        let takers = self.resync.takers.iter();
        let to_come = takers.flat_map(|taker| {
            taker.waiting.iter().copied().chain(taker.copy.iter().map(|copy| copy.piece))
        });
        for place in self.places.iter().copied().chain(to_come.map(|piece| piece.to)) {
            let used = &mut held.on_device[self.device(place)];
            *used = (*used).max(place.before + 1);
            held.on_node[usize::from(place.node)] += u32::from(!self.is_lost(place));
        }
        held
    }

    /// Where a piece is, or will be; `None` if it is lost.
    fn will_be_at(&self, slot: u32) -> Option<Place> {
        let place = self.places[slot as usize];
        if !self.is_lost(place) {
            return Some(place);
        }
        let taker = self.resync.takers.get(usize::from(self.resync.taken_by[slot as usize]))?;
        let copy = taker.copy.iter().map(|copy| copy.piece);
        let mut all = taker.waiting.iter().rev().copied().chain(copy);
        all.find(|piece| piece.slot == slot).map(|piece| piece.to)
    }

    fn new_place(&mut self, slot: u32, held: &Held) -> Option<Place> {
        let each = self.stripes * self.replicas;
        let (object, stripe) = (slot / each * each, slot / self.replicas * self.replicas);
        let mut of_object = vec![0u32; held.on_node.len()];
        let mut has_replica = vec![false; held.on_node.len()];
        for other in object..object + each {
            let Some(place) = self.will_be_at(other) else { continue };
            of_object[usize::from(place.node)] += 1;
            has_replica[usize::from(place.node)] |= other / self.replicas * self.replicas == stripe;
        }
        let mut best = None;
        for node in 0..held.on_node.len() {
            if has_replica[node] {
                continue;
            }
            let first = node * self.devices as usize;
            for device in first..first + self.devices as usize {
                let used = held.on_device[device];
                if self.lost[device] || u64::from(used) >= self.resync.pieces_per_device {
                    continue;
                }
                let counts = [of_object[node], held.on_node[node], used];
                let key = match self.distribution {
                    Distribution::Even => counts,
                    Distribution::Hash => [0; 3],
                };
                let key = (key, self.resync.random.next_u64(), node, device - first, used);
                best = best.map_or(Some(key), |other: (_, _, _, _, _)| Some(key.min(other)));
            }
        }
        let (_, _, node, device, before) = best?;
        Some(Place { node: node as u16, device: device as u16, before })
    }
}
