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

use super::Fleet;
use crate::error::HostError;
use crate::message::{Command, Report};

/// A host that starts later than this share of the trial measures another window.
const LATE_SHARE: f64 = 0.02;
/// A slightly late announcement does no harm, however short the trial.
const LATE_LEAST_NS: u64 = 10_000_000;

/// The result of announcing a start.
pub(super) enum Start {
    /// All learned of it in time, or nearly so.
    Agreed(CommonStart),
    /// At least one did not; all are stopped and wait for orders.
    TooLate(LateStart),
}

/// A start that is given up.
pub(super) struct LateStart {
    /// The name of the host that learned of it last.
    pub(super) host: String,
    pub(super) late_ns: u64,
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
    ///
    /// Clocks are measured here and not before the hosts got ready, which can take minutes: a guest whose
    /// clock is off by a few percent is seconds away by then, and would be in every attempt.
    pub(super) fn start(
        &mut self,
        orders: &[(usize, TrialOrder)],
        cancel: &AtomicBool,
        mut early: impl FnMut(usize, Report) -> Result<(), Report>,
    ) -> Result<Start, RunError> {
        let hosts: Vec<usize> = orders.iter().map(|(host, _)| *host).collect();
        self.measure_clocks(&hosts, cancel)?;
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
            let host = self.hosts[latest.1].name.clone();
            return Ok(Start::TooLate(LateStart { host, late_ns: latest.0 }));
        }
        let error = HostError::Late { late_ms: latest.0 as f64 / 1e6 };
        Err(self.agent_error(latest.1, &error))
    }
}

/// How late a host may learn of the start of a trial.
fn allowed_ns(orders: &[(usize, TrialOrder)]) -> u64 {
    let length_ns = orders.iter().map(|(_, order)| match order.work.is_timed() {
        true => order.timing.ramp_ns.saturating_add(order.timing.duration_ns),
        // A trial of fixed work takes as long as it needs.
        false => 0,
    });
    let share_ns = length_ns.max().unwrap_or(0) as f64 * LATE_SHARE;
    (share_ns as u64).max(LATE_LEAST_NS)
}
