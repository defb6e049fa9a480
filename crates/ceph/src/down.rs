//! How a cluster ends: its processes first, then what we made, and nothing else.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::CephError;
use crate::cluster::Cluster;
use crate::daemon::{Daemon, end, running};
use crate::directory::{FILES, FOLDERS, STATE};
use crate::error::at;
use crate::state::State;

/// How long the daemons have to end by themselves.
const PATIENCE: Duration = Duration::from_secs(3);

impl Cluster {
    /// Ends all daemons and removes what the cluster is made of, with all its data. What others put
    /// into the directory stays.
    ///
    /// # Errors
    /// A daemon does not end, or a file cannot be removed.
    pub fn down(&self) -> Result<(), CephError> {
        let directory = &self.directory;
        let state = State::read(directory)?;
        // A start under way at the same time may add one more.
        let limit = Instant::now() + 4 * PATIENCE;
        loop {
            let (disks, daemons): (Vec<_>, Vec<_>) = running(directory)?
                .into_iter()
                .partition(|process| matches!(process.daemon, Daemon::Disk(_)));
            // A disk is ended when nothing uses it any more.
            let processes = if daemons.is_empty() { disks } else { daemons };
            if processes.is_empty() {
                break;
            }
            let patience = if Instant::now() < limit { PATIENCE } else { Duration::ZERO };
            end(directory, &processes, patience)?;
        }
        for osd in &state.osds {
            if let Some(cache) = crate::conf::separate_cache(osd) {
                remove(&cache, |path| std::fs::remove_file(path))?;
            }
            crate::disk::unmount(directory, osd.id);
            remove(&directory.disk(osd.id), |path| std::fs::remove_dir(path))?;
            remove_folder(&directory.data(&format!("osd.{}", osd.id)))?;
        }
        for folder in FOLDERS {
            remove_folder(&directory.file(folder))?;
        }
        for file in FILES.into_iter().chain([STATE]) {
            for name in [format!("{file}.next"), file.to_owned()] {
                remove(&directory.file(&name), |path| std::fs::remove_file(path))?;
            }
        }
        if state.made_directory {
            // Not if it has files of others.
            let _ = std::fs::remove_dir(directory.path());
        }
        Ok(())
    }
}

fn remove_folder(path: &Path) -> Result<(), CephError> {
    remove(path, |path| std::fs::remove_dir_all(path))
}

/// What is not there need not be removed.
fn remove(path: &Path, how: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), CephError> {
    match how(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}
