//! What the loop does in an open loop: issues requests that fall due, and accounts for time spent awake
//! only to be on time.

use stormeter_disk::{Clock, Disks, DisksError};

use super::{Drive, Phase};
use crate::observer::Observer;
use crate::pacing::Pacing;
use crate::verify::Verification;

/// Checking for completions takes less than this, including the system call.
const SPIN_TURN_NS: u64 = 10_000;

impl<D: Disks, C: Clock, O: Observer, V: Verification> Drive<'_, D, C, O, V> {
    /// Submits what is due, oldest first, as far as there are free slots.
    pub(super) fn issue_arrivals(&mut self, now_ns: u64) -> Result<(), DisksError> {
        let window_start_ns = self.start_ns + self.trial.ramp_ns;
        if let Pacing::Open { log, .. } = &mut self.pacing {
            log.turn(now_ns);
        }
        loop {
            let Pacing::Open { due, free, log } = &mut self.pacing else { return Ok(()) };
            let due_ns = due.next_ns();
            if due_ns > now_ns {
                return Ok(());
            }
            let Some(slot) = free.pop() else {
                log.full();
                return Ok(());
            };
            let disk = due.take();
            self.worked = true;
            if due_ns >= window_start_ns {
                self.due_operations += 1;
            }
            if self.phase == Phase::Window {
                log.leaves(due_ns);
                // It has been waiting since it was due; its latency includes that, and so does
                // this.
                let waited_ns = now_ns.saturating_sub(due_ns.max(window_start_ns));
                self.outstanding_integral += u128::from(waited_ns);
                self.carried_ns -= window_start_ns.saturating_sub(due_ns) as i64;
            }
            self.issue_due_one(slot, disk, due_ns)?;
        }
    }

    /// [`Drive::issue`] for a request of an open loop.
    #[inline(never)]
    fn issue_due_one(&mut self, slot: u32, disk: u32, due_ns: u64) -> Result<(), DisksError> {
        self.issue::<true>(slot, disk, due_ns)
    }

    /// A turn of this length found nothing to do. It was spent only to be on time, unless it includes the work of
    /// the previous turn (what that turn issued is passed to the kernel by this one's check), or is so long that
    /// the thread was not running or an interrupt was handled meanwhile.
    #[inline]
    pub(super) fn spin(&mut self, turn_ns: u64) {
        if !std::mem::take(&mut self.worked) && turn_ns <= SPIN_TURN_NS {
            self.spun_ns += turn_ns;
        }
    }
}
