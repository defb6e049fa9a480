//! A node of a distributed datastore: disk groups, each with flash in front of capacity devices.
//!
//! Reads are answered by the read cache in flash, by the write buffer if the bytes are still in it, or
//! by a capacity device, whose answer then also fills the cache. Writes complete when the flash has
//! them for good, as a durable write and move to the capacity devices in the background, from the first byte on: a longer wait would
//! only matter for bytes that are overwritten. A flush goes to the flash, or without a write buffer to the
//! capacity device. Buffers start empty; those
//! that the load fills are full before the window (`machine::settle`), where the site does not want them fresh.
//! A write to a full buffer may replace an older version of its bytes there, which need not move any more; how
//! often follows from the sizes as for a cache that keeps what was written last. In an all-flash node the read cache
//! has no bytes and reads go to the capacity devices.
//!
//! Nothing here grows with time: only the number of bytes in the buffer is stored, and only the first
//! [`RUNS`] runs per device of where they belong; more of them move to random places within the range
//! seen.

mod buffer;

use std::collections::VecDeque;

use stormeter_disk::Kind;
use stormeter_site::{Cluster, Hits};

use super::hit_rate::{HitShare, hit_share};
use super::{DiskFault, FAILED, FOR_ROOM, Fill, IN_FRONT, Ready, Request, Settled};
use crate::device::{Access, Bench, Device, DeviceUse};
use crate::machine::Load;
use crate::noise::unit_open;
use crate::slab::Slab;
use buffer::WriteBuffer;

/// Places of written bytes that a device stores.
const RUNS: usize = 1024;
/// Runs being moved to a device: one is read from flash while the other is written.
const MOVING: u32 = 2;
/// The longest run that is written to a capacity device at once.
const RUN_BYTES: u32 = 1 << 20;

/// The purpose of an access.
const FOR_READ: u32 = 0;
const FOR_MISS: u32 = 1;
const FOR_WRITE: u32 = 2;
const FOR_WRITE_THROUGH: u32 = 3;
const FILL: u32 = 4;
const DESTAGE_READ: u32 = 5;
const DESTAGE_WRITE: u32 = 6;
/// A replica is read to be copied: data that is read once does not go to the read cache.
const FOR_COPY: u32 = 7;
/// A flush of the flash, and one of a capacity device.
const FLUSH_FLASH: u32 = 8;
const FLUSH_CAPACITY: u32 = 9;

/// The components of a node's parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Components {
    /// Its write buffers: their utilisation is their fill level.
    pub(crate) buffer: u32,
    /// Its flash devices.
    pub(crate) flash: u32,
    /// Its capacity devices.
    pub(crate) capacity: u32,
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    number: u32,
    components: Components,
    groups: Vec<Group>,
    per_group: u32,
    capacity: Vec<Capacity>,
    landing: Slab<Landing>,
    /// Hit rate of the read cache.
    hits: f64,
    has_read_cache: bool,
    /// The share of writes that find an older version of their bytes in full write buffers, which they replace.
    rewrites: f64,
    /// Bytes of the working set on a group.
    working_set_bytes: f64,
}

/// The flash of a disk group.
#[derive(Debug)]
struct Group {
    flash: Device,
    buffer: WriteBuffer,
}

/// A write that the flash does not have yet.
#[derive(Debug, Clone, Copy)]
struct Landing {
    job: u32,
    disk: u32,
    offset_bytes: u64,
    /// How long it waited for space.
    waited_ns: u64,
}

/// A capacity device and what is to be written to it.
#[derive(Debug)]
struct Capacity {
    device: Device,
    lost: bool,
    runs: VecDeque<(u64, u32)>,
    /// Bytes and number of writes beyond the runs.
    beyond: (u64, u64),
    /// The range in which writes were seen.
    seen: (u64, u64),
    /// Runs on their way to it.
    moving: u32,
}

