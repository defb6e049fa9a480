//! Where requests end up: disks in a host, controllers with caches and RAID groups, nodes of a
//! distributed datastore.
//!
//! A storage takes a request and gives it back when it is done, at once or after events of its
//! devices. It knows nothing of the way there.

mod node;
mod plain;

use stormeter_disk::Kind;
use stormeter_site::DiskGroup;

use crate::device::{Bench, DeviceUse};
pub(crate) use node::Node;
use plain::Plain;

/// A job's bit in [`Ready`]: its request failed.
pub(crate) const FAILED: u32 = 1 << 31;
/// A job's bit in [`Ready`]: flash or memory in front of the disks had its request; its time is of
/// the component numbered before that of its step.
pub(crate) const FLASH: u32 = 1 << 30;

/// A request as a storage sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The job that waits for it.
    pub(crate) job: u32,
    pub(crate) kind: Kind,
    /// Which of the machine's virtual disks.
    pub(crate) disk: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
}

/// A storage at work.
#[derive(Debug)]
pub(crate) enum Store {
    Plain(Plain),
    Node(Box<Node>),
}

/// What happens to a disk of a storage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DiskFault {
    /// It is gone; its content is rebuilt where there is redundancy and a spare.
    Lost(u32),
    /// It takes so many times as long from now on; 1 mends it.
    Slow(u32, f64),
}

/// Jobs that a storage is done with, those that failed with the bit [`FAILED`].
pub(crate) type Ready = Vec<u32>;

impl Store {
    /// Disks without cache or parity.
    pub(crate) fn plain(number: u32, component: u32, group: &DiskGroup, disk_bytes: u64) -> Self {
        Store::Plain(Plain::new(number, component, group, disk_bytes))
    }

    /// A request comes.
    pub(crate) fn arrive(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        match self {
            Store::Plain(plain) => plain.arrive(request, bench, ready),
            Store::Node(node) => node.arrive(request, bench, ready),
        }
    }

    /// An event of one of its accesses has come.
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        match self {
            Store::Plain(plain) => plain.event(access, bench, ready),
            Store::Node(node) => node.event(access, bench, ready),
        }
    }

    /// Something happens to one of its disks.
    pub(crate) fn fault(&mut self, fault: DiskFault, _bench: &mut Bench<'_>) {
        match self {
            Store::Plain(plain) => plain.fault(fault),
            Store::Node(node) => node.fault(fault),
        }
    }

    /// What each of its devices did until now, with the component that it belongs to.
    pub(crate) fn usage(&self, now_ns: u64, each: &mut dyn FnMut(u32, DeviceUse)) {
        match self {
            Store::Plain(plain) => plain.usage(now_ns, each),
            Store::Node(node) => node.usage(now_ns, each),
        }
    }
}
