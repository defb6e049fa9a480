//! Disks of OSDs whose speed is computed, so that disks and not two cores are what is measured: a process each, which
//! serves the store's file over FUSE ([`stormeter_timed_disk`]).
//!
//! They are fast until the cluster is clean: making stores is not what anyone wants to wait for.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use stormeter_timed_disk::{COUNTERS, Counters, DISK, SPEED, Speed};

use crate::CephError;
use crate::cluster::Cluster;
use crate::daemon::Daemon;
use crate::directory::Directory;
use crate::error::at;
use crate::state::{Osd, State};

/// How long a disk may take to be there.
const READY: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);
/// Mounts the disks of those OSDs that have one, as fast as they can be.
pub(crate) fn start(directory: &Directory, osds: &[Osd]) -> Result<(), CephError> {
    let with_disk = || osds.iter().filter(|osd| osd.options.disk.is_some()).map(|osd| osd.id);
    for id in with_disk() {
        let place = directory.disk(id);
        std::fs::create_dir_all(&place).map_err(at(&place))?;
        Daemon::Disk(id).start(directory)?;
    }
    for id in with_disk() {
        let end = Instant::now() + READY;
        while !directory.disk(id).join(DISK).exists() {
            if Instant::now() >= end {
                let daemon = Daemon::Disk(id).name();
                return Err(CephError::Died { log: directory.tail(&daemon), daemon });
            }
            thread::sleep(LOOK);
        }
    }
    Ok(())
}

/// Gives the disks of OSDs their speed.
pub(crate) fn slow(directory: &Directory, osds: &[Osd]) -> Result<(), CephError> {
    for osd in osds {
        if let Some(speed) = osd.options.disk {
            set(directory, osd.id, speed)?;
        }
    }
    Ok(())
}

fn set(directory: &Directory, id: u32, speed: Speed) -> Result<(), CephError> {
    let path = directory.disk(id).join(SPEED);
    let mut file = File::options().write(true).open(&path).map_err(at(&path))?;
    file.write_all(speed.to_string().as_bytes()).map_err(at(&path))
}

/// Unmounts the disk of an OSD if its process left it mounted, as one that was killed does.
pub(crate) fn unmount(directory: &Directory, id: u32) {
    let place = directory.disk(id);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let is_mounted =
        mounts.lines().any(|line| line.split(' ').nth(1).map(Path::new) == Some(place.as_path()));
    if !is_mounted {
        return;
    }
    // Users other than root need the program. Whether it worked shows when the directory is removed.
    if nix::mount::umount2(&place, nix::mount::MntFlags::MNT_DETACH).is_err() {
        let _ = Command::new("fusermount3").args(["-u", "-z"]).arg(&place).status();
    }
}

impl Cluster {
    /// Makes each access to the disk of an OSD take this many times as long as its speed says; 1 gives it back its speed.
    ///
    /// # Errors
    /// There is no such OSD, or it has no disk of its own.
    pub fn slow_osd(&self, id: u32, times: f64) -> Result<(), CephError> {
        let speed = self.disk(id)?;
        set(&self.directory, id, speed.slowed(times))
    }

    /// What the disk of an OSD has done so far.
    ///
    /// # Errors
    /// There is no such OSD, or it has no disk of its own, or that cannot be read.
    pub fn disk_counters(&self, id: u32) -> Result<Counters, CephError> {
        self.disk(id)?;
        let path = self.directory.disk(id).join(COUNTERS);
        // In one read: the next one would see other numbers.
        let mut text = [0; 4096];
        let mut file = File::open(&path).map_err(at(&path))?;
        let length = file.read(&mut text).map_err(at(&path))?;
        serde_json::from_slice(&text[..length])
            .map_err(|error| CephError::State { path, what: error.to_string() })
    }

    pub(crate) fn disk(&self, id: u32) -> Result<Speed, CephError> {
        let mut state = State::read(&self.directory)?;
        state.osd(id)?.options.disk.ok_or(CephError::NoDisk { osd: id })
    }
}
