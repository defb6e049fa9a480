//! A transfer whose servers are on the hosts and whose clients are here, as a user's would be.
//!
//! The servers receive the trial and a token over the connection to their agents, and listen; the clients
//! connect over the network that is measured and send the token. From then on it is a trial like any other:
//! started at one moment, watched, combined. How long a message took is reported by the clients, its cost
//! by the hosts.

use std::fs::File;
use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use stormeter_runner::{
    ClientStart, ListenOrder, Password, Progress, Rows, RunError, TransferClient, TrialEnd,
    TrialOrder, run_clients,
};
use stormeter_trial::{Interval, TrialNote};

use super::ended::Ended;
use super::gather::Trouble;
use super::start::{CommonStart, Start};
use super::trial::{AFTERWARDS, Attempt};
use super::{Fleet, no_address};
use crate::destination::Destination;
use crate::message::{Command, Report};

impl Fleet {
    /// Executes a transfer. `orders` are for the hosts that have VMs.
    pub(super) fn transfer(
        &mut self,
        mut orders: Vec<(usize, TrialOrder)>,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Attempt, RunError> {
        let hosts: Vec<usize> = orders.iter().map(|(host, _)| *host).collect();
        let mut tokens = Vec::new();
        for (host, order) in &mut orders {
            let destination = &self.hosts[*host].destination;
            let token = new_token()?;
            order.listener = Some(ListenOrder {
                everywhere: *destination != Destination::Here,
                port: destination.listen_port(),
                token: token.clone(),
            });
            tokens.push(token);
        }
        for (host, order) in &orders {
            self.say(*host, Command::Trial(Box::new(order.clone())));
        }
        let what = "listen for clients";
        let ports = self.gather(&hosts, what, cancel, |_, report| match report {
            Report::Listening { port } => Ok(Some(port)),
            other => Err(other),
        })?;
        let mut sockets = Vec::new();
        for (((host, order), token), port) in orders.iter().zip(&tokens).zip(ports) {
            match self.connect_clients(*host, order.vms, (token, port), cancel) {
                Ok(connected) => sockets.push(connected),
                Err(trouble) => return Err(self.stop_after(trouble)),
            }
        }
        self.gather(&hosts, "get ready for the trial", cancel, |_, report| match report {
            Report::Ready => Ok(Some(())),
            other => Err(other),
        })?;
        let start = self.start(&orders, cancel, |_, report| match report {
            // Only the clients' rows count.
            Report::Interval(_) => Ok(()),
            other => Err(other),
        })?;
        let start = match start {
            Start::Agreed(start) => start,
            Start::TooLate(late) => return Ok(Attempt::TooLate(late)),
        };
        progress.load_starts(start.at);
        self.exchange(&orders, sockets, start, cancel, progress).map(Attempt::Ended)
    }

    /// Connects a client for each VM of a host.
    fn connect_clients(
        &self,
        host: usize,
        vms: u32,
        (token, port): (&Password, u16),
        cancel: &AtomicBool,
    ) -> Result<Vec<TcpStream>, Trouble> {
        let of = &self.hosts[host];
        let refused = |reason: String| Trouble::Refused(host, reason);
        if of.destination == Destination::Unknown {
            return Err(refused(no_address(of)));
        }
        let addresses = of.destination.reached(port).map_err(refused)?;
        let client = TransferClient { addresses: &addresses, token };
        let connect = |vm| {
            if cancel.load(Ordering::Relaxed) {
                return Err(Trouble::Cancelled);
            }
            client.connect(vm).map_err(|error| {
                let at = addresses.first().map(ToString::to_string).unwrap_or_default();
                refused(format!(
                    "the server of a transfer cannot be reached at {at}: {error}; see that no firewall \
                     is between, or name another address or port (address: \"HOST:PORT\")"
                ))
            })
        };
        (0..vms).map(connect).collect()
    }

    /// From the start to the last message of the last host.
    fn exchange(
        &mut self,
        orders: &[(usize, TrialOrder)],
        sockets: Vec<Vec<TcpStream>>,
        common: CommonStart,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Ended>, RunError> {
        let hosts: Vec<usize> = orders.iter().map(|(host, _)| *host).collect();
        let clock = self.clock.clone();
        // If a server is gone, its clients end too, but not immediately on every network.
        let given_up = AtomicBool::new(false);
        let mut rows = Rows::new(hosts.len());
        let (heard, clients) =
            thread::scope(|scope| {
                let (sender, telling) = mpsc::channel();
                let mut clients = Vec::new();
                let mut start = ClientStart { at_ns: common.at_ns, first_cpu: 0 };
                for ((_, order), sockets) in orders.iter().zip(sockets) {
                    let mut teller = Teller { sender: sender.clone() };
                    let (clock, given_up) = (&clock, &given_up);
                    clients.push(scope.spawn(move || {
                        let run = order.fixed_work();
                        run_clients(&run, sockets, clock, given_up, start, &mut teller)
                    }));
                    start.first_cpu += order.vms as usize;
                }
                let mut is_busy = || {
                    for row in telling.try_iter() {
                        rows.add(&row, progress);
                    }
                    clients.iter().any(|client| !client.is_finished())
                };
                let what = "carry out the transfer";
                let heard =
                    self.listen(&hosts, what, AFTERWARDS, cancel, &mut is_busy, |_, report| {
                        match report {
                            Report::Interval(_) => Ok(None),
                            Report::Done(end) => Ok(Some(*end)),
                            other => Err(other),
                        }
                    });
                if heard.is_err() {
                    given_up.store(true, Ordering::Relaxed);
                }
                let joined = clients.into_iter().map(|client| match client.join() {
                    Ok(ended) => ended,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                (heard, joined.collect::<Vec<_>>())
            });
        let heard = heard.map_err(|trouble| self.stop_after(trouble))?;
        rows.finish(progress);
        let mut ended = Vec::new();
        let all = orders.iter().zip(common.late_ns).zip(heard).zip(clients);
        for ((((host, order), late_ns), end), clients) in all {
            let end = joined(end, clients?);
            ended.push(Ended { host: *host, vms: order.vms, end, late_ns });
        }
        Ok(ended)
    }
}

/// Combines the results of a host's servers and their clients. The servers' reason for an early end
/// comes first: clients only see their connections close.
fn joined(servers: TrialEnd, clients: TrialEnd) -> TrialEnd {
    let mut all = servers;
    all.sample.merge(clients.sample);
    all.clock_deviation = all.clock_deviation.max(clients.clock_deviation);
    for note in clients.notes {
        let note = TrialNote { of_clients: true, ..note };
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
    all.incidents.extend(clients.incidents);
    all
}

/// A token of 32 characters that cannot be guessed.
fn new_token() -> Result<Password, RunError> {
    const SOURCE: &str = "/dev/urandom";
    let mut bytes = [0; 16];
    let read = File::open(SOURCE).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| RunError::Hosts(format!("{SOURCE} cannot be read: {error}")))?;
    Ok(Password(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Forwards the rows of a host's clients.
struct Teller {
    sender: Sender<Interval>,
}

impl Progress for Teller {
    fn interval(&mut self, row: &Interval) {
        let _ = self.sender.send(*row);
    }
}
