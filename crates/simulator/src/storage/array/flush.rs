//! An array's part in a flush.
//!
//! Without memory for writes, a flush goes to every disk, whose caches do not know whose bytes they hold. Memory
//! that survives a loss of power has nothing to flush: such controllers keep a write until the disk's own cache
//! can no longer lose it. Memory that does not is emptied first; then the disks are flushed, if their caches are
//! volatile.

use stormeter_disk::Kind;

use super::super::plan::{BytesLost, Planned};
use super::super::raid::{Area, Shape};
use super::super::{Ready, Request};
use super::{Array, Owner, Phase};
use crate::device::Bench;
use crate::storage::cache::WriteBack;

/// A flush is of no stripe.
const NOWHERE: Area = Area { stripe: 0, shape: Shape::Run { from: 0, to: 0 } };

impl Array {
    /// A flush arrives.
    pub(super) fn flush(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        match &mut self.write_back {
            Some(write_back) if !write_back.is_volatile() => ready.push(request.job),
            Some(write_back) => match write_back.flush(request.job) {
                true => self.look_at_cache = true,
                false => self.flush_behind_memory(request.job, bench, ready),
            },
            None => self.operate(NOWHERE, Phase::Flush, Owner::Job(request.job), bench, ready),
        }
    }

    /// The disks have what was in volatile memory.
    fn flush_behind_memory(&mut self, job: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        match self.group.device.has_volatile_cache() {
            Some(true) => self.operate(NOWHERE, Phase::Flush, Owner::Job(job), bench, ready),
            Some(false) | None => ready.push(job),
        }
    }

    /// Flushes go on that memory no longer holds up; whether there are any.
    pub(super) fn end_flushes(&mut self, bench: &mut Bench<'_>, ready: &mut Ready) -> bool {
        let mut any = false;
        while let Some(job) = self.write_back.as_mut().and_then(WriteBack::flushed) {
            self.flush_behind_memory(job, bench, ready);
            any = true;
        }
        any
    }

    /// One access for each disk that is there.
    pub(super) fn plan_flush(&mut self) -> Result<(), BytesLost> {
        let there = (0..self.devices.len() as u32).filter(|&disk| self.health.has(disk, 1));
        self.plan.extend(there.map(|disk| Planned {
            disk,
            kind: Kind::Flush,
            offset_bytes: 0,
            length_bytes: 0,
        }));
        Ok(())
    }
}
