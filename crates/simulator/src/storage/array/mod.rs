//! An array: RAID groups behind a read cache and a write-back cache, or neither.
//!
//! A request is split into one piece for each stripe that it touches; a piece is an *operation*,
//! whose accesses go to the disks at once and whose next phase starts when all are back. Destaging,
//! read-ahead and rebuilds are operations too, but for no request. Everything in progress has a
//! reusable slot, so that a long run allocates no more than a short one.

mod flush;
mod loss;
mod memory;
mod reads;
mod spare;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use stormeter_disk::Kind;
use stormeter_site::{Cache, DiskGroup, Hits, Layout};

use super::cache::WriteBack;
use super::hit_rate::hit_share;
use super::plan::{Planned, Planner};
use super::raid::{Area, Geometry, Health};
use super::read_ahead::ReadCache;
use super::rebuild::Rebuild;
use super::spread::Spread;
use super::{FAILED, IN_FRONT, Outage, Ready, Request};
use crate::device::{Access, Bench, Device, DeviceUse};
use crate::machine::Load;
use crate::noise::unit_open;
use crate::slab::Slab;

/// An event of the array itself: its owner is the number of the disk being rebuilt.
const OWN: u32 = u32::MAX;

/// The array's identity within its machine.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Number of its store.
    pub(crate) number: u32,
    /// The component of its disks.
    pub(crate) disks: u32,
    /// The component of its memory for writes.
    pub(crate) memory: u32,
    /// By virtual disk of the machine: its index among its store's disks.
    pub(crate) places: Rc<[u32]>,
    /// Its load; `vms` are those with disks on it.
    pub(crate) load: Load,
}

/// RAID groups and the caches in front of them.
#[derive(Debug)]
pub(crate) struct Array {
    place: Place,
    group: DiskGroup,
    geometry: Geometry,
    spread: Spread,
    health: Health,
    devices: Vec<Device>,
    /// By disk: number of outstanding accesses.
    queued: Vec<u32>,
    /// By disk: where the last read ended.
    read_to: Vec<u64>,
    spares: u32,
    operations: Slab<Operation>,
    /// Requests that touch several stripes.
    spans: Slab<Span>,
    rebuilds: Vec<Rebuild>,
    read_cache: ReadCache,
    write_back: Option<WriteBack>,
    /// Bytes that the load may touch.
    working_set_bytes: f64,
    /// Whether memory may have become free or enough may be dirty.
    look_at_cache: bool,
    plan: Vec<Planned>,
    /// Since more disks are lost than the level tolerates.
    outage: Option<Outage>,
}

/// Something done to one stripe.
#[derive(Debug, Clone, Copy)]
struct Operation {
    /// For a rebuild: bytes of the disk.
    area: Area,
    owner: Owner,
    /// Number of accesses that are not back.
    pending: u32,
    phase: Phase,
    failed: bool,
    background: bool,
}

/// The purpose of its accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Read,
    /// Reading what new parity is computed from.
    BeforeWrite {
        /// Whether what follows is durable when it completes.
        durable: bool,
    },
    Write {
        /// Whether it is durable when it completes.
        durable: bool,
    },
    Flush,
}

/// What an operation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Job(u32),
    Span(u32),
    /// The stream of a virtual disk, and the number of the piece.
    Ahead(u32, u32),
    /// This many dirty bytes.
    Destage(u64),
    /// The disk.
    Rebuild(u32),
}

/// Operations for one owner.
#[derive(Debug, Clone, Copy)]
struct Span {
    owner: Owner,
    left: u32,
    failed: bool,
}

