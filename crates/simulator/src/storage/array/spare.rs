//! An array's part in a rebuild: it replaces the lost disk with the spare and copies the pieces from
//! the other disks to it.

use stormeter_disk::Kind;

use super::super::Ready;
use super::super::plan::{BytesLost, Planned};
use super::super::raid::{Area, Shape};
use super::super::rebuild::{self, Next, Rebuild};
use super::{Array, OWN, Owner, Phase};
use crate::device::{Access, Bench};

impl Array {
    /// A spare takes the place of a lost disk; its rebuild starts.
    pub(super) fn take_spare(&mut self, disk: u32, bench: &mut Bench<'_>) {
        // The spare replaces the lost disk and is healthy.
        self.devices[disk as usize].slow_down(1.0);
        let load = self.place.load;
        let volume_bytes = u64::from(load.vms) * load.disk_bytes;
        let rebuild = Rebuild::new(disk, &self.group, &self.geometry, volume_bytes, bench.now_ns);
        self.rebuilds.push(rebuild);
        // By an event, because what follows may complete requests.
        self.rebuild_later(disk, bench.now_ns, bench);
    }

    pub(super) fn rebuild_of(&mut self, disk: u32) -> Option<&mut Rebuild> {
        self.rebuilds.iter_mut().find(|rebuild| rebuild.disk == disk)
    }

    /// The rebuild of a disk continues as far as it may.
    pub(super) fn rebuild(&mut self, disk: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        while let Some(rebuild) = self.rebuild_of(disk) {
            match rebuild.next(bench.now_ns) {
                Next::Piece(from, to) => {
                    let area = Area { stripe: 0, shape: Shape::Run { from, to } };
                    self.operate(area, Phase::Read, Owner::Rebuild(disk), bench, ready);
                }
                Next::NotBefore(at_ns) => {
                    if !std::mem::replace(&mut rebuild.timer, true) {
                        self.rebuild_later(disk, at_ns, bench);
                    }
                    return;
                }
                Next::Wait => return,
                Next::Done => {
                    self.rebuilds.retain(|rebuild| rebuild.disk != disk);
                    self.health.set(&self.geometry, disk, u64::MAX);
                    return;
                }
            }
        }
    }

    fn rebuild_later(&mut self, disk: u32, at_ns: u64, bench: &mut Bench<'_>) {
        let access = bench.accesses.insert(Access {
            store: self.place.number,
            device: OWN,
            kind: Kind::Read,
            background: true,
            offset_bytes: 0,
            length_bytes: 0,
            arrived_ns: bench.now_ns,
            owner: disk,
            purpose: 0,
        });
        bench.at(at_ns, access);
    }

    pub(super) fn plan_rebuild(
        &mut self,
        disk: u32,
        area: Area,
        phase: Phase,
    ) -> Result<(), BytesLost> {
        let Shape::Run { from, to } = area.shape else { return Err(BytesLost) };
        if phase == Phase::Read {
            let Self { geometry, health, plan, .. } = self;
            return rebuild::reads(disk, (from, to), geometry, health, plan);
        }
        self.plan.push(Planned {
            disk,
            kind: Kind::Write,
            offset_bytes: from,
            length_bytes: (to - from) as u32,
        });
        Ok(())
    }

    /// A piece is on the spare, or can no longer be read: then the rebuild ends there.
    pub(super) fn piece_done(
        &mut self,
        disk: u32,
        area: Area,
        failed: bool,
        bench: &mut Bench<'_>,
        ready: &mut Ready,
    ) {
        if failed {
            self.rebuilds.retain(|rebuild| rebuild.disk != disk);
            return;
        }
        let Shape::Run { from, .. } = area.shape else { return };
        let Some(good_bytes) = self.rebuild_of(disk).map(|rebuild| rebuild.done(from)) else {
            return;
        };
        self.health.set(&self.geometry, disk, good_bytes);
        self.rebuild(disk, bench, ready);
    }
}
