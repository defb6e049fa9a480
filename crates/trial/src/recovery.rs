//! How throughput was affected by what was done to the storage.
//!
//! Everything is read from the interval rows, so times have the resolution of an interval. The terms
//! follow benchmarks of devices under disturbance: the time from a reset until forwarding is resumed (RFC
//! 6201, section 4), and that a recovery only counts if it lasts (RFC 6412, "sustained convergence
//! validation time").

use crate::disturbance::{Disturbance, Recovery};
use crate::sample::{Interval, IntervalTotals, Sample};

/// Throughput has recovered when it is at least this share of the level before the first step…
pub const RECOVERED_SHARE: f64 = 0.9;
/// … for this many intervals in a row; and the level before is the mean of at least this many.
pub const RECOVERED_INTERVALS: usize = 3;

impl Sample {
    /// Mean throughput in the intervals that ended before the first step was started, in I/Os per second;
    /// `None` without steps, or with fewer than [`RECOVERED_INTERVALS`] such intervals.
    pub fn undisturbed_iops(&self) -> Option<f64> {
        let first_ns = self.disturbances.iter().map(|step| step.begun_ns).min()?;
        let before: Vec<f64> = self
            .whole_intervals()
            .filter(|row| end_ns(row) <= first_ns)
            .map(Interval::iops)
            .collect();
        let mean = before.iter().sum::<f64>() / before.len().max(1) as f64;
        (before.len() >= RECOVERED_INTERVALS && mean > 0.0).then_some(mean)
    }

    /// How long after each step throughput had recovered: at the end of the first interval that is entirely
    /// after the step and starts a sequence of [`RECOVERED_INTERVALS`] with at least [`RECOVERED_SHARE`] of
    /// [`Sample::undisturbed_iops`]. If the next step comes first, only that one's recovery is looked for.
    /// `None` if the level before is unknown.
    pub fn recoveries(&self) -> Option<Vec<Recovery>> {
        let enough = self.undisturbed_iops()? * RECOVERED_SHARE;
        let rows: Vec<&Interval> = self.whole_intervals().collect();
        let trial_end_ns = rows.last().map_or(0, |row| end_ns(row));
        let of_step = |(number, step): (usize, &Disturbance)| {
            let next_ns = self.disturbances.get(number + 1).map(|next| next.begun_ns);
            let after: Vec<&&Interval> =
                rows.iter().filter(|row| start_ns(row) >= step.done_ns()).collect();
            let recovered = after
                .windows(RECOVERED_INTERVALS)
                .find(|run| run.iter().all(|row| row.iops() >= enough))
                .filter(|run| {
                    let last_ns = run.last().map_or(0, |row| end_ns(row));
                    next_ns.is_none_or(|next_ns| last_ns <= next_ns)
                });
            match (recovered, next_ns) {
                (Some(run), _) => {
                    Recovery::After(end_ns(run[0]).saturating_sub(step.done_ns()).max(0) as u64)
                }
                (None, Some(_)) => Recovery::Overtaken,
                (None, None) => {
                    Recovery::NotWithin(trial_end_ns.saturating_sub(step.done_ns()).max(0) as u64)
                }
            }
        };
        Some(self.disturbances.iter().enumerate().map(of_step).collect())
    }

    /// The recovery that stands for the trial: the longest of its steps, or that there was none.
    pub fn recovery(&self) -> Option<Recovery> {
        let all = self.recoveries()?;
        if let Some(never) = all.iter().find(|one| matches!(one, Recovery::NotWithin(_))) {
            return Some(*never);
        }
        let after = all.iter().filter_map(|one| match one {
            Recovery::After(ns) => Some(*ns),
            _ => None,
        });
        after.max().map(Recovery::After)
    }

    /// The longest time in which nothing moved, for a trial with steps: that of consecutive intervals without a completed
    /// I/O and without bytes of one that had not completed (as of a large file), plus one interval, because the gap
    /// extends into the intervals at either end. Accurate to plus or minus one interval.
    pub fn outage_ns(&self) -> Option<u64> {
        if self.disturbances.is_empty() || self.intervals.is_empty() {
            return None;
        }
        let (mut longest, mut here) = (0u64, 0u64);
        for row in &self.intervals {
            let is_empty = |totals: &IntervalTotals| totals.operations == 0 && totals.bytes == 0;
            let is_empty = is_empty(&row.reads) && is_empty(&row.writes);
            here = if is_empty { here.saturating_add(row.length_ns) } else { 0 };
            longest = longest.max(here);
        }
        Some(longest.saturating_add(self.interval_ns))
    }

    /// The lowest throughput of an interval after the first step, as a share of the level before.
    pub fn dip_share(&self) -> Option<f64> {
        let before = self.undisturbed_iops()?;
        let first_ns = self.disturbances.iter().map(|step| step.begun_ns).min()?;
        let after = self.whole_intervals().filter(|row| end_ns(row) > first_ns);
        after.map(|row| row.iops() / before).min_by(f64::total_cmp)
    }

    /// Rows of at least half the length: the last one may be too short to mean anything.
    fn whole_intervals(&self) -> impl Iterator<Item = &Interval> {
        let whole = |row: &&Interval| {
            row.length_ns > 0 && row.length_ns.saturating_mul(2) >= self.interval_ns
        };
        self.intervals.iter().filter(whole)
    }
}

fn start_ns(row: &Interval) -> i64 {
    i64::try_from(row.start_ns).unwrap_or(i64::MAX)
}

