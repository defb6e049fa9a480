//! Requests that consist of several: calls in parallel, replicas and stripes on nodes.
//!
//! A part is a job with its own path; its request waits at its fork until the last part is back.
//! The time of each part counts for its components in proportion to the number of parts, so that
//! the mean part is counted; the delay by the slowest part is attributed to the fork.

use stormeter_disk::Kind;

use super::build::Place;
use super::job::{Job, NONE, RESYNC};
use super::parts::{Choice, Fork, Parts};
use super::step::Route;
use super::{KIND_SHIFT, Machine, OF_JOB};

/// The most calls into which a request is split.
const MOST_CALLS: u32 = 4096;

impl Machine {
    /// Splits a request into parts.
    pub(super) fn fork(&mut self, number: u32, fork: u32) {
        let parent = self.jobs[number];
        self.jobs[number].tail_ns = self.now_ns;
        self.jobs[number].parts = 0;
        match self.forks[fork as usize] {
            Fork::Calls { route } => self.fork_calls(number, parent, route),
            Fork::Nodes(parts) if parent.kind == Kind::Flush => {
                self.fork_flush(number, parent, parts);
            }
            Fork::Nodes(parts) => self.fork_nodes(number, parent, parts),
        }
        let cut = self.jobs[number].parts;
        if cut == 0 {
            // No replica is left.
            self.jobs[number].failed = true;
            self.joined(number);
        }
    }

    fn fork_calls(&mut self, number: u32, parent: Job, route: Route) {
        let at_once = match parent.kind {
            Kind::Read => route.read_bytes,
            Kind::Write | Kind::DurableWrite | Kind::Flush => route.write_bytes,
        };
        let each = at_once.max(parent.length_bytes.div_ceil(MOST_CALLS));
        let count = parent.length_bytes.div_ceil(each) as u16;
        let mut done = 0;
        while done < parent.length_bytes {
            let length_bytes = each.min(parent.length_bytes - done);
            let (step, _) = route.begin(parent.kind, length_bytes.min(at_once));
            self.part(
                number,
                Job {
                    offset_bytes: parent.offset_bytes + u64::from(done),
                    length_bytes,
                    moving_bytes: length_bytes,
                    step,
                    share: parent.share.saturating_mul(count),
                    ..parent
                },
            );
            done += length_bytes;
        }
    }

    fn fork_nodes(&mut self, number: u32, parent: Job, parts: Parts) {
        let Some(nodes) = &self.nodes else { return };
        let (stripe_bytes, stripes) = (nodes.stripe_bytes, u64::from(nodes.stripes));
        let replicas = nodes.replicas;
        let end_bytes = parent.offset_bytes + u64::from(parent.length_bytes.max(1));
        let units = (end_bytes - 1) / stripe_bytes - parent.offset_bytes / stripe_bytes + 1;
        let mut count = units as u16;
        if parent.kind.is_write() {
            count = count.saturating_mul(replicas as u16);
        }
        let share = parent.share.saturating_mul(count);
        let mut at = parent.offset_bytes;
        while at < end_bytes {
            let (unit, within) = (at / stripe_bytes, at % stripe_bytes);
            let length_bytes = (stripe_bytes - within).min(end_bytes - at) as u32;
            let stripe = parent.disk * stripes as u32 + (unit % stripes) as u32;
            let part = Job {
                offset_bytes: unit / stripes * stripe_bytes + within,
                length_bytes,
                moving_bytes: length_bytes,
                share,
                ..parent
            };
            match parent.kind {
                Kind::Read => {
                    let nodes = self.nodes.as_ref();
                    match nodes.and_then(|nodes| nodes.read_place(stripe, parent.disk, at)) {
                        Some(slot) => {
                            if let Some(place) = nodes.map(|nodes| nodes.places[slot as usize]) {
                                self.part_on_node(number, part, parts, (slot, place));
                            }
                        }
                        None => self.jobs[number].failed = true,
                    }
                }
                Kind::Write | Kind::DurableWrite | Kind::Flush => {
                    let mut written = 0;
                    for slot in stripe * replicas..(stripe + 1) * replicas {
                        let nodes = self.nodes.as_ref();
                        let place =
                            nodes.and_then(|nodes| nodes.written_at(slot, part.offset_bytes));
                        if let Some(place) = place {
                            self.part_on_node(number, part, parts, (slot, place));
                            written += 1;
                        }
                    }
                    self.jobs[number].failed |= written == 0;
                }
            }
            at += u64::from(length_bytes);
        }
    }

