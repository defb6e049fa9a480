//! Finds other runs that use the same storage at this moment.
//!
//! Two runs on one disk measure each other: each reports a difference that is the other's load. They cannot
//! always be kept apart (directories of one file system, exports of one server), so each announces itself
//! and looks for others before and after each trial.
//!
//! On one machine, sockets identify a run: for each thing that it uses (a file system, a disk, a server) it
//! binds a datagram socket to an abstract name (unix(7)) that says what is used and by which run, and reads
//! `/proc/net/unix` for the names of others. Such a name needs no directory and no permission, is visible to all
//! users, and disappears with its process, however that ended: it cannot be stale. A run that starts also
//! sends its name to the runs that are there, so that one that comes and goes within a trial of theirs is seen
//! by them too.
//!
//! Runs on other machines, and in containers with a network of their own, are seen by the marks of their folders
//! ([`Marks`]) if they use the same directory or export. Whether such a mark belongs to a live run or to one
//! that was killed cannot be determined there; but a run that sees a foreign mark renews its own before each
//! trial, and a mark that changes, or appears, belongs to a live run.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram};

use stormeter_disk::{DatastoreFact, Sharing, StorageEvent};

use crate::owner::{Owner, is_run_id};

/// The prefix of all socket names.
const PREFIX: &str = "stormeter-run";
/// The longest name (unix(7): 108 bytes with the leading zero).
const MOST_BYTES: usize = 107;
/// The largest number of sockets of one run for one thing.
const MOST_SOCKETS: u32 = 65_536;
/// The names are read at most this often, until two successive readings agree.
const MOST_READINGS: u32 = 16;
/// Greetings read at a time; the kernel keeps about ten.
const MOST_GREETINGS: usize = 64;

/// Something that several runs may share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shared {
    /// A file system, by its device number (`st_dev`).
    FileSystem(u64),
    /// A block device, by the kernel's name for the whole disk.
    Disk(String),
    /// A server, by its address.
    Server(SocketAddr),
    /// A pool of a Ceph cluster, by the cluster's identity and the pool's name.
    Pool(String),
}

/// Another run that uses the same storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRun {
    /// The run id, as its results file has it.
    pub run_id: String,
    /// Its process id, as its machine numbers it.
    pub pid: u32,
    /// The machine's name; `None` for this machine.
    pub host: Option<String>,
    /// What is shared.
    pub sharing: Sharing,
}

impl From<OtherRun> for StorageEvent {
    fn from(other: OtherRun) -> Self {
        let OtherRun { run_id, pid, host: machine, sharing } = other;
        StorageEvent::OtherRun { run_id, pid, machine, sharing }
    }
}

impl From<OtherRun> for DatastoreFact {
    fn from(other: OtherRun) -> Self {
        let OtherRun { run_id, pid, host: machine, sharing } = other;
        DatastoreFact::OtherRun { run_id, pid, machine, sharing }
    }
}

impl Shared {
    fn key(&self) -> String {
        match self {
            Shared::FileSystem(number) => format!("fs-{number:x}"),
            Shared::Disk(name) => format!("disk-{name}"),
            Shared::Server(address) => format!("server-{address}"),
            Shared::Pool(identity) => format!("pool-{identity}"),
        }
    }

    fn sharing(&self) -> Sharing {
        match self {
            Shared::FileSystem(_) => Sharing::FileSystem,
            Shared::Disk(_) => Sharing::Disk,
            Shared::Server(_) => Sharing::Server,
            Shared::Pool(_) => Sharing::Pool,
        }
    }
}

/// A run that uses something on this machine, as its socket's name says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    run_id: String,
    pid: u32,
    /// Distinguishes the sockets of a run for one thing: several of its datastores may use it.
    number: u32,
    key: String,
}

impl Name {
    fn text(&self) -> String {
        let Self { run_id, pid, number, key } = self;
        format!("{PREFIX}/{run_id}/{pid}/{number}/{key}")
    }

    /// Reads a name; `None` if it is not one of ours. Any process may bind or send anything.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '/');
        let is_ours = parts.next()? == PREFIX && text.len() <= MOST_BYTES;
        let run_id = parts.next().filter(|id| is_run_id(id))?.to_owned();
        let (pid, number) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let key = parts.next()?.to_owned();
        is_ours.then_some(Self { run_id, pid, number, key })
    }

    fn address(&self) -> io::Result<UnixAddr> {
        UnixAddr::from_abstract_name(self.text())
    }
}

