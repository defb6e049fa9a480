//! How far ahead a common start is announced: longer after each announcement that came too late.

/// Initial lead time of an announcement; the longest latency to a host is added.
const AHEAD_NS: u64 = 20_000_000;
/// Announcing the start to one more agent takes less than this.
const AHEAD_EACH_NS: u64 = 500_000;
/// The longest lead time: a connection that needs more is not suitable for trials.
const AHEAD_MOST_NS: u64 = 10_000_000_000;
/// After this many announcements in a row that were late despite the longest lead time, the connection is
/// considered unsuitable. Those that were late with a shorter one prove nothing: a machine that is becoming
/// busy may be late by little, then by seconds.
const MOST_IN_VAIN: u32 = 3;

/// The lead time of announcements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lead {
    ahead_ns: u64,
    /// Number of announcements in a row that were late with the longest lead time.
    in_vain: u32,
}

impl Default for Lead {
    fn default() -> Self {
        Self { ahead_ns: AHEAD_NS, in_vain: 0 }
    }
}

impl Lead {
    /// The lead time for a start on `hosts` hosts; the clock of the farthest is known to ±
    /// `farthest_ns`.
    pub(super) fn for_hosts(self, hosts: usize, farthest_ns: u64) -> u64 {
        let far_ns = farthest_ns.saturating_mul(8);
        let each_ns = AHEAD_EACH_NS.saturating_mul(hosts as u64);
        self.ahead_ns.saturating_add(each_ns).saturating_add(far_ns).min(AHEAD_MOST_NS)
    }

    /// Records a start that was announced in time to all.
    pub(super) fn was_enough(&mut self) {
        self.in_vain = 0;
    }

    /// Records a start that was announced too late to a host, by `late_ns`. Returns whether another
    /// attempt is worthwhile. What happened once on a busy machine happens again, so the longer lead time
    /// is kept; it at least doubles, so that the attempts are few.
    pub(super) fn was_too_short(&mut self, late_ns: u64) -> bool {
        if self.ahead_ns < AHEAD_MOST_NS {
            let more_ns = self.ahead_ns.saturating_add(late_ns).saturating_mul(2);
            self.ahead_ns = more_ns.min(AHEAD_MOST_NS);
            return true;
        }
        self.in_vain += 1;
        let again = self.in_vain < MOST_IN_VAIN;
        if !again {
            self.in_vain = 0;
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_grows_beyond_what_was_late_and_stays_so() {
        let mut lead = Lead::default();
        let first_ns = lead.for_hosts(2, 1_000);
        assert_eq!(first_ns, AHEAD_NS + 2 * AHEAD_EACH_NS + 8_000);
        assert!(lead.was_too_short(44_000_000));
        let second_ns = lead.for_hosts(2, 1_000);
        assert!(second_ns >= first_ns + 44_000_000, "{second_ns}");
        lead.was_enough();
        assert_eq!(lead.for_hosts(2, 1_000), second_ns, "the machine is as busy as it was");
    }

    #[test]
    fn a_way_that_is_late_again_and_again_is_given_up_and_may_be_tried_later() {
        let mut lead = Lead::default();
        let worth: Vec<bool> = (0..4).map(|_| lead.was_too_short(u64::MAX)).collect();
        assert_eq!(worth, [true, true, true, false]);
        assert_eq!(lead.for_hosts(100, u64::MAX), AHEAD_MOST_NS);
        assert!(lead.was_too_short(1), "another trial may have another try");
    }

    #[test]
    fn a_machine_that_becomes_busy_is_given_the_longest_lead_before_it_is_given_up() {
        let mut lead = Lead::default();
        for late_ms in [30, 100, 500, 6190] {
            assert!(lead.was_too_short(late_ms * 1_000_000), "{late_ms} ms late");
        }
        assert_eq!(lead.for_hosts(1, 0), AHEAD_MOST_NS);
        let mut attempts = 1;
        let mut slowly = Lead::default();
        while slowly.was_too_short(1) {
            attempts += 1;
        }
        assert_eq!(attempts, 12, "also given up if late by little each time");
    }

    #[test]
    fn starts_that_were_heard_of_in_time_between_late_ones_count() {
        let mut lead = Lead::default();
        for _ in 0..10 {
            assert!(lead.was_too_short(1_000_000));
            lead.was_enough();
        }
    }
}
