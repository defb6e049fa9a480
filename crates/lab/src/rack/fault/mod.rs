//! Faults in the guests of a running lab: pause, kill, cut off, fail a disk; and undoing them.
//!
//! Actions of a study are recorded in the lab's directory before they are done. The next run therefore
//! finds and undoes what a killed run has left; what a user has done by hand (`lab do`), for example to
//! measure an array without one of its disks, is left alone.

mod routed;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use stormeter_fault::{FaultKind, FaultSpec};

use super::array::{self, ArrayDisk};
use super::directory::{Directory, FAULTS, guest, started};
use super::link::{self, NETDEV};
use super::path::{self, FcPath};
use super::reach;
use super::restart::start_again;
use super::state::State;
use crate::error::{LabError, at};
use crate::links::Link;
use crate::model::Storage;
use crate::qemu::{Guest, cable_end};

/// A paused guest hears nothing; a running one answers in less.
const ANSWER: Duration = Duration::from_secs(20);
/// Outstanding I/O on a path waits for disks, which may be slow. In seconds.
const DRAINED_S: u64 = 60;
/// After this time the storage guest itself reports what is still outstanding.
const DRAIN: Duration = Duration::from_secs(DRAINED_S + 30);
/// A restored path is tried every second once its ports have found each other. In seconds.
const BACK_S: u64 = 120;
/// After this time the host itself reports what is missing.
const PATH: Duration = Duration::from_secs(BACK_S + 30);
/// For rebuilding an array with slow disks, which has to finish before the next trial.
const REBUILD: Duration = Duration::from_secs(1800);

/// A running lab, for injecting faults.
#[derive(Debug)]
pub struct Faults {
    directory: PathBuf,
    state: State,
}

/// Whose account a fault is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doer {
    /// A study: undone after the trial.
    Study,
    /// A user, who undoes it.
    Hand,
}

impl Faults {
    /// Opens the lab in `directory`.
    ///
    /// # Errors
    /// There is no lab, or it belongs to another user.
    pub fn open(directory: &Path) -> Result<Self, LabError> {
        let (directory, state) = started(directory)?;
        Ok(Self { directory, state })
    }

    /// Whether the lab has what the fault is about. Touches nothing.
    ///
    /// # Errors
    /// It has not: what it has.
    pub fn check(&self, fault: &FaultSpec) -> Result<(), LabError> {
        if let FaultKind::PathDown | FaultKind::PathUp = fault.kind {
            return self.path(fault).map(|_| ());
        }
        self.guest(fault)?;
        match fault.kind {
            FaultKind::Pause | FaultKind::Resume => Ok(()),
            FaultKind::Kill | FaultKind::Restart => whole(fault),
            FaultKind::LinkDown | FaultKind::LinkUp | FaultKind::LinkLoss | FaultKind::LinkFlap => {
                match self.routed(fault)? {
                    Some(_) => Ok(()),
                    None => self.link(fault).map(|_| ()),
                }
            }
            FaultKind::DiskFail | FaultKind::DiskReplace => self.array_disk(fault).map(|_| ()),
            FaultKind::DiskSlow => Err(LabError::OnlyPredicted { fault: fault.to_string() }),
            FaultKind::PathDown | FaultKind::PathUp => Ok(()),
        }
    }

    /// Does an action for a study, after recording it: [`Faults::restore`] undoes it.
    ///
    /// # Errors
    /// The lab has no such thing, or it could not be done.
    pub fn apply(&mut self, fault: &FaultSpec) -> Result<(), LabError> {
        self.perform(fault, Doer::Study)
    }

    /// Does an action for a user: it lasts until it is undone by hand.
    ///
    /// # Errors
    /// As [`Faults::apply`].
    pub fn by_hand(&mut self, fault: &FaultSpec) -> Result<(), LabError> {
        self.perform(fault, Doer::Hand)
    }

    /// Undoes the actions of studies, the latest first, those on hosts at the very end, and waits until the effects
    /// are gone: arrays are rebuilt, guests are up. Does nothing if there are none.
    ///
    /// # Errors
    /// Something cannot be undone. It stays recorded, and the rest is still undone.
    pub fn restore(&mut self) -> Result<(), LabError> {
        let _lock = Directory::open(&self.directory)?;
        let mut left = self.noted()?;
        // A restarted host mounts what storage guests serve, so it is restarted after them.
        let is_host = |name: &str| self.state.lab.hosts.iter().any(|host| host.name == name);
        left.sort_by_key(|fault| !is_host(&fault.target));
        let (mut kept, mut routed) = (Vec::new(), false);
        let mut first_error = None;
        while let Some(fault) = left.pop() {
            routed |= routed::concerns(&self.state.lab, &fault);
            if let Err(error) = self.undo(&fault) {
                kept.insert(0, fault);
                first_error.get_or_insert(error);
            }
        }
        self.note(&kept)?;
        if routed && kept.is_empty() {
            // The next trial must not start on the second way.
            reach::settle(&self.directory, &self.state.lab)?;
        }
        first_error.map_or(Ok(()), Err)
    }