impl Node {
    /// A node for the storage with this number, of a cluster with this many nodes and replicas of everything,
    /// under a load.
    pub(crate) fn new(
        number: u32,
        components: Components,
        (cluster, nodes, replicas): (&Cluster, u32, u32),
        load: &Load,
    ) -> Self {
        let groups = cluster.groups_per_node;
        let all_groups = f64::from(groups * nodes);
        let working_set_bytes = load.working_set_bytes as f64 * f64::from(load.vms);
        let cache_bytes = cluster.read_cache_bytes as f64 * all_groups;
        let share = hit_share(cluster.hits, cache_bytes as u64, load);
        // A full buffer holds the last writes, as a cache would.
        let buffer_bytes =
            (cluster.write_buffer_bytes as f64 * all_groups / f64::from(replicas)) as u64;
        let in_buffers = hit_share(Hits::WorkingSet, buffer_bytes, load);
        let of_load = |of: HitShare| load.random * of.random + (1.0 - load.random) * of.sequential;
        let group = |_| Group {
            flash: Device::new(&cluster.cache),
            buffer: WriteBuffer::new(cluster.write_buffer_bytes),
        };
        let device = |_| Capacity {
            device: Device::new(&cluster.capacity),
            lost: false,
            runs: VecDeque::new(),
            beyond: (0, 0),
            seen: (u64::MAX, 0),
            moving: 0,
        };
        Self {
            number,
            components,
            groups: (0..groups).map(group).collect(),
            per_group: cluster.capacity_per_group,
            capacity: (0..groups * cluster.capacity_per_group).map(device).collect(),
            landing: Slab::default(),
            hits: of_load(share),
            rewrites: of_load(in_buffers),
            has_read_cache: cluster.read_cache_bytes > 0,
            working_set_bytes: (working_set_bytes / all_groups).max(1.0),
        }
    }

    /// The component of its write buffers, or of its flash.
    pub(crate) fn front(&self, for_room: bool) -> u32 {
        if for_room { self.components.buffer } else { self.components.flash }
    }

    #[inline(never)]
    pub(crate) fn arrive(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        if self.capacity[request.disk as usize].lost {
            ready.push(request.job | FAILED);
            return;
        }
        match request.kind {
            Kind::Read => self.read(request, bench),
            Kind::Write | Kind::DurableWrite => self.write(request, bench),
            Kind::Flush => self.flush(request, bench),
        }
    }

    fn flush(&mut self, request: Request, bench: &mut Bench<'_>) {
        let group = &self.groups[(request.disk / self.per_group) as usize];
        match group.buffer.is_there() {
            true => self.flash(request, FLUSH_FLASH, 0, bench),
            false => self.on_capacity(request, FLUSH_CAPACITY, bench),
        }
    }

    fn read(&mut self, request: Request, bench: &mut Bench<'_>) {
        if request.background {
            self.on_capacity(request, FOR_COPY, bench);
            return;
        }
        let group = &self.groups[(request.disk / self.per_group) as usize];
        let in_buffer = (group.buffer.dirty_bytes() as f64 / self.working_set_bytes).min(1.0);
        let hit = in_buffer + (1.0 - in_buffer) * self.hits;
        match hit > 0.0 && unit_open(bench.random) <= hit {
            true => self.flash(request, FOR_READ, request.offset_bytes, bench),
            false => self.on_capacity(request, FOR_MISS, bench),
        }
    }

    fn write(&mut self, request: Request, bench: &mut Bench<'_>) {
        let group = &mut self.groups[(request.disk / self.per_group) as usize];
        if !group.buffer.is_there() {
            self.on_capacity(request, FOR_WRITE_THROUGH, bench);
        } else if group.buffer.arrive(request, bench.now_ns) {
            self.take(request, 0, bench);
        }
    }

    /// The buffer accepts a write that waited this long.
    fn take(&mut self, request: Request, waited_ns: u64, bench: &mut Bench<'_>) {
        let group = &mut self.groups[(request.disk / self.per_group) as usize];
        let at = group.buffer.keep(request.length_bytes, bench.now_ns);
        let Request { job, disk, offset_bytes, .. } = request;
        let landing = self.landing.insert(Landing { job, disk, offset_bytes, waited_ns });
        // What a cluster acknowledges survives a loss of power on every node.
        let kind = Kind::DurableWrite;
        self.flash(Request { job: landing, kind, ..request }, FOR_WRITE, at, bench);
    }

