//! A hard disk in virtual time.
//!
//! The platters turn with the clock: their angle follows from the time and is not stored. So requests
//! that follow each other closely are served without a revolution in between, and those that arrive a
//! moment too late lose one, without a rule for either. The heads do one thing at a time; what is
//! served from the buffer (read-ahead, earlier writes) does not need them.
//!
//! With its write cache on, a write completes in the buffer, and a flush when what was in the buffer at its
//! arrival is on the platters: emptying the buffer then alternates with reads, like when writes wait for space.
//! A durable write waits for the heads, as every write does with the cache off.
//!
//! Commands are decoded, and bytes to be written fetched, while the heads work for others. The
//! interface sends one thing at a time. Not modelled: bad sectors, recalibration, the different
//! surfaces of a cylinder (tracks are numbered consecutively), adaptive segmentation of the buffer.

mod geometry;
mod line;
mod read_ahead;
mod seek;
mod write_buffer;

use stormeter_disk::Kind;
use stormeter_site::Hdd as Description;

use super::interface::Interface;
use super::{Access, Bench, DeviceUse};
use crate::noise::unit_open;
use geometry::{Geometry, Place};
use line::{Above, Line, Waiting};
use read_ahead::{Ahead, ReadAhead};
use write_buffer::{Run, WriteBuffer};

/// No access.
const NONE: u32 = u32::MAX;

/// What the heads are doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heads {
    Free,
    /// Reading for an access.
    Read(u32),
    /// Writing for an access.
    Write(u32),
    /// Emptying the write buffer.
    Run(Run),
}

/// A hard disk.
#[derive(Debug)]
pub(crate) struct Hdd {
    description: Description,
    geometry: Geometry,
    overhead_ns: u64,
    interface: Interface,
    line: Line,
    read_ahead: ReadAhead,
    writes: WriteBuffer,
    heads: Heads,
    /// When the heads finish their current work, and over which track.
    ends_ns: u64,
    track: u32,
    /// Start of the run that they read, or last read, without moving away.
    run_byte: u64,
    /// Until when heads that read on stay, even if others wait; and whether a wake-up for that time
    /// is scheduled.
    stay_ns: u64,
    wake_ns: u64,
    /// The initial angle of its platters.
    phase: f64,
    /// Whether the last thing that the heads did was to empty the buffer.
    emptied: bool,
    /// The access that stands for the heads' own events.
    timer: u32,
    busy_ns: u64,
    /// Used read-ahead time that is not counted as busy yet: it was done in the heads' free time,
    /// and is charged to that.
    owed_ns: u64,
    /// Since when free time has not been accounted.
    free_ns: u64,
    waited_ns: u64,
    accesses: u64,
}

impl Hdd {
    pub(crate) fn new(description: Description) -> Self {
        // Half of the buffer each, if writes use it.
        let for_writes = if description.write_cache { description.buffer_bytes / 2 } else { 0 };
        let mut disk = Self {
            geometry: Geometry::new(&description, 1.0),
            overhead_ns: 0,
            interface: Interface::default(),
            line: Line::new(description.queue_depth),
            read_ahead: ReadAhead::new(description.buffer_bytes - for_writes),
            writes: WriteBuffer::new(for_writes),
            heads: Heads::Free,
            ends_ns: 0,
            track: 0,
            run_byte: 0,
            stay_ns: 0,
            wake_ns: 0,
            phase: 0.0,
            emptied: false,
            timer: NONE,
            busy_ns: 0,
            owed_ns: 0,
            free_ns: 0,
            waited_ns: 0,
            accesses: 0,
            description,
        };
        disk.slow_down(1.0);
        disk
    }

    /// Everything takes this many times as long, including a revolution: sequential bytes stay
    /// sequential.
    pub(crate) fn slow_down(&mut self, slowness: f64) {
        let slowness = slowness.max(1e-6);
        self.geometry = Geometry::new(&self.description, slowness);
        self.geometry.set_phase(self.phase);
        self.overhead_ns = (self.description.overhead_ns * slowness) as u64;
        self.interface.set_ns_per_byte(1e9 / self.description.interface_bytes_per_s * slowness);
    }

    /// Background work gets this share of the turns, 0 to 1.
    pub(crate) fn hurry(&mut self, share: f64) {
        self.line.set_background_share(share);
    }