    fn perform(&mut self, fault: &FaultSpec, doer: Doer) -> Result<(), LabError> {
        self.check(fault)?;
        let _lock = Directory::open(&self.directory)?;
        if doer == Doer::Study {
            let mut noted = self.noted()?;
            noted.push(fault.clone());
            self.note(&noted)?;
        }
        self.carry_out(fault)
            .map_err(|error| LabError::Fault { fault: fault.to_string(), source: Box::new(error) })
    }

    fn carry_out(&self, fault: &FaultSpec) -> Result<(), LabError> {
        if let FaultKind::PathDown | FaultKind::PathUp = fault.kind {
            return self.set_path(&self.path(fault)?, fault.kind == FaultKind::PathUp);
        }
        let guest = self.guest(fault)?;
        match fault.kind {
            FaultKind::Pause => self.running(&guest)?.connect()?.run("stop", json!({})).map(drop),
            FaultKind::Resume => self.running(&guest)?.connect()?.run("cont", json!({})).map(drop),
            FaultKind::Kill => match self.running(&guest)?.process() {
                Some(process) => process.kill(),
                None => Err(guest.failed("does not run")),
            },
            FaultKind::Restart => start_again(&self.directory, &self.state, &guest.name),
            FaultKind::LinkDown => self.set_link(fault, &guest, false),
            FaultKind::LinkUp => self.set_link(fault, &guest, true),
            FaultKind::LinkFlap => {
                self.set_link(fault, &guest, false)?;
                // The amount was held to be at least a millisecond when it was read.
                std::thread::sleep(Duration::from_nanos(fault.amount as u64));
                self.set_link(fault, &guest, true)
            }
            FaultKind::LinkLoss => self.lose(fault, &guest, fault.amount),
            FaultKind::DiskFail => {
                self.tell(&guest, &array::fail(&self.array_disk(fault)?), ANSWER)
            }
            FaultKind::DiskReplace => {
                self.tell(&guest, &array::replace(&self.array_disk(fault)?), ANSWER)
            }
            // Paths have two ends, and what a lab cannot do is not started.
            FaultKind::PathDown | FaultKind::PathUp | FaultKind::DiskSlow => Ok(()),
        }
    }

    /// Brings back what a fault has changed, whatever was done since: what is whole already is left.
    fn undo(&self, fault: &FaultSpec) -> Result<(), LabError> {
        if let FaultKind::PathDown | FaultKind::PathUp = fault.kind {
            let path = self.path(fault)?;
            self.set_path(&path, true)?;
            let lines = path::back(&path, BACK_S);
            return self.tell(&guest(&self.directory, &path.host), &lines, PATH);
        }
        let guest = self.guest(fault)?;
        if guest.process().is_none() {
            start_again(&self.directory, &self.state, &guest.name)?;
        }
        match fault.kind {
            FaultKind::Kill | FaultKind::Restart => Ok(()),
            FaultKind::Pause | FaultKind::Resume => {
                guest.connect()?.run("cont", json!({})).map(drop)
            }
            FaultKind::LinkDown | FaultKind::LinkUp | FaultKind::LinkFlap => {
                self.set_link(fault, &guest, true)
            }
            FaultKind::LinkLoss => self.lose(fault, &guest, 0.0),
            FaultKind::DiskFail | FaultKind::DiskReplace => {
                self.tell(&guest, &array::whole(&self.array_disk(fault)?), REBUILD)
            }
            FaultKind::PathDown | FaultKind::PathUp | FaultKind::DiskSlow => Ok(()),
        }
    }

    /// The guest that a fault is about.
    fn guest(&self, fault: &FaultSpec) -> Result<Guest, LabError> {
        let names = || self.state.lab.names();
        if names().any(|name| name == fault.target) {
            return Ok(guest(&self.directory, &fault.target));
        }
        let known: Vec<&str> = names().collect();
        Err(LabError::NoGuest { name: fault.target.clone(), known: known.join(", ") })
    }

