//! What is done to guests of a lab that runs: paused, killed, cut off, a disk failed; and the mending.
//!
//! What a study does is noted in the lab's directory before it is done. So what a run that was killed has
//! left is found and undone by the next one, and what somebody has done by hand (`lab do`), to measure an
//! array without one of its disks perhaps, is his and stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use stormeter_fault::{Action, Verb};

use super::array::{self, ArrayDisk};
use super::directory::{Directory, guest, started};
use super::link::{self, NETDEV};
use super::path::{self, FcPath};
use super::restart::start_again;
use super::state::State;
use crate::error::{LabError, at};
use crate::model::Storage;
use crate::qemu::{Guest, cable_end};

/// What a study has done and not undone, one action a line.
pub(super) const FILE: &str = "lab.json.faults";
/// A guest that stands still hears nothing; one that runs answers in less.
const ANSWER: Duration = Duration::from_secs(20);
/// What is under way over a path waits at disks, which may be slow. In seconds.
const DRAINED_S: u64 = 60;
/// The storage guest says by itself what is left then.
const DRAIN: Duration = Duration::from_secs(DRAINED_S + 30);
/// A path that is up again is tried each second, after its ports have found each other. In seconds.
const BACK_S: u64 = 120;
/// The host says by itself what is missing then.
const PATH: Duration = Duration::from_secs(BACK_S + 30);
/// Rebuilding an array whose disks are slow, which is done before the next trial.
const REBUILD: Duration = Duration::from_secs(1800);

/// A lab that runs, to do something to.
#[derive(Debug)]
pub struct Faults {
    directory: PathBuf,
    state: State,
}

/// Whose account an action is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doer {
    /// A study: it is undone after the trial.
    Study,
    /// A person, who undoes it.
    Hand,
}

impl Faults {
    /// The lab in `directory`.
    ///
    /// # Errors
    /// There is none, or it is another user's.
    pub fn open(directory: &Path) -> Result<Self, LabError> {
        let (directory, state) = started(directory)?;
        Ok(Self { directory, state })
    }

    /// Whether the lab has what the action is about. Touches nothing.
    ///
    /// # Errors
    /// It has not: what it has.
    pub fn check(&self, action: &Action) -> Result<(), LabError> {
        if let Verb::PathDown | Verb::PathUp = action.verb {
            return self.path(action).map(|_| ());
        }
        self.guest(action)?;
        match action.verb {
            Verb::Pause | Verb::Resume | Verb::Kill | Verb::Restart => Ok(()),
            Verb::LinkDown | Verb::LinkUp | Verb::LinkLoss | Verb::LinkFlap => {
                self.link(action).map(|_| ())
            }
            Verb::DiskFail | Verb::DiskReplace => self.array_disk(action).map(|_| ()),
            Verb::PathDown | Verb::PathUp => Ok(()),
        }
    }

    /// Does it for a study, and notes it first: [`Faults::restore`] undoes it.
    ///
    /// # Errors
    /// The lab has no such thing, or it could not be done.
    pub fn apply(&mut self, action: &Action) -> Result<(), LabError> {
        self.perform(action, Doer::Study)
    }

    /// Does it for a person: it stays until it is undone by hand.
    ///
    /// # Errors
    /// As [`Faults::apply`].
    pub fn by_hand(&mut self, action: &Action) -> Result<(), LabError> {
        self.perform(action, Doer::Hand)
    }

    /// Undoes what studies have done, the last first, that of hosts last of all, and waits until it is undone: arrays are rebuilt,
    /// guests are up. Nothing where nothing was done.
    ///
    /// # Errors
    /// Something cannot be undone. It stays noted, and the rest is undone all the same.
    pub fn restore(&mut self) -> Result<(), LabError> {
        let _lock = Directory::open(&self.directory)?;
        let mut left = self.noted()?;
        // A host that is started again mounts what storage guests serve: its turn comes after theirs.
        let is_host = |name: &str| self.state.lab.hosts.iter().any(|host| host.name == name);
        left.sort_by_key(|action| !is_host(&action.guest));
        let mut kept = Vec::new();
        let mut first_error = None;
        while let Some(action) = left.pop() {
            if let Err(error) = self.undo(&action) {
                kept.insert(0, action);
                first_error.get_or_insert(error);
            }
        }
        self.note(&kept)?;
        first_error.map_or(Ok(()), Err)
    }

    fn perform(&mut self, action: &Action, doer: Doer) -> Result<(), LabError> {
        self.check(action)?;
        let _lock = Directory::open(&self.directory)?;
        if doer == Doer::Study {
            let mut noted = self.noted()?;
            noted.push(action.clone());
            self.note(&noted)?;
        }
        self.carry_out(action).map_err(|error| LabError::Action {
            action: action.to_string(),
            source: Box::new(error),
        })
    }

    fn carry_out(&self, action: &Action) -> Result<(), LabError> {
        if let Verb::PathDown | Verb::PathUp = action.verb {
            return self.set_path(&self.path(action)?, action.verb == Verb::PathUp);
        }
        let guest = self.guest(action)?;
        match action.verb {
            Verb::Pause => self.running(&guest)?.connect()?.run("stop", json!({})).map(drop),
            Verb::Resume => self.running(&guest)?.connect()?.run("cont", json!({})).map(drop),
            Verb::Kill => match self.running(&guest)?.process() {
                Some(process) => process.kill(),
                None => Err(guest.failed("does not run")),
            },
            Verb::Restart => start_again(&self.directory, &self.state, &guest.name),
            Verb::LinkDown => self.set_link(&guest, false),
            Verb::LinkUp => self.set_link(&guest, true),
            Verb::LinkFlap => {
                self.set_link(&guest, false)?;
                // The amount was held to be at least a millisecond when it was read.
                std::thread::sleep(Duration::from_nanos(action.amount as u64));
                self.set_link(&guest, true)
            }
            Verb::LinkLoss => self.tell(&guest, &self.loss(action, action.amount)?, ANSWER),
            Verb::DiskFail => self.tell(&guest, &array::fail(&self.array_disk(action)?), ANSWER),
            Verb::DiskReplace => {
                self.tell(&guest, &array::replace(&self.array_disk(action)?), ANSWER)
            }
            Verb::PathDown | Verb::PathUp => Ok(()),
        }
    }

