//! Storage devices: how one disk handles the accesses that arrive at it.
//!
//! A device answers an access with an event: it puts the end time of the access into the event queue
//! and reports the completion when that event occurs. So a hard disk, which serves one access at a
//! time in its own order, and flash, which serves many, look the same from outside.

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
    /// Index of the storage within the machine.
    pub(crate) store: u32,
    /// Index of the device within the storage.
    pub(crate) device: u32,
    /// Read or write.
    pub(crate) kind: Kind,
    /// Whether no request waits for it, so that it may be served later.
    pub(crate) background: bool,
    /// Offset on the device.
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
    /// When it arrived at the device.
    pub(crate) arrived_ns: u64,
    /// Its owner, as an identifier of the storage.
    pub(crate) owner: u32,
    /// Its purpose, as defined by the storage or, for a device's own events, by the device.
    pub(crate) purpose: u32,
}

/// The accesses in progress and the means to serve them.
pub(crate) struct Bench<'a> {
    pub(crate) now_ns: u64,
    pub(crate) accesses: &'a mut Slab<Access>,
    pub(crate) events: &'a mut EventQueue,
    pub(crate) random: &'a mut Xoshiro256PlusPlus,
    /// Completed accesses; their owners free the slots.
    pub(crate) done: &'a mut Vec<u32>,
}

impl Bench<'_> {
    /// Schedules the event of an access.
    pub(crate) fn at(&mut self, at_ns: u64, access: u32) {
        self.events.push(at_ns.max(self.now_ns), crate::machine::access_token(access));
    }
}

/// What a device has done since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeviceUse {
    /// The most accesses served concurrently.
    pub(crate) servers: u32,
    pub(crate) busy_ns: u64,
    pub(crate) waited_ns: u64,
    pub(crate) accesses: u64,
}

/// A device.
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

    /// An access arrives.
    pub(crate) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        match self {
            Device::Hdd(hdd) => hdd.arrive(access, bench),
            Device::Ssd(ssd) => ssd.arrive(access, bench),
            Device::Queue(queue) => queue.arrive(access, bench),
            Device::Bulk(bulk) => bulk.arrive(access, bench),
        }
    }

    /// An event that this device scheduled has occurred.
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>) {
        match self {
            Device::Hdd(hdd) => hdd.event(access, bench),
            Device::Ssd(ssd) => ssd.event(access, bench),
            Device::Queue(_) => bench.done.push(access),
            Device::Bulk(bulk) => bulk.event(access, bench),
        }
    }

    /// Everything takes this many times as long from now on.
    pub(crate) fn slow_down(&mut self, slowness: f64) {
        match self {
            Device::Hdd(hdd) => hdd.slow_down(slowness),
            Device::Ssd(ssd) => ssd.slow_down(slowness),
            Device::Queue(queue) => queue.slow_down(slowness),
            Device::Bulk(bulk) => bulk.slow_down(slowness),
        }
    }

    /// Background work gets this share of the turns that others want, 0 to 1. Only hard disks have
    /// turns.
    pub(crate) fn hurry(&mut self, share: f64) {
        if let Device::Hdd(hdd) = self {
            hdd.hurry(share);
        }
    }

    /// What has been done until now.
    pub(crate) fn usage(&self, now_ns: u64) -> DeviceUse {
        match self {
            Device::Hdd(hdd) => hdd.usage(now_ns),
            Device::Ssd(ssd) => ssd.usage(now_ns),
            Device::Queue(queue) => queue.usage(now_ns),
            Device::Bulk(bulk) => bulk.usage(now_ns),
        }
    }
}
