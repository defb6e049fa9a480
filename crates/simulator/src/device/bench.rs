//! What devices work with: accesses, events and the time; and what they have done.

use rand_xoshiro::Xoshiro256PlusPlus;
use stormeter_disk::Kind;

use crate::machine::{EventQueue, access_token};
use crate::slab::Slab;

/// An access to a device, or an event of the storage around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    /// Index of the storage within the machine.
    pub(crate) store: u32,
    /// Index of the device within the storage.
    pub(crate) device: u32,
    /// What it does; a flush has no bytes.
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
        self.events.push(at_ns.max(self.now_ns), access_token(access));
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
