//! The fleet: the agents on a study's hosts, controlled as one executor of trials.
//!
//! Every wait has a limit: agents are pinged while they work, and one that does not answer, disconnects or
//! makes no progress is given up; then the others are stopped, and the trial has failed with the host's
//! name and the reason. Before the next trial the fleet tries to reach the lost host again.

mod clock;
mod connect;
mod drivers;
mod ended;
mod executor;
mod gather;
mod lead;
mod merge;
mod offset;
mod start;
mod transfer;
mod trial;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use stormeter_datastore::RealClock;
use stormeter_results::HostDescription;
use stormeter_runner::{OpenOrder, OpenedStores, PrepareOrder, PreparedStore, Progress, RunError};
use stormeter_study::{Reach, StudyHost};

use crate::command::{Guest, Transport};
use crate::destination::Destination;
use crate::error::HostError;
use crate::link::{Heard, Link};
use crate::message::{Command, HostFacts, Report};
use drivers::{Drivers, Part};
use lead::Lead;
use offset::ClockOffset;

/// How long a disconnected agent may take to exit: a new one is refused its datastores until then.
const REFUSED_WITHIN: Duration = Duration::from_secs(20);
/// Between two attempts.
const AGAIN_AFTER: Duration = Duration::from_millis(250);

/// Limits on waiting.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From starting the command to the agent's hello: a login, a container, a busy machine.
    pub connect: Duration,
    /// No message at all although the agent is pinged every second: the host, the connection or the
    /// agent hangs. Longer than a busy machine may keep a thread from running.
    pub silence: Duration,
    /// The agent answers but makes no progress. The driver gives up on stalled storage after 30 s, a
    /// network datastore after its own limit.
    pub work: Duration,
    /// From a cancel to its answer: outstanding requests have to complete first.
    pub stop: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(60),
            silence: Duration::from_secs(15),
            work: Duration::from_secs(180),
            stop: Duration::from_secs(45),
        }
    }
}

/// Settings of a fleet.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// This program, which `local` hosts start and others receive.
    pub program: PathBuf,
    /// Another program for hosts to receive instead.
    pub agent_binary: Option<PathBuf>,
    /// This program's version: agents must have the same.
    pub version: String,
    /// Guests of the lab that is up.
    pub guests: Vec<Guest>,
    /// Limits on waiting.
    pub patience: Timeouts,
}

/// The agents on a study's hosts.
pub struct Fleet {
    hosts: Vec<Host>,
    options: FleetOptions,
    clock: RealClock,
    inbox: Receiver<Heard>,
    inbox_in: Sender<Heard>,
    /// The order to open, for hosts that are connected again.
    opened: Option<OpenOrder>,
    /// The orders to write disks since then, by datastore.
    prepared: Vec<PrepareOrder>,
    drivers: Drivers,
    lead: Lead,
}

struct Host {
    name: String,
    reached_by: Reach,
    way: Transport,
    /// Where its servers of transfers are.
    destination: Destination,
    link: Option<Link>,
    connections: u64,
    version: String,
    facts: HostFacts,
    offset: ClockOffset,
    /// Number of failed attempts in a row.
    tried_again: u32,
}

impl Fleet {
    /// A fleet of these hosts, not connected yet.
    ///
    /// # Errors
    /// A host that cannot be reached as described.
    pub fn new(hosts: &[StudyHost], options: FleetOptions) -> Result<Self, RunError> {
        let (inbox_in, inbox) = mpsc::channel();
        let host = |host: &StudyHost| {
            let way = Transport::of(&host.reached_by, &options.guests)
                .map_err(|error| RunError::Hosts(format!("host {}: {error}", host.name)))?;
            Ok(Host {
                name: host.name.clone(),
                reached_by: host.reached_by.clone(),
                destination: Destination::of(&way, host.address.as_deref()),
                way,
                link: None,
                connections: 0,
                version: String::new(),
                facts: HostFacts::default(),
                offset: ClockOffset::default(),
                tried_again: 0,
            })
        };
        Ok(Self {
            hosts: hosts.iter().map(host).collect::<Result<_, RunError>>()?,
            options,
            clock: RealClock::new(),
            inbox,
            inbox_in,
            opened: None,
            prepared: Vec::new(),
            drivers: Drivers::default(),
            lead: Lead::default(),
        })
    }

