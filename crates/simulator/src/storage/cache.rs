//! Memory of a controller that holds writes until the disks have them.
//!
//! A write completes when it is in memory. Above a certain fill level the disks get work in the
//! background, until less is used. What finds no space waits, in order, so that a full cache is as
//! slow as the disks behind it. Its fill level over time is reported as its utilisation.
//!
//! Memory that survives a loss of power has nothing to flush. From memory that does not, a flush waits until as
//! many bytes have left as were there when it arrived, whichever they are: where destaging is in sweeps, some
//! of them may be of later writes. Meanwhile destaging gets half of the disks' turns, which is an assumption.
//!
//! The more is dirty beyond that level, the more of the disks' turns destaging gets: none of those that
//! other accesses want where it starts, all of them at a second mark, and linearly in between (linear
//! threshold scheduling: A. Varma and Q. Jacobson, "Destage algorithms for disk arrays with nonvolatile
//! caches", IEEE Transactions on Computers 47(2), 1998; B. S. Gill and D. S. Modha, "WOW: wise ordering
//! for writes", FAST 2005, section IV-E). So reads and destaging share the disks at a level between the
//! two at which as much leaves as arrives. The distance of the marks does not change that share, only
//! how long it takes to find it. Here it is what the disks destage in about a second (marks by rate and
//! time, as in adaptive thresholds), so that a trial measures the steady state after its ramp, and not
//! a cache that fills for minutes.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use stormeter_site::{Layout, WriteCache};

use super::destage::Destage;
use super::in_place::InPlace;
use super::raid::{Area, Geometry};
use super::{Fill, Request, Settled};
use crate::device::DeviceUse;
use crate::machine::Load;
use crate::noise::unit_open;

/// Destaging accesses that a disk can do in about a second: some 150, and in place a write to a
/// stripe with parity takes two on the same disk.
const SECOND_PIECES: u64 = 64;

/// The share of the disks' turns that destaging gets at least while a flush waits.
const URGENCY_OF_FLUSHES: f64 = 0.5;

/// The disks' share of turns for destaging is updated in steps of this size.
const STEP: f64 = 1.0 / 32.0;

/// A write-back cache.
#[derive(Debug)]
pub(crate) struct WriteBack {
    bytes: u64,
    /// Destaging starts when this much is waiting for it.
    start_bytes: u64,
    /// Concurrent accesses of destaging.
    depth: u32,
    /// Bytes that the disks do not have.
    dirty: u64,
    /// Of these, bytes that are being written to the disks.
    leaving: u64,
    /// Bytes of a load that has lasted for long: they keep room, and none of them leaves in this trial.
    held: u64,
    /// Whether it was filled up.
    full: bool,
    /// Bytes of all writes, whether they were dirty before or not.
    arrived_bytes: u64,
    /// Accesses of destaging in progress.
    pub(super) in_flight: u32,
    /// Writes that wait for space, and since when.
    waiting: VecDeque<(Request, u64)>,
    /// Whether a loss of power empties it.
    volatile: bool,
    /// Flushes that wait, in order of arrival: their jobs, and how many bytes have to leave before.
    flushes: VecDeque<(u32, u64)>,
    destage: Destage,
    /// Disks that hold data, and the most that one of them takes at once.
    data_disks: u32,
    unit_bytes: u64,
    /// The share of turns that the disks currently use.
    current_urgency: f64,
    /// Whether all that the load touches fits into it: then it never lacks room for long.
    fits: bool,
    load: Load,
    /// Whether its first write has arrived.
    started: bool,
    /// Bytes that arrived and that left.
    moved: (u64, u64),
    usage: Usage,
}

/// How full the memory was, and which writes waited for it.
#[derive(Debug, Default)]
struct Usage {
    since_ns: u64,
    /// The integral of the used share over time.
    full_ns: f64,
    waited_ns: u64,
    writes: u64,
}

impl WriteBack {
    /// `None`: writes go through. The load's virtual disks are what is used of the array.
    pub(super) fn new(
        write: WriteCache,
        layout: Layout,
        geometry: &Geometry,
        load: Load,
    ) -> Option<Self> {
        let volume_bytes = u64::from(load.vms) * load.disk_bytes;
        let WriteCache::Back { bytes, battery, start_share, depth } = write else { return None };
        Some(Self {
            bytes,
            start_bytes: (start_share.clamp(0.0, 1.0) * bytes as f64) as u64,
            depth: depth.max(1).saturating_mul(geometry.data_disks()),
            dirty: 0,
            held: 0,
            full: false,
            arrived_bytes: 0,
            leaving: 0,
            in_flight: 0,
            waiting: VecDeque::new(),
            volatile: !battery,
            flushes: VecDeque::new(),
            destage: Destage::new(layout, geometry, volume_bytes, bytes),
            data_disks: geometry.data_disks(),
            unit_bytes: geometry.unit_bytes,
            current_urgency: 0.0,
            fits: u64::from(load.vms) * load.working_set_bytes <= bytes,
            load,
            started: false,
            moved: (0, 0),
            usage: Usage::default(),
        })
    }

