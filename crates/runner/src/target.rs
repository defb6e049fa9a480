//! The CPU time of the target: the processes that serve a network datastore, if they run on this machine.
//!
//! An I/O costs CPU time not only at the initiator: a server on the same host uses the same CPUs. Its CPU time is read
//! from the clocks of its processes, which include threads that have ended, and take only one system call each when the
//! window opens and closes.

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;

use nix::errno::Errno;
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;
use stormeter_datastore::Datastore;
use stormeter_disk::DeviceError;
use stormeter_trial::TargetUnknown;

use crate::error::RunError;
use crate::socket_owners::{holders, program, proxy};
use crate::sockets::{Serving, Socket, is_own, parse, serving};

/// The processes on this machine that serve a datastore.
#[derive(Debug)]
pub(crate) struct Target {
    processes: Vec<Process>,
}

#[derive(Debug)]
pub(crate) struct Process {
    pid: i32,
    clock: ClockId,
    /// Its start, in ticks since boot: distinguishes it from a later process with the same id.
    started_ticks: u64,
}

impl Target {
    /// Finds the processes that serve these addresses. This searches all processes, which takes milliseconds: not within
    /// a window.
    ///
    /// # Errors
    /// There are none, or some may be unknown.
    pub(crate) fn at(peers: &[SocketAddr]) -> Result<Self, TargetUnknown> {
        if peers.is_empty() {
            return Err(TargetUnknown::NoServer);
        }
        if let Some(peer) = peers.iter().find(|peer| !is_own(**peer)) {
            return Err(TargetUnknown::Elsewhere(peer.to_string()));
        }
        let sockets: Vec<_> = ["/proc/net/tcp", "/proc/net/tcp6"]
            .into_iter()
            .flat_map(|path| parse(&fs::read_to_string(path).unwrap_or_default()))
            .collect();
        let mut pids = Vec::new();
        for peer in peers {
            pids.extend(servers(&serving(&sockets, *peer), *peer)?);
        }
        // A server may listen on several of the addresses.
        pids.sort_unstable();
        pids.dedup();
        let processes = pids.into_iter().map(Process::of).collect::<Result<_, _>>()?;
        Ok(Self { processes })
    }

    /// Reads their clocks when the window opens. A process that has ended since it was found, such as a helper of the
    /// server, served nothing in the window and is left out.
    ///
    /// # Errors
    /// No process is left, or a clock cannot be read.
    pub(crate) fn open(&self) -> Result<Opened<'_>, TargetUnknown> {
        let mut gone = None;
        let mut read = Vec::with_capacity(self.processes.len());
        for process in &self.processes {
            match process.cpu_ns() {
                Ok(cpu_ns) => read.push((process, cpu_ns)),
                Err(TargetUnknown::Gone(pid)) => gone = Some(TargetUnknown::Gone(pid)),
                Err(unreadable) => return Err(unreadable),
            }
        }
        match gone {
            Some(gone) if read.is_empty() => Err(gone),
            _ => Ok(Opened(read)),
        }
    }
}

/// The processes that serve at `peer`: those that hold the other ends of our connections to it, or, without
/// connections, those that listen. A process that listens and holds no connection accepts for others, unless it runs the
/// same program: a server of several processes.
fn servers(serving: &Serving, peer: SocketAddr) -> Result<Vec<i32>, TargetUnknown> {
    let inodes = |of: &[Socket]| of.iter().map(|socket| socket.inode).collect::<HashSet<u64>>();
    let (listening, accepted) = (inodes(&serving.listening), inodes(&serving.accepted));
    if serving.is_led_elsewhere {
        return Err(TargetUnknown::LedElsewhere(peer.to_string()));
    }
    if listening.is_empty() && accepted.is_empty() {
        return Err(TargetUnknown::NoListener(peer.to_string()));
    }
    let mut found = holders(if accepted.is_empty() { &listening } else { &accepted });
    if found.pids.is_empty() {
        let unknown = if found.hidden { TargetUnknown::Hidden } else { TargetUnknown::NoProcess };
        return Err(unknown(peer.to_string()));
    }
    if let Some(name) = found.pids.iter().find_map(|pid| proxy(*pid)) {
        return Err(TargetUnknown::Proxy(peer.to_string(), name));
    }
    if !accepted.is_empty() {
        let programs: Vec<_> = found.pids.iter().filter_map(|pid| program(*pid)).collect();
        let is_same = |pid: &i32| program(*pid).is_some_and(|own| programs.contains(&own));
        found.pids.extend(holders(&listening).pids.into_iter().filter(is_same));
    }
    Ok(found.pids)
}

/// The processes that served when the window opened, and their clocks at that moment.
pub(crate) struct Opened<'a>(Vec<(&'a Process, u64)>);

impl Opened<'_> {
    /// User and system time of all of them since, in nanoseconds.
    ///
    /// # Errors
    /// One of them has ended, and its CPU time is lost.
    pub(crate) fn spent_ns(&self) -> Result<u64, TargetUnknown> {
        let spent = |(process, then): &(&Process, u64)| Ok(process.cpu_ns()?.saturating_sub(*then));
        self.0.iter().map(spent).sum()
    }
}

/// Refuses the target's CPU time as the metric of a verdict if one of the datastores can never have it.
pub(crate) fn check_targets(stores: &[Datastore]) -> Result<(), RunError> {
    for store in stores {
        Target::at(&store.peers()).map_err(|source| RunError::NoTarget {
            url: store.description().url.to_string(),
            source,
        })?;
    }
    Ok(())
}

impl Process {
    fn of(pid: i32) -> Result<Self, TargetUnknown> {
        let clock = clock_getcpuclockid(Pid::from_raw(pid)).map_err(|error| unread(pid, error))?;
        let started_ticks = started_ticks(pid).ok_or(TargetUnknown::Gone(pid))?;
        Ok(Self { pid, clock, started_ticks })
    }

    fn cpu_ns(&self) -> Result<u64, TargetUnknown> {
        let now = self.clock.now().map_err(|error| unread(self.pid, error))?;
        if started_ticks(self.pid) != Some(self.started_ticks) {
            return Err(TargetUnknown::Gone(self.pid));
        }
        Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
    }
}

/// The clock of a process that has ended is invalid.
fn unread(pid: i32, error: Errno) -> TargetUnknown {
    match error {
        Errno::EINVAL | Errno::ESRCH => TargetUnknown::Gone(pid),
        other => TargetUnknown::Unreadable(pid, DeviceError(other as i32)),
    }
}

/// The 22nd field of /proc/PID/stat (proc(5)); the second is a name in brackets that may hold
/// anything. `None` for a process that has ended, even if its parent has not reaped it yet, which the third field
/// shows.
fn started_ticks(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let ticks = fields.nth(18)?.parse().ok()?;
    (!is_dead).then_some(ticks)
}

#[cfg(test)]
#[path = "target_tests.rs"]
pub(crate) mod tests;
