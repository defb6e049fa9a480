//! Waiting for answers of several agents at once, with a limit on every wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stormeter_runner::RunError;

use super::Fleet;
use crate::error::HostError;
use crate::frame::FrameError;
use crate::link::Heard;
use crate::message::{Command, Report};

/// How often limits and cancellation are checked.
const LOOK: Duration = Duration::from_millis(50);
/// How often a silent agent is pinged.
const PING_EVERY: Duration = Duration::from_secs(1);

/// What went wrong with which host.
pub(super) enum Trouble {
    /// The agent, or the connection to it, has failed: it is given up.
    Lost(usize, HostError),
    /// It reported that it cannot do it, and is still running.
    Refused(usize, String),
    /// The run was cancelled.
    Cancelled,
}

impl Fleet {
    /// Waits until each of the hosts has given its answer, and returns the answers in order. `take`
    /// inspects each message: an answer, no answer yet, or something unexpected.
    ///
    /// # Errors
    /// A host failed, or the run was cancelled; all hosts have been stopped then.
    pub(super) fn gather<T>(
        &mut self,
        hosts: &[usize],
        what: &'static str,
        cancel: &AtomicBool,
        take: impl FnMut(usize, Report) -> Result<Option<T>, Report>,
    ) -> Result<Vec<T>, RunError> {
        let work = self.options.patience.work;
        self.gather_within(hosts, what, work, cancel, take)
    }

    /// Like [`Fleet::gather`], with a given limit between two messages of a host.
    pub(super) fn gather_within<T>(
        &mut self,
        hosts: &[usize],
        what: &'static str,
        within: Duration,
        cancel: &AtomicBool,
        take: impl FnMut(usize, Report) -> Result<Option<T>, Report>,
    ) -> Result<Vec<T>, RunError> {
        match self.listen(hosts, what, within, cancel, &mut || false, take) {
            Ok(all) => Ok(all),
            Err(trouble) => Err(self.stop_after(trouble)),
        }
    }