    /// Brings back what an action has changed, whatever was done since: what is whole already is left.
    fn undo(&self, action: &Action) -> Result<(), LabError> {
        if let Verb::PathDown | Verb::PathUp = action.verb {
            let path = self.path(action)?;
            self.set_path(&path, true)?;
            let lines = path::back(&path, BACK_S);
            return self.tell(&guest(&self.directory, &path.host), &lines, PATH);
        }
        let guest = self.guest(action)?;
        if guest.process().is_none() {
            start_again(&self.directory, &self.state, &guest.name)?;
        }
        match action.verb {
            Verb::Kill | Verb::Restart => Ok(()),
            Verb::Pause | Verb::Resume => guest.connect()?.run("cont", json!({})).map(drop),
            Verb::LinkDown | Verb::LinkUp | Verb::LinkFlap => self.set_link(&guest, true),
            Verb::LinkLoss => self.tell(&guest, &self.loss(action, 0.0)?, ANSWER),
            Verb::DiskFail | Verb::DiskReplace => {
                self.tell(&guest, &array::whole(&self.array_disk(action)?), REBUILD)
            }
            Verb::PathDown | Verb::PathUp => Ok(()),
        }
    }

    /// The guest that an action is about.
    fn guest(&self, action: &Action) -> Result<Guest, LabError> {
        let names = || self.state.lab.names();
        if names().any(|name| name == action.guest) {
            return Ok(guest(&self.directory, &action.guest));
        }
        let known: Vec<&str> = names().collect();
        Err(LabError::NoGuest { name: action.guest.clone(), known: known.join(", ") })
    }

    fn running<'g>(&self, guest: &'g Guest) -> Result<&'g Guest, LabError> {
        match guest.process() {
            Some(_) => Ok(guest),
            None => Err(guest.failed("does not run")),
        }
    }

    /// The storage guest with the link that an action is about.
    fn link(&self, action: &Action) -> Result<&Storage, LabError> {
        let storage = self.storage(action, "has no network of its own")?;
        let network = storage.network.and_then(|network| self.state.lab.networks.get(network));
        match (&action.part, network) {
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

    fn storage(&self, action: &Action, otherwise: &'static str) -> Result<&Storage, LabError> {
        let storage = self.state.lab.storage.iter().find(|storage| storage.name == action.guest);
        storage.ok_or_else(|| LabError::NotStorage { guest: action.guest.clone(), what: otherwise })
    }

    fn array_disk(&self, action: &Action) -> Result<ArrayDisk, LabError> {
        let storage = self.storage(action, "has no array")?;
        array::find(storage, action.part.as_deref().unwrap_or_default(), action.amount as usize)
    }

    fn path(&self, action: &Action) -> Result<FcPath, LabError> {
        let mount = action.part.as_deref().unwrap_or_default();
        path::find(&self.state.lab, &action.guest, mount, action.amount as usize)
    }

    /// Cuts both ends of a path, or joins them.
    fn set_path(&self, path: &FcPath, up: bool) -> Result<(), LabError> {
        let end = |name| self.running(&guest(&self.directory, name))?.connect();
        // Neither end is touched when the other cannot be reached.
        let ends = [(end(&path.storage)?, path.cable.storage), (end(&path.host)?, path.cable.host)];
        let storage = guest(&self.directory, &path.storage);
        let admit = || self.tell(&storage, &path::admit(path), ANSWER);
        if up {
            admit()?;
        } else {
            // What could not be cut is whole again.
            self.tell(&storage, &path::drain(path, DRAINED_S), DRAIN)
                .inspect_err(|_| drop(admit()))?;
        }
        for (mut qmp, port) in ends {
            qmp.run("set_link", json!({"name": cable_end(port), "up": up}))?;
        }
        Ok(())
    }

    fn set_link(&self, guest: &Guest, up: bool) -> Result<(), LabError> {
        let arguments = json!({"name": NETDEV, "up": up});
        self.running(guest)?.connect()?.run("set_link", arguments).map(drop)
    }

    /// The lines that have a share of a guest's packets lost.
    fn loss(&self, action: &Action, share: f64) -> Result<String, LabError> {
        let storage = self.link(action)?;
        let network = storage.network.and_then(|network| self.state.lab.networks.get(network));
        Ok(link::loss(network, share))
    }

    /// Has a storage guest carry out lines of a script.
    fn tell(&self, guest: &Guest, script: &str, patience: Duration) -> Result<(), LabError> {
        let told = |error: io::Error| guest.failed(&format!("did not do it: {error}"));
        self.running(guest)?.control_port()?.set_up(script, patience).map_err(told)
    }

    fn noted(&self) -> Result<Vec<Action>, LabError> {
        let path = self.directory.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(at(&path)(error)),
        };
        // A line that is half written was not yet acted on.
        Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
    }

    fn note(&self, actions: &[Action]) -> Result<(), LabError> {
        let path = self.directory.join(FILE);
        if actions.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path)(error)),
                _ => Ok(()),
            };
        }
        let text: String = actions.iter().map(|action| format!("{action}\n")).collect();
        fs::write(&path, text).map_err(at(&path))
    }
}

#[cfg(test)]
mod tests;
