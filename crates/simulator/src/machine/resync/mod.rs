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

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use stormeter_disk::Kind;
use stormeter_units::format_bytes;

use super::build::Place;
use super::fork::{Nodes, Parts};
use super::job::{Job, RESYNC};
use super::{KIND_SHIFT, Machine, OF_FAULT, OF_JOB};
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

impl Nodes {
    /// Where a write of a piece goes: to its place, or to its new one as far as that has been
    /// written.
    pub(super) fn written_at(&self, slot: u32, within: u64) -> Option<Place> {
        let place = self.places[slot as usize];
        if !self.is_lost(place) {
            return Some(place);
        }
        self.resync.copied(slot, within).filter(|&to| !self.is_lost(to))
    }

    /// What a node copies next.
    fn next_chunk(&mut self, node: u32, now_ns: u64) -> Next {
        let chunk_bytes = self.stripe_bytes.min(CHUNK_BYTES);
        let resync = &mut self.resync;
        let taker = &mut resync.takers[node as usize];
        if taker.copy.is_none() {
            let Some(piece) = taker.waiting.pop_front() else { return Next::Wait };
            resync.turn = resync.turn.wrapping_add(1);
            let turn = resync.turn;
            taker.copy = Some(Copying { piece, turn, next: 0, under_way: 0, again: Vec::new() });
        }
        let Some(copy) = &mut taker.copy else { return Next::Wait };
        if copy.under_way >= AT_ONCE || (copy.next >= self.piece_bytes && copy.again.is_empty()) {
            return Next::Wait;
        }
        if now_ns < taker.from_ns {
            return Next::NotBefore(taker.from_ns);
        }
        let at = copy.again.pop().unwrap_or(copy.next);
        let length = chunk_bytes.min(self.piece_bytes - at);
        copy.next = copy.next.max(at + length);
        copy.under_way += 1;
        taker.from_ns = now_ns + (length as f64 * resync.per_byte_ns) as u64;
        Next::Chunk(copy.piece, at, length as u32)
    }

    /// The replica from which a chunk of a piece is read: each of the remaining ones in turn.
    fn source_of(&self, slot: u32, at: u64) -> Option<u32> {
        let first = slot / self.replicas * self.replicas;
        let turn = (at / CHUNK_BYTES % u64::from(self.replicas)) as u32;
        let mut all = (0..self.replicas).map(|next| first + (turn + next) % self.replicas);
        all.find(|&other| other != slot && !self.is_lost(self.places[other as usize]))
    }
}

impl Machine {
    /// What happened to the data that a distributed datastore lost; `None` for any other storage.
    pub fn resync(&self) -> Option<ResyncUse> {
        let nodes = self.nodes.as_ref()?;
        let mut usage = nodes.resync.usage;
        let waiting: usize = nodes.resync.takers.iter().map(|taker| taker.waiting.len()).sum();
        usage.left_bytes = waiting as u64 * nodes.piece_bytes;
        for taker in &nodes.resync.takers {
            let Some(copy) = &taker.copy else { continue };
            usage.left_bytes += nodes.piece_bytes.saturating_sub(copy.written_bytes(nodes));
        }
        Some(usage)
    }

    /// Notes about it for a reader.
    pub(super) fn resync_notes(&self) -> Vec<String> {
        let (Some(nodes), Some(usage)) = (&self.nodes, self.resync()) else { return Vec::new() };
        let name = &nodes.resync.name;
        let mut notes = Vec::new();
        if usage.gone_bytes > 0 {
            let bytes = format_bytes(usage.gone_bytes);
            notes.push(format!("{name}: {bytes} are lost, no replica of them is left"));
        }
        if usage.no_room_bytes > 0 {
            notes.push(format!(
                "{name}: {} of lost data cannot be copied again: every other node already has a replica \
                 or no space; add nodes or devices",
                format_bytes(usage.no_room_bytes)
            ));
        }
        let waited_for = |&&place: &&Place| {
            let given_up = nodes.resync.given_up.get(nodes.device(place)).copied();
            nodes.is_lost(place) && !given_up.unwrap_or(false)
        };
        let waited_for = nodes.places.iter().filter(waited_for).count() as u64 * nodes.piece_bytes;
        if waited_for > 0 {
            notes.push(format!(
                "{name}: {} of lost data has not been copied again yet, because its node may come back; a \
                 shorter repair-delay shows the resync",
                format_bytes(waited_for)
            ));
        }
        if usage.left_bytes > 0 {
            notes.push(format!(
                "{name}: a resync was still in progress, {} of lost data had not been copied again yet",
                format_bytes(usage.left_bytes)
            ));
        }
        notes
    }

