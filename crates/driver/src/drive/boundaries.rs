//! What the loop does at fixed times: start and end of the window, interval rows, and checks for
//! limits and cancellation.

use stormeter_disk::{Clock, Disks};

use super::{Drive, Phase};
use crate::observer::Observer;
use crate::pacing::Pacing;
use crate::turns::LOOK_UP_NS;
use crate::verify::Verification;
use stormeter_trial::Ended;

impl<D: Disks, C: Clock, O: Observer, V: Verification> Drive<'_, D, C, O, V> {
    /// Handles everything that is due: start and end of the window, interval rows, and checks for
    /// limits and cancellation.
    #[cold]
    #[inline(never)]
    pub(super) fn pass_boundaries(&mut self, now_ns: u64) -> Option<Ended> {
        let window_start_ns = self.start_ns + self.trial.ramp_ns;
        let window_end_ns = window_start_ns + self.trial.duration_ns;
        if self.phase == Phase::Ramp && now_ns >= window_start_ns {
            self.phase = Phase::Window;
            self.interval_start_ns = window_start_ns;
            self.carried_ns -= self.outstanding_age_ns(window_start_ns);
            // The turn in which the window opened was partly within it.
            self.outstanding_integral =
                u128::from(self.outstanding) * u128::from(now_ns - window_start_ns);
            self.turn_wait_ns = self.begun_later_ns(window_start_ns);
            self.observer.window_opened();
        }
        while self.phase == Phase::Window {
            let end_ns = (self.interval_start_ns + self.trial.interval_ns).min(window_end_ns);
            if now_ns < end_ns {
                break;
            }
            let start_ns = self.interval_start_ns - window_start_ns;
            let row = self.recorder.close_interval(start_ns, end_ns - self.interval_start_ns);
            self.observer.interval(&row);
            if self.observer.wants_latencies(&row) {
                self.observer.latencies(self.recorder.latencies_since());
            }
            self.interval_start_ns = end_ns;
            if end_ns == window_end_ns {
                self.close_window(window_end_ns, now_ns);
            }
        }
        if self.observer.cancelled() {
            return Some(Ended::Cancelled);
        }
        if self.recorder.io_failures() >= self.trial.limits.max_io_failures {
            return Some(Ended::TooManyErrors);
        }
        if let Some(lost) = self.lost() {
            return Some(lost);
        }
        let outstanding = self.outstanding + self.outstanding_flushes();
        if outstanding > 0
            && now_ns.saturating_sub(self.last_progress_ns) >= self.trial.limits.stall_ns
        {
            return Some(Ended::Stalled { outstanding });
        }
        if let Err(error) = self.flush_due(now_ns) {
            return Some(Ended::QueueBroken { reason: error.to_string() });
        }
        let next_ns = match self.phase {
            Phase::Ramp => window_start_ns,
            Phase::Window => (self.interval_start_ns + self.trial.interval_ns).min(window_end_ns),
            Phase::Drain => u64::MAX,
        };
        self.boundary_ns = next_ns.min(now_ns + LOOK_UP_NS).min(self.next_flush_ns());
        None
    }

    /// The total time for which the outstanding I/Os have been outstanding at `at_ns`.
    pub(super) fn outstanding_age_ns(&self, at_ns: u64) -> i64 {
        let outstanding = self.slots.iter().filter(|slot| slot.length_bytes > 0);
        outstanding.map(|slot| at_ns.saturating_sub(slot.started_ns) as i64).sum()
    }

    /// The total time from `at_ns` to the start of those outstanding I/Os that were started later.
    fn begun_later_ns(&self, at_ns: u64) -> u64 {
        let outstanding = self.slots.iter().filter(|slot| slot.length_bytes > 0);
        outstanding.map(|slot| slot.started_ns.saturating_sub(at_ns)).sum()
    }

    fn close_window(&mut self, window_end_ns: u64, now_ns: u64) {
        self.phase = Phase::Drain;
        self.window_ns = self.trial.duration_ns;
        self.carried_ns += self.outstanding_age_ns(window_end_ns);
        // The last turn extended beyond the window; the excess is subtracted.
        let beyond_ns = now_ns - window_end_ns;
        self.outstanding_integral = self
            .outstanding_integral
            .saturating_sub(u128::from(self.outstanding) * u128::from(beyond_ns));
        self.turn_wait_ns = self.turn_wait_ns.saturating_sub(self.begun_later_ns(window_end_ns));
        if let Pacing::Open { due, .. } = &mut self.pacing {
            while due.next_ns() < window_end_ns {
                due.take();
                self.due_operations += 1;
                self.backlog_operations += 1;
            }
        }
        self.observer.window_closed();
    }
}
