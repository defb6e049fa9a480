//! Storage devices: what one disk does with the accesses that come to it.
//!
//! A device answers an access by an event of its own making: it puts the time at which the access
//! ends into the queue of events and says so when that event comes. So a disk with heads, which
//! serves one access at a time in an order of its own, and flash, which serves many, look alike from
//! outside.

mod bulk;
mod hdd;
mod interface;
mod queue;
mod ssd;
#[cfg(test)]
mod tests;

use rand_xoshiro::Xoshiro256PlusPlus;
use stormeter_disk::Kind;
use stormeter_site::{Device as Description, Service};

use crate::machine::EventQueue;
use crate::slab::Slab;
use bulk::Bulk;
use hdd::Hdd;
use queue::{Queue, Times};
use ssd::Ssd;

/// An access to a device, or an event of the storage around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    /// Which of the machine's storages it belongs to.
    pub(crate) store: u32,
    /// Which of the storage's devices.
    pub(crate) device: u32,
    /// Read or write.
    pub(crate) kind: Kind,
    /// Whether a request waits for it; what does not may be served later.
    pub(crate) background: bool,
    /// Where on the device.
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
    /// When it came to the device.
    pub(crate) arrived_ns: u64,
    /// Whose it is, in the words of the storage.
    pub(crate) owner: u32,
    /// What it is for, in the words of the storage or, for events that a device makes for itself, of
    /// the device.
    pub(crate) purpose: u32,
}

/// The accesses under way and the means to serve them.
pub(crate) struct Bench<'a> {
    pub(crate) now_ns: u64,
    pub(crate) accesses: &'a mut Slab<Access>,
    pub(crate) events: &'a mut EventQueue,
    pub(crate) random: &'a mut Xoshiro256PlusPlus,
    /// Accesses that are done; whoever gave them frees their places.
    pub(crate) done: &'a mut Vec<u32>,
}

impl Bench<'_> {
    /// The event of an access comes at that time.
    pub(crate) fn at(&mut self, at_ns: u64, access: u32) {
        self.events.push(at_ns.max(self.now_ns), crate::machine::access_token(access));
    }
}

/// What a device did since the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeviceUse {
    /// Accesses that may be served at the same time.
    pub(crate) servers: u32,
    pub(crate) busy_ns: u64,
    pub(crate) waited_ns: u64,
    pub(crate) accesses: u64,
}

/// A device at work.
#[derive(Debug)]
pub(crate) enum Device {
    Hdd(Box<Hdd>),
    Ssd(Box<Ssd>),
    Queue(Queue),
    Bulk(Box<Bulk>),
}

impl Device {
    pub(crate) fn new(description: &Description) -> Self {
        match description {
            Description::Queue(queue) => match queue.service {
                Service::Single => Device::Queue(Queue::new(queue.clone())),
                Service::Bulk => {
                    Device::Bulk(Box::new(Bulk::new(Times::new(queue.clone()), queue.servers)))
                }
            },
            Description::Hdd(hdd) => Device::Hdd(Box::new(Hdd::new(hdd.clone()))),
            Description::Ssd(ssd) => Device::Ssd(Box::new(Ssd::new(ssd.clone()))),
        }
    }

    /// An access comes.
    pub(crate) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        match self {
            Device::Hdd(hdd) => hdd.arrive(access, bench),
            Device::Ssd(ssd) => ssd.arrive(access, bench),
            Device::Queue(queue) => queue.arrive(access, bench),
            Device::Bulk(bulk) => bulk.arrive(access, bench),
        }
    }

    /// An event that this device put in has come.
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>) {
        match self {
            Device::Hdd(hdd) => hdd.event(access, bench),
            Device::Ssd(ssd) => ssd.event(access, bench),
            Device::Queue(_) => bench.done.push(access),
            Device::Bulk(bulk) => bulk.event(access, bench),
        }
    }

    /// Takes so many times as long from now on.
    pub(crate) fn slow_down(&mut self, slowness: f64) {
        match self {
            Device::Hdd(hdd) => hdd.slow_down(slowness),
            Device::Ssd(ssd) => ssd.slow_down(slowness),
            Device::Queue(queue) => queue.slow_down(slowness),
            Device::Bulk(bulk) => bulk.slow_down(slowness),
        }
    }

    /// Work that nobody waits for gets this share of the turns that others want, 0 to 1. Only heads
    /// have turns to give.
    pub(crate) fn hurry(&mut self, share: f64) {
        if let Device::Hdd(hdd) = self {
            hdd.hurry(share);
        }
    }

    /// What was done until now.
    pub(crate) fn usage(&self, now_ns: u64) -> DeviceUse {
        match self {
            Device::Hdd(hdd) => hdd.usage(now_ns),
            Device::Ssd(ssd) => ssd.usage(now_ns),
            Device::Queue(queue) => queue.usage(now_ns),
            Device::Bulk(bulk) => bulk.usage(now_ns),
        }
    }
}
