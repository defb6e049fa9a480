//! The copying itself: which node copies what next, from where, and what becomes of a chunk.

use stormeter_disk::Kind;
use stormeter_trial::ModelNote;

use super::{AT_ONCE, CHUNK_BYTES, Chunk, Copying, NO_NODE, Next, Piece, ResyncUse};
use crate::machine::build::Place;
use crate::machine::job::{Job, RESYNC};
use crate::machine::nodes::Nodes;
use crate::machine::{KIND_SHIFT, Machine, OF_FAULT, OF_JOB};

impl Nodes {
    /// Where a write of a piece goes: to its place, or to its new one as far as that has been
    /// written.
    pub(in crate::machine) fn written_at(&self, slot: u32, within: u64) -> Option<Place> {
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
    pub(super) fn source_of(&self, slot: u32, at: u64) -> Option<u32> {
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
    pub(in crate::machine) fn resync_notes(&self) -> Vec<ModelNote> {
        let (Some(nodes), Some(usage)) = (&self.nodes, self.resync()) else { return Vec::new() };
        let storage = || nodes.resync.name.clone();
        let mut notes = Vec::new();
        if usage.gone_bytes > 0 {
            let bytes = usage.gone_bytes;
            notes.push(ModelNote::NoReplicaLeft { storage: storage(), bytes });
        }
        if usage.no_room_bytes > 0 {
            let bytes = usage.no_room_bytes;
            notes.push(ModelNote::NoNodeLeft { storage: storage(), bytes });
        }
        let waited_for = |&&place: &&Place| {
            let given_up = nodes.resync.given_up.get(nodes.device(place)).copied();
            nodes.is_lost(place) && !given_up.unwrap_or(false)
        };
        let waited_for = nodes.places.iter().filter(waited_for).count() as u64 * nodes.piece_bytes;
        if waited_for > 0 {
            notes.push(ModelNote::RepairDelayed { storage: storage(), bytes: waited_for });
        }
        if usage.left_bytes > 0 {
            let bytes = usage.left_bytes;
            notes.push(ModelNote::Resyncing { storage: storage(), bytes });
        }
        notes
    }

    /// A node's turn has come.
    pub(in crate::machine) fn turn_to_take(&mut self, node: u32) {
        if let Some(nodes) = &mut self.nodes {
            nodes.resync.takers[node as usize].timer = false;
        }
        self.take_pieces(node);
    }

    /// A node continues as far as it may.
    pub(super) fn take_pieces(&mut self, node: u32) {
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
            interrupts: 1,
            again: false,
        };
        let Some((step, path, job)) = self.on_node(job, parts, (number, place)) else { return };
        let number = self.jobs.insert(Job { step, path, ..job });
        self.events.push(self.now_ns, OF_JOB << KIND_SHIFT | number);
    }

    /// A chunk was read or written.
    #[cold]
    pub(in crate::machine) fn chunk_is_back(&mut self, job: Job) {
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
    pub(in crate::machine) fn chunk_failed(&mut self, number: u32) {
        let job = self.jobs[number];
        self.jobs.free(number);
        self.chunk_is_back(Job { failed: true, ..job });
    }
}

impl Copying {
    /// The part of the piece that is certainly there.
    pub(super) fn written_bytes(&self, nodes: &Nodes) -> u64 {
        let chunk_bytes = nodes.stripe_bytes.min(CHUNK_BYTES);
        let missing = u64::from(self.under_way) + self.again.len() as u64;
        self.next.saturating_sub(missing * chunk_bytes)
    }
}