impl Array {
    /// An array; without a cache reads and writes go through to the disks.
    pub(crate) fn new(place: Place, group: &DiskGroup, cache: Option<&Cache>) -> Self {
        let geometry = Geometry::new(group);
        let count = geometry.device_count();
        let load = place.load;
        let write_back =
            cache.and_then(|cache| WriteBack::new(cache.write, cache.layout, &geometry, load));
        let layout = cache.map_or(Layout::InPlace, |cache| cache.layout);
        let volume_bytes = u64::from(load.vms) * load.disk_bytes;
        let spread = Spread::new(layout, &geometry, volume_bytes);
        let reads = cache.filter(|cache| cache.read_bytes > 0 || cache.hits != Hits::WorkingSet);
        let hits = reads.map(|cache| hit_share(cache.hits, cache.read_bytes, &load));
        // If everything is in memory, nothing is read ahead.
        let all = hits.is_some_and(|hits| hits.sequential >= 1.0);
        let ahead = reads
            .filter(|cache| cache.hits == Hits::WorkingSet && !all)
            .map(|cache| cache.read_bytes);
        Self {
            health: Health::new(&geometry),
            devices: (0..count).map(|_| Device::new(&group.device)).collect(),
            queued: vec![0; count as usize],
            read_to: vec![u64::MAX; count as usize],
            spares: group.spares,
            operations: Slab::default(),
            spans: Slab::default(),
            rebuilds: Vec::new(),
            read_cache: ReadCache::new(
                hits.unwrap_or_default(),
                ahead,
                geometry.stripe_bytes(),
                load.vms,
                load.disk_bytes,
            ),
            write_back,
            working_set_bytes: load.working_set_bytes as f64 * f64::from(load.vms),
            look_at_cache: false,
            plan: Vec::new(),
            outage: None,
            group: group.clone(),
            geometry,
            spread,
            place,
        }
    }

    /// The component in which writes wait for memory.
    pub(crate) fn memory(&self) -> u32 {
        self.place.memory
    }