/// A run's use of a datastore, visible to other runs for as long as this value lives.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    run_id: String,
    uses: Vec<(Shared, UnixDatagram)>,
}

impl Presence {
    /// Announces the use, and greets the runs that are there. What cannot be announced (no network
    /// namespace, a name that is too long) is left out: that must not block a run.
    pub(crate) fn enter(run_id: &str, shared: Vec<Shared>) -> Self {
        let pid = std::process::id();
        let mut uses: Vec<(Shared, UnixDatagram)> = Vec::new();
        let there = names();
        for shared in shared {
            let name = Name { run_id: run_id.into(), pid, number: 0, key: shared.key() };
            let Ok((name, socket)) = bind(name) else { continue };
            for other in there.iter().filter(|it| it.key == name.key && it.run_id != run_id) {
                let greeted = other.address();
                // A run that is ending, or does not receive it, sees the name itself if it looks.
                let _ = greeted.and_then(|to| socket.send_to_addr(name.text().as_bytes(), &to));
            }
            uses.push((shared, socket));
        }
        Self { run_id: run_id.into(), uses }
    }

    /// Other runs on this machine that use the same storage now, or have appeared since the last call.
    pub(crate) fn others(&self) -> Vec<OtherRun> {
        if self.uses.is_empty() {
            return Vec::new();
        }
        let there = names();
        let mut others = Vec::new();
        for (shared, socket) in &self.uses {
            let key = shared.key();
            let met = there.iter().cloned().chain(greetings(socket));
            let met = met.filter(|name| name.key == key && name.run_id != self.run_id);
            others.extend(met.map(|name| OtherRun {
                run_id: name.run_id,
                pid: name.pid,
                host: None,
                sharing: shared.sharing(),
            }));
        }
        others
    }
}

/// Each run once, with the closest thing that it shares.
pub(crate) fn closest(mut others: Vec<OtherRun>) -> Vec<OtherRun> {
    others.sort_by(|one, other| (&one.run_id, one.sharing).cmp(&(&other.run_id, other.sharing)));
    others.dedup_by(|later, first| later.run_id == first.run_id);
    others
}

/// Binds a socket to the first free name. The name of a datastore that was just closed may be in
/// use for a moment longer: a child process that is being started holds the socket until it executes its program.
fn bind(mut name: Name) -> io::Result<(Name, UnixDatagram)> {
    loop {
        match UnixDatagram::bind_addr(&name.address()?) {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse && name.number < MOST_SOCKETS =>
            {
                name.number += 1;
            }
            bound => {
                let socket = bound?;
                socket.set_nonblocking(true)?;
                return Ok((name, socket));
            }
        }
    }
}

/// All names of runs in this network namespace. The kernel returns them page by page and may skip one
/// when another disappears meanwhile, so they are read until nothing has changed.
fn names() -> HashSet<Name> {
    let mut last = names_read();
    let mut all = last.clone();
    for _ in 1..MOST_READINGS {
        let again = names_read();
        let is_same = again == last;
        all.extend(again.iter().cloned());
        last = again;
        if is_same {
            break;
        }
    }
    all
}

fn names_read() -> HashSet<Name> {
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // The name is the last column; '@' stands for the leading zero of an abstract name.
    let names = text.lines().filter_map(|line| line.rsplit(' ').next()?.strip_prefix('@'));
    names.filter_map(Name::parse).collect()
}

fn greetings(socket: &UnixDatagram) -> Vec<Name> {
    let mut bytes = [0; MOST_BYTES];
    let next = || {
        let count = socket.recv(&mut bytes).ok()?;
        Some(std::str::from_utf8(&bytes[..count]).ok().and_then(Name::parse))
    };
    std::iter::from_fn(next).take(MOST_GREETINGS).flatten().collect()
}

/// The marks of runs whose processes cannot be checked, as they were last seen in a directory.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    seen: Option<HashMap<String, Owner>>,
}

impl Marks {
    /// Takes the current marks, by folder name; returns those of runs that are certainly alive:
    /// their marks changed, or appeared, since the last call.
    pub(crate) fn look(&mut self, now: HashMap<String, Owner>) -> Vec<OtherRun> {
        let is_new = |name: &String, owner: &Owner| {
            self.seen.as_ref().is_some_and(|seen| seen.get(name) != Some(owner))
        };
        let live = now.iter().filter(|(name, owner)| is_new(name, owner));
        let live = live.map(|(_, owner)| OtherRun::by_mark(owner)).collect();
        self.seen = Some(now);
        live
    }
}

