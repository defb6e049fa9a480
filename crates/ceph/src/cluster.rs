//! A cluster in its directory.

use std::path::{Path, PathBuf};

use crate::CephError;
use crate::daemon::{Daemon, Running, running};
use crate::directory::Directory;
use crate::state::State;

/// A cluster that was started, by this process or another. Dropping it changes nothing: the daemons
/// run until [`Cluster::down`].
#[derive(Debug)]
pub struct Cluster {
    pub(crate) directory: Directory,
}

impl Cluster {
    /// The cluster in a directory, whether its daemons run or not.
    ///
    /// # Errors
    /// It has no cluster that we made.
    pub fn open(directory: &Path) -> Result<Self, CephError> {
        if !directory.is_dir() {
            return Err(CephError::NotOurs { path: directory.to_owned() });
        }
        let directory = Directory::open(directory)?;
        State::read(&directory)?;
        Ok(Self { directory })
    }

    /// Its directory, as an absolute path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The configuration file for clients. It names the keyring of `client.admin`.
    #[must_use]
    pub fn conf(&self) -> PathBuf {
        self.directory.conf()
    }

    /// The keyring of `client.admin`.
    #[must_use]
    pub fn keyring(&self) -> PathBuf {
        self.directory.admin_keyring()
    }

    /// The process ids of the daemons that run now.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn processes(&self) -> Result<Vec<u32>, CephError> {
        Ok(running(&self.directory)?.iter().map(|process| process.pid).collect())
    }

    /// The numbers of the OSDs that exist, whether they run or not.
    ///
    /// # Errors
    /// The state of the cluster cannot be read.
    pub fn osds(&self) -> Result<Vec<u32>, CephError> {
        Ok(State::read(&self.directory)?.osds.iter().map(|osd| osd.id).collect())
    }

    pub(crate) fn process(&self, daemon: Daemon) -> Result<Option<Running>, CephError> {
        Ok(running(&self.directory)?.into_iter().find(|process| process.daemon == daemon))
    }

    /// An error if a daemon does not run although it was not ended.
    pub(crate) fn check_alive(&self, state: &State) -> Result<(), CephError> {
        let running = running(&self.directory)?;
        let wanted = state.osds.iter().filter(|osd| !osd.ended).map(|osd| Daemon::Osd(osd.id));
        let disks = state.osds.iter().filter(|osd| osd.options.disk.is_some());
        match [Daemon::Monitor, Daemon::Manager]
            .into_iter()
            .chain(disks.map(|osd| Daemon::Disk(osd.id)))
            .chain(wanted)
            .find(|daemon| running.iter().all(|process| process.daemon != *daemon))
        {
            None => Ok(()),
            Some(daemon) => {
                let name = daemon.name();
                Err(CephError::Died { log: self.directory.tail(&name), daemon: name })
            }
        }
    }
}
