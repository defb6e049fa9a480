//! A datastore that was measured, as far as its site depends on it.

use serde::Serialize;
use stormeter_trial::{Memory, MemoryPlace};

/// How a datastore is reached, which decides the parts of its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// Disks in the host, or whatever looks like these: a directory, a device, images of a cluster's library.
    Local,
    /// An NFS server.
    Nfs,
    /// An iSCSI target.
    Iscsi,
}

impl Reached {
    /// The protocol of its stack.
    pub(crate) fn protocol(self) -> &'static str {
        match self {
            Reached::Local => "local",
            Reached::Nfs => "nfs",
            Reached::Iscsi => "iscsi",
        }
    }
}

/// A datastore that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    /// Its name in the plan and in the site: letters, digits, `-` and `_`.
    pub name: String,
    /// Its URL, without a password.
    pub url: String,
    /// How it is reached.
    pub reached: Reached,
    /// Whether a loss of power empties the memory in which its writes complete; `None`: not known.
    pub volatile_cache: Option<bool>,
    /// Memories on the way that may answer instead of the storage.
    pub memories: Vec<Memory>,
}

impl Store {
    /// Whether its server runs on the machine that measured.
    pub(crate) fn is_served_here(&self) -> bool {
        self.memories.iter().any(|memory| memory.place == MemoryPlace::ServerHere)
    }
}