    /// An access to the flash in front of a capacity device.
    fn flash(&mut self, request: Request, purpose: u32, at: u64, bench: &mut Bench<'_>) {
        let group = request.disk / self.per_group;
        let kind = match purpose {
            FOR_READ | DESTAGE_READ => Kind::Read,
            FOR_WRITE | FLUSH_FLASH => request.kind,
            _ => Kind::Write,
        };
        let access = bench.accesses.insert(Access {
            store: self.number,
            device: group,
            kind,
            background: is_background(purpose) || request.background,
            offset_bytes: at,
            length_bytes: request.length_bytes,
            arrived_ns: bench.now_ns,
            owner: request.job,
            purpose,
        });
        self.groups[group as usize].flash.arrive(access, bench);
    }

    fn on_capacity(&mut self, request: Request, purpose: u32, bench: &mut Bench<'_>) {
        let access = bench.accesses.insert(Access {
            store: self.number,
            device: self.groups.len() as u32 + request.disk,
            kind: match purpose {
                FOR_MISS | FOR_COPY => Kind::Read,
                FOR_WRITE_THROUGH => Kind::DurableWrite,
                FLUSH_CAPACITY => request.kind,
                _ => Kind::Write,
            },
            background: is_background(purpose) || request.background,
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
            arrived_ns: bench.now_ns,
            owner: request.job,
            purpose,
        });
        self.capacity[request.disk as usize].device.arrive(access, bench);
    }

    #[inline(never)]
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let device = bench.accesses[access].device as usize;
        match device.checked_sub(self.groups.len()) {
            None => self.groups[device].flash.event(access, bench),
            Some(disk) => self.capacity[disk].device.event(access, bench),
        }
        while let Some(done) = bench.done.pop() {
            let about = bench.accesses[done];
            bench.accesses.free(done);
            self.done(about, bench, ready);
        }
    }

    fn done(&mut self, about: Access, bench: &mut Bench<'_>, ready: &mut Ready) {
        match about.purpose {
            FOR_READ | FLUSH_FLASH => ready.push(about.owner | IN_FRONT),
            FOR_WRITE_THROUGH | FOR_COPY | FLUSH_CAPACITY => ready.push(about.owner),
            FOR_MISS => {
                ready.push(about.owner);
                if self.has_read_cache {
                    let disk = about.device - self.groups.len() as u32;
                    self.flash(
                        Request { disk, ..request_of(&about) },
                        FILL,
                        about.offset_bytes,
                        bench,
                    );
                }
            }
            // Only what is in flash can be read from it.
            FOR_WRITE => {
                let Landing { job, disk, offset_bytes, waited_ns } = self.landing[about.owner];
                self.landing.free(about.owner);
                // Its time is attributed to what took most of it.
                let in_flash_ns = bench.now_ns - about.arrived_ns;
                ready.push(job | if waited_ns > in_flash_ns { FOR_ROOM } else { IN_FRONT });
                let group = disk / self.per_group;
                let again = self.rewrites * self.groups[group as usize].buffer.share();
                if again > 0.0 && unit_open(bench.random) <= again {
                    // The older version needs not be moved any more.
                    self.left(group, u64::from(about.length_bytes), bench);
                } else {
                    self.capacity[disk as usize].note(offset_bytes, about.length_bytes);
                    self.move_next(disk, bench);
                }
            }
            // The owner of data in transit is its capacity device.
            DESTAGE_READ => {
                let request = Request { disk: about.owner, ..request_of(&about) };
                self.on_capacity(request, DESTAGE_WRITE, bench);
            }
            DESTAGE_WRITE => {
                self.capacity[about.owner as usize].moving -= 1;
                self.left(about.owner / self.per_group, u64::from(about.length_bytes), bench);
                self.move_next(about.owner, bench);
            }
            _ => {}
        }
    }

    /// Bytes have left a group's buffer: waiting writes may be admitted.
    fn left(&mut self, group: u32, bytes: u64, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        self.groups[group as usize].buffer.left(bytes, now_ns);
        while let Some((next, waited_ns)) = self.groups[group as usize].buffer.admit(now_ns) {
            self.take(next, waited_ns, bench);
        }
    }

    fn move_next(&mut self, disk: u32, bench: &mut Bench<'_>) {
        while self.capacity[disk as usize].moving < MOVING && !self.capacity[disk as usize].lost {
            let capacity = &mut self.capacity[disk as usize];
            let Some((offset_bytes, length_bytes)) = capacity.next(bench) else { return };
            capacity.moving += 1;
            let kind = Kind::Read;
            let background = true;
            let moved = Request { job: disk, kind, disk, offset_bytes, length_bytes, background };
            self.flash(moved, DESTAGE_READ, offset_bytes, bench);
        }
    }

    /// A device is gone or slow; its number counts capacity devices.
    pub(crate) fn fault(&mut self, fault: DiskFault) {
        match fault {
            DiskFault::Lost(disk) => self.capacity[disk as usize].lost = true,
            // What it had is copied to others.
            DiskFault::Replaced(_) => {}
            DiskFault::Slow(disk, slowness) => {
                self.capacity[disk as usize].device.slow_down(slowness);
            }
        }
    }

    /// Write buffers to which more comes than leaves are full from now on; returns what they had been before.
    pub(crate) fn fill_up(&mut self, now_ns: u64) -> Option<Settled> {
        let component = self.components.buffer;
        let mut all: Option<Settled> = None;
        for settled in self.groups.iter_mut().filter_map(|group| group.buffer.fill_up(now_ns)) {
            let all = all.get_or_insert_default();
            all.before.component = component;
            all.before.in_bytes += settled.before.in_bytes;
            all.before.out_bytes += settled.before.out_bytes;
            all.room_bytes += settled.room_bytes;
        }
        all
    }

    /// The combined state of its write buffers.
    pub(crate) fn fill(&self) -> Option<Fill> {
        let mut fill = Fill { component: self.components.buffer, ..Fill::default() };
        for group in &self.groups {
            group.buffer.add_to(&mut fill);
        }
        (fill.capacity_bytes > 0).then_some(fill)
    }

    pub(crate) fn usage(&self, now_ns: u64, each: &mut dyn FnMut(u32, DeviceUse)) {
        let has_buffer = |group: &&Group| group.buffer.is_there();
        for group in self.groups.iter().filter(has_buffer) {
            each(self.components.buffer, group.buffer.usage(now_ns));
        }
        for group in &self.groups {
            each(self.components.flash, group.flash.usage(now_ns));
        }
        for capacity in &self.capacity {
            each(self.components.capacity, capacity.device.usage(now_ns));
        }
    }
}