impl OtherRun {
    fn by_mark(owner: &Owner) -> Self {
        // Machine id and name; the id means nothing to a reader.
        let name = owner.host.split_once(' ').map_or(owner.host.as_str(), |(_, name)| name);
        Self {
            run_id: owner.run_id.clone(),
            pid: owner.pid,
            host: Some(if name.is_empty() { "another machine".into() } else { name.into() }),
            sharing: Sharing::Directory,
        }
    }

    /// By the mark of a process on this machine.
    pub(crate) fn here(owner: &Owner) -> Self {
        Self { host: None, ..Self::by_mark(owner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "00000000000000a1";
    const SECOND: &str = "00000000000000a2";

    /// A thing that nothing else uses, whichever process the tests run in.
    fn own(tag: u64) -> Shared {
        Shared::FileSystem((u64::from(std::process::id()) << 16) | tag)
    }

    /// Looks until a run that has ended is no longer seen: a process that another test is starting may hold
    /// its socket for a moment.
    fn is_alone_soon(presence: &Presence) -> bool {
        (0..10_000).any(|_| runs(presence).is_empty())
    }

    fn runs(presence: &Presence) -> Vec<String> {
        closest(presence.others()).into_iter().map(|other| other.run_id).collect()
    }

    #[test]
    fn runs_see_each_other_whoever_came_first_and_no_longer_than_they_are_there() {
        let first = Presence::enter(FIRST, vec![own(1)]);
        assert_eq!(runs(&first), Vec::<String>::new());
        let second = Presence::enter(SECOND, vec![own(1), own(2)]);
        assert_eq!((runs(&first), runs(&second)), (vec![SECOND.into()], vec![FIRST.into()]));
        assert_eq!(second.others()[0].sharing, Sharing::FileSystem);
        drop(first);
        assert!(is_alone_soon(&second));
    }

    #[test]
    fn a_run_that_came_and_went_between_two_looks_is_seen_once() {
        let first = Presence::enter(FIRST, vec![own(3)]);
        drop(Presence::enter(SECOND, vec![own(3)]));
        assert_eq!(runs(&first), [SECOND]);
        assert!(is_alone_soon(&first));
    }

    #[test]
    fn a_run_is_seen_again_whose_last_socket_is_still_held_by_somebody() {
        let first = Presence::enter(FIRST, vec![own(6)]);
        let held: Vec<_> = Presence::enter(SECOND, vec![own(6)]).uses;
        let again = Presence::enter(SECOND, vec![own(6)]);
        drop(held);
        assert_eq!(again.uses.len(), 1);
        assert!((0..3).all(|_| runs(&first) == [SECOND]));
    }

    #[test]
    fn one_run_s_own_datastores_are_no_others_and_other_storage_is_nobody_s_business() {
        let first = Presence::enter(FIRST, vec![own(4)]);
        let same = Presence::enter(FIRST, vec![own(4)]);
        let other = Presence::enter(SECOND, vec![own(5)]);
        assert!([&first, &same, &other].into_iter().all(|it| runs(it).is_empty()));
    }

    #[test]
    fn names_that_are_not_ours_are_none() {
        let name = Name { run_id: FIRST.into(), pid: 7, number: 1, key: "fs-10/2".into() };
        assert_eq!(Name::parse(&name.text()), Some(name.clone()));
        let text = name.text();
        for bad in ["", "stormeter-run", &text.replace("a1", "zz"), &text.replace("/7/", "/-7/")] {
            assert_eq!(Name::parse(bad), None, "{bad}");
        }
        assert_eq!(Name::parse(&format!("{text}{}", "x".repeat(MOST_BYTES))), None);
    }

    #[test]
    fn a_mark_that_stays_as_it_was_is_no_run_and_one_that_changes_or_comes_up_is() {
        let mut marks = Marks::default();
        let mut owner = Owner::here(FIRST);
        owner.host = "0123 filer-host".into();
        let with = |owner: &Owner| HashMap::from([("folder".to_owned(), owner.clone())]);
        assert_eq!(marks.look(with(&owner)), [], "left by a run that was killed, perhaps");
        assert_eq!(marks.look(with(&owner)), []);
        let renewed = owner.renewed(1);
        let live = marks.look(with(&renewed));
        assert_eq!(live[0].host.as_deref(), Some("filer-host"));
        assert_eq!(marks.look(HashMap::new()), []);
        assert_eq!(marks.look(with(&renewed)).len(), 1, "it came up");
    }
}