    pub(crate) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        let about = bench.accesses[access];
        if self.timer == NONE {
            self.timer = bench.accesses.insert(Access { background: true, ..about });
            self.phase = unit_open(bench.random);
            self.geometry.set_phase(self.phase);
        }
        self.accesses += 1;
        let now_ns = bench.now_ns;
        let decoded_ns = now_ns + self.overhead_ns;
        match about.kind {
            Kind::Read => self.read_arrives(access, &about, bench),
            Kind::Write if self.writes.takes(about.length_bytes) => {
                if !self.writes.waiting.is_empty()
                    || !self.writes.admit(about.offset_bytes, about.length_bytes)
                {
                    self.writes.waiting.push_back(access);
                } else {
                    let done_ns = self.interface.send(decoded_ns, about.length_bytes);
                    bench.at(done_ns, access);
                }
            }
            Kind::Write | Kind::DurableWrite => {
                let ready_ns = self.interface.send(decoded_ns, about.length_bytes);
                self.wait(access, &about, ready_ns, now_ns);
            }
            Kind::Flush => {
                if !self.writes.flush(access) {
                    bench.at(decoded_ns, access);
                }
            }
        }
        if self.heads == Heads::Free {
            self.start(bench);
        }
    }

    fn read_arrives(&mut self, access: u32, about: &Access, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        let decoded_ns = now_ns + self.overhead_ns;
        let start_byte = about.offset_bytes;
        let end_byte = start_byte + u64::from(about.length_bytes.max(1));
        if !self.writes.is_empty() && self.writes.holds(start_byte, end_byte) {
            let done_ns = self.interface.send(decoded_ns, about.length_bytes);
            bench.at(done_ns, access);
            return;
        }
        match self.read_ahead.ask(now_ns, start_byte, end_byte, &self.geometry) {
            Ahead::Here => {
                let done_ns = self.interface.send(decoded_ns, about.length_bytes);
                bench.at(done_ns, access);
                let rate = self.geometry.bytes_per_ns(&self.geometry.place(start_byte));
                let bytes = self.read_ahead.used(now_ns, u64::from(about.length_bytes));
                let read_ns = (bytes as f64 / rate) as u64;
                let most_ns = (self.description.buffer_bytes as f64 / rate) as u64;
                self.count_free(now_ns);
                self.owed_ns = (self.owed_ns + read_ns).min(most_ns);
            }
            // A read that is reached by reading on goes first only while the heads stay anyway.
            Ahead::At(at_ns) if self.line.is_empty() || now_ns < self.stay_ns => {
                self.read_on(access, about, at_ns, bench);
            }
            Ahead::At(_) | Ahead::Elsewhere => self.wait(access, about, decoded_ns, now_ns),
        }
    }

    /// Charges to the heads' free time until now what they did in it.
    #[inline]
    fn count_free(&mut self, now_ns: u64) {
        if self.heads == Heads::Free {
            let taken_ns = self.owed_ns.min(now_ns - self.free_ns);
            self.busy_ns += taken_ns;
            self.owed_ns -= taken_ns;
            self.free_ns = now_ns;
        }
    }

    /// An access that needs the heads waits for them.
    fn wait(&mut self, access: u32, about: &Access, ready_ns: u64, now_ns: u64) {
        let place = self.geometry.place(about.offset_bytes);
        let waiting = Waiting {
            access,
            start_byte: about.offset_bytes,
            track: place.track,
            angle: self.geometry.angle(&place),
            ready_ns,
            arrived_ns: now_ns,
            write: about.kind.is_write(),
        };
        self.line.push(waiting, about.background);
    }

    /// An event that this disk scheduled has occurred.
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>) {
        let ours = access == self.timer;
        if !ours {
            bench.done.push(access);
        }
        let now_ns = bench.now_ns;
        if ours && now_ns < self.ends_ns {
            // The wake-up for a stay that is over.
            return;
        }
        match self.heads {
            Heads::Free if ours => {
                self.start(bench);
                return;
            }
            Heads::Free => return,
            Heads::Read(read) => {
                if !ours && read != access {
                    return;
                }
                let about = bench.accesses[read];
                let asked_bytes = u64::from(about.length_bytes.max(1));
                let end_byte = about.offset_bytes + asked_bytes;
                let more_ns = self.read_ahead.begin(
                    now_ns,
                    self.run_byte,
                    end_byte,
                    asked_bytes,
                    &self.geometry,
                );
                if self.stay_ns == 0 && more_ns > 0 {
                    self.stay_ns = now_ns + more_ns;
                }
            }
            Heads::Write(write) if write != access => return,
            Heads::Write(_) => {}
            Heads::Run(_) if !ours => return,
            Heads::Run(run) => {
                self.writes.written(run);
                while let Some(flush) = self.writes.flushed() {
                    let decoded_ns = bench.accesses[flush].arrived_ns + self.overhead_ns;
                    bench.at(decoded_ns, flush);
                }
                self.admit_waiting(bench);
            }
        }
        self.heads = Heads::Free;
        self.free_ns = now_ns;
        self.start(bench);
    }

    /// Admits writes that waited for buffer space.
    fn admit_waiting(&mut self, bench: &mut Bench<'_>) {
        while let Some(&access) = self.writes.waiting.front() {
            let about = bench.accesses[access];
            if !self.writes.admit(about.offset_bytes, about.length_bytes) {
                return;
            }
            self.writes.waiting.pop_front();
            self.waited_ns += bench.now_ns.saturating_sub(about.arrived_ns);
            let decoded_ns = about.arrived_ns + self.overhead_ns;
            let done_ns = self.interface.send(decoded_ns.max(bench.now_ns), about.length_bytes);
            bench.at(done_ns, access);
        }
    }

    /// The heads are free and start the next work.
    fn start(&mut self, bench: &mut Bench<'_>) {
        // If writes wait for space, or flushes, emptying the buffer alternates with other work of the heads.
        let must_empty =
            (!self.writes.waiting.is_empty() || self.writes.is_flushing()) && !self.emptied;
        self.emptied = false;
        if self.line.is_empty() && self.writes.is_empty() {
            return;
        }
        let now_ns = bench.now_ns;
        let free = self.above(now_ns);
        if now_ns < self.stay_ns {
            if let Some(waiting) = self.line.next_of_run(free) {
                self.begin(waiting, free, bench);
            } else if self.wake_ns != self.stay_ns {
                self.wake_ns = self.stay_ns;
                bench.at(self.stay_ns, self.timer);
            }
            return;
        }
        if !must_empty && let Some(waiting) = self.line.next(now_ns, free, &self.geometry) {
            self.begin(waiting, free, bench);
        } else if let Some(run) = self.writes.next_run() {
            self.emptied = true;
            self.begin_run(run, free, bench);
        } else if let Some(waiting) = self.line.next(now_ns, free, &self.geometry) {
            self.begin(waiting, free, bench);
        }
    }

    /// Where the heads are; they may have read on.
    #[inline]
    fn above(&self, now_ns: u64) -> Above {
        match self.read_ahead.above(now_ns) {
            Some(byte) => {
                let place = self.geometry.place(byte);
                let ns_per_byte = 1.0 / self.geometry.bytes_per_ns(&place);
                let near_byte = self.read_ahead.near_byte(now_ns).unwrap_or(0);
                Above { track: place.track, byte, near_byte, ns_per_byte }
            }
            None => Above::track(self.track),
        }
    }

    /// The heads move away.
    #[inline]
    fn leave(&mut self, now_ns: u64) {
        self.read_ahead.stop(now_ns);
        self.stay_ns = 0;
    }

    fn begin(&mut self, waiting: Waiting, free: Above, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        let about = bench.accesses[waiting.access];
        self.waited_ns += now_ns - waiting.arrived_ns;
        if free.comes_to(&waiting) {
            let end_byte = waiting.start_byte + u64::from(about.length_bytes.max(1));
            let (start_byte, geometry) = (waiting.start_byte, &self.geometry);
            if let Some(at_ns) =
                self.read_ahead.continues_at(now_ns, start_byte, end_byte, geometry)
            {
                self.read_on(waiting.access, &about, at_ns, bench);
                return;
            }
        }
        self.count_free(now_ns);
        self.leave(now_ns);
        self.run_byte = waiting.start_byte;
        let from_ns = waiting.ready_ns.max(now_ns);
        let Waiting { track: to_track, angle, write, .. } = waiting;
        let positioning_ns =
            self.geometry.positioning_ns(from_ns, free.track, to_track, angle, write);
        let place = self.geometry.place(about.offset_bytes);
        let last = self.last_place(&place, about.offset_bytes, about.length_bytes);
        let passing_ns = self.geometry.passing_ns(&place, &last);
        let there_ns = from_ns as f64 + positioning_ns;
        let ends_ns = ((there_ns + passing_ns).round() as u64).max(from_ns);
        self.track = last.track;
        self.busy_ns += ends_ns - now_ns;
        if write {
            self.heads = Heads::Write(waiting.access);
            self.ends_ns = ends_ns;
            bench.at(ends_ns, waiting.access);
        } else {
            self.read_until(waiting.access, &about, (there_ns as u64).max(now_ns), ends_ns, bench);
        }
    }

    /// The heads read on, and have all of an access at that time.
    fn read_on(&mut self, access: u32, about: &Access, at_ns: f64, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        self.count_free(now_ns);
        if let Some(byte) = self.read_ahead.stop(now_ns) {
            self.run_byte = byte;
        }
        let ends_ns = (at_ns.round() as u64).max(now_ns);
        self.busy_ns += ends_ns - now_ns;
        let last_byte = about.offset_bytes + u64::from(about.length_bytes.max(1)) - 1;
        self.track = self.geometry.place(last_byte).track;
        self.read_until(access, about, now_ns, ends_ns, bench);
    }

    /// The heads read for an access between these times; its bytes are sent as they are read.
    fn read_until(
        &mut self,
        access: u32,
        about: &Access,
        starts_ns: u64,
        ends_ns: u64,
        bench: &mut Bench<'_>,
    ) {
        self.heads = Heads::Read(access);
        self.ends_ns = ends_ns;
        // The interface is not reserved for the time at which the bytes arrive: others use it
        // meanwhile.
        let decoded_ns = (about.arrived_ns + self.overhead_ns).max(bench.now_ns);
        let sent_ns = self.interface.send(decoded_ns, about.length_bytes);
        let done_ns =
            ends_ns.max(sent_ns).max(starts_ns + self.interface.sending_ns(about.length_bytes));
        bench.at(done_ns, access);
        if done_ns > ends_ns {
            bench.at(ends_ns, self.timer);
        }
    }

    fn begin_run(&mut self, run: Run, free: Above, bench: &mut Bench<'_>) {
        let now_ns = bench.now_ns;
        self.count_free(now_ns);
        self.leave(now_ns);
        let place = self.geometry.place(run.start_byte);
        let last = self.geometry.place(run.end_byte - 1);
        let angle = self.geometry.angle(&place);
        let positioning_ns =
            self.geometry.positioning_ns(now_ns, free.track, place.track, angle, true);
        let passing_ns = self.geometry.passing_ns(&place, &last);
        let ends_ns = (now_ns as f64 + positioning_ns + passing_ns).round() as u64;
        self.ends_ns = ends_ns.max(now_ns);
        self.busy_ns += self.ends_ns - now_ns;
        self.track = last.track;
        self.heads = Heads::Run(run);
        bench.at(self.ends_ns, self.timer);
    }

    /// The place of the last byte of a run.
    #[inline]
    fn last_place(&self, first: &Place, start_byte: u64, length_bytes: u32) -> Place {
        let more = f64::from(length_bytes.max(1) - 1) / f64::from(first.track_bytes);
        if first.share + more < 1.0 - 1e-9 {
            return Place { share: first.share + more, ..*first };
        }
        self.geometry.place(start_byte + u64::from(length_bytes.max(1)) - 1)
    }

    pub(crate) fn usage(&self, now_ns: u64) -> DeviceUse {
        let (later_ns, free_ns) = match self.heads {
            Heads::Free => (0, self.owed_ns.min(now_ns.saturating_sub(self.free_ns))),
            _ => (self.ends_ns.saturating_sub(now_ns), 0),
        };
        DeviceUse {
            servers: 1,
            // The busier one of heads and interface is the limit.
            busy_ns: self
                .busy_ns
                .saturating_add(free_ns)
                .saturating_sub(later_ns)
                .max(self.interface.busy_until(now_ns)),
            waited_ns: self.waited_ns,
            accesses: self.accesses,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use stormeter_site::Hdd;

    /// A disk of 15 000 revolutions per minute with typical figures of its time.
    pub(in crate::device) fn cheetah() -> Hdd {
        Hdd {
            rpm: 15_000.0,
            seek_track_ns: 0.2e6,
            seek_average_ns: 3.5e6,
            seek_full_ns: 7.4e6,
            write_settle_ns: 0.5e6,
            outer_bytes_per_s: 125e6,
            inner_bytes_per_s: 73e6,
            capacity_bytes: 300_000_000_000,
            interface_bytes_per_s: 400e6,
            overhead_ns: 100e3,
            queue_depth: 16,
            buffer_bytes: 16 << 20,
            write_cache: false,
        }
    }
}
