//! The offset of an agent's clocks from the controller's, measured by round trips.
//!
//! The agent's time at the middle of a round trip is that in its answer, plus or minus half of the round
//! trip (Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989, section 3). The
//! shortest of several round trips is the most accurate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stormeter_disk::Clock;
use stormeter_runner::RunError;

use super::Fleet;
use super::gather::Trouble;
use crate::error::HostError;
use crate::message::{Command, Report};

/// Number of round trips; the shortest counts.
const ROUNDS: usize = 8;
/// How often limits are checked.
const LOOK: Duration = Duration::from_millis(50);

/// An agent's clocks minus the controller's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClockOffset {
    /// The clocks that time trials. Each has its own origin.
    pub(super) monotonic_ns: i64,
    /// The times of day.
    pub(super) unix_ns: i64,
    /// Half of the shortest round trip: the largest possible error of either.
    pub(super) error_ns: u64,
}

impl ClockOffset {
    /// Computes it from one round trip: sent and received by the controller's clock, answered by the
    /// agent's clocks; `unix_base_ns` is the controller's time of day when its clock was 0.
    fn of(sent_ns: u64, received_ns: u64, agent: (u64, u64), unix_base_ns: i128) -> Self {
        let middle_ns = i128::from(sent_ns) + i128::from(received_ns.saturating_sub(sent_ns)) / 2;
        let (now_ns, unix_ns) = agent;
        Self {
            monotonic_ns: (i128::from(now_ns) - middle_ns) as i64,
            unix_ns: (i128::from(unix_ns) - (unix_base_ns + middle_ns)) as i64,
            error_ns: received_ns.saturating_sub(sent_ns).div_ceil(2),
        }
    }

    /// The same moment on the agent's clock.
    pub(super) fn there(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.monotonic_ns)
    }
}

impl Fleet {
    /// Measures the clocks of these hosts.
    pub(super) fn measure_clocks(
        &mut self,
        hosts: &[usize],
        cancel: &AtomicBool,
    ) -> Result<(), RunError> {
        let mut best: Vec<Option<ClockOffset>> = hosts.iter().map(|_| None).collect();
        for _ in 0..ROUNDS {
            match self.round(hosts, cancel) {
                Ok(all) => {
                    for (best, now) in best.iter_mut().zip(all) {
                        if best.is_none_or(|best| now.error_ns < best.error_ns) {
                            *best = Some(now);
                        }
                    }
                }
                Err(trouble) => return Err(self.stop_after(trouble)),
            }
        }
        for (&host, best) in hosts.iter().zip(best) {
            self.hosts[host].offset = best.unwrap_or_default();
        }
        Ok(())
    }

    /// One round trip to each of them. Answers to earlier pings are recognized by their times.
    fn round(&mut self, hosts: &[usize], cancel: &AtomicBool) -> Result<Vec<ClockOffset>, Trouble> {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began_ns = self.clock.now_ns();
        let unix_base_ns = unix.as_nanos() as i128 - i128::from(began_ns);
        let began = Instant::now();
        for &host in hosts {
            self.say(host, Command::Ping { sent_ns: 0 });
        }
        let mut offsets: Vec<Option<ClockOffset>> = hosts.iter().map(|_| None).collect();
        while let Some(missing) = offsets.iter().position(Option::is_none) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Trouble::Cancelled);
            }
            if began.elapsed() > self.options.patience.silence {
                let host = hosts[missing];
                let stderr = self.hosts[host].link.as_ref().map(|link| link.stderr());
                let seconds = began.elapsed().as_secs_f64();
                let (what, stderr) = ("tell its time", stderr.unwrap_or_default());
                return Err(Trouble::Lost(host, HostError::Silent { what, seconds, stderr }));
            }
            let Ok(heard) = self.inbox.recv_timeout(LOOK) else { continue };
            let Some(place) = hosts.iter().position(|&host| host == heard.host) else { continue };
            let link = self.hosts[heard.host].link.as_ref();
            if link.is_none_or(|link| link.connection != heard.connection) {
                continue;
            }
            match heard.what {
                Ok(Report::Pong { sent_ns, now_ns, unix_ns }) if sent_ns >= began_ns => {
                    let agent = (now_ns, unix_ns);
                    let offset = ClockOffset::of(sent_ns, heard.at_ns, agent, unix_base_ns);
                    offsets[place] = Some(offset);
                }
                Ok(_) => {}
                Err(error) => return Err(Trouble::Lost(heard.host, self.why(heard.host, &error))),
            }
        }
        Ok(offsets.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_round_trip_is_the_agents_moment() {
        // The controller's clock started at 1 000 000 of its time of day; the agent's is 500 behind
        // in both.
        let offset = ClockOffset::of(1000, 1040, (520, 1_000_520), 1_000_000);
        assert_eq!(offset, ClockOffset { monotonic_ns: -500, unix_ns: -500, error_ns: 20 });
        assert_eq!(offset.there(10_000), 9500);
        assert_eq!(ClockOffset { monotonic_ns: 7, ..offset }.there(1), 8);
    }
}
