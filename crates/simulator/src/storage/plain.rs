//! Disks without cache or parity: a request is one access to one disk, or one to each that it spans.

use stormeter_site::DiskGroup;

use super::{DiskFault, FAILED, Ready, Request};
use crate::device::{Access, Bench, Device, DeviceUse};
use crate::slab::Slab;

/// Striped disks.
#[derive(Debug)]
pub(crate) struct Plain {
    number: u32,
    component: u32,
    devices: Vec<Device>,
    stripe_bytes: u64,
    /// Where each virtual disk begins.
    disk_bytes: u64,
    /// Requests under way: the job and how many accesses it waits for.
    waiting: Slab<(u32, u32)>,
    lost: Option<u32>,
}

impl Plain {
    pub(crate) fn new(number: u32, component: u32, group: &DiskGroup, disk_bytes: u64) -> Self {
        let count = group.disks * group.groups;
        Self {
            number,
            component,
            devices: (0..count).map(|_| Device::new(&group.device)).collect(),
            stripe_bytes: group.stripe_bytes.max(512),
            disk_bytes,
            waiting: Slab::default(),
            lost: None,
        }
    }

    pub(crate) fn arrive(&mut self, request: Request, bench: &mut Bench<'_>, _ready: &mut Ready) {
        let mut at = u64::from(request.disk) * self.disk_bytes + request.offset_bytes;
        let mut left = u64::from(request.length_bytes);
        let owner = self.waiting.insert((request.job, 0));
        while left > 0 {
            let (stripe, within) = (at / self.stripe_bytes, at % self.stripe_bytes);
            let length = left.min(self.stripe_bytes - within);
            let devices = self.devices.len() as u64;
            let access = bench.accesses.insert(Access {
                store: self.number,
                device: (stripe % devices) as u32,
                kind: request.kind,
                background: false,
                offset_bytes: stripe / devices * self.stripe_bytes + within,
                length_bytes: length as u32,
                arrived_ns: bench.now_ns,
                owner,
                purpose: 0,
            });
            self.waiting[owner].1 += 1;
            self.devices[(stripe % devices) as usize].arrive(access, bench);
            at += length;
            left -= length;
        }
    }

    pub(crate) fn event(&mut self, access: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let device = bench.accesses[access].device as usize;
        self.devices[device].event(access, bench);
        while let Some(done) = bench.done.pop() {
            let owner = bench.accesses[done].owner;
            bench.accesses.free(done);
            let (job, left) = &mut self.waiting[owner];
            *left -= 1;
            if self.lost == Some(device as u32) {
                *job |= FAILED;
            }
            if *left == 0 {
                ready.push(*job);
                self.waiting.free(owner);
            }
        }
    }

    /// Without redundancy a lost disk fails what is asked of it.
    pub(crate) fn fault(&mut self, fault: DiskFault) {
        match fault {
            DiskFault::Lost(disk) => self.lost = Some(disk),
            DiskFault::Slow(disk, slowness) => self.devices[disk as usize].slow_down(slowness),
        }
    }

    pub(crate) fn usage(&self, now_ns: u64, each: &mut dyn FnMut(u32, DeviceUse)) {
        for device in &self.devices {
            each(self.component, device.usage(now_ns));
        }
    }
}
