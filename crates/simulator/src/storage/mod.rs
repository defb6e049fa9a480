//! Storage: disks in a host, controllers with caches and RAID groups, nodes of a distributed
//! datastore.
//!
//! A storage accepts a request and returns it when it is done, at once or after events of its
//! devices. It knows nothing about the path to it.

mod array;
mod cache;
mod destage;
mod hit_rate;
mod in_place;
mod node;
mod plan;
mod raid;
mod read_ahead;
mod rebuild;
mod request;
mod spread;

use stormeter_site::{Cache, DiskGroup};

use crate::device::{Bench, DeviceUse};

pub(crate) use array::{Array, Place};
pub(crate) use node::{Components, Node};
pub(crate) use raid::Geometry;
pub(crate) use request::{
    DiskFault, FAILED, FOR_ROOM, Fill, IN_FRONT, Outage, Ready, Request, Settled,
};

/// A storage.
#[derive(Debug)]
pub(crate) enum Store {
    Array(Box<Array>),
    Node(Box<Node>),
}

impl Store {
    /// RAID groups; without a cache reads and writes go through to the disks.
    pub(crate) fn array(place: Place, group: &DiskGroup, cache: Option<&Cache>) -> Self {
        Store::Array(Box::new(Array::new(place, group, cache)))
    }

    /// The component in front of its disks, for jobs with the bit [`IN_FRONT`], or for those with
    /// the bit [`FOR_ROOM`].
    pub(crate) fn front(&self, for_room: bool) -> u32 {
        match self {
            Store::Array(array) => array.memory(),
            Store::Node(node) => node.front(for_room),
        }
    }

    /// A request arrives.
    pub(crate) fn arrive(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        match self {
            Store::Array(array) => array.arrive(request, bench, ready),
            Store::Node(node) => node.arrive(request, bench, ready),
        }
    }

    /// An event of one of its accesses has occurred.
    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        match self {
            Store::Array(array) => array.event(access, bench, ready),
            Store::Node(node) => node.event(access, bench, ready),
        }
    }

    /// A fault happens to one of its disks.
    pub(crate) fn fault(&mut self, fault: DiskFault, bench: &mut Bench<'_>, ready: &mut Ready) {
        match self {
            Store::Array(array) => array.fault(fault, bench, ready),
            Store::Node(node) => node.fault(fault),
        }
    }

    /// Whether it has lost data.
    pub(crate) fn outage(&self) -> Option<Outage> {
        match self {
            Store::Array(array) => array.outage(),
            Store::Node(_) => None,
        }
    }

    /// The state of its write memory, if it has any.
    pub(crate) fn fill(&self) -> Option<Fill> {
        match self {
            Store::Array(array) => array.fill(),
            Store::Node(node) => node.fill(),
        }
    }

    /// Write memories to which more comes than leaves are full from now on, as after a longer time of the same
    /// load; returns what was so far, if there are any.
    pub(crate) fn fill_up(&mut self, now_ns: u64) -> Option<Settled> {
        match self {
            Store::Array(array) => array.fill_up(now_ns),
            Store::Node(node) => node.fill_up(now_ns),
        }
    }

    /// What each of its devices did until now, with the component that it belongs to.
    pub(crate) fn usage(&self, now_ns: u64, each: &mut dyn FnMut(u32, DeviceUse)) {
        match self {
            Store::Array(array) => array.usage(now_ns, each),
            Store::Node(node) => node.usage(now_ns, each),
        }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_site::{Device, DiskGroup, Queue, Raid, Service, Spread, Ssd};

    /// Groups of such disks: 1 ms per read, 2 ms per write, units of 64 KiB.
    pub(super) fn group(raid: Raid, disks: u32, groups: u32) -> DiskGroup {
        DiskGroup {
            name: "disk".into(),
            raid,
            disks,
            groups,
            spares: 0,
            stripe_bytes: 65_536,
            rebuild_bytes_per_s: None,
            device: Device::Queue(Queue {
                servers: 1,
                read_ns: 1e6,
                write_ns: 2e6,
                per_byte_ns: 0.0,
                per_written_byte_ns: 0.0,
                shared_per_byte_ns: 0.0,
                shared_per_written_byte_ns: 0.0,
                shared_per_io_ns: 0.0,
                shared_per_write_ns: 0.0,
                spread: Spread::Constant,
                service: Service::Single,
                write_cache: None,
                flush_ns: 0.0,
            }),
        }
    }

    /// The same groups, of flash of that size: the size of a queue is unknown.
    pub(super) fn of_size(mut group: DiskGroup, capacity_bytes: u64) -> DiskGroup {
        group.device = Device::Ssd(Ssd {
            channels: 1,
            page_bytes: 4096,
            read_ns: 1.0,
            program_ns: 1.0,
            erase_ns: 1.0,
            pages_per_block: 64,
            spare_share: 0.1,
            filled_share: 0.0,
            capacity_bytes,
            interface_bytes_per_s: 1e9,
            overhead_ns: 1.0,
            write_buffer_bytes: 0,
            power_loss_protection: true,
            queue_depth: 32,
        });
        group
    }
}