    fn running<'g>(&self, guest: &'g Guest) -> Result<&'g Guest, LabError> {
        match guest.process() {
            Some(_) => Ok(guest),
            None => Err(guest.failed("does not run")),
        }
    }

    /// The storage guest with the link that a fault is about.
    fn link(&self, fault: &FaultSpec) -> Result<&Storage, LabError> {
        let storage = self.storage(fault, "has no network of its own")?;
        let network = storage.network.and_then(|network| self.state.lab.networks.get(network));
        match (&fault.part, network) {
            (None, _) => Ok(storage),
            (Some(part), Some(network)) if *part == network.name => Ok(storage),
            (Some(part), network) => Err(LabError::NoPart {
                guest: storage.name.clone(),
                part: part.clone(),
                what: "network",
                known: network
                    .map_or_else(|| "none by name".into(), |network| network.name.clone()),
            }),
        }
    }

    fn storage(&self, fault: &FaultSpec, otherwise: &'static str) -> Result<&Storage, LabError> {
        let storage = self.state.lab.storage.iter().find(|storage| storage.name == fault.target);
        storage.ok_or_else(|| LabError::NotStorage { guest: fault.target.clone(), what: otherwise })
    }

    fn array_disk(&self, fault: &FaultSpec) -> Result<ArrayDisk, LabError> {
        let storage = self.storage(fault, "has no array")?;
        let Some(array) = &fault.part else {
            let (guest, known) = (storage.name.clone(), array::redundant(storage));
            return Err(LabError::WhichArray { guest, known });
        };
        array::find(storage, array, fault.number as usize)
    }

    fn path(&self, fault: &FaultSpec) -> Result<FcPath, LabError> {
        let mount = fault.part.as_deref().unwrap_or_default();
        path::find(&self.state.lab, &fault.target, mount, fault.number as usize)
    }

    /// Cuts both ends of a path, or reconnects them.
    fn set_path(&self, path: &FcPath, up: bool) -> Result<(), LabError> {
        let end = |name| self.running(&guest(&self.directory, name))?.connect();
        // Neither end is touched if the other cannot be reached.
        let ends = [(end(&path.storage)?, path.cable.storage), (end(&path.host)?, path.cable.host)];
        let storage = guest(&self.directory, &path.storage);
        let admit = || self.tell(&storage, &path::admit(path), ANSWER);
        if up {
            admit()?;
        } else {
            // If the drain failed, the path is restored.
            self.tell(&storage, &path::drain(path, DRAINED_S), DRAIN)
                .inspect_err(|_| drop(admit()))?;
        }
        for (mut qmp, port) in ends {
            qmp.run("set_link", json!({"name": cable_end(port), "up": up}))?;
        }
        Ok(())
    }

    /// The links between routers and other guests that a fault is about; `None` if it is about a storage guest's own
    /// network.
    fn routed(&self, fault: &FaultSpec) -> Result<Option<Vec<Link>>, LabError> {
        routed::find(&self.state.lab, fault)
    }

    fn set_link(&self, fault: &FaultSpec, guest: &Guest, up: bool) -> Result<(), LabError> {
        if let Some(links) = self.routed(fault)? {
            // Neither end is touched if the other cannot be reached; one that does not run has no end.
            let mut open = Vec::new();
            for (name, _, port) in routed::ends(&self.state.lab, &links) {
                let end = super::directory::guest(&self.directory, name);
                if end.process().is_some() {
                    open.push((end.connect()?, port));
                }
            }
            for (mut qmp, port) in open {
                qmp.run("set_link", json!({"name": cable_end(port), "up": up}))?;
            }
            return Ok(());
        }
        let arguments = json!({"name": NETDEV, "up": up});
        self.running(guest)?.connect()?.run("set_link", arguments).map(drop)
    }

    /// Has a share of a link's packets lost, or of those of a storage guest's network.
    fn lose(&self, fault: &FaultSpec, guest: &Guest, share: f64) -> Result<(), LabError> {
        let Some(links) = self.routed(fault)? else {
            return self.tell(guest, &self.loss(fault, share)?, ANSWER);
        };
        let lab = &self.state.lab;
        for link in &links {
            for end in link.ends {
                let lines = link::port_loss(link.network(lab), &end.node.device(end.port), share);
                let guest = super::directory::guest(&self.directory, end.node.name(lab));
                self.tell(&guest, &lines, ANSWER)?;
            }
        }
        Ok(())
    }

    /// The lines that have a share of a guest's packets lost.
    fn loss(&self, fault: &FaultSpec, share: f64) -> Result<String, LabError> {
        let storage = self.link(fault)?;
        let network = storage.network.and_then(|network| self.state.lab.networks.get(network));
        Ok(link::loss(network, share))
    }

    /// Runs lines of a script on a storage guest.
    fn tell(&self, guest: &Guest, script: &str, patience: Duration) -> Result<(), LabError> {
        let failed = |error: io::Error| guest.failed(&format!("did not do it: {error}"));
        self.running(guest)?.control_port()?.set_up(script, patience).map_err(failed)
    }

    fn noted(&self) -> Result<Vec<FaultSpec>, LabError> {
        let path = self.directory.join(FAULTS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(at(&path)(error)),
        };
        // An incomplete line has not been acted on yet.
        Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
    }

    fn note(&self, faults: &[FaultSpec]) -> Result<(), LabError> {
        let path = self.directory.join(FAULTS);
        if faults.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path)(error)),
                _ => Ok(()),
            };
        }
        let text: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
        fs::write(&path, text).map_err(at(&path))
    }
}

/// Whether a fault is of a guest as a whole: it has no nodes of its own, as hosts of a site may have.
fn whole(fault: &FaultSpec) -> Result<(), LabError> {
    match &fault.part {
        None => Ok(()),
        Some(part) => Err(LabError::NoPart {
            guest: fault.target.clone(),
            part: part.clone(),
            what: "node",
            known: "none".into(),
        }),
    }
}

#[cfg(test)]
mod tests;