    /// The wait itself, without stopping any host. `is_busy` is polled: while it returns true, a silent
    /// host counts as making progress.
    pub(super) fn listen<T>(
        &mut self,
        hosts: &[usize],
        what: &'static str,
        within: Duration,
        cancel: &AtomicBool,
        is_busy: &mut dyn FnMut() -> bool,
        mut take: impl FnMut(usize, Report) -> Result<Option<T>, Report>,
    ) -> Result<Vec<T>, Trouble> {
        let now = Instant::now();
        let mut answers: Vec<Option<T>> = hosts.iter().map(|_| None).collect();
        let mut advanced = vec![now; hosts.len()];
        let mut pinged = now;
        for &host in hosts {
            match &mut self.hosts[host].link {
                Some(link) => link.heard = now,
                None => return Err(Trouble::Lost(host, gone("it was given up before"))),
            }
        }
        while answers.iter().any(Option::is_none) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Trouble::Cancelled);
            }
            if let Ok(heard) = self.inbox.recv_timeout(LOOK) {
                let Heard { host, connection, what: said, .. } = heard;
                let Some(link) = &mut self.hosts[host].link else { continue };
                if link.connection != connection {
                    continue;
                }
                link.heard = Instant::now();
                let said = match said {
                    Ok(Report::Pong { .. }) => continue,
                    Ok(Report::Failed { reason }) if hosts.contains(&host) => {
                        return Err(Trouble::Refused(host, reason));
                    }
                    Ok(said) => said,
                    Err(error) => return Err(Trouble::Lost(host, self.why(host, &error))),
                };
                // A message from a host that is not being waited for is late, and no longer needed.
                let Some(place) = hosts.iter().position(|of| *of == host) else { continue };
                advanced[place] = Instant::now();
                match take(host, said) {
                    Ok(Some(answer)) => answers[place] = Some(answer),
                    Ok(None) => {}
                    Err(Report::Goodbye) => {
                        return Err(Trouble::Lost(host, gone("it said goodbye")));
                    }
                    Err(other) => {
                        let name = format!("{other:?}");
                        let name = name.split([' ', '(', '{']).next().unwrap_or_default().into();
                        return Err(Trouble::Lost(host, HostError::OutOfTurn(name)));
                    }
                }
            }
            if is_busy() {
                advanced.fill(Instant::now());
            }
            let ping = pinged.elapsed() > PING_EVERY;
            for (place, &host) in hosts.iter().enumerate() {
                if answers[place].is_some() {
                    continue;
                }
                let Some(link) = &mut self.hosts[host].link else { continue };
                if ping {
                    link.say(Command::Ping { sent_ns: 0 });
                }
                let quiet = link.heard.elapsed();
                if quiet > self.options.patience.silence {
                    let stderr = link.stderr();
                    let seconds = quiet.as_secs_f64();
                    return Err(Trouble::Lost(host, HostError::Silent { what, seconds, stderr }));
                }
                let stuck = advanced[place].elapsed();
                if stuck > within {
                    let seconds = stuck.as_secs_f64();
                    return Err(Trouble::Lost(host, HostError::Slow { what, seconds }));
                }
            }
            if ping {
                pinged = Instant::now();
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Why no further messages come from a host.
    pub(super) fn why(&self, host: usize, error: &FrameError) -> HostError {
        let link = self.hosts[host].link.as_ref();
        let ending = link.map(|link| link.ending()).unwrap_or_default();
        let stderr = link.map(|link| link.stderr()).unwrap_or_default();
        HostError::Gone { reason: format!("{error}{ending}"), stderr }
    }

    /// Stops all hosts after one of them failed, and returns the error.
    pub(super) fn stop_after(&mut self, trouble: Trouble) -> RunError {
        let error = match trouble {
            Trouble::Cancelled => RunError::Interrupted,
            Trouble::Refused(host, reason) => {
                RunError::OnHost { host: self.hosts[host].name.clone(), reason }
            }
            Trouble::Lost(host, error) => {
                let error = self.agent_error(host, &error);
                self.give_up(host);
                error
            }
        };
        self.stop_all();
        error
    }

    /// Ends the connection to a host.
    pub(super) fn give_up(&mut self, host: usize) {
        if let Some(link) = self.hosts[host].link.take() {
            link.kill();
        }
    }

    /// Makes every agent cancel what it is doing. An agent that does not is given up.
    pub(super) fn stop_all(&mut self) {
        let mut open = self.live();
        for &host in &open {
            self.say(host, Command::Cancel);
            if let Some(link) = &mut self.hosts[host].link {
                link.heard = Instant::now();
            }
        }
        let (began, mut pinged) = (Instant::now(), Instant::now());
        while !open.is_empty() {
            if let Ok(heard) = self.inbox.recv_timeout(LOOK)
                && let Some(link) = &mut self.hosts[heard.host].link
                && link.connection == heard.connection
            {
                link.heard = Instant::now();
                match heard.what {
                    Ok(Report::Cancelled) => open.retain(|host| *host != heard.host),
                    Ok(_) => {}
                    Err(_) => {
                        open.retain(|host| *host != heard.host);
                        self.give_up(heard.host);
                    }
                }
            }
            if pinged.elapsed() > PING_EVERY {
                pinged = Instant::now();
                open.iter().for_each(|&host| self.say(host, Command::Ping { sent_ns: 0 }));
            }
            let patience = self.options.patience;
            let hangs = |fleet: &Fleet, host: usize| {
                let link = fleet.hosts[host].link.as_ref();
                link.is_none_or(|link| link.heard.elapsed() > patience.silence)
            };
            let late = began.elapsed() > patience.stop;
            let (hung, rest): (Vec<usize>, Vec<usize>) =
                open.into_iter().partition(|&host| late || hangs(self, host));
            hung.into_iter().for_each(|host| self.give_up(host));
            open = rest;
        }
    }
}

fn gone(reason: &str) -> HostError {
    HostError::Gone { reason: reason.into(), stderr: String::new() }
}
