//! Rows of the parts of a trial, its threads or its hosts, added up interval by interval.
//!
//! The parts report the same interval one after another. A sum reported with the first of them would
//! show the rate of one part as that of the trial.

use std::collections::VecDeque;

use stormeter_trial::Interval;

use crate::progress::Progress;

/// How far a part may be ahead of the others, in nanoseconds, but at least by an interval. A part that is later than that, or
/// has ended, is not waited for.
const AHEAD_NS: u64 = 1_000_000_000;

/// Adds up the rows of several parts and reports each sum once.
#[derive(Debug)]
pub struct Rows {
    parts: usize,
    /// The sums that are not reported yet, in the order of time, and the number of rows in each.
    sums: VecDeque<(Interval, usize)>,
    /// The start of the first interval that is not reported.
    from_ns: u64,
}

impl Rows {
    /// Of a trial with this number of parts.
    pub fn new(parts: usize) -> Self {
        Self { parts, sums: VecDeque::new(), from_ns: 0 }
    }

    /// Takes the row of a part; reports what is complete with it.
    pub fn add(&mut self, row: &Interval, progress: &mut dyn Progress) {
        if row.start_ns < self.from_ns {
            return;
        }
        let place = self.sums.partition_point(|(sum, _)| sum.start_ns < row.start_ns);
        match self.sums.get_mut(place).filter(|(sum, _)| sum.start_ns == row.start_ns) {
            Some((sum, count)) => {
                sum.length_ns = sum.length_ns.max(row.length_ns);
                sum.reads.merge(&row.reads);
                sum.writes.merge(&row.writes);
                *count += 1;
            }
            None => self.sums.insert(place, (*row, 1)),
        }
        let last_ns = self.sums.back().map_or(0, |(last, _)| last.start_ns);
        while let Some((sum, count)) = self.sums.front()
            && (*count >= self.parts || last_ns >= sum.start_ns + sum.length_ns.max(AHEAD_NS))
        {
            self.report_first(progress);
        }
    }

    /// Reports what is left when all parts have ended.
    pub fn finish(mut self, progress: &mut dyn Progress) {
        while !self.sums.is_empty() {
            self.report_first(progress);
        }
    }

    fn report_first(&mut self, progress: &mut dyn Progress) {
        if let Some((sum, _)) = self.sums.pop_front() {
            self.from_ns = sum.start_ns + 1;
            progress.interval(&sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_trial::IntervalTotals;

    use super::*;

    const LENGTH_NS: u64 = 100_000_000;

    /// The start of each sum, in intervals, and its reads.
    #[derive(Default)]
    struct Seen(Vec<(u64, u64)>);

    impl Progress for Seen {
        fn interval(&mut self, row: &Interval) {
            self.0.push((row.start_ns / LENGTH_NS, row.reads.operations));
        }
    }

    fn row(number: u64, operations: u64) -> Interval {
        let reads = IntervalTotals { operations, ..IntervalTotals::default() };
        let start_ns = number * LENGTH_NS;
        Interval { start_ns, length_ns: LENGTH_NS, reads, writes: IntervalTotals::default() }
    }

    #[test]
    fn an_interval_is_reported_when_all_parts_have_it() {
        let (mut rows, mut seen) = (Rows::new(3), Seen::default());
        for (number, operations) in [(0, 1), (0, 2), (1, 4), (0, 8), (1, 16), (2, 32), (1, 64)] {
            rows.add(&row(number, operations), &mut seen);
        }
        assert_eq!(seen.0, [(0, 11), (1, 84)]);
        rows.finish(&mut seen);
        assert_eq!(seen.0, [(0, 11), (1, 84), (2, 32)]);
    }

    #[test]
    fn a_part_that_has_ended_or_is_late_holds_nothing_up_for_long() {
        let (mut rows, mut seen) = (Rows::new(2), Seen::default());
        for number in 0..12 {
            rows.add(&row(number, 1), &mut seen);
        }
        assert_eq!(seen.0, [(0, 1), (1, 1)]);
        // Too late, and in time.
        rows.add(&row(1, 5), &mut seen);
        rows.add(&row(2, 5), &mut seen);
        assert_eq!(seen.0, [(0, 1), (1, 1), (2, 6)]);
    }

    #[test]
    fn intervals_longer_than_any_delay_are_reported_with_the_next() {
        let (mut rows, mut seen) = (Rows::new(2), Seen::default());
        let long = |number: u64| Interval { length_ns: 20 * LENGTH_NS, ..row(20 * number, 1) };
        rows.add(&long(0), &mut seen);
        assert_eq!(seen.0, []);
        rows.add(&long(1), &mut seen);
        assert_eq!(seen.0, [(0, 1)]);
    }
}