    /// Before the first write: fills it with what earlier writes of the same kind have left, so that
    /// destaging is about to start. Random ones are anywhere in the working set, sequential ones at
    /// its end, from where a new round starts. If they were flushed, they have left nothing.
    pub(super) fn fill(
        &mut self,
        length_bytes: u32,
        geometry: &Geometry,
        random: &mut Xoshiro256PlusPlus,
        now_ns: u64,
    ) {
        self.started = true;
        let load = self.load;
        if self.volatile && load.flushes {
            return;
        }
        let length = u64::from(length_bytes.max(1));
        let places = places_of(&load, length);
        let vms = u64::from(load.vms.max(1));
        let Destage::InPlace(in_place) = &mut self.destage else {
            // What is overwritten is not there twice.
            let writes = (self.start_bytes / length).min(vms * places);
            self.change(now_ns, writes * length);
            return;
        };
        // What is drawn for the regions that stand for the others is there in each.
        let one_of = in_place.one_of();
        let (mut left, mut write) = (0, 0);
        while left + length <= self.start_bytes / one_of && write < vms * places {
            let (disk, place) = (write % vms, places - 1 - write / vms % places);
            write += 1;
            let at = match load.random > 0.0 && unit_open(random) <= load.random {
                true => in_place.twin(random_place(in_place, &load, length, random)),
                false => place_on(&load, disk, place, length),
            };
            if in_place.twin(at) == at {
                left += in_place.keep(at, length, geometry);
            }
        }
        in_place.keep_unlisted(left * (one_of - 1));
        self.change(now_ns, left * one_of);
    }

    /// Whether the first write is still to come.
    #[inline]
    pub(super) fn is_new(&self) -> bool {
        !self.started
    }

    /// What arrived and left so far.
    pub(super) fn state(&self, component: u32) -> Fill {
        Fill {
            component,
            capacity_bytes: self.bytes,
            dirty_bytes: self.dirty(),
            in_bytes: self.moved.0,
            out_bytes: self.moved.1,
        }
    }

    /// Whether a write of this length may complete in it; others go through.
    pub(super) fn takes(&self, length: u64, durable: bool) -> bool {
        length <= self.bytes && !(durable && self.volatile)
    }

    /// Whether a loss of power empties it.
    pub(super) fn is_volatile(&self) -> bool {
        self.volatile
    }

    /// A flush arrives; `false`: it has nothing to wait for.
    pub(super) fn flush(&mut self, job: u32) -> bool {
        let waits = self.dirty > 0;
        if waits {
            self.flushes.push_back((job, self.dirty));
        }
        waits
    }

    /// The next flush that has waited for long enough.
    pub(super) fn flushed(&mut self) -> Option<u32> {
        if !self.has_flushed() {
            return None;
        }
        self.flushes.pop_front().map(|(job, _)| job)
    }

    /// Whether there is one.
    pub(super) fn has_flushed(&self) -> bool {
        self.flushes.front().is_some_and(|&(_, left)| left == 0)
    }

    /// The next flush, for which nothing will leave any more.
    pub(super) fn refuse_flush(&mut self) -> Option<u32> {
        self.flushes.pop_front().map(|(job, _)| job)
    }