    /// A node's turn has come.
    pub(super) fn turn_to_take(&mut self, node: u32) {
        if let Some(nodes) = &mut self.nodes {
            nodes.resync.takers[node as usize].timer = false;
        }
        self.take_pieces(node);
    }

    /// A node continues as far as it may.
    fn take_pieces(&mut self, node: u32) {
        loop {
            let now_ns = self.now_ns;
            let Some(nodes) = &mut self.nodes else { return };
            match nodes.next_chunk(node, now_ns) {
                Next::Wait => return,
                Next::NotBefore(at_ns) => {
                    let resync = &mut nodes.resync;
                    if !std::mem::replace(&mut resync.takers[node as usize].timer, true) {
                        let action = resync.first_action + node;
                        self.events.push(at_ns, OF_FAULT << KIND_SHIFT | action);
                    }
                    return;
                }
                Next::Chunk(piece, at, length_bytes) => {
                    self.begin_chunk(node, piece, at, length_bytes);
                }
            }
        }
    }

    fn begin_chunk(&mut self, node: u32, piece: Piece, at: u64, length_bytes: u32) {
        let Some(nodes) = &mut self.nodes else { return };
        let Some(source) = nodes.source_of(piece.slot, at) else { return };
        let place = nodes.places[source as usize];
        let chunk = Chunk { node: node as u16, turn: nodes.resync.turn_of(node), at };
        let number = nodes.resync.chunks.insert(chunk);
        self.send_chunk(node, (number, place), Kind::Read, at, length_bytes);
    }

    /// A chunk is read at its source, or written at its destination.
    fn send_chunk(
        &mut self,
        node: u32,
        (number, place): (u32, Place),
        kind: Kind,
        at: u64,
        length_bytes: u32,
    ) {
        let Some(&parts) =
            self.nodes.as_ref().and_then(|nodes| nodes.resync.ways.get(node as usize))
        else {
            return;
        };
        let job = Job {
            offset_bytes: at,
            entered_ns: self.now_ns,
            tail_ns: self.now_ns,
            length_bytes,
            moving_bytes: length_bytes,
            moved_bytes: 0,
            slot: 0,
            disk: 0,
            step: 0,
            parent: RESYNC,
            parts: 0,
            share: 0,
            path: 0,
            node: 0,
            kind,
            failed: false,
            again: false,
        };
        let Some((step, path, job)) = self.on_node(job, parts, (number, place)) else { return };
        let number = self.jobs.insert(Job { step, path, ..job });
        self.events.push(self.now_ns, OF_JOB << KIND_SHIFT | number);
    }

    /// A chunk was read or written.
    #[cold]
    pub(super) fn chunk_is_back(&mut self, job: Job) {
        let Some(nodes) = &mut self.nodes else { return };
        let piece_bytes = nodes.piece_bytes;
        let chunk = nodes.resync.chunks[job.slot];
        let node = u32::from(chunk.node);
        let Some(copy) = nodes.resync.copy_of(chunk) else {
            nodes.resync.chunks.free(job.slot);
            return;
        };
        let piece = copy.piece;
        if job.kind == Kind::Read && !job.failed {
            self.send_chunk(node, (job.slot, piece.to), Kind::Write, chunk.at, job.length_bytes);
            return;
        }
        copy.under_way -= 1;
        if job.failed {
            copy.again.push(chunk.at);
        }
        let whole = copy.next >= piece_bytes && copy.under_way == 0 && copy.again.is_empty();
        let resync = &mut nodes.resync;
        resync.chunks.free(job.slot);
        if !job.failed {
            resync.usage.copied_bytes += u64::from(job.length_bytes);
        }
        if whole {
            resync.takers[node as usize].copy = None;
            resync.taken_by[piece.slot as usize] = NO_NODE;
            nodes.places[piece.slot as usize] = piece.to;
        }
        self.take_pieces(node);
    }

    /// A chunk's path or node failed under it.
    pub(super) fn chunk_failed(&mut self, number: u32) {
        let job = self.jobs[number];
        self.jobs.free(number);
        self.chunk_is_back(Job { failed: true, ..job });
    }
}

impl Resync {
    fn turn_of(&self, node: u32) -> u32 {
        self.takers[node as usize].copy.as_ref().map_or(0, |copy| copy.turn)
    }
}

impl Copying {
    /// The part of the piece that is certainly there.
    fn written_bytes(&self, nodes: &Nodes) -> u64 {
        let chunk_bytes = nodes.stripe_bytes.min(CHUNK_BYTES);
        let missing = u64::from(self.under_way) + self.again.len() as u64;
        self.next.saturating_sub(missing * chunk_bytes)
    }
}