    /// A request arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        if self.outage.is_some() {
            ready.push(request.job | FAILED);
            return;
        }
        match request.kind {
            Kind::Read => self.read(request, bench, ready),
            Kind::Write | Kind::DurableWrite => self.write(request, bench, ready),
            Kind::Flush => self.flush(request, bench, ready),
        }
        self.settle(bench, ready);
    }

    /// An event of one of its accesses has occurred.
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let about = bench.accesses[access];
        if about.device == OWN {
            bench.accesses.free(access);
            if let Some(rebuild) = self.rebuild_of(about.owner) {
                rebuild.timer = false;
            }
            self.rebuild(about.owner, bench, ready);
        } else {
            self.devices[about.device as usize].event(access, bench);
        }
        self.settle(bench, ready);
    }

    /// What was done until now, by component.
    pub(crate) fn usage(&self, now_ns: u64, each: &mut dyn FnMut(u32, DeviceUse)) {
        for device in &self.devices {
            each(self.place.disks, device.usage(now_ns));
        }
        if let Some(write_back) = &self.write_back {
            each(self.place.memory, write_back.usage(now_ns));
        }
    }

    fn place_of(&self, request: Request) -> u32 {
        self.place.places[request.disk as usize]
    }

    fn volume_offset(&self, request: Request) -> u64 {
        u64::from(self.place_of(request)) * self.place.load.disk_bytes + request.offset_bytes
    }

    /// The share of what the load may touch that is only in memory.
    fn dirty_share(&self) -> f64 {
        match &self.write_back {
            Some(write_back) if self.working_set_bytes > 0.0 => {
                (write_back.dirty() as f64 / self.working_set_bytes).min(1.0)
            }
            _ => 0.0,
        }
    }

    #[inline]
    fn write(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        let from = self.volume_offset(request);
        let length = u64::from(request.length_bytes);
        let durable = request.kind == Kind::DurableWrite;
        if let Some(write_back) = &mut self.write_back
            && write_back.is_new()
            && write_back.takes(length, durable)
        {
            let (length, now_ns) = (request.length_bytes, bench.now_ns);
            write_back.fill(length, &self.geometry, bench.random, now_ns);
        }
        let again = self.overwrites(bench);
        match &mut self.write_back {
            Some(write_back) if write_back.takes(length, durable) => {
                if write_back.arrive(request, from, again, &self.geometry, bench.now_ns) {
                    ready.push(request.job);
                }
                self.look_at_cache |= write_back.wants_destage();
                self.tell_urgency();
            }
            _ => {
                let owner = Owner::Job(request.job);
                self.begin(Phase::BeforeWrite { durable }, from, length, owner, bench, ready);
            }
        }
    }

    /// Gives destaging a share of the disks' turns according to the fill level of the cache.
    #[inline]
    fn tell_urgency(&mut self) {
        if let Some(share) = self.write_back.as_mut().and_then(WriteBack::new_urgency) {
            self.devices.iter_mut().for_each(|device| device.hurry(share));
        }
    }

    /// Whether a write overwrites dirty bytes, if their places are not stored.
    fn overwrites(&mut self, bench: &mut Bench<'_>) -> bool {
        let counts = self.write_back.as_ref().is_some_and(WriteBack::needs_no_reads);
        let share = if counts { self.dirty_share() * self.place.load.random } else { 0.0 };
        share > 0.0 && unit_open(bench.random) <= share
    }

    /// Reads or writes bytes of the volume for an owner.
    fn begin(
        &mut self,
        phase: Phase,
        mut from: u64,
        length: u64,
        owner: Owner,
        bench: &mut Bench<'_>,
        ready: &mut Ready,
    ) {
        let (area, whole) = self.first_area(from, length);
        if whole == length {
            if phase != Phase::Read || !self.read_at_once(area, owner, bench) {
                self.operate(area, phase, owner, bench, ready);
            }
            return;
        }
        // One more than there are, so that it does not end before all have been started.
        let span = self.spans.insert(Span { owner, left: 1, failed: false });
        let mut left = length;
        while left > 0 {
            let (area, part) = self.first_area(from, left);
            self.spans[span].left += 1;
            self.operate(area, phase, Owner::Span(span), bench, ready);
            from += part;
            left -= part;
        }
        self.finish(Owner::Span(span), false, bench, ready);
    }

    /// The part of a run of the volume that is in the stripe of its first byte.
    #[inline]
    fn first_area(&self, from: u64, length: u64) -> (Area, u64) {
        let (place, together) = self.spread.place(from);
        self.geometry.first_area(place, length.min(together))
    }

    /// A read of one unit of a healthy group needs no plan: that is most of the work.
    #[inline]
    fn read_at_once(&mut self, area: Area, owner: Owner, bench: &mut Bench<'_>) -> bool {
        let geometry = &self.geometry;
        let (unit, last) = area.units(geometry);
        let group = geometry.first_disk(area.stripe) / geometry.disks;
        if unit != last || geometry.copies > 1 || !self.health.is_well(group) {
            return false;
        }
        let (low, high) = area.within(geometry, unit);
        let disk = geometry.data_disk(area.stripe, unit);
        let offset_bytes = geometry.disk_offset(area.stripe) + low;
        let length_bytes = (high - low).min(u64::from(u32::MAX)) as u32;
        self.plan.clear();
        self.plan.push(Planned { disk, kind: Kind::Read, offset_bytes, length_bytes });
        let operation = self.operations.insert(Operation {
            area,
            owner,
            pending: 0,
            phase: Phase::Read,
            failed: false,
            background: false,
        });
        self.issue(operation, bench);
        true
    }

    /// Starts an operation.
    fn operate(
        &mut self,
        area: Area,
        phase: Phase,
        owner: Owner,
        bench: &mut Bench<'_>,
        ready: &mut Ready,
    ) {
        let background = matches!(owner, Owner::Destage(_) | Owner::Rebuild(_));
        let operation = self.operations.insert(Operation {
            area,
            owner,
            pending: 0,
            phase,
            failed: false,
            background,
        });
        self.carry_out(operation, bench, ready);
    }

    /// Issues the accesses of an operation's phase, or of the next one if it needs none.
    fn carry_out(&mut self, number: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let Operation { area, owner, phase, .. } = self.operations[number];
        self.plan.clear();
        let planner = Planner {
            geometry: &self.geometry,
            health: &self.health,
            queued: &self.queued,
            read_to: &self.read_to,
        };
        let mut planned = match (owner, phase) {
            (Owner::Rebuild(disk), _) => self.plan_rebuild(disk, area, phase),
            (_, Phase::Read) => planner.read(area, &mut self.plan),
            (_, Phase::BeforeWrite { .. }) => planner.before_write(area, &mut self.plan),
            (_, Phase::Write { .. }) => planner.write(area, &mut self.plan),
            (_, Phase::Flush) => self.plan_flush(),
        };
        if let Phase::BeforeWrite { durable } = phase
            && planned.is_ok()
            && self.plan.is_empty()
        {
            self.operations[number].phase = Phase::Write { durable };
            let planner = Planner {
                geometry: &self.geometry,
                health: &self.health,
                queued: &self.queued,
                read_to: &self.read_to,
            };
            planned = planner.write(area, &mut self.plan);
        }
        if planned.is_err() {
            self.operations[number].failed = true;
            self.plan.clear();
        }
        self.issue(number, bench);
        if self.operations[number].pending == 0 {
            self.end(number, bench, ready);
        }
    }

    /// Issues the planned accesses to the disks.
    fn issue(&mut self, number: u32, bench: &mut Bench<'_>) {
        let operation = &mut self.operations[number];
        operation.pending += self.plan.len() as u32;
        let background = operation.background;
        let durable = operation.phase == Phase::Write { durable: true };
        if let (Owner::Destage(_), Some(write_back)) = (operation.owner, &mut self.write_back) {
            write_back.in_flight += self.plan.len() as u32;
        }
        for planned in &self.plan {
            let access = bench.accesses.insert(Access {
                store: self.place.number,
                device: planned.disk,
                kind: match planned.kind {
                    Kind::Write if durable => Kind::DurableWrite,
                    kind => kind,
                },
                background,
                offset_bytes: planned.offset_bytes,
                length_bytes: planned.length_bytes,
                arrived_ns: bench.now_ns,
                owner: number,
                purpose: 0,
            });
            self.queued[planned.disk as usize] += 1;
            if planned.kind == Kind::Read {
                let end = planned.offset_bytes + u64::from(planned.length_bytes);
                self.read_to[planned.disk as usize] = end;
            }
            self.devices[planned.disk as usize].arrive(access, bench);
        }
    }

    /// Collects completed accesses of the disks, and gives the cache its turn.
    fn settle(&mut self, bench: &mut Bench<'_>, ready: &mut Ready) {
        loop {
            while let Some(access) = bench.done.pop() {
                self.access_done(access, bench, ready);
            }
            if !std::mem::take(&mut self.look_at_cache) || self.outage.is_some() {
                return;
            }
            self.turn_of_cache(bench, ready);
        }
    }

    fn access_done(&mut self, access: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let about = bench.accesses[access];
        bench.accesses.free(access);
        let number = about.owner;
        self.queued[about.device as usize] -= 1;
        let operation = &mut self.operations[number];
        operation.pending -= 1;
        if let (Owner::Destage(_), Some(write_back)) = (operation.owner, &mut self.write_back) {
            write_back.in_flight -= 1;
            self.look_at_cache = true;
        }
        let end = about.offset_bytes + u64::from(about.length_bytes);
        if self.outage.is_some() {
            self.operations[number].failed = true;
        } else if !self.health.has(about.device, end) {
            self.came_from_lost(number, about, bench);
        }
        if self.operations[number].pending > 0 {
            return;
        }
        let operation = &mut self.operations[number];
        if let Phase::BeforeWrite { durable } = operation.phase
            && !operation.failed
        {
            operation.phase = Phase::Write { durable };
            self.carry_out(number, bench, ready);
        } else {
            self.end(number, bench, ready);
        }
    }

    /// The disk was lost while it had the access: data to read is read from the others; data to
    /// write is on them, or in the parity.
    fn came_from_lost(&mut self, number: u32, about: Access, bench: &mut Bench<'_>) {
        let Operation { area, owner, .. } = self.operations[number];
        if matches!(owner, Owner::Rebuild(_)) {
            // The part of the spare that is being written is not valid yet.
            return;
        }
        let low = about.offset_bytes - self.geometry.disk_offset(area.stripe);
        let high = low + u64::from(about.length_bytes);
        let planner = Planner {
            geometry: &self.geometry,
            health: &self.health,
            queued: &self.queued,
            read_to: &self.read_to,
        };
        self.plan.clear();
        let planned = match about.kind {
            Kind::Read => planner.read_rest(area.stripe, about.device, low, high, &mut self.plan),
            Kind::Write | Kind::DurableWrite | Kind::Flush => Ok(()),
        };
        if planned.is_err() {
            self.operations[number].failed = true;
            self.plan.clear();
        }
        self.issue(number, bench);
    }

    /// An operation has ended.
    fn end(&mut self, number: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let Operation { owner, failed, phase, area, .. } = self.operations[number];
        if let Owner::Rebuild(disk) = owner {
            if phase == Phase::Read && !failed {
                self.operations[number].phase = Phase::Write { durable: false };
                self.carry_out(number, bench, ready);
                return;
            }
            self.operations.free(number);
            self.piece_done(disk, area, failed, bench, ready);
            return;
        }
        self.operations.free(number);
        self.finish(owner, failed, bench, ready);
    }

    /// One or all operations of an owner have ended.
    fn finish(&mut self, owner: Owner, failed: bool, bench: &mut Bench<'_>, ready: &mut Ready) {
        let failed = failed || self.outage.is_some();
        match owner {
            Owner::Job(job) => ready.push(if failed { job | FAILED } else { job }),
            Owner::Span(number) => {
                let span = &mut self.spans[number];
                span.failed |= failed;
                span.left -= 1;
                if span.left == 0 {
                    let Span { owner, failed, .. } = *span;
                    self.spans.free(number);
                    self.finish(owner, failed, bench, ready);
                }
            }
            Owner::Ahead(place, number) => {
                self.read_cache.fetched(place, number, failed);
                while let Some(request) = self.read_cache.next_waiting(place) {
                    ready.push(if failed { request.job | FAILED } else { request.job });
                }
            }
            Owner::Destage(bytes) => {
                // What the disks do not have is still dirty.
                if let Some(write_back) = self.write_back.as_mut().filter(|_| !failed) {
                    write_back.destaged(bytes, bench.now_ns);
                }
                self.look_at_cache = true;
            }
            Owner::Rebuild(_) => {}
        }
    }

    /// Waiting writes go to memory, and dirty bytes to the disks.
    fn turn_of_cache(&mut self, bench: &mut Bench<'_>, ready: &mut Ready) {
        self.tell_urgency();
        loop {
            let mut moved = self.end_flushes(bench, ready);
            while let Some(request) =
                self.write_back.as_mut().and_then(|write_back| write_back.admit(bench.now_ns))
            {
                let from = self.volume_offset(request);
                let again = self.overwrites(bench);
                if let Some(write_back) = &mut self.write_back {
                    write_back.keep(request, from, again, &self.geometry, bench.now_ns);
                }
                ready.push(request.job | IN_FRONT);
                moved = true;
            }
            let Some(write_back) = &mut self.write_back else { return };
            let phase = match write_back.needs_no_reads() {
                true => Phase::Write { durable: false },
                false => Phase::BeforeWrite { durable: false },
            };
            if let Some((area, bytes)) = write_back.next_area(&self.geometry) {
                self.operate(area, phase, Owner::Destage(bytes), bench, ready);
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }
}