    /// Whether a request waits for bytes to leave.
    fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty() || !self.flushes.is_empty()
    }

    /// Bytes that are only in memory.
    #[inline]
    pub(super) fn dirty(&self) -> u64 {
        self.dirty + self.held
    }

    /// A write arrives; `true`: it is complete, `false`: it waits. `again`: its bytes overwrite
    /// dirty ones.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        request: Request,
        volume_offset: u64,
        again: bool,
        geometry: &Geometry,
        now_ns: u64,
    ) -> bool {
        let length = u64::from(request.length_bytes);
        // Bytes that are dirty already take no space.
        let replaces = match &self.destage {
            Destage::InPlace(in_place) => in_place.has_all(volume_offset, length),
            Destage::Anywhere { .. } => false,
        };
        if replaces || self.waiting.is_empty() && self.has_room(request) {
            self.keep(request, volume_offset, again, geometry, now_ns);
            return true;
        }
        self.waiting.push_back((request, now_ns));
        false
    }

    /// The next waiting write for which there is space now.
    pub(super) fn admit(&mut self, now_ns: u64) -> Option<Request> {
        let &(request, since_ns) = self.waiting.front()?;
        if !self.has_room(request) {
            return None;
        }
        self.waiting.pop_front();
        self.usage.waited_ns += now_ns - since_ns;
        Some(request)
    }

    /// The next waiting write, which memory will no longer accept.
    pub(super) fn refuse(&mut self, now_ns: u64) -> Option<Request> {
        let (request, since_ns) = self.waiting.pop_front()?;
        self.usage.waited_ns += now_ns - since_ns;
        Some(request)
    }

    fn has_room(&self, request: Request) -> bool {
        self.dirty() + u64::from(request.length_bytes) <= self.bytes
    }

    /// A write is in memory now.
    #[inline]
    pub(super) fn keep(
        &mut self,
        request: Request,
        volume_offset: u64,
        again: bool,
        geometry: &Geometry,
        now_ns: u64,
    ) {
        self.usage.writes += 1;
        let length = u64::from(request.length_bytes);
        self.arrived_bytes += length;
        let new = match &mut self.destage {
            Destage::InPlace(in_place) => in_place.keep(volume_offset, length, geometry),
            Destage::Anywhere { .. } if again => 0,
            Destage::Anywhere { .. } => length,
        };
        if new > 0 {
            self.moved.0 += new;
            self.change(now_ns, self.dirty + new);
        }
    }

    /// Whether the disks should get work.
    #[inline]
    pub(super) fn wants_destage(&self) -> bool {
        let waits_for_disks = self.dirty - self.leaving;
        self.in_flight < self.depth
            && waits_for_disks > 0
            && (waits_for_disks + self.held >= self.start_bytes || self.is_waited_for())
    }

    /// The share of the disks' turns that destaging gets, 0 to 1.
    fn urgency(&self) -> f64 {
        let least = if self.flushes.is_empty() { 0.0 } else { URGENCY_OF_FLUSHES };
        self.urgency_of_fill().max(least)
    }

    fn urgency_of_fill(&self) -> f64 {
        let waits_for_disks = self.dirty() - self.leaving;
        if waits_for_disks <= self.start_bytes {
            return 0.0;
        }
        let piece_bytes = match self.needs_no_reads() {
            false => (self.arrived_bytes / self.usage.writes.max(1)).clamp(1, self.unit_bytes),
            true => self.unit_bytes,
        };
        // Half of what is free at the start of destaging is left for bursts.
        let free_bytes = (self.bytes - self.start_bytes) / 2;
        let second_bytes = SECOND_PIECES * u64::from(self.data_disks) * piece_bytes;
        let way_bytes = second_bytes.min(free_bytes).max(1);
        ((waits_for_disks - self.start_bytes) as f64 / way_bytes as f64).min(1.0)
    }

    /// The share of turns for destaging, if it has changed enough for the disks to be updated.
    #[inline]
    pub(super) fn new_urgency(&mut self) -> Option<f64> {
        let urgency = self.urgency();
        let changed = (urgency - self.current_urgency).abs() >= STEP;
        if changed || urgency != self.current_urgency && (urgency == 0.0 || urgency == 1.0) {
            self.current_urgency = urgency;
            return Some(urgency);
        }
        None
    }

    /// The next bytes for the disks, the place where they go, and whether old parity is useless.
    pub(super) fn next_area(&mut self, geometry: &Geometry) -> Option<(Area, u64)> {
        if !self.wants_destage() {
            return None;
        }
        let pressed = self.is_waited_for() && self.leaving == 0;
        let (area, bytes) = self.destage.next(self.dirty - self.leaving, pressed, geometry);
        let area = area?;
        self.leaving += bytes;
        Some((area, bytes))
    }

    /// Whether written bytes go to places whose old content is not needed.
    pub(super) fn needs_no_reads(&self) -> bool {
        matches!(self.destage, Destage::Anywhere { .. })
    }

    /// The disks have these bytes.
    pub(super) fn destaged(&mut self, bytes: u64, now_ns: u64) {
        self.leaving -= bytes;
        self.left(bytes, now_ns);
    }

    /// These bytes are no longer dirty.
    fn left(&mut self, bytes: u64, now_ns: u64) {
        self.moved.1 += bytes;
        self.change(now_ns, self.dirty.saturating_sub(bytes));
        for (_, left) in &mut self.flushes {
            *left = left.saturating_sub(bytes);
        }
    }

    /// If more arrives than leaves although destaging has all of the disks' turns, it is full from now on, as
    /// after a longer time of the same load.
    pub(super) fn fill_up(
        &mut self,
        component: u32,
        geometry: &Geometry,
        now_ns: u64,
    ) -> Option<Settled> {
        let before = self.state(component);
        let busiest = self.urgency_of_fill() >= 1.0;
        if self.full || self.fits || !busiest || before.growth(&Fill::default()) == 0 {
            return None;
        }
        self.full = true;
        let room_bytes = self.bytes.saturating_sub(self.dirty);
        // In place, a longer time of random writes has left what is denser the longer ago the sweep was there.
        let dirty = match &mut self.destage {
            Destage::InPlace(_) if self.load.random >= 1.0 => self.leaving + self.leave(geometry),
            _ => self.dirty,
        };
        self.change(now_ns, dirty);
        self.held = self.bytes.saturating_sub(dirty);
        Some(Settled { before, room_bytes })
    }

    /// In place: replaces what does not leave yet by what earlier writes would have left of a full memory; returns its
    /// bytes.
    fn leave(&mut self, geometry: &Geometry) -> u64 {
        let length = (self.arrived_bytes / self.usage.writes.max(1)).max(1);
        let most = self.bytes.saturating_sub(self.leaving);
        let Destage::InPlace(in_place) = &mut self.destage else { return 0 };
        in_place.forget();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(most ^ length);
        let one_of = in_place.one_of();
        let mut left = 0;
        // A memory of nearly the working set's size has most of its bytes twice by then.
        for _ in 0..4 * most / one_of / length {
            if left + length > most / one_of {
                break;
            }
            let at = random_place(in_place, &self.load, length, &mut random);
            left += in_place.keep(in_place.twin(at), length, geometry);
        }
        in_place.keep_unlisted(left * (one_of - 1));
        left * one_of
    }

    fn change(&mut self, now_ns: u64, dirty: u64) {
        self.usage.full_ns += self.share() * (now_ns - self.usage.since_ns) as f64;
        self.usage.since_ns = now_ns;
        self.dirty = dirty;
    }

    fn share(&self) -> f64 {
        self.dirty() as f64 / self.bytes.max(1) as f64
    }

    /// One unit, whose utilisation is its fill level.
    pub(super) fn usage(&self, now_ns: u64) -> DeviceUse {
        let since_ns = now_ns.saturating_sub(self.usage.since_ns) as f64;
        let still: u64 =
            self.waiting.iter().map(|(_, since_ns)| now_ns.saturating_sub(*since_ns)).sum();
        DeviceUse {
            servers: 1,
            busy_ns: (self.usage.full_ns + self.share() * since_ns) as u64,
            waited_ns: self.usage.waited_ns + still,
            accesses: self.usage.writes,
        }
    }
}

