//! Disks of desktops as images in a pool of a Ceph cluster, which is no part of the lab.
//!
//! Each image has a note by which it is known as a lab's: one of that name without it is somebody's, and stays.

use std::time::{Duration, Instant};

use stormeter_datastore::RbdPool;
use stormeter_rbd::{Cluster, Library, RbdError};

use crate::error::LabError;

/// The name of the note.
const NOTE: &str = "stormeter-lab";
/// The snapshot of a template, of which clones are made.
const SNAPSHOT: &str = "template";
/// How long the cluster takes an image for open whose client has been killed, and a little more (librbd's watch,
/// `osd_client_watch_timeout`: 30 s).
const WATCHED: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(500);

/// A pool, with the connection of this process.
#[derive(Clone)]
pub(super) struct Pool {
    cluster: Cluster,
    url: RbdPool,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.url)
    }
}

impl Pool {
    /// Connects.
    pub(super) fn open(url: RbdPool) -> Result<Self, LabError> {
        let library = Library::load().map_err(LabError::CephLibrary)?;
        let cluster = Cluster::connect(&library, &url.settings()).map_err(LabError::Ceph)?;
        Ok(Self { cluster, url })
    }

    /// Makes an image, of which nothing is written.
    pub(super) fn create(&self, image: &str, size_bytes: u64) -> Result<(), LabError> {
        self.remove(image)?;
        let made = self.cluster.create(image, size_bytes, self.url.image_options());
        made.and_then(|()| self.mark(image)).map_err(LabError::Ceph)
    }

    /// Makes an image that shares what it does not write with a template that was [`Pool::freeze`]n.
    pub(super) fn make_clone(&self, template: &str, image: &str) -> Result<(), LabError> {
        self.remove(image)?;
        let options = self.url.image_options();
        let made = self.cluster.make_clone((template, SNAPSHOT), image, options);
        made.and_then(|()| self.mark(image)).map_err(LabError::Ceph)
    }

    /// Lets clones be made of an image as it is now.
    pub(super) fn freeze(&self, image: &str) -> Result<(), LabError> {
        let open = self.cluster.open(image).map_err(LabError::Ceph)?;
        open.protect_snapshot(SNAPSHOT).map_err(LabError::Ceph)
    }

    /// Removes an image of a lab, if it is there, and waits until its killed client counts as gone.
    pub(super) fn remove(&self, image: &str) -> Result<(), LabError> {
        match self.cluster.open(image) {
            Err(error) if error.is_missing() => return Ok(()),
            Err(error) => return Err(LabError::Ceph(error)),
            Ok(open) => {
                if open.note(NOTE).map_err(LabError::Ceph)?.is_none() {
                    return Err(LabError::NotOurImage { image: image.into() });
                }
                open.remove_snapshot(SNAPSHOT).map_err(LabError::Ceph)?;
            }
        }
        let end = Instant::now() + WATCHED;
        loop {
            match self.cluster.remove(image) {
                Err(error) if error.is_busy() && Instant::now() < end => std::thread::sleep(LOOK),
                Err(error) if !error.is_missing() => return Err(LabError::Ceph(error)),
                _ => return Ok(()),
            }
        }
    }

    fn mark(&self, image: &str) -> Result<(), RbdError> {
        self.cluster.open(image)?.set_note(NOTE, "desktop")
    }
}
