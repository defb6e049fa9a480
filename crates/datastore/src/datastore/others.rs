//! Other runs on the storage of a datastore.

use std::collections::HashMap;
use std::sync::PoisonError;

use stormeter_disk::DatastoreFact;

use super::lookout::Lookout;
use super::{Datastore, Store};
use crate::block::Block;
use crate::leftover::marks_of_others;
use crate::owner::{Life, Owner};
use crate::presence::{OtherRun, Presence, Shared, closest};
use crate::{DatastoreUrl, Location};

impl Datastore {
    /// Announces this run to others, and notes those that are there.
    pub(super) fn make_known(&mut self, run_id: &str) {
        let presence = Presence::enter(run_id, self.shared());
        self.lookout = Lookout { presence, ..Lookout::default() }.into();
        let there = self.other_runs();
        self.lookout.get_mut().unwrap_or_else(PoisonError::into_inner).at_opening = there;
    }

    /// What other runs may use at the same time.
    pub(super) fn shared(&self) -> Vec<Shared> {
        match &self.store {
            Store::Null { .. } => Vec::new(),
            Store::Directory(store) => {
                let file_system = store.device_number().map(Shared::FileSystem);
                file_system.into_iter().chain(store.disk_name().map(Shared::Disk)).collect()
            }
            // Opened exclusively, but its disk may have other partitions.
            Store::Device(store) => {
                Block::of(store.number).map(|it| Shared::Disk(it.disk_name())).into_iter().collect()
            }
            Store::Nfs(store) => vec![Shared::Server(store.address())],
            Store::Rbd(store) => vec![Shared::Pool(store.identity())],
            Store::Iscsi(store) => {
                let mut addresses = store.addresses().to_vec();
                addresses.sort();
                addresses.dedup();
                addresses.into_iter().map(Shared::Server).collect()
            }
        }
    }

    /// Other runs that use the same directory, file system, disk or server now, or did so since this was last
    /// asked; each once. It costs some reads of small files, and of an export some calls on its control
    /// connection, so it is asked between trials. What cannot be seen is left out: runs on other machines
    /// are seen in the same directory or on the same export only, and there from the second look on.
    pub fn other_runs(&self) -> Vec<OtherRun> {
        let mut lookout = self.lookout.lock().unwrap_or_else(PoisonError::into_inner);
        let mut others = lookout.presence.others();
        let (marks, is_shared) = match &self.store {
            Store::Directory(store) => (Some(store.marks_of_others()), store.is_shared()),
            Store::Nfs(store) if !lookout.is_blind => (store.marks_of_others(), true),
            Store::Rbd(store) if !lookout.is_blind => (store.marks_of_others(), true),
            Store::Nfs(_) | Store::Rbd(_) => (Some(Vec::new()), true),
            Store::Null { .. } | Store::Device(_) | Store::Iscsi(_) => (Some(Vec::new()), false),
        };
        let Some(marks) = marks else {
            lookout.is_blind = true;
            return closest(others);
        };
        let mut elsewhere: HashMap<String, Owner> = HashMap::new();
        for (name, owner) in marks {
            match owner.life(is_shared) {
                Life::Own | Life::Alive => others.push(OtherRun::here(&owner)),
                Life::Elsewhere => drop(elsewhere.insert(name, owner)),
                Life::Gone => {}
            }
        }
        let is_watched = !elsewhere.is_empty();
        others.extend(lookout.marks.look(elsewhere));
        if is_watched {
            lookout.renewed += 1;
            match &self.store {
                Store::Directory(store) => store.renew_mark(lookout.renewed),
                Store::Nfs(store) => store.renew_mark(lookout.renewed),
                Store::Rbd(store) => store.renew_mark(lookout.renewed),
                Store::Null { .. } | Store::Device(_) | Store::Iscsi(_) => {}
            }
        }
        closest(others)
    }

    /// Notes about runs that were there first.
    pub(super) fn others_at_opening(&self) -> Vec<DatastoreFact> {
        let lookout = self.lookout.lock().unwrap_or_else(PoisonError::into_inner);
        lookout.at_opening.iter().cloned().map(DatastoreFact::from).collect()
    }
}

/// What this process would leave on a datastore if it ended now, in words. Only local directories are
/// inspected; other storage is only reported as in use.
pub fn stays_of_this_process(url: &DatastoreUrl) -> Vec<String> {
    match &url.location {
        Location::Null | Location::Server(_) => Vec::new(),
        Location::Directory(path) => {
            // No run has this id, so this returns the marks of all runs.
            let marks = marks_of_others(path, "");
            let own = marks.into_iter().filter(|(_, owner)| owner.life(false) == Life::Own);
            own.map(|(name, _)| path.join(name).display().to_string()).collect()
        }
        Location::Device(_) | Location::Nfs(_) | Location::Iscsi(_) | Location::Rbd(_) => {
            vec![format!("the disks on {url}")]
        }
    }
}