impl Capacity {
    fn note(&mut self, offset_bytes: u64, length_bytes: u32) {
        let end_bytes = offset_bytes + u64::from(length_bytes);
        self.seen = (self.seen.0.min(offset_bytes), self.seen.1.max(end_bytes));
        if let Some((from, length)) = self.runs.back_mut()
            && *from + u64::from(*length) == offset_bytes
            && *length + length_bytes <= RUN_BYTES
        {
            *length += length_bytes;
        } else if self.runs.len() < RUNS {
            self.runs.push_back((offset_bytes, length_bytes));
        } else {
            self.beyond = (self.beyond.0 + u64::from(length_bytes), self.beyond.1 + 1);
        }
    }

    /// What to write next: where and how much.
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<(u64, u32)> {
        if let Some(run) = self.runs.pop_front() {
            return Some(run);
        }
        let (bytes, writes) = self.beyond;
        if writes == 0 {
            return None;
        }
        // The mean of what is left; the last write takes the rest, so that no byte is lost.
        let length = if writes == 1 { bytes } else { bytes / writes };
        self.beyond = (bytes - length, writes - 1);
        let room = (self.seen.1 - self.seen.0).saturating_sub(length);
        let at = self.seen.0 + (unit_open(bench.random) * room as f64) as u64;
        Some((at / 4096 * 4096, length as u32))
    }
}

/// Whether nobody waits for accesses of this purpose; a read for a copy is so by its request.
fn is_background(purpose: u32) -> bool {
    matches!(purpose, FILL | DESTAGE_READ | DESTAGE_WRITE | FOR_COPY)
}

fn request_of(about: &Access) -> Request {
    Request {
        job: about.owner,
        kind: about.kind,
        disk: 0,
        offset_bytes: about.offset_bytes,
        length_bytes: about.length_bytes,
        background: about.background,
    }
}
