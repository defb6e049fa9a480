//! What follows a completion if that is not simply the next request: bursts with pauses, arrivals, flushes.

use std::cmp::Reverse;

use stormeter_disk::{Clock, Disks, DisksError};
use stormeter_trial::Arrivals;

use super::{Drive, Phase};
use crate::observer::Observer;
use crate::pacing::Pacing;
use crate::verify::Verification;

impl<D: Disks, C: Clock, O: Observer, V: Verification> Drive<'_, D, C, O, V> {
    /// What follows a completion in all cases other than simply the next request.
    #[inline(never)]
    pub(super) fn rest(
        &mut self,
        slot: u32,
        disk: u32,
        is_counted: bool,
        now_ns: u64,
    ) -> Result<(), DisksError> {
        if self.flushes.is_some() && self.flush_after(slot, disk)? {
            return Ok(());
        }
        match &mut self.pacing {
            Pacing::Closed => {}
            Pacing::Flushed => {
                if self.phase != Phase::Drain {
                    let started_ns = self.clock.now_ns();
                    return self.issue_apart(slot, disk, started_ns);
                }
            }
            Pacing::Bursts { burst, disks, resting } => {
                let outstanding = match self.trial.workload.arrivals {
                    Arrivals::Closed { outstanding } => outstanding as usize,
                    _ => 0,
                };
                let state = &mut disks[disk as usize];
                if state.left > 0 && self.phase != Phase::Drain {
                    state.left -= 1;
                    let started_ns = self.clock.now_ns();
                    return self.issue_apart(slot, disk, started_ns);
                }
                state.idle.push(slot);
                if state.idle.len() == outstanding {
                    state.left = burst.length;
                    resting.push(Reverse((now_ns + burst.delay_ns, disk)));
                }
            }
            Pacing::Open { free, log, .. } => {
                if is_counted {
                    log.ended(slot, self.slots[slot as usize].started_ns, now_ns);
                }
                free.push(slot);
                self.worked = true;
            }
        }
        Ok(())
    }

    pub(super) fn begin_bursts(&mut self, now_ns: u64) -> Result<(), DisksError> {
        loop {
            let Pacing::Bursts { disks, resting, .. } = &mut self.pacing else { return Ok(()) };
            match resting.peek() {
                Some(&Reverse((at_ns, disk))) if at_ns <= now_ns => {
                    let state = &mut disks[disk as usize];
                    let slot = if state.left > 0 { state.idle.pop() } else { None };
                    match slot {
                        Some(slot) => {
                            state.left -= 1;
                            let started_ns = self.clock.now_ns();
                            self.issue_apart(slot, disk, started_ns)?;
                        }
                        None => {
                            resting.pop();
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }
}