    /// Whether transfers are possible on these hosts: the clients run here and must reach all hosts.
    ///
    /// # Errors
    /// A host without a known address, with advice on how to give it one.
    pub fn check_transfers(&self) -> Result<(), RunError> {
        let unknown = self.hosts.iter().find(|host| host.destination == Destination::Unknown);
        unknown.map_or(Ok(()), |host| Err(RunError::Hosts(no_address(host))))
    }

    fn all(&self) -> Vec<usize> {
        (0..self.hosts.len()).collect()
    }

    fn live(&self) -> Vec<usize> {
        self.all().into_iter().filter(|&host| self.hosts[host].link.is_some()).collect()
    }

    fn say(&mut self, host: usize, command: Command) {
        if let Some(link) = &mut self.hosts[host].link {
            link.say(command);
        }
    }

    /// A host's part of an order to open.
    fn open_order(&self, order: &OpenOrder, host: usize) -> OpenOrder {
        let mut own = order.clone();
        // A host without VMs opens its datastores as if it had one: this shows early whether it could.
        let vms = order.disks.count.saturating_sub(order.templates);
        own.disks.count = self.drivers.most_vms(vms, host).max(1) + order.templates;
        own.urls =
            self.drivers.of_host(host).map(|datastore| order.urls[datastore].clone()).collect();
        own.drivers.clear();
        // Hosts may share storage: each has its own folders.
        own.first_number = (host * order.urls.len()) as u32;
        let lab = own.urls.iter().filter(|url| self.hosts[host].way.has_lab_disk(url));
        own.destroy_data.extend(lab.map(PathBuf::from));
        own
    }

    /// A host's part of an order to write the disks of a store.
    fn prepare_order(&self, order: &PrepareOrder, part: Part) -> PrepareOrder {
        let mut own = *order;
        own.store = part.store;
        own.filling.disks.count = part.vms.max(1) + order.templates;
        own.filling.seed = seed_of(order.filling.seed, part.place);
        own
    }

    /// Reconnects lost hosts, and brings them to the state of the others.
    fn reach_again(
        &mut self,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        /// A host that is not back by then ends the study: all of its trials would fail.
        const MOST: u32 = 3;
        let lost: Vec<usize> =
            self.all().into_iter().filter(|&host| self.hosts[host].link.is_none()).collect();
        let Some(opened) = self.opened.as_mut().filter(|_| !lost.is_empty()) else {
            return Ok(());
        };
        if let Some(verification) = &mut opened.verification {
            // The next agent must accept what a lost agent has written.
            verification.resumptions += 1;
        }
        let order = opened.clone();
        for &host in &lost {
            progress.note(&format!("host {} is reached again", self.hosts[host].name));
            self.hosts[host].tried_again += 1;
        }
        let began = Instant::now();
        let reached = loop {
            let reached = self.reach(&lost, &order, cancel, progress);
            if reached.is_err() {
                // A partial reconnection is of no use: the next attempt starts from scratch.
                self.part(&lost);
            }
            // A disconnected agent may still be removing its disks.
            let refused = matches!(reached, Err(RunError::OnHost { .. }));
            if !refused || cancel.load(Ordering::Relaxed) || began.elapsed() > REFUSED_WITHIN {
                break reached;
            }
            std::thread::sleep(AGAIN_AFTER);
        };
        match reached {
            Ok(_) => {
                for host in lost {
                    self.hosts[host].tried_again = 0;
                }
                Ok(())
            }
            Err(error @ RunError::Interrupted) => Err(error),
            Err(error) => match lost.iter().find(|&&host| self.hosts[host].tried_again >= MOST) {
                Some(&host) => Err(RunError::Hosts(format!(
                    "host {} was lost and could not be reached again in {MOST} attempts; the \
                         last one: {error}. Run the same command to go on when it is back",
                    self.hosts[host].name
                ))),
                None => Err(error),
            },
        }
    }