    /// A flush goes to every replica of every stripe, because each may hold some of the disk's writes in a
    /// cache; the slowest answers last.
    fn fork_flush(&mut self, number: u32, parent: Job, parts: Parts) {
        let Some(nodes) = &self.nodes else { return };
        let stripes = nodes.stripes;
        let each = nodes.replicas;
        let first = parent.disk * stripes;
        let share = parent.share.saturating_mul((stripes * each) as u16);
        for stripe in first..first + stripes {
            let mut flushed = 0;
            for slot in stripe * each..(stripe + 1) * each {
                let place = self.nodes.as_ref().and_then(|nodes| nodes.written_at(slot, 0));
                if let Some(place) = place {
                    self.part_on_node(number, Job { share, ..parent }, parts, (slot, place));
                    flushed += 1;
                }
            }
            self.jobs[number].failed |= flushed == 0;
        }
    }

    /// A part goes to the node of a place; its offset is within the piece.
    fn part_on_node(&mut self, number: u32, part: Job, parts: Parts, at: (u32, Place)) {
        let Some((step, path, job)) = self.on_node(part, parts, at) else { return };
        self.part(number, Job { step, path, ..job });
    }

    /// A part as its node sees it, with its first step and its path; `slot` is its identifier
    /// there.
    pub(super) fn on_node(
        &mut self,
        part: Job,
        parts: Parts,
        (slot, place): (u32, Place),
    ) -> Option<(u32, u16, Job)> {
        let nodes = self.nodes.as_ref()?;
        let Place { node, device, before } = place;
        let (step, path) = match parts.own {
            Some(own) if u32::from(node) == parts.host => (own.of(part.kind), 0),
            _ => {
                let path = match parts.choice {
                    Choice::First => 0,
                    Choice::Turns => {
                        let turn = &mut self.turns[parts.send as usize];
                        *turn = if *turn + 1 >= u32::from(parts.ports) { 0 } else { *turn + 1 };
                        *turn as u16
                    }
                };
                (parts.over.of(part.kind), self.standing_path(parts, node, path))
            }
        };
        let job = Job {
            offset_bytes: u64::from(before) * nodes.piece_bytes + part.offset_bytes,
            slot,
            disk: u32::from(device),
            node,
            again: nodes.is_silent(place),
            ..part
        };
        Some((step, path, job))
    }

    /// This path, or the next one whose ports are up at both ends.
    fn standing_path(&self, parts: Parts, node: u16, path: u16) -> u16 {
        if !self.any_down {
            return path;
        }
        let Some(nodes) = &self.nodes else { return path };
        let (send, receive) = nodes.node_ports;
        // Round-robin skips a failed port at once; others switch when the failure was noticed.
        let down = if parts.choice == Choice::Turns { &self.down } else { &self.noticed };
        let stands = |path: u16| {
            let at_node = u32::from(node) * u32::from(nodes.ports_per_node)
                + u32::from(path % nodes.ports_per_node);
            let at_host = parts.send + u32::from(path);
            let back = parts.receive + u32::from(path);
            [at_host, back, send + at_node, receive + at_node]
                .iter()
                .all(|&station| !down[station as usize])
        };
        let mut all = (0..parts.ports).map(|next| (path + next) % parts.ports);
        all.find(|&path| stands(path)).unwrap_or(path)
    }

    /// A part of a request starts.
    fn part(&mut self, parent: u32, job: Job) {
        let part = self.jobs.insert(Job {
            parent,
            parts: 0,
            entered_ns: self.now_ns,
            tail_ns: self.now_ns,
            moved_bytes: 0,
            failed: false,
            ..job
        });
        self.jobs[parent].parts += 1;
        self.events.push(self.now_ns, OF_JOB << KIND_SHIFT | part);
    }

    /// A part is back.
    pub(super) fn part_is_back(&mut self, part: Job) {
        if part.parent == RESYNC {
            self.chunk_is_back(part);
            return;
        }
        let parent = &mut self.jobs[part.parent];
        parent.failed |= part.failed;
        parent.parts -= 1;
        // What the part's own components were charged is not the fork's.
        let ns = self.now_ns - parent.tail_ns;
        parent.entered_ns += ns / u64::from((part.share / parent.share.max(1)).max(1));
        if parent.parts == 0 {
            self.joined(part.parent);
        }
    }

    /// The last part is back.
    fn joined(&mut self, number: u32) {
        let component = self.steps[self.jobs[number].step as usize].component;
        self.spent(number, component, self.now_ns);
        let job = &mut self.jobs[number];
        debug_assert!(job.parent == NONE, "parts are not cut again");
        job.step += 1;
        job.tail_ns = self.now_ns;
        self.events.push(self.now_ns, OF_JOB << KIND_SHIFT | number);
    }
}