fn end_ns(row: &Interval) -> i64 {
    i64::try_from(row.start_ns.saturating_add(row.length_ns)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_totals::KindTotals;
    use crate::sample::Ended;

    const MS: i64 = 1_000_000;

    /// A trial in intervals of 100 ms with this many I/Os each, and steps (start, duration) in
    /// milliseconds.
    fn sample(counts: &[u64], steps: &[(i64, u64)]) -> Sample {
        let row = |(number, &operations): (usize, &u64)| Interval {
            start_ns: number as u64 * 100_000_000,
            length_ns: 100_000_000,
            reads: IntervalTotals { operations, ..IntervalTotals::default() },
            writes: IntervalTotals::default(),
        };
        let step = |&(at_ms, took_ms): &(i64, u64)| Disturbance {
            what: "pause nas".into(),
            planned_ns: at_ms * MS,
            begun_ns: at_ms * MS,
            took_ns: took_ms * MS as u64,
            failure: None,
        };
        Sample {
            window_ns: counts.len() as u64 * 100_000_000,
            interval_ns: 100_000_000,
            reads: KindTotals { operations: counts.iter().sum(), ..KindTotals::default() },
            writes: KindTotals::default(),
            durable: KindTotals::default(),
            flushes: KindTotals::default(),
            intervals: counts.iter().enumerate().map(row).collect(),
            disks: vec![],
            outstanding_mean: 1.0,
            carried_ns: 0,
            turn_wait_ns: Some(0),
            flush_wait_ns: 0,
            spun_ns: 0,
            issue: None,
            outstanding_configured: Some(1),
            offered_rate_per_s: None,
            ramp_operations: 0,
            due_operations: 0,
            backlog_operations: 0,
            io_failures: vec![],
            verified: None,
            steps: vec![],
            disturbances: steps.iter().map(step).collect(),
            settled_ns: 0,
            touched_bytes: None,
            updates: None,
            desktops: None,
            ended: Ended::Completed,
        }
    }

    #[test]
    fn recovery_is_the_end_of_the_first_interval_of_those_that_last() {
        // From 400 ms on nothing; one good interval alone does not count.
        let counts = [10, 10, 10, 10, 0, 0, 10, 2, 9, 9, 10, 10];
        let sample = sample(&counts, &[(400, 0)]);
        assert_eq!(sample.undisturbed_iops(), Some(100.0));
        assert_eq!(sample.recovery(), Some(Recovery::After(500_000_000)));
        assert_eq!(sample.outage_ns(), Some(300_000_000));
        assert_eq!(sample.dip_share(), Some(0.0));
    }

    /// A file that takes longer than an interval is no outage while its bytes move.
    #[test]
    fn bytes_of_a_file_that_is_not_whole_yet_are_no_outage() {
        let counts = [1, 0, 0, 0, 0, 0, 1];
        let mut sample = sample(&counts, &[(100, 0)]);
        assert_eq!(sample.outage_ns(), Some(600_000_000));
        for row in [1, 2, 5] {
            sample.intervals[row].writes.bytes = 1000;
        }
        assert_eq!(sample.outage_ns(), Some(300_000_000));
    }

    #[test]
    fn a_step_counts_from_when_it_was_done_and_an_interval_that_it_ends_in_does_not() {
        let counts = [10, 10, 10, 10, 10, 10, 10, 10, 10];
        let sample = sample(&counts, &[(410, 30)]);
        // From 440 ms to the end of the interval that starts at 500 ms.
        assert_eq!(sample.recovery(), Some(Recovery::After(160_000_000)));
        assert_eq!(sample.outage_ns(), Some(100_000_000));
        assert_eq!(sample.dip_share(), Some(1.0));
    }

    #[test]
    fn what_is_not_back_within_the_trial_has_no_number() {
        let counts = [10, 10, 10, 10, 0, 0, 0, 10, 10];
        let sample = sample(&counts, &[(400, 0)]);
        assert_eq!(sample.recovery(), Some(Recovery::NotWithin(500_000_000)));
    }

    #[test]
    fn a_step_that_the_next_one_overtakes_is_not_held_against_the_storage() {
        let counts = [10, 10, 10, 10, 0, 0, 0, 0, 5, 10, 10, 10];
        let sample = sample(&counts, &[(400, 0), (800, 0)]);
        assert_eq!(
            sample.recoveries().unwrap(),
            [Recovery::Overtaken, Recovery::After(200_000_000)]
        );
        assert_eq!(sample.recovery(), Some(Recovery::After(200_000_000)));
        // A path that fails and returns: the longer recovery stands for the trial.
        let counts = [10, 10, 10, 0, 0, 10, 10, 10, 10, 10, 10, 10];
        let sample = super::tests::sample(&counts, &[(300, 0), (800, 0)]);
        assert_eq!(sample.recovery(), Some(Recovery::After(300_000_000)));
    }

    #[test]
    fn without_a_past_there_is_no_recovery_and_without_steps_nothing() {
        let counts = [10; 12];
        for steps in [&[(200, 0)], &[(-100, 0)]] {
            let sample = sample(&counts, steps);
            assert_eq!((sample.recovery(), sample.dip_share()), (None, None));
            assert_eq!(sample.outage_ns(), Some(100_000_000));
        }
        let calm = sample(&counts, &[]);
        assert_eq!((calm.recovery(), calm.outage_ns()), (None, None));
    }
}
