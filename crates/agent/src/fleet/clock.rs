//! The offset of an agent's clocks from the controller's, measured by round trips.
//!
//! The shortest of several round trips is the most accurate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stormeter_disk::Clock;
use stormeter_runner::RunError;

use super::Fleet;
use super::gather::Trouble;
use super::offset::ClockOffset;
use crate::error::HostError;
use crate::message::{Command, Report};

/// Number of round trips; the shortest counts.
const ROUNDS: usize = 8;
/// How often limits are checked.
const LOOK: Duration = Duration::from_millis(50);

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
                Ok(Report::Failed { reason }) => return Err(Trouble::Refused(heard.host, reason)),
                Ok(_) => {}
                Err(error) => return Err(Trouble::Lost(heard.host, self.why(heard.host, &error))),
            }
        }
        Ok(offsets.into_iter().flatten().collect())
    }
}
