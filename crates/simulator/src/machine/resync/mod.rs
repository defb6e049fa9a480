//! Recreation of copies that a distributed datastore has lost (resync).
//!
//! When a lost device is given up, at once if it is broken and after the cluster's delay if its node
//! merely does not answer, each of its pieces gets a new place by the rule of the first placement. Each
//! node takes its new pieces one after another: it reads chunks from a remaining replica, over the ports
//! and with the CPUs of both nodes, and writes them like any write, into its flash first. Two chunks are
//! in progress at a time, so that reading and writing overlap, and never more than the site's rate
//! allows. Writes of VMs go to the new place too as far as the copy has progressed; reads when it is
//! complete. Chunks compete with the load for the same resources; their time is part of no response
//! time.

mod plan;
mod work;

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::build::Place;
use super::parts::Parts;
use crate::slab::Slab;

/// The largest chunk, the same as of a rebuild: a unit of a stripe, but at most this.
const CHUNK_BYTES: u64 = 1 << 20;
/// Chunks that a node has in progress, like a rebuild.
const AT_ONCE: u32 = 2;
/// No node copies the piece.
const NO_NODE: u16 = u16::MAX;

/// What happened to the data that a distributed datastore lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResyncUse {
    /// Bytes of the pieces that were given up.
    pub lost_bytes: u64,
    /// Bytes written to their new places.
    pub copied_bytes: u64,
    /// Bytes of pieces with a new place that are not complete there.
    pub left_bytes: u64,
    /// Bytes of pieces that no node can take: each has another replica, or no space.
    pub no_room_bytes: u64,
    /// Bytes of pieces of which no replica is left.
    pub gone_bytes: u64,
}

/// The nodes' part in it.
#[derive(Debug)]
pub(crate) struct Resync {
    /// The cluster's name.
    pub(crate) name: String,
    /// By node: how it reaches the others. Empty without replicas.
    pub(crate) ways: Vec<Parts>,
    pub(crate) repair_delay_ns: u64,
    /// Time per byte at the site's rate limit; 0: unlimited.
    pub(crate) per_byte_ns: f64,
    /// Pieces that fit on a device.
    pub(crate) pieces_per_device: u64,
    pub(crate) random: Xoshiro256PlusPlus,
    /// By node; empty before anything is given up.
    takers: Vec<Taker>,
    /// The action for the first node's turn; those of the others follow.
    first_action: u32,
    /// By place: the node that takes it, or [`NO_NODE`].
    taken_by: Vec<u16>,
    /// By device of all nodes: whether it was given up.
    given_up: Vec<bool>,
    chunks: Slab<Chunk>,
    /// Number of copies started: identifies chunks of one that was given up.
    turn: u32,
    usage: ResyncUse,
}

/// A node that takes pieces.
#[derive(Debug, Default)]
struct Taker {
    waiting: VecDeque<Piece>,
    copy: Option<Copying>,
    /// When the next chunk may start.
    from_ns: u64,
    /// Whether an event is scheduled for it.
    timer: bool,
}

/// A piece and its new place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// The index of its place.
    slot: u32,
    to: Place,
}

/// A piece that is being copied.
#[derive(Debug)]
struct Copying {
    piece: Piece,
    turn: u32,
    /// Where the next chunk starts.
    next: u64,
    under_way: u32,
    /// Where chunks start that failed in transit.
    again: Vec<u64>,
}

/// A chunk in progress.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    node: u16,
    turn: u32,
    /// Where it starts in the piece.
    at: u64,
}

/// What a node does next.
enum Next {
    /// The chunk that starts there, with this length.
    Chunk(Piece, u64, u32),
    NotBefore(u64),
    Wait,
}

impl Resync {
    pub(crate) fn new(
        name: &str,
        ways: Vec<Parts>,
        (repair_delay_ns, bytes_per_s): (u64, Option<f64>),
        pieces_per_device: u64,
        random: Xoshiro256PlusPlus,
    ) -> Self {
        Self {
            name: name.into(),
            ways,
            repair_delay_ns,
            per_byte_ns: bytes_per_s.map_or(0.0, |rate| 1e9 / rate),
            pieces_per_device,
            random,
            takers: Vec::new(),
            first_action: 0,
            taken_by: Vec::new(),
            given_up: Vec::new(),
            chunks: Slab::default(),
            turn: 0,
            usage: ResyncUse::default(),
        }
    }

    /// The new place of a piece, if the copy there has progressed this far.
    fn copied(&self, slot: u32, within: u64) -> Option<Place> {
        let node = *self.taken_by.get(slot as usize)?;
        let copy = self.takers.get(usize::from(node))?.copy.as_ref()?;
        (copy.piece.slot == slot && within < copy.next).then_some(copy.piece.to)
    }

    fn copy_of(&mut self, chunk: Chunk) -> Option<&mut Copying> {
        let copy = self.takers[usize::from(chunk.node)].copy.as_mut()?;
        (copy.turn == chunk.turn).then_some(copy)
    }
}

impl Resync {
    fn turn_of(&self, node: u32) -> u32 {
        self.takers[node as usize].copy.as_ref().map_or(0, |copy| copy.turn)
    }
}
