//! Storage devices: how one disk handles the accesses that arrive at it.
//!
//! A device answers an access with an event: it puts the end time of the access into the event queue
//! and reports the completion when that event occurs. So a hard disk, which serves one access at a
//! time in its own order, and flash, which serves many, look the same from outside.

mod bench;
mod bulk;
mod hdd;
mod interface;
mod queue;
mod ssd;
#[cfg(test)]
mod tests;

use stormeter_site::{Device as Description, Service};

use bulk::Bulk;
use hdd::Hdd;
use queue::{Queue, Times};
use ssd::Ssd;

pub(crate) use bench::{Access, Bench, DeviceUse};

/// A device.
#[derive(Debug)]
pub(crate) enum Device {
    Hdd(Box<Hdd>),
    Ssd(Box<Ssd>),
    Queue(Box<Queue>),
    Bulk(Box<Bulk>),
}

impl Device {
    pub(crate) fn new(description: &Description) -> Self {
        match description {
            Description::Queue(queue) => match queue.service {
                Service::Single => Device::Queue(Box::new(Queue::new(queue.clone()))),
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
