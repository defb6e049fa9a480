//! Lost disks, and an array that has lost more of them than its level tolerates.
//!
//! It goes offline. A volume is spread over all groups, so that hardly any virtual disk is intact if one
//! group is not, and controllers then refuse all of it, not only what is lost: a logical drive is offline
//! and not accessible with one disk missing at RAID 0, two at RAID 1 or 5, three at RAID 6 (IBM,
//! ServeRAID-8k user manual, table 4) and with both disks of one mirror at RAID 10 (Dell, PERC S100 user's
//! guide, table B-4). Requests in progress fail when their accesses are back; those that wait for memory,
//! and new ones, fail at once. Nothing is destaged or rebuilt any more; what memory held for the disks is
//! lost too.

use super::super::{DiskFault, FAILED, IN_FRONT, Outage, Ready};
use super::Array;
use crate::device::Bench;

impl Array {
    /// A fault happens to one of its disks.
    pub(crate) fn fault(&mut self, fault: DiskFault, bench: &mut Bench<'_>, ready: &mut Ready) {
        match fault {
            DiskFault::Slow(disk, slowness) => self.devices[disk as usize].slow_down(slowness),
            DiskFault::Lost(disk) => self.lose(disk, bench, ready),
            DiskFault::Replaced(disk) => self.replace(disk, bench),
        }
    }

    /// Since when it is offline, and why.
    pub(crate) fn outage(&self) -> Option<Outage> {
        self.outage
    }

    fn lose(&mut self, disk: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        self.rebuilds.retain(|rebuild| rebuild.disk != disk);
        self.health.set(&self.geometry, disk, 0);
        if self.outage.is_some() {
            return;
        }
        let ill = self.ill_in_group_of(disk);
        if ill > self.geometry.tolerance() {
            self.go_offline(ill, bench, ready);
        } else if self.spares > 0 {
            self.spares -= 1;
            self.take_spare(disk, bench);
        }
    }

    /// A new disk is there. It is rebuilt where a disk is missing, and a spare where a spare has stood in. An
    /// array that is offline stays so: what it had is gone.
    fn replace(&mut self, disk: u32, bench: &mut Bench<'_>) {
        if self.outage.is_some() {
            return;
        }
        let is_whole = self.health.has(disk, u64::MAX);
        if is_whole || self.rebuild_of(disk).is_some() {
            self.spares += 1;
        } else {
            self.take_spare(disk, bench);
        }
    }

    /// Of the disks that keep each other's bytes, this one among them: how many are not wholly there.
    fn ill_in_group_of(&self, disk: u32) -> u32 {
        let (disks, copies) = (self.geometry.disks, self.geometry.copies);
        let (first, count) = match copies {
            1 => (disk - disk % disks, disks),
            copies => (disk - disk % disks % copies, copies),
        };
        let ill = (first..first + count).filter(|&other| !self.health.has(other, u64::MAX));
        ill.count() as u32
    }

    fn go_offline(&mut self, disks: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        self.rebuilds.clear();
        let dirty_bytes = self.write_back.as_ref().map_or(0, |write_back| write_back.dirty());
        self.outage = Some(Outage {
            component: self.place.disks,
            since_ns: bench.now_ns,
            disks,
            bears: self.geometry.tolerance(),
            dirty_bytes,
        });
        if let Some(write_back) = &mut self.write_back {
            while let Some(request) = write_back.refuse(bench.now_ns) {
                ready.push(request.job | FAILED | IN_FRONT);
            }
            while let Some(job) = write_back.refuse_flush() {
                ready.push(job | FAILED | IN_FRONT);
            }
        }
    }
}
