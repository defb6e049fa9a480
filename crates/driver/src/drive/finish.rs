//! From the loop's tallies to the sample.

use stormeter_disk::{Clock, Disks};

use super::{Drive, Phase};
use crate::observer::Observer;
use crate::pacing::Pacing;
use crate::verify::Verification;
use stormeter_trial::{Arrivals, Ended, KindTotals, Sample, touched_share};

impl<D: Disks, C: Clock, O: Observer, V: Verification> Drive<'_, D, C, O, V> {
    pub(super) fn finish(self, ended: Ended) -> Sample {
        let trial = self.trial;
        let window_ns = match self.phase {
            Phase::Ramp => 0,
            // Ended early: only whole rows are complete, but what was counted since then counts
            // too, up to the last turn.
            Phase::Window => self.last_turn_ns.saturating_sub(self.start_ns + trial.ramp_ns).max(1),
            Phase::Drain => self.window_ns,
        };
        let mut carried_ns = self.carried_ns;
        if self.phase == Phase::Window {
            carried_ns += self.outstanding_age_ns(self.last_turn_ns);
        }
        let mut recorder = self.recorder;
        if self.phase == Phase::Window {
            let start_ns = self.interval_start_ns - (self.start_ns + trial.ramp_ns);
            recorder.close_interval(start_ns, window_ns.saturating_sub(start_ns));
        }
        let recorded = recorder.finish(trial.first_disk);
        let configured = match (trial.workload.arrivals, trial.workload.burst) {
            // Between two I/Os of a slot is the time for verifying blocks.
            (Arrivals::Closed { outstanding }, None) if !V::ON => {
                Some(u64::from(outstanding) * u64::from(trial.disks))
            }
            _ => None,
        };
        let issue = match self.pacing {
            Pacing::Open { log, .. } => Some(log.finish()),
            Pacing::Closed | Pacing::Flushed | Pacing::Bursts { .. } => None,
        };
        // For the ramp only the total over all disks is known.
        let in_window: u64 = recorded.disks.iter().map(|disk| disk.operations).sum();
        let with_ramp = 1.0 + self.ramp_operations as f64 / in_window.max(1) as f64;
        let disk_bytes = trial.disk_bytes;
        let touched = recorded.disks.iter().map(|disk| {
            let moved_bytes = disk.bytes as f64 * with_ramp;
            touched_share(&trial.workload, disk_bytes, moved_bytes) * disk_bytes as f64
        });
        let touched_bytes = touched.sum::<f64>() as u64;
        let (writes, durable) = match trial.workload.durable {
            true => (KindTotals::default(), recorded.writes),
            false => (recorded.writes, KindTotals::default()),
        };
        let (flushes, flush_wait_ns) = match self.flushes {
            Some(flushes) => flushes.finish(),
            None => Default::default(),
        };
        Sample {
            window_ns,
            interval_ns: trial.interval_ns,
            reads: recorded.reads,
            writes,
            durable,
            flushes,
            intervals: recorded.intervals,
            disks: recorded.disks,
            outstanding_mean: self
                .outstanding_integral
                .saturating_sub(u128::from(self.turn_wait_ns)) as f64
                / window_ns.max(1) as f64,
            outstanding_configured: configured,
            carried_ns,
            turn_wait_ns: Some(self.turn_wait_ns),
            flush_wait_ns,
            spun_ns: self.spun_ns,
            issue,
            offered_rate_per_s: trial
                .workload
                .arrivals
                .rate_per_s()
                .map(|rate| rate * f64::from(trial.disks)),
            ramp_operations: self.ramp_operations,
            due_operations: self.due_operations,
            backlog_operations: self.backlog_operations,
            io_failures: recorded.io_failures,
            verified: self.verification.finish(),
            steps: Vec::new(),
            disturbances: Vec::new(),
            settled_ns: 0,
            touched_bytes: Some(touched_bytes),
            updates: None,
            desktops: None,
            ended,
        }
    }
}