/// How many places for writes of a length a virtual disk's working set has.
fn places_of(load: &Load, length: u64) -> u64 {
    let working_set = match load.working_set_bytes {
        0 => load.disk_bytes,
        bytes => bytes.min(load.disk_bytes),
    };
    (working_set / length).max(1)
}

/// Where a place of a virtual disk is in the volume.
fn place_on(load: &Load, disk: u64, place: u64, length: u64) -> u64 {
    disk * load.disk_bytes + (place * length).min(load.disk_bytes.saturating_sub(length))
}

/// The place of a write that has not left yet: one of any age within a round of the sweep, at any place that the sweep
/// has not been at since.
fn random_place(
    in_place: &InPlace,
    load: &Load,
    length: u64,
    random: &mut Xoshiro256PlusPlus,
) -> u64 {
    let places = places_of(load, length);
    let all = places * u64::from(load.vms.max(1));
    // The sweep is over the places of the load; between them there is nothing to write.
    let disk_bytes = load.disk_bytes.max(1);
    let (disk, within) = (in_place.cursor() / disk_bytes, in_place.cursor() % disk_bytes);
    let swept = disk * places + (within / length).min(places);
    loop {
        let number = ((unit_open(random) * all as f64) as u64).min(all - 1);
        let ahead = (number + all - swept.min(all)) % all;
        if unit_open(random) <= 1.0 - ahead as f64 / all as f64 {
            return place_on(load, number / places, number % places, length);
        }
    }
}
