//! The common start of a trial: announced to all agents in advance, each in its own clock's time, and
//! confirmed.
//!
//! How much lead time is enough depends on the connection and on how busy the machines are, which is not
//! known in advance. So each agent reports whether the announcement was in time. If it was late for one,
//! its window would differ from the others': the trial is given up at once instead of being measured to
//! its end, and is started again with more lead time.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stormeter_disk::Clock;
use stormeter_runner::{RunError, TrialOrder};
use stormeter_study::WorkloadKind;

use super::Fleet;
use crate::error::HostError;
use crate::message::{Command, Report};

/// Initial lead time of an announcement; the longest latency to a host is added.
const AHEAD_NS: u64 = 20_000_000;
/// Announcing the start to one more agent takes less than this.
const AHEAD_EACH_NS: u64 = 500_000;
/// The longest lead time: a connection that needs more is not suitable for trials.
const AHEAD_MOST_NS: u64 = 5_000_000_000;
/// A host that starts later than this share of the trial measures another window.
const LATE_SHARE: f64 = 0.02;
/// A slightly late announcement does no harm, however short the trial.
const LATE_LEAST_NS: u64 = 10_000_000;
/// After this many late announcements in a row the connection is considered unsuitable.
const STARTS: u32 = 4;

/// The lead time of announcements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lead {
    ahead_ns: u64,
    /// Number of late announcements in a row.
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
    fn for_hosts(self, hosts: usize, farthest_ns: u64) -> u64 {
        let far_ns = farthest_ns.saturating_mul(8);
        let each_ns = AHEAD_EACH_NS.saturating_mul(hosts as u64);
        self.ahead_ns.saturating_add(each_ns).saturating_add(far_ns).min(AHEAD_MOST_NS)
    }

    /// Records a start that was announced in time to all.
    fn was_enough(&mut self) {
        self.in_vain = 0;
    }

    /// Records a start that was announced too late to a host, by `late_ns`. Returns whether another
    /// attempt is worthwhile. What happened once on a busy machine happens again, so the longer lead time
    /// is kept.
    fn was_too_short(&mut self, late_ns: u64) -> bool {
        self.in_vain += 1;
        let more_ns = self.ahead_ns.saturating_add(late_ns.saturating_mul(2));
        self.ahead_ns = more_ns.min(AHEAD_MOST_NS);
        let again = self.in_vain < STARTS;
        if !again {
            self.in_vain = 0;
        }
        again
    }
}

/// The result of announcing a start.
pub(super) enum Start {
    /// All learned of it in time, or nearly so.
    Agreed(CommonStart),
    /// At least one did not; all are stopped and wait for orders.
    TooLate,
}

/// The start in this machine's clocks, and how late each host learned of it.
pub(super) struct CommonStart {
    pub(super) at: Instant,
    pub(super) at_ns: u64,
    /// In the order of the hosts; 0: in time.
    pub(super) late_ns: Vec<u64>,
}

impl Fleet {
    /// Announces the start of a trial for which all hosts are ready, and waits until they have
    /// confirmed. `early` receives the messages of hosts that confirmed first and continue.
    pub(super) fn start(
        &mut self,
        orders: &[(usize, TrialOrder)],
        cancel: &AtomicBool,
        mut early: impl FnMut(usize, Report) -> Result<(), Report>,
    ) -> Result<Start, RunError> {
        let hosts: Vec<usize> = orders.iter().map(|(host, _)| *host).collect();
        let farthest_ns = hosts.iter().map(|&host| self.hosts[host].offset.error_ns).max();
        let ahead_ns = self.lead.for_hosts(hosts.len(), farthest_ns.unwrap_or(0));
        let at_ns = self.clock.now_ns().saturating_add(ahead_ns);
        let at = Instant::now() + Duration::from_nanos(ahead_ns);
        for &host in &hosts {
            let at_ns = self.hosts[host].offset.there(at_ns);
            self.say(host, Command::Start { at_ns });
        }
        let what = "hear of the common start";
        let late_ns = self.gather(&hosts, what, cancel, |host, report| match report {
            Report::Starting { late_ns } => Ok(Some(late_ns)),
            other => early(host, other).map(|()| None),
        })?;
        let latest =
            late_ns.iter().zip(&hosts).max().map_or((0, hosts[0]), |(&late, &host)| (late, host));
        if latest.0 <= allowed_ns(orders) {
            self.lead.was_enough();
            return Ok(Start::Agreed(CommonStart { at, at_ns, late_ns }));
        }
        self.stop_all();
        if self.lead.was_too_short(latest.0) {
            return Ok(Start::TooLate);
        }
        let error = HostError::Late { late_ms: latest.0 as f64 / 1e6 };
        Err(self.agent_error(latest.1, &error))
    }
}

/// How late a host may learn of the start of a trial.
fn allowed_ns(orders: &[(usize, TrialOrder)]) -> u64 {
    let length_ns = orders.iter().map(|(_, order)| match order.work {
        WorkloadKind::Io(_) => order.timing.ramp_ns.saturating_add(order.timing.duration_ns),
        // A trial of fixed work takes as long as it needs.
        _ => 0,
    });
    let share_ns = length_ns.max().unwrap_or(0) as f64 * LATE_SHARE;
    (share_ns as u64).max(LATE_LEAST_NS)
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
        let worth: Vec<bool> = (0..STARTS).map(|_| lead.was_too_short(u64::MAX)).collect();
        assert_eq!(worth, [true, true, true, false]);
        assert_eq!(lead.for_hosts(100, u64::MAX), AHEAD_MOST_NS);
        assert!(lead.was_too_short(1), "another trial may have another try");
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