    /// Connects hosts, opens their datastores, and writes the disks that the others have.
    fn reach(
        &mut self,
        hosts: &[usize],
        order: &OpenOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Vec<OpenedStores>, RunError> {
        self.connect(hosts, cancel, progress)?;
        self.measure_clocks(hosts, cancel)?;
        for &host in hosts {
            self.say(host, Command::Open(self.open_order(order, host)));
        }
        let opened =
            self.gather(hosts, "open the datastores", cancel, |_, report| match report {
                Report::Opened(opened) => Ok(Some(opened)),
                other => Err(other),
            })?;
        for order in self.prepared.clone() {
            let again = PrepareOrder { reset: None, ..order };
            self.write(hosts, &again, cancel, progress)?;
        }
        Ok(opened)
    }

    /// Makes those of the hosts that drive a store write its disks.
    fn write(
        &mut self,
        hosts: &[usize],
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Vec<PreparedStore>, RunError> {
        let vms = order.filling.disks.count.saturating_sub(order.templates);
        let parts = self.drivers.parts(order.store, vms);
        let parts: Vec<Part> = parts.filter(|part| hosts.contains(&part.host)).collect();
        for &part in &parts {
            self.say(part.host, Command::Prepare(self.prepare_order(order, part)));
        }
        let hosts: Vec<usize> = parts.iter().map(|part| part.host).collect();
        let urls = self.opened.as_ref().map(|opened| opened.urls.clone()).unwrap_or_default();
        let datastore = self.drivers.store_of.iter().position(|store| *store == order.store);
        let url = datastore.and_then(|datastore| urls.get(datastore)).cloned().unwrap_or_default();
        let mut written = vec![(0, 0); self.hosts.len()];
        self.gather(&hosts, "write the disks", cancel, |host, report| match report {
            Report::Preparing { done, total } => {
                written[host] = (done, total);
                let sum = |part: fn(&(u64, u64)) -> u64| written.iter().map(part).sum();
                progress.preparing(&url, sum(|it| it.0), sum(|it| it.1));
                Ok(None)
            }
            Report::Prepared(prepared) => Ok(Some(prepared)),
            other => Err(other),
        })
    }

    fn described(&self) -> Vec<HostDescription> {
        let describe = |host: &Host| HostDescription {
            name: host.name.clone(),
            reached_by: host.reached_by.to_string(),
            stormeter_version: host.version.clone(),
            clock_offset_ns: host.offset.unix_ns,
            clock_error_ns: host.offset.error_ns,
            environment: host.facts.environment.clone(),
        };
        self.hosts.iter().map(describe).collect()
    }
}

/// Why clients of a transfer cannot reach a host, and what to do.
fn no_address(host: &Host) -> String {
    let Host { name, reached_by, .. } = host;
    let advice = match &host.way {
        Transport::Guest(guest) => format!(
            "write network: user with the VM {} in the lab file, and start the lab again",
            guest.name
        ),
        _ => "add address: 10.0.0.5 next to its command".into(),
    };
    format!("the clients of transfers cannot reach host {name} ({reached_by}); {advice}")
}

/// Hosts get different operations and contents, by their place among those that drive a datastore: each the same for all
/// datastores of a block. The first host gets those that this machine alone would have.
fn seed_of(seed: u64, place: usize) -> u64 {
    if place == 0 { seed } else { stormeter_study::trial_seed(seed, place as u32) }
}

impl Fleet {
    /// Ends agents: first says goodbye to all, then waits for each.
    fn part(&mut self, hosts: &[usize]) {
        for &host in hosts {
            if let Some(link) = &mut self.hosts[host].link {
                link.say(Command::Goodbye);
                link.close();
            }
        }
        for &host in hosts {
            self.hosts[host].link = None;
        }
    }

    fn agent_error(&self, host: usize, error: &HostError) -> RunError {
        RunError::Agent { host: self.hosts[host].name.clone(), reason: error.to_string() }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.part(&self.all());
    }
}
