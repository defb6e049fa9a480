//! The write buffer of a disk group: a log in flash from which bytes move to the capacity devices.
//!
//! A write that finds no space waits, first come, first served. Its fill level, and how long writes
//! waited, are reported like those of a controller's memory: writes meet a full buffer, and the
//! devices behind it are the cause.

use std::collections::VecDeque;

use super::super::{Fill, Request, Settled};
use crate::device::DeviceUse;

/// A write buffer.
#[derive(Debug)]
pub(super) struct WriteBuffer {
    bytes: u64,
    dirty_bytes: u64,
    /// Bytes of a load that has lasted for long: they keep room, and none of them leaves in this trial.
    held_bytes: u64,
    /// Where the next written bytes go.
    head_bytes: u64,
    /// Writes that found no space, and since when they wait.
    waiting: VecDeque<(Request, u64)>,
    /// Bytes that arrived and that left.
    moved: (u64, u64),
    /// Time times how full it was, until `since_ns`.
    full_ns: f64,
    since_ns: u64,
    waited_ns: u64,
    writes: u64,
}

impl WriteBuffer {
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            bytes,
            dirty_bytes: 0,
            held_bytes: 0,
            head_bytes: 0,
            waiting: VecDeque::new(),
            moved: (0, 0),
            full_ns: 0.0,
            since_ns: 0,
            waited_ns: 0,
            writes: 0,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.bytes > 0
    }

    pub(super) fn dirty_bytes(&self) -> u64 {
        self.dirty_bytes + self.held_bytes
    }

    /// Whether a write is accepted now; it waits if not.
    pub(super) fn arrive(&mut self, request: Request, now_ns: u64) -> bool {
        if self.waiting.is_empty() && self.has_room(request) {
            return true;
        }
        self.waiting.push_back((request, now_ns));
        false
    }

    /// The next waiting write for which there is space now, and how long it waited.
    pub(super) fn admit(&mut self, now_ns: u64) -> Option<(Request, u64)> {
        let &(request, since_ns) = self.waiting.front()?;
        if !self.has_room(request) {
            return None;
        }
        self.waiting.pop_front();
        self.waited_ns += now_ns - since_ns;
        Some((request, now_ns - since_ns))
    }

    /// What is larger than all of it fits when it is empty.
    fn has_room(&self, request: Request) -> bool {
        let length = u64::from(request.length_bytes);
        self.dirty_bytes() + length <= self.bytes || self.dirty_bytes == 0
    }

    /// This many bytes arrive; returns where they are written.
    pub(super) fn keep(&mut self, length_bytes: u32, now_ns: u64) -> u64 {
        let length = u64::from(length_bytes);
        self.writes += 1;
        self.moved.0 += length;
        self.change(self.dirty_bytes + length, now_ns);
        let at = self.head_bytes;
        self.head_bytes = (at + length) % self.bytes.max(1);
        at
    }

    /// This many bytes are on a capacity device.
    pub(super) fn left(&mut self, bytes: u64, now_ns: u64) {
        self.moved.1 += bytes;
        self.change(self.dirty_bytes - bytes, now_ns);
    }

    /// If more arrives than leaves, it is full from now on, as after a longer time of the same load.
    pub(super) fn fill_up(&mut self, now_ns: u64) -> Option<Settled> {
        let mut before = Fill::default();
        self.add_to(&mut before);
        if self.held_bytes > 0 || before.growth(&Fill::default()) == 0 {
            return None;
        }
        let room_bytes = self.bytes.saturating_sub(self.dirty_bytes);
        self.change(self.dirty_bytes, now_ns);
        self.held_bytes = room_bytes;
        Some(Settled { before, room_bytes })
    }

    fn change(&mut self, dirty_bytes: u64, now_ns: u64) {
        self.full_ns += self.share() * (now_ns - self.since_ns) as f64;
        self.since_ns = now_ns;
        self.dirty_bytes = dirty_bytes;
    }

    /// How full it is, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        // With a request that is larger than all of it, it is full.
        (self.dirty_bytes() as f64 / self.bytes.max(1) as f64).min(1.0)
    }

    /// Adds its state to that of others.
    pub(super) fn add_to(&self, fill: &mut Fill) {
        fill.capacity_bytes += self.bytes;
        fill.dirty_bytes += self.dirty_bytes();
        fill.in_bytes += self.moved.0;
        fill.out_bytes += self.moved.1;
    }

    /// One unit, whose utilisation is its fill level.
    pub(super) fn usage(&self, now_ns: u64) -> DeviceUse {
        let since_ns = now_ns.saturating_sub(self.since_ns) as f64;
        let waits = self.waiting.iter().map(|(_, since_ns)| now_ns.saturating_sub(*since_ns));
        DeviceUse {
            servers: 1,
            busy_ns: (self.full_ns + self.share() * since_ns) as u64,
            waited_ns: self.waited_ns + waits.sum::<u64>(),
            accesses: self.writes,
        }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_disk::Kind;

    use super::*;

    fn write(job: u32, length_bytes: u32) -> Request {
        Request {
            job,
            kind: Kind::Write,
            disk: 0,
            offset_bytes: 0,
            length_bytes,
            background: false,
        }
    }

    #[test]
    fn it_is_as_busy_as_it_is_full_and_waits_are_counted_while_they_last() {
        let mut buffer = WriteBuffer::new(1000);
        assert!(buffer.arrive(write(0, 600), 0));
        assert_eq!(buffer.keep(600, 0), 0);
        // A later write that would fit does not overtake a waiting one.
        assert!(!buffer.arrive(write(1, 600), 100));
        assert!(!buffer.arrive(write(2, 100), 100));
        assert!(buffer.admit(150).is_none());
        let usage = buffer.usage(200);
        assert_eq!(usage, DeviceUse { servers: 1, busy_ns: 120, waited_ns: 200, accesses: 1 });
        buffer.left(600, 300);
        let (first, waited_ns) = buffer.admit(300).expect("room");
        assert_eq!((first.job, waited_ns), (1, 200));
        assert_eq!(buffer.keep(600, 300), 600);
        assert_eq!(buffer.admit(300).map(|(next, _)| next.job), Some(2));
        assert_eq!(buffer.keep(100, 300), 200);
        let usage = buffer.usage(400);
        assert_eq!(usage, DeviceUse { servers: 1, busy_ns: 250, waited_ns: 400, accesses: 3 });
        // What is larger than all of it is admitted alone.
        buffer.left(700, 400);
        assert!(buffer.arrive(write(3, 5000), 400));
        buffer.keep(5000, 400);
        assert_eq!(buffer.usage(500).busy_ns, 350);
    }
}
