//! Connecting to hosts: starting the transport, the hello, and sending the program where it is
//! missing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use stormeter_results::EnvironmentNote;
use stormeter_runner::{Progress, RunError};

use super::Fleet;
use super::gather::Trouble;
use crate::command::Transport;
use crate::copy::{INSTALLED, Program};
use crate::error::HostError;
use crate::frame::FrameError;
use crate::link::Link;
use crate::message::{Command, PROTOCOL, Report};

/// How often limits are checked.
const LOOK: Duration = Duration::from_millis(50);
/// Number of copies at a time: more would only share the line.
const COPIES: usize = 8;

impl Fleet {
    /// Connects hosts, and sends the program to those that lack the right version and can receive it.
    pub(super) fn connect(
        &mut self,
        hosts: &[usize],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let sends = hosts.iter().any(|&host| self.hosts[host].way.can_copy());
        let options = &self.options;
        let program = sends.then(|| {
            Program::find(&options.program, options.agent_binary.as_deref(), &options.version)
        });
        let script = match &program {
            Some(Ok(program)) => program.start_script(),
            _ => INSTALLED.to_owned(),
        };
        let missing = self.hello_all(hosts, &script, true, cancel)?;
        if missing.is_empty() {
            return Ok(());
        }
        let program = match program {
            Some(Ok(program)) => program,
            Some(Err(error)) => return Err(self.agent_error(missing[0], &error)),
            None => return Ok(()),
        };
        for batch in missing.chunks(COPIES) {
            for &host in batch {
                progress.note(&format!("stormeter is copied to host {}", self.hosts[host].name));
            }
            let copies = thread::scope(|scope| {
                let copy = |&host: &usize| {
                    let (program, way) = (&program, &self.hosts[host].way);
                    scope.spawn(move || program.copy(way, cancel))
                };
                let started: Vec<_> = batch.iter().map(copy).collect();
                let joined = started.into_iter().map(|it| it.join());
                joined.collect::<Vec<_>>()
            });
            if cancel.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            for (&host, copied) in batch.iter().zip(copies) {
                match copied {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return Err(self.agent_error(host, &error)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
        self.hello_all(&missing, &script, false, cancel).map(|_| ())
    }

    /// Starts the transports to these hosts and waits for their hellos. Returns the hosts that lack the
    /// right program and may receive it.
    fn hello_all(
        &mut self,
        hosts: &[usize],
        script: &str,
        may_copy: bool,
        cancel: &AtomicBool,
    ) -> Result<Vec<usize>, RunError> {
        for &host in hosts {
            let way = self.hosts[host].way.clone();
            self.hosts[host].connections += 1;
            let place = (host, self.hosts[host].connections);
            let link = match &way {
                Transport::Guest(guest) => {
                    Link::at_port(&guest.socket, place, &self.clock, &self.inbox_in)
                }
                _ => {
                    let process = way.start(&self.options.program, script);
                    Link::start(process, place, &self.clock, &self.inbox_in)
                }
            };
            match link {
                Ok(link) => self.hosts[host].link = Some(link),
                Err(error) => return Err(self.part_after(Trouble::Lost(host, error), hosts)),
            }
            self.say(
                host,
                Command::Hello { protocols: vec![PROTOCOL], version: self.options.version.clone() },
            );
        }
        let mut open = hosts.to_vec();
        let mut missing = Vec::new();
        let began = Instant::now();
        while let Some(&first) = open.first() {
            if cancel.load(Ordering::Relaxed) {
                return Err(self.part_after(Trouble::Cancelled, hosts));
            }
            if began.elapsed() > self.options.patience.connect {
                let stderr = self.hosts[first].link.as_ref().map(Link::stderr).unwrap_or_default();
                let seconds = began.elapsed().as_secs_f64();
                let error = HostError::Silent { what: "say hello", seconds, stderr };
                return Err(self.part_after(Trouble::Lost(first, error), hosts));
            }
            let Ok(heard) = self.inbox.recv_timeout(LOOK) else { continue };
            let host = heard.host;
            let link = self.hosts[host].link.as_ref();
            if !open.contains(&host) || link.is_none_or(|link| link.connection != heard.connection)
            {
                continue;
            }
            match self.hello(host, heard.what) {
                Ok(()) => {}
                Err(error) if may_copy && self.can_be_mended(host, &error) => {
                    self.give_up(host);
                    missing.push(host);
                }
                Err(error) => return Err(self.part_after(Trouble::Lost(host, error), hosts)),
            }
            open.retain(|of| *of != host);
        }
        missing.sort_unstable();
        Ok(missing)
    }

    /// Checks the first message of an agent.
    fn hello(&mut self, host: usize, said: Result<Report, FrameError>) -> Result<(), HostError> {
        let ours = self.options.version.clone();
        match said {
            Ok(Report::Hello { protocol, version, capabilities: _, facts }) => {
                if protocol != PROTOCOL {
                    return Err(HostError::OtherProtocol { theirs: version, ours });
                }
                if version != ours {
                    let hint = match self.hosts[host].way {
                        Transport::Command(_) => {
                            ", or write {agent} in the command where the agent stands, so that it can \
                             be sent"
                        }
                        _ => "",
                    };
                    return Err(HostError::OtherVersion { theirs: version, ours, hint });
                }
                self.hosts[host].version = version;
                self.hosts[host].facts = *facts;
                if let Transport::Guest(guest) = &self.hosts[host].way {
                    let accelerator = guest.accelerator.clone();
                    let name = format!("lab:{}", guest.name);
                    let facts = &mut self.hosts[host].facts;
                    facts.environment.notes.push(EnvironmentNote::LabGuest { accelerator });
                    // Guests that were cloned from the same frozen guest share its identity.
                    facts.boot_id = Some(name);
                }
                Ok(())
            }
            Ok(other) => {
                let name = format!("{other:?}");
                let name = name.split([' ', '(', '{']).next().unwrap_or_default().to_owned();
                Err(HostError::OutOfTurn(name))
            }
            Err(error) => Err(self.why(host, &error)),
        }
    }

    /// Whether sending the program may help: it is missing (a shell reports that and exits with 127),
    /// or has another version.
    fn can_be_mended(&self, host: usize, error: &HostError) -> bool {
        let is_the_program = match error {
            HostError::OtherProtocol { .. } | HostError::OtherVersion { .. } => true,
            HostError::Gone { stderr, .. } => {
                let words =
                    ["not found", "No such file", "no such file", "unrecognized subcommand"];
                words.iter().any(|word| stderr.contains(word))
            }
            _ => false,
        };
        is_the_program && self.hosts[host].way.can_copy()
    }

    /// Disconnects from hosts whose connection was in progress: before their hello there is nothing to
    /// stop, and nothing to remove.
    fn part_after(&mut self, trouble: Trouble, hosts: &[usize]) -> RunError {
        let error = match trouble {
            Trouble::Lost(host, error) => {
                let error = self.agent_error(host, &error);
                self.give_up(host);
                error
            }
            Trouble::Refused(host, reason) => {
                RunError::OnHost { host: self.hosts[host].name.clone(), reason }
            }
            Trouble::Cancelled => RunError::Interrupted,
        };
        self.part(hosts);
        error
    }
}
